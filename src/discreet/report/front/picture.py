"""What pictures of a front show: names of attributes, levels and counts, and no value of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from discreet.counts import CodedAttribute, FloatArray
from discreet.errors import UsageError
from discreet.report.numbers import number_text, percent
from discreet.report.small_counts import LEAST, few
from discreet.runtime.plurals import amount, either

__all__ = ["FrontPicture", "PicturePoint", "RecodedAttribute", "recoded_attributes"]


class RecodedAttribute(NamedTuple):
    """The remaining detail of an attribute: its number of distinct values, and its level under full-domain schemes.

    >>> RecodedAttribute("age", 8, 72, level=2, height=4).words, RecodedAttribute("zip", 30, 100).words
    ('level 2 of 4: 8 values instead of 72', '30 values instead of 100')
    """

    name: str
    values: int
    of: int
    level: int | None = None
    height: int | None = None

    @property
    def words(self) -> str:
        """The change, in words."""
        if self.values == self.of:
            return f"unchanged: {amount(self.of, 'value')}"
        if self.values == 1:
            return f"one value for all, instead of {self.of:,}"
        level = "" if self.level is None else f"level {self.level} of {self.height}: "
        return f"{level}{self.values:,} values instead of {self.of:,}"

    @property
    def left(self) -> str:
        """The remaining detail, in few words."""
        if self.values == self.of:
            return f"all {self.of:,} values" if self.of > 1 else "its one value"
        return "one value for all" if self.values == 1 else f"{self.values:,} of {self.of:,} values"


def recoded_attributes(attributes: Sequence[CodedAttribute], levels: Sequence[int]) -> tuple[RecodedAttribute, ...]:
    """Return what is left of each attribute at its level."""
    return tuple(
        RecodedAttribute(a.name, a.block_leaves[level].size, a.leaves, int(level), a.height)
        for a, level in zip(attributes, levels, strict=True)
    )


@dataclass(frozen=True)
class PicturePoint:
    """A point of a front."""

    value: float
    """Its value on the privacy axis."""
    loss: float
    normalized_loss: float
    suppressed: int
    classes: int
    recoding: tuple[RecodedAttribute, ...]
    also: int = 0
    """How many other recodings are equally good."""
    proven: bool = True
    knee: bool = False
    second: float | None = None
    """Its value on a second axis."""
    note: str = ""
    """Why it is suggested."""
    python: str = ""
    """The code that makes this release."""
    command: str = ""
    """The command that makes it."""


@dataclass(frozen=True, eq=False)
class FrontPicture:
    """A front, ready to be drawn."""

    points: Sequence[PicturePoint]
    n: int
    axis: str = "k"
    cost: str = "LM"
    cloud: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    """(nodes, 2): value and loss of every recoding that was evaluated."""
    evaluated: int = 0
    """How many recodings were evaluated, if the cloud has only some of them."""
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
        """The short name of the axis."""
        return _short(self.axis)

    @property
    def second_name(self) -> str:
        """The short name of the second axis."""
        return _short(self.second_axis)

    def reached(self, point: PicturePoint) -> str:
        """Return the values of a point, as in ``k = 5``."""
        first = f"{self.axis_name} = {number_text(point.value)}"
        if point.second is None:
            return first
        return f"{first}, {self.second_name} = {number_text(point.second)}"

    def facts(self, point: PicturePoint) -> dict[str, str]:
        """Return what a choice means, as named facts."""
        alike = (
            f"; {amount(point.also, 'other recoding')} {either(point.also, 'is', 'are')} as good" if point.also else ""
        )
        relative = f"{percent(point.normalized_loss)} of the cost of suppressing everything"
        return {
            f"{self.cost} loss": f"{number_text(point.loss)}, {relative}",
            "suppressed": _suppressed(point.suppressed, self.n),
            "classes": f"{point.classes:,}; the rows of a class look alike",
            "proof": f"{'nothing better exists' if point.proven else 'none yet: a better choice may exist'}{alike}",
        }


def _short(axis: str) -> str:
    """Return the short name of an axis: ``l`` for ``distinct-l(disease)``."""
    name = axis.partition("(")[0]
    return {"distinct-l": "l", "entropy-l": "l", "theta": "θ", "average-risk": "average risk"}.get(name, name)


def _suppressed(rows: int, of: int) -> str:
    """Write how many rows are suppressed; neither number nor share if they are few."""
    if 0 < rows < LEAST:
        return f"{few(rows)} rows"
    return f"{rows:,} of {of:,} rows ({percent(rows / max(of, 1))})"
