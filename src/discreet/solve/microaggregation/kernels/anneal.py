"""Simulated annealing of groups by squared error: random changes, ever less often for the worse.

A step draws a row and one near it. The row moves to the group of the other if its own can spare it, or changes places
with a member of that group. Now and then a whole group is dissolved, its rows joining the groups near them, or a new
group is made of rows that others can spare: so the number of groups changes too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.random import RandomState, random_bits
from discreet.solve.kernels.requirements import Requirement, holds, tally
from discreet.solve.microaggregation.kernels.groups import (
    NOBODY,
    RowGroups,
    RowSpace,
    adds,
    free_group,
    keeps,
    move_row,
    moved,
    swap_rows,
    swapped,
)

__all__ = ["anneal_groups"]

_TEN_BITS = np.uint64(0x3FF)
_COOL = 256
"""Steps at one temperature."""
_MOST_DIVIDED = 64
"""The rows of two groups that are divided anew, at most: sorting them takes the square of that."""


class Division(NamedTuple):
    """Scratch for dividing the rows of two groups anew."""

    along: Floats
    """Where each row is on the line, sorted."""
    fine: Ints
    """1 if the rows before a cut satisfy the models."""
    total: Floats
    """The sum of the rows behind a cut."""


@kernel
def anneal_groups(
    space: RowSpace,
    groups: RowGroups,
    requirement: Requirement,
    steps: int,
    hot: float,
    cold: float,
    state: RandomState,
) -> float:  # groups, state OUT
    """Take so many steps while the temperature falls from hot to cold; return by how much the squared error grew.

    A change that costs d more is accepted with probability exp(-d / temperature): if d is below -temperature * log(u),
    for which a table of 1024 values of u does.
    """
    n, wide, k = space.near.shape[0], space.near.shape[1], requirement.smallest
    grown, temperature = 0.0, hot
    cooling = (cold / hot) ** (_COOL / max(steps, 1))
    bars = -np.log((np.arange(1024) + 0.5) / 1024)
    division = Division(np.zeros(_MOST_DIVIDED), np.zeros(_MOST_DIVIDED, dtype=np.int64), np.zeros(space.x.shape[1]))
    for step in range(steps):
        if step % _COOL == 0:
            temperature *= cooling
        # One random number serves all draws of a step, each from bits of its own.
        bits = random_bits(state)
        # The high half of a product instead of a remainder: uniform but for n / 2^32, and no division.
        row = np.int64(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
        bar = temperature * bars[np.int64(bits & _TEN_BITS)]
        rank = (bits >> np.uint64(10)) & _TEN_BITS
        # The square of a uniform number: the nearest rows are drawn most often.
        other = space.near[row, np.int64((rank * rank * np.uint64(wide)) >> np.uint64(20))]
        a, b = groups.group[row], groups.group[other]
        kind = (bits >> np.uint64(20)) & np.uint64(63)
        if a == b:
            if kind == 2 and requirement.model.size > 0 and groups.free[0] > 0:
                grown += _divide_anew(space, groups, requirement, division, row, groups.free[groups.free[0]], bar)
            continue
        # One step in 32 tries to change the number of groups, which moves and swaps cannot.
        if kind == 0:
            grown += _dissolve(space, groups, requirement, a, bar)
            continue
        if kind == 1:
            grown += _create(space, groups, requirement, row, bar)
            continue
        if kind == 2 and requirement.model.size > 0:
            grown += _divide_anew(space, groups, requirement, division, row, b, bar)
            continue
        if groups.rows[a] > k and groups.rows[b] < groups.begin[b + 1] - groups.begin[b] and kind < 32:
            change = moved(space, groups, row, b)
            if (
                change < bar
                and keeps(space, groups, requirement, a, row, NOBODY)
                and keeps(space, groups, requirement, b, NOBODY, row)
            ):
                move_row(space, groups, row, b)
                grown += change
            continue
        place = np.int64((((bits >> np.uint64(26)) & np.uint64(63)) * np.uint64(groups.rows[b])) >> np.uint64(6))
        leaver = groups.member[groups.begin[b] + place]
        change = swapped(space, groups, row, leaver)
        if (
            change < bar
            and keeps(space, groups, requirement, a, row, leaver)
            and keeps(space, groups, requirement, b, leaver, row)
        ):
            swap_rows(space, groups, row, leaver)
            grown += change
    return grown


@inner_kernel
def _dissolve(space: RowSpace, groups: RowGroups, requirement: Requirement, a: int, bar: float) -> float:
    """Move all rows of group a to groups near them, if that costs less than ``bar`` more; return what it costs."""
    change, count = 0.0, 0
    while groups.rows[a] > 0:
        row = groups.member[groups.begin[a] + groups.rows[a] - 1]
        least, best = np.inf, NOBODY
        for r in range(space.near.shape[1]):
            b = groups.group[space.near[row, r]]
            if b in (a, best) or groups.rows[b] >= groups.begin[b + 1] - groups.begin[b]:
                continue
            more = adds(space, groups, row, b)
            if more < least and keeps(space, groups, requirement, b, NOBODY, row):
                least, best = more, b
        if best == NOBODY:
            break
        change += moved(space, groups, row, best)
        move_row(space, groups, row, best)
        groups.moved[count] = row
        count += 1
    if groups.rows[a] == 0 and change < bar:
        free_group(groups, a)
        return change
    # Moves are undone last first, so that lists get their old order.
    for position in range(count - 1, -1, -1):
        move_row(space, groups, groups.moved[position], a)
    return 0.0


@inner_kernel
def _create(space: RowSpace, groups: RowGroups, requirement: Requirement, first: int, bar: float) -> float:
    """Make a group of a row and near ones that their groups can spare, if that costs less than ``bar`` more."""
    k, wide = requirement.smallest, space.near.shape[1]
    if groups.free[0] == 0:
        return 0.0
    g = groups.free[groups.free[0]]
    change, count, fine = 0.0, 0, False
    for r in range(-1, wide):
        row = first if r < 0 else space.near[first, r]
        a = groups.group[row]
        if groups.rows[a] <= k or not keeps(space, groups, requirement, a, row, NOBODY):
            if r < 0:
                return 0.0
            continue
        change += moved(space, groups, row, g)
        move_row(space, groups, row, g)
        # The second half of the scratch says where each row came from.
        groups.moved[count], groups.moved[groups.moved.size // 2 + count] = row, a
        count += 1
        fine = count >= k and keeps(space, groups, requirement, g, NOBODY, NOBODY)
        if fine or count == groups.begin[g + 1] - groups.begin[g]:
            break
    if fine and change < bar:
        groups.free[0] -= 1
        return change
    for position in range(count - 1, -1, -1):
        move_row(space, groups, groups.moved[position], groups.moved[groups.moved.size // 2 + position])
    return 0.0


@inner_kernel
def _divide_anew(
    space: RowSpace, groups: RowGroups, requirement: Requirement, division: Division, row: int, b: int, bar: float
) -> float:  # groups, division OUT
    """Divide the rows of the group of ``row`` and of group b anew, if that costs less than ``bar`` more.

    They are sorted along the line from the row to the one farthest from it, and cut where both parts satisfy the models
    and cost least. Models such as t-closeness forbid most moves of a single row, which this makes up for. Group b may
    be the first free slot: then one group becomes two.
    """
    a, m, k = groups.group[row], space.x.shape[1], requirement.smallest
    rows_a, rows_b = groups.rows[a], groups.rows[b]
    rows, order, histogram = rows_a + rows_b, groups.moved, groups.histogram
    room_a, room_b = groups.begin[a + 1] - groups.begin[a], groups.begin[b + 1] - groups.begin[b]
    if rows > min(_MOST_DIVIDED, order.size):
        return 0.0
    far, farthest = row, -1.0
    for position in range(rows):
        member = (
            groups.member[groups.begin[a] + position]
            if position < rows_a
            else groups.member[groups.begin[b] + position - rows_a]
        )
        order[position] = member
        distance = 0.0
        for i in range(m):
            distance += (space.x[member, i] - space.x[row, i]) ** 2
        if distance > farthest:
            far, farthest = member, distance
    along, fine, total = division.along, division.fine, division.total
    for position in range(rows):
        member, measure, place = order[position], 0.0, position
        for i in range(m):
            measure += space.x[member, i] * (space.x[far, i] - space.x[row, i])
        while place > 0 and along[place - 1] > measure:
            along[place], order[place] = along[place - 1], order[place - 1]
            place -= 1
        along[place], order[place] = measure, member
    # Whether the rows before each cut satisfy the models, then whether those behind it do.
    for cut in range(1, rows):
        tally(requirement, space.point[order[cut - 1]], 1, histogram)
        fits = k <= cut <= room_a and k <= rows - cut <= room_b
        fine[cut] = 1 if fits and holds(requirement, cut, histogram) else 0
    for position in range(rows - 1):
        tally(requirement, space.point[order[position]], -1, histogram)
    total[:] = 0.0
    best, least = 0, np.inf
    for cut in range(rows - 1, 0, -1):
        member, norm, norm_before = order[cut], 0.0, 0.0
        tally(requirement, space.point[member], 1, histogram)
        for i in range(m):
            total[i] += space.x[member, i]
            norm += total[i] ** 2
            norm_before += (groups.total[a, i] + groups.total[b, i] - total[i]) ** 2
        error = -norm / (rows - cut) - norm_before / cut
        if fine[cut] == 1 and error < least and holds(requirement, rows - cut, histogram):
            best, least = cut, error
    for position in range(1, rows):
        tally(requirement, space.point[order[position]], -1, histogram)
    change = least + groups.norm[a] / rows_a + (groups.norm[b] / rows_b if rows_b > 0 else 0.0)
    if best == 0 or not change < bar:
        return 0.0
    if rows_b == 0:
        groups.free[0] -= 1
    _put_into(space, groups, a, b, best, rows)
    return change


@inner_kernel
def _put_into(space: RowSpace, groups: RowGroups, a: int, b: int, cut: int, rows: int) -> None:  # groups OUT
    """Put the rows of ``groups.moved`` before a cut into group a and the others into b, which have room for them."""
    first, last = 0, rows - 1
    while True:
        while first < cut and groups.group[groups.moved[first]] == a:
            first += 1
        while last >= cut and groups.group[groups.moved[last]] == b:
            last -= 1
        if first < cut and last >= cut:
            swap_rows(space, groups, groups.moved[first], groups.moved[last])
        elif first < cut:
            move_row(space, groups, groups.moved[first], a)
        elif last >= cut:
            move_row(space, groups, groups.moved[last], b)
        else:
            return
