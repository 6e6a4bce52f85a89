"""``discreet risk``: how likely people are found in a table, and what it tells about them."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli._answer import echo_json
from discreet.cli._options import columns, json_option, once, pairs, qi_option, sensitive_option
from discreet.cli._release_roles import job_roles, known_options
from discreet.errors import UsageError

__all__ = ["risk"]


@click.command(
    epilog="""\b
Examples:
  discreet risk people.csv --qi birth_date,sex,zip --sensitive diagnosis
  discreet risk safe.csv --qi birth_date,sex,zip --population 330000
  discreet risk safe.csv --qi birth_date,zip --sensitive diagnosis --original people.csv \\
      --hierarchy 'birth_date=dates(year, decade)' --hierarchy 'zip=mask(digits=5)'
  discreet risk safe.csv --mapping mapping.json --original people.csv

\b
With --original the attacks are run too: linkage, homogeneity and (with --privacy) minimality.""",
)
@click.argument("file", metavar="FILE")
@qi_option
@sensitive_option
@click.option(
    "--population", metavar="FILE|N", help="The people FILE was drawn from: a table of them all, or their number."
)
@click.option("--weights", metavar="COLUMN", help="Survey weights, where there is no such table.")
@click.option(
    "--original", metavar="FILE", help="The table the release was made from, to compare with and to attack with."
)
@click.option(
    "--threshold",
    type=float,
    default=0.2,
    show_default=True,
    metavar="X",
    help="Records whose risk is above this are counted.",
)
@click.option(
    "--privacy",
    multiple=True,
    metavar="MODEL",
    help="What the release promises, such as 'distinct-l(3, disease)', for the minimality attack. Repeatable.",
)
@click.option(
    "--hierarchy",
    "forms",
    multiple=True,
    metavar="NAME=FORM",
    help="How a column was generalized, or the hierarchy of a sensitive one. Repeatable.",
)
@click.option("--type", "types", multiple=True, metavar="NAME=TYPE", help="text, ordered, integer, decimal or date.")
@known_options
@click.option("--unknown", metavar="TEXT", help="What stands for a sensitive value that was suppressed, as in '*'.")
@click.option(
    "--missing-sensitive",
    default="unknown",
    show_default=True,
    type=click.Choice(["unknown", "value"]),
    help="Missing sensitive values: unknown, so that nothing counts them as values, or one more value.",
)
@click.option(
    "--depth",
    type=int,
    default=3,
    show_default=True,
    metavar="N",
    help="Look at combinations of up to so many columns.",
)
@json_option
def risk(
    file: str,
    qi: tuple[str, ...],
    sensitive: tuple[str, ...],
    population: str | None,
    weights: str | None,
    original: str | None,
    threshold: float,
    privacy: tuple[str, ...],
    forms: tuple[str, ...],
    types: tuple[str, ...],
    mapping: str | None,
    job: str | None,
    unknown: str | None,
    missing_sensitive: str,
    depth: int,
    as_json: bool,
) -> None:
    """Measure how likely people are found in the table FILE, and what it tells about them."""
    roles = job_roles(job, mapping)
    attributes = once("--qi", columns(qi)) or list(roles["quasi_identifiers"])
    secrets = once("--sensitive", columns(sensitive)) or list(roles["sensitive"])
    if not attributes:
        raise UsageError(
            f"Which columns could identify a person? Name them with --qi; 'discreet info {file}' helps.",
            topic="no-quasi-identifier",
        )
    trees = pairs("--hierarchy", forms)
    for name in trees:
        if name not in attributes and name not in secrets:
            raise UsageError(
                f"--hierarchy names '{name}', which is neither in --qi nor in --sensitive.",
                column=name,
                topic="not-a-quasi-identifier",
            )
    asked: dict[str, Any] = {
        "quasi_identifiers": {name: trees.get(name, roles["quasi_identifiers"].get(name)) for name in attributes},
        "mapping": mapping,
        "sensitive": {name: trees.get(name, roles["sensitive"].get(name)) for name in secrets},
        "types": {**roles["types"], **pairs("--type", types)},
        "unknown": unknown,
        "missing_sensitive": missing_sensitive,
    }

    from discreet.evaluate import attacks
    from discreet.evaluate import risk as measure

    people = int(population) if population is not None and population.isdecimal() else population
    report = measure(
        file, population=people, weights=weights, threshold=threshold, original=original, depth=depth, **asked
    )
    attacked = None if original is None else attacks(original, file, privacy=privacy, **asked)
    if as_json:
        told = report.to_dict() | ({} if attacked is None else {"attacks": attacked.to_dict()})
        echo_json(told)
        return
    click.echo(report.summary())
    if attacked is not None:
        click.echo(f"\n{attacked.summary()}")
