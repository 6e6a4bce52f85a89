"""``discreet info``: what is in a table, and what in it could identify people."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from discreet.cli._answer import echo_json
from discreet.cli._options import json_option
from discreet.cli._reading import reading_options
from discreet.cli._terminal import echo
from discreet.job.parameters import READING
from discreet.runtime.locations import without_password

if TYPE_CHECKING:
    from discreet.pipeline.look import Look

__all__ = ["info"]

_SAME_FORMAT = (".csv", ".parquet")
"""Files whose release gets the same ending; that of others is CSV."""


@click.command(
    epilog="""\b
Examples:
  discreet info people.csv
  discreet info people.parquet --json

'unique' is the share of rows whose value nobody else has. The roles are guesses from names and values:
check them. The lines below the table say how many people the suggested quasi-identifiers single out, together and
in pairs. The last lines are a command that makes a release with these roles.""",
)
@click.argument("file", metavar="FILE")
@reading_options("file")
@json_option
def info(file: str, as_json: bool) -> None:
    """Show what is in the table FILE, and what could identify people."""
    from discreet.pipeline.look import look

    seen = look(file)
    if as_json:
        echo_json({"file": without_password(file), **seen.to_dict()})
    else:
        echo(seen.summary())
        if command := _next_command(file, seen):
            click.echo(f"\nCheck the roles, then make a release:\n{command}")


def _next_command(file: str, seen: Look) -> str:
    """Return a command that anonymizes the table with the suggested roles, as the studio would by default."""
    source = click.get_current_context().params["file"]
    if not seen.quasi_identifiers or without_password(source) != source:
        return ""
    path = Path(source)
    suffix = path.suffix if path.suffix in _SAME_FORMAT else ".csv"
    stem = path.stem.removesuffix(".csv")  # of a compressed file
    output = str(path.with_name(f"{stem}-safe{suffix}")) if path.is_file() else "safe.csv"
    parts = [f"discreet anonymize {shlex.quote(source)} -o {shlex.quote(output)}", *_reading_given()]
    roles = (("identifiers", seen.identifiers), ("qi", seen.quasi_identifiers), ("sensitive", seen.sensitive))
    parts += [f"--{option} {shlex.quote(_comma_separated(names))}" for option, names in roles if names]
    parts.append(f"-k 5{' -l 2' if seen.sensitive else ''} --suppression 'budget(5%)' --scheme best")
    return "  " + " \\\n      ".join(parts)


def _reading_given() -> list[str]:
    """Return the options that say how to read the table, as they were given."""
    context = click.get_current_context()
    found = []
    for option in context.command.params:
        name = option.name or ""
        if name in READING and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            value = context.params[name]
            found += [f"{option.opts[0]}={shlex.quote(str(each))}" for each in (value if option.multiple else [value])]
    return found


def _comma_separated(names: list[str]) -> str:
    """Return names as options take them, quoted where they hold a comma.

    >>> _comma_separated(["age", "last, first"])
    'age,"last, first"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()
