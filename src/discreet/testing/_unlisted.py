"""A privacy model and a cost that nobody listed, which solvers must take or refuse in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray
from discreet.problem._classes import Classes
from discreet.problem.costs._base import Cost
from discreet.problem.privacy._base import Groups
from discreet.problem.privacy._sensitive import SensitiveModel

__all__ = ["UnlistedCost", "UnlistedModel"]


@dataclass(frozen=True)
class UnlistedModel(SensitiveModel):
    """The sensitive values of every class are at least ``apart`` places apart, and nothing more is told about it."""

    name = "unlisted"

    apart: int = 2
    attribute: str | None = None

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether its lowest and highest value are far enough apart."""
        return np.asarray(_apart(self.counts(classes)) >= self.apart)

    def reached(self, groups: Groups) -> float:
        """Return how far apart the values of a class are at least."""
        counts = np.zeros((groups.sizes.size, groups.whole.size), dtype=np.int64)
        counts[groups.group, groups.value] = groups.count
        return float(_apart(counts).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Whether that is far enough."""
        return reached >= self.apart


def _apart(counts: NDArray[np.int64]) -> FloatArray:
    places = np.arange(counts.shape[1])
    high = np.where(counts > 0, places, -np.inf).max(axis=1, initial=-np.inf)
    low = np.where(counts > 0, places, np.inf).min(axis=1, initial=np.inf)
    return np.where(high >= low, high - low, -1.0)


@dataclass(frozen=True)
class UnlistedCost(Cost):
    """The square root of the leaves under each released value, for each row; no flag says more than the default."""

    name = "unlisted"
    needs = frozenset({"block_leaves"})
    local = True

    def published(self, classes: Classes) -> FloatArray:
        """Return the cost of a row times the rows."""
        assert classes.block_leaves is not None
        return np.asarray(np.sqrt(classes.block_leaves).sum(axis=1) * classes.sizes, dtype=np.float64)

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return what the root costs in every attribute."""
        return self._row(classes.table) * classes.sizes.astype(np.float64)

    def worst(self, table: CountTable) -> float:
        """Return the cost of suppressing everything."""
        return self._row(table) * table.n

    @staticmethod
    def _row(table: CountTable) -> float:
        return float(sum(np.sqrt(attribute.leaves) for attribute in table.attributes))
