"""Costs as the compiled searches of the lattice price them."""

from __future__ import annotations

import numpy as np

from discreet.counts import CountTable, FloatArray
from discreet.kernels.classes import CODES, Lattice
from discreet.kernels.lattice import MINORITY, SEPARABLE, SEPARABLE_SUMS, SQUARES, Prices
from discreet.problem import Problem, Separable
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.solve._gather import dense

__all__ = ["has_compiled_form", "leaf_rates", "make_prices"]


def has_compiled_form(problem: Problem, separable: Separable | None) -> bool:
    """Whether every model is a smallest class size and the cost has a compiled form.

    A cost that does not add up over classes has none where classes are suppressed.
    """
    if any(type(model) is not KAnonymity for model in problem.privacy):
        return False
    if not problem.cost.additive and problem.limit > 0:
        return False
    return problem.cost.compiled is not None or separable is not None


def leaf_rates(table: CountTable, separable: Separable | None) -> list[FloatArray]:
    """For each attribute, the rate of the block of each leaf at each level, where costs add up over attributes."""
    if separable is None:
        return []
    each = zip(separable.rate, table.attributes, strict=True)
    return [np.stack([r[block] for r, block in zip(rate, a.ancestors, strict=True)]) for rate, a in each]


def make_prices(
    problem: Problem, lattice: Lattice, separable: Separable | None, rates: list[FloatArray]
) -> tuple[Prices, FloatArray]:
    """How classes are priced, and the numbers to be added up over the tuples of each."""
    table = problem.table
    sums = np.zeros((table.tuples, 0))
    kind, penalty = SQUARES, 1.0
    if separable is not None:
        penalty, sums = separable.sums(table)
        kind = SEPARABLE_SUMS if sums.shape[1] else SEPARABLE
    elif problem.cost.compiled == "squares":
        penalty = float(table.n)
    elif table.labels is not None:
        kind, sums = MINORITY, dense(table.labels, table.tuples).astype(np.float64)
    rate = np.concatenate([np.zeros(0), *(rate.ravel() for rate in rates)])
    return Prices(kind, problem.smallest_class, rate, np.empty(lattice.size.size * CODES), penalty), sums
