"""The interface of an audited table, and the tables that polars groups: frames in memory, lazy frames and scans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from discreet.errors import DataError, DiscreetError, MissingColumnError, UsageError
from discreet.pipeline.audit.library_errors import reading
from discreet.pipeline.audit.values import by_name, grouped, plain
from discreet.pipeline.audit.weights import polars_sums
from discreet.runtime.machine_limits import check_room, within_memory

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["AuditedTable", "FrameTable", "LazyTable", "check_columns", "group", "in_batches", "uniqueness"]

_PIECE_BYTES = 1 << 27
_LEAST_BYTES = 1 << 24
_MERGED_BYTES = 1 << 25
_BATCH_ROWS = 1 << 18


class AuditedTable(Protocol):
    """A table that the audit reads."""

    @property
    def kind(self) -> str:
        """The engine that groups it, or the library of a frame."""

    @property
    def layout(self) -> str | None:
        """The format of the file it was read from."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Count the distinct combinations of some columns: their ``rows``, and each column under its name in ``by``.

        A missing value is a value. With ``weights``, their sum in ``millionths`` of people and the number of rows that
        have a weight (``weighed``) are added.
        """


def check_columns(wanted: Mapping[str, str], weights: str | None, columns: Sequence[str]) -> None:
    """Raise a MissingColumnError if the table lacks a column."""
    for column in (*wanted.values(), *([] if weights is None else [weights])):
        if column not in columns:
            raise MissingColumnError(column, list(columns))


def group(
    pieces: Iterator[pl.LazyFrame], schema: Mapping[str, pl.DataType], by: Mapping[str, str], weights: str | None = None
) -> pl.DataFrame:
    """Group pieces of a table one after the other, and merge the groups.

    Pieces have the columns under their own names. Memory holds one piece and the groups found so far.
    """
    keys = _grouped(by, schema)
    sums = [pl.len().cast(pl.Int64).alias("rows")]
    if weights is not None:
        keys.append(by_name(weights).alias("weight"))
        sums += polars_sums(weights, schema[weights])
    parts: list[pl.DataFrame] = []
    for piece in pieces:
        parts.append(piece.select(keys).group_by(list(by)).agg(sums).collect(engine="streaming"))
        first, *others = (int(part.estimated_size()) for part in parts)
        if sum(others) > first + _MERGED_BYTES:  # so that no group is merged often
            parts = [_merged(parts, list(by))]
    return plain(_merged(parts, list(by)))


def _grouped(wanted: Mapping[str, str], schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    return [grouped(column, schema[column]).alias(name) for name, column in wanted.items()]


def _merged(parts: Sequence[pl.DataFrame], by: list[str]) -> pl.DataFrame:
    """Merge the counts of several parts."""
    if len(parts) == 1:
        return parts[0]
    check_room(2 * sum(int(part.estimated_size()) for part in parts))
    return pl.concat(parts).lazy().group_by(by).agg(pl.exclude(by).sum()).collect(engine="streaming")


def in_batches(plan: pl.LazyFrame) -> Iterator[pl.LazyFrame]:
    """Run a plan once, and yield its rows in pieces that fit into memory."""
    batches = [pl.DataFrame(schema=plan.collect_schema())]
    size = 0
    for batch in plan.collect_batches(chunk_size=_BATCH_ROWS, maintain_order=False, lazy=True, engine="streaming"):
        batches.append(batch)
        size += int(batch.estimated_size())
        if size >= min(_PIECE_BYTES, max(within_memory(_PIECE_BYTES, 8), _LEAST_BYTES)):
            yield pl.concat(batches).lazy()
            batches, size = batches[:1], 0
    yield pl.concat(batches).lazy()


class LazyTable:
    """A lazy frame of polars; it is run for each grouping."""

    kind = "polars"
    layout: str | None = None

    def __init__(self, plan: pl.LazyFrame) -> None:
        self.plan = plan
        with self._reading():
            self.schema = plan.collect_schema()
        self.columns = self.schema.names()

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Group the rows piece by piece."""
        check_columns(by, weights, self.columns)
        read = dict.fromkeys([*by.values(), *([] if weights is None else [weights])])
        with self._reading():
            return group(in_batches(self.plan.select(map(by_name, read))), self.schema, by, weights)

    def cells(self, wanted: Mapping[str, str]) -> pl.DataFrame:
        """Return some columns of all rows under other names, as their values are compared."""
        check_columns(wanted, None, self.columns)
        with self._reading():
            return self.plan.select(_grouped(wanted, self.schema)).collect(engine="streaming")

    @staticmethod
    def _reading() -> Any:
        cause = "The lazy frame cannot be run; collect it by itself to see what is wrong with its plan."
        return reading("The lazy frame", lambda _: DataError(cause))


class FrameTable:
    """A frame in memory, of polars or of any library that narwhals knows."""

    layout: str | None = None

    def __init__(self, data: Any) -> None:
        self.frame = _wrap(data)
        self.kind = self.frame.implementation.name.lower()
        self.columns = [column for column in self.frame.columns if isinstance(column, str)]

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Group the rows."""
        check_columns(by, weights, self.columns)
        read = dict.fromkeys([*by.values(), *([] if weights is None else [weights])])
        table = pl.DataFrame({column: self._polars(column) for column in read})
        with reading("The frame"):
            return group(iter([table.lazy()]), table.schema, by, weights)

    def cells(self, wanted: Mapping[str, str]) -> pl.DataFrame:
        """Return some columns of all rows under other names, as their values are compared."""
        check_columns(wanted, None, self.columns)
        table = pl.DataFrame({column: self._polars(column) for column in dict.fromkeys(wanted.values())})
        return table.select(_grouped(wanted, table.schema))

    def plan(self) -> pl.LazyFrame:
        """Return all columns as a lazy frame of polars."""
        return pl.LazyFrame({column: self._polars(column) for column in self.columns})

    def _polars(self, column: str) -> pl.Series:
        values = self.frame.get_column(column)
        kind = getattr(values.to_native(), "dtype", None) or getattr(values.to_native(), "type", "other")
        if values.implementation.is_pyarrow() and _is_exotic(kind):  # which would make polars panic
            raise _unreadable(column, kind)
        try:
            return values.to_polars()
        except NotImplementedError:
            raise _unreadable(column, kind) from None
        except (ArithmeticError, TypeError, ValueError, pl.exceptions.PolarsError):
            hint = f"as in frame['{column}'].astype(str)."
            raise DataError(
                f"Column '{column}' mixes values of different types; convert it to one, {hint}",
                column=column,
                topic="mixed-types",
            ) from None


def _is_exotic(kind: Any) -> bool:
    """Whether a type of Arrow has no counterpart in polars."""
    import pyarrow as pa

    return pa.types.is_decimal256(kind) or isinstance(kind, pa.BaseExtensionType)


def _wrap(data: Any) -> nw.DataFrame[Any]:
    """Return a frame as narwhals sees it; raise an error for duplicate names and for other objects."""
    import narwhals as nw

    try:
        return nw.from_native(data, eager_only=True)
    except TypeError:
        if hasattr(data, "__arrow_c_stream__"):  # the Arrow PyCapsule interface
            return nw.from_native(pl.DataFrame(data), eager_only=True)
        raise UsageError(
            f"Data of type {type(data).__name__} cannot be read; give a path, or a frame of pandas, polars, pyarrow, "
            "DuckDB, Spark or Ibis."
        ) from None
    except nw.exceptions.DuplicateError:
        native: Any = getattr(data, "column_names", None) or getattr(data, "columns", ())
        (name, times), *_ = Counter(map(str, native)).most_common(1) or [("", 0)]
        which = f"two columns named '{name}'" if times > 1 else "two columns of the same name"
        raise DataError(
            f"The frame has {which}; give every column its own name.", column=name if times > 1 else None
        ) from None


def _unreadable(column: str, kind: Any) -> DataError:
    return DataError(
        f"Column '{column}' holds {kind} values, which cannot be read; turn them into text, numbers or dates "
        "first, or leave the column out of the frame.",
        column=column,
    )


def uniqueness(
    table: AuditedTable, columns: Sequence[str], unchanged: Sequence[str]
) -> tuple[dict[str, float], float | None]:
    """Return the share of rows that each column released unchanged singles out, and all columns together.

    Nothing is promised about these columns, so those that cannot be grouped are not measured.
    """
    present = [column for column in unchanged if column in table.columns]
    if not present:
        return {}, None
    try:
        cells = table.groups({f"c{i}": column for i, column in enumerate([*present, *columns])})
    except (DiscreetError, pl.exceptions.PolarsError):
        return {}, None
    each = {
        column: _single(cells.filter(pl.col(f"c{i}").is_not_null()).group_by(f"c{i}").agg(pl.col("rows").sum())["rows"])
        for i, column in enumerate(present)
    }
    return each, _single(cells["rows"]) if len(present) > 1 else None


def _single(rows: pl.Series) -> float:
    """Return the share of rows that are alone in their group."""
    return float((rows == 1).sum()) / max(int(rows.sum()), 1)
