"""Results and progress reports of searches for fronts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from discreet.counts import FloatArray

__all__ = ["FoundFront", "FoundPoint", "FrontCallback", "FrontProgress"]


@dataclass(frozen=True)
class FrontProgress:
    """How far the search for a front is."""

    seconds: float
    evaluated: int
    open: int
    points: int


FrontCallback = Callable[[FrontProgress], None]


@dataclass(frozen=True, eq=False)
class FoundPoint:
    """One point of a front; ``values`` are those of the axes, more is better."""

    values: tuple[float, ...]
    loss: float
    levels: tuple[int, ...]
    suppressed: int
    classes: int
    also: int
    """How many other nodes have the same values and the same loss."""
    proven: bool


@dataclass(frozen=True, eq=False)
class FoundFront:
    """The result of a search for a front."""

    points: tuple[FoundPoint, ...]
    """By falling value of the first axis."""
    space: int
    examined: int
    complete: bool
    cloud: FloatArray
    """(examined, axes + 1): values and loss of every node that was evaluated."""
    stats: dict[str, Any] = field(default_factory=dict)
