"""A lower bound from what scarce cells need: mates in some attribute, or else they are suppressed.

The bound of each attribute alone takes all others at their coarsest, as if merging their values were free. Here it is
paid for. Each scarce cell has a *price*: it is charged in full, and attributes earn it back by the blocks that bring
mates. The least that remains is found for each attribute by itself, whatever the prices; see README.md for the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.solve.partitions.kernels.mates import Mates, ScarceCells, count_brought, find_mates, reward_blocks, sort_ends
from discreet.solve.partitions.open_partitions import OpenPartitions, PricedPartitions

__all__ = ["MatePrices", "NodeNeeds"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDING = 1e-12
_PAIRS = 1_000_000
"""With more pairs of cells, mates are found in haste."""
_STEP, _LESS = 1.0, 0.6
"""The first step, as a share of Polyak's, and by what it is multiplied if the bound does not rise."""


@dataclass(frozen=True, eq=False)
class NodeNeeds:
    """The scarce cells of a node, as the bound needs them."""

    node: Sequence[OpenPartitions]
    open: Sequence[int]
    """The open attributes, those with most items last."""
    certain: float
    """Cost that is certain."""
    cost: Sequence[Floats]
    """What each block of the open attributes costs at least; a row that is suppressed costs ..."""
    gone: Sequence[Floats]
    priced: Sequence[PricedPartitions]
    """The open attributes by another bound."""
    group: Ints
    """(cells,) the coarsest blocks of all attributes."""
    piece: Ints
    """(open attributes, cells)"""
    weight: Floats
    """(cells,)"""
    scarce: NDArray[np.bool_]
    """(cells,)"""
    need: Floats
    """Rows that each scarce cell lacks."""
    most: Floats
    """The highest price of each scarce cell: its slack."""

    @cached_property
    def numbers(self) -> Ints:
        """(cells,) the number of each scarce cell, -1 for others."""
        return np.where(self.scarce, np.cumsum(self.scarce) - 1, -1)


class MatePrices:
    """Finds prices of the scarce cells of one node that make the bound high."""

    def __init__(self, needs: NodeNeeds, room: float, enough: float) -> None:
        self.needs, self.enough = needs, enough
        count = needs.need.size
        pieces = [needs.node[a].fine_blocks for a in needs.open]
        self.base = np.concatenate([[0], np.cumsum(pieces)]).astype(np.int64)
        self.place = np.empty((len(pieces), count), dtype=np.int64)
        self.starts: list[Ints] = []
        for x, many in enumerate(pieces):
            own = needs.piece[x, needs.scarce]
            self.place[x, np.argsort(own, kind="stable")] = np.arange(count)
            self.starts.append(np.searchsorted(np.sort(own), np.arange(many + 1)).astype(np.int64))
        self.walks = [needs.node[a].walk().steps for a in needs.open]
        self.rows = self._mates(max(pieces), room)

    def _mates(self, widest: int, room: float) -> Floats:
        """Return the rows of mates, with attributes first whose values are dear to join."""
        needs = self.needs
        extra = np.full((len(needs.open), widest, widest), np.inf)
        dear = np.empty(len(needs.open))
        for x, priced in enumerate(needs.priced):
            joined = priced.joined()
            extra[x, : joined.shape[0], : joined.shape[0]] = np.maximum(joined - priced.least, 0.0)
            rows = np.bincount(needs.piece[x], weights=needs.weight, minlength=widest)
            apart = rows.sum() ** 2 - rows @ rows
            dear[x] = rows @ np.minimum(extra[x], room) @ rows / apart if apart else 0.0
        turn = np.argsort(-dear, kind="stable")
        order = np.lexsort((*needs.piece[turn[::-1]], needs.group))
        cells = ScarceCells(
            piece=needs.piece[turn[:, np.newaxis], order],
            scarce=needs.numbers[order],
            begin=np.empty(order.size, dtype=np.int64),
            end=np.empty((turn.size + 1, order.size), dtype=np.int64),
            before=np.concatenate([[0.0], np.cumsum(needs.weight[order])]),
        )
        sort_ends(needs.group[order], cells.piece, cells.begin, cells.end)
        sizes = np.bincount(needs.group)
        pairs = sizes @ np.bincount(needs.group, weights=needs.scarce, minlength=sizes.size)
        rows = np.zeros((int(self.base[-1]), needs.need.size))
        mates = Mates(rows, self.base[turn], self.place[turn])
        find_mates(cells, extra[turn], room, float(__import__('os').environ.get('HASTE', '1')) if pairs > _PAIRS else np.inf, mates)
        return rows

    def raised(self, price: Floats, rounds: int) -> tuple[float, list[PricedPartitions], Floats] | None:
        """Return the highest bound found, its prices of blocks and of scarce cells; None if nothing is left."""
        best: tuple[float, list[PricedPartitions], Floats] | None = None
        step, price = _STEP, np.minimum(price, self.needs.most)
        for _ in range(rounds):
            total, priced = self._bound(price)
            if best is None or total > best[0]:
                best = total, priced, price
            else:
                step *= _LESS
            if total >= self.enough:
                return best
            slope = 1.0 - self._brought(priced)
            slope[((price <= 0) & (slope < 0)) | ((price >= self.needs.most) & (slope > 0))] = 0.0
            length = float(slope @ slope)
            if not length:
                break
            price = np.clip(price + step * (self.enough - total) / length * slope, 0.0, self.needs.most)
        return best

    def _bound(self, price: Floats) -> tuple[float, list[PricedPartitions]]:
        """Return the bound with these prices, infinite if it exceeds what is of interest."""
        needs = self.needs
        total = needs.certain + float(price.sum()) * (1 - _ROUNDING)
        found: list[PricedPartitions] = []
        for x, a in enumerate(needs.open):
            place, last = self.place[x], x == len(needs.open) - 1
            own_need, own_price = np.empty_like(price), np.empty_like(price)
            own_need[place], own_price[place] = needs.need, price / needs.need
            reward = np.empty(needs.cost[x].size)
            rows = self.rows[self.base[x] : self.base[x + 1]]
            reward_blocks(self.walks[x], self.starts[x], rows, own_need, own_price, reward)
            room = self.enough - total if last else np.inf
            priced = needs.node[a].priced(needs.cost[x] - reward, needs.gone[x], room)
            found.append(priced)
            total += priced.least
            if total == np.inf:
                break
        return total, found

    def _brought(self, priced: Sequence[PricedPartitions]) -> Floats:
        """Return the share of each need that the cheapest partitions bring."""
        needs = self.needs
        brought = np.zeros(needs.need.size)
        for x, (a, own) in enumerate(zip(needs.open, priced, strict=True)):
            fine = needs.node[a].fine
            block = np.empty(needs.node[a].fine_blocks, dtype=np.int64)
            block[fine] = own.cheapest()
            own_need = np.empty_like(needs.need)
            own_need[self.place[x]] = needs.need
            rows = self.rows[self.base[x] : self.base[x + 1]]
            count_brought(block, self.starts[x], rows, own_need, self.place[x], brought)
        return brought
