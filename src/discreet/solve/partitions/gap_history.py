"""What deciding a gap did to the bound at earlier nodes, to choose the next gap to divide on.

These are the pseudo-costs of integer programming (Bénichou et al., *Experiments in mixed-integer linear programming*,
1971). Any choice is valid: it only matters for the number of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.partitions.kernels.runs import CUT
from discreet.solve.partitions.runs import PricedRuns

__all__ = ["GapDecision", "GapHistory"]

Floats = NDArray[np.float64]

_LEAST = 0.01
"""No decision is expected to close less than this share of the gap to the incumbent."""
_UNKNOWN = 0.1
"""The share expected before anything was seen."""


class GapDecision(NamedTuple):
    """A gap that was cut or closed, and the bound of the node before that."""

    attribute: int
    gap: int
    decision: int
    bound: float


class GapHistory:
    """Which share of the distance between bound and incumbent was closed by cutting and by closing each gap."""

    def __init__(self, items: Sequence[int]) -> None:
        self.closed = [np.zeros((2, count)) for count in items]
        """(attribute)(cut or closed, gap): sum of the shares, and ..."""
        self.seen = [np.zeros((2, count)) for count in items]
        """... how many there were."""

    def learn(self, made: GapDecision, bound: float, enough: float) -> None:
        """Remember the bound after a decision; nothing more was needed than ``enough``."""
        room = enough - made.bound
        if not 0 < room < np.inf:
            return
        side = 0 if made.decision == CUT else 1
        self.closed[made.attribute][side, made.gap] += min(max((bound - made.bound) / room, 0.0), 1.0)
        self.seen[made.attribute][side, made.gap] += 1

    def best_gap(self, priced: Sequence[tuple[int, PricedRuns]], room: float) -> tuple[int, PricedRuns, int]:
        """Return the attribute, its prices and the piece after the gap where both decisions should close most."""
        seen = sum(float(each.sum()) for each in self.seen)
        mean = sum(float(each.sum()) for each in self.closed) / seen if seen else _UNKNOWN
        best, chosen = -1.0, (-1, priced[0][1], -1)
        for a, own in priced:
            pieces, gaps, certain = own.open_gaps(room)
            share = np.maximum(self._expected(a, mean)[:, gaps], certain)
            score = np.maximum(share, _LEAST).prod(axis=0)
            x = int(np.argmax(score))
            if score[x] > best:
                best, chosen = float(score[x]), (a, own, int(pieces[x]))
        return chosen

    def _expected(self, a: int, mean: float) -> Floats:
        """Return the mean share of each gap, drawn to that of the attribute and, with nothing seen, to that of all."""
        closed, seen = self.closed[a], self.seen[a]
        times = seen.sum(axis=1, keepdims=True)
        of_attribute = np.where(times > 0, closed.sum(axis=1, keepdims=True) / np.maximum(times, 1), mean)
        return np.asarray((closed + of_attribute) / (seen + 1))
