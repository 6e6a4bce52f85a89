"""Lower bounds for many attributes: smaller problems on some of the attributes each, solved by themselves.

Let S be some of the attributes and x a node. With all attributes outside of S at their top, the classes of x are joined
to larger ones. For models that are superset closed, a row that is suppressed even there is suppressed at x. Where costs
add up over attributes, and suppressing a row costs at least as much as publishing it in each of them, x therefore costs
in the attributes of S at least what its part costs in the problem of S alone, and so at least the optimum of that. If
every attribute is in some sets, with shares that add up to one, the optima of all sets add up to a bound for x. A
search that is not complete contributes its own lower bound instead.

The larger the sets, the better the bound and the longer the searches: one family of sets comes after the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil, log2
from threading import Lock
from typing import Protocol

import numpy as np

from discreet.counts import CountTable, IntArray
from discreet.problem import Problem, Separable
from discreet.solve._base import Budget
from discreet.solve.lattice.kernels.state import INFINITE
from discreet.solve.lattice.pricing import base_costs, has_compiled_form, leaf_rates

__all__ = ["ProjectedSearch", "Projections", "can_project"]

_FIRST_BITS = 24.0
"""The most nodes of a set in the first family, as a power of two."""
_FURTHER = (3, 4, 6)
"""How many sets the further families have; each leaves out another part of the attributes."""
_LONG = 100
"""How often smaller problems are searched for a while before a bound that does not rise has stalled."""
_ROUNDING = 1e-12
"""What may be lost to rounding when bounds are added up, as a share of the worst cost."""


class ProjectedSearch(Protocol):
    """A search for the optimum of a smaller problem."""

    @property
    def bound(self) -> float:
        """What every node costs at least."""

    @property
    def done(self) -> bool:
        """Whether the bound is the optimum."""

    def advance(self) -> None:
        """Search for a while."""


MakeSearch = Callable[[Problem, Separable, Budget], ProjectedSearch]


def can_project(problem: Problem, separable: Separable | None) -> bool:
    """Return whether optima of smaller problems bound this one."""
    if (
        problem.people is not None
        or separable is None
        or not has_compiled_form(problem, separable)
        or not problem.cost.additive
    ):
        return False
    for rates, moment, offset, penalty in zip(
        leaf_rates(problem.table, separable), separable.moment, separable.offset, separable.penalty, strict=True
    ):
        if ((rates * moment + offset) > penalty * (1 + 1e-12) + 1e-12).any():
            return False
    return True


class Projections:
    """A bound that rises while smaller problems are searched."""

    def __init__(self, problem: Problem, separable: Separable, budget: Budget, make: MakeSearch) -> None:
        self.problem, self.separable, self.make = problem, separable, make
        self.budget = replace(budget, threads=1)
        self.bound = -np.inf
        self._families = families(problem)
        self._rounding = _ROUNDING * abs(problem.cost.worst(problem.table))
        self._searches: list[ProjectedSearch] = []
        self._bounds: list[float] = []
        self._waiting: deque[int] = deque()
        self._busy = 0
        self._beside = 0.0
        self._lock = Lock()
        self._idle = 0
        self.done = False

    @property
    def stalled(self) -> bool:
        """Whether the bound has not risen for long."""
        return self._idle > _LONG

    def advance(self) -> None:
        """Search one of the smaller problems for a while; several threads may call this at a time."""
        with self._lock:
            if not self._waiting and not self._busy:
                self._open(next(self._families, None))
            if not self._waiting:
                return
            number = self._waiting.popleft()
            self._busy += 1
        search = self._searches[number]
        try:
            search.advance()
        finally:
            with self._lock:
                self._busy -= 1
                if not search.done:
                    self._waiting.append(number)
                self._bounds[number] = max(self._bounds[number], search.bound)
                total = self._beside + sum(self._bounds)
                self._idle += 1
                if INFINITE > total > self.bound + self._rounding:
                    self.bound, self._idle = total - self._rounding, 0

    def _open(self, family: Sequence[Sequence[int]] | None) -> None:
        """Begin to search the problems of a family of sets."""
        if family is None:
            self.done = True
            return
        table, separable = self.problem.table, self.separable
        covers = np.bincount([i for members in family for i in members], minlength=len(table.attributes))
        costs = base_costs(table, separable, leaf_rates(table, separable))
        each = zip(costs, self.problem.lowest, covers, strict=True)
        self._beside = float(sum(cost[low] for cost, low, cover in each if cover == 0))
        self._searches = []
        for members in family:
            part = projected(self.problem, members)
            shares = [1.0 / covers[i] for i in members]
            self._searches.append(self.make(part, shared(separable, members, shares), self.budget))
        self._bounds = [search.bound for search in self._searches]
        self._waiting = deque(range(len(family)))


def families(problem: Problem) -> Iterator[list[list[int]]]:
    """Yield families of sets of attributes, ever larger ones: at first disjoint sets, then overlapping ones."""
    bits = [log2(high - low + 1) for low, high in zip(problem.lowest, problem.highest, strict=True)]
    entropy = [_entropy(a.block_rows[low]) for a, low in zip(problem.table.attributes, problem.lowest, strict=True)]
    free = [i for i in sorted(range(len(bits)), key=lambda i: (-entropy[i], i)) if bits[i] > 0]
    groups = ceil(sum(bits) / _FIRST_BITS)
    if groups > 1:
        yield [free[g::groups] for g in range(groups)]
        for parts in _FURTHER:
            yield [[i for place, i in enumerate(free) if place % parts != part] for part in range(parts)]


def _entropy(rows: IntArray) -> float:
    share = rows[rows > 0] / max(rows.sum(), 1)
    return float(-(share * np.log(share)).sum())


def projected(problem: Problem, members: Sequence[int]) -> Problem:
    """Return the problem of some attributes alone, with the same models, cost and suppression."""
    table = problem.table
    leaves = [attribute.ancestors[0] for attribute in table.attributes]
    grouping = table.group([leaf if i in members else np.zeros_like(leaf) for i, leaf in enumerate(leaves)])
    part = CountTable(
        attributes=tuple(table.attributes[i] for i in members),
        codes=np.ascontiguousarray(table.codes[np.array(members)][:, grouping.first]),
        weights=grouping.sizes.astype(np.int64),
    )
    return replace(
        problem,
        table=part,
        schemes=tuple(problem.schemes[i] for i in members),
        lowest=tuple(problem.lowest[i] for i in members),
        highest=tuple(problem.highest[i] for i in members),
    )


def shared(separable: Separable, members: Sequence[int], shares: Sequence[float]) -> Separable:
    """Return the parts of a cost that belong to some attributes, and a share of each."""
    pairs = list(zip(members, shares, strict=True))
    return Separable(
        rate=[[rates * share for rates in separable.rate[i]] for i, share in pairs],
        moment=[separable.moment[i] for i in members],
        offset=[separable.offset[i] * share for i, share in pairs],
        penalty=[separable.penalty[i] * share for i, share in pairs],
    )
