"""``discreet audit``: check a table, whoever made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from discreet._places import shown
from discreet.cli._answer import answer
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

if TYPE_CHECKING:
    from discreet.release import Audit, Verification

__all__ = ["audit"]


@click.command(
    epilog="""\b
Examples:
  discreet audit safe.csv --qi sex,education,city -k 5
  discreet audit safe.csv --qi zip,sex --sensitive diagnosis -k 5 -l 3 --json
  discreet audit safe.csv --qi zip,sex --privacy 'l+(0.25, diagnosis)' --unknown '*'
  discreet audit safe.csv --qi zip,sex --sensitive diagnosis --reference people.csv \\
      --privacy 't(0.3, diagnosis, hierarchical)' --hierarchy diagnosis=diagnosis.csv
  discreet audit safe.csv --qi zip,sex --privacy 'k-map(20)' --population everybody.csv \\
      --hierarchy 'zip=mask(digits=5)'
  discreet audit safe.csv --certificate certificate.json
  discreet audit safe.csv --certificate certificate.json --key discreet.key --input people.csv

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
    help="The hierarchy of a sensitive column, for t-closeness by hierarchical distance, or of a quasi-identifier, to "
    "find who of the population has its values. Repeatable.",
)
@click.option(
    "--missing-sensitive",
    default="unknown",
    show_default=True,
    type=click.Choice(["unknown", "value"]),
    help="Missing sensitive values: unknown, so that no promise counts them as values, or one more value.",
)
@click.option("--weights", metavar="COLUMN", help="Survey weights, for models about the population such as 'k-map(5)'.")
@click.option("--population", metavar="FILE", help="A table of the population, for the same models.")
@click.option("--certificate", metavar="FILE", help="Check FILE against its certificate, which says all of the above.")
@click.option("--input", "original", metavar="FILE", help="With --certificate: the table the release was made from.")
@click.option("--job", metavar="FILE", help="With --certificate: the job file that was run.")
@click.option("--key", metavar="FILE", help="With --certificate: your key, to check the input, the job and the seal.")
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
    missing_sensitive: Any,
    weights: str | None,
    population: str | None,
    certificate: str | None,
    original: str | None,
    job: str | None,
    key: str | None,
    engine: Any,
    memory_limit: str | None,
    spark: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check from scratch whether the table FILE keeps its promises."""
    if certificate is not None:
        if qi or sensitive or k or ell or privacy or reference or unknown or weights:
            raise UsageError("The certificate says what was promised; leave out the options that say it again.")
        _verify(file, certificate, original, population, job, key, pairs("--hierarchy", forms), as_json, quiet)
        return
    if original is not None or job is not None or key is not None:
        raise UsageError("--input, --job and --key go with --certificate; name that too, or the promises alone.")
    attributes, secrets = columns(qi), columns(sensitive)
    if not attributes:
        raise UsageError(
            f"Which columns could identify a person? Name them with --qi; 'discreet info {shown(file)}' helps.",
            topic="no-quasi-identifier",
        )
    models = privacy_models(k, ell, privacy, secrets)
    trees = pairs("--hierarchy", forms)
    for name in trees:
        if name not in secrets and name not in attributes:
            raise UsageError(f"--hierarchy names '{name}', which is neither in --qi nor in --sensitive.", column=name)

    from discreet.release import audit as audit_table

    verdict = audit_table(
        file,
        quasi_identifiers={name: trees.get(name) for name in once("--qi", attributes)},
        privacy=models,
        sensitive={name: trees.get(name) for name in once("--sensitive", secrets)},
        reference=reference,
        unknown=unknown,
        missing_sensitive=missing_sensitive,
        weights=weights,
        population=population,
        engine=engine,
        memory_limit=memory_limit,
        spark=spark,
    )
    _tell(verdict, as_json, quiet)


def _verify(
    file: str,
    certificate: str,
    original: str | None,
    population: str | None,
    job: str | None,
    key: str | None,
    trees: dict[str, str],
    as_json: bool,
    quiet: bool,
) -> None:
    from discreet.release import verify

    verdict = verify(file, certificate, key=key, original=original, population=population, job=job, hierarchies=trees)
    _tell(verdict, as_json, quiet)


def _tell(verdict: Audit | Verification, as_json: bool, quiet: bool) -> None:
    answer(verdict, as_json=as_json, quiet=quiet)
    if not verdict.passed:
        click.get_current_context().exit(AuditError.exit_code)
