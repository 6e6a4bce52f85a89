"""No suppression: every class must be ok."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.suppression._base import SUPPRESSION, Suppressed, Suppression
from discreet.problem.suppression._shared import all_ok, nothing

__all__ = ["NoSuppression"]


@SUPPRESSION.register
@dataclass(frozen=True)
class NoSuppression(Suppression):
    """Nothing is suppressed: a recoding with a class that is not ok is not allowed.

    >>> NoSuppression().text
    'none'
    """

    name = "none"
    aliases = ("NoSupp",)
    examples = ("none",)
    title = "Nobody may be left out"
    summary = "Every person stays in the table."
    rank = 20
    sentence = "Nobody may be left out."

    def budget(self, n: int) -> int:
        """No record may be suppressed."""
        return 0

    def apply(self, classes: Classes, models: Sequence[PrivacyModel]) -> Suppressed:
        """Suppress nothing; classes that are not ok are infeasible."""
        return Suppressed(nothing(classes), nothing(classes), all_ok(classes, models))
