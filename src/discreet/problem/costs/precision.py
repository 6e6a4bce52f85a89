"""Precision: how far up its hierarchy each value was taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.counts import CountTable, FloatArray
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS, Separable
from discreet.problem.costs._shared import PerRowCost, checked_weights, required, weight_array, weighted_sum

__all__ = ["Precision"]


@COSTS.register
@dataclass(frozen=True)
class Precision(PerRowCost):
    """Each row costs the weighted mean over the attributes of level / height, or 1 if it is suppressed.

    This is 1 minus Sweeney's precision, so that less is better. An attribute without levels costs nothing. If all
    attributes are full-domain, the level of a value is that of its column; otherwise it is the lowest level at which
    its node stands. Blocks of ``ordered``, ``set`` and their guided forms are no nodes and have no level.

    >>> Precision(weights={"age": 3}).text
    'precision(weights={age: 3})'
    """

    name = "precision"
    examples = ("precision", "precision(weights={age: 2})")
    title = "Levels"
    summary = "How far values were lifted in their hierarchies."
    rank = 70
    sentence = "How far values were lifted in their hierarchies."
    needs = frozenset({"block_levels"})
    needs_hierarchy = True
    local = True

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", checked_weights(self.weights, self.name))

    def row(self, classes: Classes) -> FloatArray:
        """Return the weighted mean over the attributes."""
        heights = np.array([max(attribute.height, 1) for attribute in classes.table.attributes])
        return weighted_sum(required(classes.block_levels), self._shares(classes.table) / heights)

    def suppressed_row(self, table: CountTable) -> float:
        """Return 1."""
        return 1.0

    def _shares(self, table: CountTable) -> FloatArray:
        given = weight_array(self.weights, table)
        return np.asarray(given / given.sum())

    def separable(self, table: CountTable) -> Separable:
        """Return level / height as the rate of every block of a level."""
        each = list(zip(table.attributes, self._shares(table), strict=True))
        return Separable(
            rate=[
                [
                    np.full(leaves.size, share * level / max(attribute.height, 1))
                    for level, leaves in enumerate(attribute.block_leaves)
                ]
                for attribute, share in each
            ],
            moment=[np.ones(attribute.leaves) for attribute, _ in each],
            offset=[np.zeros(attribute.leaves) for attribute, _ in each],
            penalty=[np.full(attribute.leaves, share) for attribute, share in each],
        )
