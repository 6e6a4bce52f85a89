"""Which columns make people unique: distinction, separation and unique rows of columns and their combinations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet._numbers import add_up, numbered
from discreet.counts import IntArray
from discreet.evaluate._cells import Cells

__all__ = ["ColumnRisk", "column_risk"]

_BUDGET = 2_000_000_000
"""The combinations looked at times the classes of the table are at most this many."""
_HELD = 500_000_000
"""The bytes that may be held to tell which unique rows are unique on fewer columns already."""


@dataclass(frozen=True, eq=False)
class ColumnRisk:
    """What columns and combinations of them tell about people.

    ``combinations`` has a row for each combination, the smallest and most telling first: its ``columns``, how many,
    its ``distinction`` (distinct values over rows), its ``separation`` (the share of all pairs of rows it tells
    apart; both as Motwani and Xu define them), its ``unique`` rows and their ``share``, and the rows for which it is
    ``minimal``: unique on it and on no part of it.
    """

    combinations: pl.DataFrame
    depth: int
    """Combinations of up to so many columns were looked at; all columns together always are."""
    complete: bool
    """Whether that is as many as was asked for; if not, there are too many combinations."""
    keys: tuple[tuple[str, ...], ...]
    """The combinations, among those looked at, on which every row is unique, but on no part of which every row is."""
    needed: pl.DataFrame
    """For each column how many of the unique rows are not unique without it, and their share of the unique rows."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "depth": self.depth,
            "complete": self.complete,
            "keys": [list(key) for key in self.keys],
            "needed": self.needed.to_dicts(),
            "combinations": self.combinations.to_dicts(),
        }


def column_risk(cells: Cells, depth: int) -> ColumnRisk:
    """Measure all combinations of up to ``depth`` quasi-identifiers, as far as time allows, and all together."""
    names = cells.columns
    alone = cells.sizes == 1
    lines: list[dict[str, Any]] = []
    keys: list[tuple[int, ...]] = []
    work, reached = 0, 0
    before: dict[tuple[int, ...], NDArray[np.bool_]] = {(): np.zeros(cells.sizes.size, dtype=np.bool_)}
    for size in range(1, min(depth, len(names)) + 1):
        count = comb(len(names), size)
        work += count * cells.sizes.size
        if size > 1 and (work > _BUDGET or count * cells.sizes.size > _HELD):
            break
        reached, now = size, {}
        for places, group, groups in _grouped(cells, size):
            unique = (_sizes(cells, group, groups) == 1)[group]
            parts = [places[:i] + places[i + 1 :] for i in range(size)]
            known = np.logical_or.reduce([before[part] for part in parts])
            lines.append(_line(cells, places, group, groups, int((unique & ~known).sum())))
            now[places] = unique
            if groups == cells.rows and not any(set(key) <= set(places) for key in keys):
                keys.append(places)
        before = now
    if reached < len(names):
        everything = tuple(range(len(names)))
        lines.append(_line(cells, everything, np.arange(cells.sizes.size), cells.sizes.size, None))
    frame = pl.DataFrame(lines, schema_overrides={"minimal": pl.Int64}, orient="row")
    order = [pl.col("size"), pl.col("separation"), pl.col("distinction"), pl.col("columns")]
    return ColumnRisk(
        combinations=frame.sort(order, descending=[False, True, True, False]),
        depth=reached,
        complete=reached == min(depth, len(names)),
        keys=tuple(tuple(names[place] for place in key) for key in keys),
        needed=_needed(cells, alone),
    )


def _grouped(cells: Cells, size: int) -> Iterator[tuple[tuple[int, ...], IntArray, int]]:
    """Yield each combination of so many columns, the group of each class by them, and how many groups there are.

    The groups by the first columns are kept from one combination to the next.
    """
    widths = [cells.width(column) for column in cells.columns]
    stack: list[tuple[tuple[int, ...], IntArray, int]] = []
    for places in combinations(range(len(widths)), size):
        while stack and stack[-1][0] != places[: len(stack)]:
            stack.pop()
        while len(stack) < size:
            place = places[len(stack)]
            before = [stack[-1][1:]] if stack else []
            groups = numbered(cells.sizes.size, [*before, (cells.codes[place], widths[place])])
            stack.append((places[: len(stack) + 1], *groups))
        yield stack[-1]


def _line(cells: Cells, places: tuple[int, ...], group: IntArray, groups: int, minimal: int | None) -> dict[str, Any]:
    sizes = _sizes(cells, group, groups).astype(np.float64)
    pairs = cells.rows * (cells.rows - 1)
    unique = int((sizes == 1).sum())
    return {
        "columns": ", ".join(cells.columns[place] for place in places),
        "size": len(places),
        "distinction": groups / cells.rows,
        "separation": 1 - float((sizes * (sizes - 1)).sum()) / pairs if pairs else 1.0,
        "unique": unique,
        "share": unique / cells.rows,
        "minimal": minimal,
    }


def _sizes(cells: Cells, group: IntArray, groups: int) -> IntArray:
    return add_up(group, cells.sizes, groups)


def _needed(cells: Cells, alone: NDArray[np.bool_]) -> pl.DataFrame:
    """Tell for each column how many unique rows are unique no more once it is gone."""
    total = int(alone.sum())
    lost = []
    for left_out in range(len(cells.columns)):
        others = [place for place in range(len(cells.columns)) if place != left_out]
        if others:
            rest = ((cells.codes[place], cells.width(cells.columns[place])) for place in others)
            group, groups = numbered(cells.sizes.size, rest)
            still = (_sizes(cells, group, groups) == 1)[group]
        else:
            still = np.full(alone.size, cells.rows == 1)
        lost.append(int((alone & ~still).sum()))
    frame = pl.DataFrame({"column": cells.columns, "unique": lost, "share": [row / max(total, 1) for row in lost]})
    return frame.sort("unique", "column", descending=[True, False])
