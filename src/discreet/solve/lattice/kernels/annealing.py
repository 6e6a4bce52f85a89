"""Simulated annealing over level vectors: good incumbents for lattices of any size, and no proof.

Every tuple has a hash, the exclusive-or of one random key for each attribute and block it is in. A move of an attribute
to another level changes the hashes in one pass over contiguous memory, and a table by hash then counts the classes. Two
classes may share a hash, however unlikely that is: so what is found here is a suggestion, and is evaluated exactly
before it becomes the incumbent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.classes import AttributeLevel, LevelRange
from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.kernels.pricing import MINORITY, SEPARABLE, SEPARABLE_SUMS, SQUARES
from discreet.solve.kernels.random import random_below, random_bits
from discreet.solve.kernels.records import Records
from discreet.solve.kernels.requirements import Requirement, holds

__all__ = ["AnnealedTable", "ClassTally", "KnownNode", "Walk", "WalkState", "anneal", "decide", "propose", "start_walk"]

_TAG = 0xFFFFFFFF00000000
_COUNT = 0x00000000FFFFFFFF
"""The two halves of a cell: the upper half of the hash or so, and the rows (or the number) of the class."""
_PAIRED = 2
"""One in so many moves is paired with the opposite move of another attribute."""
_PATIENCE = 16
"""A run ends after so many proposals per level of the lattice that needed no evaluation."""
_WARM = 0.15
"""The temperature at the start of a run, as a share of what a rejected move costs on average."""


class WalkState:
    """Where the walk is, and the move that was proposed last."""

    lower: float
    """What publishing all rows costs at the current node, where that is known beforehand; else 0 ..."""
    cost: float
    """... and its cost, with a penalty if it breaks the limit."""
    best: float
    """The least cost of an allowed node."""
    temperature: float
    """At the start of the run."""
    rise: float
    """What a rejected move costs: the sum of logarithms ..."""
    rises: float
    """... over so many moves, ever less of the older ones."""
    planned: int
    """Evaluations of this run ..."""
    done: int
    """... and those made."""
    idle: int
    """Proposals since the last evaluation."""
    evaluated: int
    """Evaluations of all runs."""
    known: int
    """How many nodes are remembered."""
    side: int
    """Which half of the tally holds the current node."""
    first: int
    """The attribute to move, and by how much ..."""
    first_step: int
    second: int
    """... and another one, or -1."""
    second_step: int
    threshold: float
    """The cost up to which the proposed node is accepted ..."""
    proposed: float
    """... and its lower part."""
    row: int
    """Where the proposed node is, or will be, among the known ones."""
    digest: int
    """The hash of the proposed node."""
    firm: float
    """What a row beyond the limit costs."""
    limit: float
    """How many rows may be suppressed."""


class KnownNode:
    """A node whose cost is remembered."""

    digest: int
    """Its hash; 0 where there is none."""
    cost: float


class Walk(NamedTuple):
    """The random walk from node to node."""

    state: WalkState
    random: NDArray[np.uint64]
    """The state of the random numbers."""
    limits: Records[LevelRange]
    published: NDArray[np.float64]
    """(m, levels) what publishing all rows costs in an attribute, where costs add up over attributes; else 0."""
    digest: NDArray[np.int64]
    """(m, levels) random numbers; the hash of a node is the exclusive-or of its levels'."""
    known: Records[KnownNode]
    """A hash table of nodes that were evaluated."""
    node: NDArray[np.int64]
    """(m,) where it is."""
    best: NDArray[np.int64]
    """(m,) the best node so far."""


class AnnealedTable(NamedTuple):
    """The tuples, and what is needed to price their classes."""

    codes: NDArray[np.int32]
    """(m, tuples) leaf codes."""
    weight: NDArray[np.int64]
    level: Records[AttributeLevel]
    """(m, levels) where the numbers of a level begin in ``key`` and ``price``."""
    key: NDArray[np.uint64]
    """The random key of the block of each leaf, level by level."""
    price: NDArray[np.float64]
    """What a row of each leaf costs, level by level, where costs add up over attributes."""
    penalty: NDArray[np.float64]
    """(tuples,) what each row costs if it is suppressed."""
    form: int
    """How classes are priced; see :mod:`discreet.solve.kernels.pricing`."""
    requirement: Requirement


class ClassTally(NamedTuple):
    """Scratch space, and the sensitive values and labels of the tuples."""

    hash: NDArray[np.uint64]
    """(2, tuples) of the current and of the proposed node."""
    extra: NDArray[np.float64]
    """(2, tuples) what suppressing a row costs more than publishing it."""
    cell: NDArray[np.uint64]
    """A table by hash: in each cell a part of the hash, and the rows or the number of the class."""
    held: NDArray[np.float64]
    """By cell what suppressing the class costs more, where that differs from row to row of a class."""
    number: NDArray[np.int64]
    """(tuples,) the class of each tuple ..."""
    rows: NDArray[np.int64]
    """(tuples,) ... the rows of each class ..."""
    end: NDArray[np.int64]
    """(tuples + 1,) ... where it ends in ``order`` ..."""
    order: NDArray[np.int64]
    """(tuples,) ... which has the tuples class by class; these four only where histograms matter."""
    histogram: NDArray[np.int64]
    """Of one class: the cells of the requirement, then the labels; all zeros between classes."""
    value_offset: NDArray[np.int64]
    """(tuples + 1,) where the values of each tuple begin ..."""
    value: NDArray[np.int64]
    """... and their cells in the histogram ..."""
    value_rows: NDArray[np.int64]
    """... and the rows that have them."""


@inner_kernel
def _place(table: AnnealedTable, tally: ClassTally, node: NDArray[np.int64], side: int) -> None:
    """Compute the hash and the extra of every tuple at a node afresh."""
    hashes, extra = tally.hash[side], tally.extra[side]
    for j in range(hashes.size):
        hashes[j] = np.uint64(0)
        extra[j] = table.penalty[j]
    for i in range(node.size):
        begin = table.level[i, node[i]].start
        key, price, codes = table.key[begin:], table.price[begin:], table.codes[i]
        for j in range(hashes.size):
            hashes[j] ^= key[codes[j]]
            extra[j] -= price[codes[j]]


@inner_kernel
def _move(table: AnnealedTable, tally: ClassTally, side: int, i: int, old: int, new: int) -> None:
    """Write hashes and extras after moving attribute i from one level to another to the other half of the tally."""
    before, after = table.level[i, old].start, table.level[i, new].start
    key, new_key = table.key[before:], table.key[after:]
    price, new_price = table.price[before:], table.price[after:]
    codes = table.codes[i]
    hashes, extra = tally.hash[side], tally.extra[side]
    new_hashes, new_extra = tally.hash[1 - side], tally.extra[1 - side]
    for j in range(codes.size):
        c = codes[j]
        new_hashes[j] = hashes[j] ^ key[c] ^ new_key[c]
        new_extra[j] = extra[j] + price[c] - new_price[c]


@inner_kernel
def _move_further(table: AnnealedTable, tally: ClassTally, side: int, i: int, old: int, new: int) -> None:
    """Change hashes and extras of one half of the tally for a move of attribute i."""
    before, after = table.level[i, old].start, table.level[i, new].start
    key, new_key = table.key[before:], table.key[after:]
    price, new_price = table.price[before:], table.price[after:]
    codes, hashes, extra = table.codes[i], tally.hash[side], tally.extra[side]
    for j in range(codes.size):
        c = codes[j]
        hashes[j] ^= key[c] ^ new_key[c]
        extra[j] += price[c] - new_price[c]


@inner_kernel
def _shift_of(cells: int) -> np.uint64:
    """By how much a hash is shifted to be an index of so many cells, a power of two."""
    shift = 64
    while cells > 1:
        cells //= 2
        shift -= 1
    return np.uint64(shift)


@inner_kernel
def _tag_of(digest: np.uint64) -> np.uint64:
    """The part of a hash that is kept in a cell, never 0."""
    return (digest << np.uint64(32)) | np.uint64(1 << 63)


@inner_kernel
def _find_cell(cell: NDArray[np.uint64], digest: np.uint64, shift: np.uint64) -> np.int64:
    """The cell of a hash, which may be empty."""
    tag, mask = _tag_of(digest), cell.size - 1
    x = np.int64(digest >> shift)
    here = cell[x]
    while here != 0 and (here & np.uint64(_TAG)) != tag:
        x = (x + 1) & mask
        here = cell[x]
    return x


@inner_kernel
def _rates(hashes: NDArray[np.uint64], extra: NDArray[np.float64], table: AnnealedTable, tally: ClassTally) -> float:
    """Return the extra of the classes that are too small, where all rows of a class have the same; rows go to ``held``.

    The extra of a class is added while it is small, and taken out again when it is not any more.
    """
    cell, weight, smallest = tally.cell, table.weight, table.requirement.smallest
    cell[:] = 0
    shift = _shift_of(cell.size)
    removed, total = 0, 0.0
    for j in range(hashes.size):
        x = _find_cell(cell, hashes[j], shift)
        before = np.int64(cell[x] & np.uint64(_COUNT))
        after = before + weight[j]
        cell[x] = _tag_of(hashes[j]) | np.uint64(after)
        change = weight[j] if after < smallest else (-before if before < smallest else 0)
        removed += change
        total += change * extra[j]
    tally.held[0] = removed
    return total


@inner_kernel
def _sums(hashes: NDArray[np.uint64], extra: NDArray[np.float64], table: AnnealedTable, tally: ClassTally) -> float:
    """Return the same as :func:`_rates`, where the rows of a class have different extras."""
    cell, held, weight, smallest = tally.cell, tally.held[1:], table.weight, table.requirement.smallest
    cell[:] = 0
    shift = _shift_of(cell.size)
    removed, total = 0, 0.0
    for j in range(hashes.size):
        x = _find_cell(cell, hashes[j], shift)
        before = np.int64(cell[x] & np.uint64(_COUNT))
        after = before + weight[j]
        cell[x] = _tag_of(hashes[j]) | np.uint64(after)
        kept = held[x] if before > 0 else 0.0
        if after < smallest:
            held[x] = kept + weight[j] * extra[j]
            removed += weight[j]
            total += weight[j] * extra[j]
        elif before < smallest:
            removed -= before
            total -= kept
    tally.held[0] = removed
    return total


@inner_kernel
def _squares(hashes: NDArray[np.uint64], extra: NDArray[np.float64], table: AnnealedTable, tally: ClassTally) -> float:
    """Return the squares of the classes that are large enough and the penalties of the others."""
    cell, weight, smallest = tally.cell, table.weight, table.requirement.smallest
    cell[:] = 0
    shift = _shift_of(cell.size)
    removed, total = 0, 0.0
    for j in range(hashes.size):
        x = _find_cell(cell, hashes[j], shift)
        before = np.int64(cell[x] & np.uint64(_COUNT))
        after = before + weight[j]
        cell[x] = _tag_of(hashes[j]) | np.uint64(after)
        if after < smallest:
            removed += weight[j]
        elif before < smallest:
            removed -= before
            total += float(after) * after
        else:
            total += float(after) * after - float(before) * before
    tally.held[0] = removed
    return total + removed * table.penalty[0]


@inner_kernel
def _number(hashes: NDArray[np.uint64], weight: NDArray[np.int64], tally: ClassTally) -> int:
    """Number the classes, add up their rows and sort the tuples by class; return how many classes there are."""
    cell, number, rows, end, order = tally.cell, tally.number, tally.rows, tally.end, tally.order
    cell[:] = 0
    shift = _shift_of(cell.size)
    found = 0
    for j in range(hashes.size):
        x = _find_cell(cell, hashes[j], shift)
        if cell[x] == 0:
            cell[x] = _tag_of(hashes[j]) | np.uint64(found)
            number[j] = found
            rows[found] = 0
            end[found] = 0
            found += 1
        else:
            number[j] = np.int64(cell[x] & np.uint64(_COUNT))
        rows[number[j]] += weight[j]
        end[number[j]] += 1
    position = 0
    for c in range(found):
        position, end[c] = position + end[c], position
    for j in range(hashes.size):
        order[end[number[j]]] = j
        end[number[j]] += 1
    return found


@inner_kernel
def _histograms(
    hashes: NDArray[np.uint64], extra: NDArray[np.float64], table: AnnealedTable, tally: ClassTally
) -> float:
    """Return what all classes cost beyond the lower part, with models and costs that look at values or labels."""
    requirement, histogram, weight = table.requirement, tally.histogram, table.weight
    classes = _number(hashes, weight, tally)
    removed, total, begin = 0, 0.0, 0
    for c in range(classes):
        end, rows = tally.end[c], tally.rows[c]
        fine = rows >= requirement.smallest
        most = 0
        if fine and histogram.size > 0:
            for o in range(begin, end):
                for v in range(tally.value_offset[tally.order[o]], tally.value_offset[tally.order[o] + 1]):
                    histogram[tally.value[v]] += tally.value_rows[v]
            fine = holds(requirement, rows, histogram)
            for label in range(requirement.cells, histogram.size):
                most = max(most, histogram[label])
            for o in range(begin, end):
                for v in range(tally.value_offset[tally.order[o]], tally.value_offset[tally.order[o] + 1]):
                    histogram[tally.value[v]] = 0
        if not fine:
            removed += rows
            for o in range(begin, end):
                total += weight[tally.order[o]] * extra[tally.order[o]]
        elif table.form == SQUARES:
            total += float(rows) * rows
        elif table.form == MINORITY:
            total += rows - most
        begin = end
    tally.held[0] = removed
    return total


@inner_kernel
def _cost_beyond(table: AnnealedTable, tally: ClassTally, side: int) -> float:
    """Return what a node costs beyond its lower part; the rows that are suppressed go to ``tally.held[0]``."""
    hashes, extra = tally.hash[side], tally.extra[side]
    if tally.number.size > 0:
        return _histograms(hashes, extra, table, tally)
    if table.form == SEPARABLE:
        return _rates(hashes, extra, table, tally)
    if table.form == SEPARABLE_SUMS:
        return _sums(hashes, extra, table, tally)
    return _squares(hashes, extra, table, tally)


@inner_kernel
def _lower_of(walk: Walk) -> float:
    total = 0.0
    for i in range(walk.node.size):
        total += walk.published[i, walk.node[i]]
    return total


@inner_kernel
def _find(walk: Walk, digest: int) -> int:
    """The place of a node among the known ones, or a free place for it."""
    mask = walk.known.size - 1
    row = digest & mask
    while walk.known[row].digest != 0 and walk.known[row].digest != digest:
        row = (row + 1) & mask
    return row


@inner_kernel
def _digest_of(walk: Walk) -> np.int64:
    digest = np.int64(0)
    for i in range(walk.node.size):
        digest ^= walk.digest[i, walk.node[i]]
    return digest


@inner_kernel
def _remember(walk: Walk, row: int, digest: int, cost: float) -> None:
    """Remember the cost of a node; when half of the places are taken, everything is forgotten first."""
    state = walk.state
    if 2 * (state.known + 1) > walk.known.size:
        for r in range(walk.known.size):
            walk.known[r].digest = 0
        state.known = 0
        row = _find(walk, digest)
    walk.known[row].digest, walk.known[row].cost = digest, cost
    state.known += 1


@inner_kernel
def start_walk(walk: Walk, planned: int, temperature: float) -> None:
    """Begin a run of so many evaluations at ``walk.node``, whose cost is unknown and does not matter.

    A temperature below 0 is one learned from the moves that were rejected so far.
    """
    state = walk.state
    state.planned, state.done, state.idle = planned, 0, 0
    state.cost = np.inf
    state.lower = _lower_of(walk)
    state.temperature = temperature
    if temperature < 0:
        state.temperature = _WARM * np.exp(state.rise / state.rises) if state.rises > 0 else 0.0


@inner_kernel
def _may_move(walk: Walk, i: int, step: int) -> bool:
    level = walk.node[i] + step
    return walk.limits[i].lowest <= level <= walk.limits[i].highest


@inner_kernel
def _draw(walk: Walk) -> bool:
    """Draw a move; say whether there is one."""
    state, m = walk.state, walk.node.size
    bits = random_bits(walk.random)
    i = random_below(walk.random, m)
    step = 1 if (bits >> np.uint64(20)) & np.uint64(1) else -1
    if not _may_move(walk, i, step):
        step = -step
        if not _may_move(walk, i, step):
            return False
    state.first, state.first_step, state.second = i, step, -1
    if (bits >> np.uint64(21)) % np.uint64(_PAIRED) == 0:
        other = random_below(walk.random, m)
        if other != i and _may_move(walk, other, -step):
            state.second, state.second_step = other, -step
    return True


@inner_kernel
def _take(walk: Walk, cost: float) -> None:
    """Go to the proposed node."""
    state = walk.state
    walk.node[state.first] += state.first_step
    if state.second >= 0:
        walk.node[state.second] += state.second_step
    state.lower, state.cost = state.proposed, cost


@inner_kernel
def propose(walk: Walk) -> int:
    """Propose a move: 0 if the run is over, 1 if the node must be evaluated, 2 if the walk has gone to a known one.

    Nodes that are certainly rejected are passed over without an evaluation: those whose cost is known, and those whose
    lower part is above the threshold.
    """
    state = walk.state
    steps = 0
    for i in range(walk.node.size):
        steps += walk.limits[i].highest - walk.limits[i].lowest
    while state.done < state.planned and state.idle <= _PATIENCE * (steps + 1):
        state.idle += 1
        if not _draw(walk):
            continue
        i, j = state.first, state.second
        lower = state.lower + walk.published[i, walk.node[i] + state.first_step] - walk.published[i, walk.node[i]]
        digest = _digest_of(walk) ^ walk.digest[i, walk.node[i]] ^ walk.digest[i, walk.node[i] + state.first_step]
        if j >= 0:
            lower += walk.published[j, walk.node[j] + state.second_step] - walk.published[j, walk.node[j]]
            digest ^= walk.digest[j, walk.node[j]] ^ walk.digest[j, walk.node[j] + state.second_step]
        chance = (float(random_bits(walk.random) >> np.uint64(11)) + 1.0) / 9007199254740993.0
        warmth = state.temperature * (1.0 - state.done / state.planned)
        state.threshold = state.cost - warmth * np.log(chance)
        state.proposed, state.digest = lower, digest
        if lower > state.threshold:
            continue
        state.row = _find(walk, digest)
        if walk.known[state.row].digest == digest:
            if walk.known[state.row].cost <= state.threshold:
                _take(walk, walk.known[state.row].cost)
                return 2
            continue
        return 1
    return 0


@inner_kernel
def decide(walk: Walk, removed: float, cost: float) -> bool:
    """Take in the evaluation of the proposed node; say whether the walk goes there."""
    state = walk.state
    state.done += 1
    state.evaluated += 1
    state.idle = 0
    allowed = removed <= state.limit
    if not allowed:
        cost += (removed - state.limit) * state.firm
    _remember(walk, state.row, state.digest, cost)
    if cost > state.threshold:
        state.rise = 0.98 * state.rise + np.log(cost - state.cost)
        state.rises = 0.98 * state.rises + 1.0
        return False
    _take(walk, cost)
    if allowed and cost < state.best:
        state.best = cost
        for i in range(walk.node.size):
            walk.best[i] = walk.node[i]
    return True


@inner_kernel
def _apply(table: AnnealedTable, tally: ClassTally, walk: Walk, back: int) -> None:
    """Write the tuples at the proposed node to the other half of the tally; ``back`` is 1 if the walk is there."""
    state, node = walk.state, walk.node
    i, j = state.first, state.second
    old = node[i] - back * state.first_step
    _move(table, tally, state.side, i, old, old + state.first_step)
    if j >= 0:
        old = node[j] - back * state.second_step
        _move_further(table, tally, 1 - state.side, j, old, old + state.second_step)


@inner_kernel
def anneal(table: AnnealedTable, tally: ClassTally, walk: Walk, evaluations: int) -> bool:
    """Go on with a run for so many evaluations at most; say whether it is over."""
    state = walk.state
    if np.isinf(state.cost):
        _place(table, tally, walk.node, state.side)
        beyond = _cost_beyond(table, tally, state.side)
        removed = tally.held[0]
        state.cost = state.lower + beyond
        if removed > state.limit:
            state.cost += (removed - state.limit) * state.firm
        elif state.cost < state.best:
            state.best = state.cost
            for i in range(walk.node.size):
                walk.best[i] = walk.node[i]
    for _ in range(evaluations):
        step = propose(walk)
        while step == 2:
            _apply(table, tally, walk, 1)
            state.side = 1 - state.side
            step = propose(walk)
        if step == 0:
            return True
        _apply(table, tally, walk, 0)
        beyond = _cost_beyond(table, tally, 1 - state.side)
        if decide(walk, tally.held[0], state.proposed + beyond):
            state.side = 1 - state.side
    return False
