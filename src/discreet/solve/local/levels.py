"""The levels that layers are made of: those of trees, and runs of ever more numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, FloatArray
from discreet.problem.costs.certainty import Certainty
from discreet.solve.kernels.arrays import Ints
from discreet.solve.kernels.covers import BITS, SET, TABLE
from discreet.solve.local.kernels.layers import Levels
from discreet.solve.local.task import LocalTask, line_positions, tree_order

__all__ = ["make_levels"]

_BINS = 1024
"""Numbers are distinguished by at most so many positions."""
_RUNS = 0.2
"""The price of a run, as a share of its length: the rows in it are closer together than that."""
_NODES = 2.0
"""The power that lowers the price of nodes near the leaves, so that more attributes share the burden."""
_LATTICE = 100_000
"""At most so many layers, if there are numbers."""


class _Level(NamedTuple):
    price: float
    block: Ints


def make_levels(task: LocalTask, leaves: NDArray[np.int32]) -> Levels:
    """Make the levels of all attributes, given the leaf of each point in each, or the number of its bit."""
    points, table = task.points, task.problem.table
    levels: list[list[_Level]] = []
    bins: dict[int, Ints] = {}
    for i, attribute in enumerate(table.attributes):
        if points.rates.attribute[i].kind == SET:
            own = _single_values(task, i)
        elif attribute.positions is not None and not attribute.tree:
            positions = line_positions(attribute, by_value=isinstance(task.problem.cost, Certainty))
            bins[i], own = _runs(task, i, positions)
        else:
            own = _nodes(task, i, attribute)
        levels.append(own)
    _limit(levels, list(bins))
    moved = {i: position for i, position in bins.items() if not np.array_equal(position, np.arange(position.size))}
    if moved:
        leaves = leaves.copy()
        for i, position in moved.items():
            leaves[:, i] = position[leaves[:, i]]
    return _flat(leaves, levels)


def _single_values(task: LocalTask, i: int) -> list[_Level]:
    """Return the levels of a set: single values, or all together; a group of k rows shows at most k."""
    rates = task.points.rates
    attribute = rates.attribute[i]
    bits = int(min(attribute.leaves, BITS))
    shown = rates.rate[attribute.start + min(bits, max(task.k, 2))]
    return [_Level(0.0, np.arange(bits)), _Level(float(shown) * _RUNS, np.zeros(bits, dtype=np.int64))]


def _runs(task: LocalTask, i: int, positions: FloatArray) -> tuple[Ints, list[_Level]]:
    """Return the bin of each number, and runs of 1, 2, 4, ... bins, from the first bin on or half a run before it.

    Missing values have a bin of their own, after the others, which only the last level joins with them.
    """
    known = ~np.isnan(positions)
    least, whole = (positions[known].min(), np.ptp(positions[known])) if known.any() else (0.0, 0.0)
    count = min(int(known.sum()), _BINS)
    own = np.full(positions.size, count, dtype=np.int64)
    own[known] = np.rint((positions[known] - least) / (whole or 1.0) * max(count - 1, 0)).astype(np.int64)
    weight = float(task.problem.cost.weights.get(task.problem.table.attributes[i].name, 1.0))  # type: ignore[attr-defined]
    bins = np.arange(count + 1)
    found, width = [_Level(0.0, bins)], 2
    while width < count:
        price = weight * _RUNS * (width - 1) / (count - 1)
        for shift in (0, width // 2):
            run = (bins + shift) // width
            run[count] = count
            found.append(_Level(price, run))
        width *= 2
    found.append(_Level(weight * _RUNS, np.where(known.all(), 0, bins == count).astype(np.int64)))
    if not known.all():
        found.append(_Level(weight, np.zeros(count + 1, dtype=np.int64)))
    return own, found


def _nodes(task: LocalTask, i: int, attribute: CodedAttribute) -> list[_Level]:
    """Return the levels of a tree, without those that only repeat the one below."""
    rates, (order, blocks) = task.points.rates, tree_order(attribute)
    rows = attribute.rows[order] / max(int(attribute.rows.sum()), 1)
    leaves, start = attribute.leaves, int(rates.attribute[i].start)
    found: list[_Level] = []
    for level, block in enumerate(blocks):
        if rates.attribute[i].kind == TABLE:
            begins = np.flatnonzero(np.diff(block, prepend=-1))
            run = np.cumsum(np.diff(block, prepend=-1) != 0) - 1
            low, high = begins[run], np.append(begins[1:], leaves)[run] - 1
            rate = rates.rate[start + low * leaves + high]
        else:
            rate = rates.rate[start + level * leaves : start + (level + 1) * leaves]
        price, numbered = float((rate * rows).sum()) ** _NODES, np.unique(block, return_inverse=True)[1]
        if not found:
            found.append(_Level(max(price, 0.0), numbered))
        elif not np.array_equal(numbered, found[-1].block):
            found.append(_Level(max(price, found[-1].price), numbered))
    return found


def _limit(levels: list[list[_Level]], numeric: list[int]) -> None:
    """Leave out the shortest runs of the attribute with most levels until there are few enough layers."""
    while numeric and float(np.prod([float(len(own)) for own in levels])) > _LATTICE:
        longest = max(numeric, key=lambda i: len(levels[i]))
        if len(levels[longest]) <= 3:
            break
        del levels[longest][1]


def _flat(leaves: NDArray[np.int32], levels: list[list[_Level]]) -> Levels:
    """Return the levels as arrays, with a random number for each block."""
    sizes = [own[0].block.size for own in levels]
    random = np.random.default_rng(1)
    number = np.zeros((sum(map(len, levels)), max(sizes)), dtype=np.uint64)
    joins, row = [], 0
    for own in levels:
        for below, level in zip([own[0], *own], own, strict=False):
            numbers = random.integers(0, 2**64, int(level.block.max()) + 1, dtype=np.uint64)
            number[row, : level.block.size] = numbers[level.block]
            width = int(below.block.max()) + 1
            pairs = np.unique(level.block * width + below.block) // width
            joins.append(int(np.bincount(pairs).max()))
            row += 1
    return Levels(
        leaves=leaves,
        first=np.cumsum([0, *map(len, levels)], dtype=np.int64),
        price=np.array([level.price for own in levels for level in own]),
        number=number,
        joins=np.array(joins, dtype=np.int64),
        bits=np.array([max(int(size - 1).bit_length(), 1) for size in sizes]),
    )
