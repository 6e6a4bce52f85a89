"""What every attack returns, and where the attacks are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Attack", "Outcome", "attacks"]


@dataclass(frozen=True)
class Outcome:
    """How one attack on one release ended."""

    attack: str
    """What was tried, such as ``labels``."""
    target: str
    """What it was tried on: the format, engine, scheme or file."""
    held: bool
    """Whether the release withstood it."""
    detail: str = ""
    """What was learnt, if anything was."""


Attack = Callable[[int, Path], Iterator[Outcome]]


def attacks() -> dict[str, Attack]:
    """Return the function ``run(seed, folder)`` of every module beside this one that has one, by module name."""
    package = importlib.import_module("attack")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = {name: importlib.import_module(f"attack.{name}") for name in names if not name.startswith("_")}
    return {name: module.run for name, module in modules.items() if hasattr(module, "run")}
