"""Linkage: find the released rows that each person of the original table can be, and guess among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.counts import IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult
from discreet.evaluate.attacks._target import AttackTarget
from discreet.evaluate.candidates import Candidates
from discreet.evaluate.classes import CountedClasses
from discreet.evaluate.sensitive import MatchedValues
from discreet.runtime.integer_codes import add_up

__all__ = ["Linkage", "LinkageAttack", "link"]

_PAIRS = 100_000_000
"""The most pairs of an original and a released class to compare; if there are more, people are sampled."""


@dataclass(frozen=True)
class Linkage:
    """How well somebody who knows the quasi-identifiers of the original people finds them in the release."""

    records: int
    """The original rows that were attacked: all of them, unless that takes too long."""
    matched: float
    """The share of them with at least one matching released row."""
    singled_out: float
    """The share of them with exactly one."""
    success: float
    """The expected share of people whose row is guessed right, drawing among the matching rows."""
    naive: float
    """The same, drawing among all released rows."""
    values: dict[str, float]
    """For each sensitive column, how often the most frequent value among the matching rows is right."""
    naive_values: dict[str, float]
    """The same for the most frequent value of the whole release."""


@ATTACKS.register
@dataclass(frozen=True)
class LinkageAttack(Attack):
    """Finds the released rows that cover what is known about a person, and picks one of them.

    The control group shows how sure the attacker would be of people who are not in the release.
    """

    name: ClassVar[str] = "linkage"
    examples: ClassVar[tuple[str, ...]] = ("linkage",)
    title: ClassVar[str] = "Which row is hers?"
    summary: ClassVar[str] = "Somebody looks for the rows that fit a person, and picks one."
    term: ClassVar[str] = "record linkage"
    rank: ClassVar[int] = 10
    goal: ClassVar[str] = "pick the row of a person"
    needs: ClassVar[str] = "the quasi-identifiers of the person"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Link every person."""
        target.check_covers_people()
        found = link(target.before, target.after, target.candidates, (), target.seed)
        others: dict[str, Any] = {}
        if target.control is not None:
            outsiders = target.control
            control = link(outsiders.classes, target.after, outsiders.candidates, (), target.seed)
            others = {"control": control.success, "control_attempts": control.records}
        one = "exactly one" if target.people is None else "those of one person only"
        remark = f"{found.matched:.1%} of the people match a released row, {found.singled_out:.1%} {one}."
        return [self.found(target, found.success, found.naive, found.records, **others, remark=remark)]


def link(
    original: CountedClasses,
    released: CountedClasses,
    candidates: Candidates,
    values: Sequence[MatchedValues],
    seed: int,
) -> Linkage:
    """Run the attack.

    To be on the safe side, every person with a matching row is assumed to be in the release. For people without one, or
    whose matching rows have no known value, the most frequent value of the release is guessed.
    """
    chosen = _chosen(original, candidates, seed)
    rows = np.zeros(original.sizes.size, dtype=np.int64)
    guesses = [np.zeros(original.sizes.size, dtype=np.int64) for _ in values]
    for some, index, found in candidates.found(None if chosen.size == rows.size else chosen):
        rows[some] = released.people_of(index, found, some.size)
        for guess, matched in zip(guesses, values, strict=True):
            guess[some] = _most_frequent(matched, index, found, some.size)
    weight = np.zeros_like(original.sizes)
    weight[chosen] = original.sizes[chosen]
    total = int(weight.sum())
    chance = np.divide(1.0, rows, out=np.zeros(rows.size), where=rows > 0)
    return Linkage(
        records=total,
        matched=float(weight[rows > 0].sum() / total),
        singled_out=float(weight[rows == 1].sum() / total),
        success=float((weight * chance).sum() / total),
        naive=1 / released.total,
        values={v.column: _success(v, guess, weight) for v, guess in zip(values, guesses, strict=True)},
        naive_values={v.column: _success(v, np.zeros_like(rows), weight) for v in values},
    )


def _chosen(original: CountedClasses, candidates: Candidates, seed: int) -> IntArray:
    """Return the original classes to attack: all, or a sample if there are too many pairs."""
    count = original.sizes.size
    share = _PAIRS / max(candidates.pairs, 1)
    if share >= 1:
        return np.arange(count)
    drawn = np.random.default_rng(seed).choice(count, max(int(count * share), 1), replace=False)
    return np.sort(drawn)


def _most_frequent(matched: MatchedValues, index: IntArray, found: IntArray, people: int) -> IntArray:
    """Return the most frequent value among the matching rows of each person; of equals, the first."""
    group, value, count = matched.released
    first, last = np.searchsorted(group, found, "left"), np.searchsorted(group, found, "right")
    length = last - first
    owner = np.repeat(index, length)
    entry = np.arange(owner.size) - np.repeat(np.cumsum(length) - length, length) + np.repeat(first, length)
    keys, which = np.unique(owner * matched.values + value[entry], return_inverse=True)
    rows = add_up(which, count[entry], keys.size)
    best = np.lexsort([keys % matched.values, -rows, keys // matched.values])
    who, start = np.unique(keys[best] // matched.values, return_index=True)
    guess = np.zeros(people, dtype=np.int64)
    guess[who] = keys[best][start] % matched.values
    return guess


def _success(matched: MatchedValues, guess: IntArray, weight: IntArray) -> float:
    """Return the share of attacked rows whose value was guessed right."""
    group, value, count = matched.original
    attacked = weight[group] > 0
    return float(count[attacked & (guess[group] == value)].sum() / max(int(count[attacked].sum()), 1))
