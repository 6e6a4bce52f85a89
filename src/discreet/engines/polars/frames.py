"""Eager frames that narwhals knows (pandas, pyarrow, …); only key columns are converted to polars."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import narwhals as nw
import numpy as np
import polars as pl

from discreet.engines.columns import exactly, unused
from discreet.engines.metadata import forget_hidden
from discreet.engines.polars.count import check_keys
from discreet.engines.polars.pandas_index import index_levels, named_by_index, unnamed_columns, without_levels
from discreet.engines.polars.people import check_numbered, numbers_of
from discreet.engines.polars.recode import recode
from discreet.engines.polars.source import InMemorySource
from discreet.engines.recoding import Recoding
from discreet.errors import DataError, MissingColumnError, UsageError

__all__ = ["EagerSource"]

_PLAIN = (str, int, float, Decimal, datetime.date, datetime.time, datetime.timedelta, UUID, np.generic)
"""Types whose text shows the whole value."""


class EagerSource(InMemorySource):
    """A frame in memory. Index, column order and columns that are not recoded stay exactly as they are."""

    frame: nw.DataFrame[Any]

    def __init__(self, data: Any) -> None:
        frame = _wrap(data)
        super().__init__(frame, [column for column in frame.columns if isinstance(column, str)])
        self.wrapped = isinstance(data, nw.DataFrame)
        self.kind = frame.implementation.name.lower()
        self._converted: dict[str, pl.Series] = {}

    def number_people(self, columns: Sequence[str]) -> None:
        """Replace the values of some columns by numbers."""
        given = self.to_polars(columns)
        check_keys(given.schema, columns)
        for column in columns:
            check_numbered(given[column])
        numbers = given.select(numbers_of(given[column]) for column in columns)
        order = list(self.frame.columns)
        table = nw.from_arrow(numbers.to_arrow(compat_level=pl.CompatLevel.oldest()), backend=self.frame.implementation)
        self.frame = self.frame.with_columns(*table.iter_columns()).select(*map(nw.col, order))
        self._converted |= {column.name: column for column in numbers}

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> Any:
        """Return the released table."""
        index = unused("row", self.columns)
        named = self._named_by_index(recoding.drop)
        keys = self.to_polars(recoding.keys).with_row_index(index)
        released = recode(keys.with_columns(self.coded(recoding)).lazy(), replace(recoding, drop=())).collect()
        kept = (column for column in recoding.kept if self._differs(column, keys[column]))
        changed = [*recoding.changed, *kept, *recoding.hidden]
        order = [column for column in self.frame.columns if column not in recoding.drop]
        frame = self.frame.drop(*recoding.drop, *changed) if len(changed) < len(order) else self.frame
        if released.height < keys.height:
            frame = _gather_rows(frame, released[index])
        frame = forget_hidden(frame)
        if changed:
            table = released.select(map(exactly, changed)).to_arrow(compat_level=pl.CompatLevel.oldest())
            columns = nw.from_arrow(table, backend=frame.implementation).iter_columns()
            frame = frame.with_columns(*columns).select(*map(nw.col, order))
        if named:
            frame = nw.from_native(without_levels(frame.to_native(), named), eager_only=True)
        return frame if self.wrapped else frame.to_native()

    def of_kind(self, table: pl.DataFrame) -> Any:
        """Return another table as the same kind of frame."""
        native = nw.from_arrow(table.to_arrow(compat_level=pl.CompatLevel.oldest()), backend=self.frame.implementation)
        return native if self.wrapped else native.to_native()

    def index_levels(self, identifiers: Sequence[str]) -> tuple[dict[str, pl.Series], list[str]]:
        """Return the levels of a pandas index that are released with the rows, and the names of identifying ones.

        A default index has no levels.
        """
        if not self.frame.implementation.is_pandas_like():
            return {}, []
        named = self._named_by_index(identifiers)
        levels = index_levels(self.frame.to_native())
        return {name: values for name, values in levels.items() if name not in named}, named

    def unnamed_columns(self) -> dict[str, pl.Series]:
        """Return the columns whose names are not text."""
        return unnamed_columns(self.frame.to_native()) if self.frame.implementation.is_pandas_like() else {}

    def _named_by_index(self, identifiers: Sequence[str]) -> list[str]:
        pandas = self.frame.implementation.is_pandas_like()
        return named_by_index(self.frame.to_native(), identifiers) if pandas else []

    def to_polars(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return some or all columns as polars; refuse columns of mixed types."""
        wanted = self.frame.columns if columns is None else columns
        for column in wanted:
            if column not in self.frame.columns:
                raise MissingColumnError(column, self.columns)
            if column not in self._converted:
                self._converted[column] = self._convert(column)
        return pl.DataFrame({str(column): self._converted[column] for column in wanted})

    def _for_profile(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return columns as polars, with those of mixed types as text."""
        with suppress(DataError):
            return self.to_polars(columns)
        found = {}
        for column in columns:
            try:
                found[column] = self.to_polars([column])[column]
            except DataError:
                found[column] = _mixed(column, self.frame.get_column(column).to_list())
        return pl.DataFrame(found)

    def _differs(self, column: str, converted: pl.Series) -> bool:
        """Whether a kept column must be released in its normalized form: equal objects may print differently."""
        if _has_nan(converted) or _has_negative_zero(converted):
            return True
        if self.frame.implementation.is_pandas_like() and converted.dtype != pl.String:
            return str(self.frame.to_native()[column].dtype) == "object"
        return False

    def _convert(self, column: str) -> pl.Series:
        if self.frame.implementation.is_pyarrow():
            self._check_arrow(column)
        try:
            return self.frame.get_column(column).to_polars()
        except NotImplementedError:
            raise self._unsupported(column) from None
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            raise DataError(
                f"Column '{column}' mixes values of different types; convert it to one, "
                f"as in frame['{column}'].astype(str).",
                column=column,
                topic="mixed-types",
            ) from None

    def _check_arrow(self, column: str) -> None:
        """Refuse Arrow types that polars does not support: it would panic and print a trace."""
        import pyarrow as pa

        kind = self.frame.to_native().schema.field(column).type
        if pa.types.is_decimal256(kind) or isinstance(kind, pa.BaseExtensionType):
            raise self._unsupported(column)

    def _unsupported(self, column: str) -> DataError:
        dtype = getattr(self.frame.get_column(column).to_native(), "dtype", None)
        kind = dtype if dtype is not None else self.frame.to_native().schema.field(column).type
        return DataError(
            f"Column '{column}' holds {kind} values, which cannot be read; turn them into text, numbers or dates "
            "first, or leave the column out of the frame.",
            column=column,
        )


def _mixed(column: str, values: Sequence[Any]) -> pl.Series:
    """Return values of several types as text, or as objects, which are not profiled, if one is not a plain value."""
    if any(value is not None and not isinstance(value, _PLAIN) for value in values):
        return pl.Series(column, values, pl.Object)
    return pl.Series(column, [None if value is None else str(value) for value in values], pl.String)


def _gather_rows(frame: nw.DataFrame[Any], indices: pl.Series) -> nw.DataFrame[Any]:
    """Return some rows, in order."""
    try:
        return frame[indices.to_numpy()]
    except NotImplementedError:  # pyarrow cannot take rows of views, but can convert them
        import pyarrow as pa

        native = frame.to_native()
        plain = [_without_views(field) for field in native.schema]
        return nw.from_native(native.cast(pa.schema(plain)).take(indices.to_arrow()), eager_only=True)


def _without_views(field: Any) -> Any:
    import pyarrow as pa

    kinds = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    return field.with_type(kinds.get(field.type, field.type))


def _wrap(data: Any) -> nw.DataFrame[Any]:
    """Return a frame as narwhals sees it. One that only speaks the Arrow PyCapsule interface becomes one of polars."""
    try:
        return nw.from_native(data, eager_only=True)
    except nw.exceptions.DuplicateError:
        name = _repeated_name(data)
        which = "two columns of the same name" if name is None else f"two columns named '{name}'"
        raise DataError(f"The frame has {which}; give every column its own name.", column=name) from None
    except TypeError:
        if hasattr(data, "__arrow_c_stream__"):
            return nw.from_native(pl.DataFrame(data), eager_only=True)
        raise UsageError(
            f"Data of type {type(data).__name__} cannot be read; give a path, or a frame of pandas, polars, pyarrow, "
            "DuckDB, Spark or Ibis."
        ) from None


def _repeated_name(data: Any) -> str | None:
    """Return the first name that two columns of a frame share, if the frame lists its names."""
    names = [str(name) for name in getattr(data, "column_names", getattr(data, "columns", ()))]
    return next((name for number, name in enumerate(names) if name in names[:number]), None)


def _has_nan(series: pl.Series) -> bool:
    return series.dtype.is_float() and bool(series.is_nan().any())


def _has_negative_zero(series: pl.Series) -> bool:
    return series.dtype.is_float() and bool((series.eq(0.0) & (1.0 / series < 0)).any())
