"""Which columns make people unique: distinction, separation and unique rows of columns and combinations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.evaluate.classes import CountedClasses
from discreet.evaluate.risk.suda import MinimalUniques
from discreet.runtime.integer_codes import add_up, numbered

__all__ = ["ColumnRisk", "column_risk"]

_BUDGET = 2_000_000_000
"""The most combinations times classes to examine."""
_MOST_BYTES = 500_000_000
"""The most memory for remembering which rows are unique on fewer columns already."""


@dataclass(frozen=True, eq=False)
class ColumnRisk:
    """How identifying columns and combinations of columns are.

    ``combinations`` has a row for each combination, the smallest and most identifying first: its ``columns`` and their
    number (``size``), its ``distinction`` (distinct values divided by rows) and ``separation`` (the share of all pairs
    of rows that it distinguishes), both as defined by Motwani and Xu, its ``unique`` rows with their ``share``, and the
    rows for which it is ``minimal``: unique on it, but on no part of it.
    """

    combinations: pl.DataFrame
    depth: int
    """The largest combinations that were examined, besides all columns together."""
    complete: bool
    """Whether the requested depth was reached; if not, there are too many combinations."""
    keys: tuple[tuple[str, ...], ...]
    """The examined combinations on which every row is unique, while on no part of them every row is."""
    needed: pl.DataFrame
    """For each column, the unique rows that are not unique without it, and their share."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "depth": self.depth,
            "complete": self.complete,
            "keys": [list(key) for key in self.keys],
            "needed": self.needed.to_dicts(),
            "combinations": self.combinations.to_dicts(),
        }


def column_risk(classes: CountedClasses, depth: int) -> tuple[ColumnRisk, MinimalUniques]:
    """Measure all combinations of up to ``depth`` quasi-identifiers as far as time allows, and all together.

    The minimal sample uniques among these combinations are counted on the way.
    """
    names = classes.columns
    alone = classes.sizes == 1
    lines: list[dict[str, Any]] = []
    keys: list[tuple[int, ...]] = []
    reached = _reach(classes, depth)
    uniques = MinimalUniques(alone, names, reached)
    before: dict[tuple[int, ...], NDArray[np.bool_]] = {(): np.zeros(classes.sizes.size, dtype=np.bool_)}
    for size in range(1, reached + 1):
        now = {}
        for chosen, group, groups in _grouped(classes, size):
            unique = (_sizes(classes, group, groups) == 1)[group]
            parts = [chosen[:i] + chosen[i + 1 :] for i in range(size)]
            minimal = unique & ~np.logical_or.reduce([before[part] for part in parts])
            lines.append(_line(classes, chosen, group, groups, int(minimal.sum())))
            uniques.add(chosen, minimal)
            now[chosen] = unique
            if groups == classes.rows and not any(set(key) <= set(chosen) for key in keys):
                keys.append(chosen)
        before = now
    if reached < len(names):
        everything = tuple(range(len(names)))
        lines.append(_line(classes, everything, np.arange(classes.sizes.size), classes.sizes.size, None))
    frame = pl.DataFrame(lines, schema_overrides={"minimal": pl.Int64}, orient="row")
    order = [pl.col("size"), pl.col("separation"), pl.col("distinction"), pl.col("columns")]
    measured = ColumnRisk(
        combinations=frame.sort(order, descending=[False, True, True, False]),
        depth=reached,
        complete=reached == min(depth, len(names)),
        keys=tuple(tuple(names[i] for i in key) for key in keys),
        needed=_needed(classes, alone),
    )
    return measured, uniques


def _reach(classes: CountedClasses, depth: int) -> int:
    """Return the size of the largest combinations that are examined."""
    work, count = 0, len(classes.columns)
    for size in range(1, min(depth, count) + 1):
        cells = comb(count, size) * classes.sizes.size
        work += cells
        if size > 1 and (work > _BUDGET or cells > _MOST_BYTES):
            return size - 1
    return min(depth, count)


def _grouped(classes: CountedClasses, size: int) -> Iterator[tuple[tuple[int, ...], IntArray, int]]:
    """Yield each combination of this many columns, the group of each class, and the number of groups.

    Groupings by leading columns are reused from one combination to the next.
    """
    widths = [classes.width(column) for column in classes.columns]
    stack: list[tuple[tuple[int, ...], IntArray, int]] = []
    for chosen in combinations(range(len(widths)), size):
        while stack and stack[-1][0] != chosen[: len(stack)]:
            stack.pop()
        while len(stack) < size:
            column = chosen[len(stack)]
            before = [stack[-1][1:]] if stack else []
            groups = numbered(classes.sizes.size, [*before, (classes.codes[column], widths[column])])
            stack.append((chosen[: len(stack) + 1], *groups))
        yield stack[-1]


def _line(
    classes: CountedClasses, chosen: tuple[int, ...], group: IntArray, groups: int, minimal: int | None
) -> dict[str, Any]:
    sizes = _sizes(classes, group, groups).astype(np.float64)
    pairs = classes.rows * (classes.rows - 1)
    unique = int((sizes == 1).sum())
    return {
        "columns": ", ".join(classes.columns[i] for i in chosen),
        "size": len(chosen),
        "distinction": groups / classes.rows,
        "separation": 1 - float((sizes * (sizes - 1)).sum()) / pairs if pairs else 1.0,
        "unique": unique,
        "share": unique / classes.rows,
        "minimal": minimal,
    }


def _sizes(classes: CountedClasses, group: IntArray, groups: int) -> IntArray:
    return add_up(group, classes.sizes, groups)


def _needed(classes: CountedClasses, alone: NDArray[np.bool_]) -> pl.DataFrame:
    """Return for each column how many unique rows are not unique without it."""
    total = int(alone.sum())
    lost = []
    for removed in range(len(classes.columns)):
        others = [i for i in range(len(classes.columns)) if i != removed]
        if others:
            rest = ((classes.codes[i], classes.width(classes.columns[i])) for i in others)
            group, groups = numbered(classes.sizes.size, rest)
            still = (_sizes(classes, group, groups) == 1)[group]
        else:
            still = np.full(alone.size, classes.rows == 1)
        lost.append(int((alone & ~still).sum()))
    frame = pl.DataFrame({"column": classes.columns, "unique": lost, "share": [row / max(total, 1) for row in lost]})
    return frame.sort("unique", "column", descending=[True, False])
