"""Who is attacked where people are counted: each person once, by what is known of one of their rows."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from discreet.counts import IntArray
from discreet.engines import open_source, relation_of, to_lazy
from discreet.errors import DiscreetError, MissingColumnError
from discreet.evaluate.attacks._target import candidates_of
from discreet.evaluate.candidates import Candidates, find_candidates
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.evaluate.inputs import EvaluationInput
from discreet.evaluate.row_classes import class_of_rows, draw_rows
from discreet.runtime.locations import is_url
from discreet.schema import parts_of

__all__ = ["AttackedPeople", "attack_people", "unit_of"]


@dataclass(frozen=True, eq=False)
class AttackedPeople:
    """The people of both tables, and the row by which each is attacked."""

    unit: str
    """``person`` or ``household``."""
    before: CountedClasses
    """The drawn rows: one of each person."""
    everybody: CountedClasses
    """All original rows, counted in people."""
    after: CountedClasses
    """The release, counted in people."""
    candidates: Candidates
    """The released classes that cover the drawn rows."""
    of_everybody: Candidates
    drawn: IntArray
    """The number of each drawn row in the original table."""
    rows: pl.DataFrame
    """The drawn rows themselves."""


def unit_of(job: Mapping[str, Any], person: str | None, table: Any) -> tuple[str, str] | None:
    """Return the column that says whose row it is, and whether that is a person or a household; None without one."""
    if person is not None:
        columns = open_source(table).columns
        if person not in columns:
            raise MissingColumnError(person, columns)
        return person, "household" if person == job.get("household") else "person"
    named = [(str(job[role]), role) for role in ("household", "person") if job.get(role)]
    return named[0] if named else None


def attack_people(
    original: Any, released: Any, given: EvaluationInput, whose: tuple[str, str], seed: int
) -> AttackedPeople | None:
    """Count the people of both tables and draw a row of each; None if it is unknown whose the released rows are."""
    column, unit = whose
    if relation_of(original) is not None or (isinstance(original, str) and is_url(original)):
        return None
    rows = to_lazy(original).collect()
    if column not in rows.columns:
        return None
    counted = read_classes(open_source(rows), given.names, given.secrets)
    owned = _owned_rows(rows, counted, released, given, column)
    if owned is None:
        return None
    after = read_classes(open_source(owned), given.names, given.secrets, person=column)
    of_everybody = find_candidates(counted, after, given.hierarchies, given.types)
    drawn = draw_rows(rows, column, seed)
    before = read_classes(open_source(rows[drawn]), given.names, given.secrets)
    return AttackedPeople(
        unit=unit,
        before=before,
        everybody=read_classes(open_source(rows), given.names, given.secrets, person=column),
        after=after,
        candidates=candidates_of(of_everybody, before),
        of_everybody=of_everybody,
        drawn=drawn,
        rows=rows[drawn],
    )


def _owned_rows(
    rows: pl.DataFrame, counted: CountedClasses, released: Any, given: EvaluationInput, column: str
) -> Any | None:
    """Return the release with the column that says whose rows they are, if it has it or that can be found out."""
    if column in open_source(given.table).columns:
        return given.table
    rows_of = getattr(released, "rows_of", None)
    if rows_of is not None:
        with suppress(DiscreetError, pl.exceptions.PolarsError):
            frame = to_lazy(given.table).collect()
            return frame.with_columns(rows[column].gather(rows_of(rows).to_numpy()))
    after = read_classes(open_source(given.table), given.names, given.secrets)
    with suppress(DiscreetError):
        return _by_classes(rows, counted, after, given, column)
    return None


def _by_classes(
    rows: pl.DataFrame, counted: CountedClasses, after: CountedClasses, given: EvaluationInput, column: str
) -> pl.DataFrame | None:
    """Return the original rows with their released values, if it is plain which rows were released; None if not.

    It is if each is in one class at most and these are as large as they should be, without people who lost a row or
    with what is left of them.
    """
    class_of = np.full(counted.sizes.size, -1, dtype=np.int64)
    for some, index, found in find_candidates(counted, after, given.hierarchies, given.types).found():
        if (np.bincount(index, minlength=some.size) > 1).any():
            return None
        class_of[some[index]] = found
    of_row = class_of[class_of_rows(rows, counted)]
    losing = pl.DataFrame({"person": rows[column], "lost": of_row < 0}).select(pl.col("lost").any().over("person"))
    for kept in (of_row >= 0, ~losing.to_series().to_numpy()):
        if not np.array_equal(np.bincount(of_row[kept], minlength=after.sizes.size), after.sizes):
            continue
        shown = [
            after.values[name].gather(code[of_row[kept]]).alias(name)
            for name, code in zip(after.columns, after.codes, strict=True)
        ]
        parts = dict.fromkeys(part for name in given.secrets for part in parts_of(name, rows.columns))
        owned = rows.filter(pl.Series(kept)).select([*parts, column]).with_columns(shown)
        return owned if _same_values(read_classes(open_source(owned), given.names, given.secrets), after) else None
    return None


def _same_values(one: CountedClasses, other: CountedClasses) -> bool:
    """Whether two tables with the same classes have the same sensitive values in them."""

    def cells(classes: CountedClasses) -> pl.DataFrame:
        texts = {name: classes.texts(name).gather(code) for name, code in classes.secret.items()}
        frame = pl.DataFrame({"class": classes.group, "rows": classes.count, **texts})
        return frame.sort(frame.columns)

    return cells(one).equals(cells(other))
