"""Remove what a frame carries besides its cells, column names and index.

Unused categories and index levels, attributes, Arrow metadata and shared buffers may hold values of rows that were left
out, or of rows the frame was sliced from.
"""

from __future__ import annotations

import io
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from discreet.engines.columns import exactly

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["collect_alone", "forget_buffers", "forget_hidden", "own_text"]

_Text = TypeVar("_Text", pl.Expr, pl.Series)


def forget_buffers(frame: pl.DataFrame, done: Collection[str] = ()) -> pl.DataFrame:
    """Return a polars table in buffers of its own; columns that are ``done`` have them already.

    Text in polars points into buffers that keep the text of filtered rows. They would be included when the frame is
    pickled or written as Arrow.
    """
    kinds = {name: dtype for name, dtype in frame.schema.items() if name not in done and _has_text(dtype)}
    texts = [own_text(exactly(name)) for name, dtype in kinds.items() if dtype == pl.String]
    nested = [_own(frame[name]) for name, dtype in kinds.items() if dtype != pl.String]
    return frame.with_columns(*texts, *nested) if kinds else frame


def collect_alone(plan: pl.LazyFrame) -> pl.DataFrame:
    """Run a plan, and return its rows in buffers that hold nothing else; text is copied batch by batch."""
    texts = [name for name, dtype in plan.collect_schema().items() if dtype == pl.String]
    rows = plan.with_columns(own_text(exactly(name)) for name in texts).collect(engine="streaming")
    return forget_buffers(rows, texts)


def own_text(text: _Text) -> _Text:
    """Copy text into a buffer of its own; appending the empty string does that."""
    return text + ""


def _own(column: pl.Series) -> pl.Series:
    """Copy a column through an old Arrow layout, which stores only the text of its rows."""
    stream = io.BytesIO()
    column.to_frame().write_ipc_stream(stream, compat_level=pl.CompatLevel.oldest())
    stream.seek(0)
    values = pl.read_ipc_stream(stream).to_series()
    return values if values.dtype == column.dtype else values.cast(column.dtype)


def _has_text(dtype: Any) -> bool:
    if isinstance(dtype, pl.Struct):
        return any(_has_text(part) for part in dict(dtype).values())
    inner = getattr(dtype, "inner", None)
    return dtype in (pl.String, pl.Binary) if inner is None else _has_text(inner)


def forget_hidden(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Return a table without anything besides its cells, names and index; the original is not modified."""
    import narwhals as nw

    if frame.implementation.is_pyarrow():
        return nw.from_native(_arrow(frame.to_native()), eager_only=True)
    if frame.implementation.is_pandas_like():
        return nw.from_native(_pandas(frame.to_native()), eager_only=True)
    return frame


def _pandas(frame: Any) -> Any:
    frame = frame.copy(deep=False)
    frame.attrs = {}
    frame.columns = _index(frame.columns)
    frame.columns.names = [None] * frame.columns.nlevels
    for number in range(frame.shape[1]):
        column = frame.iloc[:, number]
        clean = _pandas_column(column)
        if clean is not column:
            frame.isetitem(number, clean)
    frame.index = _index(frame.index)
    return frame


def _pandas_column(column: Any) -> Any:
    if hasattr(column, "cat"):
        return column.cat.remove_unused_categories()
    arrow = getattr(column.dtype, "pyarrow_dtype", None)
    if arrow is not None and not _clean_type(arrow).equals(arrow, check_metadata=True):
        import pyarrow as pa

        values = _arrow_column(pa.chunked_array(column.array.__arrow_array__()))
        return type(column)(type(column.array)(values), index=column.index, name=column.name)
    if _holds_more(column):
        return type(column)(_copied_array(column.array), index=column.index, name=column.name)
    return column


def _holds_more(values: Any) -> bool:
    """Whether a pandas column or index shares an Arrow buffer with other values."""
    if not (hasattr(values.dtype, "pyarrow_dtype") or getattr(values.dtype, "storage", None) == "pyarrow"):
        return False
    array = values.array.__arrow_array__()
    return any(map(_is_cut, getattr(array, "chunks", [array])))


def _copied_array(array: Any) -> Any:
    """Copy a pandas array; taking all rows of a Series would return the same buffer."""
    return array.take(np.arange(len(array)))


def _is_cut(chunk: Any) -> bool:
    """Whether an Arrow array was sliced from a longer one, which it still holds."""
    return bool(chunk.get_total_buffer_size() > chunk.nbytes)


def _index(index: Any) -> Any:
    """Return a pandas index without unused categories and levels."""
    if hasattr(index, "remove_unused_categories"):
        return index.remove_unused_categories()
    if hasattr(index, "remove_unused_levels"):
        index = index.remove_unused_levels()
        return index.set_levels([_index(level) for level in index.levels])
    return type(index)(_copied_array(index.array), name=index.name) if _holds_more(index) else index.view()


def _arrow(table: Any) -> Any:
    import pyarrow as pa

    columns = [_arrow_column(column) for column in table.columns]
    fields = [
        pa.field(name, column.type, nullable=field.nullable)
        for name, column, field in zip(table.column_names, columns, table.schema, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields))


def _arrow_column(column: Any) -> Any:
    """Return an Arrow column without metadata, and with a dictionary of only the values that occur."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        values = column.cast(kind.value_type)
        found = values.dictionary_encode() if not pa.types.is_null(kind.value_type) else values
        return found.cast(pa.dictionary(kind.index_type, kind.value_type, kind.ordered))
    clean = _clean_type(kind)
    if clean.equals(kind, check_metadata=True):
        return pa.chunked_array([_alone(chunk) for chunk in column.chunks], type=kind)
    if clean.equals(kind):  # only metadata differs, which a cast would keep
        chunks = [_renewed(chunk, clean) for chunk in column.chunks]
        return pa.chunked_array(chunks, type=clean)
    return column.cast(clean)


def _alone(chunk: Any) -> Any:
    """Return an array that holds no values but its own."""
    import numpy as np
    import pyarrow as pa

    if not _is_cut(chunk):
        return chunk
    try:
        return chunk.take(pa.array(np.arange(len(chunk))))
    except NotImplementedError:
        return _renewed(chunk, chunk.type)


def _renewed(array: Any, kind: Any) -> Any:
    import pyarrow as pa

    return pa.array(array.to_pylist(), type=kind)


def _clean_type(kind: Any) -> Any:
    """Return an Arrow type without metadata and dictionaries."""
    import pyarrow as pa

    def inner(field: Any) -> Any:
        return pa.field(field.name, _clean_type(field.type), nullable=field.nullable)

    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_struct(kind):
        return pa.struct([inner(part) for part in kind])
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(inner(kind.value_field), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(inner(kind.value_field))
    if pa.types.is_list(kind):
        return pa.list_(inner(kind.value_field))
    if pa.types.is_map(kind):
        return pa.map_(_clean_type(kind.key_type), _clean_type(kind.item_type))
    return kind
