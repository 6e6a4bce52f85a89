"""Squared error: how far rows are from the mean of their class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.counts import CodedAttribute, CountTable, FloatArray
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS, Cost
from discreet.problem.costs._shared import checked_weights, required

if TYPE_CHECKING:
    from discreet.problem.schemes import Scheme

__all__ = ["SquaredError"]

_MOST_TEXTS = 100
"""Each different text of a column is a coordinate, and so many are fine."""


@COSTS.register
@dataclass(frozen=True)
class SquaredError(Cost):
    """The sum over rows and attributes of the squared distance from the mean of the class (SSE), for microaggregation.

    Every number or date is standardized to mean 0 and variance 1 over the table, with n in the denominator. A column
    without different values costs nothing. The cost of a column is multiplied by its weight.

    A suppressed row costs its squared distance from the mean of the table, as if it showed that. So suppressing
    everything costs the total sum of squares SST, n for each column that varies, and the normalized cost is SSE / SST.

    Text has no mean. It is standardized as a whole: each of its values is one coordinate, 1 in rows with that value
    and 0 in others, and all are divided by one number so that their variances add up to 1. A class then costs by how
    mixed its values are: s rows with shares p of the values cost s * (1 - sum of p^2), divided by the same for the
    table. Hierarchies do not matter. Missing text is a value of its own. A missing number counts as the mean of the
    table and, on a coordinate of its own, as one standard deviation away from known ones.

    Whole numbers become decimal numbers when they are averaged. Dates are rounded to days when they are released,
    which this cost does not count.

    >>> SquaredError(weights={"income": 2}).text
    'SSE(weights={income: 2})'
    """

    name = "SSE"
    aliases = ("squared-error",)
    examples = ("SSE", "SSE(weights={age: 2})")
    title = "Squared error"
    summary = "How far numbers are from the mean of their group; for means in place of values."
    rank = 90
    sentence = "How far rows are from the mean of their group, as a share of all differences between rows."
    tells_suppressed = True
    needs = frozenset({"moments"})
    local = True
    superadditive = True
    solver = "microaggregation"

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", checked_weights(self.weights, self.name))

    def check(self, table: CountTable, schemes: Sequence[Scheme]) -> None:
        """Raise an error unless every class shows its mean, and for text of very many values."""
        for scheme in schemes:
            if scheme.shows != "mean":
                raise UnsupportedCombinationError(
                    f"The cost {self.name}",
                    f"the scheme {scheme.text}",
                    "it is the distance from means; choose local(show=mean), which releases them",
                )
        for attribute in table.attributes:
            if attribute.positions is None and np.count_nonzero(attribute.rows) > _MOST_TEXTS:
                raise UsageError(
                    f"The cost {self.name} compares texts one by one, and '{attribute.name}' has more than "
                    f"{_MOST_TEXTS} different ones; group its values first, or choose NCP.",
                    column=attribute.name,
                )

    def published(self, classes: Classes) -> FloatArray:
        """Return the sum of squares of each class less the square of its sum over its rows."""
        moments, squares = required(classes.moments), required(classes.offsets)
        error = squares.sum(axis=1) - (moments**2).sum(axis=1) / np.maximum(classes.sizes, 1)
        return np.asarray(np.maximum(error, 0.0))

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return the sum of the squared distances from the mean of the table."""
        return np.asarray(required(classes.offsets).sum(axis=1))

    def worst(self, table: CountTable) -> float:
        """Return the total sum of squares."""
        squares = (self.leaf_offset(attribute, table) @ attribute.rows for attribute in table.attributes)
        return float(sum(squares))

    def figures(self, table: CountTable, cost: float, lower_bound: float) -> dict[str, Any]:
        """Return SSE / SST in percent, and the least that is possible."""
        whole = self.worst(table)
        return {
            "sse_percent": 100 * cost / whole if whole else 0.0,
            "sse_percent_at_least": 100 * lower_bound / whole if whole else 0.0,
        }

    def leaf_moment(self, attribute: CodedAttribute, table: CountTable) -> FloatArray:
        """Return the standardized coordinates of each leaf; the mean of all rows is 0."""
        weight = float(np.sqrt(self.weights.get(attribute.name, 1.0)))
        if attribute.positions is None:
            return weight * _text_coordinates(attribute)
        return weight * _number_coordinates(attribute)

    def leaf_offset(self, attribute: CodedAttribute, table: CountTable) -> FloatArray:
        """Return the squared distance of each leaf from the mean of all rows."""
        return np.asarray((self.leaf_moment(attribute, table) ** 2).sum(axis=1))


def _text_coordinates(attribute: CodedAttribute) -> FloatArray:
    """Return a coordinate for each value that occurs; their variances add up to 1."""
    shares = attribute.rows / max(int(attribute.rows.sum()), 1)
    variance = 1.0 - float((shares**2).sum())
    occurs = np.flatnonzero(shares)
    coordinates = (np.arange(shares.size)[:, np.newaxis] == occurs) - shares[occurs]
    return np.asarray(coordinates / np.sqrt(variance) if occurs.size > 1 else np.zeros((shares.size, 1)))


def _number_coordinates(attribute: CodedAttribute) -> FloatArray:
    """Return the standardized number of each leaf and, if some are missing, whether it is."""
    assert attribute.positions is not None
    missing = np.isnan(attribute.positions)
    known = np.flatnonzero(~missing & (attribute.rows > 0))
    rows = int(attribute.rows.sum())
    standardized = np.zeros(attribute.leaves)
    if known.size > 1:
        half = attribute.positions[~missing] / 2  # so that no difference overflows
        least, greatest = half[attribute.rows[~missing] > 0].min(), half[attribute.rows[~missing] > 0].max()
        scaled, count = (half - least) / (greatest - least), attribute.rows[~missing]
        mean = float(np.average(scaled, weights=count))
        deviation = float(np.sqrt(np.average((scaled - mean) ** 2, weights=count)))
        standardized[~missing] = (scaled - mean) / deviation
    absent = int(attribute.rows[missing].sum())
    if not 0 < absent < rows:
        return standardized[:, np.newaxis]
    return np.stack([standardized, missing - absent / rows], axis=1)
