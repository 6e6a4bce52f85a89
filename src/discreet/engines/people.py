"""Whose rows they are: from counts by tuple and person to :class:`People`, numbered by the codes of their rows alone.

Memory is 12 bytes for each pair of tuple and person, 8 for each triple with a sensitive value and 8 for each person:
28 MB per million people whose quasi-identifiers do not vary, with one sensitive column. While they are counted it is
about four times as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import People, PersonValues
from discreet.errors import DataError
from discreet.runtime.integer_codes import add_up, compact, distinct
from discreet.runtime.plurals import amount, units

__all__ = ["CountedPeople", "RowGroups", "ValueCodes", "check_present", "count_people_of_rows"]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
"""The constants of the hash splitmix64."""


class RowGroups(NamedTuple):
    """Groups of rows that are equal in all that is counted: their tuple, their person, and how many they are."""

    tuple: NDArray[np.int64]
    person: NDArray[np.int64]
    rows: NDArray[np.int64]
    tuples: int
    """The number of tuples."""


class ValueCodes(NamedTuple):
    """A sensitive column: the code of the value of each group, -1 if it is unknown, and the number of codes."""

    code: NDArray[np.int64]
    cardinality: int


class CountedPeople(NamedTuple):
    """The people of a table."""

    column: str
    """What says whose row it is."""
    people: People
    numbers: NDArray[np.int64]
    """The number that the engine has for each person."""

    @property
    def own_rows(self) -> bool:
        """Whether every person has a single row, so that people are rows."""
        return bool(self.people.constant and (self.people.rows == 1).all())


def check_present(column: str, role: str, groups: pl.DataFrame, size: str) -> None:
    """Refuse rows that do not say whose they are."""
    missing = int(groups[size].filter(groups[column].is_null()).sum())
    if missing:
        raise DataError(
            f"Column '{column}', which says whose row it is, has no value in {amount(missing, 'row')}, so that nobody "
            f"can count {units(role)}; fill it in, give each of those rows a value of its own, or leave them out.",
            column=column,
            topic="people",
        )


def count_people_of_rows(column: str, groups: RowGroups, sensitive: Mapping[str, ValueCodes]) -> CountedPeople:
    """Return who has rows with each tuple and with which sensitive values; the ``column`` says whose they are."""
    person, count = compact(groups.person, int(groups.person.max()) + 1)
    numbers = np.empty(count, dtype=np.int64)
    first, last = np.full(count, groups.tuples, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    np.minimum.at(first, person, groups.tuple)
    np.maximum.at(last, person, groups.tuple)
    rank = _in_order(groups._replace(person=person), first, sensitive.values())
    numbers[rank[person]] = groups.person
    person = rank[person]
    if (first == last).all():  # in order of their tuples, so that people are pairs
        pair, pairs = person, count
    else:
        pair, pairs = compact(groups.tuple * count + person, groups.tuples * count)
    example = np.empty(pairs, dtype=np.int64)
    example[pair] = np.arange(pair.size)
    entries = _Pairs(pair, groups.tuple[example], person[example], groups.tuples)
    people = People(
        count=count,
        offsets=_offsets(entries.tuple, groups.tuples),
        members=entries.person.astype(np.int32),
        rows=add_up(pair, groups.rows, pairs),
        sensitive={name: _values(entries, codes, pairs > count) for name, codes in sensitive.items()},
    )
    return CountedPeople(column, people, numbers)


class _Pairs(NamedTuple):
    """The pair of tuple and person of each group, and the tuple and the person of each pair, in order."""

    of_groups: NDArray[np.int64]
    tuple: NDArray[np.int64]
    person: NDArray[np.int64]
    tuples: int


def _values(pairs: _Pairs, codes: ValueCodes, vary: bool) -> PersonValues:
    """Return the known values of a column with each tuple and person; tuples of a person may ``vary``."""
    known, width = codes.code >= 0, codes.cardinality
    triples = distinct(pairs.of_groups[known] * width + codes.code[known])
    of_pair, value = triples // width, triples % width
    whose = pairs.person[of_pair]
    by_person = distinct(whose * width + value) % width if vary else value
    return PersonValues(
        offsets=_offsets(pairs.tuple[of_pair], pairs.tuples),
        people=whose.astype(np.int32),
        values=value.astype(np.int32),
        totals=np.bincount(by_person, minlength=width),
    )


def _offsets(ordered: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return where the entries of each number begin, given the numbers of all in order."""
    return np.concatenate([[0], np.cumsum(np.bincount(ordered, minlength=size))])


def _in_order(groups: RowGroups, first: NDArray[np.int64], sensitive: Iterable[ValueCodes]) -> NDArray[np.int64]:
    """Return the new number of each person: by the first tuple, then by a hash of all that is counted of their rows.

    People with equal rows are interchangeable; they keep the order that the engine gave them.
    """
    hashed = _mixed(groups.tuple.astype(np.uint64))
    for codes in sensitive:
        hashed = _mixed(hashed ^ (codes.code + 1).astype(np.uint64))
    whole = np.zeros(first.size, dtype=np.uint64)
    np.add.at(whole, groups.person, hashed * groups.rows.astype(np.uint64))
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.lexsort((whole, first))] = np.arange(first.size)
    return rank


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers, by splitmix64."""
    with np.errstate(over="ignore"):
        mixed = numbers + _ODD
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIXERS[0]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIXERS[1]
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))
