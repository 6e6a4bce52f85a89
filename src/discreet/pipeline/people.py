"""People in a release: who is left out with all rows, and pseudonyms."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines import ValueMap
from discreet.pipeline.recode import leaves_out_people
from discreet.report.columns import kept_rows
from discreet.report.notes import Caution
from discreet.runtime.plurals import units

if TYPE_CHECKING:
    from discreet.counts import CountTable, People
    from discreet.engines import Counted, Recoding
    from discreet.pipeline.prepare import Prepared
    from discreet.problem import Problem
    from discreet.schema import Schema
    from discreet.solve import Solution

__all__ = ["about_people", "draw_pseudonyms", "kept_pairs", "people_kept", "people_left_out", "with_people"]


def with_people(recoding: Recoding, prepared: Prepared, counted: Counted, solution: Solution, choices: str) -> Recoding:
    """Return a recoding that also leaves out suppressed people and replaces people by pseudonyms, if asked for.

    ``choices`` is the text of the job. Pseudonyms depend on it, on the seed and on the whole table: two releases that
    differ in anything have different ones, so that nobody can join them by pseudonym, or see by those that two releases
    have in common how many people were left out.
    """
    schema, seed = prepared.schema, prepared.settings.seed
    assert schema.unit is not None
    assert counted.owners is not None
    left_out = {}
    if leaves_out_people(counted, solution):
        left_out = {schema.unit: pl.Series(counted.owners.numbers[solution.suppressed_people], dtype=pl.Int64)}
    maps = dict(recoding.maps)
    table = _digest(counted) if schema.pseudonyms else ""
    for column in schema.pseudonyms:
        if column == schema.unit:
            numbers = pl.Series(counted.owners.numbers)
        else:
            numbers = prepared.source.count([column]).to_series(0)
        named = draw_pseudonyms(len(numbers), f"{seed} {column} {table} {choices}")
        maps[column] = ValueMap(numbers, named.set(numbers.is_null(), None) if numbers.null_count() else named)
    by_person = recoding.shares is not None and schema.unit in recoding.shares.codes
    needed = (schema.unit,) if left_out or by_person else ()
    return replace(recoding, maps=maps, left_out=left_out, numbered=tuple(dict.fromkeys([*schema.pseudonyms, *needed])))


def about_people(schema: Schema, counted: Counted, problem: Problem) -> Iterator[str]:
    """Yield what a user should know about whose rows they are."""
    if counted.owners is not None and counted.owners.own_rows:
        unit = units(schema.role(str(schema.unit)))
        yield f"Every row has a value of its own in '{schema.unit}', so that {unit} are rows."
    elif schema.pseudonyms and not problem.profile:
        yield Caution(
            "Whoever gets the release sees which rows are of the same person, by their pseudonyms. The promises hold "
            "for each row by itself: somebody who knows several rows of a person may find the person. "
            "k(5, profile=true) holds against that."
        )


def people_left_out(counted: Counted, solution: Solution, released: int | None) -> dict[str, int]:
    """Return how many people there are and how many of them are left out, by the fields of a release.

    ``released`` is the number of people that the audit found.
    """
    if counted.owners is None or released is None:
        return {}
    suppressed = counted.owners.people.count - released
    losing = _losing(counted, solution)
    return {
        "people": counted.owners.people.count,
        "suppressed_people": suppressed,
        "people_losing_rows": suppressed if losing is None else max(int(losing.sum()), suppressed),
        "people_missing_values": counted.dropped_people,
    }


def people_kept(counted: Counted, solution: Solution) -> int | None:
    """Return how many people a solution releases rows of; None if the counts do not say."""
    if counted.owners is None or solution.groups is not None or solution.inside is not None:
        return None
    people = counted.owners.people
    there = kept_pairs(people, counted.table, solution)
    if there is None:
        return None
    return int(np.count_nonzero(np.bincount(people.members[there], minlength=people.count)))


def kept_pairs(people: People, table: CountTable, solution: Solution) -> NDArray[np.bool_] | None:
    """Return which pairs of tuple and person have a released row; None if single rows of tuples go."""
    left = kept_rows(table, solution)
    if left is None:
        return None
    kept = ~_suppressed(people, solution)[people.members] & np.repeat(left > 0, people.of_tuples)
    if solution.groups is not None and solution.groups.of_pairs is not None:
        kept &= solution.groups.of_pairs >= 0
    return kept


def _losing(counted: Counted, solution: Solution) -> NDArray[np.bool_] | None:
    """Return who loses a row; None if the counts do not say, because single rows of tuples go."""
    assert counted.owners is not None
    people, left = counted.owners.people, kept_rows(counted.table, solution)
    if left is None:
        return None
    losing = _suppressed(people, solution)
    if solution.groups is not None and solution.groups.of_pairs is not None:
        losing[people.members[solution.groups.of_pairs < 0]] = True
        return losing
    losing[people.members[np.repeat(left == 0, people.of_tuples)]] = True
    return losing


def _suppressed(people: People, solution: Solution) -> NDArray[np.bool_]:
    """Return who is suppressed by number."""
    gone = np.zeros(people.count, dtype=np.bool_)
    if solution.suppressed_people is not None:
        gone[solution.suppressed_people] = True
    return gone


def _digest(counted: Counted) -> str:
    """Return a digest of a counted table: its values, how often they occur together, and for whom."""
    table, found = counted.table, hashlib.sha256()
    for domain in counted.domains.values():
        found.update(repr([*domain.labels[0]]).encode())
    arrays = [*table.codes, table.weights]
    for histogram in table.sensitive.values():
        arrays += [histogram.offsets, histogram.values, histogram.counts]
    if counted.owners is not None:
        people = counted.owners.people
        arrays += [people.offsets, people.members, people.rows]
    for array in arrays:
        found.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
    return found.hexdigest()


def draw_pseudonyms(count: int, secret: str) -> pl.Series:
    """Return distinct pseudonyms of 16 hexadecimal digits, drawn by a secret text that holds the seed of the job.

    Nobody without the seed can tell whose they are, or in which order people were.

    >>> draw_pseudonyms(2, "7").to_list() == draw_pseudonyms(2, "7").to_list() != draw_pseudonyms(2, "8").to_list()
    True
    """
    drawn: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
    wanted = count
    while drawn.size < count:  # two of 2**64 are rarely the same
        stream = hashlib.shake_256(f"discreet pseudonyms {secret}".encode()).digest(8 * wanted)
        found = np.frombuffer(stream, dtype="<u8")
        drawn = found[np.sort(np.unique(found, return_index=True)[1])][:count]
        wanted += count
    text = "".join(f"{number:016x}" for number in drawn.tolist())
    return pl.Series([text[start : start + 16] for start in range(0, 16 * count, 16)], dtype=pl.String)
