"""Back end for Ibis tables, whatever database they are in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from discreet.engines.relation.relation import Join
from discreet.errors import DiscreetError, UsageError

__all__ = ["Ibis"]


class Ibis:
    """Ibis tables."""

    kind = "ibis"
    what = "The Ibis table"
    libraries = frozenset({"ibis", "duckdb", "_duckdb", "sqlite3", "psycopg", "psycopg2", "pyarrow"})
    one_file = True

    def folds_case(self, native: Any) -> bool:
        """Return False: a case-insensitive database has no two such columns."""
        return False

    def tells_nan(self, native: Any) -> bool:
        """Ask the database: SQLite has no NaN."""
        from ibis.expr.operations import IsNan

        return bool(native.get_backend().has_operation(IsNan))

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """Rename the columns."""
        return native.select([native[old].name(new) for old, new in zip(native.columns, names, strict=True)])

    def upload(self, native: Any, table: pl.DataFrame) -> Any:
        """Let Ibis upload the table when a plan with it is run."""
        import ibis

        return ibis.memtable(table.to_arrow())

    def left_joins(self, frame: nw.LazyFrame[Any], joins: Sequence[Join]) -> nw.LazyFrame[Any]:
        """Join all at once: nested joins would be too deep for SQLite to parse."""
        rows = joined = frame.to_native()
        columns = [rows[name] for name in rows.columns]
        for join in joins:
            table = join.table.to_native()
            joined = joined.left_join(table, [rows[left] == table[right] for left, right in join.on.items()])
            columns += [table[name] for name in table.columns if name not in join.on.values()]
        selected: nw.LazyFrame[Any] = nw.from_native(joined.select(columns))
        return selected

    def as_numbers(self, native: Any, column: str) -> Any:
        """Cast what can be cast, if the database has TRY_CAST."""
        from ibis.expr.operations import TryCast

        if not native.get_backend().has_operation(TryCast):
            raise UsageError("The survey weights are text, which this database cannot try to read; make them numbers.")
        return native.mutate(**{column: native[column].try_cast("float64")})

    def estimate(self, native: Any, names: Sequence[str]) -> list[int]:
        """Estimate the distinct values and count the known ones."""
        counts = {f"{what}{i}": count for i, name in enumerate(names) for what, count in _counts(native[name])}
        found = native.aggregate(rows=native.count(), **counts).to_pyarrow().to_pylist()[0]
        return [int(figure or 0) for figure in (found["rows"], *(found[name] for name in counts))]

    def some_values(self, native: Any, name: str, parts: int) -> None:
        """Return None: not every database has a hash."""
        return

    def shuffled(self, native: Any, key: int) -> None:
        """Leave it to polars: not every database has a stable hash."""
        return

    def stream(self, native: Any) -> None:
        """Return None: not every database sends rows in batches."""
        return

    def save(self, native: Any, path: Path) -> None:
        """Write one Parquet file, batch by batch."""
        native.to_parquet(path)

    def files(self, native: Any) -> list[Path]:
        """Return nothing: a database does not know."""
        return []

    def explain(self, text: str) -> DiscreetError | None:
        """Keep the general message."""
        return None


def _counts(column: Any) -> list[tuple[str, Any]]:
    return [("distinct", column.approx_nunique()), ("known", column.count())]
