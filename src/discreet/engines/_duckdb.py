"""What DuckDB does in its own way."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from discreet.engines._relation import Join, left_joins
from discreet.errors import DataError, DiscreetError, UsageError

__all__ = ["DuckDB"]


class DuckDB:
    """Relations of DuckDB, on whatever connection they are."""

    kind = "duckdb"
    what = "The DuckDB relation"
    libraries = frozenset({"duckdb", "_duckdb"})
    one_file = True

    def folds_case(self, native: Any) -> bool:
        """Return True: names that differ in capitals alone are one."""
        return True

    def tells_nan(self, native: Any) -> bool:
        """Return True: there is NaN."""
        return True

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """Name the columns by their places."""
        return native.project(", ".join(f"#{place} AS {_quoted(name)}" for place, name in enumerate(names, 1)))

    def upload(self, native: Any, table: pl.DataFrame) -> Any:
        """Make the table known to the connection of a relation, which only a query on the relation can reach.

        DuckDB finds it by the name of the variable, and holds on to it for as long as the new relation lives.
        """
        uploaded = table.to_arrow()  # noqa: F841
        return native.query(f"discreet_{secrets.token_hex(8)}", "SELECT * FROM uploaded")

    def left_joins(self, frame: nw.LazyFrame[Any], joins: Sequence[Join]) -> nw.LazyFrame[Any]:
        """Join one by one."""
        return left_joins(frame, joins)

    def save(self, native: Any, path: Path) -> None:
        """Write one Parquet file, row group by row group; whole numbers Parquet has no form for become decimals."""
        wide = [
            f"CAST({_quoted(name)} AS DECIMAL(38, 0)) AS {_quoted(name)}"
            for name, dtype in zip(native.columns, native.types, strict=True)
            if dtype.id in ("hugeint", "uhugeint")
        ]
        rows = native.project(f"* REPLACE ({', '.join(wide)})") if wide else native
        rows.write_parquet(str(path), compression="zstd")

    def files(self, native: Any) -> list[Path]:
        """Return the files the text of the query names."""
        named = re.findall(r"'((?:[^']|'')*)'", native.sql_query())
        found = (match for name in named for match in glob(name.replace("''", "'").removeprefix("file://")))
        return [Path(name) for name in found]

    def explain(self, text: str) -> DiscreetError | None:
        """Say what went wrong."""
        if "Out of Memory" in text:
            return DataError("DuckDB needs more memory than it may take; set a higher memory_limit.")
        if "Table with name uploaded" in text:
            return UsageError(
                "The DuckDB connection does not look for tables in Python; allow it, as in "
                'connection.execute("SET python_enable_replacements = true").'
            )
        return None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
