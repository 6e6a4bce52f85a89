"""``discreet parts``: every part a job can be put together from, including those of other packages."""

from __future__ import annotations

import json
import textwrap

import click

from discreet.cli._answer import echo_json
from discreet.cli._options import json_option
from discreet.errors import UsageError
from discreet.vocabulary import FAMILIES

__all__ = ["parts"]


_WIDEST_FORM = 32
_BEST = {
    "name": "best",
    "form": "best",
    "about": "Tries full-domain, subtree and local, and takes the release that costs least.",
}
"""What ``--scheme`` takes besides the schemes."""


@click.command(
    epilog="""\b
Examples:
  discreet parts                   all of them
  discreet parts privacy           privacy models only
  discreet parts solvers --json    for programs
  discreet parts --matrix          which parts go together, and why others do not
  discreet parts costs --matrix    tables with costs only

Parts of other packages that are installed beside discreet are marked with their package. One that cannot
be loaded is listed with the reason, and does no harm to the others.""",
)
@click.argument("family", required=False, type=click.Choice(FAMILIES), metavar="[FAMILY]")
@click.option(
    "--matrix", is_flag=True, help="Show which schemes, suppression kinds, costs, models and solvers go together."
)
@json_option
def parts(family: str | None, matrix: bool, as_json: bool) -> None:
    """List privacy models, costs, suppression kinds, schemes, solvers, axes of fronts, builders and attacks."""
    if matrix:
        _show_combinations(family, as_json)
        return
    from discreet.vocabulary import families, list_parts

    listed = {name: list_parts(found) for name, found in families().items() if family in (None, name)}
    if "schemes" in listed:
        listed["schemes"].insert(0, _BEST)
    if as_json:
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))  # every key is a family
        return
    width = max(len(_short_form(part)) for each in listed.values() for part in each)
    for number, (name, each) in enumerate(listed.items()):
        if family is None:
            click.echo(f"{chr(10) * (number > 0)}{name}")
        for part in each:
            origin = f" [{part['package']}]" if "package" in part else ""
            click.echo(f"  {_short_form(part).ljust(width)}  {part.get('error') or part['about']}{origin}")


def _show_combinations(family: str | None, as_json: bool) -> None:
    """Print which parts go together: tables with notes, or each pair for programs."""
    from discreet.cli._matrix import LEGEND, grids, text_lines
    from discreet.solve import combinations

    found = [each for each in combinations() if family in (None, each.first_family, each.second_family)]
    if not found:
        raise UsageError(f"The family {family} is not combined with others; leave it out to see those that are.")
    if as_json:
        echo_json([each.to_dict() for each in found])
        return
    click.echo(textwrap.fill(LEGEND, 100))
    for grid in grids(found):
        click.echo()
        for line in text_lines(grid):
            click.echo(line)


def _short_form(part: dict[str, str]) -> str:
    return part["form"] if len(part["form"]) <= _WIDEST_FORM else f"{part['name']}(…)"
