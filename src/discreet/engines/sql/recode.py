"""A recoding as one SQL query, and the small tables it joins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from discreet.engines.columns import unused
from discreet.engines.recoding import UNKNOWN, Lookup, PartsPlan, Recoding, SharesPlan, make_plan
from discreet.engines.sql.session import DatabaseColumn, Session, quoted
from discreet.runtime.locations import TableName

__all__ = ["RecodeQuery", "recode_query"]


@dataclass
class RecodeQuery:
    """A query for the released rows."""

    query: str
    columns: dict[str, pl.DataType]
    """The polars types of its columns."""
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    """The small tables it joins, by name."""

    @contextmanager
    def with_tables(self, session: Session) -> Iterator[None]:
        """Create the small tables as temporary ones while the query is run."""
        for name, rows in self.tables.items():
            session.create(name, rows.schema, temporary=True)
            session.load(name, rows.lazy())
            session.analyze(name)
        yield
        for name in self.tables:
            session.execute(f"DROP TABLE {name}")


def recode_query(
    session: Session,
    table: TableName,
    columns: Sequence[DatabaseColumn],
    recoding: Recoding,
    *,
    only: Sequence[str] | None = None,
) -> RecodeQuery:
    """Return the query that carries out a recoding of a table.

    With ``only`` the result is for polars: these columns, in a form it can read, and the rows in order. Without, it is
    for a table of the same database: all columns, and those that do not change keep their types.
    """
    return _QueryBuilder(session, table, columns, recoding, in_order=only is not None).build(only)


class _QueryBuilder:
    """Builds the query from the inside out: each step selects everything so far as ``q`` and adds some columns."""

    def __init__(
        self, session: Session, table: TableName, columns: Sequence[DatabaseColumn], recoding: Recoding, in_order: bool
    ) -> None:
        self.session = session
        self.columns = {column.name: column for column in columns}
        self.recoding = recoding
        self.tables: dict[str, pl.DataFrame] = {}
        self.taken = {column.name.lower() for column in columns}
        self.key = {column: self._name("key") for column in recoding.keys}
        self.alias: dict[str, str] = {}
        """The names that columns of the plan have in the query."""
        self.position = self._name("position")
        first = [f"{column.number or quoted(name)} AS {quoted(name)}" for name, column in self.columns.items()]
        if in_order or recoding.picks_rows:
            first.append(f"{self._position_in(table)} AS {self.position}")
        first += [f"{self.columns[name].key} AS {alias}" for name, alias in self.key.items()]
        self.query = f"SELECT {', '.join(first)} FROM {quoted(table.schema, table.name)}"
        if recoding.required:  # people are numbered before any row is left out
            self._step([], where=[f"q.{self.key[name]} IS NOT NULL" for name in recoding.required])

    def _position_in(self, table: TableName) -> str:
        """Return SQL for the position of a row; rows of a view are ordered by their values."""
        position = self.session.position(table)
        if position is not None:
            return position
        text = self.session.type_of("", pl.String())
        texts = (f"CAST({quoted(name)} AS {text})" for name in self.columns)
        return f"ROW_NUMBER() OVER (ORDER BY {', '.join(texts)})"

    def build(self, only: Sequence[str] | None) -> RecodeQuery:
        """Put the steps together."""
        recoding, plan = self.recoding, make_plan(self.recoding)
        released: dict[str, str] = {}
        types: dict[str, pl.DataType] = {}
        for column, people in plan.left_out.items():
            table = self._table(people.to_frame("person"))
            join = f"LEFT JOIN {table} ON q.{self.key[column]} = {table}.person"
            self._step([], [join], [f"{table}.person IS NULL"])
        if plan.shares is not None:
            released |= self._assign_groups(plan.shares)
            types |= {column: plan.shares.groups.schema[name] for column, name in plan.shares.shown.items()}
        if plan.lookups:
            self._look_up(plan.lookups)
        released |= {column: self._column(name) for column, name in plan.released.items()}
        released |= {column: self._literal(column, value[0], value.dtype) for column, value in plan.constants.items()}
        types |= {column: mapping.released.dtype for column, mapping in recoding.maps.items()}
        if plan.no_rows:
            self._step([], where=["1 = 0"])
        elif plan.suppressed is not None:
            table = self._table(plan.suppressed)
            names = plan.suppressed.columns
            self._step([], [f"LEFT JOIN {table} ON {self._same(names, table)}"], [f"{table}.{names[0]} IS NULL"])
        if plan.parts is not None:
            self._find_parts(plan.parts)
            if plan.parts.records:
                self._leave_out_parts()
            else:
                released[plan.parts.column] = self._hide_parts(plan.parts)
                types[plan.parts.column] = pl.String()
        names = [name for name in self.columns if name not in recoding.drop]
        outputs = [f"{self._output(name, released, only)} AS {quoted(name)}" for name in (only or names)]
        order = "" if only is None else f" ORDER BY q.{self.position}"
        return RecodeQuery(
            f"SELECT {', '.join(outputs)} FROM ({self.query}) AS q{order}",
            {name: types.get(name, self.columns[name].dtype) for name in names},
            self.tables,
        )

    def _output(self, name: str, released: Mapping[str, str], only: Sequence[str] | None) -> str:
        """Return SQL for a released column."""
        column, plain = self.columns[name], f"q.{quoted(name)}"
        if name in released:
            return released[name]
        if name in self.recoding.kept and not column.exact:  # released values must be equal where classes are
            return f"q.{self.key[name]}"
        return column.read(plain) if only is not None or column.forgets else plain

    def _assign_groups(self, shares: SharesPlan) -> dict[str, str]:
        """Add the released values of each row's group; rows of suppressed groups are left out."""
        self._look_up(shares.codes)
        codes = [name for lookup in shares.codes for name in lookup.results]
        tuples = self._table(shares.tuples)
        self._step(self._new(tuples, "tuple_id", "group_id"), [f"JOIN {tuples} ON {self._same(codes, tuples)}"])
        group = self._column("group_id")
        if shares.dealt is not None:
            tuple_id, nth, last = self._column("tuple_id"), self._name("nth"), self._name("group")
            self._step([f"ROW_NUMBER() OVER (PARTITION BY {tuple_id} ORDER BY q.{self.position}) AS {nth}"])
            dealt = self._table(shares.dealt)
            self._step(
                [f"COALESCE({dealt}.group_id, {group}) AS {last}"],
                [f"LEFT JOIN {dealt} ON {tuple_id} = {dealt}.tuple_id AND q.{nth} = {dealt}.nth"],
            )
            group = f"q.{last}"
        groups = self._table(shares.groups)
        self._step(self._new(groups, *shares.shown.values()), [f"JOIN {groups} ON {groups}.group_id = {group}"])
        return {column: self._column(name) for column, name in shares.shown.items()}

    def _find_parts(self, parts: PartsPlan) -> None:
        """Add the part of its class that each row belongs to, null for none."""
        self._look_up(parts.cells)
        table = self._table(parts.lines)
        keys = [name for name in parts.lines.columns if name not in ("part_id", "left_out")]
        self._step(self._new(table, "part_id", "left_out"), [f"LEFT JOIN {table} ON {self._same(keys, table)}"])

    def _leave_out_parts(self) -> None:
        """Leave out the last rows of each part."""
        part, nth = self._column("part_id"), self._name("nth")
        self._step([f"ROW_NUMBER() OVER (PARTITION BY {part} ORDER BY q.{self.position} DESC) AS {nth}"])
        self._step([], where=[f"({part} IS NULL OR q.{nth} > {self._column('left_out')})"])

    def _hide_parts(self, parts: PartsPlan) -> str:
        """Return SQL for the sensitive column, in which the values of parts become unknown."""
        self._look_up([parts.texts])
        text = self._column("part_text")
        return f"CASE WHEN {self._column('part_id')} IS NULL THEN {text} ELSE '{UNKNOWN}' END"

    def _look_up(self, lookups: Sequence[Lookup]) -> None:
        """Add the results of look-ups; a row without a match in a complete one is left out."""
        new, joins, checks = [], [], []
        for lookup in lookups:
            dtype, key = self.columns[lookup.column].dtype, f"q.{self.key[lookup.column]}"
            table = pl.DataFrame({"value": lookup.values, **lookup.results})
            null, known = table.filter(pl.col("value").is_null()), table.drop_nulls("value")
            if known.schema["value"] != dtype:
                known = known.with_columns(pl.col("value").cast(dtype))
            name = self._table(known)
            collation = self.session.equal_text if dtype == pl.String else ""
            joins.append(f"LEFT JOIN {name} ON {key} = {name}.value{collation}")
            if lookup.complete:
                checks.append(f"({key} IS NULL OR {name}.value IS NOT NULL)")
            for result, values in lookup.results.items():
                of_null = self._literal(lookup.column, null[result][0] if null.height else None, values.dtype)
                alias = self._alias(result)
                new.append(f"CASE WHEN {key} IS NULL THEN {of_null} ELSE {name}.{result} END AS {alias}")
        self._step(new, joins, checks)

    def _literal(self, column: str, value: Any, dtype: pl.DataType) -> str:
        if value is None:
            return f"CAST(NULL AS {self.session.type_of(column, dtype)})"
        text = pl.Series([value], dtype=dtype).cast(pl.String)[0].replace("'", "''")
        return f"CAST('{text}' AS {self.session.type_of(column, dtype)})"

    def _step(self, new: Sequence[str], joins: Sequence[str] = (), where: Sequence[str] = ()) -> None:
        columns = ", ".join(["q.*", *new])
        self.query = " ".join([f"SELECT {columns} FROM ({self.query}) AS q", *joins]) + _where(where)

    def _table(self, rows: pl.DataFrame) -> str:
        """Add a small table and return its name."""
        name = f"discreet_lookup_{len(self.tables)}"
        self.tables[name] = rows
        return name

    def _same(self, names: Sequence[str], table: str) -> str:
        """Return SQL for whether a row has the codes of a line of a table."""
        return " AND ".join(f"{self._column(name)} = {table}.{name}" for name in names)

    def _new(self, table: str, *names: str) -> list[str]:
        """Return SQL that adds columns of a joined table."""
        return [f"{table}.{name} AS {self._alias(name)}" for name in names]

    def _alias(self, name: str) -> str:
        """Choose a name in the query for a column of the plan."""
        self.alias[name] = self._name(name)
        return self.alias[name]

    def _column(self, name: str) -> str:
        """Return SQL for a column of the plan."""
        return f"q.{self.alias[name]}"

    def _name(self, what: str) -> str:
        """Return a name that no column has."""
        name = unused(f"discreet_{what}_{len(self.taken)}", self.taken)
        self.taken.add(name)
        return name


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
