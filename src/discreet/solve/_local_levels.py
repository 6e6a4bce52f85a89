"""The levels that layers of local recoding are made of: those of trees, and runs of ever more numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, FloatArray
from discreet.kernels.covers import BITS, SET, TABLE
from discreet.kernels.local_rates import Ints
from discreet.problem.costs.certainty import Certainty
from discreet.solve._local_task import Task, _contiguous, places_of

__all__ = ["Levels", "make_levels"]

_BINS = 1024
"""Numbers are told apart by at most so many positions here."""
_RUNS = 0.2
"""What a run costs, as a share of its length: the rows in it are closer together than that."""
_NODES = 2.0
"""The power that makes nodes near the leaves cheaper than they are; so more attributes share the burden."""
_LATTICE = 100_000
"""There are to be at most so many layers, if there are numbers."""


class Levels(NamedTuple):
    """Blocks of each attribute's leaves, level by level, in the form of the kernel that makes layers."""

    leaves: NDArray[np.int32]
    """(points, m) the leaf of each point, or the place of its number."""
    first: Ints
    price: FloatArray
    number: NDArray[np.uint64]
    joins: Ints
    bits: Ints
    """(m,) how many bits a leaf takes."""


class _Level(NamedTuple):
    price: float
    block: Ints


def make_levels(task: Task, leaves: NDArray[np.int32]) -> Levels:
    """Make the levels of all attributes, given the leaf of each point in each, or the number of its bit."""
    points, table = task.points, task.problem.table
    levels: list[list[_Level]] = []
    places: dict[int, Ints] = {}
    for i, attribute in enumerate(table.attributes):
        if points.kind[i] == SET:
            mine = _all_or_one(task, i)
        elif attribute.positions is not None and not attribute.tree:
            places[i], mine = _runs(task, i, places_of(attribute, by_value=isinstance(task.problem.cost, Certainty)))
        else:
            mine = _nodes(task, i, attribute)
        levels.append(mine)
    _limit(levels, list(places))
    moved = {i: place for i, place in places.items() if not np.array_equal(place, np.arange(place.size))}
    if moved:
        leaves = leaves.copy()
        for i, place in moved.items():
            leaves[:, i] = place[leaves[:, i]]
    return _flat(leaves, levels)


def _all_or_one(task: Task, i: int) -> list[_Level]:
    """Sets: every value by itself, or all together; a group of k rows shows at most k."""
    points = task.points
    bits = int(min(points.leaves[i], BITS))
    shown = points.rate[points.start[i] + min(bits, max(task.k, 2))]
    return [_Level(0.0, np.arange(bits)), _Level(float(shown) * _RUNS, np.zeros(bits, dtype=np.int64))]


def _runs(task: Task, i: int, positions: FloatArray) -> tuple[Ints, list[_Level]]:
    """The place of each leaf, and runs of 1, 2, 4, ... places, beginning at the first place or half a run before it."""
    known = ~np.isnan(positions)
    least, whole = (positions[known].min(), np.ptp(positions[known])) if known.any() else (0.0, 0.0)
    bins = min(int(known.sum()), _BINS)
    place = np.full(positions.size, bins, dtype=np.int64)
    place[known] = np.rint((positions[known] - least) / (whole or 1.0) * max(bins - 1, 0)).astype(np.int64)
    weight = float(task.problem.cost.weights.get(task.problem.table.attributes[i].name, 1.0))  # type: ignore[attr-defined]
    places = np.arange(bins + 1)
    found, width = [_Level(0.0, places)], 2
    while width < bins:
        price = weight * _RUNS * (width - 1) / (bins - 1)
        for shift in (0, width // 2):
            run = (places + shift) // width
            run[bins] = bins
            found.append(_Level(price, run))
        width *= 2
    found.append(_Level(weight * _RUNS, np.where(known.all(), 0, places == bins).astype(np.int64)))
    if not known.all():
        found.append(_Level(weight, np.zeros(bins + 1, dtype=np.int64)))
    return place, found


def _nodes(task: Task, i: int, attribute: CodedAttribute) -> list[_Level]:
    """The levels of a tree, without those that only repeat the one below."""
    points, (order, blocks) = task.points, _contiguous(attribute)
    rows = attribute.rows[order] / max(int(attribute.rows.sum()), 1)
    leaves, start = attribute.leaves, int(points.start[i])
    found: list[_Level] = []
    for level, block in enumerate(blocks):
        if points.kind[i] == TABLE:
            begins = np.flatnonzero(np.diff(block, prepend=-1))
            run = np.cumsum(np.diff(block, prepend=-1) != 0) - 1
            low, high = begins[run], np.append(begins[1:], leaves)[run] - 1
            rate = points.rate[start + low * leaves + high]
        else:
            rate = points.rate[start + level * leaves : start + (level + 1) * leaves]
        price = float((rate * rows).sum()) ** _NODES
        if not found or not np.array_equal(np.unique(block, return_inverse=True)[1], found[-1].block):
            found.append(
                _Level(max(price, found[-1].price if found else 0.0), np.unique(block, return_inverse=True)[1])
            )
    return found


def _limit(levels: list[list[_Level]], numeric: list[int]) -> None:
    """Leave out the shortest runs of the attribute with most levels, until there are few enough layers."""
    while numeric and float(np.prod([float(len(mine)) for mine in levels])) > _LATTICE:
        longest = max(numeric, key=lambda i: len(levels[i]))
        if len(levels[longest]) <= 3:
            break
        del levels[longest][1]


def _flat(leaves: NDArray[np.int32], levels: list[list[_Level]]) -> Levels:
    sizes = [mine[0].block.size for mine in levels]
    random = np.random.default_rng(1)
    number = np.zeros((sum(map(len, levels)), max(sizes)), dtype=np.uint64)
    joins, row = [], 0
    for mine in levels:
        for below, level in zip([mine[0], *mine], mine, strict=False):
            numbers = random.integers(0, 2**64, int(level.block.max()) + 1, dtype=np.uint64)
            number[row, : level.block.size] = numbers[level.block]
            pairs = np.unique(level.block * (int(below.block.max()) + 1) + below.block) // (int(below.block.max()) + 1)
            joins.append(int(np.bincount(pairs).max()))
            row += 1
    return Levels(
        leaves,
        np.cumsum([0, *map(len, levels)], dtype=np.int64),
        np.array([level.price for mine in levels for level in mine]),
        number,
        np.array(joins, dtype=np.int64),
        np.array([max(int(size - 1).bit_length(), 1) for size in sizes]),
    )
