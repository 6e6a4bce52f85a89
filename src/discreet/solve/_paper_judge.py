"""What a node of the published search over partitions costs, and what all partitions below it cost at least."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.kernels.partition_paper import Between, Rows, Slots, price_nodes
from discreet.problem import Problem
from discreet.problem.costs._shared import weight_array
from discreet.problem.costs.discernibility import Discernibility
from discreet.problem.costs.hierarchical_discernibility import HierarchicalDiscernibility
from discreet.problem.costs.loss import Loss
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.solve._catalogue import Catalogue
from discreet.solve._gather import Released, group, roll_up
from discreet.solve._recoded import Recoder

__all__ = ["Judge", "Judged", "judge_of"]

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
    known = isinstance(problem.cost, Discernibility | HierarchicalDiscernibility | Loss)
    if known and span < _WIDEST and all(isinstance(model, KAnonymity) for model in problem.privacy):
        return _Compiled(problem, catalogue)
    return _Arrays(problem, catalogue)


class _Compiled(Judge):
    """Minimum class sizes, with costs that are class sizes or add up over rows and attributes."""

    def __init__(self, problem: Problem, catalogue: Catalogue) -> None:
        super().__init__(problem, catalogue)
        table, n = problem.table, problem.table.n
        squares = isinstance(problem.cost, Discernibility)
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
        self.table, self.cost = problem.table, problem.cost
        form = problem.cost.separable(problem.table)
        assert form is not None
        self.moment, self.offset = form.moment, form.offset

    def __call__(self, i: int, blocks: IntArray) -> FloatArray:
        attribute = self.table.attributes[i]
        rows = np.asarray(np.bincount(blocks, weights=attribute.rows), dtype=np.float64)
        rate = self._rate(i, np.bincount(blocks), rows)
        return np.asarray(rate[blocks] * self.moment[i] + self.offset[i])

    def _rate(self, i: int, leaves: IntArray, rows: FloatArray) -> FloatArray:
        """The rate of blocks with so many leaves and so many rows of the whole table."""
        if isinstance(self.cost, Loss):
            weight = weight_array(self.cost.weights, self.table)[i]
            return np.asarray(weight * (leaves - 1) / max(self.table.attributes[i].leaves - 1, 1))
        return rows


class _Arrays(Judge):
    """Any models and any cost, through their array interface, node by node."""

    def __init__(self, problem: Problem, catalogue: Catalogue) -> None:
        super().__init__(problem, catalogue)
        self.recoder = Recoder(problem)
        self.bare = replace(self.recoder.gatherer.tuples, histograms=[])

    def look(self, nodes: Nodes) -> Judged:
        """Return what is to be known of some nodes."""
        judged = Judged(np.empty(len(nodes)), np.empty(len(nodes)), np.empty(len(nodes), dtype=np.int64))
        table, of = self.problem.table, self.catalogue
        for number, node in enumerate(nodes.tolist()):
            own = Released.by_blocks(table, of.blocks(node))
            extreme = Released.by_blocks(table, of.blocks(node, extreme=True))
            found = self.recoder.evaluate(own, inside=False)
            judged.cost[number] = found.cost
            judged.classes[number] = found.classes
            judged.bound[number] = self._bound(own, extreme) if of.upward else self._bound(extreme, own)
        return judged

    def _bound(self, fine: Released, coarse: Released) -> float:
        """A number that no recoding between the two costs less than; infinite if none of them is allowed.

        Rows cost at least the floor of their fine class. Of a coarse class that is not ok, some rows must go whatever
        its parts are: they cost a margin more, and if all go, what a suppressed row costs.
        """
        problem, cost = self.problem, self.problem.cost
        fine_group, coarse_group = group(problem.table, fine.blocks), group(problem.table, coarse.blocks)
        all_fine = self.recoder.gatherer.classes(
            fine_group, roll_up(self.bare, fine_group.ids, fine_group.sizes.size), fine, slice(None)
        )
        floors = cost.floor(all_fine, problem.smallest_class) if cost.superadditive else np.zeros(len(all_fine))
        owner = coarse_group.ids[fine_group.first]
        least = np.bincount(owner, weights=floors, minlength=coarse_group.sizes.size)
        gone, total = 0, 0.0
        rolled = roll_up(self.recoder.gatherer.tuples, coarse_group.ids, coarse_group.sizes.size)
        for part, classes in self.recoder.gatherer.portions(coarse_group, rolled, coarse):
            must = np.maximum(problem.fewest_removed(classes), int(problem.union_closed))
            must = np.where(problem.ok(classes), 0, must)
            gone += int(must.sum())
            more = least[part] + (must * cost.margin(classes, problem.smallest_class) if cost.superadditive else 0.0)
            all_go = np.maximum(cost.suppressed(classes), more)
            total += float(np.where(must == classes.sizes, all_go, more).sum())
        if gone > problem.limit:
            return np.inf
        return total if cost.additive else cost.lower(all_fine, problem.limit)
