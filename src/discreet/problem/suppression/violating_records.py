"""Suppression of as few records of a class as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UnsupportedCombinationError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.privacy._sensitive import largest
from discreet.problem.suppression._base import SUPPRESSION, Suppressed, Suppression
from discreet.problem.suppression._shared import all_ok, nothing, one_attribute

__all__ = ["ViolatingRecords"]


@SUPPRESSION.register
@dataclass(frozen=True)
class ViolatingRecords(Suppression):
    """The fewest records of a class are suppressed so that the rest is ok; these may be all of them.

    For l+-diversity these are the records of Lemma 3 of the l+ paper. For models that favor even classes the most
    frequent values are cut down to one height; of equally frequent values the first keep one more row if possible. A
    record without a known sensitive value is suppressed only with its whole class. ``removed`` says how many records
    of each sensitive value are suppressed, not which.

    >>> ViolatingRecords().text
    'violating-records'
    """

    name = "violating-records"
    aliases = ("vioRec",)
    examples = ("violating-records",)
    title = "As few as possible from each group"
    summary = (
        "From a group that breaks a promise about the sensitive column, only so many are left out that it keeps it."
    )
    rank = 40
    sentence = "As few people as possible are left out of a class that would break a promise."
    whole_classes = False

    def check(self, models: Sequence[PrivacyModel]) -> None:
        """Refuse models for which the least removal is not known."""
        one_attribute(self.name, models)
        for model in models:
            if not (model.limits_values or model.favors_even):
                raise UnsupportedCombinationError(
                    f"The suppression {self.name}",
                    f"the privacy model {model.name}",
                    "the fewest records to suppress are not known for it; choose class-records",
                )

    def apply(self, classes: Classes, models: Sequence[PrivacyModel]) -> Suppressed:
        """Return the fewest records of each class so that the rest satisfies all models."""
        self.check(models)
        attribute = one_attribute(self.name, models)
        feasible = np.ones(len(classes), dtype=np.bool_)
        bad = np.flatnonzero(~all_ok(classes, models))
        if attribute is None:
            records = nothing(classes)
            records[bad] = classes.sizes[bad]
            return Suppressed(records, nothing(classes), feasible)
        counts = classes.sensitive[attribute].astype(np.int64)
        removed, records = np.zeros_like(counts), nothing(classes)
        part = Classes(classes.table, classes.sizes[bad], sensitive={attribute: counts[bad]})
        kept, some = _largest_ok_subsets(part, attribute, models)
        removed[bad] = counts[bad] - kept
        records[bad] = np.where(some, removed[bad].sum(axis=1), classes.sizes[bad])
        return Suppressed(records, nothing(classes), feasible, removed)


def _largest_ok_subsets(
    classes: Classes, attribute: str, models: Sequence[PrivacyModel]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the largest ok subset of each class, by value, and whether there is one.

    Rows without a known value are in every subset; they only count in its size. Of all subsets of s rows within the
    caps of the models, the evenest is ok if any is. So s is tried downwards from the largest size that each model
    alone allows, until there are too few rows, or too few for a superset-closed model.
    """
    counts = classes.sensitive[attribute].astype(np.int64)
    kept = np.zeros_like(counts)
    some = np.zeros(len(classes), dtype=np.bool_)
    smallest = max((model.smallest(classes.table) for model in models), default=1)
    missing = classes.sizes - counts.sum(axis=1)
    left = classes.sizes - missing - np.max([model.fewest_removed(classes) for model in models], axis=0)
    open_ = np.arange(len(classes))
    while open_.size:
        limits = counts[open_]
        for model in models:
            if model.limits_values:
                limits = np.minimum(limits, model.caps(classes.table, left[open_]))
        most = _part(classes, attribute, limits, missing[open_])
        hopeless = (left[open_] < 0) | (left[open_] + missing[open_] < smallest)
        for model in models:
            if model.superset_closed:
                hopeless |= ~model.ok(most)
        trial = _part(classes, attribute, even_out(limits, left[open_]), missing[open_])
        known = trial.sizes - missing[open_]
        whole = known == left[open_]
        good = ~hopeless & whole & all_ok(trial, models)
        kept[open_[good]] = trial.sensitive[attribute][good]
        some[open_[good]] = True
        left[open_] = np.where(whole, left[open_] - 1, known)
        open_ = open_[~good & ~hopeless]
    return kept, some


def _part(classes: Classes, attribute: str, counts: NDArray[np.integer], missing: NDArray[np.integer]) -> Classes:
    return Classes(classes.table, (counts.sum(axis=1) + missing).astype(np.int64), sensitive={attribute: counts})


def even_out(limits: NDArray[np.int64], totals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the evenest counts within the limits that sum to each total, or the limits if they fall short.

    >>> even_out(np.array([[5, 1, 4], [1, 1, 1]]), np.array([8, 8]))
    array([[4, 1, 3],
           [1, 1, 1]])
    """
    height = largest(
        lambda h: np.minimum(limits, h[:, np.newaxis]).sum(axis=1) <= totals,
        np.zeros(totals.size, np.int64),
        limits.max(axis=1, initial=0).astype(np.int64),
    )
    counts = np.minimum(limits, height[:, np.newaxis])
    higher = limits > counts
    missing = totals - counts.sum(axis=1)
    return np.asarray(counts + (higher & (np.cumsum(higher, axis=1) <= missing[:, np.newaxis])))
