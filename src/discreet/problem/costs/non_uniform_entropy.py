"""Non-uniform entropy: how many bits of each value the release hides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.counts import CodedAttribute, CountTable, FloatArray, IntArray
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS, Cost, Separable
from discreet.problem.costs._shared import checked_weights, required, weight_array, weighted_sum

__all__ = ["NonUniformEntropy"]


@COSTS.register
@dataclass(frozen=True)
class NonUniformEntropy(Cost):
    """Each row costs the weighted sum over the attributes of log2(N_e / N_v): the bits that its block hides.

    Of all N rows of the table, N_v have the row's value and N_e a value in its block. This is the additive reading:
    counts are those of the whole table, and a suppressed row costs as if every attribute were at the root,
    log2(N / N_v). That adds log2(N / N_e), the same for every row of a class, so that it does not matter which go.

    >>> NonUniformEntropy().text
    'entropy'
    """

    name = "entropy"
    aliases = ("non-uniform-entropy",)
    examples = ("entropy", "entropy(weights={age: 2})")
    title = "Information"
    summary = "How many bits it would take to guess the original values."
    rank = 60
    sentence = "How many bits it would take to guess the original values."
    tells_suppressed = True
    needs = frozenset({"block_rows", "moments"})
    local = True
    superadditive = True
    divisible = True
    removal_never_pays = True

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", checked_weights(self.weights, self.name))

    def published(self, classes: Classes) -> FloatArray:
        """Return the sum over rows and attributes."""
        return _bits(_log2(required(classes.block_rows)), classes)

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return the same with the whole table as the block."""
        return _bits(np.log2(max(classes.table.n, 1)), classes)

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return what the class costs if it is published, and log2(N / N_e) more for each suppressed row."""
        return np.asarray(self.published(classes) + self.margin(classes) * removed.sum(axis=1))

    def worst(self, table: CountTable) -> float:
        """Return the weighted entropies of all attributes times the number of rows."""
        bits = [
            weight * (attribute.rows * (np.log2(max(table.n, 1)) - _log2(attribute.rows))).sum()
            for attribute, weight in zip(table.attributes, weight_array(self.weights, table), strict=True)
        ]
        return float(sum(bits))

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return log2(N / N_e), which is the same for every row of the class."""
        more = np.log2(max(classes.table.n, 1)) - _log2(required(classes.block_rows))
        return weighted_sum(more, weight_array(self.weights, classes.table))

    def divided_margin(self, classes: Classes, largest: IntArray) -> FloatArray:
        """Return the same."""
        return self.margin(classes)

    def leaf_moment(self, attribute: CodedAttribute, table: CountTable) -> FloatArray:
        """Return the weight of the attribute."""
        return np.full(attribute.leaves, float(self.weights.get(attribute.name, 1.0)))

    def leaf_offset(self, attribute: CodedAttribute, table: CountTable) -> FloatArray:
        """Return -log2(N_v), weighted."""
        return -self.leaf_moment(attribute, table) * _log2(attribute.rows)

    def separable(self, table: CountTable) -> Separable:
        """Return log2(N_e) as the rate."""
        moments = [self.leaf_moment(attribute, table) for attribute in table.attributes]
        offsets = [self.leaf_offset(attribute, table) for attribute in table.attributes]
        root = np.log2(max(table.n, 1))
        return Separable(
            rate=[[_log2(rows) for rows in attribute.block_rows] for attribute in table.attributes],
            moment=moments,
            offset=offsets,
            penalty=[root * moment + offset for moment, offset in zip(moments, offsets, strict=True)],
            block_rate=lambda i, leaves, rows: _log2(rows),
        )


def _bits(block: FloatArray | np.float64, classes: Classes) -> FloatArray:
    return np.asarray((block * required(classes.moments) + required(classes.offsets)).sum(axis=1))


def _log2(rows: IntArray) -> FloatArray:
    """Return the logarithm of counts; a block without rows counts as one row."""
    return np.asarray(np.log2(np.maximum(rows, 1).astype(np.float64)))
