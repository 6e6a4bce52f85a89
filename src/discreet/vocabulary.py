"""Every family of parts, and what can be said about each part without choosing its arguments."""

from __future__ import annotations

from typing import Any

from discreet.errors import UsageError
from discreet.runtime.parts import Family, Part, package_of

__all__ = ["FAMILIES", "definition", "families", "list_parts"]

FAMILIES = ("privacy", "costs", "suppression", "schemes", "solvers", "axes", "builders", "attacks")
"""The families by the names that ``discreet parts``, the studio and entry points use."""


def families() -> dict[str, Family[Any]]:
    """Return all families by name."""
    from discreet.evaluate.attacks import ATTACKS
    from discreet.problem import AXES, COSTS, PRIVACY, SCHEMES, SUPPRESSION
    from discreet.schema import BUILDERS
    from discreet.solve import SOLVERS

    every = (PRIVACY, COSTS, SUPPRESSION, SCHEMES, SOLVERS, AXES, BUILDERS, ATTACKS)
    return dict(zip(FAMILIES, every, strict=True))


def definition(member: type[Part]) -> str:
    """Return what a part is, exactly: the first line of its docstring."""
    return (member.__doc__ or "").strip().splitlines()[0].replace("``", "")


def list_parts(family: Family[Any]) -> list[dict[str, str]]:
    """Return name, form and definition of each member, by name; those of other packages with the package.

    A part of another package that cannot be loaded is listed with the reason.
    """
    listed = [_summary(member) for _, member in sorted(family.members().items())]
    for name, entry in sorted(family.others().items()):
        try:
            member = family.find(name)
            assert member is not None
            found = _summary(member)
        except UsageError as error:
            found = {"name": entry.name, "form": entry.name, "about": "", "error": error.message}
        listed.append({**found, "package": package_of(entry)})
    return listed


def _summary(member: type[Part]) -> dict[str, str]:
    return {"name": member.name, "form": member.signature(), "about": definition(member)}
