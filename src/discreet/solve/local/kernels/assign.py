"""Points that no layer grouped: they join the group where they add least, or groups join them."""

from __future__ import annotations

import numpy as np

from discreet.solve.kernels.arrays import Ints
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.kernels.descent import cheapest_group
from discreet.solve.local.kernels.group_covers import joined
from discreet.solve.local.kernels.groups import NOBODY, LocalGroups, PointRows, add, keeps, move, new_group, split_heavy

__all__ = ["assign_points"]


@kernel
def assign_points(g: LocalGroups, requirement: Requirement, near: Ints, weights: Ints) -> None:  # g OUT
    """Put every point without a share into a group that still satisfies the requirement then.

    Points that no group can take form a group of their own, with which others merge until it does. Nearby groups are
    tried first; a scan of all groups is the exception.
    """
    none = np.int64(-1)
    own = none
    for j in range(weights.size):
        if g.first[j] >= 0 or g.suppressed[j] > 0:
            continue
        joining = PointRows(j, weights[j])
        _, b = cheapest_group(g, requirement, near, none, joining)
        if b < 0:
            b = _cheapest_of_all(g, requirement, joining, own)
        if b < 0:
            if own < 0:
                own = new_group(g)
            b = own
        add(g, j, weights[j], b)
    if own >= 0:
        while not keeps(g, requirement, own, NOBODY, NOBODY):
            if not _merge_nearest(g, own):
                break
    if requirement.model.size == 0:
        for b in range(g.counters[0].groups):
            if g.group[b].rows > 0:
                split_heavy(g, b, requirement.smallest)


@inner_kernel
def _cheapest_of_all(g: LocalGroups, requirement: Requirement, joining: PointRows, own: int) -> np.int64:
    """The group to which rows of a point add least, of all but ``own`` that can take them; -1 if there is none."""
    best, found = np.inf, np.int64(-1)
    for b in range(g.counters[0].groups):
        rows = g.group[b].rows
        if rows > 0 and b != own:
            price = (rows + joining.rows) * joined(g.covers, b, joining.point) - rows * g.group[b].rate
            if price < best and keeps(g, requirement, b, NOBODY, joining):
                best, found = price, b
    return found


@inner_kernel
def _merge_nearest(g: LocalGroups, own: int) -> bool:  # g OUT
    """Merge into a group the one that costs least together with its first member; False if there is no other."""
    best, found = np.inf, -1
    j = g.share[g.group[own].head].point
    for b in range(g.counters[0].groups):
        rows = g.group[b].rows
        if rows > 0 and b != own:
            price = rows * joined(g.covers, b, j)
            if price < best:
                best, found = price, b
    if found < 0:
        return False
    while g.group[found].rows > 0:
        e = g.group[found].head
        move(g, e, g.share[e].rows, own)
    return True
