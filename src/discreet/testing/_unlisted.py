"""Parts that no solver knows: a privacy model, a cost and a suppression kind with default flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray
from discreet.problem.classes import Classes
from discreet.problem.costs import Cost
from discreet.problem.privacy import Groups, PrivacyModel, SensitiveModel
from discreet.problem.suppression import Suppressed, Suppression

__all__ = ["UnlistedCost", "UnlistedModel", "UnlistedSuppression"]


@dataclass(frozen=True)
class UnlistedModel(SensitiveModel):
    """The sensitive values of every class differ by at least ``spread`` positions; no flag is set."""

    name = "unlisted"

    spread: int = 2
    attribute: str | None = None

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether its lowest and highest value differ enough."""
        return np.asarray(_spread(self.counts(classes)) >= self.spread)

    def reached(self, groups: Groups) -> float:
        """Return the least spread of a class."""
        counts = np.zeros((groups.sizes.size, groups.whole.size), dtype=np.int64)
        counts[groups.group, groups.value] = groups.count
        return float(_spread(counts).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether that is enough."""
        return reached >= self.spread


def _spread(counts: NDArray[np.int64]) -> FloatArray:
    positions = np.arange(counts.shape[1])
    high = np.where(counts > 0, positions, -np.inf).max(axis=1, initial=-np.inf)
    low = np.where(counts > 0, positions, np.inf).min(axis=1, initial=np.inf)
    return np.where(high >= low, high - low, -1.0)


@dataclass(frozen=True)
class UnlistedCost(Cost):
    """Each row costs the sum of the square roots of the leaves under its values; no flag but ``local`` is set."""

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


@dataclass(frozen=True)
class UnlistedSuppression(Suppression):
    """All records of a class that is not ok are suppressed, but at most every third of the table."""

    name = "unlisted"
    is_budget = True

    def budget(self, n: int) -> int:
        """Return a third of the records."""
        return n // 3

    def apply(self, classes: Classes, models: Sequence[PrivacyModel]) -> Suppressed:
        """Return all records of each class that is not ok."""
        ok = np.ones(len(classes), dtype=np.bool_)
        for model in models:
            ok &= model.ok(classes)
        records = np.where(ok, 0, classes.sizes).astype(np.int64)
        return Suppressed(records, np.zeros(len(classes), dtype=np.int64), np.ones(len(classes), dtype=np.bool_))
