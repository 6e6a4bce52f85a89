"""People in classes: counted for models, and suppressed with all their rows.

Numbers of people do not add up over tuples, unless everybody's quasi-identifiers are constant. So they are counted
afresh for each recoding, from the list of who has rows with which tuple; see :mod:`discreet.solve.kernels.people`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray, People, PersonValues
from discreet.problem import Classes
from discreet.problem.privacy import PrivacyModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.solve.kernels.people import add_rows_left, count_people, count_values, drop_people, peel

__all__ = ["PeopleCounter"]

_Mask = NDArray[np.bool_]


class PeopleCounter:
    """Counts the people of the classes of recodings of one table; ``columns`` are the sensitive ones to count by."""

    def __init__(self, table: CountTable, people: People, columns: Iterable[str] = ()) -> None:
        self.table, self.people = table, people
        self.columns = list(columns)
        order = np.argsort(people.members, kind="stable")
        self.person = people.members[order].astype(np.int32)
        self.tuples = np.repeat(np.arange(table.tuples, dtype=np.int32), np.diff(people.offsets))[order]
        self.rows = people.rows[order].astype(np.int64)
        self.first = np.searchsorted(self.person, np.arange(people.count + 1)).astype(np.int64)
        self.values = {name: _ByPerson(people.sensitive[name], table.sensitive[name].cardinality) for name in columns}

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
        alive = self.everybody if alive is None else alive
        units = self.table.units
        sensitive, known = {}, {}
        for name, entries in self.values.items():
            sensitive[name] = entries.counts(ids, alive, part)
            if units.sensitive[name].overlaps:
                known[name] = _counted(entries.person, entries.tuples, ids, alive, part)
        return Classes(units, self.sizes(ids, part, alive), sensitive=sensitive, known=known)

    def suppress(self, ids: IntArray, count: int, models: Sequence[PrivacyModel], step: int) -> _Mask:
        """Return who is left once everybody in a class that breaks a model is suppressed, until none does.

        ``step`` classes are judged at a time. Where models hold for any superset, those left are the largest set of
        people whose classes are all ok, and a larger one in every more general recoding.
        """
        alive = self.everybody.copy()
        ids = ids.astype(np.int32, copy=False)
        if all(type(model) is KAnonymity for model in models):
            smallest = max((model.minimum_size for model in models), default=1)
            sizes, last = self.sizes(ids, slice(0, count)), np.full(count, -1, dtype=np.int32)
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

    def rows_left(self, alive: _Mask) -> NDArray[np.int64]:
        """Return the rows of each tuple that belong to those left."""
        left = np.zeros(self.table.tuples, dtype=np.int64)
        add_rows_left(self.person, self.tuples, self.rows, alive, left)
        return left


class _ByPerson:
    """Who has which value of a sensitive column with which tuple, in the order of people."""

    def __init__(self, values: PersonValues, width: int) -> None:
        order = np.argsort(values.people, kind="stable")
        owner = np.repeat(np.arange(values.offsets.size - 1), np.diff(values.offsets))[order]
        self.width = max(width, 1)
        self.person = values.people[order].astype(np.int32)
        self.tuples = owner.astype(np.int32)
        self.cell = owner * self.width + values.values[order]

    def counts(self, ids: IntArray, alive: _Mask, part: slice) -> NDArray[np.int64]:
        """Return how many people have each value in a part of the classes, (c, v)."""
        count = np.zeros((part.stop - part.start, self.width), dtype=np.int64)
        last = np.full(count.shape, -1, dtype=np.int32)
        count_values(self.person, self.cell, ids.astype(np.int32, copy=False), alive, part.start, last, count)
        return count


def _counted(
    person: NDArray[np.int32], tuples: NDArray[np.int32], ids: IntArray, alive: _Mask, part: slice
) -> NDArray[np.int64]:
    count = np.zeros(part.stop - part.start, dtype=np.int64)
    last = np.full(count.size, -1, dtype=np.int32)
    count_people(person, tuples, ids.astype(np.int32, copy=False), alive, part.start, last, count)
    return count
