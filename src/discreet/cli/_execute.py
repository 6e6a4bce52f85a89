"""Running a job for ``anonymize`` and ``run``, or only checking it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli._answer import IN_PLACE, Exact, answer, end_early, exists, warn
from discreet.cli._terminal import headline, hint
from discreet.errors import InterruptedRun, UsageError
from discreet.runtime.locations import TableLocation, is_url, without_password

if TYPE_CHECKING:
    from discreet.job import Job

__all__ = ["execute"]

_MUCH_LOST = 0.1
"""A loss at which other schemes are worth a try."""
_OTHER_SCHEMES = (
    "Other schemes may lose less detail: --scheme best tries full-domain, subtree and local and takes the best."
)


def execute(
    job: Job,
    *,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool = False,
    save_as: str | None = None,
    scheme_chosen: bool = True,
) -> None:
    """Run a job, or with ``dry_run`` print what it would do; ``verbose`` adds figures for the owner of the data.

    On a terminal, ``best`` is suggested if nobody chose the scheme (``scheme_chosen``) and much detail is lost.
    """
    if save_as is not None:
        job = job.with_seed()  # so that the file repeats this very release
    if dry_run:
        job.check_targets(save_as)
        plan = job.plan()
        if save_as is not None:
            job.save(save_as)
        saved = [] if save_as is None else [f"The job is in {_location_text(save_as)}."]
        answer(plan, *saved, as_json=as_json, quiet=quiet)
        return
    if job.output is None:
        raise UsageError("Where should the release go? Name a file with -o, or as output in the job file.")

    from discreet.cli._watch import Abandoned, Watch

    before = _output_identity(job)
    replaced = {location for location in _targets(job) if exists(location)}
    with Watch(quiet) as watch:
        job.check_targets(save_as)
        if save_as is not None:
            job.save(save_as)
        try:
            release = job.run(progress=watch, budget=watch.budget)
        except Abandoned:
            if _output_identity(job) == before:
                raise
            raise InterruptedRun("The release was written; what comes with it may be missing.") from None
    lines = [
        f"The {what} is in {_location_text(location)}{IN_PLACE * (location in replaced)}."
        for location, what in _targets(job).items()
    ]
    if job.certificate is not None and release.key is not None and release.key.path.exists():
        lines.append(f"Your key is in {_location_text(release.key.path)}: keep it, and never hand it over.")
    warn(release.notes, quiet=quiet)
    if not as_json and not quiet:
        headline(release.verdict.level, release.verdict.headline)
    summary = release.summary(exact=verbose, warnings=False)
    answer(Exact(release) if verbose else release, *lines, as_json=as_json, quiet=quiet, summary=summary)
    if not (scheme_chosen or as_json or quiet) and release.normalized_cost >= _MUCH_LOST:
        hint(_OTHER_SCHEMES)
    end_early(watch, "the best release found so far was written")


def _targets(job: Job) -> dict[TableLocation, str]:
    """Return where a job writes, and what it writes there."""
    files: list[tuple[str, str | None]] = [("release", job.output), *(("report", report) for report in job.report)]
    files += [("data protection page", page) for page in job.protection_page]
    files += [("data protection page, for you alone,", page) for page in job.internal_page]
    files += [("certificate", job.certificate), ("mapping, for you alone,", job.mapping)]
    return {job.locate(path) or path: what for what, path in files if path is not None}


def _output_identity(job: Job) -> tuple[int, int] | None:
    """Return the inode and mtime of the output file, to detect replacement; None if there is no file."""
    location = job.locate(job.output)
    if location is None or is_url(location):
        return None
    with suppress(OSError):
        found = Path(location).stat()
        return found.st_ino, found.st_mtime_ns
    return None


def _location_text(location: TableLocation) -> str:
    """Return a location for people."""
    if is_url(location):
        return without_password(location)
    return os.path.normpath(location) + ("/" if str(location).endswith("/") else "")
