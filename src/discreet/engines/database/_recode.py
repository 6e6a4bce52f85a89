"""A recoding as one SQL query, and the small tables it looks values up in.

A value is looked up in a table of distinct values; a missing one is told by the query itself, since nothing equals it.
Classes, groups and parts are joined by numbers, never by values, so that every join is a plain equality.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from discreet._places import TableName
from discreet.engines._names import unused
from discreet.engines._recoding import UNKNOWN, Parts, Recoding, Shares, ValueMap, as_text
from discreet.engines.database._session import Column, Session, quoted

__all__ = ["Recoded", "recode_query"]


@dataclass
class Recoded:
    """A query for the released rows; ``lookups`` must be temporary tables when it is run."""

    query: str
    columns: dict[str, pl.DataType]
    """The types of its columns for polars."""
    lookups: dict[str, pl.DataFrame] = field(default_factory=dict)


def recode_query(
    session: Session,
    table: TableName,
    columns: Sequence[Column],
    recoding: Recoding,
    *,
    only: Sequence[str] | None = None,
) -> Recoded:
    """Return the query that carries out a recoding of a table.

    With ``only`` it is made for polars: these columns, in a form it can read, and the rows in their order. Without,
    it is made for a table of the same database: all columns, and those that do not change keep their types.
    """
    return _Builder(session, table, columns, recoding, in_order=only is not None).build(only)


class _Builder:
    """Builds the query from the inside out: each step selects all there is so far and adds some columns."""

    def __init__(
        self, session: Session, table: TableName, columns: Sequence[Column], recoding: Recoding, in_order: bool
    ) -> None:
        self.session = session
        self.columns = {column.name: column for column in columns}
        self.recoding = recoding
        self.lookups: dict[str, pl.DataFrame] = {}
        self.taken = {column.name.lower() for column in columns}
        self.key = {column: self._name("key") for column in recoding.keys}
        self.place = self._name("place")
        parts, shares = recoding.parts, recoding.shares
        dealt = shares is not None and not shares.dealt.is_empty()
        first = [*map(quoted, self.columns)]
        if in_order or dealt or (parts is not None and parts.records):
            first.append(f"{self._position(table)} AS {self.place}")
        first += [f"{self.columns[name].read(quoted(name))} AS {alias}" for name, alias in self.key.items()]
        present = [f"{self.columns[name].read(quoted(name))} IS NOT NULL" for name in recoding.required]
        self.query = f"SELECT {', '.join(first)} FROM {quoted(table.schema, table.name)}" + _where(present)

    def _position(self, table: TableName) -> str:
        """Return SQL for the place of a row; rows of a view are put in the order of their values."""
        position = self.session.position(table)
        if position is not None:
            return position
        texts = (f"CAST({quoted(name)} AS {_text_type(self.session)})" for name in self.columns)
        return f"ROW_NUMBER() OVER (ORDER BY {', '.join(texts)})"

    def build(self, only: Sequence[str] | None) -> Recoded:
        """Put all steps together."""
        recoding = self.recoding
        shown: dict[str, str] = {}
        types: dict[str, pl.DataType] = {}
        if recoding.shares is not None:
            shown |= self._shared_out(recoding.shares)
            types |= {column: values.dtype for column, values in recoding.shares.shown.items()}
        shown |= self._mapped(recoding.maps)
        types |= {column: mapping.released.dtype for column, mapping in recoding.maps.items()}
        if recoding.everything:
            self._step([], where=["1 = 0"])
        elif recoding.suppressed is not None:
            self._without_classes(recoding.suppressed)
        if recoding.parts is not None and not recoding.everything:
            hidden = self._without_parts(recoding.parts)
            if hidden is not None:
                shown[recoding.parts.column] = hidden
                types[recoding.parts.column] = pl.String()
        outputs = []
        for name in [name for name in self.columns if name not in recoding.drop] if only is None else only:
            column = self.columns[name]
            plain = f"q.{quoted(name)}"
            if name in shown:
                value = shown[name]
            elif name in recoding.kept and not column.exact:  # classes must look as they are compared
                value = f"q.{self.key[name]}"
            elif only is not None or column.forgets:
                value = column.read(plain)
            else:
                value = plain
            outputs.append(f"{value} AS {quoted(name)}")
        kept = {
            name: types.get(name, column.dtype) for name, column in self.columns.items() if name not in recoding.drop
        }
        order = "" if only is None else f" ORDER BY q.{self.place}"
        return Recoded(f"SELECT {', '.join(outputs)} FROM ({self.query}) AS q{order}", kept, self.lookups)

    def _mapped(self, maps: Mapping[str, ValueMap]) -> dict[str, str]:
        """Look up what each value is released as."""
        new: dict[str, str] = {}
        shown: dict[str, str] = {}
        joins, checks = [], []
        for column, mapping in maps.items():
            if mapping.constant:
                shown[column] = self._literal(column, mapping.released[0], mapping.released.dtype)
                continue
            found = self._lookup(column, mapping.values, {"released": mapping.released})
            alias = self._name("released")
            new[alias] = found.expression("released")
            joins.append(found.join)
            checks.append(found.known)
            shown[column] = f"q.{alias}"
        if new:
            self._step([f"{value} AS {alias}" for alias, value in new.items()], joins, checks)
        return shown

    def _shared_out(self, shares: Shares) -> dict[str, str]:
        """Give every row the values its group shows; rows of suppressed groups are left out."""
        codes = {column: self._name("code") for column in shares.codes}
        found = {
            column: self._lookup(column, mapping.values, {"code": mapping.released})
            for column, mapping in shares.codes.items()
        }
        self._step(
            [f"{found[column].expression('code')} AS {alias}" for column, alias in codes.items()],
            [each.join for each in found.values()],
            [each.known for each in found.values()],
        )
        number, group, turn = self._name("tuple"), self._name("group"), self._name("turn")
        tuples = self._table(
            pl.DataFrame(
                {
                    **{f"c{place}": shares.tuples[column] for place, column in enumerate(codes)},
                    "tuple": pl.int_range(len(shares.group), eager=True),
                    "class": shares.group,
                }
            )
        )
        on = _same(list(codes.values()), tuples)
        self._step([f"{tuples}.tuple AS {number}", f"{tuples}.class AS {group}"], [f"JOIN {tuples} ON {on}"])
        chosen = f"q.{group}"
        if not shares.dealt.is_empty():
            self._step([f"ROW_NUMBER() OVER (PARTITION BY q.{number} ORDER BY q.{self.place}) - 1 AS {turn}"])
            dealt = self._table(shares.dealt.rename({"group": "class"}))
            last = self._name("group")
            self._step(
                [f"COALESCE({dealt}.class, q.{group}) AS {last}"],
                [f"LEFT JOIN {dealt} ON q.{number} = {dealt}.tuple AND q.{turn} = {dealt}.place"],
            )
            chosen = f"q.{last}"
        shown = {column: self._name("shown") for column in shares.shown}
        groups = self._table(
            pl.DataFrame(
                {
                    "class": pl.int_range(shares.groups, eager=True),
                    **{f"s{place}": values for place, values in enumerate(shares.shown.values())},
                }
            )
        )
        self._step(
            [f"{groups}.s{place} AS {alias}" for place, alias in enumerate(shown.values())],
            [f"JOIN {groups} ON {groups}.class = {chosen}"],
        )
        return {column: f"q.{alias}" for column, alias in shown.items()}

    def _without_classes(self, suppressed: pl.DataFrame) -> None:
        """Leave out the rows of some classes."""
        codes, numbers = self._class_codes(suppressed)
        table = self._table(_numbered(numbers).unique())
        self._step([], [f"LEFT JOIN {table} ON {_same(codes, table)}"], [f"{table}.c0 IS NULL"])

    def _without_parts(self, parts: Parts) -> str | None:
        """Suppress parts of classes; where values become unknown, return SQL for the column then."""
        codes, numbers = self._class_codes(parts.classes)
        cells = {"value": parts.column, "label": parts.label}
        told = {name: column for name, column in cells.items() if column is not None}
        for name, column in told.items():
            distinct = parts.cells[name].unique()
            code = pl.Series(range(len(distinct)), dtype=pl.Int64)
            found = self._lookup(column, distinct, {"code": code}, other=-1)
            alias = self._name("code")
            self._step([f"{found.expression('code')} AS {alias}"], [found.join])
            codes.append(alias)
            numbers.append(parts.cells[name].replace_strict(distinct, code, return_dtype=pl.Int64))
        table = self._table(_numbered(numbers).with_columns(parts.cells["part"], parts.cells["count"].alias("rows")))
        part, rows, turn = self._name("part"), self._name("rows"), self._name("turn")
        self._step(
            [f"{table}.part AS {part}", f"{table}.rows AS {rows}"], [f"LEFT JOIN {table} ON {_same(codes, table)}"]
        )
        if not parts.records:
            texts = pl.select(as_text(pl.lit(parts.known), parts.known.dtype)).to_series()
            known, text = self._lookup(parts.column, parts.known, {"text": texts}), self._name("text")
            value = f"CASE WHEN q.{part} IS NULL THEN {known.expression('text')} ELSE '{UNKNOWN}' END"
            self._step([f"{value} AS {text}"], [known.join], [known.known])
            return f"q.{text}"
        self._step([f"ROW_NUMBER() OVER (PARTITION BY q.{part} ORDER BY q.{self.place} DESC) AS {turn}"])
        self._step([], where=[f"(q.{part} IS NULL OR q.{turn} > q.{rows})"])
        return None

    def _class_codes(self, classes: pl.DataFrame) -> tuple[list[str], list[pl.Series]]:
        """Number the released values that tell some classes apart, in the rows and in the table of the classes."""
        aliases, new, joins, numbers = [], [], [], []
        for column in classes.columns:
            distinct = classes[column].unique()
            code = pl.Series(range(len(distinct)), dtype=pl.Int64)
            values, codes = distinct, code
            if column in self.recoding.maps:  # the class of an original value is that of what it is released as
                mapping = self.recoding.maps[column]
                values = mapping.values
                codes = mapping.released.replace_strict(distinct, code, default=-1, return_dtype=pl.Int64)
            found = self._lookup(column, values, {"code": codes}, other=-1)
            aliases.append(self._name("class"))
            new.append(f"{found.expression('code')} AS {aliases[-1]}")
            joins.append(found.join)
            numbers.append(classes[column].replace_strict(distinct, code, return_dtype=pl.Int64))
        if new:
            self._step(new, joins)
        return aliases, numbers

    def _lookup(
        self, column: str, values: pl.Series, results: Mapping[str, pl.Series], other: int | None = None
    ) -> _Lookup:
        """Put values and what goes with each into a table, to be joined by the key of a column."""
        table = pl.DataFrame({"value": values, **results})
        missing = table.filter(pl.col("value").is_null()).head(1)
        present = table.filter(pl.col("value").is_not_null())
        dtype = self.columns[column].dtype
        if present["value"].dtype != dtype:
            present = present.with_columns(pl.col("value").cast(dtype))
        name = self._table(present)
        key = f"q.{self.key[column]}"
        same = self.session.equal_text if dtype == pl.String else ""
        return _Lookup(
            name,
            f"LEFT JOIN {name} ON {key} = {name}.value{same}",
            key,
            {
                result: self._literal(column, missing[result][0] if missing.height else other, each.dtype)
                for result, each in results.items()
            },
            None if other is None else str(other),
        )

    def _literal(self, column: str, value: Any, dtype: pl.DataType) -> str:
        if value is None:
            return f"CAST(NULL AS {self.session.type_of(column, dtype)})"
        text = pl.Series([value], dtype=dtype).cast(pl.String)[0].replace("'", "''")
        return f"CAST('{text}' AS {self.session.type_of(column, dtype)})"

    def _step(self, new: Sequence[str], joins: Sequence[str] = (), where: Sequence[str] = ()) -> None:
        everything = ", ".join(["q.*", *new])
        self.query = " ".join([f"SELECT {everything} FROM ({self.query}) AS q", *joins]) + _where(where)

    def _table(self, rows: pl.DataFrame) -> str:
        name = f"discreet_lookup_{len(self.lookups)}"
        self.lookups[name] = rows
        return name

    def _name(self, what: str) -> str:
        """Return a name no column has."""
        name = unused(f"discreet_{what}_{len(self.taken)}", self.taken)
        self.taken.add(name)
        return name


@dataclass(frozen=True)
class _Lookup:
    """A table of values, and SQL to find what goes with a value in it."""

    table: str
    join: str
    key: str
    missing: Mapping[str, str]
    """SQL for what goes with a missing value."""
    other: str | None
    """SQL for what goes with a value that is not in the table."""

    @property
    def known(self) -> str:
        """SQL for whether a row has a value that could be looked up."""
        return f"({self.key} IS NULL OR {self.table}.value IS NOT NULL)"

    def expression(self, result: str) -> str:
        """Return SQL for what goes with the value of a row."""
        found = f"{self.table}.{result}"
        if self.other is not None:
            found = f"COALESCE({found}, {self.other})"
        return f"CASE WHEN {self.key} IS NULL THEN {self.missing[result]} ELSE {found} END"


def _numbered(columns: Sequence[pl.Series]) -> pl.DataFrame:
    """Return columns as a table in which they are called c0, c1, …."""
    return pl.DataFrame({f"c{place}": column for place, column in enumerate(columns)})


def _same(aliases: Sequence[str], table: str) -> str:
    """Return SQL for whether a row belongs to a line of such a table."""
    return " AND ".join(f"q.{alias} = {table}.c{place}" for place, alias in enumerate(aliases))


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _text_type(session: Session) -> str:
    return session.type_of("", pl.String())
