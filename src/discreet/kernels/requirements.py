"""Whether a group keeps every privacy model, for groups that change row by row inside kernels.

A group is its number of rows and one histogram, in which the values of all sensitive columns that some model looks at
stand one after the other. Rows whose value is unknown are in a last cell that no model looks at: shares are of the
known values, and a group without any has nothing that thresholds or closeness could find fault with. Thresholds hold
the models' tolerances already.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel

__all__ = ["CAPS", "DISTINCT", "ENTROPY", "NODES", "ORDERED", "RECURSIVE", "Requirement", "clear", "holds", "tally"]

DISTINCT, ENTROPY, RECURSIVE, CAPS, NODES, ORDERED = 0, 1, 2, 3, 4, 5
"""Kinds of models beside k. NODES is t-closeness over the levels of a tree, or over the values alone."""


class Requirement(NamedTuple):
    """What every published group must keep, and the sensitive values of the points."""

    smallest: int
    """The fewest rows a group may have."""
    cells: int
    """The length of a histogram; 0 where the number of rows tells all."""
    complete: bool
    """Whether this is all there is to keep; if not, some models have no compiled form."""
    values: NDArray[np.int64]
    """(points, columns) where each point stands in the histogram, column by column."""
    kind: NDArray[np.int64]
    """(models,)"""
    first: NDArray[np.int64]
    """(models,) where the values the model looks at begin in the histogram."""
    last: NDArray[np.int64]
    """(models,) where they end."""
    limit: NDArray[np.float64]
    """(models,) l, c or t."""
    depth: NDArray[np.int64]
    """(models,) l of RECURSIVE; the number of levels of NODES."""
    start: NDArray[np.int64]
    """(models,) where the model's numbers begin in ``share``: the cap or the share in the table of each value."""
    share: NDArray[np.float64]
    member_start: NDArray[np.int64]
    """(models,) where levels x values begin in ``member``: the values, node by node, as ~value at a node's end."""
    member: NDArray[np.int64]


@inner_kernel
def tally(requirement: Requirement, j: int, rows: int, histogram: NDArray[np.int64]) -> None:  # histogram OUT
    """Count some rows of point j in a group's histogram; a negative number takes them out."""
    for column in range(requirement.values.shape[1]):
        histogram[requirement.values[j, column]] += rows


@inner_kernel
def clear(histogram: NDArray[np.int64]) -> None:  # histogram OUT
    """Empty a group's histogram."""
    for value in range(histogram.size):
        histogram[value] = 0


@inner_kernel
def holds(requirement: Requirement, size: int, histogram: NDArray[np.int64]) -> bool:
    """Whether a group keeps every model."""
    if size < requirement.smallest:
        return False
    for model in range(requirement.kind.size):
        kind, limit = requirement.kind[model], requirement.limit[model]
        counts = histogram[requirement.first[model] : requirement.last[model]]
        share = requirement.share[requirement.start[model] :]
        if kind == DISTINCT:
            fine = _different(counts) >= limit
        elif kind == ENTROPY:
            fine = np.exp(_entropy(counts)) >= limit
        elif kind == RECURSIVE:
            most, rest = _most_and_rest(counts, requirement.depth[model])
            fine = most < limit * rest
        elif kind == CAPS:
            fine = _within_caps(counts, _known(counts), share)
        elif kind == ORDERED:
            known = _known(counts)
            fine = known == 0 or _ordered_distance(counts, known, share) <= limit
        else:
            known = _known(counts)
            member, depth = requirement.member[requirement.member_start[model] :], requirement.depth[model]
            fine = known == 0 or _node_distance(counts, known, share, member, depth) <= limit
        if not fine:
            return False
    return True


@inner_kernel
def _different(counts: NDArray[np.int64]) -> int:
    different = 0
    for value in range(counts.size):
        different += counts[value] > 0
    return different


@inner_kernel
def _known(counts: NDArray[np.int64]) -> int:
    known = 0
    for value in range(counts.size):
        known += counts[value]
    return known


@inner_kernel
def _most_and_sum(counts: NDArray[np.int64]) -> tuple[int, int]:
    most, total = 0, 0
    for value in range(counts.size):
        most = max(most, counts[value])
        total += counts[value]
    return most, total


@inner_kernel
def _entropy(counts: NDArray[np.int64]) -> float:
    _, total = _most_and_sum(counts)
    entropy = 0.0
    for value in range(counts.size):
        if counts[value] > 0:
            entropy -= counts[value] / total * np.log(counts[value] / total)
    return entropy


@inner_kernel
def _most_and_rest(counts: NDArray[np.int64], l: int) -> tuple[int, int]:  # noqa: E741 - the name it has everywhere
    """The largest count, and the sum of all but the l - 1 largest, which are taken off one after the other."""
    most, rest = _most_and_sum(counts)
    level, taken = most, 0
    while taken < l - 1 and level > 0:
        equal, next_level = 0, 0
        for value in range(counts.size):
            if counts[value] == level:
                equal += 1
            elif counts[value] < level:
                next_level = max(next_level, counts[value])
        equal = min(equal, l - 1 - taken)
        taken += equal
        rest -= equal * level
        level = next_level
    return most, rest


@inner_kernel
def _within_caps(counts: NDArray[np.int64], known: int, share: NDArray[np.float64]) -> bool:
    within = True
    for value in range(counts.size):
        within &= counts[value] <= known * share[value]
    return within


@inner_kernel
def _ordered_distance(counts: NDArray[np.int64], known: int, share: NDArray[np.float64]) -> float:
    """The mean of the absolute differences of the cumulative shares."""
    flow, moved = 0.0, 0.0
    for value in range(counts.size):
        flow += counts[value] / known - share[value]
        moved += abs(flow)
    return moved / max(counts.size - 1, 1)


@inner_kernel
def _node_distance(
    counts: NDArray[np.int64], known: int, share: NDArray[np.float64], member: NDArray[np.int64], levels: int
) -> float:
    """The mean over the levels of half the L1 distance between the shares of the level's nodes."""
    apart, moved = 0.0, 0.0
    for place in range(levels * counts.size):
        value = member[place]
        end = value < 0
        if end:
            value = ~value
        apart += counts[value] / known - share[value]
        if end:
            moved += abs(apart) / 2
            apart = 0.0
    return moved / max(levels, 1)
