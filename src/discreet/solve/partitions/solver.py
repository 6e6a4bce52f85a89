"""Optimal global recoding under any mix of schemes: branch and bound over the partitions of all attributes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, ClassVar

import numpy as np

from discreet.counts import IntArray
from discreet.errors import UsageError
from discreet.problem import Problem
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.schemes import Scheme
from discreet.runtime.arguments import one_of, switch
from discreet.solve._base import SOLVERS, Budget, Progress, ProgressCallback, Solution, Solver, nothing_found
from discreet.solve._class_arrays import Released
from discreet.solve._kernel_loading import five_rows, two_rows, warm_up
from discreet.solve._recoding import Recoder, smallest_budget
from discreet.solve.partitions.bounds import BoundingMethod, PartitionBounds, price_kind
from discreet.solve.partitions.search import PartitionSearch, all_partitions
from discreet.solve.published.li_li.base import Direction
from discreet.solve.published.li_li.search import LiLiTechniques, check_li_li, li_li_search

__all__ = ["PARTITIONS", "PartitionsSolver", "compile_ahead", "solve_by_bounds"]

PARTITIONS = "search for partitions"
"""The name of the compiled program."""

_ROUNDING = 1e-11
_TECHNIQUES = ("node_pruning", "useless", "useful", "seeding", "modified_bfs", "node_order", "applicator_order")


@SOLVERS.register
@dataclass(frozen=True)
class PartitionsSolver(Solver):
    """Finds the cheapest partitions of all attributes together and proves it, for any mix of global schemes.

    With the other attributes fixed, the best partition of one attribute is found directly, by a dynamic program over
    its runs or sets of values. So the last attribute is never searched, and the same program bounds what each open
    attribute costs at least (see :mod:`discreet.solve.partitions.bounds`). The others are decided gap by gap or
    partition by partition; blocks that cannot be part of anything better than the incumbent are struck out.

    ``direction`` says which branch is examined first: the more specific one (``bottom-up``), the more general one
    (``top-down``), or the one with the smaller bound (``auto``).

    ``bounds=paper`` searches as Li and Li do (see :mod:`discreet.solve.published.li_li`): bottom-up, one merge at a
    time from the original values, or with ``direction=top-down`` one split at a time from the most general recoding.
    Their techniques are switches then: ``node_pruning``, ``useless``, ``useful``, ``seeding``,
    ``modified_bfs``, ``node_order`` and ``applicator_order``.

    >>> PartitionsSolver(direction="bottom-up").text
    'partitions(direction=bottom-up)'
    """

    name: ClassVar[str] = "partitions"
    examples: ClassVar[tuple[str, ...]] = ("partitions", "partitions(direction=top-down)")
    title: ClassVar[str] = "Partitions"
    summary: ClassVar[str] = "The optimum with a proof, for ranges and sets."
    reason: ClassVar[str] = (
        "It looks through {recodings}, leaves out what cannot win, and proves that nothing better was overlooked."
    )
    rank: ClassVar[int] = 30
    schemes: ClassVar[frozenset[str]] = frozenset(
        {"full-domain", "subtree", "ordered", "guided-ordered", "set", "guided-set"}
    )
    suppressions: ClassVar[frozenset[str]] = frozenset({"none", "budget", "class-records"})
    exact: ClassVar[bool] = True

    direction: str = "auto"
    bounds: str = "tight"
    node_pruning: bool = True
    useless: bool = True
    useful: bool = True
    seeding: bool = True
    modified_bfs: bool = True
    node_order: bool = True
    applicator_order: bool = True

    def __post_init__(self) -> None:
        one_of(self.direction, "The direction of partitions", ("auto", "bottom-up", "top-down"))
        one_of(self.bounds, "The bounds of partitions", ("tight", "paper"))
        for name in _TECHNIQUES:
            switch(getattr(self, name), f"{name} of partitions")
            if self.bounds == "tight" and not getattr(self, name):
                raise UsageError(f"{name} is a technique of the published search; add bounds=paper to switch it off.")

    def searches(self, scheme: Scheme) -> bool:
        """Return whether the scheme is global; partitions of unknown schemes are enumerated."""
        return scheme.is_global

    def check(self, problem: Problem) -> None:
        """Refuse costs that do not define the price of a block, and what the published search cannot do."""
        if self.bounds == "paper":
            check_li_li(problem)
        else:
            price_kind(problem)

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best partitions found and what is proven about them."""
        if self.bounds == "tight":
            return solve_by_bounds(problem, budget, progress, self.direction)
        with budget.paused():
            compile_ahead()
        return _solution(problem, budget, self._as_published(problem, budget, progress))

    def compiled(self, problem: Problem) -> bool:
        """Return whether every model is k-anonymity; others are evaluated through arrays."""
        return all(type(model) is KAnonymity for model in problem.privacy)

    def _as_published(self, problem: Problem, budget: Budget, progress: ProgressCallback | None) -> _SearchResult:
        check_li_li(problem)
        direction: Direction = "top-down" if self.direction == "top-down" else "bottom-up"
        techniques = LiLiTechniques(direction, *(getattr(self, name) for name in _TECHNIQUES))
        outcome = li_li_search(problem, techniques, budget, progress)
        pruned = {name: outcome.counters[name] for name in ("infeasible", "bound", "reconsidered", "useless", "useful")}
        stats = {
            "direction": direction,
            "visited": outcome.counters["visited"],
            "examined": outcome.counters["evaluated"],
            "seeds": outcome.counters["seeds"],
            "pruned": pruned,
        }
        return _SearchResult(outcome.blocks, outcome.lower_bound, outcome.complete, stats, outcome.trace)


@dataclass(frozen=True, eq=False)
class _SearchResult:
    """What a search found: the block of each leaf, None if nothing, and what is proven about it."""

    blocks: tuple[IntArray, ...] | None
    bound: float
    complete: bool
    stats: dict[str, Any]
    trace: list[Progress]


def solve_by_bounds(
    problem: Problem,
    budget: Budget,
    progress: ProgressCallback | None,
    direction: str = "auto",
    bounds: type[BoundingMethod] = PartitionBounds,
) -> Solution:
    """Return the best partitions found by branch and bound and what is proven about them."""
    with budget.paused():
        compile_ahead()
    search = PartitionSearch(problem, budget, progress, direction, bounds)
    complete = search.run()
    return _solution(
        problem,
        budget,
        _SearchResult(search.best_blocks, search.least, complete, search.stats(), search.trace),
    )


def _solution(problem: Problem, budget: Budget, found: _SearchResult) -> Solution:
    """Evaluate the partitions found afresh, and state what is proven about them."""
    stats = {**_space(problem), **found.stats}
    if found.blocks is None:
        if not found.complete:
            raise nothing_found(budget)
        return _infeasible(problem, stats)
    recoded = Recoder(problem).evaluate(_as_released(problem, found.blocks))
    if found.complete:
        return recoded.solution("optimal", recoded.cost, stats, found.trace)
    return recoded.solution("feasible", found.bound - _ROUNDING * abs(found.bound), stats, found.trace)


def _space(problem: Problem) -> dict[str, Any]:
    """The number of combinations of partitions."""
    each = list(zip(problem.schemes, problem.table.attributes, strict=True))
    return {
        "space": prod(scheme.count(attribute) for scheme, attribute in each),
        "formal_space": prod(scheme.formal_count(attribute) for scheme, attribute in each),
    }


def _as_released(problem: Problem, blocks: tuple[Any, ...]) -> Released:
    """Return the recoding, by levels where all attributes are full-domain."""
    if all(scheme.name == "full-domain" for scheme in problem.schemes):
        levels = [
            next(level for level in range(low, high + 1) if (attribute.ancestors[level] == own).all())
            for attribute, own, low, high in zip(
                problem.table.attributes, blocks, problem.lowest, problem.highest, strict=True
            )
        ]
        return Released.by_levels(problem.table, levels)
    return Released.by_blocks(problem.table, blocks)


def _infeasible(problem: Problem, stats: dict[str, Any]) -> Solution:
    """Report that nothing is valid and, where known, how many rows would have to be suppressed."""
    general = [partitions.leaf_blocks(partitions.most_general()) for partitions in all_partitions(problem, None)]
    fewest = smallest_budget(problem, Released.by_blocks(problem.table, general))
    return Solution("infeasible", np.inf, np.inf, smallest_budget=fewest, stats=stats)


@cache
def compile_ahead() -> None:
    """Load the kernels, or compile them the first time ever, on tables of a few rows."""
    warm_up(PARTITIONS, _solve_few_rows)


def _solve_few_rows() -> None:
    """Solve the smallest problems that together need every kernel."""
    two, five = two_rows(attributes=2), five_rows()
    for problem in (
        Problem.build(two, privacy="k(2)", cost="DM", scheme="ordered"),
        Problem.build(two, privacy="k(2)", cost="HDM", scheme="set"),
        Problem.build(two, privacy="distinct-l(2, s)", cost="LM", scheme="set"),
        Problem.build(five, privacy="k(2)", cost="LM", scheme="set", suppression="budget(0.2)"),
    ):
        search = PartitionSearch(problem, Budget(), None)
        search.run()
        search.anneal(evaluations=0)
