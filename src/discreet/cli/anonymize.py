"""``discreet anonymize``: a job given by options."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli._execute import execute
from discreet.cli._help import Command, option
from discreet.cli._job_options import job_fields, table_options
from discreet.cli._options import (
    dry_run_option,
    job_options,
    json_option,
    keep_order_option,
    privacy_models,
    privacy_options,
    quiet_option,
    save_job_option,
    verbose_option,
)

__all__ = ["anonymize"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  discreet anonymize people.csv --qi sex,education,city -k 5 -o safe.csv \\
      --identifiers person_id,name,birth_date,zip,income
  discreet anonymize people.csv -o safe.csv --identifiers person_id,name,income \\
      --qi birth_date,sex,zip --hierarchy 'birth_date=dates(month, year, decade)' \\
      --hierarchy 'zip=mask(digits=5)' --sensitive diagnosis -k 5 -l 3 \\
      --suppression 'budget(5%)' --report report.html
  discreet anonymize people.csv --qi zip,sex -k 10 -o safe.csv --save-job job.yaml \\
      --identifiers person_id,name,birth_date --keep income
  discreet anonymize people.csv --qi zip,sex --sensitive diagnosis --scheme subtree \\
      --privacy 'l+(0.25, diagnosis)' --suppression violating-records -o safe.csv \\
      --identifiers person_id,name,birth_date,income
  discreet anonymize people.csv --qi sex,education,marital_status -k 5 -o safe.csv \\
      --scheme subtree --scheme marital_status=set --identifiers person_id,name,birth_date,zip,income
  discreet anonymize patients.csv --table visits=visits.csv --person patient_id -o safe/ \\
      --qi age,sex,zip --sensitive diagnosis -k 5 -l 2 --suppression 'budget(10%)' \\
      --identifiers household_id,visit_date --keep department
  discreet anonymize people.csv --qi birth_date,sex,zip -k 5 -o safe.csv \\
      --priority zip=10 --priority birth_date=5 --keep-at-least zip=2 --suppression 'budget(5%)' \\
      --identifiers person_id,name,income

INPUT is a file, a folder, a pattern such as 'data/*.parquet' or a table of a database, as in
'sqlite:///clinic.db?table=people' or 'postgresql://host/clinic?table=people' (docs/sources.md).
A hierarchy is text such as intervals(5,10,20), ranges([18,65]), mask(digits=5), dates(month,year),
ordered([low,middle,high]), flat or auto, or the path of a CSV file (leaf first, one line per value).
Columns without one get an automatic hierarchy, and the release says so; those with the scheme ordered
or set need none. A column without a role that could identify people stops the job: give it a
role, or confirm with --keep that it is released as it is. Ctrl-C ends the search with the best release so far.""",
)
@click.argument("source", metavar="INPUT")
@option(
    "-o",
    "--output",
    group="output",
    metavar="FILE",
    help="Where to write the release: a file, a folder/ or a database table.",
)
@job_options("tables")
@table_options
@privacy_options
@job_options(
    *("against", "suppression", "scheme", "solver", "seed", keep_order_option),
    *("report", "certificate", "mapping", "key", "overwrite"),
)
@job_options("protection_page", "internal_page", "purpose", "recipient")
@save_job_option
@dry_run_option
@json_option
@verbose_option
@quiet_option
def anonymize(save_job: str | None, dry_run: bool, as_json: bool, verbose: bool, quiet: bool, **options: Any) -> None:
    """Make a copy of the table INPUT that is safe to share."""
    from discreet.job import Job

    fields = job_fields(options)
    models = privacy_models(options["k"], options["ell"], options["privacy"], list(fields["sensitive"]))
    job = Job(**{**fields, "privacy": models})
    chosen = bool(options["scheme"] or options["solver"] != "auto")
    execute(job, dry_run=dry_run, as_json=as_json, quiet=quiet, verbose=verbose, save_as=save_job, scheme_chosen=chosen)
