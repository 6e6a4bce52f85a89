"""The table of a job as the job reads it, for what is compared with the release."""

from __future__ import annotations

from os import PathLike
from typing import Any

from discreet.job import Job
from discreet.job.parameters import READING
from discreet.job.settings import JobSettings
from discreet.pipeline.derive import with_derived_columns
from discreet.runtime.table_path import ReadOptions, TablePath

__all__ = ["derived_table", "original_table"]


def original_table(job: Job) -> PathLike[str] | str:
    """Return the file of a job, read as the job says."""
    options = ReadOptions.make({name: getattr(job, name) for name in READING})
    location = job.located_input()
    return location if options == ReadOptions() else TablePath(location, options)


def derived_table(job: Job) -> Any:
    """Return the table of a job with the values it replaces before anything else."""
    if not job.derive:
        return original_table(job)
    return with_derived_columns(JobSettings.make({**job.arguments(), "key": job.key_file()})).data
