"""``discreet audit``: check a table, whoever made it."""

from __future__ import annotations

import json
from typing import Any

import click

from discreet.cli._options import (
    columns,
    engine_options,
    json_option,
    once,
    pairs,
    privacy_models,
    privacy_options,
    qi_option,
    quiet_option,
    sensitive_option,
)
from discreet.errors import AuditError, UsageError

__all__ = ["audit"]


@click.command(
    epilog="""\b
Examples:
  discreet audit safe.csv --qi sex,education,city -k 5
  discreet audit safe.csv --qi zip,sex --sensitive diagnosis -k 5 -l 3 --json
  discreet audit safe.csv --qi zip,sex --privacy 'l+(0.25, diagnosis)' --unknown '*'
  discreet audit safe.csv --qi zip,sex --sensitive diagnosis --reference people.csv \\
      --privacy 't(0.3, diagnosis, hierarchical)' --hierarchy diagnosis=diagnosis.csv

\b
The exit code is 0 if everything asked for holds, and 5 if not.""",
)
@click.argument("file", metavar="FILE")
@qi_option
@sensitive_option
@privacy_options
@click.option(
    "--reference",
    metavar="FILE",
    help="The table the release was made from, for models that compare with it (t-closeness); FILE itself otherwise.",
)
@click.option(
    "--unknown",
    metavar="TEXT",
    help="What stands for a sensitive value that was suppressed, as in '*'; by default nothing does.",
)
@click.option(
    "--hierarchy",
    "forms",
    multiple=True,
    metavar="NAME=FILE",
    help="The hierarchy of a sensitive column, for t-closeness by hierarchical distance. Repeatable.",
)
@engine_options
@json_option
@quiet_option
def audit(
    file: str,
    qi: tuple[str, ...],
    sensitive: tuple[str, ...],
    k: str | None,
    ell: str | None,
    privacy: tuple[str, ...],
    reference: str | None,
    unknown: str | None,
    forms: tuple[str, ...],
    engine: Any,
    memory_limit: str | None,
    spark: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check from scratch whether the table FILE keeps its promises."""
    attributes, secrets = columns(qi), columns(sensitive)
    if not attributes:
        raise UsageError(f"Which columns could identify a person? Name them with --qi; 'discreet info {file}' helps.")
    models = privacy_models(k, ell, privacy, secrets)
    trees = pairs("--hierarchy", forms)
    for name in trees:
        if name not in secrets:
            raise UsageError(f"--hierarchy names '{name}', which is not in --sensitive.", column=name)

    from discreet.release import audit as audit_table

    verdict = audit_table(
        file,
        quasi_identifiers=attributes,
        privacy=models,
        sensitive={name: trees.get(name) for name in once("--sensitive", secrets)},
        reference=reference,
        unknown=unknown,
        engine=engine,
        memory_limit=memory_limit,
        spark=spark,
    )
    if as_json:
        click.echo(json.dumps(verdict.to_dict(), indent=2, ensure_ascii=False))
    elif not quiet:
        click.echo(verdict.summary())
    if not verdict.passed:
        click.get_current_context().exit(AuditError.exit_code)
