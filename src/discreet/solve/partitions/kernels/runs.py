"""Partitions of a sequence of items into runs: what is decided, and the cheapest one left.

Between each two neighbours is a *gap*, which is open, cut or closed. Items joined by closed gaps are one *piece*;
pieces without a cut between them are one *stretch*, the longest run still possible. A run is given by its first and
last piece.

As what a run costs does not depend on the other runs, the cheapest partition is a shortest path from the first piece to
the end, with runs as edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import kernel
from discreet.solve.partitions.kernels.blocks import RECORD

__all__ = [
    "CLOSED",
    "CUT",
    "OPEN",
    "cheapest_runs",
    "decide_gaps",
    "find_pieces",
    "gap_costs",
    "highest_rates",
    "join_runs",
    "read_runs",
    "write_run_walk",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Marks = NDArray[np.int8]

OPEN, CUT, CLOSED = range(3)


@kernel
def find_pieces(gaps: Marks, piece: Ints, stretch: Ints, first: Ints, last: Ints, ends: Ints) -> int:
    """Number the piece and the stretch of each item; returns the number of pieces.

    IN: gaps[i], the gap before item i
    OUT: piece, stretch, by item; first, last item of each piece; ends, the last piece of its stretch
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
def write_run_walk(
    pieces: int, first: Ints, last: Ints, ends: Ints, allowed: Flags, steps: Ints, begin: Ints, end: Ints
) -> tuple[int, int]:
    """Write a walk that asks for each allowed run once; returns its length and the number of runs.

    Runs with the same first piece are visited in a row, in turns growing and shrinking: each step changes one piece,
    and the walk starts where the one before ended.

    IN: allowed[i, j], whether items i to j may be a run
    OUT: steps; begin, end: first and last piece of each run, sorted by first piece
    """
    length, runs = 0, 0
    low, high = 0, -1  # the block holds pieces low..high
    for p in range(pieces):
        furthest = p
        for q in range(ends[p], p, -1):
            if allowed[first[p], last[q]]:
                furthest = q
                break
        while low < p:
            if high >= low:
                steps[length] = -(low + 1)
                length += 1
            low += 1
        if high < p:
            high = p - 1
        growing = high < p
        while high > furthest and not growing:
            steps[length] = -(high + 1)
            length += 1
            high -= 1
        if not growing:
            while high < furthest:
                high += 1
                steps[length] = high + 1
                length += 1
            while True:
                if allowed[first[p], last[high]]:
                    steps[length] = RECORD
                    length += 1
                    begin[runs], end[runs] = p, high
                    runs += 1
                if high == p:
                    break
                steps[length] = -(high + 1)
                length += 1
                high -= 1
        else:
            while high < furthest:
                high += 1
                steps[length] = high + 1
                length += 1
                if allowed[first[p], last[high]]:
                    steps[length] = RECORD
                    length += 1
                    begin[runs], end[runs] = p, high
                    runs += 1
    while low <= high:
        steps[length] = -(low + 1)
        length += 1
        low += 1
    return length, runs


@kernel
def cheapest_runs(pieces: int, begin: Ints, end: Ints, cost: Floats, forward: Floats, backward: Floats) -> float:
    """Find the cheapest cover of all pieces by runs, and of the first and the last pieces; returns the first.

    One pass in each direction suffices because runs are sorted by their first piece. With both, the cheapest cover that
    uses run r costs forward[begin[r]] + cost[r] + backward[end[r] + 1].

    OUT: forward[p], backward[p]: least cost of pieces before p, and from p on
    """
    for p in range(pieces + 1):
        forward[p] = np.inf
        backward[p] = np.inf
    forward[0] = 0.0
    backward[pieces] = 0.0
    for r in range(begin.size):
        forward[end[r] + 1] = min(forward[end[r] + 1], forward[begin[r]] + cost[r])
    for r in range(begin.size - 1, -1, -1):
        backward[begin[r]] = min(backward[begin[r]], cost[r] + backward[end[r] + 1])
    return float(forward[pieces])


@kernel
def read_runs(pieces: int, begin: Ints, end: Ints, cost: Floats, backward: Floats, first: Ints, gaps: Marks) -> None:
    """Decide all gaps as in the cheapest cover.

    OUT: gaps
    """
    at, r = 0, 0
    while at < pieces:
        least, chosen = np.inf, -1
        while r < begin.size and begin[r] < at:
            r += 1
        while r < begin.size and begin[r] == at:
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
    pieces: int, begin: Ints, end: Ints, out: Flags, first: Ints, last: Ints, gaps: Marks, allowed: Flags
) -> int:
    """Forbid the runs that are out, and decide the gaps they leave no choice for.

    A gap can be cut only if one run ends and another begins there, and closed only if a run spans it. How many span
    each gap is a running sum over where runs begin and end. Returns how many gaps were decided, or -1 if no partition
    is left.

    IN: out, by run; OUT: gaps, allowed
    """
    decided = 0
    change = np.zeros(pieces + 1, dtype=np.int64)
    ending = np.zeros(pieces + 1, dtype=np.bool_)
    beginning = np.zeros(pieces + 1, dtype=np.bool_)
    for r in range(begin.size):
        if out[r]:
            allowed[first[begin[r]], last[end[r]]] = False
            continue
        change[begin[r] + 1] += 1
        change[end[r] + 1] -= 1
        beginning[begin[r]] = True
        ending[end[r] + 1] = True
    spanning = 0
    for p in range(1, pieces):
        spanning += change[p]
        if gaps[first[p]] != OPEN:
            continue
        may_cut = beginning[p] and ending[p]
        if not may_cut and spanning == 0:
            return -1
        if not may_cut:
            gaps[first[p]] = CLOSED
            decided += 1
        elif spanning == 0:
            gaps[first[p]] = CUT
            decided += 1
    return decided


@kernel
def gap_costs(
    pieces: int, begin: Ints, end: Ints, cost: Floats, forward: Floats, backward: Floats, closed: Floats, cut: Floats
) -> None:
    """Find the cheapest cover with the gap before each piece closed, and with it cut.

    OUT: closed, cut
    """
    for p in range(pieces):
        closed[p] = np.inf
        cut[p] = forward[p] + backward[p]
    for r in range(begin.size):
        whole = forward[begin[r]] + cost[r] + backward[end[r] + 1]
        for p in range(begin[r] + 1, end[r] + 1):
            closed[p] = min(closed[p], whole)


@kernel
def highest_rates(begin: Ints, end: Ints, rates: Floats, most: Floats) -> None:
    """Find the highest rate of a run that holds each piece.

    OUT: most, 0 before
    """
    for r in range(begin.size):
        for p in range(begin[r], end[r] + 1):
            most[p] = max(most[p], rates[r])


@kernel
def join_runs(begin: Ints, end: Ints, cost: Floats, forward: Floats, backward: Floats, least: Floats) -> None:
    """Find the cheapest cover in which two pieces share a run.

    OUT: least (pieces, pieces), infinite before
    """
    pieces = least.shape[0]
    for r in range(begin.size):
        whole = forward[begin[r]] + cost[r] + backward[end[r] + 1]
        least[begin[r], end[r]] = min(least[begin[r], end[r]], whole)
    for length in range(pieces - 1, 0, -1):  # a run that holds two pieces holds those between them
        for p in range(pieces - length):
            whole = least[p, p + length]
            least[p + 1, p + length] = min(least[p + 1, p + length], whole)
            least[p, p + length - 1] = min(least[p, p + length - 1], whole)
            least[p + length, p] = whole
