"""A recoding as a view: the database recodes and counts classes whenever the view is read.

What values become is kept in small tables beside the view, not in its definition, which every user of a PostgreSQL
database can read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import polars as pl

from discreet.engines.columns import unused
from discreet.engines.sql.connect import connect, same_table
from discreet.engines.sql.session import DatabaseColumn, Session, quoted
from discreet.errors import OutputError
from discreet.runtime.locations import TableName, TableUrl

__all__ = ["CreatedView", "ViewColumn", "ViewPlan", "creating_view"]

_KNOWN, _MISSING, _OTHER = range(3)
"""The kinds of lines in a table of values."""
_LINES = {"kind", "value", "released", "code"}
"""The columns of such a table."""
_MOST = 100
"""How many such tables an earlier view is expected to have, at most."""
_LONGEST = 40
"""Names of the tables beside a view are longer than its own, and PostgreSQL cuts names off at 63 bytes."""


@dataclass(frozen=True, eq=False)
class ViewColumn:
    """What becomes of the values of a quasi-identifier; rows with any other value are left out."""

    known: pl.DataFrame
    """Columns ``value``, none missing, and ``released``."""
    missing: pl.Series | None = None
    """What a missing value becomes, as a series of one; None leaves its rows out."""
    other: pl.Series | None = None
    """What any other value becomes, as a series of one; None leaves its rows out."""

    def lines(self) -> pl.DataFrame:
        """Return the table of values: ``kind``, ``value``, ``released`` and ``code``, equal where labels are."""
        special = [(_MISSING, self.missing), (_OTHER, self.other)]
        tables = [self.known.with_columns(kind=pl.lit(_KNOWN, pl.Int16))]
        tables += [
            pl.DataFrame({"released": label}).with_columns(
                value=pl.lit(None, self.known.schema["value"]), kind=pl.lit(kind, pl.Int16)
            )
            for kind, label in special
            if label is not None
        ]
        lines = pl.concat([table.select("kind", "value", "released") for table in tables])
        return lines.with_columns(code=pl.col("released").rank("dense").fill_null(0).cast(pl.Int32))


@dataclass(frozen=True, eq=False)
class ViewPlan:
    """A view of a table: its columns, and the classes it shows."""

    shown: Sequence[str]
    """The columns of the view."""
    columns: Mapping[str, ViewColumn]
    """The quasi-identifiers."""
    suppressed: pl.DataFrame
    """Classes that are never shown, by the codes of their labels."""
    least: int
    """The rows that a class needs to be shown."""
    distinct: Mapping[str, int]
    """How many different values of sensitive columns it needs."""
    missing_is_value: bool
    """Whether a missing sensitive value counts as a value."""
    shuffled: bool
    """Whether rows are in another order each time."""


class CreatedView:
    """A view that others cannot see yet."""

    def __init__(self, session: Session, name: TableName, query: str) -> None:
        self.session = session
        self.name = name
        self.query = query

    def rows(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return what the view shows in some columns."""
        known = {column.name: column for column in self.session.columns(self.name)}
        reads = ", ".join(f"{known[name].read(quoted(name))} AS {quoted(name)}" for name in columns)
        query = f"SELECT {reads} FROM {quoted(self.name.schema, self.name.name)}"
        return self.session.fetch(query, {name: known[name].dtype for name in columns})


@contextmanager
def creating_view(url: TableUrl, name: TableName, plan: ViewPlan, *, overwrite: bool) -> Iterator[CreatedView]:
    """Create a view of a table and yield it; it is there once the block ends, and not if that fails."""
    if len(name.name.encode()) > _LONGEST:
        raise OutputError(f"The name of the view is longer than {_LONGEST} bytes; choose a shorter one.")
    target = replace(url, table=name)
    if same_table(url, target):
        raise OutputError(f"The view '{name}' would replace the table it reads; choose another name.")
    with connect(target, write=True) as session:
        columns = session.known_columns(url.table)
        beside = [_beside(name, str(number)) for number in range(len(plan.columns))]
        classes = _beside(name, "left_out")
        with session.transaction():
            _make_way(session, name, overwrite=overwrite)
            for table, column in zip(beside, plan.columns.values(), strict=True):
                _store(session, table, column.lines())
            _store(session, classes, plan.suppressed)
            query = _query(url.table, columns, plan, (beside, classes))
            session.execute(f"CREATE VIEW {quoted(name.schema, name.name)}{session.view_options} AS {query}")
            yield CreatedView(session, name, query)


def _beside(name: TableName, suffix: str) -> TableName:
    return TableName(f"{name.name}_values_{suffix}", name.schema)


def _make_way(session: Session, name: TableName, *, overwrite: bool) -> None:
    """Drop an earlier view of that name and the tables beside it; refuse to drop anything else."""
    classes = _beside(name, "left_out")
    if session.columns(name):
        if not overwrite:
            raise OutputError(f"There is a view or table '{name}' already; choose another name, or let it be replaced.")
        if session.is_table(name) or not session.columns(classes):
            raise OutputError(f"There is a table '{name}', or a view of your own; choose another name.")
        session.execute(f"DROP VIEW {quoted(name.schema, name.name)}")
    for table in (classes, *(_beside(name, str(number)) for number in range(_MOST))):
        known = {column.name for column in session.columns(table)}
        if not known:
            continue
        if table is not classes and known != _LINES:
            raise OutputError(f"There is a table '{table}', where the view would keep its values; choose another name.")
        session.execute(f"DROP TABLE {quoted(table.schema, table.name)}")


def _store(session: Session, table: TableName, rows: pl.DataFrame) -> None:
    """Create a small table that only its owner can read."""
    name = quoted(table.schema, table.name)
    session.create(name, rows.schema)
    session.load(name, rows.lazy())
    session.analyze(name)
    session.make_private(table)


def _query(
    table: TableName,
    columns: Sequence[DatabaseColumn],
    plan: ViewPlan,
    stored: tuple[Sequence[TableName], TableName],
) -> str:
    """Return the query of the view: recode, leave out suppressed classes, count, and show what has enough rows."""
    beside, classes = stored
    known = {column.name: column for column in columns}
    taken = {column.name.lower() for column in columns}

    def fresh(what: str) -> str:
        name = unused(f"discreet_{what}", taken)
        taken.add(name)
        return name

    selected, joins, conditions, codes = [], [], [], []
    released: dict[str, str] = {}
    for number, (name, column) in enumerate(plan.columns.items()):
        key, lines = known[name].read(f"t.{quoted(name)}"), f"v{number}"
        where = quoted(beside[number].schema, beside[number].name)
        joins.append(f"LEFT JOIN {where} AS {lines} ON {lines}.kind = {_KNOWN} AND {lines}.value = {key}")
        conditions += [] if column.missing is not None else [f"{key} IS NOT NULL"]
        conditions += [] if column.other is not None else [f"({key} IS NULL OR {lines}.kind IS NOT NULL)"]
        released[name] = _looked_up("released", key, lines, where)
        codes.append(fresh(f"code_{number}"))
        selected.append(f"{_looked_up('code', key, lines, where)} AS {codes[-1]}")
    for name in plan.shown:
        plain = f"t.{quoted(name)}"
        shown = known[name].read(plain) if known[name].forgets else plain
        selected.append(f"{released.get(name, shown)} AS {quoted(name)}")
    sensitive = {name: fresh(f"value_{number}") for number, name in enumerate(plan.distinct)}
    selected += [f"{known[name].read(f't.{quoted(name)}')} AS {alias}" for name, alias in sensitive.items()]
    recoded = f"SELECT {', '.join(selected)} FROM {quoted(table.schema, table.name)} AS t {' '.join(joins)}"
    recoded += f" WHERE {' AND '.join(conditions)}" if conditions else ""
    same = " AND ".join(f"s.code_{number} = r.{code}" for number, code in enumerate(codes))
    remaining = (
        f"SELECT r.* FROM ({recoded}) AS r WHERE NOT EXISTS "
        f"(SELECT 1 FROM {quoted(classes.schema, classes.name)} AS s WHERE {same})"
    )
    size, of_class = fresh("size"), f"PARTITION BY {', '.join(codes)}"
    counts, enough = [f"COUNT(*) OVER ({of_class}) AS {size}"], [f"{size} >= {plan.least}"]
    for number, (name, alias) in enumerate(sensitive.items()):
        counted = fresh(f"distinct_{number}")
        counts.append(f"{_distinct(alias, of_class, plan.missing_is_value)} AS {counted}")
        enough.append(f"{counted} >= {plan.distinct[name]}")
    return (
        f"SELECT {', '.join(map(quoted, plan.shown))} FROM (SELECT c.*, {', '.join(counts)} FROM ({remaining}) AS c) "
        f"AS w WHERE {' AND '.join(enough)}{' ORDER BY random()' if plan.shuffled else ''}"
    )


def _looked_up(what: str, key: str, lines: str, table: str) -> str:
    """Return SQL for the label or code of a value."""

    def of(kind: int) -> str:
        return f"(SELECT {what} FROM {table} WHERE kind = {kind})"

    return (
        f"CASE WHEN {key} IS NULL THEN {of(_MISSING)} WHEN {lines}.kind IS NULL THEN {of(_OTHER)} "
        f"ELSE {lines}.{what} END"
    )


def _distinct(value: str, of_class: str, missing_is_value: bool) -> str:
    """Return SQL for the number of different values in the class of a row.

    No database counts distinct values in a window. Ranks from both ends do: of d values, one with a smaller ones has
    the ranks a + 1 and d - a.
    """
    up = f"DENSE_RANK() OVER ({of_class} ORDER BY {value} ASC NULLS LAST)"
    down = f"DENSE_RANK() OVER ({of_class} ORDER BY {value} DESC NULLS FIRST)"
    some_missing = f"MAX(CASE WHEN {value} IS NULL THEN 1 ELSE 0 END) OVER ({of_class})"
    return f"({up} + {down} - 1{'' if missing_is_value else f' - {some_missing}'})"
