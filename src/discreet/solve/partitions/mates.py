"""A lower bound from what scarce cells need: mates in some attribute, or else they are suppressed.

The bound of each attribute alone takes all others at their coarsest, as if merging their values were free. Here it is
paid for. Each scarce cell has a *price*: it is charged in full, and attributes earn it back by the blocks that bring
mates. The least that remains is found for each attribute by itself, whatever the prices; see README.md for the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.solve.partitions.kernels.mates import (
    Mates,
    ScarceCells,
    count_brought,
    find_ends,
    find_mates,
    reward_blocks,
)
from discreet.solve.partitions.open_partitions import OpenPartitions, PricedPartitions

__all__ = ["HASTY_PAIRS", "MatePrices", "NodeNeeds"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

HASTY_PAIRS = 500_000
"""A node with more pairs of a scarce cell and another is large: its mates are found in haste."""
_HASTE = 0.25
"""Then, cells are listed together under an attribute if no later one costs more than this many times as much."""
_ROUNDING = 1e-12
_LESS, _MORE, _MISSES = 0.66, 1.3, 2
"""Steps get shorter if the bound does not rise so often in a row, and longer if it still rises at their end."""
_FRESH = 0.1
"""The share of the last slope in the direction of the next step."""


@dataclass(frozen=True, eq=False)
class NodeNeeds:
    """The open attributes of a node, its cells and what the scarce ones among them need."""

    partitions: Sequence[OpenPartitions]
    """Of each open attribute, the one with most items last."""
    extra: Sequence[Floats]
    """(pieces, pieces) what it costs at least to join two pieces."""
    certain: float
    """Cost that is certain."""
    cost: Sequence[Floats]
    """What each block costs at least; the price of a scarce cell is not part of it."""
    gone: Sequence[Floats]
    """Rows suppressed in each block."""
    group: Ints
    """(cells,) the combination of the coarsest blocks of all attributes."""
    piece: Ints
    """(open attributes, cells)"""
    weight: Floats
    """(cells,)"""
    scarce: NDArray[np.bool_]
    """(cells,)"""
    need: Floats
    """(scarce cells,) the rows they lack."""
    most: Floats
    """(scarce cells,) their highest price: the slack."""

    @cached_property
    def numbers(self) -> Ints:
        """(cells,) the number of each scarce cell, -1 for others."""
        return np.where(self.scarce, np.cumsum(self.scarce) - 1, -1)


class MatePrices:
    """Finds prices of the scarce cells of one node that make the bound high."""

    def __init__(self, needs: NodeNeeds, total: float, enough: float, hasty: bool) -> None:
        self.needs, self.enough = needs, enough
        pieces = [own.fine_blocks for own in needs.partitions]
        self.base = np.concatenate([[0], np.cumsum(pieces)]).astype(np.int64)
        self.place = np.empty((len(pieces), needs.need.size), dtype=np.int64)
        """(open attributes, scarce cells) the column of each scarce cell: they are sorted by their own piece."""
        self.starts: list[Ints] = []
        self.need: list[Floats] = []
        for x, many in enumerate(pieces):
            own = needs.piece[x, needs.scarce]
            order = np.argsort(own, kind="stable")
            self.place[x, order] = np.arange(order.size)
            self.starts.append(np.searchsorted(own[order], np.arange(many + 1)).astype(np.int64))
            self.need.append(needs.need[order])
        self.steps = [own.walk().steps for own in needs.partitions]
        rows = self._mates(max(pieces), enough - total, hasty)
        self.rows = [rows[begin:end] for begin, end in zip(self.base[:-1], self.base[1:], strict=True)]

    def _mates(self, widest: int, room: float, hasty: bool) -> Floats:
        """Return the rows of mates; attributes whose values are dear to join come first."""
        needs = self.needs
        extra = np.full((len(needs.extra), widest, widest), np.inf)
        dear = np.zeros(len(needs.extra))
        for x, own in enumerate(needs.extra):
            extra[x, : own.shape[0], : own.shape[0]] = own
            rows = np.bincount(needs.piece[x], weights=needs.weight, minlength=widest)
            apart = float(rows.sum() ** 2 - rows @ rows)
            dear[x] = rows @ np.minimum(extra[x], room) @ rows / apart if apart else 0.0
        turn = np.argsort(-dear, kind="stable")
        order = np.lexsort((*needs.piece[turn[::-1]], needs.group))
        cells = ScarceCells(
            piece=np.ascontiguousarray(needs.piece[turn[:, np.newaxis], order].T),
            scarce=needs.numbers[order],
            begin=np.empty(order.size, dtype=np.int64),
            end=np.empty((turn.size + 1, order.size), dtype=np.int64),
            before=np.concatenate([[0.0], np.cumsum(needs.weight[order])]),
        )
        find_ends(needs.group[order], cells.piece, cells.begin, cells.end)
        found = np.zeros((int(self.base[-1]), needs.need.size))
        mates = Mates(found, self.base[turn], self.place[turn])
        find_mates(cells, extra[turn], room, _HASTE if hasty else np.inf, mates)
        return found

    def raised(
        self, price: Floats, rounds: int, reach: float, interrupted: Callable[[], bool]
    ) -> tuple[float, list[PricedPartitions], Floats, float]:
        """Return the highest bound found from these prices on, its prices of blocks and scarce cells, and the reach.

        The volume algorithm (Barahona and Anbil, 2000): each step starts at the best prices so far, in a direction that
        averages the slopes seen, since single slopes point to and fro between a few partitions. ``reach`` is the share
        of the gap to ``enough`` that a step aims at; it grows and shrinks with success.
        """
        best_price = np.minimum(price, self.needs.most)
        best, best_priced = self._bound(best_price)
        slope = average = self._slope(best_priced) if best < np.inf else np.zeros(0)
        missed = 0
        for _ in range(rounds):
            if best >= self.enough or interrupted():
                break
            direction = self._inward(average, best_price)
            if not direction.any():
                average, direction = slope, self._inward(slope, best_price)
                reach *= _LESS
                if not direction.any():
                    break
            length = reach * (self.enough - best) / float(direction @ direction)
            price = np.clip(best_price + length * direction, 0.0, self.needs.most)
            total, priced = self._bound(price)
            if total == np.inf:
                return total, priced, price, reach
            here = self._slope(priced)
            if total > best:
                if float(direction @ here) >= 0:
                    reach *= _MORE
                best, best_priced, best_price, slope, missed = total, priced, price, here, 0
            else:
                missed += 1
                if missed == _MISSES:
                    reach, missed = reach * _LESS, 0
            average = _FRESH * here + (1 - _FRESH) * average
        return best, best_priced, best_price, reach

    def _slope(self, priced: Sequence[PricedPartitions]) -> Floats:
        """Return by how much the bound rises with each price: the share of the need that is not brought."""
        return 1.0 - self._brought(priced)

    def _inward(self, slope: Floats, price: Floats) -> Floats:
        """Return a slope without what leads out of the possible prices."""
        return np.where(((price <= 0) & (slope < 0)) | ((price >= self.needs.most) & (slope > 0)), 0.0, slope)

    def _bound(self, price: Floats) -> tuple[float, list[PricedPartitions]]:
        """Return the bound with these prices, and the attributes priced; infinite if it is at least ``enough``."""
        needs = self.needs
        total = needs.certain + float(price.sum()) * (1 - _ROUNDING)
        costs: list[Floats] = []
        for x, cost in enumerate(needs.cost):
            per_row = np.empty_like(price)
            per_row[self.place[x]] = price / needs.need
            reward = np.empty(cost.size)
            reward_blocks(self.steps[x], self.starts[x], self.rows[x], self.need[x], per_row, reward)
            costs.append(cost - reward)
        floors = [own.floor(cost) for own, cost in zip(needs.partitions, costs, strict=True)]
        found: list[PricedPartitions] = []
        for x, own in enumerate(needs.partitions):
            room = self.enough - total - sum(floors[x + 1 :])
            found.append(own.priced(costs[x], needs.gone[x], room))
            total += found[-1].least
            if total == np.inf:
                break
        return total, found

    def _brought(self, priced: Sequence[PricedPartitions]) -> Floats:
        """Return the share of each need that the cheapest partitions bring."""
        brought = np.zeros(self.needs.need.size)
        for x, (partitions, own) in enumerate(zip(self.needs.partitions, priced, strict=True)):
            block = np.empty(partitions.fine_blocks, dtype=np.int64)
            block[partitions.fine] = own.cheapest()
            count_brought(block, self.starts[x], self.rows[x], self.need[x], self.place[x], brought)
        return brought
