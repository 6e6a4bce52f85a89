"""Intervals of equal width, each level wider than the one below."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import DataError, UsageError
from discreet.schema._column import Column, Wants, number_text
from discreet.schema._hierarchy import Level
from discreet.schema._types import Type
from discreet.schema.builders._base import BUILDERS, LevelBuilder, blocks_of_runs

__all__ = ["Intervals", "intervals"]

_EPOCH = datetime.date(1970, 1, 1)
_FINEST, _WIDEST = Decimal("1e-15"), Decimal("1e18")
_LARGEST = 2**62


def intervals(*widths: float, origin: float | str | datetime.date = 0) -> Intervals:
    """Group numbers, or dates by days, into half-open intervals; each width is a multiple of the last.

    One interval starts at ``origin``. Level 0 is the value itself, and ``*`` is above the widest intervals. A width
    that would give each whole number or day its own interval is left out, as it would repeat level 0.

    >>> tree = intervals(5, 10).build(pl.Series([21, 24, 38]))
    >>> tree.rows()[0]
    ['21', '[20, 25)', '[20, 30)', '*']
    """
    return Intervals.from_arguments(*widths, origin=origin)


@BUILDERS.register
@dataclass(frozen=True)
class Intervals(LevelBuilder):
    """Half-open intervals of numbers, or of dates in days; each width is a multiple of the one before.

    For dates ``origin`` counts days since 1970-01-01.
    """

    name: ClassVar[str] = "intervals"
    examples: ClassVar[tuple[str, ...]] = ("intervals(5, 10, 20)",)
    sought_as: ClassVar[tuple[str, ...]] = ("age", "ages", "bins", "bin", "buckets", "numbers", "steps")
    title: ClassVar[str] = "Steps of equal width"
    summary: ClassVar[str] = "One width for each level, each a multiple of the one before."
    types: ClassVar[tuple[str, ...]] = ("integer", "decimal", "date")
    rank: ClassVar[int] = 20

    widths: tuple[Decimal, ...]
    origin: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        if not self.widths:
            raise UsageError("intervals needs at least one width, as in intervals(5, 10, 20).")
        numbers = (*self.widths, self.origin)
        if not all(number.is_finite() for number in numbers) or not all(width > 0 for width in self.widths):
            raise UsageError("The widths of intervals must be numbers above 0 and the origin a number.")
        if not all(_FINEST <= abs(number) <= _WIDEST for number in numbers if number):
            raise UsageError(
                f"The widths and the origin of intervals are between {_FINEST:g} and {_WIDEST:g}; choose others."
            )
        for narrow, wide in pairwise(self.widths):
            if wide / narrow >= _LARGEST:
                raise self._too_far_apart()
            if wide <= narrow or wide % narrow:
                raise UsageError(
                    f"In '{self.text}', {_plain(wide)} is not a multiple of {_plain(narrow)}, so its "
                    "intervals would cut across narrower ones; make each width a multiple of the one before."
                )

    def _too_far_apart(self) -> UsageError:
        return UsageError(f"The widths in '{self.text}' are too far apart; leave out the narrowest or the widest.")

    @property
    def wants(self) -> Wants:
        """Numbers; dates count as days."""
        return "numbers"

    @classmethod
    def from_arguments(cls, *widths: float, origin: float | str | datetime.date = 0) -> Self:
        """Make a builder from its widths; the origin is a number or a date."""
        return cls(tuple(_decimal(width, "width") for width in widths), _decimal(origin, "origin"))

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the widths, and the origin where it is not 0."""
        return [_plain(width) for width in self.widths], {"origin": _plain(self.origin)} if self.origin else {}

    def levels(self, column: Column) -> list[Level]:
        """Return one level per width."""
        decimals = max(0, *(-int(number.normalize().as_tuple().exponent) for number in (*self.widths, self.origin)))
        if decimals and column.type is Type.DATE:
            raise UsageError(f"Column '{column.name}' holds dates, so the widths are whole days.", column=column.name)
        scale = 10**decimals
        start, unit = int(self.origin * scale), int(self.widths[0] * scale)
        if int(self.widths[-1] * scale) >= _LARGEST or abs(start) >= _LARGEST:
            raise self._too_far_apart()
        number = _interval_numbers(column, start, unit, scale)
        found: list[Level] = []
        for width in (int(width * scale) for width in self.widths):
            if width == scale == 1 and column.numbers is not None and column.numbers.dtype.kind == "i":
                continue
            keys = number // (width // unit)
            codes, first = blocks_of_runs(keys)
            low = start + keys[first] * width
            names = zip(_ends(low, scale, column.type), _ends(low + width, scale, column.type), strict=True)
            found.append((codes, [f"[{begin}, {end})" for begin, end in names]))
        return found


def _interval_numbers(column: Column, start: int, unit: int, scale: int) -> NDArray[np.int64]:
    """Return the number of the narrowest interval of each value, exactly.

    Ends are whole multiples of 1/scale, so that the quotient is the float nearest to the true end, and comparing a
    value with it compares the decimals that both were written as.
    """
    numbers = column.numbers
    assert numbers is not None
    whole = numbers.dtype.kind == "i" and scale == 1
    if float(np.abs(numbers).max()) * scale + abs(start) + unit >= (2**62 if whole else 2**53):
        raise DataError(
            f"Column '{column.name}' has values too large for intervals this narrow; choose wider ones.",
            column=column.name,
        )
    if whole:
        return np.asarray((numbers - start) // unit, dtype=np.int64)
    guess = np.floor((numbers * scale - start) / unit).astype(np.int64)
    guess -= numbers < (start + guess * unit) / scale
    guess += numbers >= (start + (guess + 1) * unit) / scale
    return guess


def _ends(ends: NDArray[np.int64], scale: int, type: Type) -> list[str]:  # noqa: A002
    if type is Type.DATE:
        return pl.Series(ends).cast(pl.Int32).cast(pl.Date).cast(pl.String).to_list()
    return number_text(pl.Series(ends / scale if scale > 1 else ends)).to_list()


def _decimal(number: float | str | datetime.date, what: str) -> Decimal:
    try:
        if isinstance(number, str) and what == "origin":
            number = datetime.date.fromisoformat(number)
        if isinstance(number, datetime.date) and what == "origin":
            return Decimal((number - _EPOCH).days)
        if isinstance(number, bool) or not isinstance(number, int | float | Decimal | np.number):
            raise TypeError
        return Decimal(str(number))
    except (TypeError, ValueError, InvalidOperation):
        raise UsageError(
            f"The {what} of intervals is a number{' or a date' * (what == 'origin')}, not {number!r}."
        ) from None


def _plain(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)
