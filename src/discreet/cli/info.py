"""``discreet info``: what is in a table, and what in it could identify people."""

from __future__ import annotations

import click

from discreet.cli._answer import echo_json
from discreet.cli._options import json_option
from discreet.cli._reading import reading_options
from discreet.cli._terminal import echo
from discreet.runtime.locations import without_password

__all__ = ["info"]


@click.command(
    epilog="""\b
Examples:
  discreet info people.csv
  discreet info people.parquet --json

'unique' is the share of rows whose value nobody else has. The roles are guesses from names and values:
check them. The lines below the table say how many people the suggested quasi-identifiers single out, together and
in pairs.""",
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
