"""Which cells may share a class with a scarce one, and how far each block brings them together.

A cell is *scarce* if it has fewer rows than the smallest valid class; the rows it lacks are its *need*. Cells that may
share its class are its *mates*. See README.md for the bound they give.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import kernel
from discreet.solve.partitions.kernels.blocks import RECORD

__all__ = ["Mates", "ScarceCells", "count_brought", "find_mates", "reward_blocks"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class ScarceCells(NamedTuple):
    """The cells of a node by the groups that no recoding separates for sure, and the scarce ones among them."""

    cells: Ints
    """Sorted by group: the cells of group g are ``cells[starts[g]:starts[g + 1]]``."""
    starts: Ints
    scarce: Ints
    """(cells,) the number of each scarce cell, -1 for others."""
    piece: Ints
    """(open attributes, cells)"""
    weight: Floats


class Mates(NamedTuple):
    """Rows of mates by open attribute: each mate is listed under one attribute in which it differs."""

    rows: Floats
    """(pieces of all attributes, scarce cells) rows of mates with a piece; cells in the order of ``place``."""
    base: Ints
    """(open attributes,) where the pieces of each attribute begin."""
    place: Ints
    """(open attributes, scarce cells) the column of each scarce cell, which are sorted by their own piece."""


@kernel
def find_mates(cells: ScarceCells, extra: Floats, room: float, mates: Mates) -> None:
    """List the mates of each scarce cell under the attribute in which joining them costs most.

    Two cells are no mates if joining the pieces in which they differ costs ``room`` or more.

    IN: extra (open attributes, pieces, pieces), what it costs at least to join two pieces
    OUT: mates.rows, 0 before
    """
    attributes = cells.piece.shape[0]
    for g in range(cells.starts.size - 1):
        for x in range(cells.starts[g], cells.starts[g + 1]):
            t = cells.cells[x]
            r = cells.scarce[t]
            if r < 0:
                continue
            for y in range(cells.starts[g], cells.starts[g + 1]):
                other = cells.cells[y]
                if other == t:
                    continue
                total, most, chosen = 0.0, -1.0, 0
                for a in range(attributes):
                    p, q = cells.piece[a, t], cells.piece[a, other]
                    if p != q:
                        cost = extra[a, p, q]
                        total += cost
                        if total >= room:
                            break
                        if cost > most:
                            most, chosen = cost, a
                if total < room:
                    mates.rows[mates.base[chosen] + cells.piece[chosen, other], mates.place[chosen, r]] += cells.weight[
                        other
                    ]


@kernel
def reward_blocks(steps: Ints, starts: Ints, rows: Floats, need: Floats, price: Floats, reward: Floats) -> None:
    """Follow a walk; for each block add up what it brings to the scarce cells in it: price times rows, up to the need.

    IN: starts, the columns of each piece; rows (pieces, scarce cells); need, price by column
    OUT: reward, by block in the order of the walk
    """
    pieces = starts.size - 1
    inside = np.zeros(pieces, dtype=np.bool_)
    brought = np.zeros(need.size)
    asked, total = 0, 0.0
    for step in steps:
        if step == RECORD:
            reward[asked] = total
            asked += 1
            continue
        sign = 1 if step > 0 else -1
        piece = sign * step - 1
        if sign < 0:
            inside[piece] = False
            for x in range(starts[piece], starts[piece + 1]):
                total -= price[x] * min(brought[x], need[x])
        for other in range(pieces):
            if not inside[other]:
                continue
            if sign > 0:
                for x in range(starts[piece], starts[piece + 1]):
                    brought[x] += rows[other, x]
            for x in range(starts[other], starts[other + 1]):
                more = sign * rows[piece, x]
                if more != 0.0:
                    before = brought[x]
                    brought[x] = before + more
                    total += price[x] * (min(before + more, need[x]) - min(before, need[x]))
        if sign > 0:
            inside[piece] = True
            for x in range(starts[piece], starts[piece + 1]):
                total += price[x] * min(brought[x], need[x])
        else:
            for x in range(starts[piece], starts[piece + 1]):
                brought[x] = 0.0


@kernel
def count_brought(block: Ints, starts: Ints, rows: Floats, need: Floats, place: Ints, brought: Floats) -> None:
    """Add the share of each scarce cell's need that one partition of an attribute brings.

    IN: block of each piece; place, the column of each scarce cell
    OUT: brought, by scarce cell
    """
    pieces = starts.size - 1
    found = np.zeros(need.size)
    for own in range(pieces):
        for other in range(pieces):
            if other != own and block[other] == block[own]:
                for x in range(starts[own], starts[own + 1]):
                    found[x] += rows[other, x]
    for r in range(place.size):
        x = place[r]
        brought[r] += min(found[x], need[x]) / need[x]
