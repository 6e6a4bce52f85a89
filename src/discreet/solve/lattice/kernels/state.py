"""The state of the lattice search: what is known beforehand, evaluated nodes, open boxes, the prediction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.classes import LevelRange
from discreet.solve.kernels.records import Records

__all__ = [
    "DOWN",
    "INFINITE",
    "TOLERANCE",
    "UP",
    "BoxQueues",
    "Draft",
    "Explorer",
    "LatticeSearch",
    "LevelCosts",
    "NodeResult",
    "OpenBox",
    "Regressor",
    "SearchFacts",
    "SearchState",
]

INFINITE = 1e300
"""Used as infinity where a difference must not become "not a number"."""
TOLERANCE = 1e-14
"""Costs closer than this, relatively, count as equal: what is lost to rounding, and no more."""
UP, DOWN = 0, 1
"""The two directions in which an evaluated node can cut a box.

UP: a node above the low corner cuts all below it if it must suppress enough rows. DOWN: a node below the high corner
cuts all above it if its lower part is large enough. Each has its own prediction: ``weights[UP]`` of the rarity of the
suppressed rows, ``weights[DOWN]`` of the logarithm of the lower part.
"""


class LevelCosts:
    """What is known beforehand about one attribute at one level."""

    published: float
    """What publishing all rows costs in this attribute, where costs add up over attributes; else 0."""
    margin: float
    """What suppressing any row adds at least in this attribute, here or below, where costs add up; else 0."""
    entropy: float


class SearchFacts:
    """What is known beforehand about the problem."""

    separable: int
    """Whether the published costs add up to the exact lower part of every node."""
    rising: int
    """Whether, beside that, no row ever gets cheaper at a higher level or when it is suppressed."""
    limit: float
    """How many rows may be suppressed."""
    rows: float
    worst: float
    """The cost of suppressing all rows."""
    per_row: float
    """Roughly what suppressing one row costs; for prediction where costs do not add up."""


class NodeResult:
    """What the evaluation of a node gave."""

    lower: float
    """Lower part: what every node above costs at least."""
    upper: float
    """Upper part: what every node below costs at least beyond the lower part; infinite beyond the limit."""
    removed: float
    """Rows suppressed at the node and at every node below."""


class OpenBox:
    """All nodes between two corners."""

    bound: float
    """What each of its nodes costs at least."""
    low: float
    """The greatest lower part of a node below the low corner."""
    up: float
    """The greatest upper part of a node above the high corner ..."""
    removed: float
    """... and the most rows that such a node removes."""
    margin: float
    """What a suppressed row adds at least to the lower part of the low corner, in any of its nodes."""
    seen: int
    """How many evaluated nodes its bound takes into account."""


class BoxQueues:
    """One position of the three lists of box numbers; their lengths are in the state."""

    heap: int
    """Open boxes, a binary heap by bound."""
    stack: int
    """Open boxes of the depth-first search."""
    free: int
    """Numbers that no box has."""


class Draft:
    """One attribute of the box that is being made."""

    low: int
    high: int
    corner: int
    """Of the part that is ruled out."""
    taken: int
    """Whether the box was split in this attribute already."""


class Regressor:
    """One variable of the regression: scratch space."""

    x: float
    gain: float


class Explorer:
    """One of the boxes that are explored at a time."""

    active: int
    """The box, or -1 ..."""
    tries: int
    """... how many nodes were evaluated for it ..."""
    direction: int
    """... in which direction, UP or DOWN ..."""
    last: int
    """... and the node evaluated last."""
    pending: int
    """Whether its node is being evaluated."""


class SearchState:
    """All that changes from step to step and is a single number."""

    best: float
    """Cost of the incumbent."""
    evaluated: int
    heap: int
    stack: int
    free: int
    wait: int
    """Evaluations between two attempts to improve the incumbent ..."""
    pause: int
    """... and those since the last attempt."""
    deep: int
    """Whether new boxes are searched depth first."""
    closed: int
    """Boxes closed by their bound; then those cut by a node above, by a node below, and halved."""
    cut_below: int
    cut_above: int
    halved: int
    chain_low: int
    """The bisection at the start: a position on the chain that breaks the limit ..."""
    chain_high: int
    """... and one that keeps it."""
    target: float
    """Boxes whose bounds reach this are left to later rounds; infinite in a search without rounds."""
    proven: float
    """What every node costs at least, as earlier rounds have shown."""
    step: float
    """By how much the target rises from round to round."""
    before: int
    """Nodes evaluated before this round."""


class LatticeSearch(NamedTuple):
    """Everything the search works on."""

    level: Records[LevelCosts]
    """(m, levels)"""
    limits: Records[LevelRange]
    """(m,)"""
    facts: SearchFacts
    state: SearchState
    explorer: Records[Explorer]
    """(explorers,) the first one works alone until the search turns out to be long."""
    explored: NDArray[np.int64]
    """(explorers, m) the node that each of them has named."""
    node: NDArray[np.int16]
    """(evaluated, m) the nodes evaluated so far."""
    steps: NDArray[np.uint64]
    """(evaluated + scratch rows, words) the same nodes as bit sets of the steps up to them; see :func:`encode`."""
    raised: NDArray[np.uint64]
    """(evaluated / 64, steps) the transpose of ``steps``: bit e % 64 of raised[e // 64, s] is step s of node e."""
    chosen: NDArray[np.int64]
    """(2, m) scratch space: the steps that nodes must have, and those they must not have."""
    result: Records[NodeResult]
    """(evaluated,)"""
    corner: NDArray[np.int16]
    """(boxes, 2, m) low and high corner of each box."""
    box: Records[OpenBox]
    """(boxes,)"""
    queue: Records[BoxQueues]
    """(boxes,)"""
    incumbent: NDArray[np.int64]
    """(m,)"""
    draft: Records[Draft]
    """(m,) scratch space."""
    trial: NDArray[np.int64]
    """(m,) scratch space: a node."""
    regressor: Records[Regressor]
    """(m + 1,) scratch space."""
    covariance: NDArray[np.float64]
    """(m + 1, m + 1) of the regression."""
    weights: NDArray[np.float64]
    """(2, m + 1) of the regression, by direction; the last one is the constant."""
    correction: NDArray[np.float64]
    """(2,) what is added to the predictions for the current box, by direction."""
