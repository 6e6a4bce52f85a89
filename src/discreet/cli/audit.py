"""``discreet audit``: check a table made by any tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from discreet.cli._answer import answer, echo_json
from discreet.cli._help import Command, option
from discreet.cli._options import (
    check_hierarchies,
    columns,
    job_options,
    json_option,
    no_quasi_identifiers,
    once,
    pairs,
    privacy_models,
    privacy_options,
    quiet_option,
    several,
)
from discreet.cli._reading import reading_options
from discreet.errors import AuditError, UsageError

if TYPE_CHECKING:
    from discreet.evaluate import Together
    from discreet.pipeline.audit import Audit
    from discreet.pipeline.verify import Verification

__all__ = ["audit"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  discreet audit safe.csv --qi sex,education,city -k 5
  discreet audit safe.csv --qi zip,sex --sensitive diagnosis -k 5 -l 3 --json
  discreet audit safe.csv --qi zip,sex --privacy 'l+(0.25, diagnosis)' --unknown '*'
  discreet audit safe.csv --qi zip,sex --sensitive diagnosis --reference people.csv \\
      --privacy 't(0.3, diagnosis, hierarchical)' --hierarchy diagnosis=diagnosis.csv
  discreet audit safe.csv --qi zip,sex --privacy 'k-map(20)' --population everybody.csv \\
      --hierarchy 'zip=mask(digits=5)'
  discreet audit safe.csv --qi zip,sex -k 5 --hierarchy 'zip=mask(digits=5)' \\
      --reference people.csv --with safe-2025.csv
  discreet audit safe/patients.csv --table visits=safe/visits.csv --person patient_id \\
      --qi age,sex,zip --sensitive diagnosis -k 5
  discreet audit safe.csv --certificate certificate.json
  discreet audit safe.csv --certificate certificate.json --key discreet.key --input people.csv

The exit code is 0 if every promise is kept, and 5 if not.""",
)
@click.argument("file", metavar="FILE")
@job_options("tables", "quasi_identifiers", "sensitive")
@privacy_options
@option(
    "--reference",
    group="table",
    metavar="FILE",
    help="The table the release was made from, for models that compare with it (t-closeness); FILE itself otherwise.",
)
@option(
    "--unknown",
    group="privacy",
    metavar="TEXT",
    help="The mark of a suppressed sensitive value, as in '*'; by default there is none.",
)
@option(
    "--suppression",
    group="privacy",
    metavar="KIND",
    help="How they were suppressed; violating-values(hide=ambiguous) is a promise that is checked too.",
)
@option(
    "--hierarchy",
    "forms",
    group="quality",
    multiple=True,
    metavar="NAME=FILE",
    help="The hierarchy of a sensitive column, for t-closeness by hierarchical distance, or of a quasi-identifier, to "
    "find who of the population has its values. Repeatable.",
)
@job_options("missing_sensitive")
@option(
    "--person",
    group="roles",
    metavar="COLUMN",
    help="The column that says whose row it is, or whose household's: promises count its values, not rows.",
)
@option(
    "--weights",
    group="table",
    metavar="COLUMN",
    help="Survey weights, for models about the population such as 'k-map(5)'.",
)
@option("--population", group="table", metavar="FILE", help="A table of the population, for the same models.")
@option(
    "--with",
    "earlier",
    group="table",
    multiple=True,
    metavar="FILE",
    help="Another release of the same people: check what both keep together. Needs --reference. Repeatable.",
)
@option(
    "--certificate",
    group="table",
    metavar="FILE",
    help="Check FILE against its certificate, which says all of the above.",
)
@option(
    "--input",
    "original",
    group="table",
    metavar="FILE",
    help="With --certificate: the table the release was made from.",
)
@option("--job", group="table", metavar="FILE", help="With --certificate: the job file that was run.")
@option(
    "--key",
    group="table",
    metavar="FILE",
    help="With --certificate: your key, to check the input, the job and the seal.",
)
@job_options("engine", "memory_limit", "spark")
@reading_options("file")
@json_option
@quiet_option
def audit(file: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Check from scratch whether the table FILE keeps its promises."""
    verdict = _audit(file, options) if options["certificate"] is None else _verify(file, options)
    joint = _audit_together(file, options) if options["earlier"] else None
    if joint is not None and as_json:
        fields = verdict.to_dict()
        echo_json({**fields, "passed": fields["passed"] and joint.passed, "together": joint.to_dict()})
    else:
        answer(verdict, *([] if joint is None else [joint.summary()]), as_json=as_json, quiet=quiet)
    if not verdict.passed or (joint is not None and not joint.passed):
        click.get_current_context().exit(AuditError.exit_code)


def _audit(file: str, options: Mapping[str, Any]) -> Audit:
    """Audit a file by the promises of the options."""
    if any(options[name] is not None for name in ("original", "job", "key")):
        raise UsageError("--input, --job and --key go with --certificate; name that too, or the promises alone.")
    quasi, sensitive = columns(options["quasi_identifiers"]), columns(options["sensitive"])
    if not quasi:
        raise no_quasi_identifiers(file)
    models = privacy_models(options["k"], options["ell"], options["privacy"], sensitive)
    trees = pairs("--hierarchy", options["forms"])
    check_hierarchies(trees, quasi, sensitive)

    from discreet.pipeline.audit import audit as audit_table

    same = (
        "reference",
        "unknown",
        "suppression",
        "missing_sensitive",
        "person",
        "weights",
        "population",
        "engine",
        "memory_limit",
        "spark",
    )
    return audit_table(
        several(file, options["tables"]),
        quasi_identifiers={name: trees.get(name) for name in once("--qi", quasi)},
        privacy=models,
        sensitive={name: trees.get(name) for name in once("--sensitive", sensitive)},
        **{name: options[name] for name in same},
    )


def _audit_together(file: str, options: Mapping[str, Any]) -> Together:
    """Check what a file keeps together with other releases of the same people."""
    if options["certificate"] is not None or options["reference"] is None:
        raise UsageError("--with compares releases of the same people; name their original table with --reference.")
    quasi, sensitive = columns(options["quasi_identifiers"]), columns(options["sensitive"])
    trees = pairs("--hierarchy", options["forms"])

    from discreet.evaluate import together

    return together(
        options["reference"],
        [file, *options["earlier"]],
        quasi_identifiers={name: trees.get(name) for name in once("--qi", quasi)},
        privacy=privacy_models(options["k"], options["ell"], options["privacy"], sensitive),
        sensitive={name: trees.get(name) for name in once("--sensitive", sensitive)},
    )


def _verify(file: str, options: Mapping[str, Any]) -> Verification:
    """Check a file against its certificate."""
    said_twice = (
        "quasi_identifiers",
        "sensitive",
        "k",
        "ell",
        "privacy",
        "reference",
        "unknown",
        "suppression",
        "tables",
        "person",
        "weights",
    )
    if any(options[name] for name in said_twice):
        raise UsageError("The certificate says what was promised; leave out the options that say it again.")

    from discreet.pipeline.verify import verify

    return verify(
        file,
        options["certificate"],
        hierarchies=pairs("--hierarchy", options["forms"]),
        **{name: options[name] for name in ("key", "original", "population", "job")},
    )
