"""The search of *Towards optimal k-anonymization* (Li and Li, 2008) with its pruning techniques, each a switch.

Beyond the paper it takes every privacy model and additive cost of the vocabulary, runs in both directions, and knows a
lower bound whenever it is stopped. It is there to be compared with.
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
from discreet.solve._catalogue import Catalogue, Node
from discreet.solve._enumeration import Direction
from discreet.solve._gather import Released
from discreet.solve._paper_judge import Judged, judge_of, prepare
from discreet.solve._recoded import Recoder

__all__ = ["Outcome", "Published", "check_published", "search_as_published"]

_ROUNDING = 1e-13
_SEEDS = 100
"""Random nodes to begin with."""
_AT_ONCE = 256
"""Nodes looked at between two looks at the clock."""
_MOST_KEPT = 2_000_000
"""States and nodes kept before the search gives up for want of memory."""
_REPORT = 0.1
"""Seconds between two reports."""

Trial = tuple[int, Any]
"""An attribute and one of its applicators."""


@dataclass(frozen=True)
class Published:
    """Which way to search, and the techniques of sections 4.3 and 4.4.

    ``node_pruning``: a node whose lower bound reaches the best cost is left with all below it. ``useless``: applicators
    that cannot lead to a better recoding are taken out for the whole subtree. ``useful``: without suppression,
    applicators without which nothing below is ok are applied at once. ``seeding``: the cost of random nodes to begin
    with. ``modified_bfs``: a node is looked at when it is added, and its bound compared again with the best cost before
    its children are added; otherwise they are added once it is looked at. ``node_order``: the node with the smallest
    bound first; otherwise the one added first. ``applicator_order``: applicators that merge (or split) few classes
    first; otherwise attribute by attribute, in the order of the enumeration. Splits of sets come last in any case.
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
class Outcome:
    """The best recoding found, as the block number of each leaf of each attribute, and what is proven about it.

    Where nothing was found ``blocks`` is None and ``cost`` infinite; if the search is ``complete`` there is nothing.
    """

    blocks: tuple[IntArray, ...] | None
    cost: float
    lower_bound: float
    complete: bool
    counters: dict[str, int]
    trace: list[Progress]


def search_as_published(
    problem: Problem, switches: Published, budget: Budget, progress: ProgressCallback | None = None
) -> Outcome:
    """Search until the optimum is proven, or until the budget or memory is exhausted and something was found.

    Counted are the nodes ``visited`` (taken from the queue), ``evaluated`` (bounds computed, of nodes and for
    applicators), random ``seeds``, the nodes pruned because nothing below is allowed (``infeasible``), by their
    ``bound`` when first looked at and by it when ``reconsidered``, and applicators found ``useless`` and ``useful``.
    """
    check_published(problem)
    with budget.paused():
        prepare()
    return _Search(problem, switches, budget, progress).run()


def check_published(problem: Problem) -> None:
    """Refuse what the published search knows nothing of."""
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


class _StoppedError(Exception):
    """The budget is exhausted."""


class _Queue:
    """Nodes with their bounds and whether they were looked at; the smallest bound first, or the one added first."""

    def __init__(self, by_bound: bool) -> None:
        self.by_bound = by_bound
        self._heap: list[tuple[float, int, Node, bool]] = []
        self._line: deque[tuple[float, int, Node, bool]] = deque()
        self._added = 0

    def __len__(self) -> int:
        return len(self._heap) + len(self._line)

    def add(self, bound: float, node: Node, seen: bool) -> None:
        """Put a node in."""
        self._added += 1
        entry = (bound, self._added, node, seen)
        if self.by_bound:
            heappush(self._heap, entry)
        else:
            self._line.append(entry)

    def next(self) -> float:
        """The bound of the node that is taken out next."""
        return (self._heap if self.by_bound else self._line)[0][0]

    def take(self) -> tuple[float, Node, bool]:
        """Take the next node out."""
        bound, _, node, seen = heappop(self._heap) if self.by_bound else self._line.popleft()
        return bound, node, seen

    def least(self) -> float:
        """The smallest bound of all nodes in it."""
        if self.by_bound:
            return self._heap[0][0] if self._heap else math.inf
        return min((entry[0] for entry in self._line), default=math.inf)


@dataclass(eq=False)
class _Search:
    """One run."""

    problem: Problem
    switches: Published
    budget: Budget
    progress: ProgressCallback | None
    counters: Counter[str] = field(default_factory=Counter)
    trace: list[Progress] = field(default_factory=list)
    best: tuple[IntArray, ...] | None = None
    best_cost: float = math.inf
    told: float = -math.inf
    last_tried: bool = False

    def __post_init__(self) -> None:
        self.catalogue = Catalogue(self.problem, self.switches.direction)
        self.judge = judge_of(self.problem, self.catalogue)
        self.queue = _Queue(self.switches.node_order)
        self.taken = -math.inf
        """The bound of the node that is being looked at."""
        self.floor = -math.inf
        """A bound of the whole space, known without asking the queue."""

    def run(self) -> Outcome:
        """Seed, search, and say what was found."""
        complete = False
        try:
            self._begin()
            while len(self.queue):
                self._next()
            complete = True
        except _StoppedError:
            pass
        except KeyboardInterrupt:
            self.budget.stop.set()
        if self.best is not None:
            self.best_cost = Recoder(self.problem).cost(Released.by_blocks(self.problem.table, self.best))
        bound = self.best_cost if complete else min(self.best_cost, self._proven())
        self.trace.append(Progress(self.budget.seconds, self.best_cost, bound, self.counters["evaluated"]))
        names = ("visited", "evaluated", "seeds", "infeasible", "bound", "reconsidered", "useless", "useful")
        counters = {**{name: self.counters[name] for name in names}, "left": len(self.queue)}
        return Outcome(self.best, self.best_cost, bound, complete, counters, self.trace)

    def _begin(self) -> None:
        root = self.catalogue.root
        judged = self.judge.look(np.array([root], dtype=np.int32))
        self.floor = self.taken = float(judged.bound[0])
        self._keep([root], judged)
        if self.switches.seeding:
            random = self.budget.random()
            seeds = list(dict.fromkeys(self.catalogue.at_random(random) for _ in range(_SEEDS)))
            self.counters["seeds"] = len(seeds)
            self._look(seeds)
        self._add([root], judged.bound)
        self.taken = math.inf

    def _proven(self) -> float:
        """A number no recoding costs less than, unless it is the best: nodes left could not be better."""
        rest = min(self.taken, self.queue.least())
        return max(self.floor, rest - _ROUNDING * abs(rest) if math.isfinite(rest) else rest)

    def _next(self) -> None:
        """Take a node from the queue, and add its children if need be."""
        self.taken = self.queue.next()
        bound, node, seen = self.queue.take()
        self.counters["visited"] += 1
        if self._left(bound, "reconsidered"):
            return
        if not seen:
            bound = max(bound, float(self._look([node]).bound[0]))
            if self._left(bound, "bound"):
                return
        narrowed = self._narrowed(node, bound)
        if narrowed is not None:
            self._add_children(*narrowed)
        self.taken = math.inf

    def _left(self, bound: float, why: str) -> bool:
        """Whether nothing below a node with this bound can be better; count why."""
        if not self.switches.node_pruning or not self._no_better(bound):
            return False
        self.counters["infeasible" if math.isinf(bound) else why] += 1
        return True

    def _no_better(self, bound: float) -> bool:
        return math.isinf(bound) or bound >= self.best_cost - _ROUNDING * abs(self.best_cost)

    def _narrowed(self, node: Node, bound: float) -> tuple[Node, float, list[Trial]] | None:
        """Take out useless applicators and apply useful ones; return what is left, with applicators in order.

        None says that nothing below is better.
        """
        asks = self.switches.useless or self.switches.applicator_order
        needs = self.switches.useful and self.problem.limit == 0 and self.catalogue.upward and self.problem.union_closed
        while True:
            trials = [(i, a) for i, state in enumerate(node) for a in self._applicators(i, state)]
            classes: IntArray = np.zeros(len(trials), dtype=np.int64)
            before = node
            if trials and asks:
                judged = self._look([self._applied(node, trial) for trial in trials])
                classes = judged.classes
                if self.switches.useless:
                    node = self._without(node, trials, judged)
            if trials and needs:
                node = self._with_useful(node)
            if node == before:
                return node, bound, self._ordered(trials, classes)
            bound = max(bound, float(self._look([node]).bound[0]))
            if self._left(bound, "bound"):
                return None

    def _applicators(self, i: int, state: int) -> Sequence[Any]:
        return self.catalogue.applicators(i, state) if self._tries(i) else ()

    def _tries(self, i: int) -> bool:
        """Whether the applicators of an attribute are tried one by one before the children are made."""
        return self.switches.useless or not self.catalogue.is_list(i)

    def _applied(self, node: Node, trial: Trial) -> Node:
        i, applicator = trial
        return (*node[:i], self.catalogue.apply(i, node[i], applicator), *node[i + 1 :])

    def _ruled_out(self, node: Node, trial: Trial) -> Node:
        i, applicator = trial
        return (*node[:i], self.catalogue.without(i, node[i], applicator), *node[i + 1 :])

    def _without(self, node: Node, trials: list[Trial], judged: Judged) -> Node:
        """Take out the applicators that lead to nothing better."""
        useless: list[list[Any]] = [[] for _ in node]
        for (i, applicator), bound in zip(trials, judged.bound.tolist(), strict=True):
            if self._no_better(bound):
                useless[i].append(applicator)
        self.counters["useless"] += sum(map(len, useless))
        each = zip(range(len(node)), node, useless, strict=True)
        return tuple(self.catalogue.without_all(i, state, out) if out else state for i, state, out in each)

    def _with_useful(self, node: Node) -> Node:
        """Apply the applicators without which no recoding below is allowed."""
        trials = [(i, a) for i, state in enumerate(node) for a in self._applicators(i, state)]
        if not trials:
            return node
        judged = self._look([self._ruled_out(node, trial) for trial in trials])
        for trial in (trial for trial, bound in zip(trials, judged.bound, strict=True) if np.isinf(bound)):
            if self.catalogue.is_open(trial[0], node[trial[0]], trial[1]):
                node = self._applied(node, trial)
                self.counters["useful"] += 1
        return node

    def _ordered(self, trials: list[Trial], classes: IntArray) -> list[Trial]:
        """The applicators, those first that change the number of classes least."""
        if not self.switches.applicator_order:
            return trials
        change = classes if not self.catalogue.upward else -classes
        return [trials[place] for place in np.argsort(change, kind="stable").tolist()]

    def _add_children(self, node: Node, bound: float, trials: list[Trial]) -> None:
        children = self._children(node, trials)
        while chunk := list(islice(children, _AT_ONCE)):
            self._check()
            if self.switches.modified_bfs:
                self._add(chunk, np.maximum(self._look(chunk).bound, bound))
            else:
                for child in chunk:
                    self.queue.add(bound, child, seen=False)

    def _children(self, node: Node, trials: list[Trial]) -> Iterator[Node]:
        """The first applicator applied, the second without the first, and so on; then attributes that are lists."""
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
        """Put nodes that were looked at in the queue, but for those that lead to nothing better."""
        for node, bound in zip(nodes, bounds.tolist(), strict=True):
            if not self._left(bound, "bound"):
                self.queue.add(bound, node, seen=True)

    def _look(self, nodes: Sequence[Node]) -> Judged:
        """Judge nodes, and keep the best."""
        parts = []
        for begin in range(0, len(nodes), _AT_ONCE):
            some = nodes[begin : begin + _AT_ONCE]
            judged = self.judge.look(np.array(some, dtype=np.int32).reshape(len(some), -1))
            parts.append(judged)
            self._keep(some, judged)
            self._check()
        return parts[0] if len(parts) == 1 else Judged(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _keep(self, nodes: Sequence[Node], judged: Judged) -> None:
        """Count nodes that were looked at, and keep the best if it is better."""
        self.counters["evaluated"] += len(nodes)
        cheapest = int(np.argmin(judged.cost))
        if judged.cost[cheapest] < self.best_cost:
            self.best_cost = float(judged.cost[cheapest])
            self.best = self.catalogue.blocks(nodes[cheapest])
            self._tell()

    def _check(self) -> None:
        """Look at the clock."""
        if self.budget.seconds - self.told >= _REPORT:
            self._tell()
        over = self.budget.exhausted or len(self.catalogue) + len(self.queue) > _MOST_KEPT
        if over and self.best is None and not self.last_tried:
            self._try_last()
        if self.budget.stop.is_set() or (over and self.best is not None):
            raise _StoppedError

    def _try_last(self) -> None:
        """Try the recoding farthest from where the search began, so that there is something to stop with."""
        self.last_tried = True
        blocks = self.catalogue.blocks(self.catalogue.root, extreme=True)
        cost = Recoder(self.problem).cost(Released.by_blocks(self.problem.table, blocks))
        if math.isfinite(cost):
            self.best, self.best_cost = blocks, cost
            self._tell()

    def _tell(self) -> None:
        self.told = self.budget.seconds
        bound = min(self.best_cost, self._proven() if self.queue.by_bound else self.floor)
        now = Progress(self.told, self.best_cost, bound, self.counters["evaluated"])
        if not self.trace or now.best < self.trace[-1].best or now.bound > self.trace[-1].bound:
            self.trace.append(now)
        if self.progress is not None:
            self.progress(now)
