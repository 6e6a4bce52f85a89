"""``discreet utility``: what a released table is still good for."""

from __future__ import annotations

import click

from discreet._places import shown
from discreet.cli._answer import answer
from discreet.cli._options import columns, json_option, once, pairs, qi_option, sensitive_option
from discreet.cli._release_roles import job_roles, known_options
from discreet.cli._table import hierarchy_files
from discreet.errors import UsageError

__all__ = ["utility"]


@click.command(
    epilog="""\b
Examples:
  discreet utility people.csv safe.csv --qi birth_date,sex,zip --hierarchy 'zip=mask(digits=5)'
  discreet utility people.csv safe.csv --mapping mapping.json
  discreet utility people.csv safe.csv --job job.yaml --class-attribute diagnosis --model tree \\
      --held-out others.csv --json

\b
Name the hierarchies the release was made with, its job or its mapping: they tell what a released value
stands for. Ranges, sets and automatic hierarchies are read without; rounded numbers cannot be.
Classifiers need scikit-learn: pip install 'discreet[learn]'.""",
)
@click.argument("original", metavar="ORIGINAL")
@click.argument("released", metavar="RELEASED")
@qi_option
@sensitive_option
@click.option("--class-attribute", "--class", "label", metavar="COLUMN", help="The column that classifiers predict.")
@click.option(
    "--hierarchy", "forms", multiple=True, metavar="NAME=FORM", help="How a column was generalized. Repeatable."
)
@click.option("--hierarchies", metavar="DIR", help="A folder with NAME.csv or *_hierarchy_NAME.csv for the columns.")
@click.option("--type", "types", multiple=True, metavar="NAME=TYPE", help="text, ordered, integer, decimal or date.")
@known_options
@click.option("--cost", "costs", multiple=True, metavar="COST", help="A cost to tell, instead of all. Repeatable.")
@click.option(
    "--queries",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    metavar="N",
    help="How many random COUNT queries to ask.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    type=click.Choice(["tree", "logistic", "forest", "none"]),
    help="A classifier to train, instead of all. Repeatable.",
)
@click.option(
    "--held-out", metavar="FILE", help="Original rows that RELEASED was not made from, to test classifiers on."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For queries and folds.")
@json_option
def utility(
    original: str,
    released: str,
    qi: tuple[str, ...],
    sensitive: tuple[str, ...],
    label: str | None,
    forms: tuple[str, ...],
    hierarchies: str | None,
    types: tuple[str, ...],
    mapping: str | None,
    job: str | None,
    costs: tuple[str, ...],
    queries: int,
    models: tuple[str, ...],
    held_out: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Tell what the table RELEASED, made from ORIGINAL, is still good for."""
    roles = job_roles(job, mapping)
    attributes = once("--qi", columns(qi)) or list(roles["quasi_identifiers"])
    if not attributes:
        raise UsageError(
            f"Which columns were made coarser? Name them with --qi, or the job or mapping of the release; "
            f"'discreet info {shown(original)}' helps.",
            topic="no-quasi-identifier",
        )
    given = pairs("--hierarchy", forms)
    for name in given:
        if name not in attributes:
            raise UsageError(
                f"--hierarchy names '{name}', which is not in --qi.", column=name, topic="not-a-quasi-identifier"
            )
    known = {**(hierarchy_files(attributes, hierarchies) if hierarchies is not None else {}), **given}

    from discreet.evaluate import utility as measure

    chosen = [model for model in models if model != "none"] if models else None
    report = measure(
        original,
        released,
        quasi_identifiers={name: known.get(name, roles["quasi_identifiers"].get(name)) for name in attributes},
        mapping=mapping,
        sensitive=once("--sensitive", columns(sensitive)) or list(roles["sensitive"]),
        class_attribute=label or roles["class_attribute"],
        costs=costs or None,
        queries=queries,
        models=chosen,
        held_out=held_out,
        types={**roles["types"], **pairs("--type", types)},
        seed=seed,
    )
    answer(report, as_json=as_json)
