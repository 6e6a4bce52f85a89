"""Count and recode any eager frame narwhals knows (pandas, pyarrow, …); only key columns turn into polars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import polars as pl

from discreet.engines._forget import forget_hidden
from discreet.engines._index import index_levels, named_by_index, unnamed_columns, without_levels
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
        named = self._named_by_index(recoding.drop)
        keys = self.to_polars(recoding.keys).with_row_index(place)
        released = recode(keys.with_columns(self.coded(recoding)).lazy(), replace(recoding, drop=())).collect()
        kept = (column for column in recoding.kept if self._differs(column, keys[column]))
        changed = [*recoding.changed, *kept, *recoding.hidden]
        order = [column for column in self.frame.columns if column not in recoding.drop]
        frame = self.frame.drop(*recoding.drop, *changed) if len(changed) < len(order) else self.frame
        if released.height < keys.height:
            frame = _taken(frame, released[place])
        frame = forget_hidden(frame)
        if changed:
            table = released.select(map(exactly, changed)).to_arrow(compat_level=pl.CompatLevel.oldest())
            columns = nw.from_arrow(table, backend=frame.implementation).iter_columns()
            frame = frame.with_columns(*columns).select(*map(nw.col, order))
        if named:
            frame = nw.from_native(without_levels(frame.to_native(), named), eager_only=True)
        return frame if self.wrapped else frame.to_native()

    def index_levels(self, identifiers: Sequence[str]) -> tuple[dict[str, pl.Series], list[str]]:
        """Return what an index of pandas holds that leaves with the rows, and the levels that name people and do not.

        An index that only numbers the rows is none.
        """
        if not self.frame.implementation.is_pandas_like():
            return {}, []
        named = self._named_by_index(identifiers)
        levels = index_levels(self.frame.to_native())
        return {name: values for name, values in levels.items() if name not in named}, named

    def unnamed_columns(self) -> dict[str, pl.Series]:
        """Return the columns that are not named by text."""
        return unnamed_columns(self.frame.to_native()) if self.frame.implementation.is_pandas_like() else {}

    def _named_by_index(self, identifiers: Sequence[str]) -> list[str]:
        pandas = self.frame.implementation.is_pandas_like()
        return named_by_index(self.frame.to_native(), identifiers) if pandas else []

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
        if self.frame.implementation.is_pyarrow():
            self._check_arrow(column)
        try:
            return self.frame.get_column(column).to_polars()
        except NotImplementedError:
            raise self._strange(column) from None
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            raise DataError(
                f"Column '{column}' mixes values of different types; convert it to one, "
                f"as in frame['{column}'].astype(str).",
                column=column,
                topic="mixed-types",
            ) from None

    def _check_arrow(self, column: str) -> None:
        """Refuse types of Arrow that polars has no form for; it would end with a panic, which prints a trace."""
        import pyarrow as pa

        kind = self.frame.to_native().schema.field(column).type
        if pa.types.is_decimal256(kind) or isinstance(kind, pa.BaseExtensionType):
            raise self._strange(column)

    def _strange(self, column: str) -> DataError:
        dtype = getattr(self.frame.get_column(column).to_native(), "dtype", None)
        kind = dtype if dtype is not None else self.frame.to_native().schema.field(column).type
        return DataError(
            f"Column '{column}' holds {kind} values, which cannot be read; turn them into text, numbers or dates "
            "first, or leave the column out of the frame.",
            column=column,
        )


def _taken(frame: nw.DataFrame[Any], places: pl.Series) -> nw.DataFrame[Any]:
    """Return some rows, in their order."""
    try:
        return frame[places.to_numpy()]
    except NotImplementedError:  # types of pyarrow of which rows cannot be taken can be converted
        import pyarrow as pa

        native = frame.to_native()
        plain = [_without_views(field) for field in native.schema]
        return nw.from_native(native.cast(pa.schema(plain)).take(places.to_arrow()), eager_only=True)


def _without_views(field: Any) -> Any:
    import pyarrow as pa

    kinds = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    return field.with_type(kinds.get(field.type, field.type))


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
