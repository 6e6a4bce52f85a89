"""The compiled search for the front of k against a cost: choose a node, group it, price it, and so on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.front.kernels.prediction import FrontPredictor, choose_node, learn
from discreet.solve.front.kernels.state import FrontSearch, NodeOutcome, ProfileEntry, add_node, levels_of
from discreet.solve.kernels.classes import ClassPool, group, keep_list, learn_levels, shortest_source
from discreet.solve.kernels.jit import kernel
from discreet.solve.kernels.pricing import (
    SEPARABLE,
    SEPARABLE_SUMS,
    ClassPrices,
    SizeUnits,
    class_extra,
    published_whole,
    tabulate_rates,
)
from discreet.solve.kernels.records import Records

__all__ = ["DONE", "FULL", "MORE", "SizeTally", "evaluate_node", "run_front"]

DONE, MORE, FULL = 0, 1, 2
"""What :func:`run_front` returns: no node is open; call again; the arrays are full."""


class SizeTally(NamedTuple):
    """Evaluation of one node under the budget rule: input, scratch space and result."""

    limit: int
    """How many rows, or people, may be suppressed."""
    grid: NDArray[np.float64]
    """Class sizes, rising."""
    published: NDArray[np.float64]
    """(m, levels) what each attribute costs over all rows, where costs add up over attributes."""
    rows: NDArray[np.int64]
    """(n + 1,) what the limit counts in classes of each size; all zero between nodes."""
    size: NDArray[np.int64]
    """(n + 1,) the sizes that occur, rising."""
    profile: Records[ProfileEntry]
    """(limit + 1,) OUT"""
    worse: NDArray[np.float64]
    """(grid,) OUT: rows in classes smaller than each value of the grid."""
    outcome: NodeOutcome
    """OUT"""


@kernel
def _tally_sizes(size: NDArray[np.int64], units: SizeUnits, tally: SizeTally) -> int:
    """List the class sizes that occur and the rows (or people) that have each; return how many there are."""
    found = 0
    for c in range(size.size):
        s = size[c] >> units.people
        # Always written and kept if the size is new: without a branch, as in the tallies of grouping.
        tally.size[found] = s
        found += tally.rows[s] == 0
        tally.rows[s] += (size[c] >> units.limit) & units.limit_mask
    tally.size[:found].sort()
    return found


@kernel
def _apply_budget(sizes: int, tally: SizeTally) -> int:
    """Suppress from the smallest size up as far as the limit allows; return how many sizes go.

    Classes of one size go together or stay together, and the largest size always stays.
    """
    rows, gone, at, grid = 0, 0, 0, tally.grid
    tally.outcome.lost = 0.0
    for g in range(grid.size):
        tally.worse[g] = 0.0
    for s in range(sizes):
        size = tally.size[s]
        while at < grid.size and grid[at] <= size:
            tally.worse[at] = rows
            at += 1
        rows += tally.rows[size]
        if rows <= tally.limit and s < sizes - 1:
            gone = s + 1
            tally.outcome.lost = rows
    while at < grid.size:
        tally.worse[at] = rows
        at += 1
    tally.outcome.value = tally.size[gone]
    return gone


@kernel
def _evaluate_classes(
    pool: ClassPool, prices: ClassPrices, tally: SizeTally, node: NDArray[np.int64], classes: int
) -> int:
    """Price the classes just grouped under the budget rule, into the tally; return the length of the profile."""
    lists, outcome, profile = pool.lists, tally.outcome, tally.profile
    begin = lists.used.entries
    end = begin + classes
    sizes = _tally_sizes(lists.size[begin:end], prices.units, tally)
    gone = _apply_budget(sizes, tally)
    k = outcome.value
    # Only what was used is cleared: the array has a cell for each possible class size.
    for s in range(sizes):
        tally.rows[tally.size[s]] = 0
    for s in range(gone):
        profile[s].value, profile[s].extra = tally.size[s], 0.0
    if prices.form == SEPARABLE and gone > 0:
        tabulate_rates(pool.lattice, prices, node)
    outcome.classes = 0
    for c in range(begin, end):
        size = lists.size[c] >> prices.units.people
        if size >= k:
            outcome.classes += 1
        else:
            profile[np.searchsorted(tally.size[:gone], size)].extra += class_extra(pool, prices, node, c)
    # From the extra of each size to that of all sizes up to it.
    for s in range(1, gone):
        profile[s].extra += profile[s - 1].extra
    if prices.form <= SEPARABLE_SUMS:
        outcome.total = 0.0
        for i in range(node.size):
            outcome.total += tally.published[i, node[i]]
    else:
        outcome.total = published_whole(pool, prices, begin, end)
    outcome.loss = outcome.total + (profile[gone - 1].extra if gone > 0 else 0.0)
    return gone


@kernel
def evaluate_node(pool: ClassPool, prices: ClassPrices, tally: SizeTally, node: NDArray[np.int64]) -> int:
    """Group a node by rolling up from an earlier one, and price it; return the length of its profile."""
    source, _ = shortest_source(pool, node)
    classes = group(pool, source, node)
    length = _evaluate_classes(pool, prices, tally, node, classes)
    keep_list(pool, source, node, classes, False)
    learn_levels(pool.scratch, node)
    return length


@kernel
def run_front(
    pool: ClassPool,
    prices: ClassPrices,
    tally: SizeTally,
    search: FrontSearch,
    predictor: FrontPredictor,
    evaluations: int,
) -> int:
    """Evaluate up to so many nodes; return DONE, MORE or FULL."""
    counters, limits = search.counters, pool.lattice.limits
    node = np.zeros(limits.size, dtype=np.int64)
    for _ in range(evaluations):
        # Room for the longest profile is checked first, so that nothing has to be evaluated twice.
        if (
            counters.evaluated + 1 > search.evaluated.size
            or counters.profile + tally.limit + 2 > search.profile.size
            or counters.points + 2 > search.point.size
        ):
            return FULL
        number = choose_node(search, predictor)
        if number < 0:
            return DONE
        levels_of(search, number, node)
        for i in range(node.size):
            node[i] += limits[i].lowest
        length = evaluate_node(pool, prices, tally, node)
        add_node(search, number, tally.outcome, tally.profile[:length])
        learn(search, predictor, tally.worse)
    return MORE
