"""Whether a group satisfies every privacy model, for groups that change row by row inside kernels.

A group is its number of rows and one histogram, which holds the values of all sensitive columns that some model looks
at, one column after the other. Rows whose value is unknown are counted in a last cell that no model looks at: shares
are of the known values, and thresholds and closeness hold for a group without any. The tolerances of the models are
part of the limits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.kernels.records import Records

__all__ = [
    "CAPS",
    "DISTINCT",
    "ENTROPY",
    "NODES",
    "ORDERED",
    "RECURSIVE",
    "CompiledModel",
    "Requirement",
    "clear",
    "holds",
    "tally",
]

DISTINCT, ENTROPY, RECURSIVE, CAPS, NODES, ORDERED = 0, 1, 2, 3, 4, 5
"""Kinds of models beside k. NODES is t-closeness over the levels of a tree, or over the values alone."""


class CompiledModel:
    """A model, and where its numbers begin."""

    kind: int
    first: int  # the model looks at histogram[first:last]
    last: int
    limit: float  # l, c or t
    depth: int  # l of RECURSIVE; the number of levels of NODES
    share_start: int  # where its numbers begin in Requirement.share
    member_start: int  # where its levels begin in Requirement.member


class Requirement(NamedTuple):
    """What every published group must satisfy, and the sensitive values of the points."""

    smallest: int
    """The fewest rows a group may have."""
    cells: int
    """The length of a histogram; 0 if only the number of rows matters."""
    complete: bool
    """Whether this is all there is to satisfy; if not, some models have no compiled form."""
    values: NDArray[np.int64]
    """(points, columns) the cell of each point in the histogram, column by column."""
    model: Records[CompiledModel]
    """(models,)"""
    share: NDArray[np.float64]
    """For CAPS the highest share of each value; for NODES and ORDERED its share in the whole table."""
    member: NDArray[np.int64]
    """For NODES levels x values: the values of each level, node by node; the last value v of a node is stored as ~v."""


@inner_kernel
def tally(requirement: Requirement, j: int, rows: int, histogram: NDArray[np.int64]) -> None:  # histogram OUT
    """Add rows of point j to a group's histogram; a negative number takes them out."""
    for column in range(requirement.values.shape[1]):
        histogram[requirement.values[j, column]] += rows


@inner_kernel
def clear(histogram: NDArray[np.int64]) -> None:  # histogram OUT
    """Empty a group's histogram."""
    for value in range(histogram.size):
        histogram[value] = 0


@inner_kernel
def holds(requirement: Requirement, size: int, histogram: NDArray[np.int64]) -> bool:
    """Whether a group of ``size`` rows satisfies every model; O(cells) for each."""
    if size < requirement.smallest:
        return False
    for number in range(requirement.model.size):
        model = requirement.model[number]
        kind, limit = model.kind, model.limit
        counts = histogram[model.first : model.last]
        share = requirement.share[model.share_start :]
        if kind == DISTINCT:
            fine = _different(counts) >= limit
        elif kind == ENTROPY:
            fine = np.exp(_entropy(counts)) >= limit
        elif kind == RECURSIVE:
            most, rest = _most_and_rest(counts, model.depth)
            fine = most < limit * rest
        elif kind == CAPS:
            fine = _within_caps(counts, _known(counts), share)
        elif kind == ORDERED:
            known = _known(counts)
            fine = known == 0 or _ordered_distance(counts, known, share) <= limit
        else:
            known = _known(counts)
            member = requirement.member[model.member_start :]
            fine = known == 0 or _node_distance(counts, known, share, member, model.depth) <= limit
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
    """The largest count, and the sum of all but the l - 1 largest.

    Counts are taken off from the largest down, without sorting: O(cells) for each distinct count taken off.
    """
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
    """The earth mover's distance of ordered values: the mean absolute difference of the cumulative shares."""
    flow, moved = 0.0, 0.0
    for value in range(counts.size):
        flow += counts[value] / known - share[value]
        moved += abs(flow)
    return moved / max(counts.size - 1, 1)


@inner_kernel
def _node_distance(
    counts: NDArray[np.int64], known: int, share: NDArray[np.float64], member: NDArray[np.int64], levels: int
) -> float:
    """The earth mover's distance over a tree: the mean over its levels of half the L1 distance of the nodes' shares."""
    excess, moved = 0.0, 0.0
    for position in range(levels * counts.size):
        value = member[position]
        end = value < 0
        if end:
            value = ~value
        excess += counts[value] / known - share[value]
        if end:
            moved += abs(excess) / 2
            excess = 0.0
    return moved / max(levels, 1)
