"""``discreet run``: a job told by a file."""

from __future__ import annotations

import click

from discreet.cli._execute import execute
from discreet.cli._options import json_option, quiet_option

__all__ = ["run"]


@click.command(
    epilog="""\b
Examples:
  discreet run job.yaml
  discreet run job.yaml --dry-run
  discreet anonymize people.csv --qi sex,city -k 5 -o safe.csv --save-job job.yaml

\b
Paths in a job file are relative to the file. docs/jobs.md lists the keys.""",
)
@click.argument("job_file", metavar="JOB")
@click.option("--dry-run", is_flag=True, help="Check everything and say what would be done; write nothing.")
@json_option
@quiet_option
def run(job_file: str, dry_run: bool, as_json: bool, quiet: bool) -> None:
    """Do what the job file JOB (YAML or JSON) says."""
    from discreet.job import Job

    execute(Job.load(job_file), dry_run=dry_run, as_json=as_json, quiet=quiet)
