"""Score: how many different values of the attributes that matter are still to be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray
from discreet.errors import UsageError
from discreet.problem._checks import one_of, weights, whole_number
from discreet.problem._classes import Classes
from discreet.problem.costs._base import COSTS, Cost, Separable
from discreet.problem.costs._shared import given, weight_array
from discreet.problem.privacy._base import PrivacyModel

__all__ = ["Score", "Scoring"]

Scoring = Callable[[FloatArray, FloatArray, FloatArray], Any]
"""A scoring function: from how many different values each attribute shows, how many it had before, and priorities.

It must never fall when an attribute shows more values.
"""


@COSTS.register
@dataclass(frozen=True)
class Score(Cost):
    """The score a release loses (Kiyomoto and Tanaka's user-oriented mechanism), so that less is better.

    With e different released values of an attribute, e_b before, and its weight v (the user's priority), the score is
    ``basic``, the sum of v · e; ``eta``, the sum of 2 v where e > ``d``, v where d/2 < e <= d and 0 elsewhere; ``log``,
    the largest v · log e / log e_b (0 where e_b is 1); or a function of one's own. The cost is the score of the
    original table less that of the release, and 0 where each group shows its values in its own way and the release has
    more different values than the original. Suppressed rows show nothing and cost nothing by themselves.

    >>> Score("eta", d=5, weights={"zip": 10}).text
    'score(eta, d=5, weights={zip: 10})'
    >>> Score()(np.array([2, 3]), np.array([4, 9]), np.array([10, 1]))
    23.0
    """

    name = "score"
    saying = "How many different values the release has fewer than the original, by the priorities of the columns."
    plain = ("by",)
    needs = frozenset({"blocks"})
    additive = False
    local = True
    counts_values: ClassVar[bool] = True

    by: str | Scoring = "basic"
    d: int = 10
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    before: tuple[int, ...] = field(default=(), init=False, repr=False, compare=False)
    """How many different values each attribute of the original table has."""

    def __post_init__(self) -> None:
        if not callable(self.by):
            one_of(self.by, "The score", tuple(_SCORES))
        whole_number(self.d, "d of the score eta", least=1)
        object.__setattr__(self, "weights", weights(self.weights, self.name))

    @property
    def text(self) -> str:
        """The canonical text form, in which a function of one's own goes by its name."""
        if callable(self.by):
            plain = replace(self, by="basic").text.replace("score", "", 1)
            return f"score({self.by.__name__}{', ' + plain[1:-1] if plain else ''})"
        return super().text

    def __call__(self, shown: Any, before: Any, priorities: Any) -> float:
        """Return the score, given how many different values each attribute shows and had, and the priorities."""
        e, e_b, v = (np.asarray(numbers, dtype=np.float64) for numbers in (shown, before, priorities))
        if callable(self.by):
            return _own(self.by, e, e_b, v)
        return float(_SCORES[self.by](e, e_b, v, self.d))

    def of(self, table: CountTable, shown: Any) -> float:
        """Return the score of a release that shows so many different values of each attribute."""
        return self(shown, self.before or _distinct(table), weight_array(self.weights, table))

    def of_each(self, table: CountTable, shown: FloatArray) -> FloatArray:
        """Return the scores of several releases, a row of ``shown`` for each."""
        before, v = np.array(self.before or _distinct(table), dtype=np.float64), weight_array(self.weights, table)
        if callable(self.by):
            return np.array([_own(self.by, row, before, v) for row in shown])
        return _SCORES[self.by](shown, before, v, self.d)

    def lost(self, table: CountTable, shown: Any) -> float:
        """Return the cost of such a release."""
        return max(0.0, self.of(table, self.before or _distinct(table)) - self.of(table, shown))

    def told(self, table: CountTable, cost: float, lower_bound: float) -> dict[str, Any]:
        """Return the score, that of the original table, and the best there can be."""
        whole = self.of(table, self.before or _distinct(table))
        return {"score": whole - cost, "score_before": whole, "score_at_most": whole - lower_bound}

    def published(self, classes: Classes) -> FloatArray:
        """Return nothing: no class has a score of its own."""
        return np.zeros(len(classes))

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return nothing."""
        return np.zeros(len(classes))

    def total(self, classes: Classes, ok: NDArray[np.bool_]) -> float:
        """Return what is lost if exactly the classes that are ok are published."""
        return self.lost(classes.table, [np.count_nonzero(np.bincount(b)) for b in given(classes.blocks)[ok].T])

    def lower(self, classes: Classes, limit: int) -> float:
        """Return what is lost if nothing is suppressed."""
        return self.total(classes, np.ones(len(classes), dtype=np.bool_))

    def worst(self, table: CountTable) -> float:
        """Return what is lost if nothing is shown."""
        return self.lost(table, np.zeros(len(table.attributes)))

    def separable(self, table: CountTable) -> Separable | None:
        """Return what each level loses, shared out among the rows; there is no such form where scores do not add up."""
        if self.by not in ("basic", "eta"):
            return None
        zero = [np.zeros(attribute.leaves) for attribute in table.attributes]
        before, v = np.array(self.before or _distinct(table)), weight_array(self.weights, table)

        def share(i: int, rows: Any) -> float:
            e = np.array([np.count_nonzero(rows)])
            return (self(before[[i]], before[[i]], v[[i]]) - self(e, before[[i]], v[[i]])) / table.n

        return Separable(
            rate=[
                [np.full(rows.size, share(i, rows)) for rows in attribute.block_rows]
                for i, attribute in enumerate(table.attributes)
            ],
            moment=[leaves + 1 for leaves in zero],
            offset=zero,
            penalty=zero,
        )

    def resolve(self, table: CountTable, privacy: Sequence[PrivacyModel]) -> Self:
        """Note how many different values there are before anything is suppressed."""
        super().resolve(table, privacy)
        resolved = replace(self)
        object.__setattr__(resolved, "before", _distinct(table))
        if callable(self.by):
            resolved.worst(table)
        return resolved


def _distinct(table: CountTable) -> tuple[int, ...]:
    return tuple(int(np.count_nonzero(attribute.rows)) for attribute in table.attributes)


def _basic(shown: FloatArray, before: FloatArray, v: FloatArray, d: int) -> FloatArray:
    return np.asarray((v * shown).sum(axis=-1))


def _eta(shown: FloatArray, before: FloatArray, v: FloatArray, d: int) -> FloatArray:
    return np.asarray((v * ((2 * shown > d) * 1.0 + (shown > d))).sum(axis=-1))


def _log(shown: FloatArray, before: FloatArray, v: FloatArray, d: int) -> FloatArray:
    several = before > 1
    kept = v * np.log(np.maximum(shown, 1)) / np.log(np.where(several, before, np.e))
    return np.asarray(np.where(several, kept, 0.0).max(axis=-1, initial=0.0))


_SCORES = {"basic": _basic, "eta": _eta, "log": _log}


def _own(function: Scoring, shown: FloatArray, before: FloatArray, v: FloatArray) -> float:
    """Call a function of the user's own, and refuse what is no number."""
    try:
        score = float(function(shown, before, v))
    except (TypeError, ValueError):
        score = np.nan
    if not np.isfinite(score):
        raise UsageError(f"The scoring function {function.__name__} must return one finite number.")
    return score
