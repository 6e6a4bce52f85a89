"""Refinement: exact values from the ends of ranges (after Chhillar and others, arXiv 2509.03350, 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._cells import ReleasedCells
from discreet.evaluate.attacks._remaining import RemainingCells
from discreet.evaluate.attacks._statistics import independent_attempts
from discreet.evaluate.attacks._target import AttackTarget, Belonging

__all__ = ["RefinementAttack"]

_CLASSES = 2_000
"""Most classes that are attacked; beyond that they are drawn."""


@ATTACKS.register
@dataclass(frozen=True)
class RefinementAttack(Attack):
    """Guesses the exact value behind a generalized cell, knowing that no range is longer than necessary.

    A method that minimizes loss shows the shortest range that covers a class, so somebody in it has each of its ends:
    in a class of s people an end is right for at least one of s. In a global recoding that holds for all rows of a
    value together. In a local recoding, nobody of a coarse class has the values that a class with less loss covers:
    that is tried as well, and the more successful of both ways is reported, as it depends on the method which of them
    is sound. The naive guess is the most frequent of the values that a cell covers, every cell of the release spread
    evenly.
    """

    name: ClassVar[str] = "refinement"
    examples: ClassVar[tuple[str, ...]] = ("refinement",)
    title: ClassVar[str] = "Which value exactly?"
    summary: ClassVar[str] = "A range that is no longer than necessary gives away its ends."
    term: ClassVar[str] = "combinatorial refinement attack"
    control_is_baseline: ClassVar[bool] = False
    rank: ClassVar[int] = 60
    goal: ClassVar[str] = "guess the exact value of a cell"
    needs: ClassVar[str] = "nothing but the release, and that loss was minimized"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Attack all generalized cells, or those of a sample of classes."""
        pairs, outside = target.belonging, None if target.control is None else target.control.matched
        columns = [ReleasedCells(match, target.released_rows(i)) for i, match in enumerate(target.candidates.matches)]
        some = _classes_to_attack(target)
        guesses = [_guesses(target, cells, some) for cells in columns]
        finer, excluded = _refined(target, columns, guesses, some)
        ends, ranges = 0, 0
        scores = _Scores.none(target.after.sizes.size)
        for index, (cells, guess, better) in enumerate(zip(columns, guesses, finer, strict=True)):
            own = cells.match.leaf[pairs.original]
            scores = scores.plus(pairs, own, guess, better)
            if outside is not None and target.control is not None:
                theirs = target.control.candidates.matches[index].leaf[outside.original]
                scores = scores.with_control(outside, theirs, guess, better)
            found, tried = _tight(target, cells, pairs)
            ends, ranges = ends + found, ranges + tried
        asked = float(scores.asked.sum())
        if not asked:
            raise NotModelled("no cell was generalized to more than one value")
        remark = f"Both ends are values of people in the class for {ends / ranges:.1%} of the ranges." if ranges else ""
        if excluded is not None:
            remark += f" Classes with less loss rule out {excluded:.1%} of what cells may hold."
        best = int(scores.right.sum(axis=1).argmax())
        right, strangers = scores.right[best], float(scores.strangers)
        return [
            self.result(
                "cell",
                right.sum() / asked,
                scores.naive.sum() / asked,
                round(asked),
                control=scores.theirs[best] / strangers if strangers else None,
                control_attempts=round(strangers),
                independent=None if some.all() else independent_attempts(right, scores.asked),
                remark=remark.strip(),
            )
        ]


@dataclass(frozen=True, eq=False)
class _Guesses:
    """What is guessed for the cell of each class; -1 if it is not generalized or not attacked."""

    best: IntArray
    plain: IntArray
    """The naive guess."""


@dataclass(frozen=True, eq=False)
class _Scores:
    """How many guesses are right, by class; two ways to guess are tried."""

    right: FloatArray
    naive: FloatArray
    asked: FloatArray
    theirs: FloatArray
    strangers: float

    @classmethod
    def none(cls, classes: int) -> _Scores:
        return cls(np.zeros((2, classes)), np.zeros(classes), np.zeros(classes), np.zeros(2), 0.0)

    def plus(self, pairs: Belonging, own: IntArray, guess: _Guesses, finer: IntArray) -> _Scores:
        """Return the sums with those of one more column."""
        released, size = pairs.released, self.naive.size
        people = np.where(guess.plain[released] >= 0, pairs.people, 0.0)

        def hits(guessed: IntArray) -> FloatArray:
            return np.asarray(np.bincount(released, weights=people * (own == guessed[released]), minlength=size))

        return replace(
            self,
            right=self.right + np.stack([hits(guess.best), hits(finer)]),
            naive=self.naive + hits(guess.plain),
            asked=self.asked + np.bincount(released, weights=people, minlength=size),
        )

    def with_control(self, pairs: Belonging, own: IntArray, guess: _Guesses, finer: IntArray) -> _Scores:
        """Return the sums with those of the control group for one more column."""
        people = np.where(guess.plain[pairs.released] >= 0, pairs.people, 0.0)
        hits = [float(people[own == guessed[pairs.released]].sum()) for guessed in (guess.best, finer)]
        return replace(self, theirs=self.theirs + hits, strangers=self.strangers + float(people.sum()))


def _classes_to_attack(target: AttackTarget) -> NDArray[np.bool_]:
    """Return which classes are attacked: all, or a sample."""
    count = target.after.sizes.size
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[target.rng().choice(count, _CLASSES, replace=False) if count > _CLASSES else slice(None)] = True
    return chosen


def _refined(
    target: AttackTarget, columns: Sequence[ReleasedCells], guesses: Sequence[_Guesses], some: NDArray[np.bool_]
) -> tuple[list[IntArray], float | None]:
    """Return better guesses, by what classes with less loss exclude, and how much that is; None if nothing can be."""
    found = [guess.best.copy() for guess in guesses]
    cells = RemainingCells.of(target, columns)
    if cells is None:
        return found, None
    sizes, excluded = target.after.sizes, 0.0
    for c in np.flatnonzero(some).tolist():
        left = cells.of_class(c)
        if left is None:
            continue
        excluded += left.excluded * float(sizes[c])
        for guess, column, share in zip(found, columns, left.shares, strict=True):
            if guess[c] >= 0:
                guess[c] = int(_with_ends(column, int(column.match.value[c]), share, float(sizes[c])).argmax())
    return found, excluded / float(sizes[some].sum())


def _with_ends(cells: ReleasedCells, value: int, share: FloatArray, known: float) -> FloatArray:
    """Return how likely each leaf is for one of the people of a cell, somebody of whom has each end of a range."""
    if not cells.ranged[value]:
        return share
    likely = share * max(1 - 2 / known, 0.0)
    for end in (cells.lowest[value], cells.highest[value]):
        likely[end] += 1 / known
    return likely


def _guesses(target: AttackTarget, cells: ReleasedCells, some: NDArray[np.bool_]) -> _Guesses:
    """Return the guess for the cell of each class by the ends of its range, and the naive guess."""
    likely = np.full(cells.values, -1, dtype=np.int64)
    share = np.zeros((3, cells.values))  # of the likeliest value, of the low end and of the high end
    for each, leaves in enumerate(cells.covered):
        if leaves.size < 2:
            continue
        weight = cells.weights[leaves]
        likely[each] = leaves[weight.argmax()]
        ends = [weight.max(), cells.weights[cells.lowest[each]], cells.weights[cells.highest[each]]]
        share[:, each] = np.array(ends) / max(weight.sum(), 1e-300)
    value = cells.match.value
    plain = np.where(some, likely[value], -1)
    known = (target.after.sizes if target.overlapping else cells.rows[value]).astype(np.float64)
    ranged = cells.ranged[value] & (plain >= 0)
    options = np.stack([plain, cells.lowest[value], cells.highest[value]])
    chance: FloatArray = share[:, value] * np.where(ranged, np.maximum(1 - 2 / known, 0), 1)
    for end in (1, 2):
        is_end = options == options[end]
        chance = chance + np.where(is_end & ranged, 1 / known, 0)
    chance[1:, ~ranged] = -1
    guess = np.take_along_axis(options, chance.argmax(axis=0)[np.newaxis], axis=0)[0]
    return _Guesses(np.where(plain >= 0, guess, -1), plain)


def _tight(target: AttackTarget, cells: ReleasedCells, pairs: Belonging) -> tuple[int, int]:
    """Return how many classes have people at both ends of their range, and how many have a range."""
    value = cells.match.value
    ranged = cells.ranged[value] & (cells.lowest[value] < cells.highest[value])
    own = cells.match.leaf[pairs.original]
    reached = ranged.copy()
    for end in (cells.lowest, cells.highest):
        at_end = own == end[value][pairs.released]
        people = np.bincount(pairs.released[at_end], weights=pairs.people[at_end], minlength=value.size)
        reached &= people > 0.5
    return int(reached.sum()), int(ranged.sum())
