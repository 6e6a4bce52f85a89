"""One partition of an attribute into any blocks: what choices among sets come down to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.kernels.blocks import RECORD
from discreet.solve._choices import Choices, Priced, Script

__all__ = ["OnePartition"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class OnePartition(Choices):
    """The partition of ``whole`` with these blocks, which are numbered by first appearance."""

    decided = True

    def __init__(self, whole: Choices, blocks: Ints, rates: Floats) -> None:
        self.whole, self.items, self.fine, self.top, self.rates = whole, whole.items, blocks, blocks, rates

    def most_rates(self) -> Floats:
        """Return the rate of the block of each item."""
        return self.rates[self.fine]

    def near(self) -> NDArray[np.bool_]:
        """Return that no two blocks come together."""
        return np.eye(self.fines, dtype=np.bool_)

    def script(self) -> Script:
        """Return how to put in and take out each block."""
        block = np.arange(1, self.fines + 1)
        return Script(np.stack([block, np.full_like(block, RECORD), -block], axis=1).reshape(-1), self.rates)

    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> Priced:
        """Add up the costs of all blocks."""
        return _Priced(self, cost, gone)

    def fixed(self, blocks: IntArray) -> Choices:
        """Return another partition."""
        return self.whole.fixed(blocks)

    def most_general(self) -> Ints:
        """Return the most general partition of the scheme."""
        return self.whole.most_general()

    def most_specific(self) -> Ints:
        """Return the most specific partition of the scheme."""
        return self.whole.most_specific()

    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block of each leaf."""
        return self.whole.leaf_blocks(blocks)


class _Priced(Priced):
    """One partition and what it costs."""

    def __init__(self, choices: OnePartition, cost: Floats, gone: Floats) -> None:
        self.choices, self.least, self.fewest = choices, float(cost.sum()), float(gone.sum())

    def cheapest(self) -> Ints:
        """Return the partition."""
        return self.choices.fine

    def restricted(self, room: float, limit: float) -> tuple[Choices, Priced | None] | None:
        """Return the partition if it is cheap enough."""
        return (self.choices, self) if self.least < room and self.fewest <= limit else None

    def weight(self, room: float) -> float:
        """Return that nothing is open."""
        return 0.0

    def size(self) -> int:
        """Return that nothing is open."""
        return 0

    def branches(self, room: float, limit: float) -> list[tuple[float, Choices]]:
        """Return the partition."""
        return [(self.least, self.choices)]
