"""Pre-sampling: isolated records are suppressed before the search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.errors import UsageError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.suppression._base import SUPPRESSION, Suppressed, Suppression
from discreet.problem.suppression._shared import all_ok, nothing
from discreet.runtime.arguments import whole_number

__all__ = ["PreSampling"]


@SUPPRESSION.register
@dataclass(frozen=True)
class PreSampling(Suppression):
    """Records that are rare even at coarse levels are suppressed before the search; the rest must be ok.

    Every quasi-identifier is generalized to its level in ``levels``, else to ``level`` or to the root, whichever is
    lower. Records in classes of fewer than ``k`` are suppressed. This is the pre-sampling of Kiyomoto and Tanaka's
    user-oriented mechanism, with ``k`` for their k'.

    >>> PreSampling(5, level=2).text
    'pre-sampling(5, level=2)'
    """

    name = "pre-sampling"
    aliases = ("presampling", "pre-sample")
    examples = ("pre-sampling(5, level=2)", "pre-sampling(5, levels={age: 2})")
    title = "Leave out who stays alone first"
    summary = "People who are alone even at coarse levels are left out before the search."
    in_studio = False
    sentence = "People who stay alone even at coarse levels are left out before the search."

    k: int
    level: int = 0
    levels: Mapping[str, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.k, "k of pre-sampling", least=1))
        object.__setattr__(self, "level", whole_number(self.level, "The level of pre-sampling", least=0))
        if not isinstance(self.levels, Mapping) or not all(isinstance(column, str) for column in self.levels):
            raise UsageError("The levels of pre-sampling must map column names to levels, as in {age: 2}.")
        checked = {c: whole_number(n, f"The pre-sampling level of '{c}'", least=0) for c, n in self.levels.items()}
        object.__setattr__(self, "levels", checked)

    def budget(self, n: int) -> int:
        """No further record may be suppressed."""
        return 0

    def before(self, table: CountTable) -> NDArray[np.bool_]:
        """Return which tuples are rare."""
        for column, level in self.levels.items():
            height = {attribute.name: attribute.height for attribute in table.attributes}.get(column)
            if height is None:
                raise UsageError(
                    f"Pre-sampling has a level for '{column}', which is not a quasi-identifier.",
                    column=column,
                    topic="not-a-quasi-identifier",
                )
            if level > height:
                raise UsageError(
                    f"The pre-sampling level {level} of '{column}' does not fit; "
                    f"its hierarchy has levels 0 to {height}.",
                    column=column,
                )
        levels = [self.levels.get(attribute.name, min(self.level, attribute.height)) for attribute in table.attributes]
        grouping = table.group([a.ancestors[level] for a, level in zip(table.attributes, levels, strict=True)])
        return np.asarray((grouping.sizes < self.k)[grouping.ids])

    def apply(self, classes: Classes, models: Sequence[PrivacyModel]) -> Suppressed:
        """Suppress nothing; classes that are not ok are infeasible."""
        return Suppressed(nothing(classes), nothing(classes), all_ok(classes, models))
