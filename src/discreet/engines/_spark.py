"""What Spark does in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import narwhals as nw
import polars as pl
from polars import selectors

from discreet.engines._relation import Join, left_joins
from discreet.errors import DiscreetError

__all__ = ["Spark"]


class Spark:
    """DataFrames of PySpark."""

    kind = "spark"
    what = "The Spark DataFrame"
    libraries = frozenset({"pyspark", "py4j"})
    one_file = False

    def folds_case(self, native: Any) -> bool:
        """Ask the session."""
        return native.sparkSession.conf.get("spark.sql.caseSensitive") != "true"

    def tells_nan(self, native: Any) -> bool:
        """Return True: there is NaN."""
        return True

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """Name the columns by their places."""
        return native.toDF(*names)

    def upload(self, native: Any, table: pl.DataFrame) -> Any:
        """Bring the table to the session; Spark knows no unsigned numbers."""
        return native.sparkSession.createDataFrame(table.cast({selectors.unsigned_integer(): pl.Int64}).to_arrow())

    def left_joins(self, frame: nw.LazyFrame[Any], joins: Sequence[Join]) -> nw.LazyFrame[Any]:
        """Join one by one."""
        return left_joins(frame, joins)

    def save(self, native: Any, path: Path) -> None:
        """Have the executors write a folder of Parquet files."""
        native.write.parquet(path.absolute().as_uri())

    def files(self, native: Any) -> list[Path]:
        """Ask the plan."""
        return [Path(unquote(urlparse(name).path)) for name in native.inputFiles() if name.startswith("file:")]

    def explain(self, text: str) -> DiscreetError | None:
        """Leave it at the general sentence."""
        return None
