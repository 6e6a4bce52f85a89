"""Composition: several releases of the same people, put together (Ganta, Kasiviswanathan and Smith 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.engines import open_source
from discreet.errors import DiscreetError
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._target import AttackTarget
from discreet.evaluate.candidates import Candidates, find_candidates
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.evaluate.released_as import split
from discreet.evaluate.sensitive import MatchedValues, covering_values, match_values
from discreet.runtime.integer_codes import numbered

__all__ = ["CompositionAttack", "Earlier", "read_earlier"]

_TINY = 1e-9


@ATTACKS.register
@dataclass(frozen=True)
class CompositionAttack(Attack):
    """Puts releases of the same people together: a person has a sensitive value that fits in each of them.

    It guesses the value that is likeliest in all releases, or finds the row where no sensitive column is shared. The
    naive guess uses the best single release.
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
        earlier = [read_earlier(target, table) for table in target.earlier]
        shared = [name for name in target.values if all(name in each.values for each in earlier)]
        if not shared:
            return [self._rows(target, earlier)]
        return [self._values(target, earlier, name) for name in shared]

    def _values(self, target: AttackTarget, earlier: Sequence[Earlier], column: str) -> AttackResult:
        """Guess a sensitive value that all releases show."""
        truth = target.truth(column)
        weight = target.before.sizes / target.before.rows
        own = _expected(target.candidates, target.values[column])
        seen = [own, *(each.expected(column) for each in earlier)]
        whole = np.maximum(own.sum(axis=0) / max(own.sum(), _TINY), _TINY)
        joint = np.prod([np.maximum(each, 0) for each in seen], axis=0) / whole ** (len(seen) - 1)
        alone = [_right(each, truth, weight) for each in seen]
        possible = np.logical_and.reduce([each > 0 for each in seen])
        certain = possible.sum(axis=1) == 1
        before = max(float(weight[(each > 0).sum(axis=1) == 1].sum()) for each in seen)
        joint = np.where(joint.sum(axis=1, keepdims=True) > 0, joint, own)
        sure = float(weight[certain].sum())
        remark = f"The value is certain for {sure:.1%} of the people; from one release alone, for {before:.1%}."
        return self.result(column, _right(joint, truth, weight), max(alone), target.before.rows, remark=remark)

    def _rows(self, target: AttackTarget, earlier: Sequence[Earlier]) -> AttackResult:
        """Find the row of a person who is alone in the intersection of classes."""
        numbers = [_class_numbers(each) for each in (target.candidates, *(other.candidates for other in earlier))]
        joint, count = numbered(target.before.sizes.size, [(each, int(each.max()) + 1) for each in numbers])
        people = np.bincount(joint, weights=target.before.sizes, minlength=count)[joint]
        alone = [np.bincount(each, weights=target.before.sizes)[each] for each in numbers]
        weight = target.before.sizes / target.before.rows
        naive = max(float((weight / size).sum()) for size in alone)
        single = float(weight[people == 1].sum())
        remark = f"{single:.1%} of the people are alone in the intersection of their classes."
        return self.result("row", float((weight / people).sum()), naive, target.before.rows, remark=remark)


@dataclass(frozen=True, eq=False)
class Earlier:
    """An earlier release: its classes, and which of them cover the people of the original table."""

    classes: CountedClasses
    candidates: Candidates
    values: dict[str, MatchedValues]

    def expected(self, column: str) -> FloatArray:
        """Return the rows with each sensitive value among those that cover the people of each original class."""
        return _expected(self.candidates, self.values[column])


def read_earlier(target: AttackTarget, table: Any) -> Earlier:
    """Read an earlier release, by its own hierarchies if it is a release and else by those of the new one."""
    own = getattr(getattr(table, "original", None), "released_as", None)
    data = getattr(table, "frame", table) if getattr(table, "job", None) else table
    source = open_source(data)
    known = {**target.given.hierarchies, **(own or {})}
    names = [name for name in target.given.names if name in source.columns]
    if not names:
        raise NotModelled("an earlier release has none of the quasi-identifiers")
    secrets = [name for name in target.columns if name in source.columns]
    try:
        classes = read_classes(source, names, secrets)
        people = read_classes(open_source(target.original), names, secrets)
        hierarchies = {name: known.get(name) for name in names}
        plain, _ = split(hierarchies)
        try:
            candidates = find_candidates(people, classes, hierarchies, target.given.types)
        except DiscreetError:
            if own is not None:
                raise
            candidates = find_candidates(people, classes, plain, target.given.types)
    except DiscreetError as error:
        raise NotModelled(f"an earlier release cannot be read ({error.message.rstrip('.')})") from None
    values = {name: match_values(target.before, classes, target.columns[name]) for name in secrets}
    return Earlier(classes, _for_people(target.before, people, candidates), values)


def _for_people(people: CountedClasses, fewer: CountedClasses, candidates: Candidates) -> Candidates:
    """Return candidates found for people by fewer columns, for the classes of people by all columns."""
    if people.columns == fewer.columns:
        return candidates
    index = [people.columns.index(name) for name in fewer.columns]
    count = fewer.sizes.size
    both = (np.concatenate([own, people.codes[i]]) for own, i in zip(fewer.codes, index, strict=True))
    widths = (fewer.width(name) for name in fewer.columns)
    number, distinct = numbered(count + people.sizes.size, zip(both, widths, strict=True))
    owner = np.zeros(distinct, dtype=np.int64)
    owner[number[:count]] = np.arange(count)
    which = owner[number[count:]]
    matches = tuple(
        type(match)(match.domain, match.spread, match.leaf[which], match.value) for match in candidates.matches
    )
    return Candidates(matches, candidates.first[which], candidates.length[which], candidates.order)


def _expected(candidates: Candidates, matched: MatchedValues) -> FloatArray:
    return covering_values(candidates, matched.released, matched.values)


def _right(likely: FloatArray, truth: FloatArray, weight: FloatArray) -> float:
    """Return the share of people whose likeliest value is right."""
    return float((weight * truth[np.arange(len(truth)), likely.argmax(axis=1)]).sum())


def _class_numbers(candidates: Candidates) -> IntArray:
    """Return the first released class that covers each original class, from 1; 0 if none does."""
    found = np.zeros(candidates.length.size, dtype=np.int64)
    for some, index, released in candidates.found():
        found[some[index][::-1]] = released[::-1] + 1
    return found
