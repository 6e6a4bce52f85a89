"""Singling out: predicates made from the release that fit exactly one person (Cohen and Nissim 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult
from discreet.evaluate.attacks._cells import ReleasedCells
from discreet.evaluate.attacks._target import AttackTarget
from discreet.evaluate.candidates import Candidates
from discreet.evaluate.classes import CountedClasses

__all__ = ["SinglingOutAttack"]


@ATTACKS.register
@dataclass(frozen=True)
class SinglingOutAttack(Attack):
    """Makes a predicate from each class and counts those that exactly one person of the original table satisfies.

    If the class has a range, the predicate is "covered by the class, and at the end of its range". Otherwise it is
    "covered by the class, and drawn with probability 1/s", s being the size of the class. The naive guess is the best
    predicate that does not depend on the data: one that each of n people satisfies with probability 1/n isolates
    somebody in (1 - 1/n)^(n-1) of the cases, about 37 %.
    """

    name: ClassVar[str] = "singling-out"
    examples: ClassVar[tuple[str, ...]] = ("singling-out",)
    title: ClassVar[str] = "Does it describe one person only?"
    summary: ClassVar[str] = "A description made from the release fits a single person."
    term: ClassVar[str] = "predicate singling out"
    rank: ClassVar[int] = 70
    goal: ClassVar[str] = "describe exactly one person"
    needs: ClassVar[str] = "nothing but the release"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Try one predicate for each released class."""
        target.check_covers_people()
        columns = [ReleasedCells(match, target.released_rows(i)) for i, match in enumerate(target.candidates.matches)]
        predicate = _predicates(target, columns)
        everybody = [match.leaf for match in target.of_everybody.matches]
        isolated = _isolated(target, target.everybody, target.of_everybody, predicate, everybody)
        control = None
        if target.control is not None:
            others = target.control
            leaves = [match.leaf for match in others.candidates.matches]
            control = float(_isolated(target, others.classes, others.candidates, predicate, leaves).mean())
        people = target.before.rows
        naive = (1 - 1 / people) ** (people - 1)
        ends = int((predicate.column >= 0).sum())
        remark = f"{ends:,} of {isolated.size:,} predicates use the end of a range."
        tried = 0 if control is None else isolated.size
        figures = (float(isolated.mean()), naive, isolated.size)
        return [self.result("person", *figures, control=control, control_attempts=tried, remark=remark)]


@dataclass(frozen=True, eq=False)
class _Predicates:
    """For each class, the column whose value has to be the leaf; -1 if people are drawn instead."""

    column: IntArray
    leaf: IntArray


def _predicates(target: AttackTarget, columns: Sequence[ReleasedCells]) -> _Predicates:
    """Choose for each class the end of a range that is rarest outside the class; none if drawing does better."""
    sizes = target.after.sizes
    column, leaf = np.full(sizes.size, -1, dtype=np.int64), np.full(sizes.size, -1, dtype=np.int64)
    best: FloatArray = (1 - 1 / sizes) ** (sizes - 1)
    for index, cells in enumerate(columns):
        value = cells.match.value
        share = np.ones((2, cells.values))
        for each in np.flatnonzero(cells.ranged & (cells.lowest < cells.highest)).tolist():
            weight = max(cells.weights[cells.covered[each]].sum(), 1e-300)
            share[:, each] = cells.weights[[cells.lowest[each], cells.highest[each]]] / weight
        for end, ends in enumerate((cells.lowest, cells.highest)):
            alone = (1 - share[end][value]) ** np.maximum(sizes - 2, 0)
            better = (alone > best) & (share[end][value] < 1)
            column[better], leaf[better], best = index, ends[value][better], np.where(better, alone, best)
    return _Predicates(column, leaf)


def _isolated(
    target: AttackTarget, people: CountedClasses, candidates: Candidates, predicate: _Predicates, leaves: list[IntArray]
) -> FloatArray:
    """Return the probability that the predicate of each class fits exactly one person."""
    classes = target.after.sizes.size
    pairs = [(some[index], released) for some, index, released in candidates.found()]
    who, released = (np.concatenate(each) for each in zip(*pairs, strict=True))
    order = np.argsort(released, kind="stable")
    who, released = who[order], released[order]
    covered = people.people_of(released, who, classes)
    at_end: NDArray[np.bool_] = np.zeros(who.size, dtype=np.bool_)
    for column, leaf in enumerate(leaves):
        at_end |= (predicate.column[released] == column) & (leaf[who] == predicate.leaf[released])
    fitting = people.people_of(released[at_end], who[at_end], classes)
    chance = 1 / target.after.sizes
    drawn = covered * chance * (1 - chance) ** np.maximum(covered - 1, 0)
    return np.where(predicate.column >= 0, fitting == 1, drawn)
