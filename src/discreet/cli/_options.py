"""Kinds of options several commands share: lists of columns, NAME=VALUE pairs, privacy models."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from discreet.errors import UsageError

__all__ = [
    "ENGINE_OPTIONS",
    "certificate_option",
    "columns",
    "engine_options",
    "json_option",
    "keep_order_option",
    "key_option",
    "level_pairs",
    "mapping_option",
    "once",
    "pairs",
    "privacy_models",
    "privacy_options",
    "qi_option",
    "quiet_option",
    "save_job_option",
    "scheme_option",
    "sensitive_option",
    "suppression_option",
    "verbose_option",
]

F = TypeVar("F", bound=Callable[..., Any])

qi_option = click.option(
    "--qi",
    "--quasi-identifiers",
    "qi",
    multiple=True,
    metavar="COLUMNS",
    help="Columns others may know about a person: age,zip,sex. Repeatable.",
)
sensitive_option = click.option(
    "--sensitive",
    multiple=True,
    metavar="COLUMNS",
    help="Columns nobody may learn about a person; a release has them as they are. Repeatable.",
)
suppression_option = click.option(
    "--suppression",
    default="none",
    show_default=True,
    metavar="KIND",
    help="What may go: none, 'budget(5%)', 'budget(300)', class-records, violating-records, class-values, …",
)
scheme_option = click.option(
    "--scheme",
    "schemes",
    multiple=True,
    metavar="[NAME=]SCHEME",
    help="How values may be grouped: full-domain (default), subtree, guided-ordered, ordered, guided-set or set, for "
    "all columns or for one (repeatable); or local, for all.",
)
certificate_option = click.option(
    "--certificate",
    metavar="FILE",
    help="Write what was promised and reached, with checksums, to check it later: .json.",
)
mapping_option = click.option(
    "--mapping",
    metavar="FILE",
    help="Write what each value became, for 'discreet apply': .json. Keep it as safe as the data.",
)
key_option = click.option(
    "--key",
    metavar="FILE",
    help="Your key, made if it is not there: it keeps digests of the input secret. Never hand it over.",
)
save_job_option = click.option("--save-job", metavar="FILE", help="Keep all this as a job file for 'discreet run'.")
ENGINE_OPTIONS = (
    click.option(
        "--engine",
        default="auto",
        show_default=True,
        type=click.Choice(["auto", "polars", "duckdb", "spark"]),
        help="Who works on the file: polars by itself, or DuckDB or Spark.",
    ),
    click.option(
        "--memory-limit", metavar="SIZE", help="The memory DuckDB may take, as in 4GB; the rest goes to disk."
    ),
    click.option(
        "--spark-master", "spark", metavar="URL", help="Where Spark runs, as in 'local[4]' or spark://host:7077."
    ),
)
"""Which engine works on a file, and what it may take."""
keep_order_option = click.option(
    "--keep-order", is_flag=True, help="Write rows in their original order, which may identify people."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
verbose_option = click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Print also how few were left out, what that costs and how the search went. Not to be handed on.",
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")


def privacy_options(command: F) -> F:
    """Add the options that say what must hold: ``-k``, ``-l`` and ``--privacy``."""
    for option in (
        click.option(
            "--privacy",
            multiple=True,
            metavar="MODEL",
            help="A privacy model, such as 'entropy-l(3, disease)' or 't(0.2, disease)'. Repeatable.",
        ),
        click.option("-l", "ell", type=str, metavar="N", help="Short for distinct-l(N) on each sensitive column."),
        click.option("-k", "k", type=str, metavar="N", help="Short for k(N): no class smaller than N."),
    ):
        command = option(command)
    return command


def engine_options(command: F) -> F:
    """Add the options that say which engine works on a file."""
    for option in reversed(ENGINE_OPTIONS):
        command = option(command)
    return command


def columns(given: Iterable[str]) -> list[str]:
    """Split ``a,b`` and repeated options into one list; quotes protect a comma in a name.

    >>> columns(["age,zip", '"last, first"'])
    ['age', 'zip', 'last, first']
    """
    names = [name for row in csv.reader(given, skipinitialspace=True) for name in row]
    return [name.strip() for name in names if name.strip()]


def once(option: str, names: list[str]) -> list[str]:
    """Return the names, none of which may occur twice."""
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{option} names the column '{name}' twice.", column=name)
    return names


def pairs(option: str, given: Iterable[str]) -> dict[str, str]:
    """Read repeated ``NAME=VALUE`` options.

    >>> pairs("--type", ["birth=date", "zip=text"])
    {'birth': 'date', 'zip': 'text'}
    """
    found: dict[str, str] = {}
    for item in given:
        name, equals, value = item.partition("=")
        name, value = name.strip(), value.strip()
        if not (equals and name and value):
            raise UsageError(f"{option} is written NAME=VALUE, and '{item}' is not.")
        if name in found:
            raise UsageError(f"{option} is given twice for '{name}'.", column=name)
        found[name] = value
    return found


def privacy_models(k: str | None, ell: str | None, privacy: Sequence[str], sensitive: Sequence[str]) -> list[str]:
    """Put the shorthands and the written-out models into one list of text forms."""
    from discreet.problem._text import format_text, parse_text

    models = [] if k is None else [f"k({k})"]
    if ell is not None:
        if not sensitive:
            raise UsageError(
                "-l needs to know which column is sensitive; name it with --sensitive.", topic="sensitive-column"
            )
        number = parse_text(f"distinct-l({ell})")[1]
        models += [format_text("distinct-l", [*number, column], {}) for column in sensitive]
    models += privacy
    if not models:
        raise UsageError(
            "What must hold for the release was not said; ask for it, as in -k 5.", topic="no-privacy-model"
        )
    return models


def level_pairs(option: str, given: Iterable[str]) -> dict[str, int]:
    """Read repeated ``NAME=LEVEL`` options.

    >>> level_pairs("--min-level", ["age=1"])
    {'age': 1}
    """
    levels = {}
    for name, value in pairs(option, given).items():
        if not value.isdecimal():
            raise UsageError(
                f"{option} of '{name}' must be a whole number, 0 or more.", column=name, topic="level-limits"
            )
        levels[name] = int(value)
    return levels
