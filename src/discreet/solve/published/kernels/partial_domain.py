"""Partial-domain de-generalization: groups are specialized one by one, by the attribute that scores highest.

The tuples of a group are a range of one permutation. A group that is split is sorted by its parts in place, and the
parts wait on a stack, so that no memory is needed beyond the permutation and the levels of waiting groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records
from discreet.solve.kernels.requirements import Requirement, holds

__all__ = ["Descent", "DescentCount", "DescentTable", "Span", "descend_groups"]


class Span:
    """Where a group begins and ends in the permutation."""

    begin: int
    end: int


class DescentCount:
    """How many groups wait, and how many are done."""

    waiting: int
    done: int


class DescentTable(NamedTuple):
    """The tuples, their hierarchies and sensitive values, and the scores of splits."""

    codes: NDArray[np.int32]
    """(tuples, attributes) leaf codes; those of one tuple are contiguous, as small groups are read by attribute."""
    weights: NDArray[np.int64]
    ancestors: NDArray[np.int32]
    """All ancestor rows in one array; the row of attribute i and level l begins at ``start[i, l]``."""
    start: NDArray[np.int64]
    lowest: NDArray[np.int64]
    order: NDArray[np.int64]
    """(attributes,) the attributes by falling priority."""
    score: NDArray[np.float64]
    """Score of a group with n values of attribute i and one of all others: ``score[score_start[i] + n]``.

    It never falls with n."""
    score_start: NDArray[np.int64]
    """(attributes + 1,)"""
    offset: NDArray[np.int64]
    """The sensitive values of tuple j are ``cell[offset[j]:offset[j + 1]]``, as indices into a histogram."""
    cell: NDArray[np.int64]
    rows: NDArray[np.int64]


class Descent(NamedTuple):
    """The stack of waiting groups, the list of groups that are done, and scratch space."""

    tuples: NDArray[np.int64]
    """The permutation."""
    span: Records[Span]
    """Of each waiting group."""
    levels: NDArray[np.int16]
    """(groups, attributes) released levels of each waiting group."""
    done_span: Records[Span]
    done_levels: NDArray[np.int16]
    count: Records[DescentCount]
    """One struct."""
    part: NDArray[np.int64]
    """(tuples,) the part of each tuple of the group."""
    moved: NDArray[np.int64]
    size: NDArray[np.int64]
    """(tuples,) the rows of each part, or where it begins."""
    block: NDArray[np.int64]
    """(tuples,) the block of each part."""
    known: NDArray[np.int64]
    """(leaves,) the part of each block, -1 if none; all -1 between two groups."""


@kernel
def descend_groups(table: DescentTable, requirement: Requirement, descent: Descent, most: int) -> None:
    """Specialize waiting groups until none is left or ``most`` values have been read.

    A group with fewer than twice the rows of the smallest valid class cannot be split, and is done at once.

    IN/OUT: descent
    """
    m, count = table.codes.shape[1], descent.count[0]
    values_read = 0
    while count.waiting > 0 and values_read < most:
        g = count.waiting - 1
        begin, end = descent.span[g].begin, descent.span[g].end
        rows = 0
        for e in range(begin, end):
            rows += table.weights[descent.tuples[e]]
        for i in range(m):
            descent.levels[g, i] = _lowest_shared(table, descent, i, begin, end, descent.levels[g, i])
        # Each part needs `smallest` rows, and a split makes two parts or more.
        chosen = _choose(table, requirement, descent, g) if rows >= 2 * requirement.smallest else -1
        count.waiting -= 1
        if chosen < 0:
            done = descent.done_span[count.done]
            done.begin, done.end = begin, end
            descent.done_levels[count.done] = descent.levels[g]
            count.done += 1
        else:
            _split(table, descent, chosen, g)
        values_read += m * (end - begin)


@inner_kernel
def _lowest_shared(table: DescentTable, descent: Descent, i: int, begin: int, end: int, level: int) -> int:
    """Return the lowest level at which all tuples of a group agree; they do at the level given.

    It only ever rises, so each level is checked once for all tuples together.
    """
    first = table.codes[descent.tuples[begin], i]
    lowest = table.lowest[i]
    for e in range(begin + 1, end):
        code = table.codes[descent.tuples[e], i]
        while lowest < level:
            row = table.start[i, lowest]
            if table.ancestors[row + code] == table.ancestors[row + first]:
                break
            lowest += 1
        if lowest >= level:
            return level
    return lowest


@kernel
def _choose(table: DescentTable, requirement: Requirement, descent: Descent, g: int) -> int:
    """Return the attribute with the highest score whose parts are all valid, -1 if there is none.

    Attributes whose highest possible score is too low are skipped without splitting.
    """
    begin, end = descent.span[g].begin, descent.span[g].end
    chosen, highest = -1, -np.inf
    for i in table.order:
        # The score never falls with the number of parts, so the last one of an attribute is its upper bound.
        if descent.levels[g, i] <= table.lowest[i] or table.score[table.score_start[i + 1] - 1] <= highest:
            continue
        parts = _divide(table, descent, i, begin, end, descent.levels[g, i])
        score = table.score[table.score_start[i] + parts]
        if score > highest and _all_hold(table, requirement, descent, begin, end, parts):
            chosen, highest = i, score
    return chosen


@inner_kernel
def _divide(table: DescentTable, descent: Descent, i: int, begin: int, end: int, level: int) -> int:
    """Divide a group by an attribute one level lower; returns the number of parts.

    OUT: descent.part, descent.size
    """
    row = table.start[i, level - 1]
    parts = 0
    for e in range(begin, end):
        j = descent.tuples[e]
        block = table.ancestors[row + table.codes[j, i]]
        part = descent.known[block]
        # Parts are numbered as they occur, which costs the size of the group and not that of the domain.
        if part < 0:
            part = parts
            descent.known[block] = part
            descent.block[part] = block
            descent.size[part] = 0
            parts += 1
        descent.part[e] = part
        descent.size[part] += table.weights[j]
    # Only what was written is cleared.
    for part in range(parts):
        descent.known[descent.block[part]] = -1
    return parts


@kernel
def _all_hold(
    table: DescentTable, requirement: Requirement, descent: Descent, begin: int, end: int, parts: int
) -> bool:
    """Whether every part is valid."""
    if descent.size[:parts].min() < requirement.smallest:
        return False
    if requirement.cells == 0:
        return True
    histogram = np.zeros((parts, requirement.cells), dtype=np.int64)
    for e in range(begin, end):
        j = descent.tuples[e]
        for entry in range(table.offset[j], table.offset[j + 1]):
            histogram[descent.part[e], table.cell[entry]] += table.rows[entry]
    valid = True
    for part in range(parts):
        valid = valid and holds(requirement, descent.size[part], histogram[part])
    return valid


@inner_kernel
def _split(table: DescentTable, descent: Descent, i: int, g: int) -> None:
    """Sort a group by its parts, which take its position on the stack."""
    begin, end = descent.span[g].begin, descent.span[g].end
    parts = _divide(table, descent, i, begin, end, descent.levels[g, i])
    # `size` held rows; here it holds tuples, and then where each part goes on.
    for part in range(parts):
        descent.size[part] = 0
    for e in range(begin, end):
        descent.size[descent.part[e]] += 1
    descent.levels[g, i] -= 1
    start = begin
    for part in range(parts):
        length = descent.size[part]
        descent.size[part] = start
        descent.span[g + part].begin, descent.span[g + part].end = start, start + length
        for a in range(descent.levels.shape[1]):
            descent.levels[g + part, a] = descent.levels[g, a]
        start += length
    for e in range(begin, end):
        part = descent.part[e]
        descent.moved[descent.size[part]] = descent.tuples[e]
        descent.size[part] += 1
    for e in range(begin, end):
        descent.tuples[e] = descent.moved[e]
    descent.count[0].waiting += parts
