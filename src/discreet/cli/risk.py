"""``discreet risk``: how likely people are found in a table, and what it reveals about them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from discreet.cli._answer import echo_json
from discreet.cli._help import Command, option
from discreet.cli._options import (
    check_hierarchies,
    job_option,
    job_options,
    json_option,
    no_quasi_identifiers,
    pairs,
    several,
)
from discreet.cli._reading import reading_options
from discreet.cli._release_roles import named_roles, original_tables_option, release_options
from discreet.cli._terminal import echo
from discreet.errors import UsageError
from discreet.runtime.atomic_write import check_target, replacing
from discreet.runtime.locations import as_path, is_url

__all__ = ["risk"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  discreet risk people.csv --qi birth_date,sex,zip --sensitive diagnosis
  discreet risk safe.csv --qi birth_date,sex,zip --population 330000
  discreet risk safe.csv --qi birth_date,zip --sensitive diagnosis --original people.csv \\
      --hierarchy 'birth_date=dates(year, decade)' --hierarchy 'zip=mask(digits=5)'
  discreet risk safe.csv --mapping mapping.json --original people.csv
  discreet risk people.csv --qi sex,education,zip --population 330000 --per-row risks.csv
  discreet risk patients.csv --table visits=visits.csv --person patient_id --qi age,sex,zip

With --original the attacks are run too: linkage, homogeneity and (with --privacy) minimality.""",
)
@click.argument("file", metavar="FILE")
@job_options("tables", "quasi_identifiers", "sensitive")
@option(
    "--population",
    group="table",
    metavar="FILE|N",
    help="The people FILE was drawn from: a table of them all, or their number.",
)
@option("--weights", group="table", metavar="COLUMN", help="Survey weights, where there is no such table.")
@option("--person", group="roles", metavar="COLUMN", help="The column that says whose row it is: people are counted.")
@option("--household", group="roles", metavar="COLUMN", help="The column with the household of each person.")
@option(
    "--original",
    group="table",
    metavar="FILE",
    help="The table the release was made from, to compare with and to attack with.",
)
@original_tables_option
@option(
    "--threshold",
    group="quality",
    type=float,
    default=0.2,
    show_default=True,
    metavar="X",
    help="Records whose risk is above this are counted.",
)
@option(
    "--privacy",
    group="privacy",
    multiple=True,
    metavar="MODEL",
    help="What the release promises, such as 'distinct-l(3, disease)', for the minimality attack. Repeatable.",
)
@option(
    "--suppression",
    group="privacy",
    metavar="KIND",
    help="How values were suppressed, such as violating-values: what a suppressed one can be depends on it.",
)
@option(
    "--hierarchy",
    "forms",
    group="quality",
    multiple=True,
    metavar="NAME=FORM",
    help="How a column was generalized, or the hierarchy of a sensitive one. Repeatable.",
)
@job_options("types")
@release_options
@option(
    "--unknown",
    group="privacy",
    metavar="TEXT",
    help="The mark of a suppressed sensitive value [default: * if it occurs; '' for none].",
)
@job_option(
    "missing_sensitive",
    help="Missing sensitive values: unknown, so that nothing counts them as values, or one more value.",
)
@option(
    "--depth",
    group="quality",
    type=int,
    default=3,
    show_default=True,
    metavar="N",
    help="Check combinations of up to this many columns.",
)
@option(
    "--per-row",
    group="output",
    metavar="FILE",
    help="Also write the counts, risks and SUDA scores of every row to FILE, which is for the owner of the data alone.",
)
@option(
    "--hidden-cells",
    group="privacy",
    type=click.Choice(["value", "matches", "missing"]),
    default="value",
    show_default=True,
    help="What a '*' equals in --per-row: with matches every value, and with missing a missing value does too.",
)
@reading_options("file")
@json_option
def risk(file: str, population: str | None, original: str | None, as_json: bool, **options: Any) -> None:
    """Measure how likely people are found in the table FILE, and what it discloses about them."""
    roles = named_roles(options)
    if not roles.quasi_identifiers:
        raise no_quasi_identifiers(file)
    target = _target(options["per_row"], file, original, population)
    trees = pairs("--hierarchy", options["forms"])
    check_hierarchies(trees, list(roles.quasi_identifiers), list(roles.sensitive))
    columns: dict[str, Any] = {
        "quasi_identifiers": {**roles.quasi_identifiers, **_only(trees, roles.quasi_identifiers)},
        "sensitive": {**roles.sensitive, **_only(trees, roles.sensitive)},
        "types": roles.types,
        "privacy": list(options["privacy"]) or roles.privacy or None,
        "suppression": options["suppression"] or roles.suppression,
        **{name: options[name] for name in ("mapping", "unknown", "missing_sensitive")},
    }

    from discreet.evaluate import attacks
    from discreet.evaluate import risk as measure

    table, before = several(file, options["tables"]), original
    if original is not None:
        before = several(original, options["original_tables"], "--original-table")
    if table is not file:
        if target is not None:
            raise UsageError("The risk of each row is of one table, and several were given; leave out --per-row.")
        options["person"] = options["person"] or roles.person
    people = int(population) if population is not None and population.isdecimal() else population
    measured = {name: options[name] for name in ("weights", "person", "household", "threshold", "depth")}
    report = measure(table, population=people, original=before, **measured, **columns)
    if target is not None:
        _write_each_row(file, target, {**options, **columns, "population": people})
    attacked = None if original is None else attacks(before, table, person=options["person"], **columns)
    if as_json:
        echo_json(report.to_dict() | ({} if attacked is None else {"attacks": attacked.to_dict()}))
        return
    echo(report.summary())
    if attacked is not None:
        echo(f"\n{attacked.summary()}")
    if target is not None:
        echo(f"\nwrote the risk of each row to {target}; it is for the owner of the data alone")


def _target(given: str | None, *tables: str | None) -> Path | None:
    """Return the file for the risk of each row, which is none of the tables that are read."""
    if given is None:
        return None
    path = as_path(given, "The file of --per-row")
    if any(table is not None and not is_url(table) and path.resolve() == Path(table).resolve() for table in tables):
        raise UsageError(f"'{path}' is a table to be measured; choose another name for --per-row.")
    from discreet.engines import format_of

    check_target(path)
    format_of(path)
    return path


def _write_each_row(file: str, path: Path, options: Mapping[str, Any]) -> None:
    """Write the risk of each row to a file that only its owner may read."""
    from discreet.engines import format_of, write_table
    from discreet.evaluate import record_risks

    names = ("quasi_identifiers", "mapping", "population", "weights", "household", "hidden_cells", "depth")
    layout = format_of(path)
    table = record_risks(file, **{name: options[name] for name in names})
    with replacing(path.resolve(), private=True) as unfinished:
        write_table(table.lazy(), unfinished, layout, path.name)


def _only(trees: Mapping[str, str], names: Mapping[str, Any]) -> dict[str, str]:
    return {name: tree for name, tree in trees.items() if name in names}
