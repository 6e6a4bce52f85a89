"""Loss: how much of its domain each released value covers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS, Separable
from discreet.problem.costs._shared import PerRowCost, checked_weights, required, weight_array, weighted_sum
from discreet.runtime.arguments import one_of

__all__ = ["Loss"]


@COSTS.register
@dataclass(frozen=True)
class Loss(PerRowCost):
    """Each row costs the sum over the attributes of weight · (leaves under its value - 1) / (leaves - 1) (LM).

    A block that is not a node of the hierarchy counts its values; an attribute with one leaf loses nothing. With
    the penalty ``iyengar`` a suppressed row costs the sum of the weights, as the root in every attribute does, and
    a suppressed sensitive value costs 1. With ``l+``, the setting of the l+ paper, a sensitive value is worth all
    quasi-identifiers together: it costs the sum of the weights, and a suppressed row twice that.

    >>> Loss(weights={"age": 2}, penalty="l+").text
    'LM(weights={age: 2}, penalty=l+)'
    """

    name = "LM"
    aliases = ("loss", "GLM")
    examples = ("LM", "LM(weights={age: 2})", "LM(penalty=l+)")
    title = "Loss of detail"
    summary = "For each value, the share of all values it could stand for now. Good for general use."
    recommended = True
    rank = 10
    sentence = "The loss of detail: for each value, the share of all values it could stand for now."
    needs = frozenset({"block_leaves"})
    local = True

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    penalty: str = "iyengar"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", checked_weights(self.weights, self.name))
        one_of(self.penalty, "The penalty of LM", ("iyengar", "l+"))

    def row(self, classes: Classes) -> FloatArray:
        """Return the weighted sum over the attributes."""
        leaves = np.array([attribute.leaves for attribute in classes.table.attributes])
        per_leaf = weight_array(self.weights, classes.table) / np.maximum(leaves - 1, 1)
        return weighted_sum(required(classes.block_leaves) - 1, per_leaf)

    def row_parts(self, classes: Classes) -> FloatArray:
        """Return the terms of the sum."""
        leaves = np.array([attribute.leaves for attribute in classes.table.attributes])
        per_leaf = weight_array(self.weights, classes.table) / np.maximum(leaves - 1, 1)
        return np.asarray((required(classes.block_leaves) - 1) * per_leaf)

    def suppressed_row(self, table: CountTable) -> float:
        """Return the sum of the weights, or twice that."""
        return float(weight_array(self.weights, table).sum()) * self._times

    def suppressed_row_parts(self, table: CountTable) -> FloatArray:
        """Return the weights, or twice them."""
        return weight_array(self.weights, table) * self._times

    @property
    def _times(self) -> int:
        return 2 if self.penalty == "l+" else 1

    def value_penalty(self, table: CountTable) -> float:
        """Return what each sensitive value made unknown costs: 1, or the sum of the weights."""
        return float(weight_array(self.weights, table).sum()) if self.penalty == "l+" else 1.0

    def separable(self, table: CountTable) -> Separable:
        """Return the loss of each block as its rate."""
        each = list(zip(table.attributes, weight_array(self.weights, table), strict=True))

        def lost(i: int, leaves: IntArray, rows: IntArray) -> FloatArray:
            attribute, weight = each[i]
            return np.asarray(weight * (leaves - 1) / max(attribute.leaves - 1, 1))

        return Separable(
            rate=[
                [lost(i, *counts) for counts in zip(attribute.block_leaves, attribute.block_rows, strict=True)]
                for i, (attribute, _) in enumerate(each)
            ],
            moment=[np.ones(attribute.leaves) for attribute, _ in each],
            offset=[np.zeros(attribute.leaves) for attribute, _ in each],
            penalty=[np.full(attribute.leaves, weight * self._times) for attribute, weight in each],
            block_rate=lost,
        )
