"""``discreet attack``: run the attacks that a release must withstand."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli._answer import answer, echo_json
from discreet.cli._help import Command, option
from discreet.cli._options import check_hierarchies, job_options, json_option, no_quasi_identifiers, pairs, several
from discreet.cli._reading import reading_options
from discreet.cli._release_roles import generalized_option, named_roles, original_tables_option, release_options
from discreet.errors import AuditError

__all__ = ["attack"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  discreet attack people.csv safe.csv --mapping mapping.json
  discreet attack people.csv safe.csv --job job.yaml --control others.csv
  discreet attack people.csv safe.csv --job job.yaml --population register.csv --earlier safe-2025.csv
  discreet attack people.csv safe.csv --mapping mapping.json --only downcoding --only refinement
  discreet attack people.csv safe.csv --job job.yaml --control others.csv --profile ema-0070

\b
Each attack is compared with a naive guess and, with --control, with people who are not in the release.
An attack that needs something that was not given says what. 'discreet parts attacks' explains each.
With --profile it is a gate: exit code 5 if a limit is exceeded, or if a criterion could not be measured.""",
)
@click.argument("original", metavar="ORIGINAL")
@click.argument("released", metavar="RELEASED")
@original_tables_option
@job_options("tables", "quasi_identifiers", "sensitive")
@option(
    "--control", group="table", metavar="FILE", help="People who are not in the release, with the columns of ORIGINAL."
)
@option("--population", group="table", metavar="FILE", help="The people ORIGINAL was drawn from.")
@option(
    "--earlier", group="table", multiple=True, metavar="FILE", help="An earlier release of the same people. Repeatable."
)
@option(
    "--only", group="quality", multiple=True, metavar="ATTACK", help="An attack to run, instead of all. Repeatable."
)
@option(
    "--privacy",
    group="privacy",
    multiple=True,
    metavar="MODEL",
    help="What the release promises, for minimality. Repeatable.",
)
@option(
    "--suppression",
    group="privacy",
    metavar="KIND",
    help="How rows or values were suppressed, such as violating-values.",
)
@generalized_option
@job_options("types")
@option(
    "--person", group="roles", metavar="COLUMN", help="The column that says whose row it is, if people have several."
)
@release_options
@option(
    "--unknown",
    group="roles",
    metavar="TEXT",
    help="The mark of a suppressed sensitive value [default: * if it occurs].",
)
@option(
    "--profile",
    group="privacy",
    metavar="PROFILE",
    help="Limits: ema-0070, hipaa-expert, public-use-file or research-use. Exit code 5 if one is exceeded.",
)
@option(
    "--seed",
    group="quality",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="For what is drawn at random.",
)
@reading_options("original")
@json_option
def attack(original: str, released: str, as_json: bool, **options: Any) -> None:
    """Run attacks on the table RELEASED, which was made from ORIGINAL."""
    roles = named_roles(options)
    if not roles.quasi_identifiers:
        raise no_quasi_identifiers(released)
    trees = pairs("--hierarchy", options["forms"])
    check_hierarchies(trees, list(roles.quasi_identifiers), list(roles.sensitive))

    from discreet.evaluate import attacks

    report = attacks(
        several(original, options["original_tables"], "--original-table"),
        several(released, options["tables"]),
        quasi_identifiers={name: trees.get(name, tree) for name, tree in roles.quasi_identifiers.items()},
        sensitive={name: trees.get(name, tree) for name, tree in roles.sensitive.items()},
        types=roles.types,
        privacy=list(options["privacy"]) or roles.privacy or None,
        suppression=options["suppression"] or roles.suppression,
        earlier=list(options["earlier"]),
        only=list(options["only"]) or None,
        person=options["person"] or roles.person,
        **{name: options[name] for name in ("mapping", "unknown", "control", "population", "seed")},
    )
    if options["profile"] is None:
        answer(report, as_json=as_json)
        return
    evidence = report.evidence(options["profile"])
    if as_json:
        echo_json({**report.to_dict(), "evidence": evidence.to_dict()})
    else:
        click.echo(f"{report.summary()}\n\n{evidence.summary()}")
    if not evidence.passed:
        click.get_current_context().exit(AuditError.exit_code)
