"""Suppression of whole classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.suppression._base import SUPPRESSION, Suppressed, Suppression
from discreet.problem.suppression._shared import all_ok, nothing

__all__ = ["ClassRecords"]


@SUPPRESSION.register
@dataclass(frozen=True)
class ClassRecords(Suppression):
    """All records of a class that is not ok are suppressed, however many.

    >>> ClassRecords().text
    'class-records'
    """

    name = "class-records"
    aliases = ("allRec",)
    examples = ("class-records",)
    title = "As many as it takes"
    summary = "Every group that breaks a promise is left out, however many."
    rank = 30
    sentence = "People whose class would break a promise are left out, however many."

    def apply(self, classes: Classes, models: Sequence[PrivacyModel]) -> Suppressed:
        """Return all records of each class that is not ok."""
        records = np.where(all_ok(classes, models), 0, classes.sizes).astype(np.int64)
        return Suppressed(records, nothing(classes), np.ones(len(classes), dtype=np.bool_))
