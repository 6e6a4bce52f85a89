"""Outputs under a hidden name, and what a reader of their format gets.

Rows are staged in a hidden file or folder, or in a table of another name. Releases are staged only by
:func:`discreet.pipeline.publish.write_rows`, which audits them before they get their name.

A promise about five different diseases is worth nothing in a file in which two of them look the same. So
:class:`ReadBack` writes the distinct values of each audited column and reads them back: two values that become one are
refused, and values that only changed their form, such as a time that became text, are translated back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from discreet.engines import (
    Format,
    Recoding,
    as_read_back,
    exactly,
    open_file,
    open_table,
    plan_of,
    relation_of,
    restore_type,
    to_lazy,
    write_data,
    write_parts,
    write_table,
)
from discreet.errors import OutputError
from discreet.pipeline.audit.files import ReleasedFile
from discreet.pipeline.output import FolderOutput, Output, SparkOutput, TableOutput, TablesOutput, Target, Written
from discreet.runtime.atomic_write import replacing, replacing_folder
from discreet.runtime.locations import TableName
from discreet.runtime.private_folders import private_folder

if TYPE_CHECKING:
    from discreet.pipeline.audit.databases import ReleasedTable

__all__ = ["ReadBack", "Staged", "StagedInDatabase", "staging", "staging_tables"]

_FEW = 1_000
"""Columns of at most this many values are written together."""


class Staged(Protocol):
    """An output under a hidden name."""

    def write(self, data: Any) -> None:
        """Write the rows of a frame of any kind."""

    def reopened(self) -> Any:
        """Return what was written, for the audit to read."""

    def read_back(self, table: pl.DataFrame) -> pl.DataFrame | None:
        """Write a small table in the same format elsewhere and read it, in any order; None if nothing changes."""

    def finished(self) -> Written:
        """Return the output under the name it will have."""


@contextmanager
def staging(target: Target, data: Any) -> Iterator[Staged]:
    """Yield the output under a hidden name; it gets its own on success, and nothing is left on failure.

    ``data`` is what will be written; for a Spark table it brings the session.
    """
    if isinstance(target, SparkOutput):
        from discreet.engines import replacing_spark_table

        with replacing_spark_table(target.url, data) as table:
            yield StagedInDatabase(target, table)
    elif isinstance(target, TableOutput):
        from discreet.engines import replacing_table

        with replacing_table(target.url) as table:
            yield StagedInDatabase(target, table)
    elif isinstance(target, FolderOutput):
        with replacing_folder(target.path) as unfinished:
            yield _StagedFolder(target, unfinished)
    else:
        with replacing(target.path) as unfinished:
            yield _StagedFile(target, unfinished)


@contextmanager
def staging_tables(target: TablesOutput) -> Iterator[dict[str, Staged]]:
    """Yield the file of each of several tables in a hidden folder, which gets its name on success."""
    with replacing_folder(target.path) as unfinished:
        yield {name: _StagedFile(output, unfinished / output.path.name) for name, output in target.outputs.items()}


class _StagedFile:
    """A file under a hidden name."""

    def __init__(self, output: Output, unfinished: Path) -> None:
        self.output = output
        self.unfinished = unfinished
        self._schema = pl.Schema()

    def write(self, data: Any) -> None:
        """Write the file."""
        layout, name, shuffle = self.output.format, self.output.path.name, self.output.shuffle
        self._schema = write_data(data, self.unfinished, layout, name, shuffle=shuffle)

    def reopened(self) -> ReleasedFile | pl.DataFrame:
        """Return the file for the audit; empty JSON lines do not even name the columns, so those are added."""
        if not self.unfinished.stat().st_size:
            return pl.DataFrame(schema=self._schema)
        return _released(self.unfinished, self.output.format)

    def read_back(self, table: pl.DataFrame) -> pl.DataFrame | None:
        """Write another file; Parquet keeps all values as they are."""
        if self.output.format.kind == "parquet":
            return None
        return _through_file(table, self.output.format)

    def finished(self) -> Written:
        """Return the file under its name."""
        path, schema = self.output.path, self._schema
        layout = replace(self.output.format, dictionary=None)  # it has labels of values that were left out
        if not self.unfinished.stat().st_size:
            return Written(self.output.location, pl.LazyFrame(schema=schema).lazy)
        return Written(self.output.location, partial(_scan, path, layout))


class _StagedFolder:
    """A folder under a hidden name."""

    def __init__(self, output: FolderOutput, unfinished: Path) -> None:
        self.output = output
        self.unfinished = unfinished

    def write(self, data: Any) -> None:
        """Write the parts."""
        name = self.output.path.name
        with plan_of(data, self.unfinished, name, shuffle=self.output.shuffle) as plan:
            write_parts(plan, self.unfinished, name)

    def reopened(self) -> Path:
        """Return the folder."""
        return self.unfinished

    def read_back(self, table: pl.DataFrame) -> None:
        """Return None: Parquet keeps all values as they are."""

    def finished(self) -> Written:
        """Return the folder under its name."""
        path = self.output.path
        return Written(self.output.location, lambda: open_table(path).scan())


@dataclass
class StagedInDatabase:
    """A table of a database under another name."""

    output: TableOutput
    table: Any

    def write(self, data: Any) -> None:
        """Fill the table."""
        self.table.write(data, shuffle=self.output.shuffle)

    def recode(self, source: Any, recoding: Recoding) -> None:
        """Let the database fill the table from one of its own."""
        self.table.recode(source, recoding, shuffle=self.output.shuffle)

    def reopened(self) -> Any:
        """Return a Spark DataFrame, or the table through the connection that made it."""
        if isinstance(self.output, SparkOutput):
            return self.table.reopened()
        return self._released(self.table.staging)

    def read_back(self, table: pl.DataFrame) -> pl.DataFrame | None:
        """Make another table; Spark keeps values of its own types and refuses others."""
        if isinstance(self.output, SparkOutput):
            return None
        with self.table.trial(table) as name:
            columns = {f"c{number}": column for number, column in enumerate(table.columns)}
            return self._released(name).groups(columns).drop("rows").rename(columns)

    def _released(self, name: TableName) -> ReleasedTable:
        from discreet.pipeline.audit.databases import ReleasedTable

        return ReleasedTable(self.output.url.database, self.table.session.connection, name)

    def finished(self) -> Written:
        """Return the table under its name."""
        return Written(self.output.location, self.output.scan)


def _scan(path: Path, layout: Format) -> pl.LazyFrame:
    return open_file(path, layout).scan()


def _released(path: Path, layout: Format) -> ReleasedFile:
    return ReleasedFile(path, layout.kind, layout.compression, layout.separator or ",")


def _through_file(table: pl.DataFrame, layout: Format) -> pl.DataFrame:
    """Write a small table and read it; its columns are V0, V1, … there, which are names in every format."""
    plain = replace(layout, dictionary=None)
    with private_folder() as folder:
        write_table(table.rename(lambda name: f"V{table.columns.index(name)}").lazy(), folder / "values", plain)
        back = _released(folder / "values", plain).scan().collect()
    return back.rename({f"V{i}": name for i, name in enumerate(table.columns)})


class ReadBack:
    """Translates values read from an output into the released values they came from.

    ``through`` writes a small table in the format of the output and reads it, or returns None if nothing changes.
    ``released`` is what was written; None if a database recoded a table of its own. ``expected`` has all values a
    column may be released with, where they are known. ``merged`` maps columns to a format; values it cannot distinguish
    already count as one in the promises. In columns of ``needed`` no value may come back as missing, because readers
    would take it for unknown.
    """

    def __init__(
        self,
        through: Callable[[pl.DataFrame], pl.DataFrame | None],
        released: Any,
        expected: Mapping[str, pl.Series],
        merged: Mapping[str, Format],
        needed: Collection[str],
        format_name: str,
    ) -> None:
        self.through = through
        self._released = released
        self._expected = {name: _plain(values).unique() for name, values in expected.items()}
        self._known: dict[str, pl.Series | None] | None = None
        self._merged = merged
        self._needed = needed
        self._format_name = format_name

    def __call__(self, column: str, read: pl.Series) -> pl.Series:
        """Return the released values; raise an OutputError if the output merges some of them."""
        if self._released is None or read.is_empty():
            return read
        read = _plain(read)
        found = read.unique()
        for values, back in self._candidates(column):
            if back is None:
                return self._merge(column, read)
            alike = _alike(values, back, found) if back.dtype == found.dtype else None
            if alike is not None and alike.is_empty():
                if column in self._needed and found.null_count() and (values.is_not_null() & back.is_null()).any():
                    raise _lost_value_error(column, self._format_name)
                return self._merge(column, _translated(read, found, back, values))
        if alike is None:
            return self._merge(column, read)
        raise _merged_values_error(column, alike, self._format_name)

    def as_read(self, values: Mapping[str, pl.Series]) -> dict[str, pl.Series]:
        """Return the distinct values of some columns as readers find them, in the same order."""
        found = {name: self._expected_as_read(name, own) for name, own in values.items()}
        other = {name: own for name, own in values.items() if found[name] is None and len(own)}
        back = self.through(_padded(list(other.values()))) if other else None
        if back is not None:
            back = back.sort(pl.col("number").cast(pl.Int64))
            found |= {name: back[f"value{i}"].head(len(own)) for i, (name, own) in enumerate(other.items())}
        return {name: values[name] if read is None else read for name, read in found.items()}

    def _expected_as_read(self, column: str, values: pl.Series) -> pl.Series | None:
        """Return the same for a column whose values were all expected; None if they were not, or are numbers."""
        expected = self._expected.get(column)
        if expected is None or values.dtype != pl.String or expected.dtype != pl.String or self._released is None:
            return None
        back = self._expected_back(column)
        if back is None or not values.is_in(expected.implode(), nulls_equal=True).all():
            return None
        return values.replace_strict(expected, back, return_dtype=back.dtype)

    def _candidates(self, column: str) -> Iterator[tuple[pl.Series, pl.Series | None]]:
        """Yield released values of a column and what is read for each; None if they are read unchanged.

        The expected values come first; the actual ones, which take another pass over all rows, only if needed.
        """
        expected = self._expected.get(column)
        if expected is not None:
            yield expected, self._expected_back(column)
        relation = relation_of(self._released)
        if relation is not None:
            rows = relation.groups({"value": column})["value"]
        else:
            plan = to_lazy(self._released, [column]).select(value=exactly(column)).unique()
            rows = plan.collect(engine="streaming")["value"]
        values = self._merge(column, _plain(rows)).unique()
        yield values, self._back([values])[0]

    def _expected_back(self, column: str) -> pl.Series | None:
        """Return what is read for the expected values of a column; short columns share one file."""
        if self._known is None:
            few = {name: values for name, values in self._expected.items() if 0 < len(values) <= _FEW}
            self._known = dict(zip(few, self._back(list(few.values())), strict=True)) if few else {}
        return self._known[column] if column in self._known else self._back([self._expected[column]])[0]

    def _merge(self, column: str, values: pl.Series) -> pl.Series:
        """Make one of the values that the format of the promises cannot distinguish."""
        return as_read_back(values, self._merged[column]) if column in self._merged else values

    def _back(self, columns: Sequence[pl.Series]) -> list[pl.Series | None]:
        """Return what is read for each value, in the same order."""
        back = self.through(_padded(columns))
        if back is None:
            return [None] * len(columns)
        back = back.sort(pl.col("number").cast(pl.Int64))
        return [_plain(back.get_column(f"value{i}").head(len(values))) for i, values in enumerate(columns)]


def _padded(columns: Sequence[pl.Series]) -> pl.DataFrame:
    """Return columns as one table with a ``number`` for each row; short ones are padded with their last value."""
    height = max(map(len, columns))
    number = pl.Series("number", range(height), dtype=pl.Int64)
    filled = [
        values.gather(number.clip(upper_bound=len(values) - 1)) if len(values) < height else values
        for values in columns
    ]
    return pl.DataFrame([number, *(values.alias(f"value{i}") for i, values in enumerate(filled))])


def _plain(values: pl.Series) -> pl.Series:
    """Turn categories into text, NaN into null and -0.0 into 0.0."""
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        return values.cast(pl.String)
    if not values.dtype.is_float():
        return values
    known = values.fill_nan(None)
    return pl.select(pl.when(known == 0.0).then(pl.lit(0.0, dtype=known.dtype)).otherwise(known)).to_series()


def _alike(values: pl.Series, back: pl.Series, found: pl.Series) -> pl.DataFrame:
    """Return the values that share a value of the output with others."""
    table = pl.DataFrame({"value": values, "back": back})
    table = table.filter(pl.col("back").is_in(found.implode(), nulls_equal=True))
    return table.filter(pl.len().over("back") > 1)


def _translated(read: pl.Series, found: pl.Series, back: pl.Series, values: pl.Series) -> pl.Series:
    """Look up the released value of each value read; those not found are other spellings (-0.0, NaN in text)."""
    known = pl.DataFrame({"read": back, "value": values, "there": True})
    other = _plain(restore_type(found, values.dtype))
    table = pl.DataFrame({"read": found, "other": other}).join(
        known, on="read", how="left", nulls_equal=True, maintain_order="left"
    )
    value = pl.when(pl.col("there").is_null()).then(pl.col("other")).otherwise(pl.col("value"))
    return read.replace_strict(found, table.select(value).to_series(), return_dtype=values.dtype)


def _merged_values_error(column: str, alike: pl.DataFrame, format_name: str) -> OutputError:
    """Return the error for values that are one in the output, without naming them."""
    dtype, example = alike.schema["value"], ""
    if dtype == pl.String and alike["value"].null_count() and (alike["value"] == "").any():
        example = " (such as empty text and a missing value)"
    elif dtype.is_float() or dtype.is_decimal():
        example = " (numbers that differ only in their last digits)"
    elif dtype.is_temporal():
        example = " (times that differ by less than a microsecond)" if "ns" in str(dtype) else ""
    return OutputError(
        f"Column '{column}' has different values that are the same in {format_name}{example}, so that the promises "
        "would not hold there; write .parquet instead, or make them one value first.",
        column=column,
        topic="values-alike",
    )


def _lost_value_error(column: str, format_name: str) -> OutputError:
    """Return the error for a value that is read as missing."""
    return OutputError(
        f"Column '{column}' has a value (such as empty text) that is a missing one in {format_name}, so that the "
        "promises would not hold there; write .parquet instead, or give the value a name first.",
        column=column,
        topic="values-alike",
    )
