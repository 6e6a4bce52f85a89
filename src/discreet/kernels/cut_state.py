"""The state of the search over cuts: the trees, what the rules are, and the stacks of cells and parts.

At every moment each attribute has a most general and a most specific recoding that are still possible. The classes of
the most general one are the *parts*: ranges of a permutation, which specializing a value splits in place. Those of the
most specific one are the *cells* a part is made of, which merge where a value is locked. Every recoding still possible
puts whole cells of one part together. Cells, parts and permutation are stacks, so that going back is taking off.

Few arrays, because kernels take longer to compile the more they are given; constants name their columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["COUNTERS", "FACTS", "TOTALS", "Cells", "Parts", "Rules", "Search", "Space", "Tree"]

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Marks = NDArray[np.int8]

NONE, CLASS_RECORDS, VIOLATING_RECORDS, CLASS_VALUES, VIOLATING_VALUES = range(5)
"""What happens to a class that is not ok."""
SEPARABLE, SUMS, SQUARES, MINORITY, GIVEN = range(5)
"""What a class costs: a rate per row, rates times sums, its size squared, rows outside the majority, or unknown."""

FACTS = (
    "kind",
    "price",
    "smallest",
    "distinct",
    "rows",
    "limit",
    "penalty",
    "value_penalty",
    "labels",
    "knapsack",
    "update",
    "exact_keys",
    "ahead",
)
(
    KIND,
    PRICE,
    SMALLEST,
    DISTINCT,
    ROWS,
    LIMIT,
    PENALTY,
    VALUE_PENALTY,
    LABELS,
    KNAPSACK,
    UPDATE,
    EXACT_KEYS,
    AHEAD,
) = range(len(FACTS))

SIZE, LOW, ALONE, HIGH, MARGIN, KEPT = range(6)
"""Of a cell: its rows; what they cost at least published; as a class of their own; suppressed; per row suppressed; and
how many rows are published if it is a class of its own."""
KEY, START, STOP, HEAD, TAIL = range(5)
"""Of a cell: its codes as one number; where its histogram begins and ends; its first and last tuple."""
BEGIN, END = range(2)
BOUND, COST, LOST, GONE, WRONG, DEAD, NEED, FLOOR, MIXED, FULL = range(10)
"""Of a part: bound and cost; rows suppressed at least and as it is; whether it is not allowed as it is, and whatever
becomes of it; rows that must go; what its cells cost at least published; in how many attributes a decision
raises its bound; whether all of it is lost whatever is decided."""
SUMMED = 6
"""The first of these columns are added up over all parts."""
TOTALS = ("bound", "cost", "lost", "gone", "wrong", "dead", "best")
BEST = TOTALS.index("best")

COUNTERS = (
    "active",
    "slots",
    "cells",
    "entries",
    "places",
    "log",
    "open",
    "depth",
    "phase",
    "examined",
    "infeasible",
    "over_budget",
    "bound_specialized",
    "bound_locked",
    "skipped",
    "foreseen",
    "solutions",
    "seen_best",
)
(
    ACTIVE,
    SLOTS,
    CELLS,
    ENTRIES,
    PLACES,
    LOG,
    OPEN,
    DEPTH,
    PHASE,
    EXAMINED,
    INFEASIBLE,
    OVER_BUDGET,
    BOUND_SPECIALIZED,
    BOUND_LOCKED,
    SKIPPED,
    FORESEEN,
    SOLUTIONS,
    SEEN_BEST,
) = range(len(COUNTERS))
STACKED = 7
"""The first counters are put back when the search goes up."""
VALUE, PLACE, STEP, ONLY = STACKED, STACKED + 1, STACKED + 2, STACKED + 3
"""Further columns of a frame: the value decided, its place among the open ones, how it was decided, and whether that is
the only way."""
SPECIALIZED, LOCKED, SHARE = range(3)
DOWN, UP, SETTLE = range(3)
"""What the search does next."""
DONE, PAUSE, GROW, ASK = range(4)
"""Why the search came back."""


class Tree(NamedTuple):
    """The values of all hierarchies, numbered through: an attribute's values are contiguous, as are children."""

    attribute: Codes
    first: Codes
    """Of each value the number of its first child, and ..."""
    end: Codes
    """... of the one after its last."""
    depth: Codes
    path: Codes
    """(depth, value) the ancestor of a value at a depth."""
    rate: Floats
    rank: Floats
    """Open values of higher rank are decided first."""
    forced: NDArray[np.bool_]
    """Whether locking a value can be left out."""
    lift: Floats
    """What locking a value adds to the price of its rows at their most specific, if all of them are published."""


class Rules(NamedTuple):
    """What makes a class ok and what it costs."""

    facts: Floats
    theta: Floats
    """The largest share of each sensitive value; above 1 where there is none."""
    owner: Codes
    """The sensitive value each histogram entry stands for (entries may tell labels apart)."""
    stride: Ints


class Cells(NamedTuple):
    """The cells, a stack: the value each has in each attribute, and what else is known of it."""

    code: Codes
    link: Ints
    number: Floats
    value: Codes
    """The stack of histogram entries: values and ..."""
    count: Ints
    """... how often they occur."""
    sums: Floats
    """What the price adds up over the rows of a cell."""
    after: Codes
    """The next tuple of the same cell, or -1."""


class Parts(NamedTuple):
    """The parts, a stack: the value each has in each attribute, its range of cells, and its numbers."""

    code: Codes
    span: Ints
    number: Floats
    rise: Floats
    """(part, attribute, step) how much a step in an attribute raises the bound of a part; what share of that counts."""


class Space(NamedTuple):
    """Scratch space."""

    hist: Ints
    joint: Ints
    touched: Codes
    need: Ints
    item: Floats
    place: Codes
    tally: Ints
    table: Ints
    sums: Floats
    which: Codes
    """Parts to be split or merged, and ..."""
    place_of: Codes
    """... where each is among the active ones."""
    born: Ints
    """Where the parts that come of each one end."""
    rise: Floats
    """(value, 5) how much each step with a value raises the bound, by shares and in full; how locking counts."""


class Search(NamedTuple):
    """Where the search stands, and how it got there."""

    active: Codes
    """The parts there are now."""
    perm: Codes
    """The cells of each part, one after another."""
    count: Ints
    total: Floats
    open: Codes
    mark: Marks
    """Whether each value is in the cut of the most general recoding."""
    best: Marks
    best_cost: Floats
    frame: Ints
    """Of each step down: counters before it, and what it decided."""
    saved: Floats
    """The totals before each step down."""
    log: Codes
    """Which part was at which active place before it was replaced."""
