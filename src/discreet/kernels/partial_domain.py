"""Partial-domain de-generalization: groups made more specific one by one, each by the attribute that scores highest.

The tuples of a group lie one after the other in one permutation. A group that is split is sorted by its parts in place,
and the parts wait on a stack, so that no memory is needed beyond the permutation and the levels of what waits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.requirements import Requirement, holds

__all__ = ["Descent", "Ground", "go_down"]


class Ground(NamedTuple):
    """The tuples, their hierarchies and sensitive values, and what a split scores."""

    codes: NDArray[np.int32]
    """(tuples, m) leaf codes: those of one tuple together, as small groups are looked at attribute by attribute."""
    weights: NDArray[np.int64]
    ancestors: NDArray[np.int32]
    """All ancestor rows one after the other; row (i, l) begins at start[i, l]."""
    start: NDArray[np.int64]
    lowest: NDArray[np.int64]
    order: NDArray[np.int64]
    """(m,) the attributes, that of the highest priority first."""
    score: NDArray[np.float64]
    """What a group scores by itself with one attribute showing n values and all others one: score[score_start[i] + n].

    It never falls with n."""
    score_start: NDArray[np.int64]
    """(m + 1,)"""
    offset: NDArray[np.int64]
    """The sensitive values of tuple j are ``cell[offset[j]:offset[j + 1]]``, as places in a histogram."""
    cell: NDArray[np.int64]
    rows: NDArray[np.int64]


class Descent(NamedTuple):
    """Groups that wait, ``number[0]`` of them, and that are done, ``number[1]``, and scratch space."""

    tuples: NDArray[np.int64]
    """The permutation."""
    first: NDArray[np.int64]
    """(groups, 2) where each waiting group begins and ends in it."""
    levels: NDArray[np.int16]
    """(groups, m) at which levels each waiting group shows its values."""
    done_first: NDArray[np.int64]
    done_levels: NDArray[np.int16]
    number: NDArray[np.int64]
    part: NDArray[np.int64]
    """(tuples,) the part each tuple of the group goes to."""
    moved: NDArray[np.int64]
    size: NDArray[np.int64]
    """(tuples,) the rows of each part, or where it begins."""
    block: NDArray[np.int64]
    """(tuples,) the block of each part."""
    known: NDArray[np.int64]
    """(leaves,) the part of each block; -1 where it has none, which is so between two groups."""


@kernel
def go_down(ground: Ground, requirement: Requirement, descent: Descent, most: int) -> None:  # descent OUT
    """Take waiting groups down until none is left or ``most`` tuples have been looked at."""
    m = ground.codes.shape[1]
    looked_at = 0
    while descent.number[0] > 0 and looked_at < most:
        g = descent.number[0] - 1
        begin, end = descent.first[g, 0], descent.first[g, 1]
        rows = 0
        for e in range(begin, end):
            rows += ground.weights[descent.tuples[e]]
        for i in range(m):
            descent.levels[g, i] = _lowest_shared(ground, descent, i, begin, end, descent.levels[g, i])
        chosen = _choose(ground, requirement, descent, g) if rows >= 2 * requirement.smallest else -1
        descent.number[0] -= 1
        if chosen < 0:
            done = descent.number[1]
            descent.done_first[done, 0], descent.done_first[done, 1] = begin, end
            descent.done_levels[done] = descent.levels[g]
            descent.number[1] += 1
        else:
            _split(ground, descent, chosen, g)
        looked_at += m * (end - begin)


@inner_kernel
def _lowest_shared(ground: Ground, descent: Descent, i: int, begin: int, end: int, level: int) -> int:
    """The lowest level at which all tuples of a group agree, which they do at the one given."""
    first = ground.codes[descent.tuples[begin], i]
    lowest = ground.lowest[i]
    for e in range(begin + 1, end):
        code = ground.codes[descent.tuples[e], i]
        while lowest < level:
            row = ground.start[i, lowest]
            if ground.ancestors[row + code] == ground.ancestors[row + first]:
                break
            lowest += 1
        if lowest >= level:
            return level
    return lowest


@kernel
def _choose(ground: Ground, requirement: Requirement, descent: Descent, g: int) -> int:
    """The attribute whose step down gives the highest score and keeps the requirement in each part; -1 if none does."""
    begin, end = descent.first[g, 0], descent.first[g, 1]
    chosen, highest = -1, -np.inf
    for i in ground.order:
        if descent.levels[g, i] <= ground.lowest[i] or ground.score[ground.score_start[i + 1] - 1] <= highest:
            continue
        parts = _part(ground, descent, i, begin, end, descent.levels[g, i])
        score = ground.score[ground.score_start[i] + parts]
        if score > highest and _all_hold(ground, requirement, descent, begin, end, parts):
            chosen, highest = i, score
    return chosen


@inner_kernel
def _part(ground: Ground, descent: Descent, i: int, begin: int, end: int, level: int) -> int:
    """Write the part each tuple goes to if an attribute goes a level down, and the parts' rows; return their number."""
    row = ground.start[i, level - 1]
    parts = 0
    for e in range(begin, end):
        j = descent.tuples[e]
        block = ground.ancestors[row + ground.codes[j, i]]
        part = descent.known[block]
        if part < 0:
            part = parts
            descent.known[block] = part
            descent.block[part] = block
            descent.size[part] = 0
            parts += 1
        descent.part[e] = part
        descent.size[part] += ground.weights[j]
    for part in range(parts):
        descent.known[descent.block[part]] = -1
    return parts


@kernel
def _all_hold(ground: Ground, requirement: Requirement, descent: Descent, begin: int, end: int, parts: int) -> bool:
    """Whether every part keeps the requirement."""
    if descent.size[:parts].min() < requirement.smallest:
        return False
    if requirement.cells == 0:
        return True
    histogram = np.zeros((parts, requirement.cells), dtype=np.int64)
    for e in range(begin, end):
        j = descent.tuples[e]
        for entry in range(ground.offset[j], ground.offset[j + 1]):
            histogram[descent.part[e], ground.cell[entry]] += ground.rows[entry]
    fine = True
    for part in range(parts):
        fine = fine and holds(requirement, descent.size[part], histogram[part])
    return fine


@inner_kernel
def _split(ground: Ground, descent: Descent, i: int, g: int) -> None:
    """Sort a group by its parts, which wait in its place."""
    begin, end = descent.first[g, 0], descent.first[g, 1]
    parts = _part(ground, descent, i, begin, end, descent.levels[g, i])
    for part in range(parts):
        descent.size[part] = 0
    for e in range(begin, end):
        descent.size[descent.part[e]] += 1
    descent.levels[g, i] -= 1
    place = begin
    for part in range(parts):
        length = descent.size[part]
        descent.size[part] = place
        descent.first[g + part, 0], descent.first[g + part, 1] = place, place + length
        for a in range(descent.levels.shape[1]):
            descent.levels[g + part, a] = descent.levels[g, a]
        place += length
    for e in range(begin, end):
        part = descent.part[e]
        descent.moved[descent.size[part]] = descent.tuples[e]
        descent.size[part] += 1
    for e in range(begin, end):
        descent.tuples[e] = descent.moved[e]
    descent.number[0] += parts
