"""Gains and losses of each step along a front, attribute by attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.counts import CodedAttribute, CountTable, IntArray
from discreet.report.numbers import number_text
from discreet.report.small_counts import few

if TYPE_CHECKING:
    from discreet.pipeline.front import FrontPoint

__all__ = ["Change", "Step", "steps_between"]


@dataclass(frozen=True)
class Change:
    """What happens to an attribute: its level, its number of distinct values, and the detail that rows keep."""

    attribute: str
    levels: tuple[int, int] | None
    """None unless the scheme is full-domain."""
    values: tuple[int, int]
    detail: tuple[float, float]
    """1 where every row keeps its own value, 0 where all rows show the same."""

    @property
    def text(self) -> str:
        """The change in words."""
        before, after = self.detail
        verb = "loses" if after < before else "gains" if after > before else "changes"
        level = "" if self.levels is None else f" (level {self.levels[0]} → {self.levels[1]})"
        return (
            f"'{self.attribute}' {verb}: {self.values[0]:,} → {self.values[1]:,} different values{level}, "
            f"detail {100 * before:.0f} → {100 * after:.0f} %"
        )


@dataclass(frozen=True, eq=False)
class Step:
    """A step from a point to the next with more privacy."""

    before: FrontPoint
    after: FrontPoint
    changes: tuple[Change, ...]

    @property
    def gained(self) -> list[str]:
        """What gets better."""
        more = [change.text for change in self.changes if change.detail[1] > change.detail[0]]
        return self._moved(1) + more + self._rows(-1)

    @property
    def lost(self) -> list[str]:
        """What gets worse."""
        less = [change.text for change in self.changes if change.detail[1] <= change.detail[0]]
        return [*self._moved(-1), self._loss, *less, *self._rows(1)]

    @property
    def text(self) -> str:
        """The step in words."""
        parts = [*(change.text for change in self.changes), *self._rows(1), *self._rows(-1)]
        what = "; ".join(parts) or "no attribute changes"
        return f"{', '.join(self._moved(1) + self._moved(-1))}: {self._loss}; {what}."

    @property
    def _loss(self) -> str:
        before, after = self.before.loss, self.after.loss
        dearer = f" ({100 * (after - before) / before:+.1f} %)" if before else ""
        return f"loss {before:,.6g} → {after:,.6g}{dearer}"

    def _moved(self, sign: int) -> list[str]:
        """Return the axes on which the step leads up (1) or down (-1)."""
        return [
            f"{axis} {number_text(self.before.values[axis])} → {number_text(value)}"
            for (axis, value), before, after in zip(
                self.after.values.items(), self.before.reached, self.after.reached, strict=True
            )
            if sign * (after - before) > 0
        ]

    def _rows(self, sign: int) -> list[str]:
        """Return how many more (1) or fewer (-1) rows are suppressed, if any."""
        rows = sign * (self.after.suppressed - self.before.suppressed)
        if rows <= 0:
            return []
        return [f"{few(rows)} {'more' if sign > 0 else 'fewer'} rows suppressed"]


def steps_between(points: Sequence[FrontPoint], table: CountTable) -> list[Step]:
    """Return the steps from each point to the next."""
    return [Step(before, after, tuple(_changes(before, after, table))) for before, after in pairwise(points)]


def _changes(before: FrontPoint, after: FrontPoint, table: CountTable) -> list[Change]:
    found = []
    for attribute, old, new in zip(table.attributes, _blocks(before, table), _blocks(after, table), strict=True):
        name = attribute.name
        if not np.array_equal(old, new):
            levels = (before.levels[name], after.levels[name]) if name in before.levels else None
            (values, detail), (values_after, detail_after) = _detail(attribute, old), _detail(attribute, new)
            found.append(Change(name, levels, (values, values_after), (detail, detail_after)))
    return found


def _blocks(point: FrontPoint, table: CountTable) -> Sequence[IntArray]:
    """Return the block of every leaf, for each attribute."""
    if point.solved is not None:
        return point.solved.solution.blocks
    return [attribute.ancestors[point.levels[attribute.name]] for attribute in table.attributes]


def _detail(attribute: CodedAttribute, blocks: IntArray) -> tuple[int, float]:
    """Return the number of values that occur, and the detail that is left on average (1 minus the loss metric)."""
    rows = np.bincount(blocks, weights=attribute.rows)
    lost = (np.bincount(blocks) - 1) / max(attribute.leaves - 1, 1)
    return int(np.count_nonzero(rows)), float(1.0 - (lost * rows).sum() / max(rows.sum(), 1))
