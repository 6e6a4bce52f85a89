"""Suppression of all sensitive values of a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.suppression._base import SUPPRESSION, Suppressed, Suppression
from discreet.problem.suppression._shared import all_ok, nothing, one_attribute

__all__ = ["ClassValues"]


@SUPPRESSION.register
@dataclass(frozen=True)
class ClassValues(Suppression):
    """All sensitive values of a class that is not ok are suppressed; its records stay.

    A class without a known sensitive value satisfies every model of sensitive values, whether its values were
    suppressed or missing. A class that breaks another model, such as k-anonymity, cannot be mended: the recoding is
    infeasible.

    >>> ClassValues().text
    'class-values'
    """

    name = "class-values"
    aliases = ("allSA",)
    sought_as = ("cells", "cell", "values")
    examples = ("class-values",)
    title = "Hide the sensitive values of a group"
    summary = "People stay, and the sensitive values of a group that breaks a promise become unknown."
    rank = 50
    sentence = "The sensitive values of a class that would break a promise become unknown."
    whole_classes = False
    hides_values = True

    def budget(self, n: int) -> int:
        """No record may be suppressed."""
        return 0

    def check(self, models: Sequence[PrivacyModel]) -> None:
        """Refuse models of several sensitive attributes."""
        one_attribute(self.name, models)

    def apply(self, classes: Classes, models: Sequence[PrivacyModel]) -> Suppressed:
        """Return all values of each class that is not ok."""
        self.check(models)
        attribute = one_attribute(self.name, models)
        feasible = all_ok(classes, [model for model in models if not model.looks_at_sensitive])
        if attribute is None:
            return Suppressed(nothing(classes), nothing(classes), feasible)
        ok = all_ok(classes, [model for model in models if model.looks_at_sensitive])
        removed = np.where(ok[:, np.newaxis], 0, classes.sensitive[attribute]).astype(np.int64)
        return Suppressed(nothing(classes), removed.sum(axis=1), feasible, removed)

    def fewest_values(self, classes: Classes, models: Sequence[PrivacyModel]) -> NDArray[np.int64]:
        """Return the rows that every ok subset leaves out: the parts that keep their values are ok together."""
        attribute = one_attribute(self.name, models)
        looking = [model for model in models if model.looks_at_sensitive]
        if attribute is None or not all(model.union_closed for model in looking):
            return nothing(classes)
        fewest = np.where(all_ok(classes, looking), 0, 1)
        for model in looking:
            fewest = np.maximum(fewest, model.fewest_removed(classes))
        known = classes.sensitive[attribute].sum(axis=1)
        return np.asarray(np.minimum(fewest, known), dtype=np.int64)
