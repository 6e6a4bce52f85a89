"""``discreet utility``: the utility of a released table."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli._answer import answer
from discreet.cli._help import Command, option
from discreet.cli._job_options import hierarchy_files
from discreet.cli._options import check_hierarchies, job_options, json_option, pairs
from discreet.cli._reading import reading_options
from discreet.cli._release_roles import named_roles, release_options
from discreet.errors import UsageError
from discreet.runtime.locations import without_password

__all__ = ["utility"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  discreet utility people.csv safe.csv --qi birth_date,sex,zip --hierarchy 'zip=mask(digits=5)'
  discreet utility people.csv safe.csv --mapping mapping.json
  discreet utility people.csv safe.csv --job job.yaml --class-attribute diagnosis --model tree \\
      --held-out others.csv --json

Name the hierarchies the release was made with, its job or its mapping, which define its released values.
Ranges, sets and automatic hierarchies can be read without them; rounded numbers cannot.
Classifiers need scikit-learn: pip install 'discreet[learn]'.""",
)
@click.argument("original", metavar="ORIGINAL")
@click.argument("released", metavar="RELEASED")
@job_options("quasi_identifiers", "sensitive")
@option(
    "--class-attribute",
    "--class",
    "label",
    group="roles",
    metavar="COLUMN",
    help="The column that classifiers predict.",
)
@option(
    "--hierarchy",
    "forms",
    group="quality",
    multiple=True,
    metavar="NAME=FORM",
    help="How a column was generalized. Repeatable.",
)
@option(
    "--hierarchies",
    group="quality",
    metavar="DIR",
    help="A folder with NAME.csv or *_hierarchy_NAME.csv for the columns.",
)
@job_options("types")
@release_options
@option(
    "--cost",
    "costs",
    group="quality",
    multiple=True,
    metavar="COST",
    help="A cost to compute, instead of all. Repeatable.",
)
@option(
    "--queries",
    group="quality",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    metavar="N",
    help="How many random COUNT queries to ask.",
)
@option(
    "--model",
    "models",
    group="quality",
    multiple=True,
    type=click.Choice(["tree", "logistic", "forest", "none"]),
    help="A classifier to train, instead of all. Repeatable.",
)
@option(
    "--held-out",
    group="table",
    metavar="FILE",
    help="Original rows that RELEASED was not made from, to test classifiers on.",
)
@option(
    "--seed", group="quality", type=click.IntRange(min=0), default=0, show_default=True, help="For queries and folds."
)
@reading_options("original")
@json_option
def utility(original: str, released: str, as_json: bool, **options: Any) -> None:
    """Measure how useful the table RELEASED, made from ORIGINAL, still is."""
    roles = named_roles(options)
    quasi = list(roles.quasi_identifiers)
    if not quasi:
        raise UsageError(
            f"Which columns were generalized? Name them with --qi, or the job or mapping of the release; "
            f"'discreet info {without_password(original)}' helps.",
            topic="no-quasi-identifier",
        )
    given = pairs("--hierarchy", options["forms"])
    check_hierarchies(given, quasi, None)
    folder = options["hierarchies"]
    trees = {**(hierarchy_files(quasi, folder) if folder is not None else {}), **given}

    from discreet.evaluate import utility as measure

    models = options["models"]
    report = measure(
        original,
        released,
        quasi_identifiers={**roles.quasi_identifiers, **trees},
        sensitive=list(roles.sensitive),
        class_attribute=options["label"] or roles.class_attribute,
        costs=options["costs"] or None,
        models=[model for model in models if model != "none"] if models else None,
        types=roles.types,
        **{name: options[name] for name in ("mapping", "queries", "held_out", "seed")},
    )
    answer(report, as_json=as_json)
