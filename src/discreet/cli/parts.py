"""``discreet parts``: every part a job can be put together from, including those of other packages."""

from __future__ import annotations

import click

from discreet.cli._answer import echo_json
from discreet.cli._options import json_option
from discreet.vocabulary import FAMILIES

__all__ = ["parts"]


_WIDEST_FORM = 32


@click.command(
    epilog="""\b
Examples:
  discreet parts                   all of them
  discreet parts privacy           privacy models only
  discreet parts solvers --json    for programs

\b
Parts of other packages that are installed beside discreet are marked with their package. One that cannot
be loaded is listed with the reason, and does no harm to the others.""",
)
@click.argument("family", required=False, type=click.Choice(FAMILIES), metavar="[FAMILY]")
@json_option
def parts(family: str | None, as_json: bool) -> None:
    """List privacy models, costs, suppression kinds, schemes, solvers, axes of fronts and hierarchy builders."""
    from discreet.vocabulary import families, list_parts

    listed = {name: list_parts(found) for name, found in families().items() if family in (None, name)}
    if as_json:
        echo_json(listed)
        return
    width = max(len(_short_form(part)) for each in listed.values() for part in each)
    for number, (name, each) in enumerate(listed.items()):
        if family is None:
            click.echo(f"{chr(10) * (number > 0)}{name}")
        for part in each:
            origin = f" [{part['package']}]" if "package" in part else ""
            click.echo(f"  {_short_form(part).ljust(width)}  {part.get('error') or part['about']}{origin}")


def _short_form(part: dict[str, str]) -> str:
    return part["form"] if len(part["form"]) <= _WIDEST_FORM else f"{part['name']}(…)"
