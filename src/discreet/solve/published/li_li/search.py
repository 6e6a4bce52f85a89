"""The search of *Towards optimal k-anonymization* (Li and Li, 2008), each pruning technique a switch.

Beyond the paper it takes every privacy model and every cost defined for arbitrary blocks, runs in both directions, and
has a lower bound whenever it is stopped. It is there to compare with.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice
from typing import Any

import numpy as np

from discreet.counts import IntArray
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Problem
from discreet.solve._base import Budget, Progress, ProgressCallback
from discreet.solve._class_arrays import Released
from discreet.solve._recoding import Recoder
from discreet.solve.published.kernels.li_li import NodeCosts
from discreet.solve.published.li_li.base import Direction
from discreet.solve.published.li_li.catalogue import Catalogue, Node
from discreet.solve.published.li_li.evaluation import compile_ahead, evaluator_for

__all__ = ["LiLiOutcome", "LiLiTechniques", "check_li_li", "li_li_search"]

_ROUNDING = 1e-13
_SEEDS = 100
"""Random nodes evaluated first."""
_AT_ONCE = 256
"""Nodes evaluated between two checks of the clock."""
_MOST_KEPT = 2_000_000
"""States and nodes in memory at which the search gives up."""
_REPORT = 0.1
"""Seconds between two reports."""

Trial = tuple[int, Any]
"""An attribute and one of its applicators."""


@dataclass(frozen=True)
class LiLiTechniques:
    """The direction of the search, and the techniques of sections 4.3 and 4.4.

    ``node_pruning``: a node whose lower bound reaches the best cost is pruned with all below it. ``useless``:
    applicators that cannot lead to a better recoding are removed for the whole subtree. ``useful``: without
    suppression, applicators without which nothing below is valid are applied at once. ``seeding``: random nodes are
    evaluated first. ``modified_bfs``: a node is evaluated when it is added, and its bound compared with the best cost
    again before its children are added; otherwise it is evaluated when it is taken. ``node_order``: the node with the
    smallest bound first; otherwise the one added first. ``applicator_order``: applicators that change the number of
    classes least first; otherwise attribute by attribute, in the order of the enumeration. Splits of sets come last in
    any case.
    """

    direction: Direction = "bottom-up"
    node_pruning: bool = True
    useless: bool = True
    useful: bool = True
    seeding: bool = True
    modified_bfs: bool = True
    node_order: bool = True
    applicator_order: bool = True


@dataclass(frozen=True, eq=False)
class LiLiOutcome:
    """The best recoding found, as the block of each leaf by attribute, and what is proven about it.

    If nothing was found, ``blocks`` is None and ``cost`` infinite; if the search is ``complete`` too, nothing is valid.
    """

    blocks: tuple[IntArray, ...] | None
    cost: float
    lower_bound: float
    complete: bool
    counters: dict[str, int]
    trace: list[Progress]


def li_li_search(
    problem: Problem, techniques: LiLiTechniques, budget: Budget, progress: ProgressCallback | None = None
) -> LiLiOutcome:
    """Search until the optimum is proven, or until the budget or memory is exhausted and something was found.

    Counters: nodes ``visited`` (taken from the queue), ``evaluated`` (also to rate applicators) and random ``seeds``;
    nodes pruned because nothing below is valid (``infeasible``), by their ``bound`` when added and when
    ``reconsidered``; applicators found ``useless`` and ``useful``.
    """
    check_li_li(problem)
    with budget.paused():
        compile_ahead()
    return LiLiSearch(problem, techniques, budget, progress).run()


def check_li_li(problem: Problem) -> None:
    """Refuse costs and suppression kinds the published search does not know."""
    if problem.cost.needs_hierarchy:
        raise UnsupportedCombinationError(
            f"The cost {problem.cost.name}", "a search over partitions", "it is only defined for full-domain levels"
        )
    if problem.divided is not None or problem.suppression.hides_values:
        raise UnsupportedCombinationError(
            f"The suppression {problem.suppression.name}",
            "the published search over partitions",
            "choose class-records",
        )


class _SearchStopped(Exception):  # noqa: N818
    """The budget is exhausted."""


class _NodeQueue:
    """Nodes with their bound and whether they were evaluated; the smallest bound first, or first in, first out."""

    def __init__(self, by_bound: bool) -> None:
        self.by_bound = by_bound
        self._heap: list[tuple[float, int, Node, bool]] = []
        self._line: deque[tuple[float, int, Node, bool]] = deque()
        self._added = 0

    def __len__(self) -> int:
        return len(self._heap) + len(self._line)

    def add(self, bound: float, node: Node, seen: bool) -> None:
        """Add a node."""
        self._added += 1
        entry = (bound, self._added, node, seen)
        if self.by_bound:
            heappush(self._heap, entry)
        else:
            self._line.append(entry)

    def next(self) -> float:
        """The bound of the next node."""
        return (self._heap if self.by_bound else self._line)[0][0]

    def take(self) -> tuple[float, Node, bool]:
        """Remove and return the next node."""
        bound, _, node, seen = heappop(self._heap) if self.by_bound else self._line.popleft()
        return bound, node, seen

    def least(self) -> float:
        """The smallest bound of all nodes."""
        if self.by_bound:
            return self._heap[0][0] if self._heap else math.inf
        return min((entry[0] for entry in self._line), default=math.inf)


@dataclass(eq=False)
class LiLiSearch:
    """One run of the search."""

    problem: Problem
    techniques: LiLiTechniques
    budget: Budget
    progress: ProgressCallback | None
    counters: Counter[str] = field(default_factory=Counter)
    trace: list[Progress] = field(default_factory=list)
    best: tuple[IntArray, ...] | None = None
    best_cost: float = math.inf
    reported: float = -math.inf
    last_tried: bool = False

    def __post_init__(self) -> None:
        self.catalogue = Catalogue(self.problem, self.techniques.direction)
        self.evaluator = evaluator_for(self.problem, self.catalogue)
        self.queue = _NodeQueue(self.techniques.node_order)
        self.taken = -math.inf
        """The bound of the node being expanded."""
        self.floor = -math.inf
        """A lower bound of the whole space, without the queue."""

    def run(self) -> LiLiOutcome:
        """Seed, search, and return what was found."""
        complete = False
        try:
            self._begin()
            while len(self.queue):
                self._next()
            complete = True
        except _SearchStopped:
            pass
        except KeyboardInterrupt:
            self.budget.stop.set()
        if self.best is not None:
            self.best_cost = Recoder(self.problem).cost(Released.by_blocks(self.problem.table, self.best))
        bound = self.best_cost if complete else min(self.best_cost, self._proven())
        self.trace.append(Progress(self.budget.seconds, self.best_cost, bound, self.counters["evaluated"]))
        names = ("visited", "evaluated", "seeds", "infeasible", "bound", "reconsidered", "useless", "useful")
        counters = {**{name: self.counters[name] for name in names}, "left": len(self.queue)}
        return LiLiOutcome(self.best, self.best_cost, bound, complete, counters, self.trace)

    def _begin(self) -> None:
        root = self.catalogue.root
        costs = self.evaluator.evaluate(np.array([root], dtype=np.int32))
        self.floor = self.taken = float(costs.bound[0])
        self._keep_best([root], costs)
        if self.techniques.seeding:
            random = self.budget.random()
            seeds = list(dict.fromkeys(self.catalogue.at_random(random) for _ in range(_SEEDS)))
            self.counters["seeds"] = len(seeds)
            self._evaluate(seeds)
        self._add([root], costs.bound)
        self.taken = math.inf

    def _proven(self) -> float:
        """A lower bound of all recodings not pruned: pruned ones could not be better than the best."""
        rest = min(self.taken, self.queue.least())
        return max(self.floor, rest - _ROUNDING * abs(rest) if math.isfinite(rest) else rest)

    def _next(self) -> None:
        """Take a node from the queue, and add its children unless it is pruned."""
        self.taken = self.queue.next()
        bound, node, seen = self.queue.take()
        self.counters["visited"] += 1
        if self._pruned(bound, "reconsidered"):
            return
        if not seen:
            bound = max(bound, float(self._evaluate([node]).bound[0]))
            if self._pruned(bound, "bound"):
                return
        narrowed = self._narrowed(node, bound)
        if narrowed is not None:
            self._add_children(*narrowed)
        self.taken = math.inf

    def _pruned(self, bound: float, rule: str) -> bool:
        """Whether a node with this bound is pruned; counts the rule."""
        if not self.techniques.node_pruning or not self._no_better(bound):
            return False
        self.counters["infeasible" if math.isinf(bound) else rule] += 1
        return True

    def _no_better(self, bound: float) -> bool:
        return math.isinf(bound) or bound >= self.best_cost - _ROUNDING * abs(self.best_cost)

    def _narrowed(self, node: Node, bound: float) -> tuple[Node, float, list[Trial]] | None:
        """Remove useless applicators and apply useful ones; returns what is left, with applicators in order.

        Both may enable each other, so they are repeated until nothing changes. None if nothing below is better.
        """
        tries = self.techniques.useless or self.techniques.applicator_order
        applies = (
            self.techniques.useful and self.problem.limit == 0 and self.catalogue.upward and self.problem.union_closed
        )
        while True:
            trials = [(i, a) for i, state in enumerate(node) for a in self._applicators(i, state)]
            classes: IntArray = np.zeros(len(trials), dtype=np.int64)
            before = node
            if trials and tries:
                costs = self._evaluate([self._applied(node, trial) for trial in trials])
                classes = costs.classes
                if self.techniques.useless:
                    node = self._without_useless(node, trials, costs)
            if trials and applies:
                node = self._with_useful(node)
            if node == before:
                return node, bound, self._ordered(trials, classes)
            bound = max(bound, float(self._evaluate([node]).bound[0]))
            if self._pruned(bound, "bound"):
                return None

    def _applicators(self, i: int, state: int) -> Sequence[Any]:
        return self.catalogue.applicators(i, state) if self._tries(i) else ()

    def _tries(self, i: int) -> bool:
        """Whether the applicators of an attribute are tried one by one before children are made."""
        return self.techniques.useless or not self.catalogue.is_list(i)

    def _applied(self, node: Node, trial: Trial) -> Node:
        i, applicator = trial
        return (*node[:i], self.catalogue.apply(i, node[i], applicator), *node[i + 1 :])

    def _ruled_out(self, node: Node, trial: Trial) -> Node:
        i, applicator = trial
        return (*node[:i], self.catalogue.without(i, node[i], applicator), *node[i + 1 :])

    def _without_useless(self, node: Node, trials: list[Trial], costs: NodeCosts) -> Node:
        """Remove the applicators that lead to nothing better."""
        useless: list[list[Any]] = [[] for _ in node]
        for (i, applicator), bound in zip(trials, costs.bound.tolist(), strict=True):
            if self._no_better(bound):
                useless[i].append(applicator)
        self.counters["useless"] += sum(map(len, useless))
        each = zip(range(len(node)), node, useless, strict=True)
        return tuple(self.catalogue.without_all(i, state, out) if out else state for i, state, out in each)

    def _with_useful(self, node: Node) -> Node:
        """Apply the applicators without which no recoding below is valid."""
        trials = [(i, a) for i, state in enumerate(node) for a in self._applicators(i, state)]
        if not trials:
            return node
        costs = self._evaluate([self._ruled_out(node, trial) for trial in trials])
        for trial in (trial for trial, bound in zip(trials, costs.bound, strict=True) if np.isinf(bound)):
            if self.catalogue.is_open(trial[0], node[trial[0]], trial[1]):
                node = self._applied(node, trial)
                self.counters["useful"] += 1
        return node

    def _ordered(self, trials: list[Trial], classes: IntArray) -> list[Trial]:
        """The applicators, those that change the number of classes least first."""
        if not self.techniques.applicator_order:
            return trials
        change = classes if not self.catalogue.upward else -classes
        return [trials[index] for index in np.argsort(change, kind="stable").tolist()]

    def _add_children(self, node: Node, bound: float, trials: list[Trial]) -> None:
        children = self._children(node, trials)
        while chunk := list(islice(children, _AT_ONCE)):
            self._check_budget()
            if self.techniques.modified_bfs:
                self._add(chunk, np.maximum(self._evaluate(chunk).bound, bound))
            else:
                for child in chunk:
                    self.queue.add(bound, child, seen=False)

    def _children(self, node: Node, trials: list[Trial]) -> Iterator[Node]:
        """Yield the first applicator applied, the second without the first, and so on; lists of children come last."""
        catalogue = self.catalogue
        rest = list(node)
        for i, applicator in trials:
            if not catalogue.is_list(i) and catalogue.is_open(i, rest[i], applicator):
                yield (*rest[:i], catalogue.apply(i, rest[i], applicator), *rest[i + 1 :])
                rest[i] = catalogue.without(i, rest[i], applicator)
        for i in range(len(node)):
            if catalogue.is_list(i):
                for state in catalogue.children(i, rest[i]):
                    yield (*rest[:i], state, *rest[i + 1 :])
                rest[i] = catalogue.frozen(i, rest[i])

    def _add(self, nodes: Sequence[Node], bounds: Any) -> None:
        """Add evaluated nodes to the queue, except those that are pruned."""
        for node, bound in zip(nodes, bounds.tolist(), strict=True):
            if not self._pruned(bound, "bound"):
                self.queue.add(bound, node, seen=True)

    def _evaluate(self, nodes: Sequence[Node]) -> NodeCosts:
        """Evaluate nodes, and keep the best recoding."""
        parts = []
        for begin in range(0, len(nodes), _AT_ONCE):
            some = nodes[begin : begin + _AT_ONCE]
            costs = self.evaluator.evaluate(np.array(some, dtype=np.int32).reshape(len(some), -1))
            parts.append(costs)
            self._keep_best(some, costs)
            self._check_budget()
        return parts[0] if len(parts) == 1 else NodeCosts(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _keep_best(self, nodes: Sequence[Node], costs: NodeCosts) -> None:
        """Count evaluated nodes, and keep the cheapest if it is better than the best so far."""
        self.counters["evaluated"] += len(nodes)
        cheapest = int(np.argmin(costs.cost))
        if costs.cost[cheapest] < self.best_cost:
            self.best_cost = float(costs.cost[cheapest])
            self.best = self.catalogue.blocks(nodes[cheapest])
            self._report()

    def _check_budget(self) -> None:
        """Report now and then, and stop if the budget or memory is exhausted."""
        if self.budget.seconds - self.reported >= _REPORT:
            self._report()
        over = self.budget.exhausted or len(self.catalogue) + len(self.queue) > _MOST_KEPT
        if over and self.best is None and not self.last_tried:
            self._try_last()
        if self.budget.stop.is_set() or (over and self.best is not None):
            raise _SearchStopped

    def _try_last(self) -> None:
        """Try the recoding farthest from the root, so that there is something to stop with."""
        self.last_tried = True
        blocks = self.catalogue.blocks(self.catalogue.root, extreme=True)
        cost = Recoder(self.problem).cost(Released.by_blocks(self.problem.table, blocks))
        if math.isfinite(cost):
            self.best, self.best_cost = blocks, cost
            self._report()

    def _report(self) -> None:
        self.reported = self.budget.seconds
        bound = min(self.best_cost, self._proven() if self.queue.by_bound else self.floor)
        now = Progress(self.reported, self.best_cost, bound, self.counters["evaluated"])
        if not self.trace or now.best < self.trace[-1].best or now.bound > self.trace[-1].bound:
            self.trace.append(now)
        if self.progress is not None:
            self.progress(now)
