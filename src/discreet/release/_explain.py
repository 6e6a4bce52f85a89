"""What each step along a front gains and loses, attribute by attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.counts import CodedAttribute, CountTable

if TYPE_CHECKING:
    from discreet.release._front import FrontPoint

__all__ = ["Change", "Step", "steps_between"]


@dataclass(frozen=True)
class Change:
    """What happens to one attribute: its level, how many values are told apart, and how much detail rows keep."""

    attribute: str
    levels: tuple[int, int]
    values: tuple[int, int]
    detail: tuple[float, float]
    """1 where every row keeps its own value, 0 where all rows show the same."""

    @property
    def text(self) -> str:
        """The change in words."""
        verb = "loses" if self.detail[1] <= self.detail[0] else "gains"
        return (
            f"'{self.attribute}' {verb}: {self.values[0]:,} → {self.values[1]:,} different values "
            f"(level {self.levels[0]} → {self.levels[1]}), "
            f"detail {100 * self.detail[0]:.0f} → {100 * self.detail[1]:.0f} %"
        )


@dataclass(frozen=True, eq=False)
class Step:
    """One step from a point to the next with more privacy."""

    before: FrontPoint
    after: FrontPoint
    changes: tuple[Change, ...]

    @property
    def text(self) -> str:
        """The step in words."""
        gained = ", ".join(
            f"{axis} {_text(self.before.values[axis])} → {_text(value)}" for axis, value in self.after.values.items()
        )
        share = (self.after.loss - self.before.loss) / self.before.loss if self.before.loss else None
        dearer = "" if share is None else f" ({100 * share:+.1f} %)"
        parts = [change.text for change in self.changes]
        rows = self.after.suppressed - self.before.suppressed
        if rows:
            noun = "row" if abs(rows) == 1 else "rows"
            parts.append(f"{abs(rows):,} {noun} {'more' if rows > 0 else 'fewer'} suppressed")
        what = "; ".join(parts) or "no attribute changes"
        return f"{gained}: loss {self.before.loss:,.6g} → {self.after.loss:,.6g}{dearer}; {what}."


def steps_between(points: Sequence[FrontPoint], table: CountTable) -> list[Step]:
    """Return the steps from each point to the next."""
    known = {attribute.name: attribute for attribute in table.attributes}
    found = []
    for before, after in pairwise(points):
        changes = [
            _change(known[name], before.levels[name], level)
            for name, level in after.levels.items()
            if before.levels[name] != level
        ]
        found.append(Step(before, after, tuple(changes)))
    return found


def _change(attribute: CodedAttribute, before: int, after: int) -> Change:
    return Change(
        attribute.name,
        (before, after),
        (_values(attribute, before), _values(attribute, after)),
        (_detail(attribute, before), _detail(attribute, after)),
    )


def _values(attribute: CodedAttribute, level: int) -> int:
    return int(np.count_nonzero(attribute.block_rows[level]))


def _detail(attribute: CodedAttribute, level: int) -> float:
    """What is left of the attribute by the loss metric, on average over the rows."""
    lost = (attribute.block_leaves[level] - 1) / max(attribute.leaves - 1, 1)
    rows = attribute.block_rows[level]
    return float(1.0 - (lost * rows).sum() / max(rows.sum(), 1))


def _text(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
