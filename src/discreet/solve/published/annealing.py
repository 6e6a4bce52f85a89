"""Simulated annealing over cuts: what the l+ paper compares its exact search with (section VIII-B)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.errors import InterruptedRun
from discreet.problem import Problem
from discreet.problem.schemes import Node, roots
from discreet.problem.suppression import Suppression
from discreet.runtime.arguments import number, whole_number
from discreet.runtime.plurals import amount
from discreet.solve._base import SOLVERS, Budget, Progress, ProgressCallback, Solution, Solver
from discreet.solve._class_arrays import Released
from discreet.solve._recoding import Recoder, smallest_budget
from discreet.solve.lattice.solver import compile_ahead

__all__ = ["AnnealingSolver"]

_STEPS_PER_VALUE = 100
_START = 0.2
"""Start temperature, as a share of the cost of the most general cut."""
_END = 1e-4
"""End temperature, as a share of the start temperature."""
_REPORT = 100
"""Steps between two reports of progress."""


@SOLVERS.register
@dataclass(frozen=True)
class AnnealingSolver(Solver):
    """Walks from cut to cut, ever less inclined to accept one that costs more. It proves nothing.

    A step specializes a random value of the cut, or generalizes all children of a random value to it. A step that
    raises the cost by d is accepted with probability exp(-d / temperature); a step to an invalid cut only from another
    invalid one. The temperature is multiplied by ``cooling`` after each step. Every run starts at the most general cut,
    and there are ``restarts`` runs after the first.

    By default a run has 100 ``steps`` for each value of the hierarchies, ``start_temperature`` is 20 % of the cost of
    the most general cut, and ``cooling`` takes it to a ten-thousandth by the end of the run.

    >>> AnnealingSolver(steps=5000).text
    'annealing(steps=5000)'
    """

    name: ClassVar[str] = "annealing"
    examples: ClassVar[tuple[str, ...]] = ("annealing", "annealing(steps=5000)")
    title: ClassVar[str] = "Annealing"
    summary: ClassVar[str] = "A random walk without a proof, for comparison."
    rank: ClassVar[int] = 70
    schemes: ClassVar[frozenset[str]] = frozenset({"subtree"})
    suppressions: ClassVar[frozenset[str]] = frozenset(
        {"none", "budget", "class-records", "violating-records", "class-values", "violating-values"}
    )

    baseline: ClassVar[bool] = True
    sees_population: ClassVar[bool] = True

    steps: int | None = None
    start_temperature: float | None = None
    cooling: float | None = None
    restarts: int = 0

    def __post_init__(self) -> None:
        if self.steps is not None:
            whole_number(self.steps, "The steps of annealing", least=1)
        if self.start_temperature is not None:
            number(self.start_temperature, "The start temperature of annealing", least=0)
        if self.cooling is not None:
            number(self.cooling, "The cooling of annealing", above=0, most=1)
        whole_number(self.restarts, "The restarts of annealing", least=0)

    def applies(self, kind: Suppression) -> bool:
        """Every kind: recodings are priced by what it says it suppresses."""
        return True

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best cut met; the bound is the least cost of the most specific cut."""
        with budget.paused():
            compile_ahead()
        walk = AnnealingWalk(problem, budget, progress)
        if math.isinf(walk.cost) and _top_decides(problem):
            fewest = smallest_budget(problem, Released.by_blocks(problem.table, walk.top.blocks()))
            return Solution("infeasible", np.inf, np.inf, smallest_budget=fewest, stats=walk.stats())
        try:
            for _ in range(self.restarts + 1):
                self._run(walk)
        except KeyboardInterrupt:
            budget.stop.set()
        return walk.solution()

    def _run(self, walk: AnnealingWalk) -> None:
        walk.go_to_top()
        steps = self.steps or _STEPS_PER_VALUE * walk.values
        temperature = self.start_temperature
        if temperature is None:
            temperature = _START * (walk.cost if math.isfinite(walk.cost) else walk.worst)
        cooling = self.cooling or math.exp(math.log(_END) / steps)
        for _ in range(steps):
            if walk.over or not walk.step(temperature):
                return
            temperature *= cooling


@dataclass(frozen=True, eq=False)
class _CutNodes:
    """The nodes of one hierarchy that a cut may hold, as arrays of leaves; parents come after their children."""

    leaves: list[IntArray]
    children: list[list[int]]
    parent: list[int]
    top: list[int]

    @classmethod
    def make(cls, attribute: CodedAttribute, lowest: int, highest: int) -> _CutNodes:
        """Read the hierarchy between two levels."""
        tree = cls([], [], [], [])
        floor = attribute.ancestors[lowest]
        for root in roots(replace(attribute, ancestors=attribute.ancestors[: highest + 1])):
            tree.top.append(tree._add(root, floor))
        return tree

    def _add(self, node: Node, floor: IntArray) -> int:
        leaves = np.array(node.leaves)
        inner = bool((floor[leaves] != floor[leaves[0]]).any())
        children = [self._add(child, floor) for child in node.children] if inner else []
        number = len(self.leaves)
        self.leaves.append(leaves)
        self.children.append(children)
        self.parent.append(-1)
        for child in children:
            self.parent[child] = number
        return number

    def cuts(self) -> int:
        """Return the number of cuts."""
        below = [1] * len(self.leaves)
        for node, children in enumerate(self.children):
            if children:
                below[node] = 1 + math.prod(below[child] for child in children)
        return math.prod(below[node] for node in self.top)


@dataclass(frozen=True, eq=False)
class _MarkedCut:
    """A cut through all hierarchies: the set of nodes of each attribute, and the node of each leaf."""

    nodes: tuple[frozenset[int], ...]
    released: tuple[IntArray, ...]

    def moved(self, i: int, tree: _CutNodes, node: int, *, specialize: bool) -> _MarkedCut:
        """Return the cut with a node of attribute ``i`` specialized, or its children generalized to it."""
        children = tree.children[node]
        nodes, released = list(self.nodes), list(self.released)
        released[i] = released[i].copy()
        for each in children if specialize else [node]:
            released[i][tree.leaves[each]] = each
        nodes[i] = nodes[i] ^ {node, *children}
        return _MarkedCut(tuple(nodes), tuple(released))

    def blocks(self) -> tuple[IntArray, ...]:
        """Number the nodes of each attribute without gaps."""
        return tuple(np.unique(each, return_inverse=True)[1].reshape(-1) for each in self.released)


@dataclass(eq=False)
class AnnealingWalk:
    """The current cut, and the best one met."""

    problem: Problem
    budget: Budget
    progress: ProgressCallback | None
    cut: _MarkedCut = field(init=False)
    cost: float = field(init=False)
    best: _MarkedCut = field(init=False)
    best_cost: float = field(init=False)
    bound: float = field(init=False)
    trace: list[Progress] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"steps": 0, "accepted": 0})

    def __post_init__(self) -> None:
        self.random = self.budget.random()
        table = self.problem.table
        limits = list(zip(table.attributes, self.problem.lowest, self.problem.highest, strict=True))
        self.trees = [_CutNodes.make(attribute, low, high) for attribute, low, high in limits]
        self.recoder = Recoder(self.problem)
        self.known: dict[tuple[frozenset[int], ...], float] = {}
        self.bound = self.recoder.floor(Released.by_blocks(table, [a.ancestors[low] for a, low, _ in limits]))
        self.top = self._top()
        self.best, self.best_cost = self.top, math.inf
        self.go_to_top()

    @property
    def values(self) -> int:
        """The number of values that cuts consist of."""
        return sum(len(tree.leaves) for tree in self.trees)

    @property
    def worst(self) -> float:
        """The cost of suppressing everything."""
        return self.problem.cost.worst(self.problem.table)

    @property
    def over(self) -> bool:
        """Whether to stop; the time limit counts once a valid cut is known."""
        return self.budget.stop.is_set() or (self.budget.exhausted and math.isfinite(self.best_cost))

    def _top(self) -> _MarkedCut:
        released = []
        for tree, attribute in zip(self.trees, self.problem.table.attributes, strict=True):
            column = np.empty(attribute.leaves, dtype=np.int64)
            for node in tree.top:
                column[tree.leaves[node]] = node
            released.append(column)
        return _MarkedCut(tuple(frozenset(tree.top) for tree in self.trees), tuple(released))

    def go_to_top(self) -> None:
        """Return to the most general cut."""
        self._move_to(self.top, self._cost_of(self.top))

    def step(self, temperature: float) -> bool:
        """Try one neighbour of the cut; returns False if it has none."""
        neighbour = self._neighbour()
        if neighbour is None:
            return False
        cost = self._cost_of(neighbour)
        self.counts["steps"] += 1
        if self._accepts(cost, temperature):
            self.counts["accepted"] += 1
            self._move_to(neighbour, cost)
        if self.counts["steps"] % _REPORT == 0:
            self._report()
        return True

    def _accepts(self, cost: float, temperature: float) -> bool:
        if cost <= self.cost:
            return True
        if math.isinf(cost) or temperature <= 0:
            return False
        return self.random.random() < math.exp((self.cost - cost) / temperature)

    def _neighbour(self) -> _MarkedCut | None:
        down, up = [], []
        for i, (tree, nodes) in enumerate(zip(self.trees, self.cut.nodes, strict=True)):
            down += [(i, node) for node in sorted(nodes) if tree.children[node]]
            parents = sorted({tree.parent[node] for node in nodes} - {-1})
            up += [(i, node) for node in parents if nodes.issuperset(tree.children[node])]
        directions = [moves for moves in (down, up) if moves]
        if not directions:
            return None
        moves = self.random.choice(directions)
        i, node = self.random.choice(moves)
        return self.cut.moved(i, self.trees[i], node, specialize=moves is down)

    def _cost_of(self, cut: _MarkedCut) -> float:
        cost = self.known.get(cut.nodes)
        if cost is None:
            cost = self.recoder.cost(Released.by_blocks(self.problem.table, cut.blocks()))
            self.known[cut.nodes] = cost
        return cost

    def _move_to(self, cut: _MarkedCut, cost: float) -> None:
        self.cut, self.cost = cut, cost
        if cost < self.best_cost:
            self.best, self.best_cost = cut, cost
            self.trace.append(self._report())

    def _report(self) -> Progress:
        now = Progress(self.budget.seconds, self.best_cost, min(self.bound, self.best_cost), len(self.known))
        if self.progress is not None:
            self.progress(now)
        return now

    def solution(self) -> Solution:
        """Return the best cut, evaluated afresh."""
        if math.isinf(self.best_cost):
            raise InterruptedRun(
                f"No release that keeps the promises was found among {amount(len(self.known), 'cut')}; "
                "choose the solver cuts, or allow more steps or a larger suppression budget.",
                topic="nothing-found",
            )
        found = self.recoder.evaluate(Released.by_blocks(self.problem.table, self.best.blocks()))
        return found.solution("feasible", self.bound, self.stats(), self.trace)

    def stats(self) -> dict[str, Any]:
        """Return the size of the space, and how much of it was visited."""
        return {
            "space": math.prod(tree.cuts() for tree in self.trees),
            "examined": len(self.known),
            **self.counts,
            "seconds_to_best": self.trace[-1].seconds if self.trace else None,
        }


def _top_decides(problem: Problem) -> bool:
    """Whether the most general cut is valid if any is: its classes are unions of the classes of all others."""
    if problem.suppression.hides_values:
        return all(model.union_closed for model in problem.privacy if not model.looks_at_sensitive)
    return problem.superset_closed or (problem.limit == 0 and problem.union_closed)
