"""``compare``: several jobs on the same data, run and measured side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InfeasibleError, UsageError
from discreet.job import Job

if TYPE_CHECKING:
    from discreet.pipeline.release import Release
    from discreet.report.comparison import Comparison
    from discreet.solve import Budget, ProgressCallback

__all__ = ["compare"]

Compared = Any
"""A job file, a job, or a release."""


def compare(
    *jobs: Compared | Mapping[str, Compared] | Sequence[Compared],
    utility: bool = True,
    queries: int = 200,
    models: str | Sequence[str] = (),
    seed: int = 0,
    progress: ProgressCallback | None = None,
    budget: Budget | None = None,
) -> Comparison:
    """Run several jobs on the same data and compare their releases. Nothing is written.

    Parameters
    ----------
    jobs
        Two or more job files (YAML or JSON), :class:`discreet.Job` objects or releases, or a mapping from name to one
        of these. A job whose promises no release can keep is listed as such.
    utility
        Whether to measure the utility of each release: every cost, queries and associations.
    queries
        The number of random COUNT queries, the same for all releases.
    models
        Classifiers to train where the jobs have a class attribute: ``tree``, ``logistic``, ``forest``.
    seed
        The seed of queries and folds.
    progress, budget
        A function called with the state of each search, and a switch to stop it; for user interfaces.

    >>> from discreet import anonymize, sample
    >>> people = sample(300, seed=1).select("sex", "education")
    >>> columns = {"quasi_identifiers": ["sex", "education"]}
    >>> found = compare({f"k={k}": anonymize(people, **columns, privacy=f"k({k})") for k in (2, 9)}, queries=20)
    >>> [(job.name, job.status) for job in found.jobs], found.jobs[0].cost <= found.jobs[1].cost
    ([('k=2', 'optimal'), ('k=9', 'optimal')], True)

    """
    from discreet.report.comparison import Comparison, compare_job

    named = _jobs_by_name(jobs)
    if len(named) < 2:
        raise UsageError("There is nothing to compare; name at least two jobs.")
    loaded = {name: _loaded(job) for name, job in named.items()}
    _check_same_input(loaded)
    chosen = [models] if isinstance(models, str) else list(models)
    found = []
    for name, job in loaded.items():
        release, why = _run(job, progress, budget)
        options = {"queries": queries, "seed": seed, "models": chosen} if utility else None
        fields = job.to_dict() if isinstance(job, Job) else job.job
        found.append(compare_job(name, fields, release, why, options))
    _check_same_rows(found)
    return Comparison(tuple(found))


def _jobs_by_name(jobs: Sequence[Any]) -> dict[str, Compared]:
    """Return the jobs by name: the names given, or those of their files."""
    if len(jobs) == 1 and isinstance(jobs[0], Mapping):
        return {str(name): job for name, job in jobs[0].items()}
    if len(jobs) == 1 and isinstance(jobs[0], list | tuple):
        jobs = jobs[0]
    names = list(_names(jobs))
    return dict(zip(names, jobs, strict=True))


def _names(jobs: Sequence[Compared]) -> Iterator[str]:
    """Yield a unique name for each: the stem of its file, its path, or a number."""
    paths = [Path(job) if isinstance(job, str | PathLike) else None for job in jobs]
    stems = [None if path is None else path.stem for path in paths]
    taken: set[str] = set()
    for number, (path, stem) in enumerate(zip(paths, stems, strict=True), 1):
        name = f"job {number}" if path is None or stem is None else stem if stems.count(stem) == 1 else str(path)
        while name in taken:
            name = f"{name} ({number})"
        taken.add(name)
        yield name


def _loaded(job: Compared) -> Job | Release:
    from discreet.pipeline.release import Release

    if isinstance(job, Job | Release):
        return job
    if isinstance(job, str | PathLike):
        return Job.load(Path(job))
    raise UsageError(f"Compare job files, jobs or releases, not {type(job).__name__}.")


def _check_same_input(jobs: Mapping[str, Job | Release]) -> None:
    """Refuse jobs about different tables before any work is done."""
    inputs = {name: str(job.located_input()) for name, job in jobs.items() if isinstance(job, Job)}
    first = next(iter(inputs), None)
    for name, location in inputs.items():
        if location != inputs[str(first)]:
            raise UsageError(
                f"The jobs '{first}' and '{name}' are about different tables; compare jobs with the same input."
            )


def _check_same_rows(found: Sequence[Any]) -> None:
    known = [each for each in found if each.release is not None]
    for other in known[1:]:
        if other.rows != known[0].rows:
            raise UsageError(
                f"'{known[0].name}' and '{other.name}' are about tables with different numbers of rows; compare "
                "releases of the same table."
            )


def _run(
    job: Job | Release, progress: ProgressCallback | None, budget: Budget | None
) -> tuple[Release | None, str | None]:
    """Return the release of a job, or why there is none."""
    from discreet.pipeline.anonymize import anonymize
    from discreet.solve import Budget

    if not isinstance(job, Job):
        return job, None
    own = None if budget is None else Budget(stop=budget.stop, while_paused=budget.while_paused)
    try:
        return anonymize(**job.arguments(), progress=progress, budget=own), None
    except InfeasibleError as error:
        return None, error.message
