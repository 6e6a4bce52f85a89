"""A new local recoding against earlier releases: people are put into groups part by part.

People with the same classes in all earlier releases are one part. If nobody joined or left a class, a group that
crosses parts can be taken apart by them at no cost, so groups are searched for in each part by itself. Of a class that
people joined or left, nobody can tell who did, so all of it stays in one group; if too few joined it, it is put
together with others like it, until enough did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.runtime.integer_codes import compact, distinct, numbered

if TYPE_CHECKING:
    from discreet.evaluate.classes import CountedClasses
    from discreet.evaluate.memberships import Membership

__all__ = ["PeopleParts", "divide"]

BrokenParts = Callable[[IntArray], NDArray[np.bool_]]
"""Which parts break a promise together with earlier releases, given the part of each class of people."""


@dataclass(frozen=True, eq=False)
class PeopleParts:
    """Which part each class of people belongs to, and what becomes of the parts."""

    part: IntArray
    whole: NDArray[np.bool_]
    """Whether a part stays in one group."""
    outside: int | None = None
    """The part of those who are in no earlier release, unless it has to stay in one group."""
    too_few: bool = False
    """Whether those are too few to be released."""


def divide(
    people: CountedClasses, point: IntArray, members: Sequence[Membership], broken: BrokenParts, *, may_go: bool
) -> PeopleParts:
    """Return the parts a local recoding is made of, if the promises can be kept with all people in one part.

    ``point`` numbers what the search can tell apart: people with the same point are in the same part. If those who are
    in no earlier release ``may_go``, they need not be enough.
    """
    labels = np.stack([each.label for each in members], axis=1)
    key, keys = numbered(
        people.sizes.size, [(labels[:, i] + 1, int(labels[:, i].max(initial=0)) + 2) for i in range(labels.shape[1])]
    )
    changed = np.stack([np.append(each.changed, False)[each.label] & (each.label >= 0) for each in members], axis=1)
    part = _connected([key, point, *np.where(changed, labels, -1).T])
    parts = int(part.max()) + 1
    whole = np.bincount(part, weights=changed.any(axis=1), minlength=parts) > 0
    whole |= np.bincount(distinct(part * keys + key) // keys, minlength=parts) > 1
    absent = np.logical_and.reduce(labels < 0, axis=1)
    bad = broken(part)
    if may_go and absent.any() and not whole.any() and bad.sum() == 1 and bad[part[absent]].all():
        return PeopleParts(part, whole, int(part[absent][0]), too_few=True)
    part, whole = _merged(people, part, whole, broken, absent)
    outside = int(part[absent][0]) if absent.any() and not whole[part[absent][0]] else None
    return PeopleParts(part, whole, outside)


def _connected(relations: Sequence[IntArray]) -> IntArray:
    """Return the finest parts that divide no number of any relation; -1 is no number."""
    part = np.arange(relations[0].size)
    while True:
        before = part.copy()
        for relation in relations:
            known = relation >= 0
            least = np.full(int(relation.max(initial=0)) + 1, part.size, dtype=np.int64)
            np.minimum.at(least, relation[known], part[known])
            part[known] = least[relation[known]]
        part = part[part]
        if (part == before).all():
            return compact(part, part.size)[0]


def _merged(
    people: CountedClasses,
    part: IntArray,
    whole: NDArray[np.bool_],
    broken: BrokenParts,
    absent: NDArray[np.bool_],
) -> tuple[IntArray, NDArray[np.bool_]]:
    """Put each part that breaks a promise together with the nearest, one that has to be whole anyway if there is one.

    After these it is the turn of those who are in no earlier release.
    """
    while True:
        bad = np.flatnonzero(broken(part))
        if not bad.size or whole.size == 1:
            return part, whole
        centre = _centres(people, part, whole.size)
        distance = np.abs(centre - centre[bad[0]]).sum(axis=1)
        new = np.bincount(part, weights=absent, minlength=whole.size) > 0
        order = np.lexsort((distance, np.where(whole, 0, np.where(new, 1, 2))))
        part = np.where(part == order[order != bad[0]][0], bad[0], part)
        whole[bad[0]] = True
        kept = np.bincount(part, minlength=whole.size) > 0
        part, whole = (np.cumsum(kept) - 1)[part], whole[kept]


def _centres(people: CountedClasses, part: IntArray, parts: int) -> FloatArray:
    """Return the mean position of the people of each part, from 0 to 1 in every column."""
    rows = np.bincount(part, weights=people.sizes, minlength=parts)
    sums = [
        np.bincount(part, weights=people.sizes * codes / max(int(codes.max(initial=0)), 1), minlength=parts)
        for codes in people.codes
    ]
    return np.asarray(np.stack(sums, axis=1) / rows[:, np.newaxis])
