"""``discreet find``: the crowd in which somebody hides, given what others know about them."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli._answer import echo_json
from discreet.cli._help import Command, option
from discreet.cli._options import check_hierarchies, job_options, json_option, pairs, several
from discreet.cli._reading import reading_options
from discreet.cli._release_roles import generalized_option, named_roles, original_tables_option, release_options
from discreet.errors import UsageError

__all__ = ["find"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  discreet find safe.csv sex=female zip=15101 --mapping mapping.json --original people.csv
  discreet find safe.csv sex=female 'birth_date=[1980-01-01, 1989-12-31]' --mapping mapping.json
  discreet find safe.csv 'children=>= 3' --sensitive diagnosis --json
  discreet find safe/patients.csv --table visits=safe/visits.csv --person patient_id age=34 sex=female

\b
A value may be a range ('[30, 39]', '>= 65'); 'zip=' means that it is missing.
With --original the result is for the owner of the data: do not hand it over.""",
)
@click.argument("file", metavar="FILE")
@click.argument("known", metavar="COLUMN=VALUE...", nargs=-1)
@option(
    "--original", group="table", metavar="FILE", help="The table the release was made from, to see the crowd before."
)
@original_tables_option
@job_options("tables", "quasi_identifiers", "sensitive")
@generalized_option
@job_options("types")
@release_options
@option(
    "--unknown",
    group="table",
    metavar="TEXT",
    help="The mark of a suppressed sensitive value [default: * if it occurs; '' for none].",
)
@option(
    "--person",
    group="table",
    metavar="COLUMN",
    help="The column that says whose row it is: people are counted where a table has it.",
)
@reading_options("original")
@json_option
def find(file: str, known: tuple[str, ...], original: str | None, as_json: bool, **options: Any) -> None:
    """Look for a person in the released table FILE by what a neighbour knows: COLUMN=VALUE."""
    facts = _facts(known)
    roles = named_roles(options)
    trees = pairs("--hierarchy", options["forms"])
    quasi = roles.quasi_identifiers or {name: None for name in facts if name not in roles.sensitive}
    check_hierarchies(trees, list(quasi), None)

    from discreet.evaluate import find as look

    table, before = several(file, options["tables"]), original
    if original is not None:
        before = several(original, options["original_tables"], "--original-table")
    joined = table is not file
    person = look(
        table,
        facts,
        original=before,
        quasi_identifiers={**quasi, **trees},
        mapping=options["mapping"],
        sensitive=roles.sensitive,
        types=roles.types,
        unknown=options["unknown"],
        person=options["person"] or (roles.person if joined or original is not None else None),
    )
    if as_json:
        echo_json(person.to_dict())
    else:
        click.echo(person.summary())


def _facts(given: tuple[str, ...]) -> dict[str, str | None]:
    """Read COLUMN=VALUE arguments; nothing after the equals sign means missing."""
    facts: dict[str, str | None] = {}
    for item in given:
        name, equals, value = item.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name:
            raise UsageError(
                "What is known about the person is written COLUMN=VALUE, as in age=34, and one argument is not.",
                topic="find",
            )
        if name in facts:
            raise UsageError(
                f"Column '{name}' is given twice; several values are written as a set, {{a, b}}.", column=name
            )
        facts[name] = value or None
    return facts
