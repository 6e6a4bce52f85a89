"""The user-oriented mechanism (Kiyomoto and Tanaka): a table by the user's priorities, found step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from discreet.problem import Cost, Problem
from discreet.problem._checks import number, switch, whole_number
from discreet.problem.schemes.full_domain import FullDomain
from discreet.solve._base import SOLVERS, Budget, Progress, ProgressCallback, Solution, Solver
from discreet.solve._gather import Released
from discreet.solve._partial_domain import degeneralized
from discreet.solve._recoded import Recoder
from discreet.solve._score import Node, Scored, as_score
from discreet.solve.lattice import LatticeSolver, prepare

__all__ = ["UserOrientedSolver", "best_of_all", "search"]


@SOLVERS.register
@dataclass(frozen=True)
class UserOrientedSolver(Solver):
    """Looks for the level vector of the highest score step by step, as the paper's appendix describes.

    Pre-computation takes each attribute up until it alone has ``k + p`` rows for each value, then all of them level by
    level until the promises hold. Top-down takes the one attribute a level down that gives the highest score among
    those with which the promises hold, as long as the score rises; steps that cannot reach the best score so far, even
    if every value of the hierarchy's level occurred, are skipped (``skip``). Then, as long as that finds a higher
    score, the second top-down step breaks the promises for the highest score and bottom-up steps mend them.
    Under the scheme ``local`` every class is then made more specific by itself (partial-domain de-generalization).
    Where pre-computation finds nothing that keeps the promises, the exact search has the last word.

    Where the printed pseudo-code slips, the described intent is followed: pre-computation keeps to the limits of the
    levels; it goes on with the other attributes when one has reached its limit; the second top-down step takes the
    highest score and not the last one above the present; partial-domain steps go on while the promises hold, where the
    appendix has the condition the other way round.

    It proves nothing by itself. For at most ``prove`` seconds the best score of all is searched for, so that the
    distance from it is known.

    >>> UserOrientedSolver(p=2).text
    'user-oriented(p=2)'
    """

    name: ClassVar[str] = "user-oriented"
    schemes: ClassVar[frozenset[str]] = frozenset({"full-domain", "local"})
    suppressions: ClassVar[frozenset[str]] = frozenset({"none", "budget", "pre-sampling"})
    sees_table: ClassVar[bool] = True

    p: int = 0
    skip: bool = True
    prove: float = 5.0

    def __post_init__(self) -> None:
        whole_number(self.p, "p of user-oriented", least=0)
        switch(self.skip, "skip of user-oriented")
        number(self.prove, "The seconds to prove of user-oriented", least=0)

    def takes(self, cost: Cost) -> bool:
        """Return whether the cost is a score."""
        return cost.counts_values

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the table found, and what is proven about all."""
        with budget.paused():
            prepare()
        local = not all(scheme.is_global for scheme in problem.schemes)
        lattice = replace(problem, schemes=(FullDomain(),) * len(problem.schemes))
        nodes = Scored(lattice)
        found = search(nodes, self.p, self.skip, budget)
        if found is None:
            exact = LatticeSolver().solve(lattice, budget, progress)
            if not local or exact.levels is None:
                return exact
            found = Found(nodes, exact.levels, nodes.score(exact.levels))
            found.steps.append(("exact search", found.node, found.score))
        best = Recoder(lattice).evaluate(Released.by_levels(lattice.table, found.node))
        trace = [Progress(budget.seconds, best.cost, 0.0, found.nodes.checks)]
        if progress is not None:
            progress(trace[-1])
        if local:
            score = as_score(problem).told(problem.table, best.cost, 0.0)["score"]
            return degeneralized(nodes, found.node, {**found.stats(), "global_score": score}, trace, budget)
        stats = found.stats()
        bound = self._bound(nodes, budget)
        trace.append(replace(trace[-1], seconds=budget.seconds, bound=min(bound, best.cost)))
        return best.solution("optimal" if bound >= best.cost else "feasible", bound, stats, trace)

    def _bound(self, nodes: Scored, budget: Budget) -> float:
        """Return the least cost of all nodes, or what is known of it when the time is over."""
        if not self.prove or budget.exhausted:
            return 0.0
        seconds = self.prove if budget.time_limit is None else min(self.prove, budget.time_limit - budget.seconds)
        return best_of_all(nodes, Budget(seconds, budget.stop))[0].lower_bound


def best_of_all(nodes: Scored, budget: Budget, progress: ProgressCallback | None = None) -> tuple[Solution, Node]:
    """Search the lattice for the highest score; return what was found, and the best node with one attribute lowered.

    Attributes never go lower than they could by themselves, which makes the lattice much smaller. With a score in which
    only one attribute counts that one node is the best of all.
    """
    problem, cost = nodes.problem, nodes.cost
    lowest = nodes.lowest_alone(budget)
    each = (nodes.alone(i, level) for i, level in enumerate(lowest))
    alone = max((node for node in each if nodes.known(node)), key=nodes.score, default=problem.highest)
    bound = cost.lost(problem.table, [shown[level] for shown, level in zip(nodes.shown, lowest, strict=True)])
    best = Recoder(problem).evaluate(Released.by_levels(problem.table, alone))
    if best.cost <= bound:
        trace = [Progress(budget.seconds, best.cost, bound, nodes.checks)]
        return best.solution(
            "optimal", bound, {"space": nodes.space, "examined": nodes.checks, "pruned": {}}, trace
        ), alone
    solution = LatticeSolver().solve(replace(problem, lowest=lowest), budget, progress)
    examined = solution.stats["examined"] + nodes.checks
    return replace(solution, stats={**solution.stats, "space": nodes.space, "examined": examined}), alone


@dataclass(eq=False)
class Found:
    """Where the search is: the best node so far and its score, and how it got there."""

    nodes: Scored
    node: Node
    score: float
    skipped: int = 0
    steps: list[tuple[str, Node, float]] = field(default_factory=list)

    def take(self, node: Node, step: str) -> None:
        """Go on from a better node."""
        self.node, self.score = node, self.nodes.score(node)
        self.steps.append((step, node, self.score))

    def stats(self) -> dict[str, Any]:
        """Return what the search did."""
        names = self.nodes.table.names
        return {
            "space": self.nodes.space,
            "examined": self.nodes.checks,
            "pruned": {"steps skipped by the bound of their score": self.skipped},
            "steps": [
                {"step": step, "levels": dict(zip(names, node, strict=True)), "score": score}
                for step, node, score in self.steps
            ],
        }


def search(nodes: Scored, p: int, skip: bool, budget: Budget) -> Found | None:
    """Return the best node the mechanism finds; None where the promises hold at no node it looks at."""
    start = _pre_computation(nodes, p)
    if start is None:
        return None
    found = Found(nodes, start, nodes.score(start))
    found.steps.append(("pre-computation", start, found.score))
    _top_down(found, skip, budget)
    while not budget.exhausted and _second_top_down(found, budget):
        pass
    return found


def _pre_computation(nodes: Scored, p: int) -> Node | None:
    """Lift each attribute until it alone is (k + p)-anonymous, then all until the promises hold."""
    problem = nodes.problem
    levels = []
    for attribute, low, high in zip(nodes.table.attributes, problem.lowest, problem.highest, strict=True):
        smallest = [int(rows[rows > 0].min()) for rows in attribute.block_rows]
        fine = (level for level in range(low, high) if smallest[level] >= problem.smallest_class + p)
        levels.append(next(fine, high))
    node = tuple(levels)
    while not nodes.check(node):
        lifted = tuple(min(level + 1, high) for level, high in zip(node, problem.highest, strict=True))
        if lifted == node:
            return None
        node = lifted
    return node


def _top_down(found: Found, skip: bool, budget: Budget) -> None:
    """Take the step down that gives the highest score, as long as there is one that keeps the promises."""
    nodes = found.nodes
    while not budget.exhausted:
        here, highest, chosen = found.node, found.score, None
        for i in reversed(nodes.by_priority):
            finer = nodes.finer(here, i)
            if finer is None:
                continue
            if skip and highest > _most(nodes, finer, i):
                found.skipped += 1
                continue
            score = nodes.score(finer)
            if score > highest and nodes.check(finer):
                highest, chosen = score, finer
        if chosen is None:
            return
        found.take(chosen, "top-down")


def _most(nodes: Scored, node: Node, i: int) -> float:
    """Return the score of a node if every value of the level of one attribute occurred."""
    shown = [counts[level] for counts, level in zip(nodes.shown, node, strict=True)]
    shown[i] = len(nodes.table.attributes[i].block_rows[node[i]])
    return nodes.cost.of(nodes.table, shown)


def _second_top_down(found: Found, budget: Budget) -> bool:
    """Break the promises for the highest score and mend them bottom-up; say whether that led to a higher score."""
    nodes, best = found.nodes, found.score
    broken = _highest(nodes, found.node, nodes.finer, reversed(nodes.by_priority), best)
    while broken is not None and not budget.exhausted:
        if nodes.check(broken):
            found.take(broken, "second top-down")
            return True
        steps = [nodes.coarser(broken, i) for i in nodes.by_priority]
        mended = [node for node in steps if node is not None and nodes.score(node) > best and nodes.check(node)]
        if mended:
            found.take(max(mended, key=nodes.score), "bottom-up")
            return True
        broken = _highest(nodes, broken, nodes.coarser, nodes.by_priority, best)
    return False


def _highest(
    nodes: Scored, node: Node, step: Callable[[Node, int], Node | None], order: Iterable[int], above: float
) -> Node | None:
    """Return the neighbour of the highest score above another; the first in order of those that are equal."""
    near = [other for other in (step(node, i) for i in order) if other is not None and nodes.score(other) > above]
    return max(near, key=nodes.score, default=None)
