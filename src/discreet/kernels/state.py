"""The state of the lattice search: what is known beforehand, the nodes evaluated, the open boxes, the prediction.

Few arrays, because kernels take longer to compile the more they are given; constants name their columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ACTIVE",
    "BOUND",
    "CHAIN_HIGH",
    "CHAIN_LOW",
    "CLOSED",
    "COUNTERS",
    "CUT_ABOVE",
    "CUT_BELOW",
    "DEEP",
    "EVALUATED",
    "FACTS",
    "FREE",
    "FREED",
    "HALVED",
    "HEAP",
    "HEAPED",
    "HIT",
    "INCUMBENT",
    "INFINITE",
    "LIMIT",
    "LOW",
    "LOWER",
    "MARGIN",
    "NODE",
    "PAUSE",
    "PER_ROW",
    "REMOVED",
    "ROWS",
    "SEEN",
    "SEPARABLE",
    "SIDE",
    "STACK",
    "STACKED",
    "TOLERANCE",
    "TRIES",
    "UP",
    "UPPER",
    "WAIT",
    "WORST",
    "Search",
]

INFINITE = 1e300
TOLERANCE = 1e-14
"""Costs closer than this, relatively, count as equal: what is lost to rounding, and no more."""


class Search(NamedTuple):
    """Everything the search works on."""

    base: NDArray[np.float64]
    """(m, levels) what attribute i at level l costs over all rows, where costs add up over attributes; else zeros."""
    entropy: NDArray[np.float64]
    """(m, levels)"""
    margin: NDArray[np.float64]
    """(m, levels) what suppressing any row adds at least in attribute i at level l or below, where costs add up."""
    levels: NDArray[np.int64]
    """(2, m) lowest and highest level."""
    facts: NDArray[np.float64]
    """By the names in FACTS."""
    node: NDArray[np.int16]
    """(evaluated, m) the nodes evaluated so far."""
    bits: NDArray[np.uint64]
    """(evaluated + 4, words) the same nodes as sets of steps taken up the lattice, so that comparing is one operation.
    The last four rows are scratch space."""
    part: NDArray[np.float64]
    """(evaluated, 3) their lower part, upper part, and the rows suppressed there and at every node below."""
    corner: NDArray[np.int16]
    """(boxes, 2, m) low and high corner of each box."""
    number: NDArray[np.float64]
    """(boxes, 4) bound, the lower and upper part it is made of, and what suppressing a row adds at least."""
    link: NDArray[np.int64]
    """(4, boxes) how many evaluated nodes each box has seen; the heap by bound; the stack; the free places."""
    count: NDArray[np.int64]
    """By the names in COUNTERS."""
    best: NDArray[np.float64]
    """Cost of the incumbent, and corrections of the two predictions for the box at hand."""
    vector: NDArray[np.int64]
    """(7, m) the incumbent, and scratch space."""
    model: NDArray[np.float64]
    """(m + 3, m + 1) the regression: covariance, then the weights for log removed rows and for log lower part."""


FACTS = ("separable", "limit", "rows", "worst", "per_row")
"""Whether ``base`` is the exact lower part of every node; how many rows may be suppressed; how many there are; the cost
of suppressing them all; what suppressing one adds to the cost, roughly (for prediction, where ``base`` is zero)."""
SEPARABLE, LIMIT, ROWS, WORST, PER_ROW = range(5)
LOWER, UPPER, REMOVED = range(3)
BOUND, LOW, UP, MARGIN = range(4)
SEEN, HEAPED, STACKED, FREED = range(4)
INCUMBENT = 6

COUNTERS = (
    "evaluated",
    "heap",
    "stack",
    "free",
    "active",
    "tries",
    "side",
    "hit",
    "node",
    "wait",
    "pause",
    "deep",
    "closed",
    "cut_below",
    "cut_above",
    "halved",
    "chain_low",
    "chain_high",
)
"""Names of the positions in Search.count."""
EVALUATED, HEAP, STACK, FREE, ACTIVE, TRIES, SIDE, HIT, NODE, WAIT, PAUSE, DEEP = range(12)
CLOSED, CUT_BELOW, CUT_ABOVE, HALVED, CHAIN_LOW, CHAIN_HIGH = range(12, 18)
