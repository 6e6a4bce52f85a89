"""Options that say what the table is and how its values may be generalized, for the commands that search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from discreet._places import shown
from discreet.cli._options import ENGINE_OPTIONS, columns, level_pairs, once, pairs, qi_option, sensitive_option
from discreet.errors import DataError, UsageError

__all__ = ["hierarchy_files", "schemes_of", "table_fields", "table_options", "weighted"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    qi_option,
    click.option("--identifiers", multiple=True, metavar="COLUMNS", help="Columns to leave out: name,id. Repeatable."),
    sensitive_option,
    click.option(
        "--keep", multiple=True, metavar="COLUMNS", help="Columns to release as they are, confirmed. Repeatable."
    ),
    click.option(
        "--weights", "survey_weights", metavar="COLUMN", help="Survey weights: how many people each row stands for."
    ),
    click.option("--population", metavar="FILE", help="A table of the people the rows were drawn from."),
    click.option("--class-attribute", metavar="COLUMN", help="The column the cost CM wants to keep predictable."),
    click.option(
        "--hierarchy", "forms", multiple=True, metavar="NAME=FORM", help="How to generalize a column. Repeatable."
    ),
    click.option(
        "--hierarchies", metavar="DIR", help="A folder with NAME.csv or *_hierarchy_NAME.csv for the columns."
    ),
    click.option(
        "--type", "types", multiple=True, metavar="NAME=TYPE", help="text, ordered, integer, decimal or date."
    ),
    click.option("--cost", metavar="COST", help="What to keep low: LM (the default), DM, NCP, CM, score, …"),
    click.option("--weight", "weights", multiple=True, metavar="NAME=X", help="How much a column counts in the cost."),
    click.option("--priority", "priorities", multiple=True, metavar="NAME=N", help="How much a column matters."),
    click.option(
        "--keep-at-least", multiple=True, metavar="NAME=N", help="The highest level a column may be generalized to."
    ),
    click.option("--min-level", "min_levels", multiple=True, metavar="NAME=N", help="Generalize at least this far."),
    click.option("--max-level", "max_levels", multiple=True, metavar="NAME=N", help="Generalize at most this far."),
    click.option(
        "--missing",
        default="value",
        show_default=True,
        type=click.Choice(["value", "suppress", "error"]),
        help="Missing values: a value of their own, a reason to leave the row out, or an error.",
    ),
    click.option(
        "--missing-sensitive",
        default="unknown",
        show_default=True,
        type=click.Choice(["unknown", "value"]),
        help="Missing sensitive values: unknown, so that no promise counts them as values, or one more value.",
    ),
    click.option(
        "--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="End the search then."
    ),
    *ENGINE_OPTIONS,
)


def table_options(command: F) -> F:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def table_fields(
    *,
    source: str,
    qi: Sequence[str],
    identifiers: Sequence[str],
    sensitive: Sequence[str],
    keep: Sequence[str],
    class_attribute: str | None,
    survey_weights: str | None,
    population: str | None,
    forms: Sequence[str],
    hierarchies: str | None,
    types: Sequence[str],
    cost: str | None,
    weights: tuple[str, ...],
    priorities: Sequence[str],
    keep_at_least: Sequence[str],
    min_levels: Sequence[str],
    max_levels: Sequence[str],
    missing: str,
    missing_sensitive: str,
    time_limit: float | None,
    engine: str,
    memory_limit: str | None,
    spark: str | None,
) -> dict[str, Any]:
    """Return what the options say as fields of a job."""
    attributes, secrets = columns(qi), columns(sensitive)
    if not attributes:
        raise UsageError(
            f"Which columns could identify a person? Name them with --qi; 'discreet info {shown(source)}' helps.",
            topic="no-quasi-identifier",
        )
    given = pairs("--hierarchy", forms)
    for name in given:
        if name not in attributes and name not in secrets:
            raise UsageError(
                f"--hierarchy names '{name}', which is neither in --qi nor in --sensitive.",
                column=name,
                topic="not-a-quasi-identifier",
            )
    found = hierarchy_files([*attributes, *secrets], hierarchies) if hierarchies is not None else {}
    known = {**found, **given}
    return {
        "input": source,
        "identifiers": columns(identifiers),
        "quasi_identifiers": {name: known.get(name) for name in once("--qi", attributes)},
        "sensitive": {name: known.get(name) for name in once("--sensitive", secrets)},
        "class_attribute": class_attribute,
        "weights": survey_weights,
        "population": population,
        "keep": columns(keep),
        "types": pairs("--type", types),
        "cost": weighted(cost or "LM", weights) if cost or weights else None,
        "priorities": level_pairs("--priority", priorities),
        "keep_at_least": level_pairs("--keep-at-least", keep_at_least),
        "min_levels": level_pairs("--min-level", min_levels),
        "max_levels": level_pairs("--max-level", max_levels),
        "missing": missing,
        "missing_sensitive": missing_sensitive,
        "time_limit": time_limit,
        "engine": engine,
        "memory_limit": memory_limit,
        "spark": spark,
    }


def hierarchy_files(names: list[str], folder: str) -> dict[str, str]:
    """Find the hierarchy file of each column in a folder, named as people and as ARX name them."""
    place = Path(folder)
    if not place.is_dir():
        raise DataError(f"--hierarchies: there is no folder '{folder}'.", topic="no-such-file")
    found = {}
    for name in names:
        candidates = [file for file in sorted(place.iterdir()) if _holds(file, name)]
        if len(candidates) > 1:
            listing = " and ".join(f"'{file.name}'" for file in candidates)
            raise UsageError(f"'{folder}' has several hierarchies for '{name}': {listing}.", column=name)
        if candidates:
            found[name] = str(candidates[0])
    return found


def _holds(file: Path, name: str) -> bool:
    return file.suffix.lower() == ".csv" and (file.stem == name or file.stem.endswith(f"_hierarchy_{name}"))


def weighted(cost: str, weights: tuple[str, ...]) -> str:
    if not weights:
        return cost
    from discreet.problem._text import format_text, parse_text

    name, args, options = parse_text(cost)
    numbers: dict[str, float] = {}
    for column, text in pairs("--weight", weights).items():
        try:
            number = float(text)
        except ValueError:
            raise UsageError(f"--weight of '{column}' must be a number.", column=column) from None
        numbers[column] = int(number) if number.is_integer() else number
    return format_text(name, args, {**options, "weights": {**options.get("weights", {}), **numbers}})


def schemes_of(given: tuple[str, ...], attributes: list[str]) -> str | dict[str, str]:
    general = [item for item in given if "=" not in item.partition("(")[0]]
    special = pairs("--scheme", [item for item in given if item not in general])
    if len(general) > 1:
        raise UsageError("--scheme is given twice for all columns; write NAME=SCHEME for single ones.")
    for name in special:
        if name not in attributes:
            raise UsageError(
                f"--scheme names '{name}', which is not in --qi.", column=name, topic="not-a-quasi-identifier"
            )
    base = general[0] if general else "full-domain"
    return {name: special.get(name, base) for name in attributes} if special else base
