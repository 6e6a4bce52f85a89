"""Optimal generalization by any scheme: a search over the partitions of all attributes, from below and from above."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any, ClassVar

import numpy as np

from discreet.counts import IntArray
from discreet.errors import UsageError
from discreet.problem import Problem
from discreet.problem._checks import one_of, switch
from discreet.problem.schemes import Scheme
from discreet.problem.suppression.class_records import ClassRecords
from discreet.solve._base import SOLVERS, Budget, Progress, ProgressCallback, Solution, Solver, nothing_found
from discreet.solve._gather import Released
from discreet.solve._paper_partitions import Published, check_published, search_as_published
from discreet.solve._partition_bounds import kind_of_cost
from discreet.solve._partition_search import PartitionSearch, open_choices, original
from discreet.solve._recoded import Recoder, smallest_budget
from discreet.solve._warm_up import five_rows, two_rows, warm_up

__all__ = ["PartitionsSolver", "prepare"]

_ROUNDING = 1e-11
_FEW = 0.05
"""With a smaller share of rows that are not safe as they are, a search from the original values is the quicker one."""
_TECHNIQUES = ("node_pruning", "useless", "useful", "seeding", "modified_bfs", "node_order", "applicator_order")


@SOLVERS.register
@dataclass(frozen=True)
class PartitionsSolver(Solver):
    """Finds the partitions of all attributes that cost least together and proves it, for any mix of global schemes.

    With the other attributes as they are, the best partition of one is found at once, by a dynamic program over its
    runs or sets of values. So the last attribute is never searched, and the same program tells what each open
    attribute costs at least (see :mod:`discreet.solve._partition_bounds`). The others are decided gap by gap, or
    partition by partition: from above, where classes are split, and from below, where values are merged, at once. In
    each part of the space everything is left out that cannot be part of anything better than the best so far.

    ``direction`` says which of two parts is looked at first: the more specific one (``bottom-up``), the more general
    one (``top-down``), or the one with the smaller bound (``auto``).

    ``bounds=paper`` searches as Li and Li do, in one direction, one merge or split after the other, from the original
    data or from the most general recoding; ``auto`` begins where the optimum is likely to be nearer. Their pruning
    techniques are switches then: ``node_pruning``, ``useless``, ``useful``, ``seeding``, ``modified_bfs``,
    ``node_order`` and ``applicator_order`` (see :mod:`discreet.solve._paper_partitions`).

    >>> PartitionsSolver(direction="bottom-up").text
    'partitions(direction=bottom-up)'
    """

    name: ClassVar[str] = "partitions"
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
        """Return whether the scheme is a global one: of those it does not know, the partitions are gone through."""
        return scheme.is_global

    def check(self, problem: Problem) -> None:
        """Refuse a cost that does not say what a block of values costs, and what the published search cannot do."""
        if self.bounds == "paper":
            check_published(problem)
        else:
            kind_of_cost(problem)

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best partitions found and what is proven about them."""
        with budget.paused():
            prepare()
        found = (self._as_published if self.bounds == "paper" else self._tightly)(problem, budget, progress)
        stats = {**_space(problem), **found.stats}
        if found.blocks is None:
            if not found.complete:
                raise nothing_found(budget)
            return _infeasible(problem, stats)
        recoded = Recoder(problem).evaluate(_released(problem, found.blocks))
        if found.complete:
            return recoded.solution("optimal", recoded.cost, stats, found.trace)
        return recoded.solution("feasible", found.bound - _ROUNDING * abs(found.bound), stats, found.trace)

    def _tightly(self, problem: Problem, budget: Budget, progress: ProgressCallback | None) -> _Found:
        search = PartitionSearch(problem, budget, progress, self.direction)
        complete = search.go()
        return _Found(search.best_blocks, search.least, complete, search.stats(), search.trace)

    def _as_published(self, problem: Problem, budget: Budget, progress: ProgressCallback | None) -> _Found:
        check_published(problem)
        direction = _nearer(problem) if self.direction == "auto" else self.direction
        switches = Published(
            "top-down" if direction == "top-down" else "bottom-up", *(getattr(self, name) for name in _TECHNIQUES)
        )
        outcome = search_as_published(problem, switches, budget, progress)
        pruned = {name: outcome.counters[name] for name in ("infeasible", "bound", "reconsidered", "useless", "useful")}
        stats = {
            "direction": direction,
            "visited": outcome.counters["visited"],
            "examined": outcome.counters["evaluated"],
            "seeds": outcome.counters["seeds"],
            "pruned": pruned,
        }
        return _Found(outcome.blocks, outcome.lower_bound, outcome.complete, stats, outcome.trace)


@dataclass(frozen=True, eq=False)
class _Found:
    """What a search found: the block of each leaf, if anything, and what is proven about it."""

    blocks: tuple[IntArray, ...] | None
    bound: float
    complete: bool
    stats: dict[str, Any]
    trace: list[Progress]


def _nearer(problem: Problem) -> str:
    """Say where the search begins nearer to the optimum: at the original values if few of their classes are not ok."""
    easier = Recoder(replace(problem, suppression=ClassRecords()))
    rows = easier.evaluate(original(problem.table)).suppressed_rows
    return "bottom-up" if rows <= _FEW * problem.table.n else "top-down"


def _space(problem: Problem) -> dict[str, Any]:
    """How many combinations of partitions there are."""
    each = list(zip(problem.schemes, problem.table.attributes, strict=True))
    return {
        "space": prod(scheme.count(attribute) for scheme, attribute in each),
        "formal_space": prod(scheme.formal_count(attribute) for scheme, attribute in each),
    }


def _released(problem: Problem, blocks: tuple[Any, ...]) -> Released:
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
    """Say that nothing is valid, and how many rows would have to go."""
    general = [choice.leaf_blocks(choice.most_general()) for choice in open_choices(problem)]
    fewest = smallest_budget(problem, Released.by_blocks(problem.table, general))
    return Solution("infeasible", np.inf, np.inf, smallest_budget=fewest, stats=stats)


@cache
def prepare() -> None:
    """Load the kernels, or compile them the first time ever, on tables of a few rows."""
    warm_up(_solve_few_rows)


def _solve_few_rows() -> None:
    """Solve the smallest problems that together need every kernel."""
    two, five = two_rows(attributes=2), five_rows()
    for problem in (
        Problem.build(two, privacy="k(2)", cost="DM", scheme="ordered"),
        Problem.build(two, privacy="k(2)", cost="HDM", scheme="set"),
        Problem.build(two, privacy="distinct-l(2, s)", cost="LM", scheme="set"),
        Problem.build(five, privacy="k(2)", cost="LM", scheme="set", suppression="budget(0.2)"),
    ):
        PartitionSearch(problem, Budget(), None).go()
