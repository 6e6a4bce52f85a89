"""The compiled search for minimum class sizes: choose a node, group it, price it, and so on in one kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.classes import ClassPool, group, keep_list, learn_levels, shortest_source
from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.kernels.pricing import (
    MINORITY,
    SEPARABLE_SUMS,
    ClassPrices,
    minority_parts,
    separable_extra,
    square_parts,
)
from discreet.solve.lattice.kernels.search import EVALUATE, add_result, choose_node
from discreet.solve.lattice.kernels.state import INFINITE, LatticeSearch

__all__ = ["add_priced", "evaluate_node", "price_node", "run_search"]

_OVERHEAD = 2000
"""What choosing a node takes, in class entries."""


@inner_kernel
def price_node(
    pool: ClassPool, prices: ClassPrices, search: LatticeSearch, node: NDArray[np.int64], classes: int
) -> tuple[float, float, float]:
    """Price the classes just grouped: the rows that are removed, the lower and the upper part."""
    begin = pool.lists.used.entries
    size = pool.lists.size[begin : begin + classes]
    if prices.form <= SEPARABLE_SUMS:
        removed, upper = separable_extra(pool, prices, node, classes, search.facts.limit)
        lower = 0.0
        for i in range(node.size):
            lower += search.level[i, node[i]].published
    elif prices.form == MINORITY:
        removed, lower, upper = minority_parts(size, pool.lists.sums[begin:], prices)
    else:
        removed, lower, upper = square_parts(size, prices)
    return float(removed), lower, upper


@inner_kernel
def add_priced(
    search: LatticeSearch, explorer: int, node: NDArray[np.int64], removed: float, lower: float, upper: float
) -> None:
    """Add what pricing a node gave; at the node itself the two parts add up to the exact cost."""
    cost = lower + upper if removed <= search.facts.limit else INFINITE
    add_result(search, explorer, node, removed, lower, upper, cost)


@inner_kernel
def evaluate_node(pool: ClassPool, prices: ClassPrices, search: LatticeSearch, node: NDArray[np.int64]) -> int:
    """Evaluate a node and add the result to the search; return how many class entries were read."""
    source, entries = shortest_source(pool, node)
    entries += pool.lists.span[source].count
    classes = group(pool, source, node)
    removed, lower, upper = price_node(pool, prices, search, node, classes)
    add_priced(search, 0, node, removed, lower, upper)
    # After pricing: keeping may move the classes within the pool.
    keep_list(pool, source, node, classes, False)
    learn_levels(pool.scratch, node)
    return entries


@inner_kernel
def run_search(
    pool: ClassPool, prices: ClassPrices, search: LatticeSearch, node: NDArray[np.int64], work: int
) -> int:  # node OUT
    """Search until done, until the arrays are full, or until about ``work`` class entries were read."""
    while work > 0:
        step = choose_node(search, 0, node)
        if step != EVALUATE:
            return step
        work -= evaluate_node(pool, prices, search, node) + _OVERHEAD
    return EVALUATE
