"""Refinement: exact values from the ends of ranges (after Chhillar and others, arXiv 2509.03350, 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._cells import ReleasedCells
from discreet.evaluate.attacks._target import AttackTarget, Belonging

__all__ = ["RefinementAttack"]


@ATTACKS.register
@dataclass(frozen=True)
class RefinementAttack(Attack):
    """Guesses the exact value behind a generalized cell, knowing that no range is longer than necessary.

    A method that minimizes loss shows the shortest range that covers a class, so somebody in it has each of its ends:
    in a class of s people an end is right for at least one of s. In a global recoding that holds for all rows of a
    value together. The naive guess is the most frequent of the values that a cell covers, every cell of the release
    spread evenly.
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
        """Attack all generalized cells."""
        pairs = target.belonging
        outside = None if target.control is None else target.control.matched
        right = naive = cells_tried = theirs = strangers = 0.0
        ends = ranges = 0
        for index, match in enumerate(target.candidates.matches):
            cells = ReleasedCells(match, target.released_rows(index))
            guess, plain = _guesses(target, cells)
            some = guess >= 0
            hit, missed, asked = _scores(pairs, match.leaf, guess, plain, some)
            right, naive, cells_tried = right + hit, naive + missed, cells_tried + asked
            if outside is not None and target.control is not None:
                leaf = target.control.candidates.matches[index].leaf
                hit, _, asked = _scores(outside, leaf, guess, plain, some)
                theirs, strangers = theirs + hit, strangers + asked
            found, tried = _tight(target, cells, pairs)
            ends, ranges = ends + found, ranges + tried
        if not cells_tried:
            raise NotModelled("no cell was generalized to more than one value")
        remark = ""
        if ranges:
            remark = f"Both ends are values of people in the class for {ends / ranges:.1%} of the ranges."
        return [
            self.result(
                "cell",
                right / cells_tried,
                naive / cells_tried,
                round(cells_tried),
                control=theirs / strangers if strangers else None,
                remark=remark,
            )
        ]


def _guesses(target: AttackTarget, cells: ReleasedCells) -> tuple[IntArray, IntArray]:
    """Return the value guessed for the cell of each class, -1 if it is not generalized, and the naive guess."""
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
    plain = likely[value]
    known = (target.after.sizes if target.overlapping else cells.rows[value]).astype(np.float64)
    ranged = cells.ranged[value] & (plain >= 0)
    options = np.stack([plain, cells.lowest[value], cells.highest[value]])
    chance: FloatArray = share[:, value] * np.where(ranged, np.maximum(1 - 2 / known, 0), 1)
    for end in (1, 2):
        is_end = options == options[end]
        chance = chance + np.where(is_end & ranged, 1 / known, 0)
    chance[1:, ~ranged] = -1
    guess = np.take_along_axis(options, chance.argmax(axis=0)[np.newaxis], axis=0)[0]
    return np.where(plain >= 0, guess, -1), plain


def _scores(
    pairs: Belonging, leaf: IntArray, guess: IntArray, plain: IntArray, some: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return how many people have the guessed value of their class, how many the naive one, and of how many."""
    own, tried = leaf[pairs.original], some[pairs.released]
    hit = pairs.people[tried & (own == guess[pairs.released])].sum()
    naive = pairs.people[tried & (own == plain[pairs.released])].sum()
    return float(hit), float(naive), float(pairs.people[tried].sum())


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
