"""Suppression of the sensitive values that are too frequent in a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UnsupportedCombinationError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.suppression._base import SUPPRESSION, Suppressed, Suppression
from discreet.problem.suppression._shared import all_ok, nothing, one_attribute

__all__ = ["ViolatingValues"]


@SUPPRESSION.register
@dataclass(frozen=True)
class ViolatingValues(Suppression):
    """All occurrences of a sensitive value that is too frequent in its class are suppressed; records stay.

    Shares are those of the values known before suppression, so that suppressing one value does not make another too
    frequent; missing values stay missing and are in no share. Only models that limit each value by itself, such as
    l+-diversity, say which values are too frequent. A class that breaks another model, such as k-anonymity, cannot be
    mended.

    >>> ViolatingValues().text
    'violating-values'
    """

    name = "violating-values"
    aliases = ("vioSA",)
    examples = ("violating-values",)
    title = "Hide sensitive values that are too frequent"
    summary = "People stay, and only the values that are too frequent in their group become unknown."
    rank = 60
    sentence = "Sensitive values that are too frequent in their class become unknown."
    whole_classes = False
    hides_values = True

    def budget(self, n: int) -> int:
        """No record may be suppressed."""
        return 0

    def check(self, models: Sequence[PrivacyModel]) -> None:
        """Refuse models of sensitive values that do not limit each value by itself."""
        one_attribute(self.name, models)
        for model in models:
            if model.looks_at_sensitive and not model.limits_values:
                raise UnsupportedCombinationError(
                    f"The suppression {self.name}",
                    f"the privacy model {model.name}",
                    "choose l+ or the suppression class-values",
                )

    def apply(self, classes: Classes, models: Sequence[PrivacyModel]) -> Suppressed:
        """Return the occurrences of each value that exceeds what a model allows."""
        self.check(models)
        attribute = one_attribute(self.name, models)
        feasible = all_ok(classes, [model for model in models if not model.looks_at_sensitive])
        if attribute is None:
            return Suppressed(nothing(classes), nothing(classes), feasible)
        counts = classes.sensitive[attribute].astype(np.int64)
        above = np.zeros(counts.shape, dtype=np.bool_)
        for model in models:
            if model.limits_values:
                above |= counts > model.caps(classes.table, counts.sum(axis=1))
        removed = np.where(above, counts, 0)
        return Suppressed(nothing(classes), removed.sum(axis=1), feasible, removed)

    def fewest_values(self, classes: Classes, models: Sequence[PrivacyModel]) -> NDArray[np.int64]:
        """Return by how much each value exceeds its cap: the parts in which it stays are within their caps together."""
        attribute = one_attribute(self.name, models)
        looking = [model for model in models if model.limits_values and model.union_closed]
        if attribute is None:
            return nothing(classes)
        counts = classes.sensitive[attribute].astype(np.int64)
        above = np.zeros_like(counts)
        for model in looking:
            np.maximum(above, counts - model.caps(classes.table, counts.sum(axis=1)), out=above)
        return np.asarray(above.sum(axis=1))
