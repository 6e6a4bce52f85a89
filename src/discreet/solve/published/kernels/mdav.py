"""MDAV microaggregation: groups of k rows around the records farthest from the average record, and from each other.

A step takes an average or a record and finds the distance of all records from it: of numbers directly, of other
attributes by the distance of each of their values. Distances are squared and kept with 32 bits, so that the order of
the records decides between equal ones, and not rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records

__all__ = ["GroupsMade", "MdavGroups", "MdavRecords", "MdavValues", "RecordsLeft", "group_records"]


class RecordsLeft:
    """Records that are left, how many of them have no rows any more, and the rows of all."""

    records: int
    empty: int
    rows: int


class GroupsMade:
    """How many shares and groups there are."""

    shares: int
    groups: int


_BLOCK = 1024
"""Records whose distances are added up at a time."""


class MdavValues(NamedTuple):
    """The distances of numbers, and of the values of all other attributes, one attribute after the other."""

    scale: NDArray[np.float64]
    """(numbers,) the factor of the difference of two numbers."""
    missing: NDArray[np.float64]
    """(numbers,) squared distance of a missing number from others."""
    first: NDArray[np.int64]
    """(others + 1,) where the values of each attribute begin."""
    far: NDArray[np.float64]
    """(others,) squared distance of values with no common node."""
    levels: NDArray[np.int64]
    """(others,) the levels of the attribute's hierarchy, the leaves included."""
    node_first: NDArray[np.int64]
    """(others,) where the levels x values of each attribute begin in ``node`` and ``distance``."""
    node: NDArray[np.int32]
    """The node above each value, numbered from 0 on each level."""
    distance: NDArray[np.float64]
    """The squared distance of two values with this lowest common node, by the values under it."""


class MdavRecords(NamedTuple):
    """The records that are in no group yet, and sums over them."""

    number: NDArray[np.float64]
    """(numbers, records) NaN where it is missing."""
    code: NDArray[np.int32]
    """(others, records) which of all values each record has."""
    rows: NDArray[np.int64]
    point: NDArray[np.int64]
    left: Records[RecordsLeft]
    """One record."""
    total: NDArray[np.float64]
    """(numbers,) sum over the rows."""
    known: NDArray[np.int64]
    """(numbers,) rows with a number."""
    count: NDArray[np.int64]
    """Rows under each node, in the order of ``MdavValues.node``: by level and number of the node."""


class MdavGroups(NamedTuple):
    """The groups made: ``rows`` rows of ``point`` are in ``group``."""

    point: NDArray[np.int64]
    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    made: Records[GroupsMade]
    """One record."""


class _MdavScratch(NamedTuple):
    """Scratch space."""

    center: NDArray[np.float64]
    """(numbers,) the numbers of the record or average from which distances are measured."""
    value_distance: NDArray[np.float64]
    """(values,) the squared distance of each value from it."""
    distance: NDArray[np.float32]
    """(records,) the squared distance of each record from it."""
    block: NDArray[np.float64]
    heap: NDArray[np.int64]
    """The nearest records so far, the farthest of them first."""


@kernel
def group_records(
    values: MdavValues, records: MdavRecords, k: int, groups: MdavGroups, most: int
) -> None:  # records, groups OUT
    """Make groups of k rows until no record is left, or until ``most`` records have been visited."""
    scratch = _MdavScratch(
        center=np.empty(values.scale.size, dtype=np.float64),
        value_distance=np.empty(values.first[values.far.size], dtype=np.float64),
        distance=np.empty(records.rows.size, dtype=np.float32),
        block=np.empty(_BLOCK, dtype=np.float64),
        heap=np.empty(k + 1, dtype=np.int64),
    )
    left, visited = records.left[0], 0
    while left.rows >= 2 * k and visited < most:
        if 8 * left.empty > left.records:
            _compact(values, records)
        visited += 3 * left.records
        pair = left.rows >= 3 * k
        _from_average(values, records, scratch)
        seed = _farthest(records, scratch.distance)
        _from_record(values, records, seed, scratch)
        _group_around(values, records, seed, k, groups, scratch)
        if pair:
            seed = _farthest(records, scratch.distance)
            _from_record(values, records, seed, scratch)
            _group_around(values, records, seed, k, groups, scratch)
    if 0 < left.rows < 2 * k:
        for j in range(left.records):
            if records.rows[j] > 0:
                _take(values, records, j, records.rows[j], groups)
        groups.made[0].groups += 1


@inner_kernel
def _compact(values: MdavValues, records: MdavRecords) -> None:  # records OUT
    """Drop records without rows; the others keep their order. Sums are made anew, since rounding adds up."""
    kept = 0
    for j in range(records.left[0].records):
        if records.rows[j] > 0:
            records.rows[kept], records.point[kept] = records.rows[j], records.point[j]
            for i in range(values.scale.size):
                records.number[i, kept] = records.number[i, j]
            for i in range(values.far.size):
                records.code[i, kept] = records.code[i, j]
            kept += 1
    records.left[0].records, records.left[0].empty = kept, 0
    for i in range(values.scale.size):
        records.total[i] = 0.0
        for j in range(kept):
            number = records.number[i, j]
            records.total[i] += 0.0 if np.isnan(number) else records.rows[j] * number


@inner_kernel
def _from_average(values: MdavValues, records: MdavRecords, scratch: _MdavScratch) -> None:  # scratch OUT
    """Find the distance of all records from their average.

    That is the mean of numbers, or a missing one if most are missing, and otherwise the value from which the rows'
    squared distances add up to least: without a hierarchy, the most frequent one.
    """
    for i in range(values.scale.size):
        scratch.center[i] = np.nan
        if 2 * records.known[i] >= records.left[0].rows:
            scratch.center[i] = records.total[i] / records.known[i]
    for i in range(values.far.size):
        _value_distances(values, i, _central_value(values, records, i), scratch.value_distance)
    _add_up(values, records, scratch)


@inner_kernel
def _from_record(values: MdavValues, records: MdavRecords, seed: int, scratch: _MdavScratch) -> None:  # scratch OUT
    """Find the distance of all records from one of them."""
    for i in range(values.scale.size):
        scratch.center[i] = records.number[i, seed]
    for i in range(values.far.size):
        _value_distances(values, i, records.code[i, seed] - values.first[i], scratch.value_distance)
    _add_up(values, records, scratch)


@inner_kernel
def _value_distances(values: MdavValues, i: int, leaf: int, distance: NDArray[np.float64]) -> None:  # distance OUT
    """The squared distances of the values of an attribute from one of them."""
    first, leaves = values.first[i], values.first[i + 1] - values.first[i]
    for other in range(leaves):
        distance[first + other] = values.far[i]
    for level in range(values.levels[i] - 1, -1, -1):
        start = values.node_first[i] + level * leaves
        node, under = values.node[start + leaf], values.distance[start + leaf]
        for other in range(leaves):
            if values.node[start + other] == node:
                distance[first + other] = under


@inner_kernel
def _central_value(values: MdavValues, records: MdavRecords, i: int) -> int:
    """The value of an attribute from which the rows' squared distances sum to least; of several, the first.

    Rows are counted by lowest common node: those under a node on this level, but not on the one below.
    """
    leaves = values.first[i + 1] - values.first[i]
    center, least = 0, np.inf
    for leaf in range(leaves):
        nearer, total = 0, 0.0
        for level in range(values.levels[i]):
            start = values.node_first[i] + level * leaves
            under = records.count[start + values.node[start + leaf]]
            total += (under - nearer) * values.distance[start + leaf]
            nearer = under
        total += (records.left[0].rows - nearer) * values.far[i]
        if total < least * (1 - 1e-12):  # not by rounding alone
            center, least = leaf, total
    return center


@inner_kernel
def _add_up(values: MdavValues, records: MdavRecords, scratch: _MdavScratch) -> None:  # scratch OUT
    """Sum the squared distances over all attributes, a block of records at a time, so that it stays in the cache."""
    left, block = records.left[0].records, scratch.block
    for begin in range(0, left, _BLOCK):
        size = min(_BLOCK, left - begin)
        for j in range(size):
            block[j] = 0.0
        for i in range(values.scale.size):
            number = records.number[i, begin : begin + size]
            _add_numbers(number, scratch.center[i], values.scale[i], values.missing[i], block)
        for i in range(values.far.size):
            code = records.code[i, begin : begin + size]
            for j in range(size):
                block[j] += scratch.value_distance[code[j]]
        for j in range(size):
            scratch.distance[begin + j] = block[j]


@inner_kernel
def _add_numbers(
    number: NDArray[np.float64], center: float, scale: float, missing: float, block: NDArray[np.float64]
) -> None:  # block OUT
    """Add the squared distances of numbers from one of them; any may be missing."""
    if np.isnan(center):
        for j in range(number.size):
            block[j] += 0.0 if np.isnan(number[j]) else missing
    else:
        for j in range(number.size):
            difference = (number[j] - center) * scale
            square = difference * difference
            block[j] += missing if np.isnan(square) else square


@inner_kernel
def _farthest(records: MdavRecords, distance: NDArray[np.float32]) -> int:
    """The farthest record that has rows; of several, the first."""
    farthest, most = -1, np.float32(-1.0)
    for j in range(records.left[0].records):
        if distance[j] > most and records.rows[j] > 0:
            farthest, most = j, distance[j]
    return farthest


@inner_kernel
def _group_around(
    values: MdavValues, records: MdavRecords, seed: int, k: int, groups: MdavGroups, scratch: _MdavScratch
) -> None:  # records, groups, scratch OUT
    """Make a group of k rows: those of the seed, then those of the nearest records, of several the first.

    O(records), plus O(log k) for each record that is among the nearest so far.
    """
    rows, distance, heap = records.rows, scratch.distance, scratch.heap
    need = k - min(k, rows[seed])
    size, held = 0, 0
    if need > 0:
        for j in range(records.left[0].records):
            if (held < need or distance[j] < distance[heap[0]]) and rows[j] > 0 and j != seed:
                _push(heap, size, distance, j)
                size += 1
                held += rows[j]
                while held - rows[heap[0]] >= need:
                    held -= rows[heap[0]]
                    _pop(heap, size, distance)
                    size -= 1
    _take(values, records, seed, min(k, rows[seed]), groups)
    for at in range(size - 1, -1, -1):
        j = heap[at]
        _take(values, records, j, rows[j] - (held - need if at == 0 else 0), groups)
    groups.made[0].groups += 1


@inner_kernel
def _take(
    values: MdavValues, records: MdavRecords, j: int, rows: int, groups: MdavGroups
) -> None:  # records, groups OUT
    """Put some rows of a record into the group that is being made."""
    share = groups.made[0].shares
    groups.point[share], groups.rows[share] = records.point[j], rows
    groups.group[share] = groups.made[0].groups
    groups.made[0].shares += 1
    records.rows[j] -= rows
    records.left[0].rows -= rows
    records.left[0].empty += records.rows[j] == 0
    for i in range(values.scale.size):
        if not np.isnan(records.number[i, j]):
            records.total[i] -= rows * records.number[i, j]
            records.known[i] -= rows
    for i in range(values.far.size):
        leaf, leaves = records.code[i, j] - values.first[i], values.first[i + 1] - values.first[i]
        for level in range(values.levels[i]):
            start = values.node_first[i] + level * leaves
            records.count[start + values.node[start + leaf]] -= rows


@inner_kernel
def _after(distance: NDArray[np.float32], first: int, second: int) -> bool:
    """Whether one record is farther than another, or as far and later."""
    return distance[first] > distance[second] or (distance[first] == distance[second] and first > second)


@inner_kernel
def _push(heap: NDArray[np.int64], size: int, distance: NDArray[np.float32], j: int) -> None:  # heap OUT
    """Add a record to a heap."""
    at = size
    while at > 0 and _after(distance, j, heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = j


@inner_kernel
def _pop(heap: NDArray[np.int64], size: int, distance: NDArray[np.float32]) -> None:  # heap OUT
    """Remove the farthest record from a heap."""
    last, at = heap[size - 1], 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and _after(distance, heap[child + 1], heap[child]):
            child += 1
        if not _after(distance, heap[child], last):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
