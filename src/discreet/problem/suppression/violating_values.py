"""Suppression of the sensitive values that are too frequent in a class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UnsupportedCombinationError
from discreet.problem.classes import Classes
from discreet.problem.hidden_values import candidates
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.suppression._base import SUPPRESSION, Suppressed, Suppression
from discreet.problem.suppression._shared import all_ok, nothing, one_attribute
from discreet.runtime.arguments import one_of

__all__ = ["ViolatingValues"]


@SUPPRESSION.register
@dataclass(frozen=True)
class ViolatingValues(Suppression):
    """All occurrences of a sensitive value that is too frequent in its class are suppressed; records stay.

    Shares are those of the values known before suppression, so that suppressing one value does not make another too
    frequent; missing values stay missing and are in no share. Only models that limit each value by itself, such as
    l+-diversity, say which values are too frequent. A class that breaks another model, such as k-anonymity, cannot be
    mended.

    If a class shows all other values of the table, everybody knows what its ``*`` stands for: ``a a a a b c`` with
    thresholds of 1/2 becomes ``* * * * b c``. With ``hide="ambiguous"`` further values of such a class are suppressed.
    The *candidates* of a class with s known values and h suppressed ones are the values i of the table that it does not
    show and that may be the frequent one: h > θ_i · s. The class is ambiguous if a guess among them is within every
    threshold: 1 / candidates ≤ θ_i for each candidate i. Until it is, all occurrences of the least frequent value it
    shows (of equally frequent ones, the first) are suppressed too; if nothing helps, in the end all values are. Above,
    ``b`` or ``c`` goes, and ``* * * * * c`` may have either ``a`` or ``b`` four times. Which of equally frequent values
    is suppressed is drawn again once the search is over, with the seed of the job, because whoever knows the order
    could rule out candidates; unless the class would become clear by that.

    Among what is suppressed, a too frequent value is always more frequent than its threshold allows, as it is in the
    whole class. So it is the number of candidates that protects, not their shares, which nobody sees.

    >>> ViolatingValues().text, ViolatingValues("ambiguous").text
    ('violating-values', 'violating-values(hide=ambiguous)')
    """

    name = "violating-values"
    aliases = ("vioSA",)
    sought_as = ("cells", "cell", "values")
    examples = ("violating-values", "violating-values(hide=ambiguous)")
    title = "Hide sensitive values that are too frequent"
    summary = "People stay, and only the values that are too frequent in their group become unknown."
    rank = 60
    sentence = "Sensitive values that are too frequent in their class become unknown."
    whole_classes = False
    hides_values = True
    hides_too_frequent = True

    hide: str = "violating"

    def __post_init__(self) -> None:
        one_of(self.hide, "hide of violating-values", ("violating", "ambiguous"))

    @property
    def words(self) -> str:
        """The choice as a sentence."""
        more = " Where it would be clear which they are, others become unknown too." if self.keeps_ambiguous else ""
        return f"{super().words}{more}"

    @property
    def keeps_ambiguous(self) -> bool:
        """Whether further values are hidden so that it is not clear what they are."""
        return self.hide == "ambiguous"

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
                    "it says that a class is not ok, but not which of its values is too frequent; choose l+ or the "
                    "suppression class-values",
                )

    def apply(self, classes: Classes, models: Sequence[PrivacyModel]) -> Suppressed:
        """Return the occurrences of each value that exceeds what a model allows, and of those hidden with it."""
        self.check(models)
        attribute = one_attribute(self.name, models)
        feasible = all_ok(classes, [model for model in models if not model.looks_at_sensitive])
        if attribute is None:
            return Suppressed(nothing(classes), nothing(classes), feasible)
        counts = classes.sensitive[attribute].astype(np.int64)
        limits = [model for model in models if model.limits_values]
        hidden = counts > _caps(limits, classes, counts.sum(axis=1))
        if self.keeps_ambiguous:
            bad = np.flatnonzero(hidden.any(axis=1))
            hidden[bad] = _ambiguous(classes, attribute, limits, counts[bad], hidden[bad])
        removed = np.where(hidden, counts, 0)
        return Suppressed(nothing(classes), removed.sum(axis=1), feasible, removed)

    def redrawn(
        self,
        classes: Classes,
        models: Sequence[PrivacyModel],
        hidden: NDArray[np.bool_],
        random: Callable[[], Random],
    ) -> NDArray[np.bool_]:
        """Return the same number of values, drawn among those that are as frequent as the last ones hidden."""
        attribute = one_attribute(self.name, models)
        if attribute is None:
            return hidden
        counts, limits = classes.sensitive[attribute].astype(np.int64), [m for m in models if m.limits_values]
        further = (counts > 0) & (counts <= _caps(limits, classes, counts.sum(axis=1)))
        last = np.where(further & hidden, counts, 0).max(axis=1, initial=0)
        ties = further & (counts == last[:, np.newaxis])
        open_ = np.flatnonzero((ties & hidden).any(axis=1) & (ties & ~hidden).any(axis=1))
        drawn = hidden.copy()
        for c in open_.tolist():
            drawn[c, ties[c]] = False
            drawn[c, random().sample(np.flatnonzero(ties[c]).tolist(), int((ties[c] & hidden[c]).sum()))] = True
        same = _ambiguous(classes, attribute, limits, counts, drawn) == drawn
        return np.where(same.all(axis=1)[:, np.newaxis], drawn, hidden)

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


def _caps(limits: Sequence[PrivacyModel], classes: Classes, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most rows of each value in classes with so many known values, by all models together."""
    return np.asarray(np.min([model.caps(classes.table, sizes) for model in limits], axis=0))


def _ambiguous(
    classes: Classes,
    attribute: str,
    limits: Sequence[PrivacyModel],
    counts: NDArray[np.int64],
    hidden: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return the values of each class to hide so that they stay ambiguous, given those that must be hidden."""
    occurs = classes.table.sensitive[attribute].totals > 0
    caps = _caps(limits, classes, counts.sum(axis=1))
    hidden, open_ = hidden.copy(), np.arange(counts.shape[0])
    while open_.size:
        own, shown = counts[open_], (counts[open_] > 0) & ~hidden[open_]
        possible = candidates(occurs, shown, np.where(hidden[open_], own, 0).sum(axis=1), caps[open_])
        likely = _caps(limits, classes, possible.sum(axis=1)) < 1
        more = (possible & likely).any(axis=1) & shown.any(axis=1)
        rarest = np.where(shown, own, np.iinfo(np.int64).max).argmin(axis=1)
        hidden[open_[more], rarest[more]] = True
        open_ = open_[more]
    return hidden
