"""Types for delimited text that DuckDB or Spark reads: conditions and casts in SQL.

polars infers the possible spellings of a column from the first released rows, and one query checks them in all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import polars as pl

from discreet.engines.text_types import DATE_FORMS, PATTERNS, SHORT, Spelling, Types

__all__ = ["SqlRows", "typed_relation"]


class SqlRows(Protocol):
    """What differs between engines that know SQL."""

    def quoted(self, name: str) -> str:
        """Return a column name as SQL."""

    def matches(self, text: str, pattern: str) -> str:
        """Return the condition that text matches a pattern."""

    def select(self, native: Any, expressions: Sequence[str], where: str = "", limit: int | None = None) -> Any:
        """Return a plan for some expressions."""

    def fetch(self, native: Any) -> pl.DataFrame:
        """Fetch the rows of a small plan."""

    def type_name(self, dtype: pl.DataType) -> str:
        """Return the SQL name of a type."""


def typed_relation(native: Any, rows: SqlRows, columns: Sequence[str], names: Sequence[str], types: Types) -> Any:
    """Return a plan with types for some ``columns``; ``names`` are those of all columns."""
    if types.destination == "csv" or not columns:
        return native
    seen = _of_start(native, rows, columns, types)
    chosen = types.chosen(seen)
    unsure = any(seen[column] and column not in chosen for column in types.given if column in seen)
    if unsure or not all(_all_fit(native, rows, list(chosen.items()), types)):
        chosen = _of_all(native, rows, seen, types)
    if not chosen:
        return native
    return rows.select(
        native,
        [
            f"{_cast(chosen[name], rows.quoted(name), rows)} AS {rows.quoted(name)}"
            if name in chosen
            else rows.quoted(name)
            for name in names
        ],
    )


def _of_all(
    native: Any, rows: SqlRows, seen: Mapping[str, frozenset[Spelling] | None], types: Types
) -> dict[str, Spelling]:
    """Return types that fit all rows, if the best ones of the first rows do not."""
    able = [(column, found) for column, each in seen.items() for found in each or ()]
    fits = _all_fit(native, rows, able, types)
    left = {
        column: frozenset(f for (c, f), ok in zip(able, fits, strict=True) if c == column and ok) for column in seen
    }
    for column in seen:
        types.check(column, left[column] if seen[column] is not None else None)
    return types.chosen(left)


def _all_fit(native: Any, rows: SqlRows, able: Sequence[tuple[str, Spelling]], types: Types) -> Sequence[Any]:
    """Return for each column and spelling whether all values have it."""
    if not able:
        return []
    checks = [_condition(found, rows.quoted(column), rows.matches, types) for column, found in able]
    checked = [f"coalesce(min(CASE WHEN {check} THEN 1 ELSE 0 END), 1) AS c{n}" for n, check in enumerate(checks)]
    return rows.fetch(rows.select(native, checked)).row(0)


def _of_start(
    native: Any, rows: SqlRows, columns: Sequence[str], types: Types
) -> Mapping[str, frozenset[Spelling] | None]:
    """Return the spellings of the first rows, or of the first values of columns that are empty there."""
    start = rows.fetch(rows.select(native, list(map(rows.quoted, columns)), limit=types.start))
    seen = {column: types.both(column, None, start.to_series(n)) for n, column in enumerate(columns)}
    for column in columns:
        if seen[column] is None and start.height == types.start:
            name = rows.quoted(column)
            some = rows.fetch(rows.select(native, [name], f"{name} IS NOT NULL", types.start))
            seen[column] = types.both(column, None, some.to_series())
    return seen


def _condition(found: Spelling, text: str, matches: Callable[[str, str], str], types: Types) -> str:
    """Return the condition that text is missing or has a spelling."""
    return f"{text} IS NULL OR ({_spelled(found, text, matches, types.destination == 'xlsx')})"


def _exponent_alike(text: str) -> str:
    """Return SQL that spells the exponent of a number one way: Spark prints 1.5E-5 where others print 1.5e-05."""
    return f"replace(replace(replace(lower({text}), 'e-0', 'e-'), 'e+0', 'e'), 'e+', 'e')"


def _spelled(found: Spelling, text: str, matches: Callable[[str, str], str], short: bool) -> str:
    dtype = found.dtype
    number = f"try_cast({text} AS double)"
    if found.form == "given":
        if isinstance(dtype, pl.Float64):
            return f"abs({number}) < 1e308"
        if isinstance(dtype, pl.Int64):
            return f"abs({number}) < 9e18 AND {number} = floor({number})"
        day = matches(text, PATTERNS["day"])
        clock = f"try_cast(replace({text}, 'Z', '') AS timestamp) IS NOT NULL AND " + matches(text, "^[0-9]{4}-")
        return f"{day} AND try_cast({text} AS date) IS NOT NULL" if isinstance(dtype, pl.Date) else clock
    length = f"length({text}) - CASE WHEN {text} LIKE '-%' THEN 1 ELSE 0 END"
    if isinstance(dtype, pl.Boolean):
        return f"{text} IN ('true', 'false')"
    if isinstance(dtype, pl.Int64):
        return matches(text, PATTERNS["short whole" if short else "whole"])
    if isinstance(dtype, pl.Float64):
        few = f"{length} <= {SHORT + 1}"
        printed, given = _exponent_alike(f"concat({number}, '')"), _exponent_alike(text)
        exact = few if short else f"({few} OR {printed} = {given} OR {printed} = concat({given}, '.0'))"
        return f"{matches(text, PATTERNS[found.form])} AND {exact}"
    if isinstance(dtype, pl.Decimal):
        fixed = matches(text, PATTERNS["fixed"].format(dtype.scale))
        return (
            f"{fixed} AND {length} <= {(SHORT if short else 18) + 1} AND NOT {matches(text, PATTERNS['negative zero'])}"
        )
    first = "1901" if short else "1000"
    if isinstance(dtype, pl.Date):
        return f"{matches(text, PATTERNS['day'])} AND {text} >= '{first}' AND try_cast({text} AS date) IS NOT NULL"
    clock = matches(text, DATE_FORMS[found.form])
    return f"{clock} AND {text} >= '{first}' AND try_cast({text} AS timestamp) IS NOT NULL"


def _cast(found: Spelling, text: str, rows: SqlRows) -> str:
    if found.form == "given" and isinstance(found.dtype, pl.Int64):
        text = f"CAST({text} AS double)"
    if found.form == "given" and isinstance(found.dtype, pl.Datetime):
        text = f"replace({text}, 'Z', '')"
    return f"CAST({text} AS {rows.type_name(found.dtype)})"
