"""Score: how many different values of the important attributes the release still has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.errors import UsageError
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS, Cost, Separable
from discreet.problem.costs._shared import checked_weights, required, weight_array
from discreet.problem.privacy._base import PrivacyModel
from discreet.runtime.arguments import one_of, whole_number

__all__ = ["Score", "Scoring"]

Scoring = Callable[[FloatArray, FloatArray, FloatArray], Any]
"""A scoring function of the different values of each attribute after and before, and the priorities.

It must not fall when an attribute has more values.
"""


@COSTS.register
@dataclass(frozen=True)
class Score(Cost):
    """The score a release loses (Kiyomoto and Tanaka's user-oriented mechanism), so that less is better.

    Let an attribute of weight v (the user's priority) have e different values in the release and e_b in the original.
    The score ``basic`` is the sum of v · e; ``eta`` is the sum of 2 v if e > ``d``, v if d/2 < e <= d, else 0; ``log``
    is the largest v · log e / log e_b (0 if e_b is 1); or give a function. The cost is the score of the original table
    less that of the release, but not below 0: local recoding may create more different values than the original has.
    Suppressed rows cost nothing by themselves.

    >>> Score("eta", d=5, weights={"zip": 10}).text
    'score(eta, d=5, weights={zip: 10})'
    >>> Score()(np.array([2, 3]), np.array([4, 9]), np.array([10, 1]))
    23.0
    """

    name = "score"
    examples = ("score", "score(eta, d=5)", "score(log)", "score(weights={zip: 10})")
    title = "Different values"
    summary = "How many different values are left, by the priorities."
    rank = 100
    sentence = "How many different values the release has fewer than the original, by the priorities of the columns."
    plain = ("by",)
    needs = frozenset({"blocks"})
    additive = False
    divisible = True
    local = True
    counts_values: ClassVar[bool] = True

    by: str | Scoring = "basic"
    d: int = 10
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    before: tuple[int, ...] = field(default=(), init=False, repr=False, compare=False)
    """The number of different values of each attribute of the original table."""

    def __post_init__(self) -> None:
        if not callable(self.by):
            one_of(self.by, "The score", tuple(_SCORES))
        whole_number(self.d, "d of the score eta", least=1)
        object.__setattr__(self, "weights", checked_weights(self.weights, self.name))

    @property
    def text(self) -> str:
        """The canonical text form; a function is written by its name."""
        if callable(self.by):
            plain = replace(self, by="basic").text.replace("score", "", 1)
            return f"score({self.by.__name__}{', ' + plain[1:-1] if plain else ''})"
        return super().text

    def __call__(self, shown: Any, before: Any, priorities: Any) -> float:
        """Return the score from the different values of each attribute after and before, and the priorities."""
        e, e_b, v = (np.asarray(numbers, dtype=np.float64) for numbers in (shown, before, priorities))
        if callable(self.by):
            return _own(self.by, e, e_b, v)
        return float(_SCORES[self.by](e, e_b, v, self.d))

    def of(self, table: CountTable, shown: Any) -> float:
        """Return the score of a release with so many different values of each attribute."""
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

    def figures(self, table: CountTable, cost: float, lower_bound: float) -> dict[str, Any]:
        """Return the score, the score of the original table, and the highest possible score."""
        whole = self.of(table, self.before or _distinct(table))
        return {"score": whole - cost, "score_before": whole, "score_at_most": whole - lower_bound}

    def published(self, classes: Classes) -> FloatArray:
        """Return 0: a single class has no score."""
        return np.zeros(len(classes))

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return 0."""
        return np.zeros(len(classes))

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return 0."""
        return np.zeros(len(classes))

    def total(self, classes: Classes, ok: NDArray[np.bool_]) -> float:
        """Return the score lost by publishing exactly the classes that are ok."""
        return self.lost(classes.table, [np.count_nonzero(np.bincount(b)) for b in required(classes.blocks)[ok].T])

    def lower(self, classes: Classes, limit: int) -> float:
        """Return the score lost if nothing is suppressed."""
        return self.total(classes, np.ones(len(classes), dtype=np.bool_))

    def lower_by_counts(self, table: CountTable, limit: int, classes: int, values: Sequence[int]) -> float:
        """Return the score lost with so many values of each attribute."""
        return self.lost(table, values)

    def worst(self, table: CountTable) -> float:
        """Return the score lost if nothing is published."""
        return self.lost(table, np.zeros(len(table.attributes)))

    def separable(self, table: CountTable) -> Separable | None:
        """Return the loss of each level, divided among the rows; None if scores do not add up."""
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
        """Return the cost with the number of different values before suppression."""
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
    """Call a user's scoring function; raise a UsageError if the result is not a finite number."""
    try:
        score = float(function(shown, before, v))
    except (TypeError, ValueError):
        score = np.nan
    if not np.isfinite(score):
        raise UsageError(f"The scoring function {function.__name__} must return one finite number.")
    return score
