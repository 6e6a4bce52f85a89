"""Certainty penalty: how far the values of a class really spread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.counts import CodedAttribute, CountTable, FloatArray, IntArray
from discreet.problem._checks import weights
from discreet.problem._classes import Classes
from discreet.problem.costs._base import COSTS
from discreet.problem.costs._shared import PerRow, given, weight_array

__all__ = ["Certainty"]


@COSTS.register
@dataclass(frozen=True)
class Certainty(PerRow):
    """The weighted sum over the attributes of the class's spread, for each row (NCP).

    A suppressed row costs the sum of the weights.

    The spread of a number or date is the range of the class over that of the table, or 1 where missing and
    known values mix. That of text is the share of the hierarchy's leaves under the lowest common ancestor of
    the values that occur, or 1 if they have none, or the share of the values themselves where there is no hierarchy;
    0 for a single value. Under the scheme ``local`` a number or date with a hierarchy is shown as a node of it, and
    counts like text.

    >>> Certainty(weights={"age": 0.5}).text
    'NCP(weights={age: 0.5})'
    """

    name = "NCP"
    aliases = ("certainty",)
    saying = "How wide the released ranges and groups are, as a share of the whole column."
    needs = frozenset({"extent", "block_leaves"})
    local = True
    divisible = False  # how far the rest of a class spreads depends on which rows go

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", weights(self.weights, self.name))

    def row(self, classes: Classes) -> FloatArray:
        """Return the weighted sum over the attributes."""
        low, high = given(classes.low), given(classes.high)
        total = np.zeros(len(classes))
        each = zip(classes.table.attributes, weight_array(self.weights, classes.table), strict=True)
        for column, (attribute, weight) in enumerate(each):
            shows_range = attribute.positions is not None and not (classes.local and attribute.tree)
            if shows_range or (attribute.tree and not classes.local):
                spread = _text_spread if attribute.positions is None else _number_spread
                total += weight * spread(attribute, low[:, column], high[:, column])
            else:
                values = given(classes.block_leaves)[:, column]
                total += weight * np.where(values == 1, 0.0, values / attribute.leaves)
        return total

    def suppressed_row(self, table: CountTable) -> float:
        """Return the sum of the weights."""
        return float(weight_array(self.weights, table).sum())


def _number_spread(attribute: CodedAttribute, low: IntArray, high: IntArray) -> FloatArray:
    assert attribute.positions is not None
    present = attribute.positions[(attribute.rows > 0) & ~np.isnan(attribute.positions)]
    whole = float(np.ptp(present)) if present.size else 0.0
    spread = (attribute.positions[high] - attribute.positions[low]) / (whole or 1.0)
    return np.where(low == high, 0.0, np.where(np.isnan(spread), 1.0, spread))


def _text_spread(attribute: CodedAttribute, low: IntArray, high: IntArray) -> FloatArray:
    # Blocks of text are runs of leaves: what the first and the last value share, all between share.
    spread = np.ones(low.size)
    for level in range(attribute.height, -1, -1):
        block = attribute.ancestors[level, low]
        shared = block == attribute.ancestors[level, high]
        spread = np.where(shared, attribute.block_leaves[level][block] / attribute.leaves, spread)
    return np.where(low == high, 0.0, spread)
