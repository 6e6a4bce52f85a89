"""MDAV microaggregation: groups of k rows around the records farthest from the average record, and from each other.

A step takes an average or a record and finds how far all records are from it: numbers directly, and other attributes by
how far each of their values is. Distances are squared, and kept with 32 bits, so that which of two equal ones comes
first is a matter of the records' order and not of rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel

__all__ = ["LEFT_RECORDS", "LEFT_ROWS", "MADE_GROUPS", "MADE_SHARES", "Made", "Records", "Values", "group_records"]

LEFT_RECORDS, GONE_RECORDS, LEFT_ROWS = 0, 1, 2
MADE_SHARES, MADE_GROUPS = 0, 1

_BLOCK = 1024
"""Records whose distances are added up at a time."""


class Values(NamedTuple):
    """How far numbers are apart, and the values of all other attributes, one attribute after the other."""

    scale: NDArray[np.float64]
    """(numbers,) what the difference of two numbers is multiplied by."""
    missing: NDArray[np.float64]
    """(numbers,) squared distance of a missing number from others."""
    first: NDArray[np.int64]
    """(others + 1,) where the values of each attribute begin."""
    far: NDArray[np.float64]
    """(others,) squared distance of values with no node in common."""
    levels: NDArray[np.int64]
    """(others,) the levels of the attribute's hierarchy, the leaves included."""
    node_first: NDArray[np.int64]
    """(others,) where the levels x values of each attribute begin."""
    node: NDArray[np.int32]
    """The node above each value, numbered from 0 on each level."""
    apart: NDArray[np.float64]
    """The squared distance of two values of which this is the lowest node in common, by the values under it."""


class Records(NamedTuple):
    """The records that are in no group yet, and sums over them."""

    number: NDArray[np.float64]
    """(numbers, records) not a number where it is missing."""
    code: NDArray[np.int32]
    """(others, records) which of all values each record has."""
    rows: NDArray[np.int64]
    point: NDArray[np.int64]
    left: NDArray[np.int64]
    """LEFT_RECORDS, of which GONE_RECORDS have no rows any more, and LEFT_ROWS."""
    total: NDArray[np.float64]
    """(numbers,) sum over the rows."""
    known: NDArray[np.int64]
    """(numbers,) rows with a number."""
    count: NDArray[np.int64]
    """Rows under each node, in the order of ``Values.node``: by level and number of the node."""


class Made(NamedTuple):
    """The groups made: ``rows`` rows of ``point`` are in ``group``."""

    point: NDArray[np.int64]
    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    done: NDArray[np.int64]
    """MADE_SHARES and MADE_GROUPS."""


class Scratch(NamedTuple):
    """Scratch space."""

    middle: NDArray[np.float64]
    """(numbers,) the record at hand."""
    apart: NDArray[np.float64]
    """(values,) how far each value is from the record at hand."""
    away: NDArray[np.float32]
    """(records,) how far each record is."""
    block: NDArray[np.float64]
    heap: NDArray[np.int64]
    """The nearest records met so far, the farthest of them first."""


@kernel
def group_records(values: Values, records: Records, k: int, made: Made, most: int) -> None:  # records, made OUT
    """Make groups of k rows until no record is left, or until ``most`` records have been looked at."""
    scratch = Scratch(
        middle=np.empty(values.scale.size, dtype=np.float64),
        apart=np.empty(values.first[values.far.size], dtype=np.float64),
        away=np.empty(records.rows.size, dtype=np.float32),
        block=np.empty(_BLOCK, dtype=np.float64),
        heap=np.empty(k + 1, dtype=np.int64),
    )
    left, looked_at = records.left, 0
    while left[LEFT_ROWS] >= 2 * k and looked_at < most:
        if 8 * left[GONE_RECORDS] > left[LEFT_RECORDS]:
            _close_ranks(values, records)
        looked_at += 3 * left[LEFT_RECORDS]
        pair = left[LEFT_ROWS] >= 3 * k
        _from_average(values, records, scratch)
        seed = _farthest(records, scratch.away)
        _from_record(values, records, seed, scratch)
        _group_around(values, records, seed, k, made, scratch)
        if pair:
            seed = _farthest(records, scratch.away)
            _from_record(values, records, seed, scratch)
            _group_around(values, records, seed, k, made, scratch)
    if 0 < left[LEFT_ROWS] < 2 * k:
        for j in range(left[LEFT_RECORDS]):
            if records.rows[j] > 0:
                _take(values, records, j, records.rows[j], made)
        made.done[MADE_GROUPS] += 1


@inner_kernel
def _close_ranks(values: Values, records: Records) -> None:  # records OUT
    """Forget records that have no rows any more; the others keep their order. Sums are made anew: rounding adds up."""
    kept = 0
    for j in range(records.left[LEFT_RECORDS]):
        if records.rows[j] > 0:
            records.rows[kept], records.point[kept] = records.rows[j], records.point[j]
            for i in range(values.scale.size):
                records.number[i, kept] = records.number[i, j]
            for i in range(values.far.size):
                records.code[i, kept] = records.code[i, j]
            kept += 1
    records.left[LEFT_RECORDS], records.left[GONE_RECORDS] = kept, 0
    for i in range(values.scale.size):
        records.total[i] = 0.0
        for j in range(kept):
            number = records.number[i, j]
            records.total[i] += 0.0 if np.isnan(number) else records.rows[j] * number


@inner_kernel
def _from_average(values: Values, records: Records, scratch: Scratch) -> None:  # scratch OUT
    """How far all records are from their average.

    That is the mean of numbers, or a missing one if most are missing, and otherwise the value from which the rows'
    squared distances add up to least: without a hierarchy, the most frequent one.
    """
    for i in range(values.scale.size):
        scratch.middle[i] = np.nan
        if 2 * records.known[i] >= records.left[LEFT_ROWS]:
            scratch.middle[i] = records.total[i] / records.known[i]
    for i in range(values.far.size):
        _values_apart(values, i, _middle(values, records, i), scratch.apart)
    _add_up(values, records, scratch)


@inner_kernel
def _from_record(values: Values, records: Records, seed: int, scratch: Scratch) -> None:  # scratch OUT
    """How far all records are from one of them."""
    for i in range(values.scale.size):
        scratch.middle[i] = records.number[i, seed]
    for i in range(values.far.size):
        _values_apart(values, i, records.code[i, seed] - values.first[i], scratch.apart)
    _add_up(values, records, scratch)


@inner_kernel
def _values_apart(values: Values, i: int, leaf: int, apart: NDArray[np.float64]) -> None:  # apart OUT
    """The squared distances of the values of an attribute from one of them."""
    first, leaves = values.first[i], values.first[i + 1] - values.first[i]
    for other in range(leaves):
        apart[first + other] = values.far[i]
    for level in range(values.levels[i] - 1, -1, -1):
        start = values.node_first[i] + level * leaves
        node, distance = values.node[start + leaf], values.apart[start + leaf]
        for other in range(leaves):
            if values.node[start + other] == node:
                apart[first + other] = distance


@inner_kernel
def _middle(values: Values, records: Records, i: int) -> int:
    """The value of an attribute from which the rows' squared distances add up to least; of several, the first."""
    leaves = values.first[i + 1] - values.first[i]
    middle, least = 0, np.inf
    for leaf in range(leaves):
        inside, total = 0, 0.0
        for level in range(values.levels[i]):
            start = values.node_first[i] + level * leaves
            under = records.count[start + values.node[start + leaf]]
            total += (under - inside) * values.apart[start + leaf]
            inside = under
        total += (records.left[LEFT_ROWS] - inside) * values.far[i]
        if total < least * (1 - 1e-12):  # not by rounding alone
            middle, least = leaf, total
    return middle


@inner_kernel
def _add_up(values: Values, records: Records, scratch: Scratch) -> None:  # scratch OUT
    """Add up how far each record is in all attributes."""
    left, block = records.left[LEFT_RECORDS], scratch.block
    for begin in range(0, left, _BLOCK):
        size = min(_BLOCK, left - begin)
        for j in range(size):
            block[j] = 0.0
        for i in range(values.scale.size):
            number = records.number[i, begin : begin + size]
            _add_numbers(number, scratch.middle[i], values.scale[i], values.missing[i], block)
        for i in range(values.far.size):
            code = records.code[i, begin : begin + size]
            for j in range(size):
                block[j] += scratch.apart[code[j]]
        for j in range(size):
            scratch.away[begin + j] = block[j]


@inner_kernel
def _add_numbers(
    number: NDArray[np.float64], middle: float, scale: float, missing: float, block: NDArray[np.float64]
) -> None:  # block OUT
    """Add the squared distances of numbers from one of them, any of which may be missing."""
    if np.isnan(middle):
        for j in range(number.size):
            block[j] += 0.0 if np.isnan(number[j]) else missing
    else:
        for j in range(number.size):
            difference = (number[j] - middle) * scale
            square = difference * difference
            block[j] += missing if np.isnan(square) else square


@inner_kernel
def _farthest(records: Records, away: NDArray[np.float32]) -> int:
    """The record farthest away of those that have rows; of several, the first."""
    farthest, most = -1, np.float32(-1.0)
    for j in range(records.left[LEFT_RECORDS]):
        if away[j] > most and records.rows[j] > 0:
            farthest, most = j, away[j]
    return farthest


@inner_kernel
def _group_around(
    values: Values, records: Records, seed: int, k: int, made: Made, scratch: Scratch
) -> None:  # records, made, scratch OUT
    """Make a group of k rows: those of the seed, then those of the nearest records, of several the first."""
    rows, away, heap = records.rows, scratch.away, scratch.heap
    need = k - min(k, rows[seed])
    size, held = 0, 0
    if need > 0:
        for j in range(records.left[LEFT_RECORDS]):
            if (held < need or away[j] < away[heap[0]]) and rows[j] > 0 and j != seed:
                _push(heap, size, away, j)
                size += 1
                held += rows[j]
                while held - rows[heap[0]] >= need:
                    held -= rows[heap[0]]
                    _pop(heap, size, away)
                    size -= 1
    _take(values, records, seed, min(k, rows[seed]), made)
    for place in range(size - 1, -1, -1):
        j = heap[place]
        _take(values, records, j, rows[j] - (held - need if place == 0 else 0), made)
    made.done[MADE_GROUPS] += 1


@inner_kernel
def _take(values: Values, records: Records, j: int, rows: int, made: Made) -> None:  # records, made OUT
    """Put some rows of a record into the group that is being made."""
    share = made.done[MADE_SHARES]
    made.point[share], made.rows[share] = records.point[j], rows
    made.group[share] = made.done[MADE_GROUPS]
    made.done[MADE_SHARES] += 1
    records.rows[j] -= rows
    records.left[LEFT_ROWS] -= rows
    records.left[GONE_RECORDS] += records.rows[j] == 0
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
def _after(away: NDArray[np.float32], first: int, second: int) -> bool:
    """Whether one record is farther away than another, or as far and later."""
    return away[first] > away[second] or (away[first] == away[second] and first > second)


@inner_kernel
def _push(heap: NDArray[np.int64], size: int, away: NDArray[np.float32], j: int) -> None:  # heap OUT
    """Add a record to a heap."""
    place = size
    while place > 0 and _after(away, j, heap[(place - 1) // 2]):
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = j


@inner_kernel
def _pop(heap: NDArray[np.int64], size: int, away: NDArray[np.float32]) -> None:  # heap OUT
    """Remove the farthest record from a heap."""
    last, place = heap[size - 1], 0
    while 2 * place + 1 < size - 1:
        child = 2 * place + 1
        if child + 1 < size - 1 and _after(away, heap[child + 1], heap[child]):
            child += 1
        if not _after(away, heap[child], last):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = last
