"""Counts made by a database: GROUP BY, and the figures of a column profile."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from discreet.engines.columns import unused
from discreet.engines.sql.session import DatabaseColumn, Session, quoted
from discreet.engines.weights import HEAVIEST, MILLION, TOTALS, check_type
from discreet.errors import MissingColumnError
from discreet.runtime.locations import TableName
from discreet.schema import MISSING_MARKS

__all__ = ["count_marks", "count_rows", "count_values", "first_rows"]


def count_rows(
    session: Session, table: TableName, columns: Sequence[DatabaseColumn], by: Sequence[str], weights: str | None = None
) -> pl.DataFrame:
    """Have the database group a table by some columns and count; totals of ``weights`` follow the rows."""
    known = {column.name: column for column in columns}
    for name in (*by, *([] if weights is None else [weights])):
        if name not in known:
            raise MissingColumnError(name, known)
    keys = [known[name] for name in by]
    totals = {} if weights is None else _weight_totals(session, known[weights])
    counts = ["COUNT(*) AS n", *(f"{sql} AS {name}" for name, sql in totals.items())]
    rows = quoted(table.schema, table.name)
    if any(column.number is not None for column in keys):  # no GROUP BY takes a window function
        wanted = dict.fromkeys([*by, *([] if weights is None else [weights])])
        cells = [f"{known[name].number or quoted(name)} AS {quoted(name)}" for name in wanted]
        rows = f"(SELECT {', '.join(cells)} FROM {rows}) AS numbered"
    query = f"SELECT {', '.join([*_keys(keys), *counts])} FROM {rows}"
    if by:
        query += f" GROUP BY {', '.join(str(number + 1) for number in range(len(by)))}"
    types = {name: pl.Int64() if name in TOTALS[:2] else pl.Float64() for name in totals}
    counted = session.fetch(query, {**_types(keys), "n": pl.Int64(), **types})
    counted.columns = [*by, *(unused(name, by) for name in ("rows", *totals))]
    return counted


def first_rows(session: Session, table: TableName, columns: Sequence[DatabaseColumn], rows: int) -> pl.DataFrame:
    """Fetch the first rows of some columns."""
    query = f"SELECT {', '.join(_keys(columns))} FROM {quoted(table.schema, table.name)} LIMIT {rows}"
    found = session.fetch(query, _types(columns))
    found.columns = [column.name for column in columns]
    return found


def count_values(session: Session, table: TableName, column: DatabaseColumn) -> tuple[int, int, int, int]:
    """Return the numbers of rows, rows without a value, distinct values, and values that occur in one row only."""
    key = column.read(quoted(column.name))
    sizes = f"SELECT {key} AS c, COUNT(*) AS n FROM {quoted(table.schema, table.name)} GROUP BY 1"
    figures = {
        "n": "n",
        "missing": "CASE WHEN c IS NULL THEN n ELSE 0 END",
        "distinct": "CASE WHEN c IS NULL THEN 0 ELSE 1 END",
        "unique": "CASE WHEN c IS NOT NULL AND n = 1 THEN 1 ELSE 0 END",
    }
    sums = [f"CAST(COALESCE(SUM({sql}), 0) AS BIGINT) AS {quoted(name)}" for name, sql in figures.items()]
    query = f"SELECT {', '.join(sums)} FROM ({sizes}) AS sizes"
    rows, missing, distinct, unique = session.fetch(query, dict.fromkeys(figures, pl.Int64())).row(0)
    return rows, missing, distinct, unique


def count_marks(session: Session, table: TableName, column: DatabaseColumn) -> dict[str, int]:
    """Return the rows of each text that means a missing value."""
    if column.dtype != pl.String:
        return {}
    key = column.read(quoted(column.name))
    marks = ", ".join(f"'{mark}'" for mark in MISSING_MARKS)
    counts = f"SELECT {key} AS c, COUNT(*) AS n FROM {quoted(table.schema, table.name)} WHERE {key} IN ({marks})"
    found = session.fetch(f"{counts} GROUP BY 1", {"c": pl.String(), "n": pl.Int64()})
    return dict(found.iter_rows())


def _keys(columns: Sequence[DatabaseColumn]) -> list[str]:
    return [f"{column.read(quoted(column.name))} AS c{number}" for number, column in enumerate(columns)]


def _types(columns: Sequence[DatabaseColumn]) -> dict[str, pl.DataType]:
    return {f"c{number}": column.dtype for number, column in enumerate(columns)}


def _weight_totals(session: Session, column: DatabaseColumn) -> dict[str, str]:
    """Return SQL for the totals of a column of weights."""
    text = column.dtype == pl.String
    check_type(column.name, number=column.dtype.is_numeric(), text=text)
    value = column.read(quoted(column.name))
    number = session.as_number(value) if text else f"CAST({value} AS DOUBLE PRECISION)"
    valid = f"CASE WHEN {number} >= 0 AND {number} <= {HEAVIEST} THEN {number} END"
    millionths = session.whole(f"({valid}) * {float(MILLION)} + 0.5")
    totals = f"CAST(SUM({millionths}) AS BIGINT)", f"COUNT({millionths})", f"MIN({valid})", f"MAX({valid})"
    return dict(zip(TOTALS, totals, strict=True))
