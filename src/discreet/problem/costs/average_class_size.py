"""Average class size: how much larger than k the classes are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS, Cost
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.runtime.arguments import whole_number

__all__ = ["AverageClassSize"]


@COSTS.register
@dataclass(frozen=True)
class AverageClassSize(Cost):
    """The average size of the published classes, divided by ``k`` (C_AVG); no sum over rows.

    ``k`` defaults to that of the promised k-anonymity, or 1. Suppressed rows cost nothing, and the size of a class is
    that of its published rows; if nothing is published, the cost is that of a single class.

    >>> AverageClassSize(5).text
    'C_AVG(k=5)'
    """

    name = "C_AVG"
    aliases = ("average-class-size",)
    examples = ("C_AVG", "C_AVG(k=5)")
    title = "Average size"
    summary = "How many people look the same on average."
    rank = 80
    sentence = "How many people look the same on average."
    additive = False
    divisible = True
    local = True

    k: int | None = None
    smallest: int = field(default=1, init=False, repr=False, compare=False)
    """No published class has fewer rows."""

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", whole_number(self.k, "k of C_AVG", least=1))

    def published(self, classes: Classes) -> FloatArray:
        """Return each size over k."""
        return classes.sizes / (self.k or 1)

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return 0."""
        return np.zeros(len(classes))

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return the size of the rest over k."""
        return np.asarray((classes.sizes - removed.sum(axis=1)) / (self.k or 1))

    def total(self, classes: Classes, ok: NDArray[np.bool_]) -> float:
        """Return the mean size of the classes that are ok, over k."""
        return float(self.published(classes)[ok].mean()) if ok.any() else self.worst(classes.table)

    def lower(self, classes: Classes, limit: int) -> float:
        """Return the mean size if the budget is used up and all classes stay, or the smallest size if that is more."""
        return self.lower_by_counts(classes.table, limit, len(classes), ())

    def lower_by_counts(self, table: CountTable, limit: int, classes: int, values: Sequence[int]) -> float:
        """Return the same for so many classes."""
        n = table.n
        return max((n - min(limit, n)) / max(classes, 1), min(self.smallest, n)) / (self.k or 1)

    def worst(self, table: CountTable) -> float:
        """Return the cost of a single class."""
        return table.n / (self.k or 1)

    def resolve(self, table: CountTable, privacy: Sequence[PrivacyModel]) -> Self:
        """Return the cost with the k of the promised k-anonymity and the smallest size that all models allow."""
        promised = [m.k for m in privacy if isinstance(m, KAnonymity) and not m.key_sets(table.names)]
        resolved = replace(self, k=max(promised, default=1) if self.k is None else self.k)
        smallest = max((model.smallest(table) for model in privacy), default=1)
        object.__setattr__(resolved, "smallest", smallest)
        return resolved
