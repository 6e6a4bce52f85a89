"""The user-oriented mechanism (Kiyomoto and Tanaka): a recoding by the user's priorities, found step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from discreet.errors import UnsupportedCombinationError
from discreet.problem import Cost, Problem
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.schemes.full_domain import FullDomain
from discreet.runtime.arguments import number, switch, whole_number
from discreet.solve._base import SOLVERS, Budget, Progress, ProgressCallback, Solution, Solver
from discreet.solve._class_arrays import Released
from discreet.solve._recoding import Recoder
from discreet.solve.lattice.solver import LatticeSolver, compile_ahead
from discreet.solve.published._partial_domain import degeneralized
from discreet.solve.score.score_table import Node, ScoredLattice, as_score

__all__ = ["UserOrientedSolver", "best_of_all", "search"]


@SOLVERS.register
@dataclass(frozen=True)
class UserOrientedSolver(Solver):
    """Looks for the level vector with the highest score step by step, as in the appendix of the paper.

    *Pre-computation* generalizes each attribute until every value of it has ``k + p`` rows, where k is that of
    k-anonymity (1 if it is not required), then all attributes level by level until the requirement holds. *Top-down*
    specializes the attribute that gives the highest score among those with which the requirement holds, as long as the
    score rises; with ``skip``, steps that could not reach the best score even if every value of the level occurred are
    skipped. Then, as long as that finds a higher score, a *second top-down* step violates the requirement for the
    highest score and *bottom-up* steps restore it. Under the scheme ``local`` every class is then specialized by itself
    (*partial-domain de-generalization*). If pre-computation finds nothing valid, the exact search decides.

    Where the printed pseudo-code contradicts the text, the text is followed: pre-computation respects the level limits
    and goes on with the other attributes when one has reached its own; the second top-down step takes the highest
    score, not the last one above the current; partial-domain steps go on while the requirement holds, where the
    appendix has the condition reversed.

    It proves nothing by itself. For up to ``prove`` seconds the highest score of all is searched for, so that the gap
    is known.

    >>> UserOrientedSolver(p=2).text
    'user-oriented(p=2)'
    """

    name: ClassVar[str] = "user-oriented"
    examples: ClassVar[tuple[str, ...]] = ("user-oriented", "user-oriented(p=2)", "user-oriented(prove=0)")
    title: ClassVar[str] = "User-oriented"
    summary: ClassVar[str] = "A high score step by step, as its paper has it: for comparison."
    in_studio: ClassVar[bool] = False
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

    def check(self, problem: Problem) -> None:
        """Refuse ``local`` for some attributes only: partial-domain steps lower all of them."""
        if len({scheme.is_global for scheme in problem.schemes}) > 1:
            raise UnsupportedCombinationError(
                "The scheme local",
                "the scheme full-domain of another attribute",
                "partial-domain steps lower all attributes; choose one scheme for all",
            )

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the recoding found, and the gap to the best one."""
        self.check(problem)
        with budget.paused():
            compile_ahead()
        local = not all(scheme.is_global for scheme in problem.schemes)
        lattice = replace(problem, schemes=(FullDomain(),) * len(problem.schemes))
        nodes = ScoredLattice(lattice)
        found = search(nodes, self.p, self.skip, budget)
        if found is None:
            exact = LatticeSolver().solve(lattice, budget, progress)
            if not local or exact.levels is None:
                return exact
            found = MechanismState(nodes, exact.levels, nodes.score(exact.levels))
            found.steps.append(("exact search", found.node, found.score))
        best = Recoder(lattice).evaluate(Released.by_levels(lattice.table, found.node))
        trace = [Progress(budget.seconds, best.cost, 0.0, found.nodes.checks)]
        if progress is not None:
            progress(trace[-1])
        if local:
            score = as_score(problem).figures(problem.table, best.cost, 0.0)["score"]
            return degeneralized(nodes, found.node, {**found.stats(), "global_score": score}, trace, budget)
        stats = found.stats()
        bound = self._bound(nodes, budget)
        trace.append(replace(trace[-1], seconds=budget.seconds, bound=min(bound, best.cost)))
        return best.solution("optimal" if bound >= best.cost else "feasible", bound, stats, trace)

    def _bound(self, nodes: ScoredLattice, budget: Budget) -> float:
        """Return a lower bound of all nodes, exact if there is time enough."""
        if not self.prove or budget.exhausted:
            return 0.0
        seconds = self.prove if budget.time_limit is None else min(self.prove, budget.time_limit - budget.seconds)
        return best_of_all(nodes, Budget(seconds, budget.stop))[0].lower_bound


def best_of_all(
    nodes: ScoredLattice, budget: Budget, progress: ProgressCallback | None = None
) -> tuple[Solution, Node]:
    """Search the lattice for the highest score; returns the solution, and the best node with one attribute lowered.

    No attribute can be lower than it could be by itself, which makes the lattice much smaller. If only one attribute
    counts for the score, that node is the best of all.
    """
    problem, cost = nodes.problem, nodes.cost
    lowest = nodes.lowest_levels(budget)
    each = (nodes.with_others_highest(i, level) for i, level in enumerate(lowest))
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
class MechanismState:
    """The best node so far, its score, and the steps that led there."""

    nodes: ScoredLattice
    node: Node
    score: float
    skipped: int = 0
    steps: list[tuple[str, Node, float]] = field(default_factory=list)

    def take(self, node: Node, step: str) -> None:
        """Move to a better node."""
        self.node, self.score = node, self.nodes.score(node)
        self.steps.append((step, node, self.score))

    def stats(self) -> dict[str, Any]:
        """Return the size of the space and the steps taken."""
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


def search(nodes: ScoredLattice, p: int, skip: bool, budget: Budget) -> MechanismState | None:
    """Return the best node the mechanism finds; None if pre-computation finds no valid one."""
    start = _pre_computation(nodes, p)
    if start is None:
        return None
    found = MechanismState(nodes, start, nodes.score(start))
    found.steps.append(("pre-computation", start, found.score))
    _top_down(found, skip, budget)
    while not budget.exhausted and _second_top_down(found, budget):
        pass
    return found


def _pre_computation(nodes: ScoredLattice, p: int) -> Node | None:
    """Generalize each attribute until it alone is (k + p)-anonymous, then all until the requirement holds."""
    problem = nodes.problem
    k = max((model.k for model in problem.privacy if isinstance(model, KAnonymity)), default=1)
    levels = []
    for attribute, low, high in zip(nodes.table.attributes, problem.lowest, problem.highest, strict=True):
        smallest = [int(rows[rows > 0].min()) for rows in attribute.block_rows]
        fine = (level for level in range(low, high) if smallest[level] >= k + p)
        levels.append(next(fine, high))
    node = tuple(levels)
    while not nodes.check(node):
        lifted = tuple(min(level + 1, high) for level, high in zip(node, problem.highest, strict=True))
        if lifted == node:
            return None
        node = lifted
    return node


def _top_down(found: MechanismState, skip: bool, budget: Budget) -> None:
    """Take the valid step down with the highest score, as long as the score rises."""
    nodes = found.nodes
    while not budget.exhausted:
        here, highest, chosen = found.node, found.score, None
        for i in reversed(nodes.by_priority):
            finer = nodes.finer(here, i)
            if finer is None:
                continue
            if skip and highest > _highest_possible(nodes, finer, i):
                found.skipped += 1
                continue
            score = nodes.score(finer)
            if score > highest and nodes.check(finer):
                highest, chosen = score, finer
        if chosen is None:
            return
        found.take(chosen, "top-down")


def _highest_possible(nodes: ScoredLattice, node: Node, i: int) -> float:
    """Return the score of a node if every value of one attribute's level occurred."""
    shown = [counts[level] for counts, level in zip(nodes.shown, node, strict=True)]
    shown[i] = len(nodes.table.attributes[i].block_rows[node[i]])
    return nodes.cost.of(nodes.table, shown)


def _second_top_down(found: MechanismState, budget: Budget) -> bool:
    """Violate the requirement for the highest score and restore it bottom-up; returns whether the score rose."""
    nodes, best = found.nodes, found.score
    violating = _highest(nodes, found.node, nodes.finer, reversed(nodes.by_priority), best)
    while violating is not None and not budget.exhausted:
        if nodes.check(violating):
            found.take(violating, "second top-down")
            return True
        steps = [nodes.coarser(violating, i) for i in nodes.by_priority]
        restored = [node for node in steps if node is not None and nodes.score(node) > best and nodes.check(node)]
        if restored:
            found.take(max(restored, key=nodes.score), "bottom-up")
            return True
        violating = _highest(nodes, violating, nodes.coarser, nodes.by_priority, best)
    return False


def _highest(
    nodes: ScoredLattice, node: Node, step: Callable[[Node, int], Node | None], order: Iterable[int], above: float
) -> Node | None:
    """Return the neighbour with the highest score above ``above``; the first in order among equals."""
    near = [other for other in (step(node, i) for i in order) if other is not None and nodes.score(other) > above]
    return max(near, key=nodes.score, default=None)
