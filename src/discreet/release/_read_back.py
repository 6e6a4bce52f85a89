"""What a format makes of released values, found by writing the distinct ones and reading them back.

A promise about five different diseases is worth nothing in a file in which two of them look the same. So the values of
each column that the promises look at are followed from the release to what a reader of the output gets. Two values that
become one are refused. Values that only changed their form, such as a time that became text, are translated back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from discreet.engines import Format, as_written, exactly, held, relation_of, to_lazy
from discreet.errors import OutputError

__all__ = ["ReadBack"]

_FEW = 1_000
"""Columns of no more values than this are written together."""


class ReadBack:
    """Translates values as they were read into the released values they stand for.

    ``through`` writes a small table in the format of the output and reads it back, or returns None where every value
    comes back as it is. ``released`` is what was written; None if a database recoded a table of its own. ``expected``
    has all values a column may be released with, for columns where they are known. ``merged`` names columns with a
    format: what that cannot tell apart already counts as one value in the promises. ``needed`` names columns in which a
    value must not come back as a missing one: to whoever reads the output it would be unknown, and no value.
    """

    def __init__(
        self,
        through: Callable[[pl.DataFrame], pl.DataFrame | None],
        released: Any,
        expected: Mapping[str, pl.Series],
        merged: Mapping[str, Format],
        needed: Collection[str],
        where: str,
    ) -> None:
        self._through = through
        self._released = released
        self._expected = {name: _plain(values).unique() for name, values in expected.items()}
        self._known: dict[str, pl.Series | None] | None = None
        self._merged = merged
        self._needed = needed
        self._where = where

    def __call__(self, column: str, read: pl.Series) -> pl.Series:
        """Return the released values; raise an OutputError if the output cannot tell some of them apart."""
        if self._released is None or read.is_empty():
            return read
        read = _plain(read)
        found = read.unique()
        for values, back in self._candidates(column):
            if back is None:
                return self._held(column, read)
            alike = _alike(values, back, found) if back.dtype == found.dtype else None
            if alike is not None and alike.is_empty():
                if column in self._needed and found.null_count() and (values.is_not_null() & back.is_null()).any():
                    raise _lost(column, self._where)
                return self._held(column, _translated(read, found, back, values))
        if alike is None:
            return self._held(column, read)
        raise _refused(column, alike, self._where)

    def _candidates(self, column: str) -> Iterator[tuple[pl.Series, pl.Series | None]]:
        """Yield the values expected in a column, and then, which takes another look at all rows, those in it.

        With them goes what is read for each; None where all values come back as they are.
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
        values = self._held(column, _plain(rows)).unique()
        yield values, self._back([values])[0]

    def _expected_back(self, column: str) -> pl.Series | None:
        """Return what is read for the values expected in a column; columns of few values are written together."""
        if self._known is None:
            few = {name: values for name, values in self._expected.items() if 0 < len(values) <= _FEW}
            self._known = dict(zip(few, self._back(list(few.values())), strict=True)) if few else {}
        return self._known[column] if column in self._known else self._back([self._expected[column]])[0]

    def _held(self, column: str, values: pl.Series) -> pl.Series:
        return held(values, self._merged[column]) if column in self._merged else values

    def _back(self, columns: Sequence[pl.Series]) -> list[pl.Series | None]:
        """Return what is read for each value, in the same order; short columns are filled up with their last one."""
        height = max(map(len, columns))
        number = pl.Series("number", range(height), dtype=pl.Int64)
        filled = [
            values.gather(number.clip(upper_bound=len(values) - 1)) if len(values) < height else values
            for values in columns
        ]
        back = self._through(pl.DataFrame([number, *(values.alias(f"value{i}") for i, values in enumerate(filled))]))
        if back is None:
            return [None] * len(columns)
        back = back.sort(pl.col("number").cast(pl.Int64))
        return [_plain(back.get_column(f"value{i}").head(len(values))) for i, values in enumerate(columns)]


def _plain(values: pl.Series) -> pl.Series:
    """Return categories as text, NaN as the missing value it is, and no negative zero."""
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        return values.cast(pl.String)
    if not values.dtype.is_float():
        return values
    known = values.fill_nan(None)
    return pl.select(pl.when(known == 0.0).then(pl.lit(0.0, dtype=known.dtype)).otherwise(known)).to_series()


def _alike(values: pl.Series, back: pl.Series, found: pl.Series) -> pl.DataFrame:
    """Return the values that became one which was found in the output, in groups."""
    table = pl.DataFrame({"value": values, "back": back})
    table = table.filter(pl.col("back").is_in(found.implode(), nulls_equal=True))
    return table.filter(pl.len().over("back") > 1)


def _translated(read: pl.Series, found: pl.Series, back: pl.Series, values: pl.Series) -> pl.Series:
    """Look values up; what is not there is another spelling of one (-0.0, NaN in text), or none at all."""
    known = pl.DataFrame({"read": back, "value": values, "there": True})
    other = _plain(as_written(found, values.dtype))
    table = pl.DataFrame({"read": found, "other": other}).join(
        known, on="read", how="left", nulls_equal=True, maintain_order="left"
    )
    value = pl.when(pl.col("there").is_null()).then(pl.col("other")).otherwise(pl.col("value"))
    return read.replace_strict(found, table.select(value).to_series(), return_dtype=values.dtype)


def _refused(column: str, alike: pl.DataFrame, where: str) -> OutputError:
    """Return the error for values that are one in the output; it names none of them."""
    dtype, example = alike.schema["value"], ""
    if dtype == pl.String and alike["value"].null_count() and (alike["value"] == "").any():
        example = " (such as empty text and a missing value)"
    elif dtype.is_float() or dtype.is_decimal():
        example = " (numbers that differ only in their last digits)"
    elif dtype.is_temporal():
        example = " (times that differ by less than a microsecond)" if "ns" in str(dtype) else ""
    return OutputError(
        f"Column '{column}' has different values that are the same in {where}{example}, so that the promises would not "
        "hold there; write .parquet instead, or make them one value first.",
        column=column,
        topic="values-alike",
    )


def _lost(column: str, where: str) -> OutputError:
    """Return the error for a known value that is a missing one in the output."""
    return OutputError(
        f"Column '{column}' has a value (such as empty text) that is a missing one in {where}, so that the promises "
        "would not hold there; write .parquet instead, or give the value a name first.",
        column=column,
        topic="values-alike",
    )
