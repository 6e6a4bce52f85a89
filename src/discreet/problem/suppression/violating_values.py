"""Suppression of the sensitive values that are too frequent in a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import UnsupportedCombinationError
from discreet.problem._classes import Classes
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.suppression._base import SUPPRESSION, Suppressed, Suppression
from discreet.problem.suppression._shared import all_ok, nothing, one_attribute

__all__ = ["ViolatingValues"]


@SUPPRESSION.register
@dataclass(frozen=True)
class ViolatingValues(Suppression):
    """All occurrences of each sensitive value that is too frequent in its class become unknown; records stay.

    Shares are counted against the known values of the class before suppression, so that one value made unknown does
    not make another too frequent; a value that was missing before stays missing and is in no share. Only models
    that limit each value by itself, as l+-diversity, say which values these are. A class that a model without a
    sensitive attribute, as k-anonymity, finds fault with cannot be mended.

    >>> ViolatingValues().text
    'violating-values'
    """

    name = "violating-values"
    aliases = ("vioSA",)
    saying = "Sensitive values that are too frequent in their class become unknown."
    whole_classes = False
    hides_values = True

    def budget(self, n: int) -> int:
        """Return that no record may go."""
        return 0

    def check(self, models: Sequence[PrivacyModel]) -> None:
        """Refuse models that do not say which values violate them."""
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
