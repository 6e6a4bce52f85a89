"""Distance: the released row whose numbers are nearest to those of a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._target import AttackTarget
from discreet.evaluate.candidates import ColumnMatch

__all__ = ["DistanceAttack", "nearest_classes"]

_PEOPLE = 2_000
"""Most people who are attacked; beyond that they are drawn."""
_PAIRS = 4_000_000
"""Most distances at once."""


@ATTACKS.register
@dataclass(frozen=True)
class DistanceAttack(Attack):
    """Picks the released row whose numbers are nearest to those of a person, as against microaggregated numbers.

    Columns are standardized; a range counts as its middle.
    """

    name: ClassVar[str] = "distance"
    examples: ClassVar[tuple[str, ...]] = ("distance",)
    title: ClassVar[str] = "Which row is nearest?"
    summary: ClassVar[str] = "Somebody picks the row with the nearest numbers."
    term: ClassVar[str] = "distance-based record linkage"
    rank: ClassVar[int] = 120
    goal: ClassVar[str] = "pick the row of a person by the nearest numbers"
    no_control: ClassVar[str] = "Nobody else has a row that could be picked."
    needs: ClassVar[str] = "numbers or dates about the person"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Attack everybody, or a sample."""
        if not _numeric(target):
            raise NotModelled("no quasi-identifier is a number or a date")
        pairs = target.belonging
        rng = target.rng()
        chosen = np.arange(target.before.sizes.size)
        if chosen.size > _PEOPLE:
            chosen = np.sort(rng.choice(chosen, _PEOPLE, replace=False))
        nearest = nearest_classes(target, chosen)
        size = target.after.sizes.size
        key = pairs.original * size + pairs.released
        order = np.argsort(key)
        wanted = chosen * size + nearest
        spot = np.minimum(np.searchsorted(key[order], wanted), key.size - 1)
        hit = np.where(key[order][spot] == wanted, pairs.people[order][spot], 0.0)
        attempts = float(target.before.sizes[chosen].sum())
        success = float((hit / target.after.sizes[nearest]).sum() / attempts)
        return [self.found(target, success, 1 / target.after.total, round(attempts))]


def nearest_classes(target: AttackTarget, people: IntArray) -> IntArray:
    """Return for some original classes the released class with the nearest numbers."""
    own, shown = _positions(target, _numeric(target))
    return _nearest(own[people], shown)


def _numeric(target: AttackTarget) -> list[int]:
    return [i for i, match in enumerate(target.candidates.matches) if match.domain.positions is not None]


def _positions(target: AttackTarget, numeric: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return the standardized numbers of the original and of the released classes."""
    people, rows = [], []
    for index in numeric:
        match = target.candidates.matches[index]
        number = _numbers(match)
        own, shown = number[match.leaf], match.spread.mean(number)[match.value]
        mean = float(np.average(own, weights=target.before.sizes))
        deviation = float(np.sqrt(np.average((own - mean) ** 2, weights=target.before.sizes))) or 1.0
        people.append((own - mean) / deviation)
        rows.append((shown - mean) / deviation)
    return np.stack(people, axis=1), np.stack(rows, axis=1)


def _numbers(match: ColumnMatch) -> FloatArray:
    """Return the number of each leaf; missing values count as the mean."""
    assert match.domain.positions is not None
    positions = match.domain.positions
    known = positions[~np.isnan(positions)]
    return np.where(np.isnan(positions), known.mean() if known.size else 0.0, positions)


def _nearest(people: FloatArray, rows: FloatArray) -> IntArray:
    """Return the nearest released class of each person."""
    nearest = np.zeros(len(people), dtype=np.int64)
    step = max(_PAIRS // max(len(rows) * rows.shape[1], 1), 1)
    for start in range(0, len(people), step):
        some = people[start : start + step]
        away = ((some[:, np.newaxis] - rows) ** 2).sum(axis=2)
        nearest[start : start + step] = away.argmin(axis=1)
    return nearest
