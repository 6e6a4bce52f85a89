"""Count and recode any eager frame narwhals knows (pandas, pyarrow, …); only key columns turn into polars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import polars as pl

from discreet.engines._names import exactly, unused
from discreet.engines._polars import InMemorySource
from discreet.engines._recoding import Recoding, recode
from discreet.errors import DataError, MissingColumnError, UsageError

__all__ = ["EagerSource"]


class EagerSource(InMemorySource):
    """A frame in memory. Index, column order and columns that are not recoded stay exactly as they are."""

    frame: nw.DataFrame[Any]

    def __init__(self, data: Any) -> None:
        frame = _wrap(data)
        super().__init__(frame, [column for column in frame.columns if isinstance(column, str)])
        self.wrapped = isinstance(data, nw.DataFrame)
        self.kind = frame.implementation.name.lower()
        self._converted: dict[str, pl.Series] = {}

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> Any:
        """Return the released table."""
        place = unused("row", self.columns)
        keys = self.to_polars(recoding.keys).with_row_index(place)
        released = recode(keys.with_columns(self.coded(recoding)).lazy(), replace(recoding, drop=())).collect()
        kept = (column for column in recoding.kept if self._differs(column, keys[column]))
        changed = [*recoding.changed, *kept, *recoding.hidden]
        order = [column for column in self.frame.columns if column not in recoding.drop]
        frame = self.frame.drop(*recoding.drop, *changed) if len(changed) < len(order) else self.frame
        if released.height < keys.height:
            frame = _forget_categories(frame[released[place].to_numpy()])
        if changed:
            table = released.select(map(exactly, changed)).to_arrow()
            columns = nw.from_arrow(table, backend=frame.implementation).iter_columns()
            frame = frame.with_columns(*columns).select(*map(nw.col, order))
        return frame if self.wrapped else frame.to_native()

    def to_polars(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return some or all columns as polars, refusing those whose values are of more than one type."""
        wanted = self.frame.columns if columns is None else columns
        for column in wanted:
            if column not in self.frame.columns:
                raise MissingColumnError(column, self.columns)
            if column not in self._converted:
                self._converted[column] = self._convert(column)
        return pl.DataFrame({str(column): self._converted[column] for column in wanted})

    def _differs(self, column: str, converted: pl.Series) -> bool:
        """Whether a kept column must be released as it was compared: objects may look different and be equal."""
        if _has_nan(converted) or _has_negative_zero(converted):
            return True
        if self.frame.implementation.is_pandas_like() and converted.dtype != pl.String:
            return str(self.frame.to_native()[column].dtype) == "object"
        return False

    def _convert(self, column: str) -> pl.Series:
        try:
            return self.frame.get_column(column).to_polars()
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            raise DataError(
                f"Column '{column}' mixes values of different types; convert it to one, "
                f"as in frame['{column}'].astype(str).",
                column=column,
                topic="mixed-types",
            ) from None


def _wrap(data: Any) -> nw.DataFrame[Any]:
    try:
        return nw.from_native(data, eager_only=True)
    except nw.exceptions.DuplicateError:
        name = _repeated_name(data)
        which = "two columns of the same name" if name is None else f"two columns named '{name}'"
        raise DataError(f"The frame has {which}; give every column its own name.", column=name) from None
    except TypeError:
        raise UsageError(
            f"Data of type {type(data).__name__} cannot be read; give a path, or a frame of pandas, polars, pyarrow, "
            "DuckDB, Spark or Ibis."
        ) from None


def _repeated_name(data: Any) -> str | None:
    """Return the first name that two columns of a frame have, if the frame tells its names."""
    names = [str(name) for name in getattr(data, "column_names", getattr(data, "columns", ()))]
    return next((name for place, name in enumerate(names) if name in names[:place]), None)


def _has_nan(series: pl.Series) -> bool:
    return series.dtype.is_float() and bool(series.is_nan().any())


def _has_negative_zero(series: pl.Series) -> bool:
    return series.dtype.is_float() and bool((series.eq(0.0) & (1.0 / series < 0)).any())


def _forget_categories(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Take the categories out of column types that only rows now gone had: they are values of those rows."""
    native = frame.to_native()
    if frame.implementation.is_pyarrow():
        for place, column in enumerate(native.schema):
            if hasattr(column.type, "index_type"):
                rest = native[column.name].cast(column.type.value_type).dictionary_encode()
                native = native.set_column(place, column.name, rest.cast(column.type))
            elif _plain(column.type) != column.type:
                native = native.set_column(place, column.name, native[column.name].cast(_plain(column.type)))
        return nw.from_native(native, eager_only=True)
    if frame.implementation.is_pandas_like():
        native = native.copy(deep=False)
        for column in frame.columns:
            if hasattr(native[column], "cat"):
                native[column] = native[column].cat.remove_unused_categories()
            arrow = getattr(native[column].dtype, "pyarrow_dtype", None)
            if arrow is not None and _plain(arrow) != arrow:
                native[column] = native[column].astype(type(native[column].dtype)(_plain(arrow)))
        native.index = _index_without(native.index)
        return nw.from_native(native, eager_only=True)
    return frame


def _plain(kind: Any) -> Any:
    """Return a type of arrow with values in place of numbers of them in a dictionary, also in lists and records."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_struct(kind):
        return pa.struct([part.with_type(_plain(part.type)) for part in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_plain(kind.value_type)))
    return kind


def _index_without(index: Any) -> Any:
    """Return an index of pandas without the categories and levels that no row has any more."""
    if hasattr(index, "remove_unused_categories"):
        return index.remove_unused_categories()
    if not hasattr(index, "remove_unused_levels"):
        return index
    index = index.remove_unused_levels()
    return index.set_levels([_index_without(level) for level in index.levels])
