"""Data layout of the search over cuts: value trees, rules, and the stacks of cells and parts.

At any moment each attribute has a most general and a most specific cut that can still be reached. The equivalence
classes of the most general recoding are the *parts*, those of the most specific one the *cells*. A part is a range of a
permutation of cells: specializing a value splits parts in place, locking a value merges cells of one part. Every cut
still reachable puts whole cells of one part together, which is what all bounds rest on.

Cells, parts, histogram entries and the permutation are stacks, so that backtracking means popping.

Structs hold what belongs to one cell, part or step (see ``solve/kernels/records.py``). They keep the number of arrays
small: compile time and the cost of a call grow with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.records import Records

__all__ = [
    "Cursor",
    "CutArrays",
    "CutCell",
    "CutCells",
    "CutChange",
    "CutFrame",
    "CutNow",
    "CutPart",
    "CutParts",
    "CutRules",
    "CutStacks",
    "CutTotals",
    "CutWorkspace",
    "HashSlot",
    "KnapsackItem",
    "ValueTree",
]

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Marks = NDArray[np.int8]

NONE, CLASS_RECORDS, VIOLATING_RECORDS, CLASS_VALUES, VIOLATING_VALUES = range(5)
"""What happens to a class that breaks the requirement."""
SEPARABLE, SUMS, SQUARES, MINORITY, EXTERNAL = range(5)
"""Price of a published class: rates times rows, rates times sums, size squared, rows outside the majority label, or
whatever the model and cost objects say (evaluated outside the kernels)."""
SPECIALIZED, LOCKED = range(2)
"""How a value is decided."""
DESCEND, BACKTRACK, SETTLE = range(3)
"""What the search does next."""
DONE, PAUSE, GROW, EVALUATE = range(4)
"""Why the search returned: complete, enough work done, a stack is full, or new classes wait for their evaluation."""


class CutCell:
    """One cell."""

    rows: float
    floor: float
    """Least cost of its rows if published, in whatever class."""
    alone: float
    """Cost as a class of its own."""
    suppressed: float
    """Cost if all of it is suppressed."""
    margin: float
    """Least extra cost of suppressing one row."""
    kept: float
    """Rows published if it is a class of its own, -1 while unpriced."""
    key: int
    """Its codes as one number."""
    first_entry: int
    """Its histogram entries are ``first_entry`` to ``end_entry - 1``."""
    end_entry: int
    first_tuple: int
    """Ends of its chain of tuples."""
    last_tuple: int


class CutPart:
    """One part: its cells are ``perm[begin:end]``. The numbers from ``bound`` to ``dead`` are summed over all parts."""

    begin: int
    end: int
    bound: float
    """Least cost of its rows in any reachable cut."""
    cost: float
    """Cost as one class."""
    lost: float
    """Least rows suppressed in any reachable cut."""
    gone: float
    """Rows suppressed as one class."""
    wrong: float
    """1 if it is not allowed as one class."""
    dead: float
    """1 if it is not allowed in any other way either."""
    need: float
    """Rows that must go (external evaluation only)."""
    floor: float
    """Sum of its cells' floors."""
    mixed: float
    """Number of attributes in which a decision raises its bound."""
    full: float
    """1 if it is lost for good, whatever is decided."""


class CutTotals:
    """Sums over the active parts, and the cost a cut must beat."""

    bound: float
    cost: float
    lost: float
    gone: float
    wrong: float
    dead: float
    best: float
    exact: float
    """Cost of the most general cut where it is not the sum over its parts; infinite if it is not allowed."""
    surplus: float
    """What is to be added to the bound in such a case; infinite if no reachable cut is allowed."""


class CutNow:
    """The state of the search: heights of the stacks, which backtracking restores, and counters."""

    active: int
    parts: int
    cells: int
    entries: int
    perm: int
    log: int
    open: int
    depth: int
    phase: int
    examined: int
    infeasible: int
    over_budget: int
    bound_specialized: int
    bound_locked: int
    skipped: int
    foreseen: int
    solutions: int
    stamp: int
    """Marks the hash slots in use."""


class CutFrame:
    """One step down: what it decided, and stack heights and totals before it."""

    active: int
    parts: int
    cells: int
    entries: int
    perm: int
    log: int
    open: int
    value: int
    position: int
    """Position of the value among the open ones."""
    decision: int
    forced: int
    """1 if the other decision was ruled out."""
    bound: float
    cost: float
    lost: float
    gone: float
    wrong: float
    dead: float
    surplus: float


class CutChange:
    """Which part was at which position of ``active`` before a step replaced it."""

    position: int
    part: int


class KnapsackItem:
    """An item of a fractional knapsack: price of one unit, and units at hand."""

    price: float
    units: float


class HashSlot:
    """A slot of the hash table: in use if its stamp is the current one."""

    group: int
    stamp: int


class Cursor:
    """Local search: the value to take back next, and how many were tried since the last improvement."""

    value: int
    idle: int


class ValueTree(NamedTuple):
    """The values of all hierarchies in one numbering: those of an attribute are contiguous, and so are children."""

    attribute: Codes
    first: Codes
    """First child of each value; its children are ``first[v]`` to ``end[v] - 1``."""
    end: Codes
    depth: Codes
    path: Codes
    """(depth, value) the ancestor of a value at a depth, -1 below it."""
    rate: Floats
    rank: Floats
    """Without look-ahead, the open value of the highest rank is decided first."""
    forced: NDArray[np.bool_]
    """Whether locking a value can be skipped: all its rows are below one child, so the classes are the same."""
    lift: Floats
    """What locking a value adds to the price of its rows, if all of them are published."""


class CutRules(NamedTuple):
    """The rules of a search: validity of classes, their costs, and the techniques in use."""

    suppression: int
    price: int
    smallest: float
    distinct: float
    rows: float
    limit: float
    penalty: float
    value_penalty: float
    ambiguous: bool
    """Further values are hidden where it would be clear which they are (violating values only)."""
    labels: int
    tight: bool
    """Knapsack bounds and look-ahead instead of the bounds of the paper alone."""
    update: bool
    """Whether bounds are renewed when a value is locked (section VI-B), and not only when a part is split."""
    exact_keys: bool
    """Whether different codes always have different keys."""
    look_ahead: int
    """0: off. 1: prune only. 2: also decide next the value that raises the bound most."""
    theta: Floats
    """Largest share of each sensitive value; above 1 if unlimited."""
    owner: Codes
    """The sensitive value of each histogram entry (entries may also distinguish class labels)."""
    stride: Ints
    """What one step of an attribute's value adds to the key of a cell."""
    summed: bool
    """Whether the cost of a cut is the sum over its parts; if not, it is evaluated outside."""


class CutCells(NamedTuple):
    """The stack of cells."""

    code: Codes
    """(cell, attribute) its values."""
    record: Records[CutCell]
    value: Codes
    """The stack of histogram entries: value ..."""
    count: Ints
    """... and occurrences."""
    sums: Floats
    """(cell, sum) what the price adds up over the rows of a cell."""
    next_tuple: Codes
    """Chains of tuples, -1 at the end; empty unless classes are evaluated outside."""
    first_cells: int
    """Cells and histogram entries before the first step: no step adds more than that."""
    first_entries: int


class CutParts(NamedTuple):
    """The stack of parts."""

    code: Codes
    """(part, attribute) its values."""
    record: Records[CutPart]
    rise: Floats
    """(part, attribute, decision) by how much deciding its value raises the bound of a part."""
    share: Floats
    """(part, attribute) the share of a part's rises each attribute may count; they add up to 1."""


class CutWorkspace(NamedTuple):
    """Scratch space."""

    hist: Ints
    """Rows of each sensitive value; 0 between two uses, as are ``joint`` and ``need``."""
    joint: Ints
    """Rows of each histogram entry."""
    touched: Codes
    """Values with rows in ``hist``."""
    need: Ints
    """Rows of each value that must go."""
    item: Records[KnapsackItem]
    """The knapsack."""
    group: Codes
    tally: Ints
    table: Records[HashSlot]
    """Hash table of merged cells."""
    sums: Floats
    listed: Codes
    """Parts to split or merge, and ..."""
    position: Codes
    """... the position of each in ``active``."""
    born: Ints
    """End of the parts made of each listed one."""
    shared_rise: Floats
    """(value, decision) rise of the bound by shares: adds up over values of all attributes."""
    full_rise: Floats
    """(value, decision) the whole rise: valid for one value at a time."""
    lock_weight: Floats
    """(value,) how much locking counts when shares are renewed; specializing counts the rest."""


class CutStacks(NamedTuple):
    """Where the search is, and how it got there."""

    active: Codes
    """The parts there are now."""
    perm: Codes
    """The cells of each part, contiguous."""
    now: Records[CutNow]
    """One struct, as is the next."""
    total: Records[CutTotals]
    open: Codes
    """Values not decided yet."""
    mark: Marks
    """1 for values in the most general cut."""
    best: Marks
    """(rank, value) the best cuts found."""
    best_cost: Floats
    frame: Records[CutFrame]
    """One for each step down."""
    log: Records[CutChange]
    """What steps replaced."""


class CutArrays(NamedTuple):
    """Everything the kernels work on."""

    tree: ValueTree
    cells: CutCells
    parts: CutParts
    rules: CutRules
    work: CutWorkspace
    stacks: CutStacks
