"""Branch and bound over the partitions of all attributes: best first, with depth-first dives.

A node holds the open partitions of each attribute. It is bounded, narrowed (blocks that cannot be part of anything
better are struck out), bounded again if that decided something, and then divided on one attribute.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from discreet.counts import CodedAttribute, CountTable, IntArray
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem import Problem, Separable
from discreet.problem.costs.discernibility import Discernibility
from discreet.problem.costs.loss import Loss
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.schemes import RunScheme, SetScheme
from discreet.problem.schemes.guided_ordered import GuidedOrdered
from discreet.problem.schemes.ordered import Ordered
from discreet.problem.schemes.subtree import Subtree
from discreet.runtime.integer_codes import by_appearance
from discreet.solve._base import Budget, Progress, ProgressCallback, nothing_found
from discreet.solve._class_arrays import Released
from discreet.solve._recoding import Recoder
from discreet.solve.partitions.annealing import PartitionAnnealing
from discreet.solve.partitions.bounds import BoundingMethod, BoundInterrupted, NodeBound, PartitionBounds
from discreet.solve.partitions.gap_history import GapDecision, GapHistory
from discreet.solve.partitions.large_sets import LargeSets
from discreet.solve.partitions.listed import PartitionList
from discreet.solve.partitions.open_partitions import OpenPartitions, PricedPartitions, PriceMemory
from discreet.solve.partitions.runs import OpenRuns, PricedRuns, ValidRuns
from discreet.solve.partitions.sets import MOST_ITEMS, ValidSets

__all__ = ["PartitionSearch", "all_partitions", "original_values"]

_ROUNDING, _SMALLEST = 1e-11, 1e-15
"""Costs that differ by less than this share of them, or of the largest possible cost, are equal."""
_DIVE = 60
"""A dive examines so many nodes before the search returns to the node with the least bound..."""
_SHORT_DIVE = 1
"""... and so many once the incumbent is annealed: more of the bound, as nothing better need be found on the way."""
_RARELY = 16
"""Then, the cheapest partitions of one node in so many are tried as an incumbent."""
_ANNEALED = ((200, 12_000), (1000, 100_000))
"""After how many nodes the incumbent is annealed, with how many evaluations in each run..."""
_TUPLES = 5000
"""... and after fewer, in proportion, with more tuples than this: nodes take longer then."""
_WAITING = 30_000
"""With more nodes waiting, dives go on until their part of the space is done, to save memory."""
_ROUNDS = 4
"""A node is bounded again at most so many times because narrowing it decided something."""
_PATIENCE = 2000
"""The search for an incumbent examines at most so many nodes."""

_FEW = 50
"""The search for an incumbent by another cost examines at most so many nodes."""

_EXAMINED = "examined"
_LATE, _AT_LEAST = 2, 5.0
"""A search that has found nothing goes on for so many times its limit and so many seconds more."""
_RULES = ("bound", "over budget", "nothing left", "solved by its last attribute")
"""Rules that prune nodes, as statistics name them."""

Node = tuple[OpenPartitions, ...]


class Memory(NamedTuple):
    """What a node keeps of its parent."""

    total: float
    """The bound of the node by its parent's prices, and ..."""
    prices: dict[int, PriceMemory]
    """... those prices by attribute."""
    made: GapDecision | None
    """The gap that was decided."""


Branch = tuple[float, Node, Memory | None]
"""A node with its bound."""


def original_values(table: CountTable) -> Released:
    """Return the recoding that leaves all values as they are."""
    return Released.by_blocks(table, [np.arange(attribute.leaves) for attribute in table.attributes])


def all_partitions(problem: Problem, separable: Separable | None) -> Node:
    """Return all partitions of each attribute, with the rates of their blocks: the root of the search."""
    table = problem.table
    found: list[OpenPartitions] = []
    for index, scheme in enumerate(problem.schemes):
        attribute, levels = table.attributes[index], (problem.lowest[index], problem.highest[index])
        limited = levels != (0, attribute.height)
        if isinstance(scheme, RunScheme):
            runs = ValidRuns.of(table, index, scheme, separable, levels if limited else None)
            if limited and not runs.possible:
                raise UnsupportedCombinationError(
                    f"The scheme {scheme.name} of '{attribute.name}'",
                    "limits of its level",
                    "nodes of its hierarchy are no ranges of its values; choose subtree or guided-set for it",
                )
            found.append(runs.open_all())
        elif isinstance(scheme, SetScheme):
            if np.count_nonzero(attribute.rows) <= MOST_ITEMS:
                found.append(ValidSets.of(table, index, scheme, separable, levels).open_all())
            else:
                found.append(LargeSets(table, index, scheme, _as_runs(scheme, attribute), separable, levels))
        else:
            between = range(levels[0], levels[1] + 1) if scheme.name == "full-domain" else None
            found.append(PartitionList.of(table, index, scheme, between, separable).open_all())
    return tuple(found)


class PartitionSearch:
    """One search, run until it is complete or its budget is exhausted."""

    def __init__(
        self,
        problem: Problem,
        budget: Budget,
        progress: ProgressCallback | None,
        direction: str = "auto",
        bounds: type[BoundingMethod] = PartitionBounds,
    ) -> None:
        self.problem, self.budget, self.progress, self.direction = problem, budget, progress, direction
        self.root = all_partitions(problem, bounds.block_rates(problem))
        self.bounds = bounds(problem, [partitions.items for partitions in self.root])
        self.bounds.interrupted = lambda: self.best_blocks is not None and self._over
        self.limit = self.bounds.limit
        self.smallest = _SMALLEST * problem.cost.worst(problem.table)
        self.best = np.inf
        self.best_blocks: tuple[IntArray, ...] | None = None
        self.trace: list[Progress] = []
        self.first: float | None = None
        """Cost of the incumbent the exact search starts with."""
        self.least = max(0.0, Recoder(problem).floor(original_values(problem.table)))
        """Lower bound of all recodings, so far."""
        self.unsolved = np.inf
        """Least bound of nodes that cannot be divided any further and are not solved (large sets)."""
        self.counts = dict.fromkeys((_EXAMINED, *_RULES), 0)
        self.learns = self.limit > 0 and problem.cost.separable(problem.table) is None
        """Whether gaps are chosen by what earlier ones did: with DM, prices of single attributes say little of it."""
        self.history = GapHistory([partitions.items.count for partitions in self.root])
        self.waiting: list[tuple[float, int, Node, Memory | None]] = []
        self.order = itertools.count()
        self.reported = 0.0
        self.dive, self.annealed = _DIVE, 0
        self.annealing: PartitionAnnealing | None = None
        if problem.cost.additive and isinstance(self.bounds, PartitionBounds):
            self.annealing = PartitionAnnealing(self.bounds, self.root)
        self.patience: int | None = None
        """After so many nodes the search is over, if it has found anything."""

    def run(self) -> bool:
        """Search; returns whether the search is complete."""
        complete = False
        try:
            self._find_incumbent()
            self.first = self.best
            complete = self._branch_and_bound()
        except BoundInterrupted:
            pass
        except KeyboardInterrupt:
            self.budget.stop.set()
        if complete:
            self.least = self.best
        self.least = min(self.least, self.unsolved)
        self._report(at_once=True)
        return complete

    @property
    def enough(self) -> float:
        """The bound at which a node is pruned."""
        return self._below(self.best)

    def _below(self, cost: float) -> float:
        """Return what is less than a cost by more than rounding."""
        return cost - _ROUNDING * abs(cost) - self.smallest if np.isfinite(cost) else cost

    def _find_incumbent(self) -> None:
        """Improve some recodings one attribute at a time, each to the best with the others fixed."""
        small_first = sorted(range(len(self.root)), key=lambda a: self.root[a].items.count)
        order = [a for a in small_first if not self.root[a].decided]
        starts = [tuple(partitions.fixed(partitions.most_general()) for partitions in self.root)]
        self._try(starts[0])
        if any(model.of_table for model in self.problem.privacy):
            self._try_class_sizes()
        if not self.problem.cost.additive:
            self._try_other_costs()
            return
        runs = self._best_runs()
        if runs is not None:
            starts = [runs]
        elif self.limit > 0:
            starts.append(tuple(partitions.fixed(partitions.most_specific()) for partitions in self.root))
        for start in starts:
            for attributes in (order, order[::-1]):
                self._improve(start, attributes)

    def _try_other_costs(self) -> None:
        """Try what is good by costs that can be improved one attribute at a time."""
        table, privacy = self.problem.table, self.problem.privacy
        for cost in (Discernibility(), Loss()):
            found = self._best_of(replace(self.problem, cost=cost.resolve(table, privacy)), _FEW)
            if found is not None:
                self._try(found)

    def _try_class_sizes(self) -> None:
        """Try what is good if every class has 2 rows at least, or 4, 8, …, until the whole table is ok.

        Prices of blocks say nothing of a condition on the whole table, so that nothing else leads to what keeps it.
        """
        models = tuple(model for model in self.problem.privacy if not model.of_table)
        size, cost = 1, self.best
        while size < self.problem.table.n and self.best >= cost and not self._over:
            size *= 2
            found = self._best_of(replace(self.problem, privacy=(*models, KAnonymity(size))), _FEW)
            if found is not None:
                self._try(found)

    def _best_runs(self) -> Node | None:
        """Return the best partitions in which sets are runs of values, which are found much sooner; None without sets.

        It may use half of the time left.
        """
        schemes = tuple(
            _as_runs(scheme, attribute) if isinstance(scheme, SetScheme) else scheme
            for scheme, attribute in zip(self.problem.schemes, self.problem.table.attributes, strict=True)
        )
        if schemes == self.problem.schemes:
            return None
        try:
            return self._best_of(replace(self.problem, schemes=schemes), _PATIENCE)
        except UnsupportedCombinationError:  # level limits that no runs keep
            return None

    def _best_of(self, problem: Problem, patience: int) -> Node | None:
        """Return the best partitions of a similar problem found in half of the time left; None if there are none."""
        left = None if self.budget.time_limit is None else (self.budget.time_limit - self.budget.seconds) / 2
        search = PartitionSearch(problem, Budget(left, self.budget.stop), None, bounds=type(self.bounds))
        search.patience = patience
        search.run()
        if search.best_blocks is None:
            return None
        blocks = zip(self.root, search.best_blocks, strict=True)
        return tuple(partitions.fixed(by_appearance(block[partitions.items.leaves])) for partitions, block in blocks)

    def _improve(self, node: Node, order: Sequence[int]) -> None:
        """Improve one attribute after the other, until a full round changes nothing."""
        cost, unchanged = self._try(node), 0
        for a in itertools.cycle(order):
            if unchanged == len(order) or self._over:
                return
            self.counts[_EXAMINED] += 1
            found = self.bounds.bound((*node[:a], self.root[a], *node[a + 1 :]), self._below(cost))
            unchanged += 1
            priced = found.each[a]
            if priced is None or found.total >= self._below(cost):
                continue
            better = (*node[:a], node[a].fixed(priced.cheapest()), *node[a + 1 :])
            reached = self._try(better)
            if found.exact or reached < self._below(cost):
                cost, unchanged = found.total if found.exact else reached, 1
                node = better

    def _anneal_in_time(self) -> None:
        """Anneal the incumbent if the search has come so far."""
        work = self.counts[_EXAMINED] * max(1.0, self.problem.table.tuples / _TUPLES)
        if self.annealed < len(_ANNEALED) and work > _ANNEALED[self.annealed][0]:
            self.annealed += 1
            self.anneal(_ANNEALED[self.annealed - 1][1])

    def anneal(self, evaluations: int) -> None:
        """Look for a better incumbent by annealing; from then on the search is for the bound."""
        annealing = self.annealing
        if annealing is None or not annealing.possible or self.best_blocks is None:
            return
        start = [by_appearance(block[own.items.leaves]) for own, block in zip(self.root, self.best_blocks, strict=True)]
        found = annealing.run(start, self.best, self.budget, evaluations)
        if found is not None:
            node = tuple(own.fixed(by_appearance(block)) for own, block in zip(self.root, found, strict=True))
            self._improve(node, [a for a, own in enumerate(self.root) if not own.decided])
        if all(isinstance(own, OpenRuns) for own in self.root):
            self.dive = _SHORT_DIVE

    def _try(self, node: Node) -> float:
        """Evaluate one partition of each attribute, and keep it if it is the best so far; returns its cost."""
        cost = self.bounds.bound(node).total  # infinite if it suppresses too much
        if cost < self.best:
            self.best = cost
            self.best_blocks = tuple(partitions.leaf_blocks(partitions.fine) for partitions in node)
            self._report()
        return cost

    def _branch_and_bound(self) -> bool:
        """Take the node with the least bound and dive from there, until none is left or the budget is exhausted."""
        heapq.heappush(self.waiting, (0.0, next(self.order), self.root, None))
        while self.waiting:
            bound, _, node, memory = heapq.heappop(self.waiting)
            if bound >= self.enough:
                self.counts["bound"] += 1 + len(self.waiting)
                self.waiting.clear()
                break
            stack: list[Branch] = [(bound, node, memory)]
            dived = 0
            while stack:
                if len(stack) < self.dive or dived % self.dive == 0:
                    lowest = min(self.waiting[0][0] if self.waiting else np.inf, *(branch[0] for branch in stack))
                    self.least = max(self.least, lowest)
                self._report()
                if self._over:
                    return False
                bound, node, memory = stack.pop()
                less = None if bound >= self.enough else self._narrowed_by_memory(node, memory)
                if less is None:
                    self.counts["bound"] += 1
                    continue
                stack += self._expand(bound, less, memory and memory.made)
                dived += 1
                self._anneal_in_time()
                if dived >= self.dive and len(self.waiting) < _WAITING:
                    self._put_back(stack)
                    break
        if self.unsolved < self.enough:
            self.anneal(_ANNEALED[-1][1])
        return self.unsolved >= self.enough

    def _narrowed_by_memory(self, node: Node, memory: Memory | None) -> Node | None:
        """Narrow a node by the prices of its parent, with one more attribute decided; None if nothing is left."""
        if memory is None:
            return node
        narrowed = list(node)
        for a, prices in memory.prices.items():
            kept = prices.narrowed(self.enough - (memory.total - prices.least))
            if kept is None:
                return None
            narrowed[a] = kept
        return tuple(narrowed)

    def _put_back(self, branches: Sequence[Branch]) -> None:
        """Put nodes back into the queue."""
        for bound, node, memory in branches:
            heapq.heappush(self.waiting, (bound, next(self.order), node, memory))
            for partitions in node:
                partitions.forget()

    def _expand(self, bound: float, node: Node, made: GapDecision | None) -> list[Branch]:
        """Bound a node, decide what leaves no choice, and divide it; the branch to examine first comes last."""
        for number in range(_ROUNDS):
            self.counts[_EXAMINED] += 1
            found = self.bounds.bound(node, self.enough)
            if made is not None and number == 0:
                self.history.learn(made, found.total, self.enough)
            bound = max(bound, found.total)
            if bound >= self.enough or found.total == np.inf:
                self.counts["over budget" if found.total == np.inf else "bound"] += 1
                return []
            if found.exact or self.dive > _SHORT_DIVE or self.counts[_EXAMINED] % _RARELY == 0:
                self._try(_cheapest(node, found))
            if found.exact and self.enough <= found.total < np.inf:
                self.counts["solved by its last attribute"] += 1
                return []
            narrowed = self._narrowed(found)
            if narrowed is None:
                self.counts["nothing left"] += 1
                return []
            node = tuple(own if less is None else less[0] for own, less in zip(node, narrowed, strict=True))
            if all(less is None or less[1] is not None for less in narrowed):
                return self._branch(bound, node, found, [less and less[1] for less in narrowed])
        return [(bound, node, None)]

    def _narrowed(self, found: NodeBound) -> list[tuple[OpenPartitions, PricedPartitions | None] | None] | None:
        """Strike out what cannot be part of anything better than the incumbent; None if nothing is left."""
        left: list[tuple[OpenPartitions, PricedPartitions | None] | None] = []
        for priced in found.each:
            if priced is None:
                left.append(None)
                continue
            kept = priced.narrowed(self.enough - _others(found, priced), self.limit)
            if kept is None:
                return None
            left.append(kept)
        return left

    def _branch(
        self, bound: float, node: Node, found: NodeBound, each: Sequence[PricedPartitions | None]
    ) -> list[Branch]:
        """Divide a node on the attribute that promises most; the branch to examine first comes last."""
        open_ = [(a, priced) for a, priced in enumerate(each) if priced is not None and priced.size()]
        if not open_:
            self.unsolved = min(self.unsolved, bound)
            return []
        room = min(self.enough, 2 * abs(found.total) + 1) - found.total
        a, chosen, divided = self._divided(found, open_, room)
        others = _others(found, chosen)
        remembered = {b: memory for b, p in enumerate(each) if b != a and p is not None and (memory := p.memory())}
        if found.takes_largest:
            remembered = {}
        branches: list[Branch] = [
            (
                max(bound, others + least),
                (*node[:a], partitions, *node[a + 1 :]),
                Memory(others + least, remembered, made),
            )
            for least, partitions, made in divided
        ]
        if self.direction == "auto":
            return sorted(branches, key=lambda branch: -branch[0])
        sign = 1 if self.direction == "bottom-up" else -1
        return sorted(branches, key=lambda branch: sign * branch[1][a].coarse_blocks)

    def _divided(
        self, found: NodeBound, open_: Sequence[tuple[int, PricedPartitions]], room: float
    ) -> tuple[int, PricedPartitions, list[tuple[float, OpenPartitions, GapDecision | None]]]:
        """Choose an attribute and divide it, runs by what was learnt about gaps if that pays."""
        runs = [(a, priced) for a, priced in open_ if isinstance(priced, PricedRuns)]
        if self.learns and len(runs) == len(open_) and room > 0 and not found.takes_largest:
            a, own, p = self.history.best_gap(runs, room)
            gap = int(own.partitions.first[p])
            return (
                a,
                own,
                [
                    (least, partitions, GapDecision(a, gap, decision, found.total))
                    for least, partitions, decision in own.divided(p)
                ],
            )
        a, chosen = max(open_, key=lambda pair: pair[1].weight(room, self.limit))
        branches = chosen.branches(self.enough - _others(found, chosen), self.limit)
        return a, chosen, [(least, partitions, None) for least, partitions in branches]

    @property
    def _over(self) -> bool:
        found = self.best_blocks is not None
        if self.budget.stop.is_set() and not found:
            raise nothing_found(self.budget)
        limit = self.budget.time_limit
        if not found and limit is not None and self.budget.seconds > _LATE * limit + _AT_LEAST:
            raise nothing_found(self.budget)
        impatient = self.patience is not None and self.counts[_EXAMINED] >= self.patience
        return found and (impatient or self.budget.exhausted)

    def _report(self, *, at_once: bool = False) -> None:
        bound = min(self.least, self.best, self.unsolved)
        now = Progress(self.budget.seconds, self.best, bound, self.counts[_EXAMINED])
        if not self.trace or now.best < self.trace[-1].best or now.bound > self.trace[-1].bound:
            self.trace.append(now)
        if self.progress is not None and (at_once or now.seconds > self.reported + 0.1):
            self.reported = now.seconds
            self.progress(now)

    def stats(self) -> dict[str, Any]:
        """Return how much of the space was examined, and which rules pruned the rest."""
        return {
            "examined": self.counts[_EXAMINED],
            "blocks_priced": self.bounds.blocks_priced,
            "pruned": {rule: self.counts[rule] for rule in _RULES},
            "first_cost": self.first if self.first is not None and np.isfinite(self.first) else None,
        }


def _as_runs(scheme: SetScheme, attribute: CodedAttribute) -> RunScheme:
    """Return the scheme whose runs are sets of the given scheme."""
    runs: RunScheme = GuidedOrdered() if scheme.uses_hierarchy else Ordered()
    try:
        runs.count(attribute)
    except UsageError:  # the order does not agree with the hierarchy
        return Subtree()
    return runs


def _others(found: NodeBound, priced: PricedPartitions) -> float:
    """What all attributes but one cost at least."""
    return 0.0 if found.takes_largest else found.total - priced.least


def _cheapest(node: Node, found: NodeBound) -> Node:
    """Return the cheapest partition of each priced attribute."""
    return tuple(
        partitions if priced is None else partitions.fixed(priced.cheapest())
        for partitions, priced in zip(node, found.each, strict=True)
    )
