"""What several costs share: weights, and costs that are the same for every row of a class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.problem._classes import Classes
from discreet.problem.costs._base import Cost

__all__ = ["PerRow", "given", "weight_array", "weighted_sum"]

Scalar = TypeVar("Scalar", bound=np.generic)


def given(array: NDArray[Scalar] | None) -> NDArray[Scalar]:
    """Return an array of Classes that the cost named in ``needs``, and which therefore must be there."""
    if array is None:
        raise ValueError("an array is missing that the cost names in its needs")
    return array


def weight_array(weights: Mapping[str, float], table: CountTable) -> FloatArray:
    """Return the weight of each quasi-identifier; those not named weigh 1."""
    return np.array([weights.get(name, 1.0) for name in table.names], dtype=np.float64)


def weighted_sum(values: NDArray[Any], weights: FloatArray) -> FloatArray:
    """Return for each class the sum of its values times the weights of the attributes, the same on any machine.

    A product of matrices is added up in an order that the machine chooses, and wakes threads that wait for more.

    >>> weighted_sum(np.array([[1, 0], [2, 3]]), np.array([0.5, 2.0]))
    array([0.5, 7. ])
    """
    added: FloatArray = np.einsum("cm,m->c", values, weights)
    return added


class PerRow(Cost):
    """A cost that is the same for every row of a class and for every suppressed row.

    More general values never cost a row less, and suppressing it costs at least as much as any value.
    """

    superadditive = True
    divisible = True
    removal_never_pays = True

    @abstractmethod
    def row(self, classes: Classes) -> FloatArray:
        """Return for each class what each of its rows costs if the class is published."""

    @abstractmethod
    def suppressed_row(self, table: CountTable) -> float:
        """Return what each suppressed row costs."""

    def published(self, classes: Classes) -> FloatArray:
        """Return the cost of a row times the number of rows."""
        return self.row(classes) * classes.sizes

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return the cost of a suppressed row times the number of rows."""
        return self.suppressed_row(classes.table) * classes.sizes.astype(np.float64)

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return the cost of a row times those that stay, and that of a suppressed row times those that go."""
        gone = removed.sum(axis=1).astype(np.float64)
        return np.asarray(self.row(classes) * (classes.sizes - gone) + self.suppressed_row(classes.table) * gone)

    def worst(self, table: CountTable) -> float:
        """Return the cost of suppressing everything."""
        return self.suppressed_row(table) * table.n

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return what is left between the published and the suppressed row; parts of the class leave more."""
        return self.suppressed_row(classes.table) - self.row(classes)
