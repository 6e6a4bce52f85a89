"""Lower bounds on the cost of all groupings, for the costs that kernels do not know.

They use only s, the fewest rows a class may have; whatever else is demanded leaves fewer valid releases.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.problem import Classes, Problem
from discreet.problem.costs import PerRowCost
from discreet.problem.costs.average_class_size import AverageClassSize
from discreet.problem.costs.classification import Classification
from discreet.problem.costs.discernibility import Discernibility
from discreet.problem.costs.hierarchical_discernibility import HierarchicalDiscernibility
from discreet.problem.costs.non_uniform_entropy import NonUniformEntropy
from discreet.problem.costs.squared_error import SquaredError
from discreet.solve._base import Budget
from discreet.solve.local.group_arrays import GroupArrays
from discreet.solve.microaggregation.bounds import squared_error_bound

__all__ = ["general_bound", "smallest_group"]

_PAIRS = 1 << 22
"""Rows are compared with all others if there are at most so many pairs of tuples."""
_CHUNK = 1 << 18
"""Pairs that are covered at a time."""
_SAFE = 1 - 1e-9
"""Bounds that are sums of rounded numbers are lowered by so much."""


def smallest_group(problem: Problem) -> int:
    """Return the fewest rows of a published class.

    Where sensitive values may be hidden, models that look at them demand none: a class may hide all its values.
    """
    if not problem.suppression.hides_values:
        return max(problem.smallest_class, 1)
    return max((m.smallest(problem.whole) for m in problem.privacy if not m.looks_at_sensitive), default=1) or 1


def general_bound(arrays: GroupArrays, budget: Budget) -> float:
    """Return a number that no valid release costs less than; 0 for costs without a known bound."""
    problem, cost = arrays.problem, arrays.problem.cost
    least = smallest_group(problem)
    if type(cost) is Discernibility:
        return _squares(problem, least)
    if type(cost) is AverageClassSize:
        return _average(problem, cost, least)
    if type(cost) is SquaredError:
        return squared_error_bound(problem, cost, least, budget)
    if type(cost) is Classification:
        return _minority(problem, least)
    if isinstance(cost, PerRowCost | HierarchicalDiscernibility | NonUniformEntropy) and _is_built_in(cost):
        return _of_rows(arrays, least, budget)
    return 0.0


def _is_built_in(cost: object) -> bool:
    """Whether a cost is one whose rows are known to cost more under wider covers; others may mean something else."""
    return type(cost).__module__.startswith("discreet.problem.costs.")


def _squares(problem: Problem, least: int) -> float:
    """Return the least discernibility: p published rows in as many classes as fit, all of about the same size.

    The sum of squares of q sizes that add up to p is least if they are as equal as possible, and falls with q, which is
    at most p / least. A suppressed row costs n. Of all p that are allowed the best is taken.
    """
    n, limit = problem.table.n, min(problem.limit, problem.table.n)
    published = np.arange(max(n - limit, 0), n + 1, dtype=np.float64)
    published = published[(published >= least) | (published == 0)]
    if not published.size:
        return float(n)
    classes = np.floor(published / least)
    small = np.floor(published / np.maximum(classes, 1))
    larger = published - small * classes
    squares = np.where(classes > 0, (classes - larger) * small**2 + larger * (small + 1) ** 2, 0.0)
    return float((squares + (n - published) * n).min())


def _average(problem: Problem, cost: AverageClassSize, least: int) -> float:
    """Return the least average size: p published rows in as many classes as fit, for the best p that is allowed."""
    n, limit = problem.table.n, min(problem.limit, problem.table.n)
    published = np.arange(max(n - limit, least), n + 1, dtype=np.float64)
    sizes = published / np.maximum(np.floor(published / least), 1)
    return min(float(sizes.min(initial=np.inf)) / (cost.k or 1), cost.worst(problem.table))


def _minority(problem: Problem, least: int) -> float:
    """Return the most that one label of fewer rows than a class needs makes others pay, or pays itself.

    Let c < s rows have the label. Either it is the majority of no class, and all c rows cost 1; or it is of one, and
    the s - c other rows or more of that class do.
    """
    labels = problem.table.labels
    if labels is None:
        return 0.0
    counts = np.bincount(labels.values, weights=labels.counts, minlength=labels.cardinality)
    counts = counts[(counts > 0) & (counts < least)]
    if problem.table.n < least or not counts.size:
        return 0.0
    return float(np.minimum(counts, least - counts).max())


def _of_rows(arrays: GroupArrays, least: int, budget: Budget) -> float:
    """Return the sum over rows of what each costs at least.

    A row is in a class of at least s rows, so its cover holds its s-th nearest row, and a wider cover costs a row no
    less. In large tables only the number of rows counts: at least s rows of the table have a value in the cover.
    """
    table = arrays.problem.table
    n = table.tuples
    alone = _alone(arrays, np.arange(n), least)
    if n * n <= _PAIRS and not budget.exhausted:
        rate = np.maximum(_nearest(arrays, least, budget), alone)
    else:
        rate = alone
    if arrays.problem.limit:
        each = arrays.cover(np.arange(n), np.arange(n)).classes
        rate = np.minimum(rate, arrays.problem.cost.suppressed(each))
    return max(float((rate * table.weights).sum()) * _SAFE, 0.0)


def _alone(arrays: GroupArrays, tuples: IntArray, least: int) -> FloatArray:
    """Return what a row of each tuple costs at least, shown by itself, with at least so many rows in its cover."""
    classes = arrays.cover(tuples, np.arange(tuples.size)).classes
    assert classes.block_rows is not None
    rows = np.minimum(np.maximum(classes.block_rows, least), arrays.problem.table.n)
    return arrays.problem.cost.published(replace(classes, block_rows=rows))


def _nearest(arrays: GroupArrays, least: int, budget: Budget) -> FloatArray:
    """Return what a row of each tuple costs in the cover of itself and its s-th nearest row, itself counted."""
    table, cost = arrays.problem.table, arrays.problem.cost
    n, weights = table.tuples, table.weights
    found = np.zeros(n)
    step = max(1, _CHUNK // n)
    for begin in range(0, n, step):
        if budget.exhausted:
            break
        own = np.arange(begin, min(begin + step, n))
        one, other = np.repeat(own, n), np.tile(np.arange(n), own.size)
        both = np.stack([one, other], axis=1).ravel()
        covered = arrays.cover(both, np.arange(0, both.size, 2)).classes
        row = _one_row(arrays, covered, one)
        rates = cost.published(row).reshape(own.size, n)
        order = np.argsort(rates, axis=1, kind="stable")
        rows = np.cumsum(weights[order], axis=1)
        at = (rows < least).sum(axis=1)
        enough = at < n
        at = np.minimum(at, n - 1)
        reached = np.take_along_axis(rates, order, axis=1)[np.arange(own.size), at]
        found[own] = np.where(enough, reached, 0.0)
    return found


def _one_row(arrays: GroupArrays, classes: Classes, tuples: IntArray) -> Classes:
    """Return classes with the covers given and one row each, of the tuples given."""
    return replace(
        classes,
        sizes=np.ones(tuples.size, dtype=np.int64),
        moments=None if arrays.moments is None else arrays.moments[tuples],
        offsets=None if arrays.offsets is None else arrays.offsets[tuples],
    )
