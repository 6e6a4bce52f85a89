"""``discreet apply``: the recoding of an earlier release, applied to other rows."""

from __future__ import annotations

import os
from typing import Any

import click

from discreet.cli._answer import IN_PLACE, Exact, answer, exists
from discreet.cli._help import Command, option
from discreet.cli._options import columns, job_options, json_option, keep_order_option, quiet_option, verbose_option
from discreet.cli._reading import reading_options

__all__ = ["apply"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  discreet anonymize people.csv --qi sex,zip -k 5 -o safe.csv --mapping mapping.json \\
      --identifiers person_id,name,birth_date,income
  discreet apply mapping.json more.csv -o more-safe.csv --unknown suppress
  discreet apply mapping.json more.csv -o more-safe.csv --unknown top --broken suppress

Values that are not in the mapping never pass: they are an error, or their rows are left out, or they
become the most general value. What comes out is audited by the promises of the first release; where
one is broken the exit code is 5 and nothing is written, unless such classes may be left out. A mapping
lists values of the data: keep it as safe as these.""",
)
@click.argument("mapping", metavar="MAPPING")
@click.argument("source", metavar="INPUT")
@option(
    "-o",
    "--output",
    group="output",
    required=True,
    metavar="FILE",
    help="Where to write the result; the suffix is the format.",
)
@option(
    "--unknown",
    group="privacy",
    default="error",
    show_default=True,
    type=click.Choice(["error", "suppress", "top"]),
    help="Values the mapping lacks: refuse them, leave their rows out, or make them the most general value.",
)
@option(
    "--broken",
    group="privacy",
    default="error",
    show_default=True,
    type=click.Choice(["error", "suppress"]),
    help="Classes that break a promise: refuse the table, or leave them out.",
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
def apply(mapping: str, source: str, output: str, as_json: bool, verbose: bool, quiet: bool, **options: Any) -> None:
    """Recode the table INPUT as the file MAPPING says."""
    from pathlib import Path

    from discreet.pipeline.apply import apply_mapping
    from discreet.pipeline.output import Output, check_distinct_files, check_output

    target = check_output(output, source)
    if isinstance(target, Output):
        check_distinct_files([target.path], [Path(mapping)])
    replaced = IN_PLACE * exists(output)
    applied = apply_mapping(
        mapping,
        source,
        unknown=options["unknown"],
        broken=options["broken"],
        identifiers=columns(options["identifiers"]),
        keep=columns(options["keep"]),
        output=output,
        overwrite=options["overwrite"],
        order="keep" if options["keep_order"] else "random",
    )
    result = Exact(applied) if verbose else applied
    answer(result, f"The result is in {os.path.normpath(output)}{replaced}.", as_json=as_json, quiet=quiet)
