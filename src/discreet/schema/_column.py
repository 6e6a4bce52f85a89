"""The distinct values of a column, as text and as numbers."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.runtime.plurals import amount, either, listed
from discreet.schema._types import Type, infer_type, parse_dates

__all__ = [
    "Column",
    "Numbers",
    "Wants",
    "canonical",
    "number_text",
    "numbers_of",
    "plain",
    "shapes_of",
    "text_of",
    "value_text",
]

Numbers = NDArray[np.int64] | NDArray[np.float64]
Wants = Literal["numbers", "dates", "text", None]

_INTEGER = re.compile(r"[+-]?(?:0|[1-9]\d*)")
_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?\d+)?")
_DAY = 86_400_000_000


@dataclass(frozen=True, eq=False)
class Column:
    """Distinct values in their natural order: numbers and dates by size, text by its characters.

    ``text`` is what people read; ``numbers`` are the values of numbers and days since 1970-01-01 of dates (None for
    text); ``rows`` counts the rows of each value (1 if not known). ``index[i]`` is the position of the ``i``-th value
    that was read: two spellings of one number share a position.
    """

    name: str
    type: Type
    text: pl.Series
    numbers: Numbers | None
    rows: NDArray[np.int64]
    index: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.text)

    @classmethod
    def read(
        cls,
        name: str,
        values: pl.Series,
        type: Type,  # noqa: A002
        wants: Wants = None,
        rows: NDArray[np.int64] | None = None,
    ) -> Column:
        """Read values that are not missing; ``wants`` is the form a builder needs."""
        way_out = None
        if wants == "text" and type.numeric:
            type = Type.TEXT  # noqa: A001
        elif wants == "dates" or (wants == "numbers" and not type.numeric):
            type, way_out = _demanded(values, wants), "choose a hierarchy for text"  # noqa: A001
        text, numbers = text_of(values), None
        if type.numeric:
            numbers = numbers_of(name, values, type, way_out)
            if values.dtype == pl.String:
                text = text_of(parse_dates(values)) if type is Type.DATE else _spelled_alike(values, numbers)
            first, index = _by_size(numbers, text)
            text, numbers = text.gather(first), numbers[first]
        else:
            text, index = _sorted(text)
        counts = np.bincount(index, weights=rows)
        return cls(name, type, text, numbers, np.rint(counts).astype(np.int64), index)


def _by_size(numbers: Numbers, text: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first index of each distinct value, by size, and the position of each value among them.

    Values with the same text are the same: floats cannot distinguish 2^63 from 2^63 + 1, nor nanoseconds.
    """
    _, first, index = np.unique(numbers, return_index=True, return_inverse=True)
    if first.size == len(text):
        return first, index
    frame = pl.DataFrame({"size": index, "text": text})
    by = ("size", pl.col("text").str.len_chars(), "text")
    distinct = frame.with_row_index("first").unique(["size", "text"], keep="first").sort(by).with_row_index("position")
    positions = frame.join(distinct, on=["size", "text"], how="left", maintain_order="left")["position"]
    return distinct["first"].to_numpy().astype(np.int64), positions.to_numpy().astype(np.int64)


def _spelled_alike(values: pl.Series, numbers: Numbers) -> pl.Series:
    """Return one spelling for all texts of a number; large whole numbers keep all their digits."""
    alike, whole = number_text(pl.Series(numbers)), values.str.strip_prefix("+")
    exact = pl.Series(abs(numbers) >= 2**53) & whole.str.contains(r"^-?[1-9]\d*$")
    return pl.select(pl.when(exact).then(whole).otherwise(alike)).to_series()


def _sorted(text: pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    """Return the distinct texts in order, and the position of each text among them."""
    in_order = text.unique().sort()
    if len(text) > 1000:
        return in_order, in_order.search_sorted(text).to_numpy().astype(np.int64)
    position = {item: number for number, item in enumerate(in_order.to_list())}
    return in_order, np.array([position[item] for item in text.to_list()], dtype=np.int64)


def _demanded(values: pl.Series, wants: Wants) -> Type:
    """Return the type as which to read text for a builder that needs numbers or dates."""
    if wants == "dates":
        return Type.DATE
    whole = values.cast(pl.Int64, strict=False) if values.dtype == pl.String else None
    return Type.INTEGER if whole is not None and not whole.null_count() else Type.DECIMAL


def plain(name: str, values: pl.Series) -> pl.Series:
    """Return values of a type that can be generalized, with NaN as missing; raise a DataError for other types."""
    dtype = values.dtype
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return values.cast(pl.String)
    if dtype.is_float():
        return values.fill_nan(None)
    if dtype == pl.Object:
        try:
            values = pl.Series(values.name, [None if item != item else item for item in values.to_list()], strict=True)
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            raise DataError(
                f"Column '{name}' mixes values of different types; turn them into one, such as text, first.",
                column=name,
                topic="mixed-types",
            ) from None
        if values.dtype != pl.Object:
            return plain(name, values)
    if dtype.is_numeric() or dtype in (pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Null):
        return values
    raise DataError(
        f"Column '{name}' holds {dtype} values, which cannot be generalized; turn them into text, numbers "
        "or dates first.",
        column=name,
    )


def text_of(values: pl.Series) -> pl.Series:
    """Return the text of each value: 17 for 17.0, ISO for dates.

    >>> text_of(pl.Series([17.0, 0.5])).to_list()
    ['17', '0.5']
    """
    dtype = values.dtype
    if dtype == pl.String:
        return values
    if dtype.is_float() or dtype.is_decimal():
        return number_text(values)
    if dtype == pl.Datetime:
        clock = values.dt.replace_time_zone(None)
        if (clock.dt.time() == datetime.time()).all():
            return clock.dt.date().cast(pl.String)
        return clock.dt.to_string("%Y-%m-%d %H:%M:%S%.f")
    return values.cast(pl.String)


def number_text(numbers: pl.Series) -> pl.Series:
    """Return numbers as text without a needless ``.0``."""
    text = numbers.cast(pl.String)
    if numbers.dtype.is_decimal() and numbers.dtype.scale:  # type: ignore[attr-defined]
        return text.str.strip_chars_end("0").str.strip_suffix(".")
    return text.str.strip_suffix(".0") if numbers.dtype.is_float() else text


_KINDS = {
    Type.DATE: ("a date (YYYY-MM-DD)", "dates (YYYY-MM-DD)"),
    Type.INTEGER: ("a whole number", "whole numbers"),
    Type.DECIMAL: ("a number", "numbers"),
}


def numbers_of(name: str, values: pl.Series, type: Type, way_out: str | None = None) -> Numbers:  # noqa: A002
    """Return values as numbers, dates as days since 1970-01-01; the error counts those that cannot be converted."""
    numbers = _days(values) if type is Type.DATE else _parsed(values, type)
    bad = numbers.null_count()
    if bad:
        of = amount(len(values), "distinct value")
        verb, kind, them = either(bad, "is", "are"), either(bad, *_KINDS[type]), either(bad, "it", "them")
        way_out = way_out or f"let the type of the column be {infer_type(values)}"
        like = shapes_of(values.filter(numbers.is_null()))
        raise DataError(
            f"Column '{name}': {bad:,} of its {of} {verb} not {kind}{like}; correct {them}, or {way_out}.",
            column=name,
            topic="mixed-types",
        )
    array: Numbers = numbers.to_numpy()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        endless = int((~np.isfinite(array)).sum())
        raise DataError(
            f"Column '{name}' has {amount(endless, 'infinite value')}; replace {either(endless, 'it', 'them')} by "
            f"{either(endless, 'a number', 'numbers')} or leave {either(endless, 'it', 'them')} empty.",
            column=name,
        )
    return array


def _parsed(values: pl.Series, type: Type) -> pl.Series:  # noqa: A002
    dtype = values.dtype
    if not (dtype == pl.String or dtype.is_numeric()):
        return pl.Series([None] * len(values), dtype=pl.Float64)
    if type is Type.INTEGER:
        whole = values.cast(pl.Int64, strict=False)
        if not whole.null_count() and (dtype == pl.String or dtype.is_integer()):
            return whole
        numbers = values.cast(pl.Float64, strict=False)
        back = numbers.cast(pl.Int64, strict=False)
        if numbers.is_infinite().any():
            return numbers
        return pl.select(pl.when(back.cast(pl.Float64) == numbers).then(back)).to_series()
    if dtype == pl.Float32:  # through text, or 0.1 would become 0.10000000149
        values = values.cast(pl.String)
    return values.cast(pl.Float64, strict=False).fill_nan(None)


def _days(values: pl.Series) -> pl.Series:
    if values.dtype == pl.String:
        values = parse_dates(values)
    if values.dtype == pl.Date:
        return values.cast(pl.Int32).cast(pl.Int64)
    if values.dtype != pl.Datetime:
        return pl.Series([None] * len(values), dtype=pl.Int64)
    micros = values.dt.replace_time_zone(None).dt.epoch("us")
    return micros // _DAY if (micros % _DAY == 0).all() else micros / _DAY


def value_text(value: Any) -> str:
    """Return the text of a Python or YAML value, as :func:`text_of` writes it.

    >>> value_text(17.0), value_text(True), value_text(datetime.date(2024, 3, 1))
    ('17', 'true', '2024-03-01')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ") if value.time() != datetime.time() else value.date().isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    return canonical(str(value)) if isinstance(value, float | Decimal | np.floating) else str(value)


def canonical(text: str) -> str:
    """Return one spelling for all spellings of a number or truth value; other text and codes like 007 are kept.

    >>> canonical("17.0"), canonical("+17"), canonical("True"), canonical("007")
    ('17', '17', 'true', '007')
    """
    if _INTEGER.fullmatch(text):
        return str(int(text))
    if _NUMBER.fullmatch(text):
        number = float(text)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return text.lower() if text.lower() in ("true", "false") else text


_SHOWN = 3
_LONGEST = 24


def shapes_of(values: pl.Series) -> str:
    """Return how many values have which shape, for an error message about them; empty if they are no text.

    A shape has ``9`` for a run of digits and ``a`` for a run of letters, whatever their length, so that no value can be
    read from it; other characters stay, as they show what is wrong.

    >>> shapes_of(pl.Series(["n/a", "unknown", "missing", "30-39"]))
    ': 2 like a, 1 like 9-9 and 1 like a/a (9 is any number, a any word)'
    """
    if values.dtype != pl.String:
        return ""
    shapes = values.str.replace_all(r"[\p{L}\p{M}]+", "a").str.replace_all(r"\p{N}+", "9")
    shapes = shapes.str.replace_all(r"[\s\p{C}]+", " ").str.strip_chars()
    counted = shapes.value_counts(name="rows").sort(["rows", values.name], descending=[True, False]).rows()
    shown = [(shape, number) for shape, number in counted if shape and len(shape) <= _LONGEST][:_SHOWN]
    if not shown:
        return ""
    rest = len(values) - sum(number for _, number in shown)
    parts = [f"{number:,} like {shape}" for shape, number in shown] + ([amount(rest, "other")] if rest else [])
    used = "".join(shape for shape, _ in shown)
    legend = {("9", "a"): "9 is any number, a any word", ("9",): "9 is any number", ("a",): "a is any word"}
    meaning = legend.get(tuple(mark for mark in "9a" if mark in used))
    return f": {listed(parts)}{f' ({meaning})' if meaning else ''}"
