"""``discreet apply``: the recoding of an earlier release, applied to other rows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from discreet.cli._answer import IN_PLACE, Exact, answer, exists
from discreet.cli._help import Command, option
from discreet.cli._options import columns, job_options, json_option, keep_order_option, quiet_option, verbose_option
from discreet.cli._reading import reading_options
from discreet.errors import UsageError

if TYPE_CHECKING:
    from discreet.pipeline.applied import Applied
    from discreet.pipeline.view import LiveView

__all__ = ["apply"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  discreet anonymize people.csv --qi sex,zip -k 5 -o safe.csv --mapping mapping.json \\
      --identifiers person_id,name,birth_date,income
  discreet apply mapping.json more.csv -o more-safe.csv --unknown suppress
  discreet apply mapping.json more.csv -o more-safe.csv --unknown top --broken suppress
  discreet apply mapping.json 'duckdb:///clinic.duckdb?table=people' --view people_safe

Values that are not in the mapping never pass: they are an error, or their rows are left out, or they
become the most general value. What comes out is audited by the promises of the first release; where
one is broken the exit code is 5 and nothing is written, unless such classes may be left out. A mapping
lists values of the data: keep it as safe as these.

A view recodes the table whenever it is read, and leaves out what breaks a promise at that moment and
values that are not in the mapping. Whoever watches it can see who came: read the guide first.""",
)
@click.argument("mapping", metavar="MAPPING")
@click.argument("source", metavar="INPUT")
@option(
    "-o",
    "--output",
    group="output",
    metavar="FILE",
    help="Where to write the result; the suffix is the format.",
)
@option(
    "--view",
    group="output",
    metavar="NAME",
    help="Make a live view in the database of the table instead (DuckDB, PostgreSQL).",
)
@option(
    "--unknown",
    group="privacy",
    type=click.Choice(["error", "suppress", "top"]),
    help="Values the mapping lacks: refuse them (error), leave their rows out, or make them the most general value.  "
    "[default: error; suppress in views]",
)
@option(
    "--broken",
    group="privacy",
    type=click.Choice(["error", "suppress"]),
    help="Classes that break a promise: refuse the table (error), or leave them out, as views always do.  "
    "[default: error]",
)
@option(
    "--identifiers", group="roles", multiple=True, metavar="COLUMNS", help="Further columns to leave out. Repeatable."
)
@job_options("keep", "overwrite")
@keep_order_option
@reading_options("source")
@json_option
@verbose_option
@quiet_option
def apply(mapping: str, source: str, as_json: bool, verbose: bool, quiet: bool, **options: Any) -> None:
    """Recode the table INPUT as the file MAPPING says."""
    output, view = options["output"], options["view"]
    if (output is None) == (view is None):
        raise UsageError("Say where the result goes: either to a file or table (-o), or to a live view (--view).")
    chosen = {
        "identifiers": columns(options["identifiers"]),
        "keep": columns(options["keep"]),
        "overwrite": options["overwrite"],
        "order": "keep" if options["keep_order"] else "random",
    }
    if view is not None:
        if options["broken"] == "error":
            raise UsageError("A view leaves out what breaks a promise whenever it is read; leave --broken away.")
        created = _create_view(mapping, source, view, unknown=options["unknown"] or "suppress", **chosen)
        seen = Exact(created.now) if verbose else created
        answer(seen, f"The view is {created.name}.", as_json=as_json, quiet=quiet)
        return
    rules = {"unknown": options["unknown"] or "error", "broken": options["broken"] or "error"}
    applied, replaced = _apply(mapping, source, output, **rules, **chosen)
    result = Exact(applied) if verbose else applied
    answer(result, f"The result is in {os.path.normpath(output)}{replaced}.", as_json=as_json, quiet=quiet)


def _create_view(mapping: str, source: str, view: str, **chosen: Any) -> LiveView:
    from discreet.pipeline.view import create_view

    return create_view(mapping, source, view, **chosen)


def _apply(mapping: str, source: str, output: str, **chosen: Any) -> tuple[Applied, str]:
    """Apply the mapping; return the result, and what to say if it replaced a file."""
    from pathlib import Path

    from discreet.pipeline.apply import apply_mapping
    from discreet.pipeline.output import Output, check_distinct_files, check_output

    target = check_output(output, source)
    if isinstance(target, Output):
        check_distinct_files([target.path], [Path(mapping)])
    replaced = IN_PLACE * exists(output)
    return apply_mapping(mapping, source, output=output, **chosen), replaced
