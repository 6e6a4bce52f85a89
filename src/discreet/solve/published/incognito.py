"""Incognito (LeFevre, DeWitt, Ramakrishnan 2005): all full-domain recodings without suppression, subset by subset."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, Histogram, IntArray
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem import Problem
from discreet.problem.costs.discernibility import Discernibility
from discreet.runtime.integer_codes import add_up
from discreet.solve._base import SOLVERS, Budget, Progress, ProgressCallback, Solution, Solver
from discreet.solve._class_arrays import Released
from discreet.solve._recoding import Recoder, smallest_budget
from discreet.solve.lattice.evaluate import NodeEvaluator
from discreet.solve.lattice.solver import compile_ahead

__all__ = ["IncognitoSolver"]

_MOST_NODES = 1 << 27
"""Larger lattices do not fit in memory."""

Nodes = NDArray[np.bool_]
"""A set of level vectors over some attributes, as one flag for each."""


@SOLVERS.register
@dataclass(frozen=True)
class IncognitoSolver(Solver):
    """Finds all level vectors whose classes are all valid, and returns the cheapest.

    It goes through the subsets of quasi-identifiers, small ones first. A node of a subset is a candidate if it is valid
    on every subset with one attribute less (join and prune). Candidates are checked breadth first, from the most
    specific up: all generalizations of a valid node are valid (roll-up property) and need no check. Both rest on models
    for which a union of valid classes is valid, as classes of a more general recoding, or of fewer attributes, are
    unions of classes; other models are refused. Class counts are rolled up from nodes below.

    Incognito knows no cost. Of the nodes found, those that can be best are priced at the end: the minimal ones if more
    general classes never cost less, otherwise all. If it is stopped, the best node known by then is returned.

    >>> IncognitoSolver().text
    'incognito'
    """

    name: ClassVar[str] = "incognito"
    examples: ClassVar[tuple[str, ...]] = ("incognito",)
    title: ClassVar[str] = "Incognito"
    summary: ClassVar[str] = "Looks at every possible release: slow, for comparison."
    rank: ClassVar[int] = 60
    schemes: ClassVar[frozenset[str]] = frozenset({"full-domain"})
    suppressions: ClassVar[frozenset[str]] = frozenset({"none", "pre-sampling"})
    exact: ClassVar[bool] = True
    baseline: ClassVar[bool] = True
    sees_table: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        """Refuse models that may be broken above a node at which they hold."""
        for model in problem.privacy:
            if not model.union_closed:
                raise UnsupportedCombinationError(
                    f"The solver {self.name}",
                    f"the privacy model {model.name}",
                    "it may be broken above a node that satisfies it; choose the solver lattice",
                )

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the cheapest level vector without suppression, optimal unless the search was stopped."""
        self.check(problem)
        if _space(problem) > _MOST_NODES:
            raise UsageError(
                f"The solver {self.name} lists all {_space(problem):,} nodes of the lattice, which are too many; "
                "choose the solver lattice.",
                topic="too-large",
            )
        with budget.paused():
            compile_ahead()
        return IncognitoSearch(problem, budget, progress).run()


def _space(problem: Problem) -> int:
    return math.prod(high - low + 1 for low, high in zip(problem.lowest, problem.highest, strict=True))


@dataclass(eq=False)
class IncognitoSearch:
    """One run: counters, and the best node so far."""

    problem: Problem
    budget: Budget
    progress: ProgressCallback | None
    candidates: int = 0
    checked: int = 0
    best: tuple[int, ...] = ()
    best_cost: float = math.inf
    trace: list[Progress] = field(default_factory=list)

    def __post_init__(self) -> None:
        table = self.problem.table
        self.recoder = Recoder(self.problem)
        self.shape = [high - low + 1 for low, high in zip(self.problem.lowest, self.problem.highest, strict=True)]
        self.bound = self.recoder.floor(Released.by_levels(table, self.problem.lowest))

    def run(self) -> Solution:
        """Go through all subsets of attributes, then price the valid nodes."""
        top = Released.by_levels(self.problem.table, self.problem.highest)
        if not self._price(self.problem.highest):
            fewest = smallest_budget(self.problem, top)
            return Solution("infeasible", np.inf, np.inf, smallest_budget=fewest, stats=self._stats())
        finished = False
        try:
            finished = self._price_all(self._all_ok_nodes())
        except KeyboardInterrupt:
            self.budget.stop.set()
        found = self.recoder.evaluate(Released.by_levels(self.problem.table, self.best))
        status, bound = ("optimal", found.cost) if finished else ("feasible", self.bound)
        return found.solution(status, bound, self._stats(), self.trace)  # type: ignore[arg-type]

    def _all_ok_nodes(self) -> Nodes:
        """Return which nodes over all attributes are valid; if stopped, those known to be."""
        every = range(len(self.shape))
        smaller: dict[tuple[int, ...], Nodes] = {(): np.ones((), dtype=np.bool_)}
        for size in range(1, len(self.shape) + 1):
            found = {}
            for chosen in itertools.combinations(every, size):
                if self.budget.exhausted:
                    return np.zeros(self.shape, dtype=np.bool_)
                found[chosen] = self._ok_nodes(chosen, self._join(chosen, smaller))
            smaller = found
        return smaller[tuple(every)]

    def _join(self, chosen: tuple[int, ...], smaller: dict[tuple[int, ...], Nodes]) -> Nodes:
        """Return the nodes that are valid on every subset with one attribute less."""
        joined = np.ones([self.shape[i] for i in chosen], dtype=np.bool_)
        for axis, left_out in enumerate(chosen):
            joined &= np.expand_dims(smaller[tuple(i for i in chosen if i != left_out)], axis)
        return joined

    def _ok_nodes(self, chosen: tuple[int, ...], candidates: Nodes) -> Nodes:
        """Return which candidates are valid, checking from the most specific up."""
        ok = np.zeros_like(candidates)
        nodes = np.argwhere(candidates)
        self.candidates += len(nodes)
        part = _restricted_to(self.problem, chosen)
        evaluator = NodeEvaluator(part)
        for node in nodes[np.argsort(nodes.sum(axis=1), kind="stable")]:
            if ok[tuple(node)]:
                continue
            if self.budget.exhausted:
                break
            self.checked += 1
            if evaluator.all_ok(node + part.lowest):
                ok[tuple(slice(level, None) for level in node)] = True
        if self.progress is not None:
            self.progress(self._now())
        return ok

    def _price_all(self, ok: Nodes) -> bool:
        """Price the nodes that can be best; returns whether all of them were priced."""
        open_ = _minimal(ok) if self.problem.cost.superadditive else ok
        for node in np.argwhere(open_):
            if self.budget.exhausted:
                return False
            self._price([int(level) for level in node + self.problem.lowest])
        return not self.budget.exhausted

    def _price(self, levels: Sequence[int]) -> bool:
        """Price a node; returns whether it is valid."""
        cost = self.recoder.cost(Released.by_levels(self.problem.table, levels))
        if cost < self.best_cost:
            self.best, self.best_cost = tuple(levels), cost
            self.trace.append(self._now())
            if self.progress is not None:
                self.progress(self.trace[-1])
        return math.isfinite(cost)

    def _now(self) -> Progress:
        return Progress(self.budget.seconds, self.best_cost, min(self.bound, self.best_cost), self.checked)

    def _stats(self) -> dict[str, Any]:
        nodes = math.prod(levels + 1 for levels in self.shape) - 1
        return {
            "space": math.prod(self.shape),
            "nodes_of_all_sets": nodes,
            "examined": self.checked,
            "pruned": {
                "nodes not ok on fewer attributes": nodes - self.candidates,
                "nodes above one that is ok": self.candidates - self.checked,
            },
        }


def _minimal(ok: Nodes) -> Nodes:
    """Return the minimal nodes of a set that is closed under generalization."""
    minimal = ok.copy()
    for axis in range(ok.ndim):
        upper = tuple(slice(1, None) if i == axis else slice(None) for i in range(ok.ndim))
        lower = tuple(slice(None, -1) if i == axis else slice(None) for i in range(ok.ndim))
        minimal[upper] &= ~ok[lower]
    return minimal


def _restricted_to(problem: Problem, chosen: tuple[int, ...]) -> Problem:
    """Return the problem on some of its attributes; tuples that are equal there at the lowest levels are merged."""
    table = problem.table
    blocks = [
        attribute.ancestors[low] if i in chosen else np.zeros(attribute.leaves, dtype=np.int64)
        for i, (attribute, low) in enumerate(zip(table.attributes, problem.lowest, strict=True))
    ]
    grouping = table.group(blocks)
    watched = {str(getattr(model, "attribute", "")) for model in problem.privacy}
    fewer = CountTable(
        attributes=tuple(table.attributes[i] for i in chosen),
        codes=table.codes[list(chosen)][:, grouping.first],
        weights=np.asarray(grouping.sizes, dtype=np.int64),
        sensitive={
            name: _merged_histogram(histogram, grouping.ids, grouping.sizes.size)
            for name, histogram in table.sensitive.items()
            if name in watched
        },
    )
    return replace(
        problem,
        table=fewer,
        cost=Discernibility(),
        schemes=tuple(problem.schemes[i] for i in chosen),
        lowest=tuple(problem.lowest[i] for i in chosen),
        highest=tuple(problem.highest[i] for i in chosen),
    )


def _merged_histogram(histogram: Histogram, ids: IntArray, count: int) -> Histogram:
    """Return the histogram with tuples merged by number."""
    key = np.repeat(ids.astype(np.int64), np.diff(histogram.offsets)) * histogram.cardinality + histogram.values
    cells, where = np.unique(key, return_inverse=True)
    counts = add_up(where.reshape(-1), histogram.counts)
    offsets = np.searchsorted(cells // histogram.cardinality, np.arange(count + 1))
    return replace(histogram, offsets=offsets, values=cells % histogram.cardinality, counts=counts)
