"""``discreet run``: a job given by a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli._execute import execute
from discreet.cli._help import Command
from discreet.cli._options import (
    dry_run_option,
    job_options,
    json_option,
    quiet_option,
    save_job_option,
    verbose_option,
)

__all__ = ["run"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  discreet anonymize people.csv --qi sex,city -k 5 -o safe.csv --save-job job.yaml \\
      --identifiers person_id,name,birth_date,zip,income
  discreet run job.yaml
  discreet run job.yaml --dry-run
  discreet run job.yaml --certificate certificate.json

Paths in a job file are relative to the file. docs/jobs.md lists the keys.""",
)
@click.argument("job_file", metavar="JOB")
@dry_run_option
@job_options("certificate", "mapping", "key", "overwrite")
@save_job_option
@json_option
@verbose_option
@quiet_option
def run(
    job_file: str, dry_run: bool, save_job: str | None, as_json: bool, verbose: bool, quiet: bool, **targets: Any
) -> None:
    """Do what the job file JOB (YAML or JSON) says."""
    from discreet.job import Job

    changed: dict[str, Any] = {} if targets.pop("overwrite") else {"overwrite": False}
    changed |= {field: str(Path(name).resolve()) for field, name in targets.items() if name is not None}
    job = Job.load(job_file).model_copy(update=changed)
    execute(job, dry_run=dry_run, as_json=as_json, quiet=quiet, verbose=verbose, save_as=save_job)
