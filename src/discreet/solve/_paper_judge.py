"""What a node of the published search over partitions costs, and what all partitions below it cost at least."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import add_up
from discreet.counts import FloatArray, Grouping, IntArray
from discreet.kernels.partition_paper import Between, Rows, Slots, price_nodes
from discreet.problem import Classes, Problem
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.solve._catalogue import Catalogue
from discreet.solve._gather import Released, roll_up
from discreet.solve._recoded import Recoder
from discreet.solve._warm_up import two_rows, warm_up

__all__ = ["Judge", "Judged", "judge_of", "prepare"]

_WIDEST = float(1 << 62)
"""Keys of classes stay below this."""

Nodes = NDArray[np.int32]
"""One node in each row: the state of each attribute, by its number in the catalogue."""


class Judged(NamedTuple):
    """Of each node what its own recoding costs, a bound for it and all below it, and how many classes it has.

    Costs are infinite where a recoding is not allowed, bounds where none is.
    """

    cost: FloatArray
    bound: FloatArray
    classes: IntArray


class Judge(ABC):
    """Looks at nodes."""

    def __init__(self, problem: Problem, catalogue: Catalogue) -> None:
        self.problem, self.catalogue = problem, catalogue

    @abstractmethod
    def look(self, nodes: Nodes) -> Judged:
        """Return what is to be known of some nodes."""


def judge_of(problem: Problem, catalogue: Catalogue) -> Judge:
    """Return the compiled judge where there is one for the problem, else the one that works with any parts."""
    span = float(np.prod([float(attribute.leaves) for attribute in problem.table.attributes]))
    form = problem.cost.separable(problem.table)
    known = problem.cost.compiled == "squares" or (form is not None and form.block_rate is not None)
    if known and span < _WIDEST and all(isinstance(model, KAnonymity) for model in problem.privacy):
        return _Compiled(problem, catalogue)
    return _Arrays(problem, catalogue)


@cache
def prepare() -> None:
    """Load the kernels, or compile them the first time ever, on a table of two rows."""
    warm_up(_judge_two_rows)


def _judge_two_rows() -> None:
    problem = Problem.build(two_rows(), privacy="k(2)", scheme="ordered")
    catalogue = Catalogue(problem, "bottom-up")
    judge_of(problem, catalogue).look(np.array([catalogue.root], dtype=np.int32))


class _Compiled(Judge):
    """Minimum class sizes, with costs that are class sizes or add up over rows and attributes."""

    def __init__(self, problem: Problem, catalogue: Catalogue) -> None:
        super().__init__(problem, catalogue)
        table, n = problem.table, problem.table.n
        squares = problem.cost.compiled == "squares"
        penalty = np.full(table.tuples, float(n))
        if not squares:
            penalty = _suppressed_rows(problem)
            catalogue.price_leaves(_LeafCosts(problem))
        codes = np.ascontiguousarray(table.codes)
        self.rows = Rows(
            codes, table.weights.astype(np.int64), penalty, n, problem.smallest_class, problem.limit, squares
        )
        self.fine, self.coarse = _slots(table.tuples), _slots(table.tuples)

    def look(self, nodes: Nodes) -> Judged:
        """Return what is to be known of some nodes."""
        judged = Judged(np.empty(len(nodes)), np.empty(len(nodes)), np.empty(len(nodes), dtype=np.int64))
        of = self.catalogue.arrays
        upward = self.catalogue.upward
        fine, coarse = (of.own, of.extreme) if upward else (of.extreme, of.own)
        between = Between(fine.blocks, coarse.blocks, fine.count, coarse.count, fine.cost, coarse.cost)
        with np.errstate(over="ignore"):
            price_nodes(nodes, between, upward, self.rows, self.fine, self.coarse, *judged)
        return judged


def _slots(tuples: int) -> Slots:
    room = 1 << max(4, (2 * tuples - 1).bit_length())
    return Slots(
        np.full(room, -1, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.zeros(tuples, dtype=np.int64),
        np.zeros(tuples, dtype=np.int64),
    )


def _suppressed_rows(problem: Problem) -> FloatArray:
    """What one row of each tuple costs suppressed."""
    form = problem.cost.separable(problem.table)
    assert form is not None
    each = [penalty[codes] for penalty, codes in zip(form.penalty, problem.table.codes, strict=True)]
    return np.asarray(np.sum(each, axis=0), dtype=np.float64)


class _LeafCosts:
    """What a row with each leaf costs for its attribute, given the block of each leaf."""

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


class _Arrays(Judge):
    """Any models and any cost, through their array interface, node by node.

    Rows cost at least the floor of their fine class. Of a coarse class that is not ok some rows must go, whatever its
    parts are: they cost a margin more, and if all go, what suppressed rows cost.
    """

    def __init__(self, problem: Problem, catalogue: Catalogue) -> None:
        super().__init__(problem, catalogue)
        self.recoder = Recoder(problem)
        self.gatherer = self.recoder.gatherer
        self.bare = replace(self.gatherer.tuples, histograms=[])

    def look(self, nodes: Nodes) -> Judged:
        """Return what is to be known of some nodes."""
        judged = Judged(np.empty(len(nodes)), np.empty(len(nodes)), np.empty(len(nodes), dtype=np.int64))
        table, of = self.problem.table, self.catalogue
        for number, node in enumerate(nodes.tolist()):
            own = Released.by_blocks(table, of.blocks(node))
            extreme = Released.by_blocks(table, of.blocks(node, extreme=True))
            fine, coarse = (own, extreme) if of.upward else (extreme, own)
            fine_group, coarse_group = table.group(fine.blocks), table.group(coarse.blocks)
            everything = self._without_histograms(fine, fine_group)
            tally = _Tally(self.problem)
            tally.bound_by(everything, coarse_group.ids[fine_group.first], coarse_group.sizes.size)
            for part, classes in self._portions(coarse, coarse_group):
                tally.add(classes, part, own=not of.upward)
            if of.upward:
                for _, classes in self._portions(fine, fine_group):
                    tally.publish(classes, self.problem.ok(classes))
            judged.cost[number] = tally.total if self.problem.cost.additive else self.recoder.cost(own)
            judged.bound[number] = tally.bound
            judged.classes[number] = (fine_group if of.upward else coarse_group).sizes.size
        return judged

    def _portions(self, released: Released, grouping: Grouping) -> Iterator[tuple[slice, Classes]]:
        rolled = roll_up(self.gatherer.tuples, grouping.ids, grouping.sizes.size)
        return self.gatherer.portions(grouping, rolled, released)

    def _without_histograms(self, released: Released, grouping: Grouping) -> Classes:
        rolled = roll_up(self.bare, grouping.ids, grouping.sizes.size)
        return self.gatherer.classes(grouping, rolled, released, slice(None))


class _Tally:
    """Adds up what the own recoding of a node costs, and the bound of all below it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._cost = self._bound = 0.0
        self._gone = self._must_go = 0

    @property
    def total(self) -> float:
        """The cost; infinite if more rows go than may."""
        return self._cost if self._gone <= self.problem.limit else np.inf

    @property
    def bound(self) -> float:
        """The bound; infinite if more rows must go than may."""
        return self._bound if self._must_go <= self.problem.limit else np.inf

    def bound_by(self, fine: Classes, owner: IntArray, count: int) -> None:
        """Take up the fine classes, and in which of ``count`` coarse ones each lies."""
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
        """Add some of the coarse classes; ``own`` if they are those of the own recoding."""
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
