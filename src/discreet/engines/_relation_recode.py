"""Carry a recoding out on an engine: joins with small tables, and never a row in Python.

Rows are told apart by numbers: every value of a column, null among them, has one, so that no join meets a null it
should find. Which rows of several equal ones are meant is decided by an order of all columns: rows that are the same in
all of them can stand for each other, and a plan gives the same whenever it is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import polars as pl

from discreet.engines._recoding import UNKNOWN, Parts, Recoding, Shares, as_text
from discreet.engines._relation import LookUp, Relation, dtype_of

__all__ = ["recode_relation"]

Frame = nw.LazyFrame[Any]


def recode_relation(relation: Relation, recoding: Recoding) -> Any:
    """Return the plan for a released table, under the names of the columns."""
    return _Recode(relation, recoding).plan()


class _Recode:
    """One recoding. Columns are only ever added on the way; ``out`` says what is released of each in the end."""

    def __init__(self, relation: Relation, recoding: Recoding) -> None:
        self.relation = relation
        self.recoding = recoding
        self.out = {column: nw.col(relation.plain(column)) for column in relation.columns}
        self.keys = {column: self._key_name(column) for column in recoding.keys}

    def plan(self) -> Any:
        """Put the plan together."""
        relation, recoding = self.relation, self.recoding
        frame = self._with_keys(relation.frame)
        if recoding.required:
            frame = frame.filter(*(~nw.col(self.keys[column]).is_null() for column in recoding.required))
        if recoding.shares is not None:
            frame = self._shared_out(frame, recoding.shares)
        parts = None if recoding.everything else recoding.parts
        books = _books(recoding.suppressed, None if parts is None else parts.classes)
        frame = self._released(frame, books, parts)
        if recoding.everything:
            frame = frame.head(0)
        elif recoding.suppressed is not None:
            classes = recoding.suppressed.select(_coded(recoding.suppressed, books))
            codes = [self._name("class", column) for column in recoding.suppressed.columns]
            frame = frame.join(relation.upload(classes), left_on=codes, right_on=classes.columns, how="anti")
        if parts is not None:
            frame = self._without_parts(frame, parts, books)
        return self._finished(frame)

    def _finished(self, frame: Frame) -> Any:
        """Select what is released; the type of a category lists all its values, those of suppressed rows too."""
        relation = self.relation
        kept = [column for column in relation.columns if column not in self.recoding.drop]
        told = {column: self.out[column].alias(relation.plain(column)) for column in kept}
        for column in kept:
            changed = column in self.recoding.changed or column in self.recoding.hidden
            if not changed and isinstance(relation.dtypes[relation.plain(column)], nw.Enum | nw.Categorical):
                told[column] = nw.col(relation.plain(column)).cast(nw.String)
        return relation.backend.renamed(frame.select(*told.values()).to_native(), kept)

    def _with_keys(self, frame: Frame) -> Frame:
        keys = {name: c for c, name in self.keys.items() if name != self.relation.plain(c)}
        frame = frame.with_columns(self.relation.key(c).alias(name) for name, c in keys.items()) if keys else frame
        for column in self.recoding.kept:
            if self.relation.dtypes[self.relation.plain(column)].is_float():
                self.out[column] = nw.col(self.keys[column])
        return frame

    def _released(self, frame: Frame, books: Mapping[str, pl.Series], parts: Parts | None) -> Frame:
        """Add the released values, and the numbers by which classes and parts of them are told apart."""
        tables = []
        for column, mapping in self.recoding.maps.items():
            if mapping.constant:
                self.out[column] = nw.lit(mapping.released[0], dtype=dtype_of(mapping.released))
                continue
            new = self._name("released", column)
            answers = {new: mapping.released}
            if column in books:
                answers[self._name("class", column)] = _numbers(mapping.released.cast(pl.String), books[column])
            tables.append(LookUp(self.keys[column], mapping.values, answers))
            self.out[column] = nw.col(new)
        for column, book in books.items():
            if column not in self.recoding.maps:
                tables.append(LookUp(self.keys[column], book, {self._name("class", column): _count_up(book)}))
        if parts is not None:
            for name, column in _told(parts).items():
                distinct = _distinct(parts.cells[name])
                tables.append(LookUp(self.keys[column], distinct, {f"part_{name}": _count_up(distinct)}))
            if not parts.records and parts.known.dtype != pl.String:
                text = parts.known.to_frame("known").select(as_text(pl.col("known"), parts.known.dtype)).to_series()
                tables.append(LookUp(self.keys[parts.column], parts.known, {"part_text": text}))
        return self.relation.look_up(frame, tables)

    def _without_parts(self, frame: Frame, parts: Parts, books: Mapping[str, pl.Series]) -> Frame:
        """Suppress parts of classes: one join tells which part each row is in, if any."""
        told = _told(parts)
        on = [self._name("class", column) for column in parts.classes.columns] + [f"part_{name}" for name in told]
        numbers = [_numbers(parts.cells[name], _distinct(parts.cells[name])).alias(f"book_{name}") for name in told]
        lines = pl.DataFrame([*_coded(parts.classes, books), *numbers])
        keys = dict(zip(on, lines.columns, strict=True))
        lines = lines.with_columns(part=parts.cells["part"], gone=parts.cells["count"])
        frame = self.relation.join(frame, lines, keys)
        part = nw.col("part")
        if parts.records:
            place = part.cum_count(reverse=True).over("part", order_by=self.relation.order)
            inside = frame.filter(~part.is_null()).with_columns(place=place)
            inside = inside.filter(nw.col("place") > nw.col("gone")).drop("place")
            return nw.concat([frame.filter(part.is_null()), inside])
        known = self.out[parts.column] if parts.known.dtype == pl.String else nw.col("part_text")
        self.out[parts.column] = nw.when(part.is_null()).then(known).otherwise(nw.lit(UNKNOWN))
        return frame

    def _shared_out(self, frame: Frame, shares: Shares) -> Frame:
        """Add what the group of each row shows; rows of suppressed groups are left out."""
        relation = self.relation
        codes = {column: self._name("code", column) for column in shares.codes}
        numbers = [LookUp(self.keys[c], each.values, {codes[c]: each.released}) for c, each in shares.codes.items()]
        frame = relation.look_up(frame, numbers)
        tuples = pl.DataFrame(
            {
                **{f"tuple_{code}": shares.tuples[column] for column, code in codes.items()},
                "tuple": pl.int_range(len(shares.group), eager=True),
                "main": shares.group,
            }
        ).with_columns(shared=pl.col("tuple").is_in(shares.dealt["tuple"].unique().implode()))
        frame = relation.join(frame, tuples, {code: f"tuple_{code}" for code in codes.values()})
        if shares.dealt.is_empty():
            frame = frame.with_columns(group=nw.col("main"))
        else:
            frame = self._dealt(frame, shares.dealt)
        frame = frame.filter(nw.col("group") >= 0)
        if not shares.shown:
            return frame
        new = {column: self._name("shown", column) for column in shares.shown}
        shown = pl.DataFrame(
            {"of": pl.int_range(shares.groups, eager=True), **{new[c]: values for c, values in shares.shown.items()}}
        )
        self.out |= {column: nw.col(name) for column, name in new.items()}
        return relation.join(frame, shown, {"group": "of"})

    def _dealt(self, frame: Frame, dealt: pl.DataFrame) -> Frame:
        """Add the group of each row; only rows of tuples that are shared are put in order for that."""
        alone = frame.filter(~nw.col("shared")).with_columns(group=nw.col("main"))
        place = nw.col("tuple").cum_count().over("tuple", order_by=self.relation.order)
        lines = dealt.select(
            pl.col("tuple").alias("of"), (pl.col("place") + 1).alias("at"), pl.col("group").alias("to")
        )
        several = frame.filter(nw.col("shared")).with_columns(place=place)
        several = self.relation.join(several, lines, {"tuple": "of", "place": "at"})
        several = several.with_columns(group=nw.coalesce("to", "main")).drop("place", "to")
        return nw.concat([alone, several])

    def _key_name(self, column: str) -> str:
        return self.relation.plain(column) if self.relation.same_as_key(column) else self._name("key", column)

    def _name(self, role: str, column: str) -> str:
        return f"{role}_{self.relation.plain(column)}"


def _books(*classes: pl.DataFrame | None) -> dict[str, pl.Series]:
    """Return the released values of each column by which suppressed classes are told apart."""
    values: dict[str, list[pl.Series]] = {}
    for frame in classes:
        for column in [] if frame is None else frame:
            values.setdefault(column.name, []).append(column)
    return {column: pl.concat(each).unique() for column, each in values.items()}


def _coded(classes: pl.DataFrame, books: Mapping[str, pl.Series]) -> list[pl.Series]:
    return [_numbers(column, books[column.name]).alias(f"book_{n}") for n, column in enumerate(classes)]


def _told(parts: Parts) -> dict[str, str]:
    """Return the columns by which a part of a class is told from others, and under which names its lines have them."""
    return {"value": parts.column, **({} if parts.label is None else {"label": parts.label})}


def _count_up(values: pl.Series) -> pl.Series:
    return pl.int_range(len(values), eager=True)


def _numbers(values: pl.Series, book: pl.Series) -> pl.Series:
    """Return the place of each value in a list of values, and null for others."""
    return values.replace_strict(book, _count_up(book), default=None, return_dtype=pl.Int64)


def _distinct(values: pl.Series) -> pl.Series:
    """Return the different values, in the same order each time."""
    return values.unique(maintain_order=True)
