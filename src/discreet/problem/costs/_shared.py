"""Shared code of costs: weights, and costs that are the same for every row of a class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.errors import UsageError
from discreet.problem.classes import Classes, Members
from discreet.problem.costs._base import AttributeCosts, Cost
from discreet.runtime.arguments import number

__all__ = [
    "PerRowCost",
    "checked_node_weights",
    "checked_weights",
    "required",
    "required_members",
    "weight_array",
    "weighted_sum",
]

Scalar = TypeVar("Scalar", bound=np.generic)


def required(array: NDArray[Scalar] | None) -> NDArray[Scalar]:
    """Return an array of ``Classes`` that a cost names in its ``needs``."""
    if array is None:
        raise ValueError("the array is missing; the cost must name it in its needs")
    return array


def required_members(classes: Classes) -> Members:
    """Return the members of classes, for a cost that names them in its ``needs``."""
    if classes.members is None:
        raise ValueError("the members are missing; the cost must name them in its needs")
    return classes.members


def weight_array(weights: Mapping[str, float], table: CountTable) -> FloatArray:
    """Return the weight of each quasi-identifier, 1 for those not named."""
    return np.array([weights.get(name, 1.0) for name in table.names], dtype=np.float64)


def weighted_sum(values: NDArray[Any], weights: FloatArray) -> FloatArray:
    """Return the weighted sum of the values of each class, the same on any machine.

    A matrix product sums in an order that depends on the machine, and starts threads.

    >>> weighted_sum(np.array([[1, 0], [2, 3]]), np.array([0.5, 2.0]))
    array([0.5, 7. ])
    """
    added: FloatArray = np.einsum("cm,m->c", values, weights)
    return added


def checked_weights(value: Any, what: str) -> dict[str, float]:
    """Return a copy of a mapping from column to positive weight.

    >>> checked_weights({"age": 2}, "LM")
    {'age': 2}
    """
    if not isinstance(value, Mapping) or not all(isinstance(column, str) for column in value):
        raise UsageError(f"The weights of {what} must map column names to numbers, as in {{age: 2}}.")
    return {column: number(weight, f"The weight of '{column}'", above=0, most=1e12) for column, weight in value.items()}


def checked_node_weights(value: Any, what: str) -> dict[str, dict[str, float]]:
    """Return a copy of a mapping from column to nodes of its hierarchy and their positive weights.

    >>> checked_node_weights({"work": {"Government": 2}, "sex": {}}, "NCP")
    {'work': {'Government': 2}}
    """
    names = [value, *value.values()] if isinstance(value, Mapping) else [value]
    if not all(isinstance(each, Mapping) and all(isinstance(name, str) for name in each) for each in names):
        raise UsageError(
            f"The node weights of {what} must map column names to nodes and numbers, as in {{work: {{Government: 2}}}}."
        )
    return {
        column: {
            node: number(weight, f"The weight of '{node}' of '{column}'", above=0, most=1e12)
            for node, weight in nodes.items()
        }
        for column, nodes in value.items()
        if nodes
    }


class PerRowCost(Cost):
    """A cost that is the same for every row of a class and for every suppressed row.

    More general values never cost a row less, and suppressing it costs at least as much as any value.
    """

    superadditive = True
    divisible = True
    removal_never_pays = True

    @abstractmethod
    def row(self, classes: Classes) -> FloatArray:
        """Return what each row of a class costs if the class is published."""

    @abstractmethod
    def suppressed_row(self, table: CountTable) -> float:
        """Return what each suppressed row costs."""

    def row_parts(self, classes: Classes) -> FloatArray | None:
        """Return what each attribute contributes to :meth:`row`, (c, m); None, the default, if it is no sum of them."""
        return None

    def suppressed_row_parts(self, table: CountTable) -> FloatArray:
        """Return what each attribute contributes to :meth:`suppressed_row`, (m,); needed with :meth:`row_parts`."""
        raise NotImplementedError

    def by_attribute(self, classes: Classes) -> AttributeCosts | None:
        """Return the parts of the attributes, times the number of rows."""
        parts = self.row_parts(classes)
        if parts is None:
            return None
        penalty = self.suppressed_row_parts(classes.table)
        return AttributeCosts(parts * classes.sizes[:, np.newaxis], penalty - parts, penalty)

    def published(self, classes: Classes) -> FloatArray:
        """Return the cost of a row times the number of rows."""
        return self.row(classes) * classes.sizes

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return the cost of a suppressed row times the number of rows."""
        return self.suppressed_row(classes.table) * classes.sizes.astype(np.float64)

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return the cost of the rows that stay and of those that are suppressed."""
        rows = removed.sum(axis=1).astype(np.float64)
        return np.asarray(self.row(classes) * (classes.sizes - rows) + self.suppressed_row(classes.table) * rows)

    def worst(self, table: CountTable) -> float:
        """Return the cost of suppressing everything."""
        return self.suppressed_row(table) * table.n

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return the difference between a suppressed and a published row; it is larger for parts of the class."""
        return self.suppressed_row(classes.table) - self.row(classes)

    def divided_margin(self, classes: Classes, largest: IntArray) -> FloatArray:
        """Return the same: every row costs the same."""
        return self.margin(classes)
