"""``discreet run``: a job told by a file."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli._execute import execute
from discreet.cli._options import (
    certificate_option,
    json_option,
    key_option,
    mapping_option,
    quiet_option,
    save_job_option,
    verbose_option,
)

__all__ = ["run"]


@click.command(
    epilog="""\b
Examples:
  discreet anonymize people.csv --qi sex,city -k 5 -o safe.csv --save-job job.yaml \\
      --identifiers person_id,name,birth_date,zip,income
  discreet run job.yaml
  discreet run job.yaml --dry-run
  discreet run job.yaml --certificate certificate.json

\b
Paths in a job file are relative to the file. docs/jobs.md lists the keys.""",
)
@click.argument("job_file", metavar="JOB")
@click.option("--dry-run", is_flag=True, help="Check everything and say what would be done; release nothing.")
@certificate_option
@mapping_option
@key_option
@save_job_option
@json_option
@verbose_option
@quiet_option
def run(
    job_file: str,
    dry_run: bool,
    certificate: str | None,
    mapping: str | None,
    key: str | None,
    save_job: str | None,
    as_json: bool,
    verbose: bool,
    quiet: bool,
) -> None:
    """Do what the job file JOB (YAML or JSON) says."""
    from discreet.job import Job

    given = {"certificate": certificate, "mapping": mapping, "key": key}
    more = {field: str(Path(name).resolve()) for field, name in given.items() if name is not None}
    job = Job.load(job_file).model_copy(update=more)
    execute(job, dry_run=dry_run, as_json=as_json, quiet=quiet, verbose=verbose, save_as=save_job)
