"""Lower bounds where key sets are promised: classes of different blocks decide together which of them stay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.problem import Problem
from discreet.runtime.integer_codes import add_up, first_of, numbered
from discreet.solve._key_sets import KeySetRule, key_classes
from discreet.solve._key_sets_of_people import KeyClasses, classes_left, people_left
from discreet.solve._people import PeopleCounter, TupleMembers
from discreet.solve.general.bounds import BlockClasses, GeneralBounds
from discreet.solve.partitions.bounds import NodeBound
from discreet.solve.partitions.open_partitions import AttributeItems, OpenPartitions

__all__ = ["KeySetBounds", "PeopleKeySetBounds"]

Ints = NDArray[np.int64]


class KeySetBounds(GeneralBounds):
    """Bounds nodes of the search for a problem with key sets.

    A row that goes with all attributes at their coarsest goes in every recoding of the node: key classes only get
    smaller. So does, with a block of one attribute and all others at their coarsest, a row in a key class of too few
    rows that stay. A node is solved once all its attributes are decided.
    """

    class_by_class = False

    def __init__(self, problem: Problem, items: Sequence[AttributeItems]) -> None:
        super().__init__(problem, items)
        self.rule = KeySetRule(problem)
        self._with = [
            KeySetRule(problem, [each for each in problem.key_sets if a in each.attributes])
            for a in range(len(problem.table.attributes))
        ]
        """The key sets that each attribute is in."""
        self._stays = np.ones(problem.table.tuples, dtype=np.bool_)
        """Which tuples stay in the coarsest recoding of the node that is being bounded."""

    def bound(self, node: Sequence[OpenPartitions], enough: float = np.inf) -> NodeBound:
        """Price the open attributes; a node whose coarsest recoding loses too much holds nothing valid."""
        if self._lost(node) > (0 if self.problem.suppression.hides_values else self.limit):
            return NodeBound(np.inf, (None,) * len(node), False, takes_largest=True)
        return super().bound(node, enough)

    def _lost(self, node: Sequence[OpenPartitions]) -> int:
        """Find what stays with all attributes at their coarsest, and return how much of the limit the rest takes."""
        coarse = [(own.coarse[codes], own.coarse_blocks) for own, codes in zip(node, self.codes, strict=True)]
        weights = self.problem.table.weights
        ids, count = numbered(weights.size, coarse)
        first, sizes = first_of(ids, count), add_up(ids, weights, count)
        shown = [blocks[first] for blocks, _ in coarse]
        kept = self.rule.stays(shown, sizes, sizes >= self.floors.smallest, [width for _, width in coarse])
        self._stays = kept[ids]
        return int(sizes[~kept].sum())

    def _forced_rows(self, node: Sequence[OpenPartitions], a: int, coarse: BlockClasses, tuples: Ints) -> Ints:
        """Return all rows of the classes that no recoding of the node with their block keeps, and what else must go."""
        rows, sizes = super()._forced_rows(node, a, coarse, tuples), coarse.classes.sizes
        stays = self._stays[tuples[coarse.first]] & (sizes >= self.floors.smallest)
        if self._with[a].key_sets:
            stays = self._with[a].stays(self._shown_classes(node, a, coarse, tuples), sizes, stays)
        return np.where(stays, rows, sizes)

    def _shown_classes(self, node: Sequence[OpenPartitions], a: int, coarse: BlockClasses, tuples: Ints) -> list[Ints]:
        """Return what each class of blocks of an attribute shows, with all other attributes at their coarsest."""
        example = tuples[coarse.first]
        each = enumerate(zip(node, self.codes, strict=True))
        return [coarse.block if b == a else own.coarse[codes[example]] for b, (own, codes) in each]


class PeopleKeySetBounds(KeySetBounds):
    """The same where people are counted, who may be in several classes of a key set.

    Where people are suppressed with all their rows, those go in every recoding of the node who go with all attributes
    at their coarsest.
    """

    def __init__(self, problem: Problem, items: Sequence[AttributeItems]) -> None:
        super().__init__(problem, items)
        assert self.recoder.gatherer.counter is not None
        self.counter: PeopleCounter = self.recoder.gatherer.counter
        self.certain = [model for model in problem.privacy if model.superset_closed]
        """The models by which the coarsest recoding decides who goes in all others."""
        self._staying: TupleMembers | None = None
        """Who stays in the coarsest recoding of the node, where people are suppressed with all their rows."""

    def _lost(self, node: Sequence[OpenPartitions]) -> int:
        coarse = [(own.coarse[codes], own.coarse_blocks) for own, codes in zip(node, self.codes, strict=True)]
        ids, count = numbered(self.problem.table.tuples, coarse)
        first = first_of(ids, count)
        shown, widths = [blocks[first] for blocks, _ in coarse], [width for _, width in coarse]
        keys = [KeyClasses(*key_classes(shown, widths, each), each.k) for each in self.rule.key_sets]
        step = self.recoder.gatherer.at_once
        if self.problem.whole_people:
            alive = people_left(self.counter, ids, count, self.certain, keys, step, exact=False)
            self._stays = self.counter.rows_left(alive) > 0
            self._staying = self.counter.members(alive)
            return int(np.count_nonzero(~alive))
        ok = self.counter.sizes(ids, slice(0, count)) >= self.floors.smallest
        self._stays = classes_left(self.counter, ids, ok, keys)[ids]
        return int(self.problem.table.weights[~self._stays].sum())

    def _forced_rows(self, node: Sequence[OpenPartitions], a: int, coarse: BlockClasses, tuples: Ints) -> Ints:
        """Return how many people of each class go, or at least have all their rows of it suppressed."""
        forced, sizes = self.floors.forced_rows(coarse.classes), coarse.classes.judged.sizes
        left = sizes if self._staying is None else self._sizes(tuples, coarse.owner, sizes.size)
        stays = left >= max(self.floors.smallest, 1)
        if self._staying is None:
            stays &= self._stays[tuples[coarse.first]]
        shown = self._shown_classes(node, a, coarse, tuples) if self._with[a].key_sets else []
        widths = [int(column.max(initial=0)) + 1 for column in shown]
        for key_set in self._with[a].key_sets:
            key, count = key_classes(shown, widths, key_set)
            there = stays[coarse.owner]
            stays &= self._sizes(tuples[there], key[coarse.owner[there]], count)[key] >= key_set.k
        return np.where(stays, np.maximum(forced, sizes - left), sizes)

    def _sizes(self, tuples: Ints, owner: Ints, count: int) -> Ints:
        """Return how many people who stay have rows of each class, given by its tuples."""
        order = np.argsort(owner, kind="stable")
        return self.counter.sizes_of(tuples[order], owner[order], count, self._staying)
