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

__all__ = ["Mates", "ScarceCells", "count_brought", "find_ends", "find_mates", "reward_blocks"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class ScarceCells(NamedTuple):
    """The cells of a node in lexicographic order, and the scarce ones among them.

    Cells are sorted by their group (the coarsest blocks of all attributes), then by their pieces of the open
    attributes in turn.
    """

    piece: Ints
    """(cells, open attributes)"""
    scarce: Ints
    """(cells,) the number of each scarce cell, -1 for others."""
    begin: Ints
    """(cells,) the first cell of the same group, ..."""
    end: Ints
    """(1 + open attributes, cells) ... its end, and the ends of those that also agree in the first attributes."""
    before: Floats
    """(cells + 1,) rows of the cells before each."""


class Mates(NamedTuple):
    """Rows of mates by open attribute: each mate is listed under one attribute in which it differs."""

    rows: Floats
    """(pieces of all attributes, scarce cells) rows of mates with a piece; cells in the order of ``place``."""
    base: Ints
    """(open attributes,) where the pieces of each attribute begin."""
    place: Ints
    """(open attributes, scarce cells) the column of each scarce cell, which are sorted by their own piece."""


@kernel
def find_ends(group: Ints, piece: Ints, begin: Ints, end: Ints) -> None:
    """Find where runs of cells end that agree in their group and in the first attributes.

    IN: group, piece in lexicographic order
    OUT: begin, end; see :class:`ScarceCells`
    """
    count, attributes = piece.shape
    for x in range(count):
        begin[x] = begin[x - 1] if x > 0 and group[x] == group[x - 1] else x
    for x in range(count - 1, -1, -1):
        same = x + 1 < count and group[x] == group[x + 1]
        end[0, x] = end[0, x + 1] if same else x + 1
        for d in range(attributes):
            same = same and piece[x, d] == piece[x + 1, d]
            end[d + 1, x] = end[d + 1, x + 1] if same else x + 1


@kernel
def find_mates(cells: ScarceCells, extra: Floats, room: float, haste: float, mates: Mates) -> None:
    """List the mates of each scarce cell under the attribute in which joining them costs most.

    Two cells are no mates if joining the pieces in which they differ costs ``room`` or more. Cells that agree in the
    first attributes are looked at together. They are listed together as soon as what joining costs most so far is at
    least ``haste`` times what it can cost in any later attribute: some of them may be no mates, and some would belong
    to another attribute, which is faster and still valid.

    IN: extra (open attributes, pieces, pieces), what it costs at least to join two pieces
    OUT: mates.rows, 0 before
    """
    attributes, pieces = extra.shape[0], extra.shape[1]
    highest = np.zeros((attributes, pieces))
    for a in range(attributes):
        for p in range(pieces):
            for q in range(pieces):
                if extra[a, p, q] < room:
                    highest[a, p] = max(highest[a, p], extra[a, p, q])
    later = np.zeros(attributes + 1)
    for t in range(cells.scarce.size):
        r = cells.scarce[t]
        if r < 0:
            continue
        for a in range(attributes - 1, -1, -1):
            later[a] = max(later[a + 1], highest[a, cells.piece[t, a]])
        x = cells.begin[t]
        while x < cells.end[0, t]:
            total, most, chosen, depth = 0.0, -1.0, 0, attributes
            for a in range(attributes):
                p, q = cells.piece[t, a], cells.piece[x, a]
                if p != q:
                    total += extra[a, p, q]
                    if extra[a, p, q] > most:
                        most, chosen = extra[a, p, q], a
                    if total >= room or most >= haste * later[a + 1]:
                        depth = a + 1
                        break
            after = cells.end[depth, x]
            if total < room and most >= 0.0:  # otherwise it is no mate, or the cell itself
                rows = cells.before[after] - cells.before[x]
                mates.rows[mates.base[chosen] + cells.piece[x, chosen], mates.place[chosen, r]] += rows
            x = after


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
