"""Lower bounds where key sets are promised: classes of different blocks decide together which of them stay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.problem import Problem
from discreet.runtime.integer_codes import add_up, first_of, numbered
from discreet.solve._key_sets import KeySetRule
from discreet.solve.general.bounds import BlockClasses, GeneralBounds
from discreet.solve.partitions.bounds import NodeBound
from discreet.solve.partitions.open_partitions import AttributeItems, OpenPartitions

__all__ = ["KeySetBounds"]

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
        """Price the open attributes; a node whose coarsest recoding loses too many rows holds nothing valid."""
        coarse = [(own.coarse[codes], own.coarse_blocks) for own, codes in zip(node, self.codes, strict=True)]
        weights = self.problem.table.weights
        ids, count = numbered(weights.size, coarse)
        first, sizes = first_of(ids, count), add_up(ids, weights, count)
        shown = [blocks[first] for blocks, _ in coarse]
        kept = self.rule.stays(shown, sizes, sizes >= self.floors.smallest, [width for _, width in coarse])
        if int(sizes[~kept].sum()) > (0 if self.problem.suppression.hides_values else self.limit):
            return NodeBound(np.inf, (None,) * len(node), False, takes_largest=True)
        self._stays = kept[ids]
        return super().bound(node, enough)

    def _forced_rows(self, node: Sequence[OpenPartitions], a: int, coarse: BlockClasses, tuples: Ints) -> Ints:
        """Return all rows of the classes that no recoding of the node with their block keeps, and what else must go."""
        rows, sizes = super()._forced_rows(node, a, coarse, tuples), coarse.classes.sizes
        example = tuples[coarse.first]
        stays = self._stays[example] & (sizes >= self.floors.smallest)
        if self._with[a].key_sets:
            shown = [
                coarse.block if b == a else own.coarse[codes[example]]
                for b, (own, codes) in enumerate(zip(node, self.codes, strict=True))
            ]
            stays = self._with[a].stays(shown, sizes, stays)
        return np.where(stays, rows, sizes)
