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

__all__ = ["CountedPeople", "CountedRows", "ValueCodes", "check_marks", "check_present", "count_people_of_rows"]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
"""The constants of the hash splitmix64."""


class CountedRows(NamedTuple):
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


def check_marks(column: str, marks: Mapping[str, int]) -> None:
    """Refuse texts that mean a missing value in several rows, which would be those of one person."""
    for mark in (mark for mark, rows in marks.items() if rows > 1):
        rows = amount(marks[mark], "row")
        raise DataError(
            f"Column '{column}', which says whose row it is, has the text {mark} in {rows}, which would count as one "
            "person; give each of those rows a value of its own, or leave them out.",
            column=column,
            topic="people",
        )


def count_people_of_rows(column: str, groups: CountedRows, sensitive: Mapping[str, ValueCodes]) -> CountedPeople:
    """Return who has rows with each tuple and with which sensitive values; the ``column`` says whose they are."""
    person, count = compact(groups.person, int(groups.person.max()) + 1)
    numbers, first = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    first[person] = groups.tuple
    constant = bool((first[person] == groups.tuple).all())
    if not constant:
        np.minimum.at(first, person, groups.tuple)
    order = _in_order(groups._replace(person=person), first, sensitive.values(), constant)
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    person = rank[person]
    numbers[person] = groups.person
    if constant:  # in order of their tuples, so that people are pairs
        entries = _Pairs(person, first[order], np.arange(count), groups.tuples)
    else:
        pair, pairs = compact(groups.tuple * count + person, groups.tuples * count)
        example = np.empty(pairs, dtype=np.int64)
        example[pair] = np.arange(pair.size)
        entries = _Pairs(pair, groups.tuple[example], person[example], groups.tuples)
    people = People(
        count=count,
        offsets=_offsets(entries.tuple, groups.tuples),
        members=entries.person.astype(np.int32),
        rows=add_up(entries.of_groups, groups.rows, entries.tuple.size),
        sensitive={name: _values(entries, codes, not constant) for name, codes in sensitive.items()},
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
    width, of_groups, code = codes.cardinality, pairs.of_groups, codes.code
    if (code < 0).any():
        of_groups, code = of_groups[code >= 0], code[code >= 0]
    of_pair, value = np.divmod(distinct(of_groups * width + code, pairs.tuple.size * width), width)
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


def _in_order(
    groups: CountedRows, first: NDArray[np.int64], sensitive: Iterable[ValueCodes], constant: bool
) -> NDArray[np.int64]:
    """Return the people by their first tuple, then by a hash of all that is counted of their rows.

    People with equal rows are interchangeable; they keep the order that the engine gave them. Where the tuple of
    everybody is ``constant``, the hash is that of the sensitive values alone.
    """
    hashed = None if constant else _mixed(np.arange(groups.tuples, dtype=np.uint64))[groups.tuple]
    for codes in sensitive:
        if hashed is None:
            hashed = _mixed(np.arange(codes.cardinality + 1, dtype=np.uint64))[codes.code + 1]
        else:
            hashed = _mixed(hashed ^ (codes.code + 1).astype(np.uint64))
    whole = np.zeros(first.size, dtype=np.uint64)
    if hashed is None:
        np.add.at(whole, groups.person, groups.rows.astype(np.uint64))
    else:
        np.add.at(whole, groups.person, hashed * groups.rows.astype(np.uint64))
    bits = np.uint64(groups.tuples.bit_length())
    key = (first.astype(np.uint64) << (np.uint64(64) - bits)) | (_mixed(whole) >> bits)
    order = np.argsort(key)
    run = np.cumsum(np.diff(key[order], prepend=key[order[:1]]) != 0)
    return np.sort(run * first.size + order) % first.size  # equal keys in order; a stable sort takes longer


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers, by splitmix64."""
    with np.errstate(over="ignore"):
        mixed = numbers + _ODD
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIXERS[0]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIXERS[1]
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))
