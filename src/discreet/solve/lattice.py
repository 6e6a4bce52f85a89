"""Optimal full-domain generalization: branch and bound over the lattice of level vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any, ClassVar

import numpy as np

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.kernels.classes import Lattice
from discreet.kernels.lattice import run
from discreet.kernels.search import DONE, EVALUATE, GROW, choose, go_deep, lower_bound, open_root, tell
from discreet.kernels.state import COUNTERS, FACTS, FREED, INCUMBENT, INFINITE, Search
from discreet.problem import Classes, Cost, Problem, Separable
from discreet.problem.suppression.class_records import ClassRecords
from discreet.solve._base import SOLVERS, Budget, Progress, ProgressCallback, Solution, Solver, nothing_found
from discreet.solve._evaluate import NodeEvaluator, lay_out
from discreet.solve._prices import has_compiled_form, leaf_rates, make_prices
from discreet.solve._space import borrow, give_back
from discreet.solve._warm_up import two_rows, warm_up

__all__ = ["LatticeSolver", "RowsLost", "prepare"]

_WORK = 2_000_000
"""Class entries looked at between two looks at the clock."""
_AT_LEAST = 8
"""Nodes evaluated before a budget that is exhausted from the start is heeded."""
_FIRST = 1 << 10
"""Evaluated nodes and open boxes there is room for at first."""
_MOST_BOXES = 1 << 20
"""Open boxes kept before the search turns depth first."""

Step = Callable[[Search], int]
"""Search for a while; returns DONE, EVALUATE (time to look at the clock) or GROW."""


@SOLVERS.register
@dataclass(frozen=True)
class LatticeSolver(Solver):
    """Finds the level vector of least cost and proves it, for every privacy model and every cost.

    Nodes are evaluated by rolling up the classes of earlier ones. Each tells something about all nodes above it and
    all nodes below it (see :mod:`discreet.kernels.search`), so that a small part of the lattice is evaluated. The
    lattice itself is never written down: memory grows with the open boxes, up to a limit. Stopped early, the least
    bound of what is still open is a true lower bound. A time limit is heeded once there is something to release.
    """

    name: ClassVar[str] = "lattice"
    schemes: ClassVar[frozenset[str]] = frozenset({"full-domain"})
    suppressions: ClassVar[frozenset[str]] = frozenset({"none", "budget", "class-records", "pre-sampling"})
    exact: ClassVar[bool] = True
    sees_population: ClassVar[bool] = True
    sees_table: ClassVar[bool] = True

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best level vector found and what is proven about it."""
        separable = problem.cost.separable(problem.table)
        with budget.paused():
            _load_kernels(compiled=has_compiled_form(problem, separable))
        return _solve(problem, separable, budget, progress)


def _solve(
    problem: Problem, separable: Separable | None, budget: Budget, progress: ProgressCallback | None = None
) -> Solution:
    lattice = lay_out(problem)
    rates = leaf_rates(problem.table, separable)
    search = _set_up(problem, lattice, separable, rates)
    open_root(search)
    if has_compiled_form(problem, separable):
        step, evaluator = _compiled_step(problem, lattice, separable, rates)
    else:
        evaluator = NodeEvaluator(problem, lattice)
        step = _plain_step(evaluator)
    trace: list[Progress] = []
    search, outcome = _drive(search, step, budget, progress, trace)
    solution = _solution(evaluator, search, outcome, trace, budget)
    give_back(problem.table, lattice, evaluator.lists, evaluator.ws)
    return solution


@cache
def _load_kernels(compiled: bool) -> None:
    """Load the kernels, or compile them the first time ever, on a table of two rows."""
    privacy, cost = ("k(2)", "LM") if compiled else ("distinct-l(2, s)", "NCP")
    problem = Problem.build(two_rows(), privacy=privacy, cost=cost)
    separable = problem.cost.separable(problem.table)
    warm_up(lambda: _solve(problem, separable, Budget()))


def prepare() -> None:
    """Compile every kernel now rather than at the first search; later calls, and later processes, find them ready."""
    _load_kernels(compiled=True)
    _load_kernels(compiled=False)


def _drive(
    search: Search, step: Step, budget: Budget, progress: ProgressCallback | None, trace: list[Progress]
) -> tuple[Search, int]:
    """Search until the proof is complete or the budget is exhausted."""
    outcome = EVALUATE
    while True:
        try:
            outcome = step(search)
        except KeyboardInterrupt:
            budget.stop.set()
        if outcome == GROW:
            search = _grow(search)
        now = Progress(budget.seconds, _best(search), float(lower_bound(search)), int(search.count[0]))
        if not trace or now.best < trace[-1].best or now.bound > trace[-1].bound:
            trace.append(now)
        if progress is not None:
            progress(now)
        if outcome == DONE:
            return search, outcome
        if budget.stop.is_set() and np.isinf(now.best) and now.examined > _AT_LEAST:
            raise nothing_found(budget)
        if budget.exhausted and np.isfinite(now.best) and now.examined > _AT_LEAST:
            return search, EVALUATE


def _best(search: Search) -> float:
    best = float(search.best[0])
    return best if best < INFINITE else float("inf")


def _compiled_step(
    problem: Problem, lattice: Lattice, separable: Separable | None, rates: list[FloatArray]
) -> tuple[Step, NodeEvaluator]:
    """The search as one kernel, and an evaluator in the space it works in, for when it is over."""
    table = problem.table
    prices, sums = make_prices(problem, lattice, separable, rates)
    lists, ws = borrow(table, lattice, sums)
    node = np.zeros(len(table.attributes), dtype=np.int64)

    def step(search: Search) -> int:
        return int(run(lattice, lists, ws, prices, search, node, table.tuples, _WORK))

    return step, NodeEvaluator(problem, lattice, lists, ws)


def _plain_step(evaluator: NodeEvaluator) -> Step:
    """The search with models and cost called through their arrays, one node at a time."""
    node = np.zeros(len(evaluator.table.attributes), dtype=np.int64)

    def step(search: Search) -> int:
        outcome = int(choose(search, node))
        if outcome == EVALUATE:
            found = evaluator.evaluate(node)
            tell(search, node, found.removed, found.lower, found.upper, min(found.cost, INFINITE))
        return outcome

    return step


def _set_up(problem: Problem, lattice: Lattice, separable: Separable | None, rates: list[FloatArray]) -> Search:
    """Allocate the search and fill in what is known beforehand."""
    table = problem.table
    m, depth = lattice.start.shape
    base, margin = np.zeros((m, depth)), np.zeros((m, depth))
    if separable is not None:
        for i, attribute in enumerate(table.attributes):
            per_leaf = rates[i] * separable.moment[i] + separable.offset[i]
            base[i, : len(per_leaf)] = (per_leaf * attribute.rows).sum(axis=1)
            margin[i, : len(per_leaf)] = (separable.penalty[i] - per_leaf).min(axis=1)
    worst = problem.cost.worst(table)
    facts = {
        "separable": separable is not None,
        "limit": problem.limit,
        "rows": table.n,
        "worst": worst,
        "per_row": worst / table.n,
    }
    model = np.eye(m + 3, m + 1) * 10.0
    model[m + 1, :m], model[m + 1, m] = 0.2, -2.5
    model[m + 2, :m], model[m + 2, m] = -1.0, np.log(worst + 1.0)
    search = Search(
        base=base,
        entropy=lattice.entropy,
        margin=np.maximum(margin, 0.0),
        levels=np.stack([lattice.lowest, lattice.highest]),
        facts=np.array([float(facts[name]) for name in FACTS]),
        node=np.zeros((_FIRST, m), dtype=np.int16),
        bits=np.zeros((_FIRST + 4, 1 + int((lattice.highest - lattice.lowest).sum()) // 64), dtype=np.uint64),
        part=np.zeros((_FIRST, 3)),
        corner=np.zeros((_FIRST, 2, m), dtype=np.int16),
        number=np.zeros((_FIRST, 4)),
        link=np.zeros((4, _FIRST), dtype=np.int64),
        count=np.zeros(len(COUNTERS), dtype=np.int64),
        best=np.array([INFINITE, 0.0, 0.0]),
        vector=np.zeros((7, m), dtype=np.int64),
        model=model,
    )
    search.link[FREED] = np.arange(_FIRST)[::-1]
    search.count[COUNTERS.index("free")] = _FIRST
    return search


def _grow(search: Search) -> Search:
    """Double whatever is full; once there are very many boxes, go on depth first in what is left."""
    count, m = search.count, search.node.shape[1]
    if count[COUNTERS.index("evaluated")] >= search.node.shape[0]:
        extra = search.node.shape[0]
        search = search._replace(
            node=_extended(search.node, extra), bits=_extended(search.bits, extra), part=_extended(search.part, extra)
        )
    free, size = int(count[COUNTERS.index("free")]), search.number.shape[0]
    if free < 2 * m + 4:
        extra = size
        if size >= _MOST_BOXES:
            go_deep(search)
            extra = m * (int((search.levels[1] - search.levels[0]).sum()) + 4)
        link = np.ascontiguousarray(_extended(search.link.T, extra).T)
        link[FREED, free : free + extra] = np.arange(size + extra - 1, size - 1, -1)
        count[COUNTERS.index("free")] += extra
        search = search._replace(
            corner=_extended(search.corner, extra), number=_extended(search.number, extra), link=link
        )
    return search


def _extended(array: Any, extra: int) -> Any:
    return np.concatenate([array, np.zeros((extra, *array.shape[1:]), dtype=array.dtype)])


def _lowest_alike(problem: Problem, node: IntArray) -> IntArray:
    """Lower each level as long as that tells no two values that occur apart: the same classes, closer to the data."""
    node = node.copy()
    for i, attribute in enumerate(problem.table.attributes):
        blocks = [int(np.count_nonzero(rows)) for rows in attribute.block_rows]
        while node[i] > problem.lowest[i] and blocks[node[i] - 1] == blocks[node[i]]:
            node[i] -= 1
    return node


@dataclass(frozen=True)
class RowsLost(Cost):
    """The number of suppressed rows, to find the smallest budget that can be met."""

    name: ClassVar[str] = "rows-lost"
    superadditive: ClassVar[bool] = True

    def published(self, classes: Classes) -> FloatArray:
        """Return 0 for each class."""
        return np.zeros(len(classes))

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return the rows of each class."""
        return classes.sizes.astype(np.float64)

    def worst(self, table: CountTable) -> float:
        """Return the rows of the table."""
        return float(table.n)

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return 1: every row counts."""
        return np.ones(len(classes))


def _smallest_budget(problem: Problem, budget: Budget) -> int | None:
    """The fewest rows whose suppression makes the problem feasible; None if that cannot be told in time."""
    easier = replace(problem, cost=RowsLost(), suppression=ClassRecords())
    solution = _solve(easier, None, budget)
    return solution.suppressed_rows if solution.status == "optimal" else None


def _solution(
    evaluator: NodeEvaluator, search: Search, outcome: int, trace: list[Progress], budget: Budget
) -> Solution:
    """Evaluate the incumbent afresh, through the plain arrays, and state what is proven about it."""
    problem = evaluator.problem
    count = dict(zip(COUNTERS, search.count.tolist(), strict=True))
    stats = {
        "space": prod(h - low + 1 for low, h in zip(problem.lowest, problem.highest, strict=True)),
        "examined": count["evaluated"],
        "pruned": {
            "boxes closed by their bound": count["closed"],
            "boxes cut by a node above": count["cut_below"],
            "boxes cut by a node below": count["cut_above"],
            "boxes halved": count["halved"],
        },
    }
    if np.isinf(_best(search)):
        smallest = _smallest_budget(problem, budget) if problem.limit < problem.table.n else None
        return Solution("infeasible", np.inf, np.inf, smallest_budget=smallest, stats=stats, trace=tuple(trace))
    node = search.vector[INCUMBENT]
    found = evaluator.evaluate(node, tuples=True)
    lower = _lowest_alike(problem, node)
    if (lower != node).any():
        alike = evaluator.evaluate(lower, tuples=True)
        if alike.cost <= found.cost:
            node, found = lower, alike
    bound = found.cost if outcome == DONE else min(found.cost, float(lower_bound(search)))
    levels = tuple(int(level) for level in node)
    return Solution(
        status="optimal" if outcome == DONE else "feasible",
        cost=found.cost,
        lower_bound=bound,
        blocks=tuple(a.ancestors[level] for a, level in zip(problem.table.attributes, levels, strict=True)),
        levels=levels,
        suppressed=found.suppressed,
        suppressed_rows=found.suppressed_rows,
        classes=found.classes,
        stats=stats,
        trace=tuple(trace),
    )
