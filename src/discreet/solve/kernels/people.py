"""Counting the distinct people of classes, and suppressing people.

A person with rows of several tuples counts once in a class that joins them, so that numbers of people do not add up.
Entries (person, tuple) are visited in the order of people: the last person counted in a class is kept with it, and
an entry counts if its person is another one. That takes one pass without sorting, whatever the classes are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import kernel

__all__ = [
    "ValueEntries",
    "add_keys",
    "add_rows_left",
    "count_apart",
    "count_people",
    "count_values",
    "count_values_apart",
    "drop_people",
    "peel",
]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class ValueEntries(NamedTuple):
    """Who has which value with each tuple, as compressed sparse rows."""

    offsets: Ints
    people: Ints
    values: Ints


@kernel
def count_people(
    person: Codes, tuples: Codes, ids: Codes, alive: Flags, begin: int, last: Codes, count: Ints
) -> None:  # last, count OUT
    """Add up the people of the classes from ``begin`` on; ``last`` is -1 for each of them.

    Entries are in the order of people; ``ids`` is the class of each tuple.
    """
    for e in range(person.size):
        p, c = person[e], ids[tuples[e]] - begin
        if alive[p] and 0 <= c < count.size and last[c] != p:
            last[c] = p
            count[c] += 1


@kernel
def count_values(
    person: Codes, cell: Ints, ids: Codes, alive: Flags, begin: int, last: Codes, count: Ints
) -> None:  # last, count OUT
    """Add up the people of each value in the classes from ``begin`` on, (classes, values).

    The ``cell`` of an entry is its tuple times the number of values, plus its value.
    """
    width = count.shape[1]
    for e in range(person.size):
        p = person[e]
        if alive[p]:
            c = ids[cell[e] // width] - begin
            if 0 <= c < count.shape[0]:
                v = cell[e] % width
                if last[c, v] != p:
                    last[c, v] = p
                    count[c, v] += 1


@kernel
def count_apart(
    offsets: Ints, marks: Ints, tuples: Codes, owner: Codes, stamp: int, last: Ints, count: Ints
) -> None:  # last, count OUT
    """Add up the distinct marks of each owner; entries (tuple, owner) are owner by owner.

    The marks of tuple t are ``marks[offsets[t]:offsets[t + 1]]``. The owner a mark was counted for last is kept with
    the mark, as a number from ``stamp`` on that no earlier call has used.
    """
    for e in range(tuples.size):
        now = stamp + owner[e]
        for at in range(offsets[tuples[e]], offsets[tuples[e] + 1]):
            if last[marks[at]] != now:
                last[marks[at]] = now
                count[owner[e]] += 1


@kernel
def count_values_apart(
    entries: ValueEntries, tuples: Codes, owner: Codes, stamp: int, last: Ints, count: Ints
) -> None:  # last, count OUT
    """Add up the distinct people of each owner by value, (owners, values), in the same way."""
    width = count.shape[1]
    for e in range(tuples.size):
        now = stamp + owner[e]
        for at in range(entries.offsets[tuples[e]], entries.offsets[tuples[e] + 1]):
            mark = entries.people[at] * width + entries.values[at]
            if last[mark] != now:
                last[mark] = now
                count[owner[e], entries.values[at]] += 1


@kernel
def drop_people(person: Codes, tuples: Codes, ids: Codes, ok: Flags, alive: Flags) -> int:  # alive OUT
    """Suppress everybody who has a row in a class that is not ok; return how many are new."""
    dropped = 0
    for e in range(person.size):
        if alive[person[e]] and not ok[ids[tuples[e]]]:
            alive[person[e]] = False
            dropped += 1
    return dropped


@kernel
def peel(first: Ints, tuples: Codes, ids: Codes, smallest: int, last: Codes, count: Ints, alive: Flags) -> int:
    """Suppress people, with all their rows, until no class that is left has fewer than ``smallest`` people.

    The entries of person p are ``first[p]`` to ``first[p + 1] - 1``. ``count`` are the people of each class, and
    ``last`` is -1 for each. Returns how many are suppressed. Whoever is suppressed must be whichever order is
    followed: counts only fall, so that a class that is too small stays so.

    OUT: last, count, alive
    """
    gone, dropped, people = 0, 1, first.size - 1
    while dropped > 0:
        dropped = 0
        for p in range(people):
            if not alive[p]:
                continue
            fine = True
            for e in range(first[p], first[p + 1]):
                if count[ids[tuples[e]]] < smallest:
                    fine = False
                    break
            if fine:
                continue
            alive[p] = False
            dropped += 1
            for e in range(first[p], first[p + 1]):
                c = ids[tuples[e]]
                if last[c] != p:
                    last[c] = p
                    count[c] -= 1
        gone += dropped
    return gone


@kernel
def add_keys(
    person: Codes, tuples: Codes, rows: Ints, ids: Codes, keys: NDArray[np.uint64], digest: NDArray[np.uint64]
) -> None:  # digest OUT
    """Add up for each person the keys of the classes of all rows; sums overflow, as they may."""
    for e in range(person.size):
        digest[person[e]] += keys[ids[tuples[e]]] * np.uint64(rows[e])


@kernel
def add_rows_left(person: Codes, tuples: Codes, rows: Ints, alive: Flags, left: Ints) -> None:  # left OUT
    """Add up the rows of each tuple that belong to people who are not suppressed."""
    for e in range(person.size):
        if alive[person[e]]:
            left[tuples[e]] += rows[e]
