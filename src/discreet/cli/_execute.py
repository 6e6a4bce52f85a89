"""Doing a job on behalf of ``anonymize`` and ``run``: watched, or only checked."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from discreet._places import Place, is_url, shown
from discreet.cli._answer import Exact, answer, end_early, warn
from discreet.errors import InterruptedRun, UsageError

if TYPE_CHECKING:
    from discreet.job import Job

__all__ = ["execute"]


def execute(
    job: Job, *, dry_run: bool, as_json: bool, quiet: bool, verbose: bool = False, save_as: str | None = None
) -> None:
    """Do the job, or with ``dry_run`` say what it would do; ``verbose`` says what is for the owner of the data too."""
    if save_as is not None:
        job = job.with_seed()  # so that the file repeats this very release
    if dry_run:
        job.check_targets(save_as)
        plan = job.plan()
        saved = [] if save_as is None else [f"The job is in {_told(save_as)}."]
        if save_as is not None:
            job.save(save_as)
        answer(plan, *saved, as_json=as_json, quiet=quiet)
        return
    if job.output is None:
        raise UsageError("Where should the release go? Name a file with -o, or as output in the job file.")

    from discreet.cli._watch import Abandoned, Watch

    before = _stamp(job)
    with Watch(quiet) as watch:
        job.check_targets(save_as)
        if save_as is not None:
            job.save(save_as)
        try:
            release = job.run(progress=watch, budget=watch.budget)
        except Abandoned:
            if _stamp(job) == before:
                raise
            raise InterruptedRun("The release was written; what comes with it may be missing.") from None
    there: list[tuple[str, str | None]] = [("release", job.output), *(("report", report) for report in job.report)]
    there += [("certificate", job.certificate), ("mapping, for you alone,", job.mapping)]
    where = [f"The {what} is in {_told(job.locate(place) or place)}." for what, place in there if place is not None]
    if job.certificate is not None and release.key is not None and release.key.path.exists():
        where.append(f"Your key is in {_told(release.key.path)}: keep it, and never hand it over.")
    warn(release.notes, quiet=quiet)
    summary = release.summary(exact=verbose, warnings=False)
    answer(Exact(release) if verbose else release, *where, as_json=as_json, quiet=quiet, summary=summary)
    end_early(watch, "the best release found so far was written")


def _stamp(job: Job) -> tuple[int, int] | None:
    """Return what tells the output of a job from another of its name; None where there is none, or it is no file."""
    place = None if job.output is None else job.locate(job.output)
    if place is None or is_url(place):
        return None
    with suppress(OSError):
        found = Path(place).stat()
        return found.st_ino, found.st_mtime_ns
    return None


def _told(place: Place) -> str:
    """Return a place for people."""
    if is_url(place):
        return shown(place)
    return os.path.normpath(place) + ("/" if str(place).endswith("/") else "")
