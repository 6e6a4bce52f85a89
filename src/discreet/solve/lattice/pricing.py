"""Costs in the form in which kernels price classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.counts import CountTable, FloatArray
from discreet.problem import Problem, Separable
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.solve._class_arrays import dense
from discreet.solve.kernels.classes import CODES, Lattice
from discreet.solve.kernels.pricing import MINORITY, SEPARABLE, SEPARABLE_SUMS, SQUARES, ClassPrices, SizeUnits
from discreet.solve.lattice.pool import people_shift

__all__ = ["base_costs", "has_compiled_form", "leaf_rates", "make_prices"]


def has_compiled_form(problem: Problem, separable: Separable | None) -> bool:
    """Return whether every model is k-anonymity and the cost has a compiled form.

    A cost that does not add up over classes has none where classes are suppressed. Suppression of values has none, and
    neither have people whose quasi-identifiers vary.
    """
    if problem.suppression.hides_values:
        return False
    if problem.people is not None and (problem.varying or not people_shift(problem.table)):
        return False
    if any(type(model) is not KAnonymity for model in problem.privacy):
        return False
    if not problem.cost.additive and problem.limit > 0:
        return False
    return problem.cost.compiled is not None or separable is not None


def leaf_rates(table: CountTable, separable: Separable | None) -> list[FloatArray]:
    """Return for each attribute (levels, leaves) the rate of each leaf's block; empty if costs do not add up so."""
    if separable is None:
        return []
    each = zip(separable.rate, table.attributes, strict=True)
    return [np.stack([r[block] for r, block in zip(rate, a.ancestors, strict=True)]) for rate, a in each]


def base_costs(table: CountTable, separable: Separable, rates: Sequence[FloatArray]) -> list[FloatArray]:
    """Return for each attribute what each level costs over all rows, given the rates of its leaves."""
    each = zip(rates, separable.moment, separable.offset, table.attributes, strict=True)
    return [((rate * moment + offset) * a.rows).sum(axis=1) for rate, moment, offset, a in each]


def make_prices(
    problem: Problem, lattice: Lattice, separable: Separable | None, rates: Sequence[FloatArray]
) -> tuple[ClassPrices, FloatArray]:
    """Return how classes are priced, and the numbers to be added up over the tuples of each."""
    table = problem.table
    sums = np.zeros((table.tuples, 0))
    form, penalty = SQUARES, 1.0
    if separable is not None:
        penalty, sums = separable.sums(table)
        form = SEPARABLE_SUMS if sums.shape[1] else SEPARABLE
    elif problem.cost.compiled == "squares":
        penalty = float(table.n)
    elif table.labels is not None:
        form, sums = MINORITY, dense(table.labels, table.tuples).astype(np.float64)
    rate = np.concatenate([np.zeros(0), *(rate.ravel() for rate in rates)])
    pack_rate = np.empty(lattice.pack.size * CODES)
    return ClassPrices(form, problem.smallest_class, rate, pack_rate, penalty, _size_units(problem)), sums


def _size_units(problem: Problem) -> SizeUnits:
    """Return what sizes hold: rows, or people above them."""
    shift = people_shift(problem.table)
    if not shift:
        return SizeUnits(0, -1, 0, -1)
    rows = (1 << shift) - 1
    return SizeUnits(shift, rows, shift, -1) if problem.limit_of_people else SizeUnits(shift, rows, 0, rows)
