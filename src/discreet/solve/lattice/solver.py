"""Optimal full-domain generalization: branch and bound over the lattice of level vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import ClassVar

import numpy as np

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.problem import Classes, Cost, Problem, Separable
from discreet.problem.suppression.class_records import ClassRecords
from discreet.solve._base import SOLVERS, Budget, ProgressCallback, Solution, Solver, Status
from discreet.solve._class_arrays import Released
from discreet.solve._kernel_loading import two_rows, warm_up
from discreet.solve._key_sets import compile_ahead as load_key_sets
from discreet.solve._people import load_people_kernels
from discreet.solve._recoding import Recoder, smallest_budget
from discreet.solve.lattice.drive import LatticeDrive
from discreet.solve.lattice.pool import return_pool
from discreet.solve.lattice.pricing import has_compiled_form

__all__ = ["LatticeSolver", "RowsLost", "compile_ahead"]


@SOLVERS.register
@dataclass(frozen=True)
class LatticeSolver(Solver):
    """Finds the level vector of least cost and proves it, for every privacy model, cost and suppression kind.

    Nodes are evaluated by rolling up the classes of earlier ones. Each evaluation bounds the cost of all nodes above
    and below, so that a small part of the lattice is evaluated. The lattice itself is never enumerated: memory grows
    with the open boxes, up to a limit. Stopped early, the least bound of what is still open is a true lower bound. A
    time limit takes effect once there is something to release.
    """

    name: ClassVar[str] = "lattice"
    examples: ClassVar[tuple[str, ...]] = ("lattice",)
    title: ClassVar[str] = "Lattice"
    summary: ClassVar[str] = "The optimum with a proof, for the same level in a whole column."
    reason: ClassVar[str] = (
        "It looks through {recodings} by level, leaves out what cannot win, and proves that nothing better was "
        "overlooked."
    )
    rank: ClassVar[int] = 10
    schemes: ClassVar[frozenset[str]] = frozenset({"full-domain"})
    suppressions: ClassVar[frozenset[str]] = frozenset(
        {
            "none",
            "budget",
            "class-records",
            "violating-records",
            "class-values",
            "violating-values",
            "pre-sampling",
        }
    )
    exact: ClassVar[bool] = True
    sees_population: ClassVar[bool] = True
    sees_table: ClassVar[bool] = True
    sees_people: ClassVar[bool] = True
    sees_key_sets: ClassVar[bool] = True
    sees_key_sets_of_people: ClassVar[bool] = True

    def compiled(self, problem: Problem) -> bool:
        """Return whether every model is k-anonymity, the cost has a compiled form, and only whole classes go."""
        return has_compiled_form(problem, problem.cost.separable(problem.table))

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best level vector found and what is proven about it."""
        separable = problem.cost.separable(problem.table)
        with budget.paused():
            _load_kernels(compiled=has_compiled_form(problem, separable))
            if problem.people is not None:
                load_people_kernels()
            if problem.key_sets:
                load_key_sets()
        return _solve(problem, separable, budget, progress)


def _solve(
    problem: Problem, separable: Separable | None, budget: Budget, progress: ProgressCallback | None = None
) -> Solution:
    drive = LatticeDrive(problem, separable, budget)
    drive.run(progress)
    solution = _solution(drive)
    return_pool(problem.table, drive.nodes.evaluator.pool)
    return solution


@cache
def _load_kernels(compiled: bool) -> None:
    """Load the kernels, or compile them the first time ever, on a table of two rows."""
    privacy, cost = ("k(2)", "LM") if compiled else ("distinct-l(2, s)", "NCP")

    def solve_two_rows() -> None:
        problem = Problem.build(two_rows(), privacy=privacy, cost=cost)
        separable = problem.cost.separable(problem.table)
        drive = LatticeDrive(problem, separable, Budget())
        drive.run()
        drive.nodes.rehearse(drive.search)
        _solution(drive)

    warm_up("lattice search" if compiled else "lattice search through arrays", solve_two_rows)


def compile_ahead() -> None:
    """Compile every kernel now rather than at the first search; later calls, and later processes, find them ready."""
    _load_kernels(compiled=True)
    _load_kernels(compiled=False)
    load_people_kernels()
    load_key_sets()


def _lowest_alike(problem: Problem, node: IntArray) -> IntArray:
    """Lower each level while all values that occur keep their blocks: the same classes, closer to the data."""
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
    """The fewest rows (or people) whose suppression makes the problem feasible; None if it is not found in time."""
    if problem.limit_of_people:
        return smallest_budget(problem, Released.by_levels(problem.table, problem.highest))
    easier = replace(problem, cost=RowsLost(), suppression=ClassRecords())
    solution = _solve(easier, None, budget)
    return solution.suppressed_rows if solution.status == "optimal" else None


def _solution(drive: LatticeDrive) -> Solution:
    """Evaluate the incumbent afresh, through the plain arrays, and state what is proven about it."""
    problem, evaluator, search, trace = drive.problem, drive.nodes.evaluator, drive.search, drive.trace
    state = search.state
    stats = {
        "space": prod(h - low + 1 for low, h in zip(problem.lowest, problem.highest, strict=True)),
        "examined": int(state.evaluated),
        "pruned": {
            "boxes closed by their bound": int(state.closed),
            "boxes cut by a node above": int(state.cut_below),
            "boxes cut by a node below": int(state.cut_above),
            "boxes halved": int(state.halved),
        },
    }
    if np.isinf(drive.best):
        by_records = problem.limit < problem.table.n and not problem.suppression.hides_values
        smallest = _smallest_budget(problem, drive.budget) if by_records else None
        return Solution("infeasible", np.inf, np.inf, smallest_budget=smallest, stats=stats, trace=tuple(trace))
    node: IntArray = search.incumbent
    found = evaluator.evaluate(node, tuples=True)
    lower = _lowest_alike(problem, node)
    if (lower != node).any():
        alike = evaluator.evaluate(lower, tuples=True)
        if alike.cost <= found.cost:
            node, found = lower, alike
    bound = found.cost if drive.done else min(found.cost, drive.bound)
    status: Status = "optimal" if drive.done else "feasible"
    if not evaluator.whole_classes:
        recoded = Recoder(problem).evaluate(Released.by_levels(problem.table, node))
        return recoded.solution(status, bound, stats, trace)
    levels = tuple(int(level) for level in node)
    return Solution(
        status=status,
        cost=found.cost,
        lower_bound=bound,
        blocks=tuple(a.ancestors[level] for a, level in zip(problem.table.attributes, levels, strict=True)),
        levels=levels,
        suppressed=found.suppressed,
        suppressed_people=found.suppressed_people,
        suppressed_rows=found.suppressed_rows,
        classes=found.classes,
        stats=stats,
        trace=tuple(trace),
    )
