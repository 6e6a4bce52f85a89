"""Order: whether the released rows are still in the order of the original table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._target import AttackTarget
from discreet.evaluate.attacks.distance import nearest_classes
from discreet.evaluate.candidates import Candidates

__all__ = ["OrderAttack"]

_ROWS = 20_000
"""Most rows that are aligned, from the first on."""
_SHUFFLES = 9
"""Shuffled releases that are aligned for the naive guess."""


@ATTACKS.register
@dataclass(frozen=True)
class OrderAttack(Attack):
    """Aligns the released rows with the original ones in the order of both, and counts the rows that fit.

    Original rows that do not fit the next released row are taken for suppressed ones. Rows of means, which fit nobody,
    are compared by the nearest numbers. The naive guess is the best of
    some alignments with the released rows shuffled: many rows fit by chance where classes are large, and a row that
    is found late leaves few for all that follow.
    """

    name: ClassVar[str] = "order"
    examples: ClassVar[tuple[str, ...]] = ("order",)
    title: ClassVar[str] = "Is the order still the same?"
    summary: ClassVar[str] = "If the table was sorted by name, the position of a row says whose it is."
    term: ClassVar[str] = "row order"
    rank: ClassVar[int] = 30
    goal: ClassVar[str] = "find rows by their position"
    no_control: ClassVar[str] = "Nobody else has a position in the release."
    needs: ClassVar[str] = "the order of the people in the original table, such as the alphabet"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Align the rows of both tables."""
        before = target.class_of_rows(target.original, target.everybody)[:_ROWS]
        whole = target.class_of_rows(target.given.table, target.after)
        rng, remark = target.rng(), ""
        if _shuffled_when_written(target.released):
            whole = rng.permutation(whole)
            remark = "A release in memory is attacked in the random order that it is written in."
        after = whole[:_ROWS]
        if target.people is not None:
            remark = f"{remark} Positions are of rows, of which a {target.people.unit} may have several.".strip()
        align = _alignment(target, before, after.size)
        aligned = align(after)
        chance = [align(rng.permutation(whole)[:_ROWS]) for _ in range(_SHUFFLES)]
        return [self.result("row", aligned, max(chance), after.size, remark=remark)]


def _shuffled_when_written(released: object) -> bool:
    """Whether a table is a release in memory, whose rows are shuffled when it is written."""
    job, table = getattr(released, "job", None), getattr(released, "table", None)
    return job is not None and job.get("order", "random") == "random" and not hasattr(table, "shuffle")


def _alignment(target: AttackTarget, before: IntArray, rows: int) -> Callable[[IntArray], float]:
    """Return what gives the share of released rows in their place: those that cover the person, else the nearest."""
    if target.covers_people:
        return partial(_aligned, target.of_everybody, before)
    if (
        target.people is not None
        or before.size != rows
        or not any(match.domain.positions is not None for match in target.candidates.matches)
    ):
        raise NotModelled("most released rows cover nobody of the original table")
    own, which = np.unique(before, return_inverse=True)
    nearest = nearest_classes(target, own)[which]
    return lambda after: float(np.mean(nearest == after))


def _aligned(candidates: Candidates, before: IntArray, after: IntArray) -> float:
    """Return the share of released rows that fit an original row, both taken in their order.

    Where nothing was suppressed, rows are compared position by position.
    """
    if before.size == after.size:
        return float(np.mean(_fits(candidates, before, after)))
    fitting, first, owners = _classes_that_fit(candidates, np.unique(before))
    which = np.searchsorted(owners, before)
    known = [set(fitting[first[i] : first[i + 1]].tolist()) for i in range(owners.size)]
    row, wanted = 0, after.tolist()
    for each in which.tolist():
        if row < len(wanted) and wanted[row] in known[each]:
            row += 1
    return row / max(len(wanted), 1)


def _fits(candidates: Candidates, before: IntArray, after: IntArray) -> NDArray[np.bool_]:
    """Return whether each released row covers the original row at the same position."""
    fits = np.ones(before.size, dtype=np.bool_)
    for match in candidates.matches:
        fits &= match.holds(before, after)
    return fits


def _classes_that_fit(candidates: Candidates, originals: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the released classes that cover each original class, one after the other, and where each list begins."""
    index, released, done = [], [], 0
    for some, own, found in candidates.found(originals):
        index.append(own + done)
        released.append(found)
        done += some.size
    owner = np.concatenate(index)
    return np.concatenate(released), np.searchsorted(owner, np.arange(originals.size + 1)), originals
