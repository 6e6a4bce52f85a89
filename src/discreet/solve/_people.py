"""People in classes: counted for models, and suppressed with all their rows.

Numbers of people do not add up over tuples, unless everybody's quasi-identifiers are constant. So they are counted
afresh for each recoding, from the list of who has rows with which tuple; see :mod:`discreet.solve.kernels.people`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray, People, PersonValues
from discreet.problem import Classes
from discreet.problem.privacy import PrivacyModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.privacy.l_diversity import LDiversity
from discreet.runtime.integer_codes import add_up, numbered
from discreet.solve._kernel_loading import two_rows, warm_up
from discreet.solve.kernels.people import (
    ValueEntries,
    add_keys,
    add_rows_left,
    count_apart,
    count_people,
    count_values,
    count_values_apart,
    drop_people,
    peel,
)

__all__ = ["PeopleCounter", "TupleMembers", "load_people_kernels"]

_Mask = NDArray[np.bool_]
_SEED = 0x5EED
"""The random numbers of classes are always the same; whatever is found by them is evaluated exactly."""


@cache
def load_people_kernels() -> None:
    """Load the kernels, or compile them the first time ever, on a table of two rows."""
    warm_up("counting people", _count_two_rows)


def _count_two_rows() -> None:
    values = PersonValues(np.arange(3), np.arange(2), np.arange(2), np.ones(2, dtype=np.int64))
    people = People(2, np.arange(3), np.arange(2), np.ones(2, dtype=np.int64), {"s": values})
    counter = PeopleCounter(replace(two_rows(), people=people), people, ["s"])
    ids, models = np.zeros(2, dtype=np.int32), (LDiversity(2, "s"), KAnonymity(3, profile=True), KAnonymity(3))
    for model in models:
        counter.rows_left(counter.suppress(ids, 1, [model], 1))
    counter.classes_of(ids, ids, 1)


class TupleMembers(NamedTuple):
    """The people who have rows of each tuple, as compressed sparse rows."""

    offsets: NDArray[np.int64]
    members: NDArray[np.int64]


class PeopleCounter:
    """Counts the people of the classes of recodings of one table; ``columns`` are the sensitive ones to count by."""

    def __init__(self, table: CountTable, people: People, columns: Iterable[str] = ()) -> None:
        self.table, self.people = table, people
        self.columns = list(columns)
        self.person = people.members.astype(np.int32, copy=False)
        self.tuples = _owners(people.offsets)
        self.rows = people.rows.astype(np.int64, copy=False)
        if (np.diff(self.person) < 0).any():
            order = np.argsort(self.person, kind="stable")
            self.person, self.tuples, self.rows = self.person[order], self.tuples[order], self.rows[order]
        self._whole = TupleMembers(
            people.offsets.astype(np.int64, copy=False), people.members.astype(np.int64, copy=False)
        )
        self._stamp, self._last = 0, dict[str, NDArray[np.int64]]()
        self.first = np.searchsorted(self.person, np.arange(people.count + 1)).astype(np.int64)

    @cached_property
    def values(self) -> dict[str, _ByPerson]:
        """Who has which value of each sensitive column."""
        widths = {name: self.table.sensitive[name].cardinality for name in self.columns}
        return {name: _ByPerson(self.people.sensitive[name], width) for name, width in widths.items()}

    @cached_property
    def everybody(self) -> _Mask:
        """Nobody is suppressed."""
        return np.ones(self.people.count, dtype=np.bool_)

    def sizes(self, ids: IntArray, part: slice, alive: _Mask | None = None) -> NDArray[np.int64]:
        """Return the people of a part of the classes, given the class of each tuple."""
        alive = self.everybody if alive is None else alive
        return _counted(self.person, self.tuples, ids, alive, part)

    def classes(self, ids: IntArray, part: slice, alive: _Mask | None = None) -> Classes:
        """Return a part of the classes as models see them, given the class of each tuple."""
        if alive is None and self.people.constant:
            return self._added_up(ids, part)
        alive = self.everybody if alive is None else alive
        units = self.table.units
        sensitive, known = {}, {}
        for name, entries in self.values.items():
            sensitive[name] = entries.counts(ids, alive, part)
            if units.sensitive[name].overlaps:
                known[name] = _counted(entries.person, entries.tuples, ids, alive, part)
        return Classes(units, self.sizes(ids, part, alive), sensitive=sensitive, known=known)

    def _added_up(self, ids: IntArray, part: slice) -> Classes:
        """Return the same where everybody has one tuple, so that numbers of people add up."""
        count = part.stop - part.start
        here = np.flatnonzero((ids >= part.start) & (ids < part.stop))
        of_class = ids[here].astype(np.int64) - part.start
        values, totals = [], [add_up(of_class, each[here], count) for each in self.totals]
        for name in self.columns:
            histogram, width = self.table.units.sensitive[name], max(self.table.units.sensitive[name].cardinality, 1)
            length = np.diff(histogram.offsets)[here]
            entry = np.repeat(histogram.offsets[:-1][here] - np.cumsum(length) + length, length)
            entry += np.arange(entry.size)
            cell = np.repeat(of_class, length) * width + histogram.values[entry]
            values.append(add_up(cell, histogram.counts[entry], count * width).reshape(count, width))
        return self.from_sums(values, totals)

    @cached_property
    def totals(self) -> list[NDArray[np.int64]]:
        """The people of each tuple, and those with a known value of each column in which people may have several.

        Where everybody has one tuple, they add up to those of a class.
        """
        overlapping = [name for name in self.columns if self.table.units.sensitive[name].overlaps]
        return [self.table.units.weights, *map(self._people_with_value, overlapping)]

    def from_sums(self, values: Sequence[IntArray], totals: Sequence[NDArray[np.int64]]) -> Classes:
        """Return classes, given the people with each value of each column (c, v), and the :attr:`totals` of each."""
        overlapping = [name for name in self.columns if self.table.units.sensitive[name].overlaps]
        return Classes(
            self.table.units,
            totals[0],
            sensitive=dict(zip(self.columns, values, strict=True)),
            known=dict(zip(overlapping, totals[1:], strict=True)),
        )

    def _people_with_value(self, name: str) -> NDArray[np.int64]:
        """Return how many people of each tuple have a known value of a column, where everybody has one tuple."""
        has = np.zeros(self.people.count, dtype=np.bool_)
        has[self.people.sensitive[name].people] = True
        return np.bincount(self.tuples[has[self.person]], minlength=self.table.tuples)

    def classes_of(self, tuples: IntArray, owner: IntArray, count: int) -> Classes:
        """Return ``count`` classes as models see them, given tuples with the class of each, class by class.

        One tuple may be in several classes. This takes time in proportion to the tuples given, not to the table.
        """
        where, whose = tuples.astype(np.int32, copy=False), owner.astype(np.int32, copy=False)
        people, units = self.people, self.table.units
        stamp, sizes = self._stamp, self.sizes_of(where, whose, count)
        sensitive, known = {}, {}
        for name, each in self.values.items():
            sensitive[name] = np.zeros((count, each.width), dtype=np.int64)
            marks = self._marks(f"values of {name}", people.count * each.width)
            count_values_apart(each.entries, where, whose, stamp, marks, sensitive[name])
            if units.sensitive[name].overlaps:
                known[name] = np.zeros(count, dtype=np.int64)
                marks = self._marks(f"known of {name}", people.count)
                count_apart(each.entries.offsets, each.entries.people, where, whose, stamp, marks, known[name])
        return Classes(units, sizes, sensitive=sensitive, known=known)

    def sizes_of(
        self, tuples: IntArray, owner: IntArray, count: int, among: TupleMembers | None = None
    ) -> NDArray[np.int64]:
        """Return the people of ``count`` classes given in the same way; only those ``among`` whom are counted."""
        where, whose = tuples.astype(np.int32, copy=False), owner.astype(np.int32, copy=False)
        offsets, members = self._whole if among is None else among
        sizes = np.zeros(count, dtype=np.int64)
        stamp, self._stamp = self._stamp, self._stamp + count
        count_apart(offsets, members, where, whose, stamp, self._marks("", self.people.count), sizes)
        return sizes

    def members(self, alive: _Mask) -> TupleMembers:
        """Return the people of each tuple who are not suppressed."""
        there = alive[self._whole.members]
        return TupleMembers(np.concatenate([[0], np.cumsum(there)])[self._whole.offsets], self._whole.members[there])

    def _marks(self, what: str, size: int) -> NDArray[np.int64]:
        """Return for whom each mark was counted last; see :func:`count_apart`."""
        if what not in self._last:
            self._last[what] = np.full(size, -1, dtype=np.int64)
        return self._last[what]

    def suppress(
        self,
        ids: IntArray,
        count: int,
        models: Sequence[PrivacyModel],
        step: int,
        alive: _Mask | None = None,
        *,
        exact: bool = False,
    ) -> _Mask:
        """Return who is left once everybody in a class that breaks a model is suppressed, until none does.

        ``step`` classes are judged at a time; only those ``alive`` are there to begin with. Where models hold for any
        superset, those left are the largest set of people whose classes are all ok, and a larger one in every more
        general recoding. With ``exact`` profiles are not compared by hash.
        """
        alive = (self.everybody if alive is None else alive).copy()
        classes = ids.astype(np.int32, copy=False)
        profile = max((m.k for m in models if isinstance(m, KAnonymity) and m.profile), default=0)
        implied = all(type(model) is KAnonymity and model.k <= profile for model in models)
        numbers = self.profiles(classes, count, exact=exact) if profile > 1 else None
        while numbers is not None:
            # Whoever has a rare profile goes; the profiles of others stay as they are, and only get rarer.
            alive &= np.bincount(numbers[alive], minlength=int(numbers.max()) + 1)[numbers] >= profile
            before = np.count_nonzero(alive)
            if not implied:
                alive = self._suppress(classes, count, models, step, alive)
            if np.count_nonzero(alive) == before:
                return alive
        return self._suppress(classes, count, models, step, alive)

    def _suppress(
        self, ids: NDArray[np.int32], count: int, models: Sequence[PrivacyModel], step: int, alive: _Mask
    ) -> _Mask:
        """Do the same for classes alone."""
        if all(type(model) is KAnonymity for model in models):
            smallest = max((model.smallest(self.table) for model in models), default=1)
            sizes, last = self.sizes(ids, slice(0, count), alive), np.full(count, -1, dtype=np.int32)
            if sizes.min(initial=smallest) < smallest:
                peel(self.first, self.tuples, ids, smallest, last, sizes, alive)
            return alive
        while True:
            ok = np.ones(count, dtype=np.bool_)
            for begin in range(0, count, step):
                part = slice(begin, min(begin + step, count))
                classes = self.classes(ids, part, alive)
                ok[part] = np.logical_and.reduce([model.ok(classes) for model in models]) | (classes.sizes == 0)
            if not drop_people(self.person, self.tuples, ids, ok, alive):
                return alive

    def profiles(self, ids: NDArray[np.int32], count: int, *, exact: bool) -> NDArray[np.int64]:
        """Return the profile of each person, numbered: equal if they have equally many rows of every class.

        A search compares sums of random numbers, one for each row by its class: different profiles have different sums
        but for one in 2^64. What is released is compared exactly, class by class.
        """
        if not exact:
            keys = np.random.default_rng(_SEED).integers(0, 1 << 64, size=count, dtype=np.uint64)
            digest = np.zeros(self.people.count, dtype=np.uint64)
            add_keys(self.person, self.tuples, self.rows, ids, keys, digest)
            return np.unique(digest, return_inverse=True)[1].reshape(-1)
        cells, entry = np.unique(self.person.astype(np.int64) * count + ids[self.tuples], return_inverse=True)
        times = add_up(entry.reshape(-1), self.rows, cells.size)
        first = np.searchsorted(cells, np.arange(self.people.count) * np.int64(count))
        length = np.diff(first, append=cells.size)
        number = length.astype(np.int64)
        for at in range(int(length.max(initial=0))):
            some = np.flatnonzero(length > at)
            held = first[some] + at
            columns = [(number[some], int(number.max()) + 1), (cells[held] % count, count)]
            new, _ = numbered(some.size, [*columns, (times[held], int(times.max()) + 1)])
            number[some] = int(number.max()) + 1 + new
        return np.unique(number, return_inverse=True)[1].reshape(-1)

    def rows_left(self, alive: _Mask) -> NDArray[np.int64]:
        """Return the rows of each tuple that belong to those left."""
        left = np.zeros(self.table.tuples, dtype=np.int64)
        add_rows_left(self.person, self.tuples, self.rows, alive, left)
        return left


class _ByPerson:
    """Who has which value of a sensitive column with which tuple, in the order of people."""

    def __init__(self, values: PersonValues, width: int) -> None:
        order = np.argsort(values.people, kind="stable")
        owner = _owners(values.offsets)[order].astype(np.int64)
        self.width = max(width, 1)
        self.entries = ValueEntries(
            values.offsets.astype(np.int64), values.people.astype(np.int64), values.values.astype(np.int64)
        )
        self.person = values.people[order].astype(np.int32)
        self.tuples = owner.astype(np.int32)
        self.cell = owner * self.width + values.values[order]

    def counts(self, ids: IntArray, alive: _Mask, part: slice) -> NDArray[np.int64]:
        """Return how many people have each value in a part of the classes, (c, v)."""
        count = np.zeros((part.stop - part.start, self.width), dtype=np.int64)
        last = np.full(count.shape, -1, dtype=np.int32)
        count_values(self.person, self.cell, ids.astype(np.int32, copy=False), alive, part.start, last, count)
        return count


def _owners(offsets: IntArray) -> NDArray[np.int32]:
    """Return the tuple of each entry, given where those of each tuple begin."""
    return np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))


def _counted(
    person: NDArray[np.int32], tuples: NDArray[np.int32], ids: IntArray, alive: _Mask, part: slice
) -> NDArray[np.int64]:
    count = np.zeros(part.stop - part.start, dtype=np.int64)
    last = np.full(count.size, -1, dtype=np.int32)
    count_people(person, tuples, ids.astype(np.int32, copy=False), alive, part.start, last, count)
    return count
