"""``discreet compare``: several jobs on the same data, side by side."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli._answer import answer, end_early
from discreet.cli._options import json_option, quiet_option

__all__ = ["compare"]


@click.command(
    epilog="""\b
Examples:
  discreet compare careful.yaml daring.yaml
  discreet compare k5.yaml k10.yaml k20.yaml -o comparison.html
  discreet compare jobs/*.yaml --json

All jobs must have the same input. Nothing is released: outputs and reports of the jobs are not written.""",
)
@click.argument("jobs", metavar="JOB JOB ...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    metavar="FILE",
    help="Write the comparison: .html (with charts), .md, .json, .csv or .txt. Repeatable.",
)
@click.option(
    "--queries",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    metavar="N",
    help="How many random COUNT queries to ask each release.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    type=click.Choice(["tree", "logistic", "forest"]),
    help="A classifier to train, where the jobs have a class attribute. Repeatable.",
)
@click.option("--no-utility", is_flag=True, help="Do not measure utility, which takes longer.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For queries and folds.")
@json_option
@quiet_option
def compare(
    jobs: tuple[str, ...],
    outputs: tuple[str, ...],
    queries: int,
    models: tuple[str, ...],
    no_utility: bool,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run several job files on the same data and show the results side by side."""
    from discreet.cli._watch import Watch
    from discreet.pipeline.compare import compare as measure
    from discreet.report.comparison import check_comparison

    for output in outputs:
        check_comparison(Path(output))
    with Watch(quiet) as watch:
        found = measure(
            *jobs,
            utility=not no_utility,
            queries=queries,
            models=models,
            seed=seed,
            progress=watch,
            budget=watch.budget,
        )
    for output in outputs:
        found.save(output)
    answer(found, *(f"The comparison is in {output}." for output in outputs), as_json=as_json, quiet=quiet)
    end_early(watch, "some searches are not complete")
