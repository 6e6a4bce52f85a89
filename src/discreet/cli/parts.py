"""``discreet parts``: everything a job can be put together from, also what other packages bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from discreet.cli._answer import echo_json
from discreet.cli._options import json_option
from discreet.errors import UsageError

if TYPE_CHECKING:
    from discreet.problem._family import Family

__all__ = ["parts"]

FAMILIES = ("privacy", "costs", "suppression", "schemes", "solvers", "axes")
_WIDEST = 32


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
    """List privacy models, costs, suppression kinds, schemes, solvers and axes of fronts."""
    from discreet.problem import AXES, COSTS, PRIVACY, SCHEMES, SUPPRESSION
    from discreet.solve import SOLVERS

    families: dict[str, Family[Any]] = dict(
        zip(FAMILIES, (PRIVACY, COSTS, SUPPRESSION, SCHEMES, SOLVERS, AXES), strict=True)
    )
    listed = {name: _listed(found) for name, found in families.items() if family in (None, name)}
    if as_json:
        echo_json(listed)
        return
    width = max(len(_short(part)) for each in listed.values() for part in each)
    for number, (name, each) in enumerate(listed.items()):
        if family is None:
            click.echo(f"{chr(10) * (number > 0)}{name}")
        for part in each:
            said = part.get("error") or part["about"]
            origin = f" [{part['package']}]" if "package" in part else ""
            click.echo(f"  {_short(part).ljust(width)}  {said}{origin}")


def _short(part: dict[str, str]) -> str:
    """Return the form of a part as far as it fits in a list."""
    return part["form"] if len(part["form"]) <= _WIDEST else f"{part['name']}(…)"


def _listed(family: Family[Any]) -> list[dict[str, str]]:
    """Return form, meaning and origin of each member."""
    from discreet.problem._plugins import package_of

    listed = [_told(member) for _, member in sorted(family.members().items())]
    for name, entry in sorted(family.others().items()):
        try:
            told = _told(family.find(name))
        except UsageError as error:
            told = {"name": entry.name, "form": entry.name, "about": "", "error": error.message}
        listed.append({**told, "package": package_of(entry)})
    return listed


def _told(member: Any) -> dict[str, str]:
    import dataclasses

    arguments = [item.name for item in dataclasses.fields(member) if item.init]
    about = (member.__doc__ or "").strip().splitlines()[0].replace("``", "")
    form = f"{member.name}({', '.join(arguments)})" if arguments else member.name
    return {"name": member.name, "form": form, "about": about}
