"""The outcome of an attack, and the list of attacks."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import UsageError
from discreet.problem import COSTS, SCHEMES
from discreet.solve._matrix import example_problem

__all__ = ["Attack", "Outcome", "attacks", "going_together"]


@dataclass(frozen=True)
class Outcome:
    """Outcome of one attack on one release."""

    attack: str
    """Name of the attack, such as ``labels``."""
    target: str
    """Target of the attack: a format, engine, scheme or file."""
    held: bool
    """Whether the release withstood it."""
    detail: str = ""
    """What was learned, if anything."""


def going_together(suppression: str, privacy: str) -> list[tuple[str, str]]:
    """The schemes and costs that go with a suppression kind and a privacy model of a disease."""
    parts = {"suppression": suppression, "privacy": privacy, "solvers": "auto"}
    pairs = [(scheme, cost) for scheme in SCHEMES.members() for cost in COSTS.members()]
    return [pair for pair in pairs if _fits({**parts, "schemes": pair[0], "costs": pair[1]})]


def _fits(choice: dict[str, str]) -> bool:
    try:
        example_problem(choice)
    except UsageError:
        return False
    return True


Attack = Callable[[int, Path], Iterator[Outcome]]


def attacks() -> dict[str, Attack]:
    """The functions ``run(seed, folder)`` of the modules of this package, by module name."""
    package = importlib.import_module("attack")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = {name: importlib.import_module(f"attack.{name}") for name in names if not name.startswith("_")}
    return {name: module.run for name, module in modules.items() if hasattr(module, "run")}
