"""Partitions of a sequence of items into runs: what is decided of one, and the cheapest that is left.

Between each two neighbours is a gap, which is open, cut or closed. Items with closed gaps between them are one *piece*;
pieces with no cut between them are one *stretch*, the longest run that is still possible. Runs are told by their first
and last piece.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.blocks import RECORD

__all__ = [
    "CLOSED",
    "CUT",
    "OPEN",
    "cheapest_runs",
    "decide_gaps",
    "read_runs",
    "spread",
    "weigh_gaps",
    "widest_rates",
    "write_script",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Marks = NDArray[np.int8]

OPEN, CUT, CLOSED = range(3)


@kernel
def spread(gaps: Marks, piece: Ints, stretch: Ints, first: Ints, last: Ints, ends: Ints) -> int:
    """Number the piece and stretch of each item; returns the number of pieces.

    ``gaps[i]`` is the gap before item ``i``. ``first`` and ``last`` are the items at the ends of each piece, ``ends``
    the last piece of its stretch.
    """
    pieces, stretches = 0, 0
    for i in range(gaps.size):
        if i > 0 and gaps[i] != CLOSED:
            pieces += 1
        if i > 0 and gaps[i] == CUT:
            stretches += 1
        if i == 0 or gaps[i] != CLOSED:
            first[pieces] = i
        last[pieces] = i
        piece[i] = pieces
        stretch[i] = stretches
    end = pieces
    for p in range(pieces, -1, -1):
        if p < pieces and gaps[first[p + 1]] == CUT:
            end = p
        ends[p] = end
    return pieces + 1


@kernel
def write_script(
    pieces: int, first: Ints, last: Ints, ends: Ints, allowed: Flags, script: Ints, begin: Ints, end: Ints
) -> tuple[int, int]:
    """Write a script that asks for each allowed run once; returns its length and how many runs it asks for.

    Runs with the same first piece are walked through one after the other, in turns upwards and downwards, so that each
    step changes one piece.
    """
    length, asked = 0, 0
    low, high = 0, -1  # the block holds pieces low..high
    for p in range(pieces):
        furthest = p
        for q in range(ends[p], p, -1):
            if allowed[first[p], last[q]]:
                furthest = q
                break
        while low < p:
            if high >= low:
                script[length] = -(low + 1)
                length += 1
            low += 1
        if high < p:
            high = p - 1
        upwards = high < p
        while high > furthest and not upwards:
            script[length] = -(high + 1)
            length += 1
            high -= 1
        if not upwards:
            while high < furthest:
                high += 1
                script[length] = high + 1
                length += 1
            while True:
                if allowed[first[p], last[high]]:
                    script[length] = RECORD
                    length += 1
                    begin[asked], end[asked] = p, high
                    asked += 1
                if high == p:
                    break
                script[length] = -(high + 1)
                length += 1
                high -= 1
        else:
            while high < furthest:
                high += 1
                script[length] = high + 1
                length += 1
                if allowed[first[p], last[high]]:
                    script[length] = RECORD
                    length += 1
                    begin[asked], end[asked] = p, high
                    asked += 1
    while low <= high:
        script[length] = -(low + 1)
        length += 1
        low += 1
    return length, asked


@kernel
def cheapest_runs(
    pieces: int, begin: Ints, end: Ints, cost: Floats, asked: int, forward: Floats, backward: Floats
) -> float:
    """Find the cheapest way to cover the first pieces, and the last ones, with runs; returns that for all.

    Runs must be sorted by their first piece.
    """
    for p in range(pieces + 1):
        forward[p] = np.inf
        backward[p] = np.inf
    forward[0] = 0.0
    backward[pieces] = 0.0
    for r in range(asked):
        forward[end[r] + 1] = min(forward[end[r] + 1], forward[begin[r]] + cost[r])
    for r in range(asked - 1, -1, -1):
        backward[begin[r]] = min(backward[begin[r]], cost[r] + backward[end[r] + 1])
    return float(forward[pieces])


@kernel
def read_runs(
    pieces: int, begin: Ints, end: Ints, cost: Floats, asked: int, backward: Floats, first: Ints, gaps: Marks
) -> None:
    """Decide all gaps as in the cheapest cover."""
    at, r = 0, 0
    while at < pieces:
        least, chosen = np.inf, -1
        while r < asked and begin[r] < at:
            r += 1
        while r < asked and begin[r] == at:
            if cost[r] + backward[end[r] + 1] < least:
                least, chosen = cost[r] + backward[end[r] + 1], end[r]
            r += 1
        for p in range(at + 1, chosen + 1):
            gaps[first[p]] = CLOSED
        at = chosen + 1
        if at < pieces:
            gaps[first[at]] = CUT


@kernel
def decide_gaps(
    pieces: int,
    begin: Ints,
    end: Ints,
    asked: int,
    out: Flags,
    first: Ints,
    last: Ints,
    gaps: Marks,
    allowed: Flags,
    covered: Ints,
) -> int:
    """Forbid the runs that are out and decide the gaps that leave no choice.

    Returns how many were decided, or -1 if there is no partition left.
    """
    decided = 0
    for p in range(pieces + 1):
        covered[p] = 0
    ending = np.zeros(pieces + 1, dtype=np.bool_)
    beginning = np.zeros(pieces + 1, dtype=np.bool_)
    for r in range(asked):
        if out[r]:
            allowed[first[begin[r]], last[end[r]]] = False
            continue
        covered[begin[r] + 1] += 1
        covered[end[r] + 1] -= 1
        beginning[begin[r]] = True
        ending[end[r] + 1] = True
    across = 0
    for p in range(1, pieces):
        across += covered[p]
        if gaps[first[p]] != OPEN:
            continue
        may_cut = beginning[p] and ending[p]
        if not may_cut and across == 0:
            return -1
        if not may_cut:
            gaps[first[p]] = CLOSED
            decided += 1
        elif across == 0:
            gaps[first[p]] = CUT
            decided += 1
    return decided


@kernel
def weigh_gaps(
    pieces: int,
    begin: Ints,
    end: Ints,
    cost: Floats,
    asked: int,
    forward: Floats,
    backward: Floats,
    closed: Floats,
    cut: Floats,
) -> None:
    """Find for the gap before each piece the cost of the cheapest cover with the gap closed, and with a cut there."""
    for p in range(pieces):
        closed[p] = np.inf
        cut[p] = forward[p] + backward[p]
    for r in range(asked):
        whole = forward[begin[r]] + cost[r] + backward[end[r] + 1]
        for p in range(begin[r] + 1, end[r] + 1):
            closed[p] = min(closed[p], whole)


@kernel
def widest_rates(pieces: int, begin: Ints, end: Ints, rates: Floats, most: Floats) -> None:
    """Find for each piece the largest rate of a run that holds it."""
    for r in range(begin.size):
        for p in range(begin[r], end[r] + 1):
            most[p] = max(most[p], rates[r])
