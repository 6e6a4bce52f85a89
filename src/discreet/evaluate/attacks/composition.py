"""Composition: several releases of the same people, put together (Ganta, Kasiviswanathan and Smith 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discreet.counts import IntArray
from discreet.errors import DiscreetError, UsageError
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._target import AttackTarget, candidates_of
from discreet.evaluate.candidates import Candidates
from discreet.evaluate.classes import CountedClasses
from discreet.evaluate.memberships import ReadRelease, codes_in, read_release, values_that_fit
from discreet.evaluate.released_as import split
from discreet.runtime.integer_codes import numbered

__all__ = ["CompositionAttack"]


@ATTACKS.register
@dataclass(frozen=True)
class CompositionAttack(Attack):
    """Puts releases of the same people together: a person has a sensitive value that fits in each of them.

    It guesses the value that most rows have which fit the person in all releases (as many as in the release with fewest
    of them), or finds the row where no sensitive column is shared. The naive guess uses the best single release.
    """

    name: ClassVar[str] = "composition"
    examples: ClassVar[tuple[str, ...]] = ("composition",)
    title: ClassVar[str] = "What do two releases tell together?"
    summary: ClassVar[str] = "Two tables that are safe by themselves can reveal a person together."
    term: ClassVar[str] = "composition attack"
    rank: ClassVar[int] = 80
    goal: ClassVar[str] = "guess the value"
    needs: ClassVar[str] = "an earlier release of the same or overlapping people"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Join the release with all earlier ones."""
        if not target.earlier:
            raise NotModelled("no earlier release of these people was given")
        earlier = [_read(target, table, target.before) for table in target.earlier]
        releases = [ReadRelease(target.after, target.candidates), *earlier]
        shared = [name for name in target.columns if all(name in each.classes.secret for each in releases)]
        if not shared:
            others = [_read(target, table, target.everybody) for table in target.earlier]
            return [self._rows(target, [ReadRelease(target.after, target.of_everybody), *others])]
        return [self._values(target, releases, name) for name in shared]

    def _values(self, target: AttackTarget, releases: Sequence[ReadRelease], column: str) -> AttackResult:
        """Guess a sensitive value that all releases show."""
        people = target.before
        seen = [values_that_fit(people, release, column) for release in releases]
        possible = np.logical_and.reduce([each > 0 for each in seen])
        weight = people.sizes / people.rows
        before = max(float(weight[(each > 0).sum(axis=1) == 1].sum()) for each in seen)
        sure = float(weight[possible.sum(axis=1) == 1].sum())
        remark = f"The value is certain for {sure:.1%} of the people; from one release alone, for {before:.1%}."
        success = _right(_fewest(seen), people, people, column)
        alone = max(_right(each, people, people, column) for each in seen)
        control = self._control(target, releases, column)
        others = 0 if control is None or target.control is None else target.control.classes.rows
        return self.result(column, success, alone, people.rows, control=control, control_attempts=others, remark=remark)

    @staticmethod
    def _control(target: AttackTarget, releases: Sequence[ReadRelease], column: str) -> float | None:
        """Return the same for people who are not in the release; None if there are none with this column."""
        if target.control is None or column not in target.control.classes.secret:
            return None
        outsiders = target.control.classes
        covering = [replace(each, candidates=candidates_of(each.candidates, outsiders)) for each in releases]
        seen = [values_that_fit(target.before, release, column) for release in covering]
        return _right(_fewest(seen), outsiders, target.before, column)

    def _rows(self, target: AttackTarget, releases: Sequence[ReadRelease]) -> AttackResult:
        """Find the row of a person who is alone in the intersection of classes."""
        everybody = target.everybody
        numbers = [_class_numbers(each.candidates) for each in releases]
        joint, _ = numbered(everybody.sizes.size, [(each, int(each.max()) + 1) for each in numbers])
        people = _crowds(everybody, joint)
        alone = [_crowds(everybody, each) for each in numbers]
        weight = everybody.weights / everybody.total
        naive = max(float((weight / size).sum()) for size in alone)
        single = float(weight[people == 1].sum())
        remark = f"{single:.1%} of the people are alone in the intersection of their classes."
        return self.found(target, float((weight / people).sum()), naive, everybody.total, remark=remark)


def _crowds(people: CountedClasses, group: IntArray) -> IntArray:
    """Return for each class how many rows, or people, are in classes of the same group."""
    order = np.argsort(group, kind="stable")
    return people.people_of(group[order], order, int(group.max()) + 1)[group]


def _read(target: AttackTarget, table: Any, people: CountedClasses) -> ReadRelease:
    """Read an earlier release, by its own hierarchies if it is a release and else by those of the new one."""
    known = target.given.hierarchies
    try:
        try:
            return read_release(people, table, known, target.given.types)
        except UsageError:
            return read_release(people, table, split(known)[0], target.given.types)
    except DiscreetError as error:
        raise NotModelled(f"an earlier release cannot be used ({error.message.rstrip('.')})") from None


def _fewest(seen: Sequence[IntArray]) -> IntArray:
    """Return how many rows with each value may be a person's in all releases; those of the first if there are none."""
    fewest = np.min(seen, axis=0)
    return np.where(fewest.sum(axis=1, keepdims=True) > 0, fewest, seen[0])


def _right(likely: IntArray, people: CountedClasses, numbered_by: CountedClasses, column: str) -> float:
    """Return the share of people whose likeliest value is right; values are numbered as in the second table."""
    group, value, count = people.histogram(column)
    code = codes_in(numbered_by, people, column)[value]
    return float(count[likely.argmax(axis=1)[group] == code].sum() / people.rows)


def _class_numbers(candidates: Candidates) -> IntArray:
    """Return the first released class that covers each original class, from 1; 0 if none does."""
    found = np.zeros(candidates.length.size, dtype=np.int64)
    for some, index, released in candidates.found():
        found[some[index][::-1]] = released[::-1] + 1
    return found
