"""Parts that other packages bring, found by their entry points.

A package that brings a privacy model says so in its ``pyproject.toml``::

    [project.entry-points."discreet.privacy"]
    p-sensitive = "mypackage.models:PSensitive"

Nothing of it is imported before its name is used, and a part that comes with discreet is never replaced.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from discreet.errors import UsageError

__all__ = ["entries", "load", "package_of"]


def entries(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, in small letters."""
    return {entry.name.lower(): entry for entry in entry_points(group=group)}


def package_of(entry: EntryPoint) -> str:
    """Return the package an entry point comes from, as people know it."""
    found = entry.dist
    return "an unknown package" if found is None else f"{found.name} {found.version}"


def load(entry: EntryPoint, kind: str, base: type[Any], taken: Mapping[str, type[Any]]) -> type[Any]:
    """Return the class an entry point stands for, or say in one sentence what is wrong with it."""
    where = f"The {kind} '{entry.name}' of the package {package_of(entry)}"
    try:
        member = entry.load()
    except Exception as error:
        raise UsageError(
            f"{where} cannot be loaded ({type(error).__name__}); upgrade or remove the package.", topic="plug-in"
        ) from error
    wrong = _fault(member, entry, kind, base, taken)
    if wrong is not None:
        raise UsageError(f"{where} {wrong}; upgrade or remove the package.", topic="plug-in")
    return member  # type: ignore[no-any-return]


def _fault(member: Any, entry: EntryPoint, kind: str, base: type[Any], taken: Mapping[str, type[Any]]) -> str | None:
    """Say what a loaded object lacks to be a member."""
    if not (isinstance(member, type) and issubclass(member, base)):
        return f"is not a class that inherits from {base.__name__}"
    if not dataclasses.is_dataclass(member):
        return "is not a dataclass, so that its arguments are not known"
    lacking = sorted(getattr(member, "__abstractmethods__", ()))
    if lacking:
        return f"does not define {' and '.join(lacking)}"
    names = [name.lower() for name in (getattr(member, "name", ""), *getattr(member, "aliases", ()))]
    if entry.name.lower() not in names:
        return "has another name in its class"
    clash = next((name for name in names if taken.get(name, member) is not member), None)
    if clash is not None:
        return f"has the name '{clash}', which another {kind} has"
    return None
