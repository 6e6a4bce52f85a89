"""Homogeneity: what the classes of a release alone reveal about sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._target import AttackTarget
from discreet.evaluate.attacks.linkage import link
from discreet.evaluate.classes import CountedClasses
from discreet.evaluate.sensitive import MatchedValues, sensitive_groups
from discreet.problem.hidden_values import HiddenValues, HidingClasses
from discreet.runtime.plurals import units

__all__ = ["Homogeneity", "HomogeneityAttack", "homogeneity"]


@dataclass(frozen=True)
class Homogeneity:
    """How sure of a sensitive value somebody can be who knows the class of a person."""

    certain: float
    """The share of released rows in classes whose known values are all the same."""
    at_least_80: float
    """The share of released rows in classes where at least 80 % of the rows have the same value."""
    at_least_50: float
    success: float
    """The share of released rows that have the most frequent value of their class."""
    naive: float
    """The share of released rows that have the most frequent value of the whole release."""
    hidden: HiddenValues | None = None
    """What the suppressed values can be; None if there are none."""


@ATTACKS.register
@dataclass(frozen=True)
class HomogeneityAttack(Attack):
    """Guesses that a person has the sensitive value that most people of the same class have.

    The control group are people who are not in the release or, without a table of such people, the released people,
    each guessed from the rest of the class.
    """

    name: ClassVar[str] = "homogeneity"
    examples: ClassVar[tuple[str, ...]] = ("homogeneity",)
    title: ClassVar[str] = "What do they have in common?"
    summary: ClassVar[str] = "If most people who look the same share a secret, finding the row is not necessary."
    term: ClassVar[str] = "homogeneity attack"
    rank: ClassVar[int] = 20
    goal: ClassVar[str] = "guess the value"
    needs: ClassVar[str] = "the class of the person"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Guess the values of every sensitive column."""
        if not target.values:
            raise NotModelled("no sensitive column was named")
        return [self._attack(target, matched) for matched in target.values.values()]

    def _attack(self, target: AttackTarget, matched: MatchedValues) -> AttackResult:
        column, hiding = target.columns[matched.column], None
        if column.unknown is not None:
            hiding = target.hiding.classes(sensitive_groups(target.after, column, target.original), column.name)
        found = homogeneity(target.after, matched, hiding)
        outsiders = target.control
        if outsiders is not None and column.name in outsiders.values:
            values = [outsiders.values[column.name]]
            linked = link(outsiders.classes, target.after, outsiders.candidates, values, target.seed)
            control, others = linked.values[column.name], linked.records
        else:
            others = 0
            control = _guessed_from_others(target.after, matched)
        who = "rows" if target.people is None else units(target.people.unit)
        remark = f"{found.certain:.1%} of the released {who} are in classes where all known values are the same."
        figures = (found.success, found.naive, target.after.total)
        return self.result(column.name, *figures, control=control, control_attempts=others, remark=remark)


def _guessed_from_others(released: CountedClasses, matched: MatchedValues) -> float:
    """Return the share of released rows that have the most frequent value among the others of their class."""
    group, value, count = matched.released
    order = np.lexsort([value, -count, group])
    first = np.searchsorted(group[order], np.arange(released.sizes.size))
    size = np.bincount(group, minlength=released.sizes.size)
    best, second = np.full(released.sizes.size, -1), np.zeros(released.sizes.size, dtype=np.int64)
    some = size > 0
    best[some] = value[order[first[some]]]
    more = size > 1
    second[more] = count[order[first[more] + 1]]
    right = (value == best[group]) & (count - 1 > second[group])
    return _among(released, group[right], count[right])


def _among(released: CountedClasses, group: IntArray, count: NDArray[Any]) -> float:
    """Return the share of released rows that some counts of classes are; of people, each by one of their rows."""
    return float((released.weights[group] * count / released.sizes[group]).sum() / released.total)


def homogeneity(released: CountedClasses, matched: MatchedValues, hiding: HidingClasses | None = None) -> Homogeneity:
    """Run the attack. Confidence is the share of a value among the known values of a class.

    Nobody is sure of a missing value. For suppressed ones the attacker guesses one of the values they can be, so that
    among h of them with c candidates h/c rows are expected to have it: all, if there is a single candidate.
    """
    group, value, count = matched.released
    top = np.zeros(released.sizes.size)
    np.maximum.at(top, group, count)
    if hiding is not None:
        top = np.maximum(top, hiding.expected(released.sizes.size))
    share, weights, total = top / np.maximum(matched.known, 1), released.weights, released.total

    def sure(least: float) -> float:
        return float(weights[share >= least - 1e-12].sum() / total)

    return Homogeneity(
        certain=float(weights[(top == matched.known) & (top > 0)].sum() / total),
        at_least_80=sure(0.8),
        at_least_50=sure(0.5),
        success=_among(released, np.arange(top.size), top),
        naive=_among(released, group[value == 0], count[value == 0]),
        hidden=None if hiding is None else hiding.summed_up(),
    )
