"""The search over partitions of all attributes: best first, diving from there, with bounds from below and above."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet._numbers import by_appearance
from discreet.counts import CodedAttribute, CountTable, IntArray
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem import Problem
from discreet.problem.schemes import RunScheme, SetScheme
from discreet.problem.schemes.guided_ordered import GuidedOrdered
from discreet.problem.schemes.ordered import Ordered
from discreet.problem.schemes.subtree import Subtree
from discreet.solve._base import Budget, Progress, ProgressCallback, nothing_found
from discreet.solve._choices import Choices, Hint, Priced
from discreet.solve._gather import Released
from discreet.solve._large_sets import LargeSets
from discreet.solve._listed import ListSpace
from discreet.solve._partition_bounds import Bounds, InterruptedLook, Look
from discreet.solve._recoded import Recoder
from discreet.solve._runs import RunSpace
from discreet.solve._sets import MOST_ITEMS, SetSpace

__all__ = ["PartitionSearch", "open_choices", "original"]

_ROUNDING, _SMALLEST = 1e-11, 1e-15
"""Costs that differ by less than this share of them, or of the largest cost there is, are the same."""
_DIVE = 60
"""So many nodes are looked at before the search goes back to the one with the least bound."""
_WAITING = 30_000
"""With more nodes than this waiting, a dive goes on until its part of the space is done."""
_ROUNDS = 4
"""So many times a node is looked at again because something was decided."""
_PATIENCE = 2000
"""So many nodes at most are looked at for finding what to begin with."""

_COUNTED = ("looked at", "bound", "over budget", "nothing left", "solved by its last attribute")

Node = tuple[Choices, ...]
Hints = tuple[float, dict[int, Hint]]
"""What a node costs at least by the prices of its parent, and what is remembered of other attributes from there."""
Part = tuple[float, Node, Hints | None]
"""A node with its bound."""


def original(table: CountTable) -> Released:
    """Return the recoding that leaves all values as they are."""
    return Released.by_blocks(table, [np.arange(attribute.leaves) for attribute in table.attributes])


def open_choices(problem: Problem) -> Node:
    """Return all partitions of each attribute."""
    table = problem.table
    separable = problem.cost.separable(table)
    found: list[Choices] = []
    for index, scheme in enumerate(problem.schemes):
        attribute, between = table.attributes[index], (problem.lowest[index], problem.highest[index])
        limited = between != (0, attribute.height)
        if isinstance(scheme, RunScheme):
            found.append(RunSpace.of(table, index, scheme, separable, between if limited else None).open())
        elif isinstance(scheme, SetScheme):
            if limited:
                raise UnsupportedCombinationError(
                    f"The scheme {scheme.name} of '{attribute.name}'",
                    "limits of its level",
                    "choose full-domain, subtree, ordered or guided-ordered for it, or leave the limits out",
                )
            if np.count_nonzero(attribute.rows) <= MOST_ITEMS:
                found.append(SetSpace.of(table, index, scheme, separable).open())
            else:
                found.append(LargeSets(table, index, scheme, _as_runs(scheme, attribute), separable))
        else:
            levels = range(between[0], between[1] + 1)
            full = scheme.name == "full-domain"
            found.append(ListSpace.of(table, index, scheme, levels if full else None, separable).open())
    return tuple(found)


class PartitionSearch:
    """One search, driven until it is complete or its budget is exhausted."""

    def __init__(
        self, problem: Problem, budget: Budget, progress: ProgressCallback | None, direction: str = "auto"
    ) -> None:
        self.problem, self.budget, self.progress, self.direction = problem, budget, progress, direction
        self.root = open_choices(problem)
        self.bounds = Bounds(problem, [choice.items for choice in self.root])
        self.bounds.interrupted = lambda: self.best_blocks is not None and self._over
        self.limit = self.bounds.limit
        self.smallest = _SMALLEST * problem.cost.worst(problem.table)
        self.best = np.inf
        self.best_blocks: tuple[IntArray, ...] | None = None
        self.trace: list[Progress] = []
        self.first: float | None = None
        self.least = max(0.0, Recoder(problem).floor(original(problem.table)))
        self.left_open = np.inf
        """The least bound of what cannot be divided any further and is not solved."""
        self.counts = dict.fromkeys(_COUNTED, 0)
        self.waiting: list[tuple[float, int, Node, Hints | None]] = []
        self.order = itertools.count()
        self.told = 0.0
        self.patience: int | None = None
        """After so many nodes the search is over, if it has found anything."""

    def go(self) -> bool:
        """Search; returns whether the search is complete."""
        complete = False
        try:
            self._find_first()
            self.first = self.best
            complete = self._run()
        except InterruptedLook:
            pass
        except KeyboardInterrupt:
            self.budget.stop.set()
        if complete:
            self.least = self.best
        self.least = min(self.least, self.left_open)
        self._tell(at_once=True)
        return complete

    @property
    def enough(self) -> float:
        """What a bound must reach for its part of the space to be left out."""
        return self._below(self.best)

    def _below(self, cost: float) -> float:
        """Return what is less than a cost by more than rounding."""
        return cost - _ROUNDING * abs(cost) - self.smallest if np.isfinite(cost) else cost

    def _find_first(self) -> None:
        """Improve some partitions one attribute at a time, each to the best there is with the others as they are."""
        small_first = sorted(range(len(self.root)), key=lambda a: self.root[a].items.count)
        order = [a for a in small_first if not self.root[a].decided]
        starts = [tuple(choice.fixed(choice.most_general()) for choice in self.root)]
        self._try(starts[0])
        nearby = self._ordered()
        if nearby is not None:
            starts = [nearby]
        elif self.limit > 0:
            starts.append(tuple(choice.fixed(choice.most_specific()) for choice in self.root))
        for start in starts:
            for way in (order, order[::-1]):
                self._improve(start, way)

    def _ordered(self) -> Node | None:
        """Return the best partitions in which sets of values are runs of them, which are found much sooner."""
        schemes = tuple(
            _as_runs(scheme, attribute) if isinstance(scheme, SetScheme) else scheme
            for scheme, attribute in zip(self.problem.schemes, self.problem.table.attributes, strict=True)
        )
        if schemes == self.problem.schemes:
            return None
        left = None if self.budget.time_limit is None else (self.budget.time_limit - self.budget.seconds) / 2
        search = PartitionSearch(replace(self.problem, schemes=schemes), Budget(left, self.budget.stop), None)
        search.patience = _PATIENCE
        search.go()
        if search.best_blocks is None:
            return None
        blocks = zip(self.root, search.best_blocks, strict=True)
        return tuple(choice.fixed(by_appearance(block[choice.items.leaves])) for choice, block in blocks)

    def _improve(self, node: Node, order: Sequence[int]) -> None:
        cost, still = self._try(node), 0
        for a in itertools.cycle(order):
            if still == len(order) or self._over:
                return
            self.counts["looked at"] += 1
            look = self.bounds.look((*node[:a], self.root[a], *node[a + 1 :]), self._below(cost))
            still += 1
            priced = look.each[a]
            if priced is not None and look.total < self._below(cost):
                cost, still = look.total, 1
                node = (*node[:a], node[a].fixed(priced.cheapest()), *node[a + 1 :])
                self._try(node)

    def _try(self, node: Node) -> float:
        """Evaluate one partition of each attribute, and keep it if it is the best so far; returns its cost."""
        cost = self.bounds.look(node).total  # infinite if too many rows go
        if cost < self.best:
            self.best = cost
            self.best_blocks = tuple(choice.leaf_blocks(choice.fine) for choice in node)
            self._tell()
        return cost

    def _look(self, node: Node) -> Look:
        self.counts["looked at"] += 1
        return self.bounds.look(node, self.enough)

    def _run(self) -> bool:
        """Take the node with the least bound and dive from there, until none is left or the budget exhausted."""
        heapq.heappush(self.waiting, (0.0, next(self.order), self.root, None))
        while self.waiting:
            bound, _, node, hints = heapq.heappop(self.waiting)
            if bound >= self.enough:
                self.counts["bound"] += 1 + len(self.waiting)
                self.waiting.clear()
                break
            stack: list[Part] = [(bound, node, hints)]
            dived = 0
            while stack:
                if len(stack) < _DIVE or dived % _DIVE == 0:
                    lowest = min(self.waiting[0][0] if self.waiting else np.inf, *(part[0] for part in stack))
                    self.least = max(self.least, lowest)
                self._tell()
                if self._over:
                    return False
                bound, node, hints = stack.pop()
                less = None if bound >= self.enough else self._reminded(node, hints)
                if less is None:
                    self.counts["bound"] += 1
                    continue
                stack += self._expand(bound, less)
                dived += 1
                if dived >= _DIVE and len(self.waiting) < _WAITING:
                    self._wait(stack)
                    break
        return self.left_open >= self.enough

    def _reminded(self, node: Node, hints: Hints | None) -> Node | None:
        """Leave out what was too dear at the parent already, now that one more attribute is decided."""
        if hints is None:
            return node
        total, remembered = hints
        choices = list(node)
        for a, hint in remembered.items():
            kept = hint.choices(self.enough - (total - hint.least))
            if kept is None:
                return None
            choices[a] = kept
        return tuple(choices)

    def _wait(self, nodes: Sequence[Part]) -> None:
        """Put nodes aside."""
        for bound, node, hints in nodes:
            heapq.heappush(self.waiting, (bound, next(self.order), node, hints))
            for choice in node:
                choice.forget()

    def _expand(self, bound: float, node: Node) -> list[Part]:
        """Look at a node, decide what leaves no choice, and divide it; the part to look at first comes last."""
        for _ in range(_ROUNDS):
            look = self._look(node)
            bound = max(bound, look.total)
            if bound >= self.enough or look.total == np.inf:
                self.counts["over budget" if look.total == np.inf else "bound"] += 1
                return []
            self._try(_cheapest(node, look))
            if look.exact and self.enough <= look.total < np.inf:
                self.counts["solved by its last attribute"] += 1
                return []
            restricted = self._restricted(look)
            if restricted is None:
                self.counts["nothing left"] += 1
                return []
            node = tuple(choice if part is None else part[0] for choice, part in zip(node, restricted, strict=True))
            if all(part is None or part[1] is not None for part in restricted):
                return self._branch(bound, node, look.total, [part and part[1] for part in restricted])
        return [(bound, node, None)]

    def _restricted(self, look: Look) -> list[tuple[Choices, Priced | None] | None] | None:
        """Leave out what cannot be part of anything better than the best so far; None if nothing is left."""
        left: list[tuple[Choices, Priced | None] | None] = []
        for priced in look.each:
            if priced is None:
                left.append(None)
                continue
            kept = priced.restricted(self.enough - self._others(look.total, priced), self.limit)
            if kept is None:
                return None
            left.append(kept)
        return left

    def _others(self, total: float, priced: Priced) -> float:
        """What all attributes but one cost at least."""
        return 0.0 if self.bounds.one_bound else total - priced.least

    def _branch(self, bound: float, node: Node, total: float, each: Sequence[Priced | None]) -> list[Part]:
        """Divide a node by the attribute of which most is to be expected; the part to look at first comes last."""
        open_ = [(a, priced) for a, priced in enumerate(each) if priced is not None and priced.size()]
        if not open_:
            self.left_open = min(self.left_open, bound)
            return []
        room = min(self.enough, 2 * abs(total) + 1) - total
        a, chosen = max(open_, key=lambda pair: pair[1].weight(room))
        others = self._others(total, chosen)
        remembered = {b: hint for b, p in enumerate(each) if b != a and p is not None and (hint := p.hint())}
        if self.bounds.one_bound:
            remembered = {}
        parts: list[Part] = [
            (max(bound, others + least), (*node[:a], choices, *node[a + 1 :]), (others + least, remembered))
            for least, choices in chosen.branches(self.enough - others, self.limit)
        ]
        if self.direction == "auto":
            return sorted(parts, key=lambda part: -part[0])
        upwards = 1 if self.direction == "bottom-up" else -1
        return sorted(parts, key=lambda part: upwards * part[1][a].tops)

    @property
    def _over(self) -> bool:
        found = self.best_blocks is not None
        if self.budget.stop.is_set() and not found:
            raise nothing_found(self.budget)
        tired = self.patience is not None and self.counts["looked at"] >= self.patience
        return found and (tired or self.budget.exhausted)

    def _tell(self, *, at_once: bool = False) -> None:
        bound = min(self.least, self.best, self.left_open)
        now = Progress(self.budget.seconds, self.best, bound, self.counts["looked at"])
        if not self.trace or now.best < self.trace[-1].best or now.bound > self.trace[-1].bound:
            self.trace.append(now)
        if self.progress is not None and (at_once or now.seconds > self.told + 0.1):
            self.told = now.seconds
            self.progress(now)

    def stats(self) -> dict[str, Any]:
        """Return how much of the space was looked at, and why the rest was not."""
        return {
            "examined": self.counts["looked at"],
            "blocks_priced": self.bounds.blocks_priced,
            "pruned": {rule: count for rule, count in self.counts.items() if rule != "looked at"},
            "first_cost": self.first if self.first is not None and np.isfinite(self.first) else None,
        }


def _as_runs(scheme: SetScheme, attribute: CodedAttribute) -> RunScheme:
    """The scheme that allows the same sets of values if they are runs, where there is one."""
    runs: RunScheme = GuidedOrdered() if scheme.uses_hierarchy else Ordered()
    try:
        runs.count(attribute)
    except UsageError:  # the order does not agree with the hierarchy
        return Subtree()
    return runs


def _cheapest(node: Node, look: Look) -> Node:
    """The cheapest partition of each attribute that was looked at."""
    return tuple(
        choice if priced is None else choice.fixed(priced.cheapest())
        for choice, priced in zip(node, look.each, strict=True)
    )
