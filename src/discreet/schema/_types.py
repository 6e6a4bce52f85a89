"""The type of a column, inferred from all its values."""

from __future__ import annotations

import re
from enum import StrEnum

import polars as pl

from discreet.errors import UsageError, did_you_mean

__all__ = ["Type", "as_type", "infer_type"]

_LEADING_ZERO = r"^[+-]?0\d"
_EXPONENT_WITHOUT_SIGN = r"^[+-]?\d+[eE]\d"
_OFFSET = r"( \d{2}:\d{2}\S*?)(?:Z|[+-]\d{2}(?::?\d{2})?)$"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")


class Type(StrEnum):
    """The type of a column. Numbers and dates have a natural order, ordered text a given one."""

    TEXT = "text"
    ORDERED = "ordered"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DATE = "date"

    @property
    def numeric(self) -> bool:
        """Whether values are numbers or dates, which have positions on a line."""
        return self in (Type.INTEGER, Type.DECIMAL, Type.DATE)


def as_type(choice: Type | str) -> Type:
    """Return the type of a name.

    >>> as_type("integer")
    <Type.INTEGER: 'integer'>
    """
    try:
        return Type(choice)
    except ValueError:
        known = [str(item) for item in Type]
        hint = did_you_mean(str(choice), known) or f"known are {', '.join(known)}."
        raise UsageError(f"There is no type '{choice}'; {hint}", topic="unknown-name") from None


def infer_type(values: pl.Series) -> Type:
    """Return the type of a column by its values that are not missing.

    Text counts as numbers or dates only if every value is one, so that codes stay codes:

    >>> infer_type(pl.Series(["17", "4"])), infer_type(pl.Series(["00501", "94110"]))
    (<Type.INTEGER: 'integer'>, <Type.TEXT: 'text'>)
    >>> infer_type(pl.Series(["2024-03-01"])), infer_type(pl.Series([1.5, 2.0]))
    (<Type.DATE: 'date'>, <Type.DECIMAL: 'decimal'>)
    """
    dtype = values.dtype
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return _infer_text(values.cast(pl.String))
    if dtype == pl.String:
        return _infer_text(values)
    if dtype.is_decimal() and dtype.scale:  # type: ignore[attr-defined]
        return Type.DECIMAL
    if dtype.is_integer() or dtype.is_decimal():
        can_be_huge = dtype in (pl.UInt64, pl.Int128, pl.UInt128) or dtype.is_decimal()
        huge = can_be_huge and values.cast(pl.Int64, strict=False).null_count() > values.null_count()
        return Type.DECIMAL if huge else Type.INTEGER
    if dtype.is_float():
        known = values.to_numpy() if not values.null_count() else values.drop_nulls().to_numpy()
        known = known[known == known]
        whole = bool(((known == known.round()) & (abs(known) < 2**53)).all())
        return Type.INTEGER if whole and known.size else Type.DECIMAL
    if dtype in (pl.Date, pl.Datetime):
        return Type.DATE
    return Type.TEXT


def _infer_text(values: pl.Series) -> Type:
    if values.null_count():
        values = values.drop_nulls()
    if not len(values):
        return Type.TEXT
    whole = values.cast(pl.Int64, strict=False)
    if not whole.null_count():
        return Type.INTEGER if whole.cast(pl.String).equals(values) else Type.TEXT
    numbers = values.cast(pl.Float64, strict=False)
    if not numbers.null_count() and not numbers.is_nan().any():
        code = values.str.contains(_LEADING_ZERO).any() or values.str.contains(_EXPONENT_WITHOUT_SIGN).any()
        return Type.TEXT if code or numbers.is_infinite().all() else Type.DECIMAL
    if _DATE.fullmatch(values[0]) and _are_dates(values):
        return Type.DATE
    return Type.TEXT


def _are_dates(values: pl.Series) -> bool:
    """Whether all are written like dates and are some; polars also reads 2024-3-1, which is no ISO date."""
    alike = values.str.contains(f"^(?:{_DATE.pattern})$").all()
    return bool(alike) and not parse_dates(values).null_count()


def parse_dates(text: pl.Series) -> pl.Series:
    """Return ISO dates, or dates with times where any value has one, and null where a value is neither.

    A time with an offset (``+02:00``) or ``Z`` is the time on the clock of its place, so that its day is the one that
    is written.

    >>> parse_dates(pl.Series(["2024-03-01T23:30:00+02:00"])).to_list()
    [datetime.datetime(2024, 3, 1, 23, 30)]
    """
    days = text.str.to_date("%Y-%m-%d", strict=False)
    if not days.null_count():
        return days
    clean = text.str.replace("T", " ", literal=True).str.replace(_OFFSET, "${1}")
    full = clean.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us")
    short = clean.str.to_datetime("%Y-%m-%d %H:%M", strict=False, time_unit="us")
    return full.fill_null(short).fill_null(days.cast(pl.Datetime("us")))
