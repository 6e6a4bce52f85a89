"""What there is to see of a front: names of attributes, levels and counts, and no value of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from discreet._words import amount, either
from discreet.counts import CodedAttribute, FloatArray
from discreet.errors import UsageError
from discreet.release._front_scale import plain, share
from discreet.release._small import LEAST, few

__all__ = ["FrontPicture", "PicturePoint", "Recoded", "recoded"]


class Recoded(NamedTuple):
    """What becomes of one attribute: how many of its values can still be told apart, and the level where there is one.

    >>> Recoded("age", 8, 72, level=2, height=4).words, Recoded("zip", 30, 100).words
    ('level 2 of 4: 8 values instead of 72', '30 values instead of 100')
    """

    name: str
    values: int
    of: int
    level: int | None = None
    height: int | None = None

    @property
    def words(self) -> str:
        """It in words."""
        if self.values == self.of:
            return f"as it is: {amount(self.of, 'value')}"
        if self.values == 1:
            return f"one value for all, instead of {self.of:,}"
        level = "" if self.level is None else f"level {self.level} of {self.height}: "
        return f"{level}{self.values:,} values instead of {self.of:,}"

    @property
    def left(self) -> str:
        """What is left of it, in few words."""
        if self.values == self.of:
            return f"all {self.of:,} values" if self.of > 1 else "its one value"
        return "one value for all" if self.values == 1 else f"{self.values:,} of {self.of:,} values"


def recoded(attributes: Sequence[CodedAttribute], levels: Sequence[int]) -> tuple[Recoded, ...]:
    """Return what becomes of each attribute at its level."""
    return tuple(
        Recoded(a.name, a.block_leaves[level].size, a.leaves, int(level), a.height)
        for a, level in zip(attributes, levels, strict=True)
    )


@dataclass(frozen=True)
class PicturePoint:
    """One choice: no other is better in one respect and as good in the rest."""

    value: float
    """What it reaches on the axis, as people know the number."""
    loss: float
    normalized_loss: float
    suppressed: int
    classes: int
    recoding: tuple[Recoded, ...]
    also: int = 0
    """How many other recodings are equally good."""
    proven: bool = True
    knee: bool = False
    second: float | None = None
    """What it reaches on a second axis."""
    note: str = ""
    """Why it is suggested, or whatever else should be said about it."""
    python: str = ""
    """The code that makes this release."""
    command: str = ""
    """The command that does."""


@dataclass(frozen=True, eq=False)
class FrontPicture:
    """All there is to see of a front."""

    points: Sequence[PicturePoint]
    n: int
    axis: str = "k"
    cost: str = "LM"
    cloud: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    """(nodes, 2): value and loss of everything that was looked at."""
    missed: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    """(points, 2): points of the true front that the search did not find."""
    lower_is_better: bool = False
    second_axis: str = ""
    second_lower_is_better: bool = False
    title: str = "Privacy against loss"
    subtitle: str = ""

    def __post_init__(self) -> None:
        if not self.points:
            raise UsageError("A front without points cannot be drawn; let the search run longer.")

    @property
    def ordered(self) -> list[PicturePoint]:
        """The points from the least private to the most."""
        sign = -1 if self.lower_is_better else 1
        return sorted(self.points, key=lambda point: (sign * point.value, point.loss))

    @property
    def axis_name(self) -> str:
        """The axis in a word."""
        return _short(self.axis)

    @property
    def second_name(self) -> str:
        """The second axis in a word."""
        return _short(self.second_axis)

    def reached(self, point: PicturePoint) -> str:
        """Return what a point reaches, as in ``k = 5``."""
        first = f"{self.axis_name} = {plain(point.value)}"
        if point.second is None:
            return first
        return f"{first}, {self.second_name} = {plain(point.second)}"

    def facts(self, point: PicturePoint) -> dict[str, str]:
        """Return what a choice means, by name."""
        alike = (
            f"; {amount(point.also, 'other recoding')} {either(point.also, 'is', 'are')} as good" if point.also else ""
        )
        return {
            f"{self.cost} loss": f"{plain(point.loss)}, {share(point.normalized_loss)} of suppressing everything",
            "suppressed": _suppressed(point.suppressed, self.n),
            "classes": f"{point.classes:,}; rows of a class look alike",
            "proof": f"{'nothing better exists' if point.proven else 'none yet: a better choice may exist'}{alike}",
        }


def _short(axis: str) -> str:
    """The axis in a word: ``l`` for ``distinct-l(disease)``."""
    name = axis.partition("(")[0]
    return {"distinct-l": "l", "entropy-l": "l", "theta": "θ", "average-risk": "average risk"}.get(name, name)


def _suppressed(rows: int, of: int) -> str:
    """Write how many rows are suppressed; of few neither the number nor the share."""
    if 0 < rows < LEAST:
        return f"{few(rows)} rows"
    return f"{rows:,} of {of:,} rows ({share(rows / max(of, 1))})"
