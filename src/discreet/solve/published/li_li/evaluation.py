"""Cost of a node of the Li-Li search, and lower bound of all recodings below it (section 4.3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, Grouping, IntArray
from discreet.problem import Classes, Problem
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.runtime.integer_codes import add_up
from discreet.solve._class_arrays import Released, roll_up
from discreet.solve._kernel_loading import two_rows, warm_up
from discreet.solve._recoding import Recoder
from discreet.solve.published.kernels.li_li import ClassSlots, NodeCosts, StateBlocks, WeightedTuples, price_nodes
from discreet.solve.published.li_li.catalogue import Catalogue

__all__ = ["ArrayEvaluator", "CompiledEvaluator", "LiLiEvaluator", "compile_ahead", "evaluator_for"]

_WIDEST = float(1 << 62)
"""Keys of classes stay below this."""

Nodes = NDArray[np.int32]
"""(node, attribute) states, by their number in the catalogue."""


class LiLiEvaluator(ABC):
    """Evaluates nodes."""

    def __init__(self, problem: Problem, catalogue: Catalogue) -> None:
        self.problem, self.catalogue = problem, catalogue

    @abstractmethod
    def evaluate(self, nodes: Nodes) -> NodeCosts:
        """Return the cost, lower bound and number of classes of some nodes."""


def evaluator_for(problem: Problem, catalogue: Catalogue) -> LiLiEvaluator:
    """Return the compiled evaluator if it fits the problem, else the one for any models and costs."""
    span = float(np.prod([float(attribute.leaves) for attribute in problem.table.attributes]))
    form = problem.cost.separable(problem.table)
    known = problem.cost.compiled == "squares" or (form is not None and form.block_rate is not None)
    if known and span < _WIDEST and all(isinstance(model, KAnonymity) for model in problem.privacy):
        return CompiledEvaluator(problem, catalogue)
    return ArrayEvaluator(problem, catalogue)


@cache
def compile_ahead() -> None:
    """Load the kernels, or compile them the first time ever, on a table of two rows."""
    warm_up("search of Li and Li", _evaluate_two_rows)


def _evaluate_two_rows() -> None:
    problem = Problem.build(two_rows(), privacy="k(2)", scheme="ordered")
    catalogue = Catalogue(problem, "bottom-up")
    evaluator_for(problem, catalogue).evaluate(np.array([catalogue.root], dtype=np.int32))


class CompiledEvaluator(LiLiEvaluator):
    """For minimum class sizes, with squared class sizes or costs that add up over rows and attributes."""

    def __init__(self, problem: Problem, catalogue: Catalogue) -> None:
        super().__init__(problem, catalogue)
        table, n = problem.table, problem.table.n
        squares = problem.cost.compiled == "squares"
        penalty = np.full(table.tuples, float(n))
        if not squares:
            penalty = _suppressed_rows(problem)
            catalogue.price_leaves(_LeafCosts(problem))
        codes = np.ascontiguousarray(table.codes)
        weights = table.weights.astype(np.int64)
        self.tuples = WeightedTuples(codes, weights, penalty, n, problem.smallest_class, problem.limit, squares)
        self.fine, self.coarse = _slots(table.tuples), _slots(table.tuples)

    def evaluate(self, nodes: Nodes) -> NodeCosts:
        """Return the cost, lower bound and number of classes of some nodes."""
        found = _room(len(nodes))
        states, upward = self.catalogue.arrays, self.catalogue.upward
        fine, coarse = (states.own, states.extreme) if upward else (states.extreme, states.own)
        blocks = StateBlocks(fine.blocks, coarse.blocks, fine.count, coarse.count, fine.cost, coarse.cost)
        with np.errstate(over="ignore"):
            price_nodes(nodes, blocks, upward, self.tuples, self.fine, self.coarse, found)
        return found


def _room(nodes: int) -> NodeCosts:
    return NodeCosts(np.empty(nodes), np.empty(nodes), np.empty(nodes, dtype=np.int64))


def _slots(tuples: int) -> ClassSlots:
    room = 1 << max(4, (2 * tuples - 1).bit_length())
    return ClassSlots(
        np.full(room, -1, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.zeros(tuples, dtype=np.int64),
        np.zeros(tuples, dtype=np.int64),
    )


def _suppressed_rows(problem: Problem) -> FloatArray:
    """Cost of one suppressed row of each tuple."""
    form = problem.cost.separable(problem.table)
    assert form is not None
    each = [penalty[codes] for penalty, codes in zip(form.penalty, problem.table.codes, strict=True)]
    return np.asarray(np.sum(each, axis=0), dtype=np.float64)


class _LeafCosts:
    """Cost of a row for one attribute by leaf, given the block of each leaf."""

    def __init__(self, problem: Problem) -> None:
        self.table = problem.table
        form = problem.cost.separable(problem.table)
        assert form is not None
        assert form.block_rate is not None
        self.rate, self.moment, self.offset = form.block_rate, form.moment, form.offset

    def __call__(self, i: int, blocks: IntArray) -> FloatArray:
        rows = add_up(blocks, self.table.attributes[i].rows)
        rate = self.rate(i, np.bincount(blocks), rows)
        return np.asarray(rate[blocks] * self.moment[i] + self.offset[i])


class ArrayEvaluator(LiLiEvaluator):
    """For any models and any cost, through their array interface, node by node.

    Rows cost at least the floor of their fine class. Of an invalid coarse class some rows must be suppressed however it
    is split: they cost at least a margin more and, if all must go, what suppressed rows cost.
    """

    def __init__(self, problem: Problem, catalogue: Catalogue) -> None:
        super().__init__(problem, catalogue)
        self.recoder = Recoder(problem)
        self.gatherer = self.recoder.gatherer
        self.bare = replace(self.gatherer.tuples, histograms=[])

    def evaluate(self, nodes: Nodes) -> NodeCosts:
        """Return the cost, lower bound and number of classes of some nodes."""
        costs = _room(len(nodes))
        table, catalogue = self.problem.table, self.catalogue
        for number, node in enumerate(nodes.tolist()):
            own = Released.by_blocks(table, catalogue.blocks(node))
            extreme = Released.by_blocks(table, catalogue.blocks(node, extreme=True))
            fine, coarse = (own, extreme) if catalogue.upward else (extreme, own)
            fine_group, coarse_group = table.group(fine.blocks), table.group(coarse.blocks)
            everything = self._without_histograms(fine, fine_group)
            tally = _NodeTally(self.problem)
            tally.bound_by(everything, coarse_group.ids[fine_group.first], coarse_group.sizes.size)
            for part, classes in self._portions(coarse, coarse_group):
                tally.add(classes, part, own=not catalogue.upward)
            if catalogue.upward:
                for _, classes in self._portions(fine, fine_group):
                    tally.publish(classes, self.problem.ok(classes))
            costs.cost[number] = tally.total if self.problem.cost.additive else self.recoder.cost(own)
            costs.bound[number] = tally.bound
            costs.classes[number] = (fine_group if catalogue.upward else coarse_group).sizes.size
        return costs

    def _portions(self, released: Released, grouping: Grouping) -> Iterator[tuple[slice, Classes]]:
        rolled = roll_up(self.gatherer.tuples, grouping.ids, grouping.sizes.size)
        return self.gatherer.portions(grouping, rolled, released)

    def _without_histograms(self, released: Released, grouping: Grouping) -> Classes:
        rolled = roll_up(self.bare, grouping.ids, grouping.sizes.size)
        return self.gatherer.classes(grouping, rolled, released, slice(None))


class _NodeTally:
    """Sums up the cost of a node's own recoding, and the lower bound of all below it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._cost = self._bound = 0.0
        self._gone = self._must_go = 0

    @property
    def total(self) -> float:
        """The cost; infinite if more rows are suppressed than allowed."""
        return self._cost if self._gone <= self.problem.limit else np.inf

    @property
    def bound(self) -> float:
        """The lower bound; infinite if more rows must be suppressed than allowed."""
        return self._bound if self._must_go <= self.problem.limit else np.inf

    def bound_by(self, fine: Classes, owner: IntArray, count: int) -> None:
        """Add the floors of the fine classes to the ``count`` coarse classes that own them."""
        problem, cost = self.problem, self.problem.cost
        floors = cost.floor(fine, problem.smallest_class) if cost.superadditive else np.zeros(len(fine))
        self._least = np.asarray(np.bincount(owner, weights=floors, minlength=count), dtype=np.float64)
        if not cost.additive:
            self._bound = cost.lower(fine, problem.limit)

    def publish(self, classes: Classes, ok: NDArray[np.bool_]) -> None:
        """Add classes of the own recoding."""
        cost = self.problem.cost
        self._gone += int(classes.sizes[~ok].sum())
        self._cost += float(np.where(ok, cost.published(classes), cost.suppressed(classes)).sum())

    def add(self, classes: Classes, part: slice, *, own: bool) -> None:
        """Add some coarse classes; ``own`` if they belong to the own recoding."""
        problem, cost = self.problem, self.problem.cost
        ok = problem.ok(classes)
        if own:
            self.publish(classes, ok)
        must = np.where(ok, 0, np.maximum(problem.fewest_removed(classes), int(problem.union_closed)))
        self._must_go += int(must.sum())
        if cost.additive:
            least = self._least[part]
            if cost.superadditive:
                least = least + must * cost.margin(classes, problem.smallest_class)
            all_go = np.maximum(cost.suppressed(classes), least)
            self._bound += float(np.where(must == classes.sizes, all_go, least).sum())
