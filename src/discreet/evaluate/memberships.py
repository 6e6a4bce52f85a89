"""Who of a table is in which class of a release, and the groups that several releases distinguish together.

The attacker knows everybody's quasi-identifiers and who is in which release, and may be able to tell which rows of two
releases are about the same person (by columns that were released unchanged). People are then distinguished by their
classes in all releases, where not being in a release is like a class of its own.

A released class says how many people with which sensitive values it has. If the table has the same ones, they are the
same people. If not, somebody joined, left or changed since then, and nobody can tell from the releases alone who of the
class did: how many did is the least number that explains the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.engines import open_source
from discreet.errors import DiscreetError, UsageError
from discreet.evaluate.candidates import Candidates, find_candidates
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.evaluate.sensitive import covering_values
from discreet.runtime.integer_codes import add_up, numbered

__all__ = [
    "JointGroups",
    "Membership",
    "ReadRelease",
    "ReleasedRows",
    "codes_in",
    "join",
    "made_from",
    "membership",
    "of_unchanged_classes",
    "read_release",
    "values_that_fit",
]

ABSENT = -1


@dataclass(frozen=True, eq=False)
class ReadRelease:
    """A release: its classes, and which of them cover the people of each class of a table."""

    classes: CountedClasses
    candidates: Candidates

    @property
    def overlapping(self) -> bool:
        """Whether several classes may cover the same person, as in a local recoding."""
        return any(match.single is None for match in self.candidates.matches)


@dataclass(frozen=True, eq=False)
class ReleasedRows:
    """Rows of a release by class and sensitive values, as codes of the table."""

    label: IntArray
    secret: Mapping[str, IntArray]
    count: IntArray


@dataclass(frozen=True, eq=False)
class Membership:
    """Who of a table is in which class of a release."""

    label: IntArray
    """The class of the release for each class of the table; -1 if none covers it."""
    stays: IntArray
    """How many rows of each entry of the table are in the release."""
    changed: NDArray[np.bool_]
    """For each label, whether somebody joined, left or changed since the release."""
    left: ReleasedRows
    """The rows of people who are not in the table any more."""

    @property
    def same_people(self) -> bool:
        """Whether nobody joined, left or changed."""
        return not self.changed.any()

    def of_some(self, some: NDArray[np.bool_]) -> Membership:
        """Return the membership of some classes of the table, whose people are in unchanged classes of the release."""
        none = ReleasedRows(np.zeros(0, dtype=np.int64), {}, np.zeros(0, dtype=np.int64))
        return Membership(np.where(some, self.label, ABSENT), self.stays, np.zeros_like(self.changed), none)


def read_release(table: CountedClasses, release: Any, hierarchies: Mapping[str, Any], types: Any) -> ReadRelease:
    """Read a release of the people of a table, by its own hierarchies if it is a Release and else by those given.

    It may lack some of the quasi-identifiers and sensitive columns.
    """
    own = getattr(getattr(release, "original", None), "released_as", None) or {}
    source = open_source(getattr(release, "frame", release) if getattr(release, "job", None) else release)
    names = [name for name in table.columns if name in source.columns]
    if not names:
        raise UsageError(
            "A release to compare with has none of the quasi-identifiers; its columns must have the same names."
        )
    classes = read_classes(source, names, [name for name in table.secret if _has(source.columns, name)])
    fewer = replace(table, columns=tuple(names), codes=[table.codes[table.columns.index(name)] for name in names])
    known = {name: own.get(name, hierarchies.get(name)) for name in names}
    try:
        candidates = find_candidates(fewer, classes, known, types)
    except DiscreetError as error:
        raise UsageError(f"A release to compare with cannot be read: {error.message}") from None
    return ReadRelease(classes, candidates)


def _has(columns: Sequence[str], name: str) -> bool:
    return name in columns or all(part in columns for part in name.split("+"))


def membership(table: CountedClasses, release: ReadRelease, *, of_table: bool = False) -> Membership:
    """Find who of a table is in which class of a release; ``of_table`` says that the release was made from it."""
    labels, count = _labels(release.candidates)
    member = labels[table.group] >= 0
    none = ReleasedRows(np.zeros(0, dtype=np.int64), {}, np.zeros(0, dtype=np.int64))
    unchanged = Membership(labels, np.where(member, table.count, 0), np.zeros(count, dtype=np.bool_), none)
    if of_table:
        return unchanged
    shared = [name for name in table.secret if name in release.classes.secret]
    values = {name: _common(table, release.classes, name) for name in shared}
    here = [values[name][0][table.secret[name]] for name in shared]
    there = [values[name][1][release.classes.secret[name]] for name in shared]
    own_label = np.zeros(release.classes.group.size, dtype=np.int64) if release.overlapping else release.classes.group
    label = np.where(member, 0, ABSENT) if release.overlapping else labels[table.group]
    columns = [(np.concatenate([label, own_label]) + 1, int(max(label.max(initial=0), own_label.max(initial=0))) + 2)]
    columns += [
        (np.concatenate([one, other]), values[name][2]) for name, one, other in zip(shared, here, there, strict=True)
    ]
    key, keys = numbered(label.size + own_label.size, columns)
    mine, theirs = key[: label.size], key[label.size :]
    now = add_up(mine[member], table.count[member], keys)
    then = add_up(theirs, release.classes.count, keys)
    if release.overlapping:
        if not np.array_equal(now, then):
            raise UsageError(
                "A release to compare with is a local recoding of other people, and who is in which class is unknown; "
                "compare with a global recoding, or with a release of the same people."
            )
        return unchanged
    stays = _first_rows(mine, np.where(member, table.count, 0), np.minimum(now, then))
    changed = np.zeros(count, dtype=np.bool_)
    changed[label[member & (now != then)[mine]]] = True
    changed[own_label[(now != then)[theirs]]] = True
    gone = _first_rows(theirs, release.classes.count, np.maximum(then - now, 0))
    some = gone > 0
    left = ReleasedRows(
        own_label[some],
        {name: codes_in(table, release.classes, name)[release.classes.secret[name][some]] for name in shared},
        gone[some],
    )
    return Membership(labels, stays, changed, left)


def made_from(table: CountedClasses, release: ReadRelease) -> Membership:
    """Find who of a table is in which class of a release that was made from it.

    All people of a class are in the release if it has as many rows. If rows are missing from a class that is otherwise
    released, nobody can tell whose: the class has then changed, as if they had joined since.
    """
    everybody = membership(table, release, of_table=True)
    covered = np.zeros(everybody.changed.size, dtype=np.int64)
    member = everybody.label >= 0
    np.add.at(covered, everybody.label[member], table.sizes[member])
    if (covered < release.classes.sizes).any():
        raise UsageError(
            "The release has more rows with some quasi-identifiers than the original table has people who fit them; "
            "name the table it was made from."
        )
    return everybody if np.array_equal(covered, release.classes.sizes) else membership(table, release)


def of_unchanged_classes(memberships: Sequence[Membership]) -> Iterator[tuple[NDArray[np.bool_], list[Membership]]]:
    """Yield people who are in classes of several releases that nobody joined or left, with what these say of them.

    It is known who of the table is in such classes, so that these releases can be put together for them, although
    others joined or left since. If nobody did, all releases can be put together anyway, and nothing is yielded.
    """
    if all(each.same_people for each in memberships):
        return
    unchanged = np.stack(
        [(each.label >= 0) & ~np.append(each.changed, True)[each.label] for each in memberships], axis=1
    )
    for known in np.unique(unchanged, axis=0):
        if known.sum() > 1:
            some = np.asarray(unchanged[:, known].all(axis=1))
            chosen = [each for each, is_known in zip(memberships, known, strict=True) if is_known]
            yield some, [each.of_some(some) for each in chosen]


def _labels(candidates: Candidates) -> tuple[IntArray, int]:
    """Return a label for each class of the table and the number of labels: the released class that covers it.

    Where several may, people with the same candidates have the same label.
    """
    size = candidates.length.size
    found = np.full(size, ABSENT, dtype=np.int64)
    if all(match.single is not None for match in candidates.matches):
        for some, index, released in candidates.found():
            found[some[index]] = released
        return found, int(candidates.order.size)
    number = np.random.default_rng(0).integers(1 << 62, size=(candidates.order.size, 2))
    code = np.zeros((size, 2), dtype=np.int64)
    for some, index, released in candidates.found():  # sums of random numbers identify sets
        np.add.at(code, some[index], number[released])
        found[some[index]] = 0
    known = found >= 0
    distinct, found[known] = np.unique(code[known], axis=0, return_inverse=True)
    return found, len(distinct)


def codes_in(table: CountedClasses, release: CountedClasses, name: str) -> IntArray:
    """Return the code in a table of each distinct value of a release; -1 for those the table lacks."""
    own, texts = table.texts(name), release.texts(name)
    return texts.replace_strict(own, np.arange(len(own)), default=ABSENT, return_dtype=pl.Int64).to_numpy()


def values_that_fit(table: CountedClasses, release: ReadRelease, name: str) -> NDArray[np.int64]:
    """Return for each class of people how many rows of a release that fit them have each sensitive value of a table."""
    group, value, count = release.classes.histogram(name)
    code = codes_in(table, release.classes, name)[value]
    known = code >= 0
    entries = group[known], code[known], count[known]
    return np.rint(covering_values(release.candidates, entries, table.width(name))).astype(np.int64)


def _common(table: CountedClasses, release: CountedClasses, name: str) -> tuple[IntArray, IntArray, int]:
    """Return common numbers of the distinct values of a column in both, and how many there are."""
    there = codes_in(table, release, name)
    width = table.width(name)
    new = there < 0
    return np.arange(width), np.where(new, width + np.cumsum(new) - 1, there), width + int(new.sum())


def _first_rows(key: IntArray, count: IntArray, most: IntArray) -> IntArray:
    """Return how many rows of each entry are among the first ``most`` rows of its key."""
    order = np.argsort(key, kind="stable")
    ends = np.cumsum(count[order])
    begins = ends - count[order]
    first = np.searchsorted(key[order], key[order])
    taken = np.clip(most[key[order]] - (begins - begins[first]), 0, count[order])
    result = np.empty_like(count)
    result[order] = taken
    return result


@dataclass(frozen=True, eq=False)
class JointGroups:
    """The groups of people that releases distinguish together."""

    classes: CountedClasses
    """The people of each group, without quasi-identifiers."""
    labels: IntArray
    """(group, release) the class of the group in each release; -1 if it is not in that release."""
    divided: int
    """Classes that people joined or left and that another release divides: nobody can tell into which groups."""
    changing: int | None = None
    """The release that people joined or left, if any."""
    changed_too: bool = False
    """Whether people joined or left a further release, which is not taken into account."""


def join(table: CountedClasses, memberships: Sequence[Membership]) -> JointGroups:
    """Return the groups that releases distinguish together; people should have joined or left one of them at most.

    Those who are in no release are in no group.
    """
    labels = np.stack([each.label for each in memberships], axis=1)
    several = [i for i, each in enumerate(memberships) if not each.same_people]
    changing = several[0] if several else None
    entries = np.arange(table.group.size)
    parts: list[tuple[IntArray, IntArray, IntArray]] = [(labels[table.group], entries, table.count)]
    divided = 0
    if changing is not None:
        one = memberships[changing]
        inside, outside = parts[0][0], parts[0][0].copy()
        outside[:, changing] = ABSENT
        parts = [(inside, entries, one.stays), (outside, entries, table.count - one.stays)]
        divided = _divided(labels, changing, one.changed)
    keys = np.concatenate([part[0] for part in parts])
    entry = np.concatenate([part[1] for part in parts])
    count = np.concatenate([part[2] for part in parts])
    secret = {name: codes[entry] for name, codes in table.secret.items()}
    values = dict(table.values)
    if changing is not None:
        left = memberships[changing].left
        gone = np.full((left.count.size, len(memberships)), ABSENT, dtype=np.int64)
        gone[:, changing] = left.label
        keys, count = np.concatenate([keys, gone]), np.concatenate([count, left.count])
        for name in secret:
            codes = left.secret.get(name, np.full(left.count.size, ABSENT))
            values[name], unknown = _with_missing(values[name])
            secret[name] = np.concatenate([secret[name], np.where(codes < 0, unknown, codes)])
    kept = (keys >= 0).any(axis=1) & (count > 0)
    keys, count = keys[kept], count[kept]
    group, groups = numbered(
        count.size, [(keys[:, i] + 1, int(keys[:, i].max(initial=0)) + 2) for i in range(keys.shape[1])]
    )
    order = np.argsort(group, kind="stable")
    group, count = group[order], count[order]
    first = np.searchsorted(group, np.arange(groups))
    classes = CountedClasses(
        columns=(),
        values=values,
        codes=[],
        sizes=add_up(group, count, groups),
        group=group.astype(np.int64),
        count=count.astype(np.int64),
        secret={name: codes[kept][order] for name, codes in secret.items()},
    )
    return JointGroups(classes, keys[order][first], divided, changing, changed_too=len(several) > 1)


def _divided(labels: IntArray, changing: int, changed: NDArray[np.bool_]) -> int:
    """Return how many changed classes of a release have people in different classes of the others."""
    some = labels[:, changing] >= 0
    some[some] = changed[labels[some, changing]]
    pairs = np.unique(labels[some], axis=0)
    return int((np.bincount(pairs[:, changing], minlength=1) > 1).sum()) if pairs.size else 0


def _with_missing(values: pl.Series) -> tuple[pl.Series, int]:
    """Return distinct values with a missing one, and its index."""
    if values.null_count():
        return values, int(values.is_null().arg_max() or 0)
    return pl.concat([values, pl.Series(values.name, [None], dtype=values.dtype)]), len(values)
