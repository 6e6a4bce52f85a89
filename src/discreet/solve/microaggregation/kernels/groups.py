"""Groups of rows during a search: their members, and the sums from which the squared error follows.

The squared error of a group of s rows with the sum S is Q - |S|^2 / s, where Q is the sum of the squares of its rows.
Added up over groups, Q is always the same. So a search keeps S and |S|^2 of each group, and knows what a change of
groups saves from a few products with them.
"""

from __future__ import annotations

from typing import NamedTuple

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.kernels.requirements import Requirement, holds, tally

__all__ = [
    "NOBODY",
    "RowGroups",
    "RowSpace",
    "adds",
    "free_group",
    "keeps",
    "move_row",
    "moved",
    "swap_rows",
    "swapped",
]

NOBODY = -1


class RowSpace(NamedTuple):
    """Rows as points in space, and the rows near each."""

    x: Floats
    """(n, m) standardized coordinates."""
    square: Floats
    """(n,) squared distance from the origin."""
    near: Ints
    """(n, r) the nearest other rows, nearest first."""
    point: Ints
    """(n,) the point of the requirement that each row belongs to."""


class RowGroups(NamedTuple):
    """Groups as lists of rows in slots of fixed room; free slots are a stack."""

    group: Ints
    """(n,) the group of each row."""
    place: Ints
    """(n,) where the row is in the list of its group."""
    member: Ints
    """The rows of group g are ``member[begin[g]:begin[g] + rows[g]]``, and its room ends at ``begin[g + 1]``."""
    begin: Ints
    rows: Ints
    total: Floats
    """(groups, m) the sum of the rows of each group, and ..."""
    norm: Floats
    """... its squared length."""
    free: Ints
    """The free slots are ``free[1:1 + free[0]]``."""
    histogram: Ints
    """Scratch for :func:`keeps`, all 0."""
    moved: Ints
    """Scratch: rows that were moved tentatively, and where they were."""


@inner_kernel
def _ratio(norm: float, rows: int) -> float:
    return norm / rows if rows > 0 else 0.0


@inner_kernel
def moved(space: RowSpace, groups: RowGroups, row: int, b: int) -> float:
    """Return the increase of the squared error if a row moves to group b; negative if it falls."""
    a = groups.group[row]
    from_a, from_b = 0.0, 0.0
    for i in range(space.x.shape[1]):
        from_a += space.x[row, i] * groups.total[a, i]
        from_b += space.x[row, i] * groups.total[b, i]
    rows_a, rows_b, square = groups.rows[a], groups.rows[b], space.square[row]
    before = _ratio(groups.norm[a], rows_a) + _ratio(groups.norm[b], rows_b)
    norm_a, norm_b = groups.norm[a] - 2 * from_a + square, groups.norm[b] + 2 * from_b + square
    return before - _ratio(norm_a, rows_a - 1) - norm_b / (rows_b + 1)


@inner_kernel
def adds(space: RowSpace, groups: RowGroups, row: int, b: int) -> float:
    """Return the increase of the squared error of group b if a row joins it: s / (s + 1) times its squared distance."""
    distance, rows = 0.0, groups.rows[b]
    for i in range(space.x.shape[1]):
        away = space.x[row, i] - groups.total[b, i] / rows
        distance += away * away
    return distance * rows / (rows + 1)


@inner_kernel
def swapped(space: RowSpace, groups: RowGroups, row: int, other: int) -> float:
    """Return the increase of the squared error if two rows of different groups change places."""
    a, b = groups.group[row], groups.group[other]
    along_a, along_b, square = 0.0, 0.0, 0.0
    for i in range(space.x.shape[1]):
        step = space.x[other, i] - space.x[row, i]
        along_a += step * groups.total[a, i]
        along_b += step * groups.total[b, i]
        square += step * step
    return -(2 * along_a + square) / groups.rows[a] + (2 * along_b - square) / groups.rows[b]


@inner_kernel
def move_row(space: RowSpace, groups: RowGroups, row: int, b: int) -> None:  # groups OUT
    """Move a row to group b, which has room for it."""
    a = groups.group[row]
    _add(space, groups, a, row, -1.0)
    _add(space, groups, b, row, 1.0)
    begin, last = groups.begin[a], groups.rows[a] - 1
    other = groups.member[begin + last]
    groups.member[begin + groups.place[row]] = other
    groups.place[other] = groups.place[row]
    groups.rows[a] = last
    groups.member[groups.begin[b] + groups.rows[b]] = row
    groups.place[row] = groups.rows[b]
    groups.rows[b] += 1
    groups.group[row] = b
    if last == 0:  # leave no rounding error behind
        groups.norm[a] = 0.0
        for i in range(space.x.shape[1]):
            groups.total[a, i] = 0.0


@inner_kernel
def swap_rows(space: RowSpace, groups: RowGroups, row: int, other: int) -> None:  # groups OUT
    """Let two rows of different groups change places."""
    a, b = groups.group[row], groups.group[other]
    norm_a, norm_b = 0.0, 0.0
    for i in range(space.x.shape[1]):
        step = space.x[other, i] - space.x[row, i]
        groups.total[a, i] += step
        groups.total[b, i] -= step
        norm_a += groups.total[a, i] ** 2
        norm_b += groups.total[b, i] ** 2
    groups.norm[a], groups.norm[b] = norm_a, norm_b
    groups.member[groups.begin[a] + groups.place[row]] = other
    groups.member[groups.begin[b] + groups.place[other]] = row
    groups.place[row], groups.place[other] = groups.place[other], groups.place[row]
    groups.group[row], groups.group[other] = b, a


@inner_kernel
def _add(space: RowSpace, groups: RowGroups, g: int, row: int, sign: float) -> None:  # groups OUT
    norm = 0.0
    for i in range(space.x.shape[1]):
        groups.total[g, i] += sign * space.x[row, i]
        norm += groups.total[g, i] ** 2
    groups.norm[g] = norm


@inner_kernel
def free_group(groups: RowGroups, g: int) -> None:  # groups OUT
    """Give back the slot of an empty group."""
    groups.free[0] += 1
    groups.free[groups.free[0]] = g


@inner_kernel
def keeps(space: RowSpace, groups: RowGroups, requirement: Requirement, g: int, leaves: int, joins: int) -> bool:
    """Whether group g satisfies all models if one row leaves it and another joins it, where either may be NOBODY."""
    rows = groups.rows[g] - (leaves >= 0) + (joins >= 0)
    if requirement.model.size == 0:
        return rows >= requirement.smallest
    begin, histogram = groups.begin[g], groups.histogram
    for position in range(begin, begin + groups.rows[g]):
        tally(requirement, space.point[groups.member[position]], 1, histogram)
    if leaves >= 0:
        tally(requirement, space.point[leaves], -1, histogram)
    if joins >= 0:
        tally(requirement, space.point[joins], 1, histogram)
    fine = holds(requirement, rows, histogram)
    for position in range(begin, begin + groups.rows[g]):
        tally(requirement, space.point[groups.member[position]], -1, histogram)
    if leaves >= 0:
        tally(requirement, space.point[leaves], 1, histogram)
    if joins >= 0:
        tally(requirement, space.point[joins], -1, histogram)
    return fine
