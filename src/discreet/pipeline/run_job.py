"""Jobs carried out: everything :class:`discreet.Job` says is done and written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import UsageError
from discreet.job.files import files_at
from discreet.job.settings import is_best
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.clock import Clock
from discreet.pipeline.mapping import check_mapping
from discreet.pipeline.output import (
    TableOutput,
    TablesOutput,
    Target,
    check_distinct_files,
    check_new_files,
    check_output,
    check_tables_output,
)
from discreet.problem import make_schemes
from discreet.report.certificate import check_certificate
from discreet.report.protection_page import check_protection_page
from discreet.report.release_report import check_report

if TYPE_CHECKING:
    from discreet.job import Job
    from discreet.pipeline.release import Release
    from discreet.solve import Budget, ProgressCallback

__all__ = ["check_targets", "run_job"]


def run_job(job: Job, progress: ProgressCallback | None = None, budget: Budget | None = None) -> Release:
    """Anonymize the input of a job, write and audit its output, and write its reports."""
    check_targets(job)
    release = anonymize(
        **job.arguments(), output=job.locate(job.output), key=job.key_file(), progress=progress, budget=budget
    )
    taken = {key: release.job[key] for key in ("seed", *(["scheme"] if is_best(job.scheme) else []))}
    release = replace(release, job={**job.to_dict(), **taken})
    for report in job.report:
        with Clock()("report"):
            release.report(job.target(report))
    for pages, internal in ((job.protection_page, False), (job.internal_page, True)):
        for page in pages:
            with Clock()("report"):
                release.protection_page(
                    job.target(page), purpose=job.purpose or "", recipient=job.recipient or "", internal=internal
                )
    if job.certificate is not None:
        release.certificate(job.target(job.certificate))
    if job.mapping is not None:
        release.mapping(job.target(job.mapping))
    return release


def check_targets(job: Job, save_as: str | Path | None = None) -> None:
    """Refuse files that could not be written in the end, or would overwrite what is read.

    ``save_as`` is a file the job itself will be saved to.
    """
    output = job.locate(job.output)
    target: Target | TablesOutput | None = None
    if output is not None and job.tables:
        target = check_tables_output(output, job.located_tables(), overwrite=job.overwrite)
    elif output is not None:
        tables = job.locate(job.input), job.locate(job.population)
        target = check_output(output, *tables, overwrite=job.overwrite)
    written = [job.target(report) for report in job.report]
    for report in written:
        check_report(report)
    for page in (*job.protection_page, *job.internal_page):
        written.append(check_protection_page(job.target(page)))
    for name in ("certificate", "mapping") if job.tables else ():
        if getattr(job, name) is not None:
            raise UsageError(f"A {name} is of one table, and several were given; leave it out.", topic="several-tables")
    if job.certificate is not None:
        written.append(job.target(job.certificate))
        check_certificate(written[-1], to_file=target is not None and not isinstance(target, TableOutput))
    if job.mapping is not None:
        written.append(job.target(job.mapping))
        if job.derive:
            raise UsageError(
                "A mapping does not shift dates or make pseudonyms, so that it would release other rows as they are; "
                "leave the mapping out.",
                topic="derive",
            )
        if is_best(job.scheme):
            raise UsageError(
                "A mapping needs a scheme that recodes equal values alike, which best may not take; name one, such as "
                "subtree."
            )
        check_mapping(written[-1], make_schemes(job.scheme), job.suppression)
    if save_as is not None:
        written.append(Path(save_as))
    if not job.overwrite:
        check_new_files(written)
    read = job.files_read()
    if output is not None and isinstance(target, TableOutput):
        read += files_at(output)
    elif output is not None:
        written.append(Path(output))
    key = job.key_file()
    check_distinct_files(written, read if key is None else [*read, key])
