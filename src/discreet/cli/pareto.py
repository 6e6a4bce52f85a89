"""``discreet pareto``: all undominated choices of privacy against loss."""

from __future__ import annotations

import json
from math import isfinite, nan
from pathlib import Path
from typing import Any

import click

from discreet.cli._answer import IN_PLACE, echo_json, end_early, exists, warn
from discreet.cli._help import Command, option
from discreet.cli._job_options import job_fields, table_options
from discreet.cli._options import job_option, job_options, json_option, level_pairs, privacy_models, quiet_option
from discreet.cli._terminal import echo, headline
from discreet.runtime.locations import without_password

__all__ = ["pareto"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  discreet pareto people.csv --qi birth_date,sex,zip -o front.html
  discreet pareto people.csv --qi birth_date,sex,zip --suppression 'budget(1%)' --cost DM --explain
  discreet pareto people.csv --qi birth_date,sex,zip --sensitive diagnosis --axis k --axis distinct-l
  discreet pareto people.csv --qi birth_date,sex,zip --sensitive diagnosis -l 3
  discreet pareto people.csv --qi birth_date,sex,zip --identifiers person_id,name,income \\
      --release knee --release-to safe.csv""",
)
@click.argument("source", metavar="INPUT")
@option(
    "-o",
    "--output",
    "outputs",
    group="output",
    multiple=True,
    metavar="FILE",
    help="Write the front: .html (to explore), .svg, .png, .json or .csv. Repeatable.",
)
@table_options
@job_options("suppression", "scheme")
@option(
    "--axis",
    "axes",
    group="privacy",
    multiple=True,
    metavar="AXIS",
    help="What privacy is measured by: k (default), 'distinct-l(disease)', 'entropy-l(disease)', 'theta(disease)', "
    "'t(disease)' or average-risk. Repeatable.",
)
@option("-k", "k", group="privacy", metavar="K", help="A promise every point keeps: at least K people look the same.")
@option(
    "-l", "ell", group="privacy", metavar="L", help="A promise every point keeps: L values of each sensitive column."
)
@job_option(
    "privacy",
    help="A promise every point keeps, such as 'distinct-l(3, disease)' or 't(0.2, disease)'. Repeatable.",
)
@option(
    "--method",
    group="quality",
    default="exact",
    show_default=True,
    metavar="METHOD",
    help="All points, proven (exact), or the heuristic of the paper (poka).",
)
@option("--depth", group="quality", type=click.IntRange(min=1), metavar="N", help="How deep poka searches.")
@option(
    "--start",
    group="quality",
    multiple=True,
    metavar="NAME=N",
    help="Where poka starts: the level of a column in its first node, from which it looks for points with less "
    "privacy. Columns not named start at their highest level. Repeatable.",
)
@option("--explain", group="output", is_flag=True, help="Say what each step along the front gains and loses.")
@option(
    "--release",
    "wanted",
    group="output",
    metavar="K",
    help="Also make the release of a point: 5, one value for each axis as 5,3, or knee.",
)
@option("--release-to", group="output", metavar="FILE", help="Where to write that release.")
@job_options("overwrite")
@json_option
@quiet_option
def pareto(
    outputs: tuple[str, ...],
    explain: bool,
    wanted: str | None,
    release_to: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Show every choice of privacy that makes sense for the table INPUT, and what it costs."""
    fields = job_fields(options)
    value = _wanted(wanted, release_to)
    k, ell, privacy = options["k"], options["ell"], options["privacy"]
    promises = privacy_models(k, ell, privacy, list(fields["sensitive"])) if k or ell or privacy else []

    from discreet.job import Job
    from discreet.pipeline.front import check_front_file
    from discreet.pipeline.output import TableOutput, check_distinct_files, check_new_files, check_output
    from discreet.pipeline.pareto import pareto as find

    job = Job(**{**fields, "privacy": "k(1)"})
    arguments = job.front_arguments()
    for name in outputs:
        check_front_file(Path(name))
    may_replace: bool = options["overwrite"]
    tables = arguments["data"], arguments["population"]
    target = None if release_to is None else check_output(release_to, *tables, overwrite=may_replace)
    if not may_replace:
        check_new_files(map(Path, outputs))
    released = [] if target is None or isinstance(target, TableOutput) else [target.path]
    check_distinct_files([*map(Path, outputs), *released], job.files_read())

    from discreet.cli._watch import Watch

    replaced = {name for name in (*outputs, release_to or "") if name and exists(name)}
    with Watch(quiet) as watch:
        front = find(
            **arguments,
            privacy=[*options["axes"], *promises] or "k",
            method=options["method"],
            depth=options["depth"],
            start=level_pairs("--start", options["start"]) or None,
            progress=watch,
            budget=watch.budget,
        )
    for name in outputs:
        front.save(name)
    release = None if release_to is None else front.release(value, output=release_to, overwrite=may_replace)
    if release is not None:
        warn(release.notes, quiet=quiet)
    if as_json:
        echo_json(json.loads(front.to_json()))
    elif not quiet:
        echo(front.summary())
        if explain:
            echo(front.explain())
        if release is not None:
            headline(release.verdict.level, release.verdict.headline)
            echo(release.summary(warnings=False))
        for name in outputs:
            echo(f"The front is in {name}{IN_PLACE * (name in replaced)}.")
        if release_to is not None:
            echo(f"The release is in {without_password(release_to)}{IN_PLACE * (release_to in replaced)}.")
    end_early(watch, "the front so far was kept")


def _wanted(text: str | None, release_to: str | None) -> float | list[float] | None:
    """Read the value of --release; None is the knee."""
    if (text is None) != (release_to is None):
        raise click.UsageError("--release and --release-to go together: which point, and where its release goes.")
    if text is None or text == "knee":
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = [nan]
    if not all(isfinite(number) for number in numbers):
        raise click.UsageError("--release is a number, as 5, one for each axis, as 5,3, or knee.")
    return numbers[0] if len(numbers) == 1 else numbers
