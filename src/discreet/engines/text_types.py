"""Types for columns of delimited text, inferred from their released values.

Text is converted only if every value survives the round trip: ``00501``, ``1e5``, ``nan`` and a number of more digits
than a float holds stay text. The decision depends on released rows only, so a type discloses nothing about rows that
were left out. A type is inferred from the first released rows and checked while all of them are written; if that
fails, it is inferred from all released rows before they are written again.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, get_args, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines.columns import exactly
from discreet.engines.files.formats import STATISTICS, FormatKind, StatisticsKind
from discreet.engines.recoding import Recoding
from discreet.errors import DataError
from discreet.schema import Type, parse_dates

__all__ = [
    "DATE_FORMS",
    "PATTERNS",
    "SHORT",
    "Destination",
    "OtherTypesError",
    "Spelling",
    "Types",
    "expect_types",
    "released_texts",
    "spellings",
    "typed_again",
]

Destination = Literal["frame", "sqlite", "duckdb", "postgresql", "spark"] | FormatKind
"""Where values are written: a frame, a file format or a database."""

_BATCH_ROWS = 1 << 18
_FLOATS_ONLY = ("xlsx", *STATISTICS)
"""Destinations whose numbers all are floating-point."""
SHORT = 15
"""Most digits of a number that is exact in a float, and in a cell of a sheet."""
_SMALL = r"-?[1-9](?:[.][0-9]*[1-9])?e[+-][0-9]{1,3}"
PATTERNS = {
    "whole": "^(?:0|-?[1-9][0-9]{0,17})$",
    "short whole": "^(?:0|-?[1-9][0-9]{0,14})$",
    "number": f"^(?:0|-?(?:0[.][0-9]*[1-9]|[1-9][0-9]*(?:[.][0-9]*[1-9])?)|{_SMALL})$",
    "point": f"^(?:0[.]0|-?(?:0[.][0-9]*[1-9]|[1-9][0-9]*[.](?:0|[0-9]*[1-9]))|{_SMALL})$",
    "fixed": "^-?(?:0|[1-9][0-9]*)[.][0-9]{{{}}}$",
    "negative zero": "^-0[.]0*$",
    "day": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
}
"""Spellings of values, as regular expressions that every engine supports."""
_CLOCKS = {16: "%H:%M", 19: "%H:%M:%S", 23: "%H:%M:%S%.3f", 26: "%H:%M:%S%.6f"}
_DIGITS = {"%Y": "[0-9]{4}", "%.3f": "[.][0-9]{3}", "%.6f": "[.][0-9]{6}"}


def _pattern(form: str) -> str:
    """Return the regular expression for a date format."""
    for part, digits in _DIGITS.items():
        form = form.replace(part, digits)
    return "^" + re.sub("%[mdHMS]", "[0-9]{2}", form) + "$"


_FORMS = [f"%Y-%m-%d{between}{clock}" for between in " T" for clock in _CLOCKS.values()]
DATE_FORMS = {form: _pattern(form) for form in _FORMS}
"""The formats of dates with times, and the regular expression for each."""
_FIRST_DAY = {False: datetime.date(1000, 1, 1), True: datetime.date(1901, 1, 1)}
_KINDS = {Type.INTEGER: "whole numbers", Type.DECIMAL: "numbers", Type.DATE: "dates (YYYY-MM-DD)"}


class OtherTypesError(DataError):
    """A column does not have the type of its first rows; raised to write it again."""


class Spelling(NamedTuple):
    """A spelling of values, and the type that preserves it.

    ``form`` distinguishes spellings of one type: the format of dates, or ``given`` if the user chose the type.
    """

    dtype: pl.DataType
    form: str = ""

    def __hash__(self) -> int:
        return hash((str(self.dtype), self.form))

    def cast(self, text: pl.Series) -> pl.Series:
        """Convert text of this spelling."""
        if isinstance(self.dtype, pl.Boolean):
            return text.replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean)
        if self.form == "given" and self.dtype.is_temporal():
            return parse_dates(text).cast(self.dtype)
        if self.form == "given" and self.dtype.is_integer():
            return text.cast(pl.Int64, strict=False).fill_null(text.cast(pl.Float64).cast(pl.Int64, strict=False))
        if isinstance(self.dtype, pl.Date):
            return text.str.to_date("%Y-%m-%d")
        if isinstance(self.dtype, pl.Datetime):
            return text.str.to_datetime(self.form, time_unit="us")
        return text.cast(self.dtype)

    def fits(self, text: pl.Series, *, short: bool = False) -> bool:
        """Whether all values, none of them null, have this spelling; ``short`` as in :func:`spellings`."""
        dtype = self.dtype
        if self.form == "given":
            return self in _spellings_of_type(text, _GIVEN.get(type(dtype), Type.DATE))
        if isinstance(dtype, pl.Boolean):
            return text.is_in(["true", "false"]).all()
        if isinstance(dtype, pl.Int64):
            return text.str.contains(PATTERNS["short whole" if short else "whole"]).all()
        if isinstance(dtype, pl.Float64):
            return text.str.contains(PATTERNS[self.form]).all() and _exact(text, short)
        if isinstance(dtype, pl.Decimal):
            return _fixed(text, dtype.scale, short)
        return _dates(text, self, short)


def spellings(text: pl.Series, given: Type | None = None, *, short: bool = False) -> frozenset[Spelling] | None:
    """Return the spellings that all values have; None if all are missing.

    For a ``given`` type, any spelling of its numbers and dates will do. ``short`` excludes what an Excel sheet cannot
    hold.

    >>> sorted(str(found.dtype) for found in spellings(pl.Series(["1", "20"])))
    ['Float64', 'Int64']
    >>> spellings(pl.Series(["1", "007"]))
    frozenset()
    """
    if given is not None and not given.numeric:
        return frozenset()
    known = text.drop_nulls() if text.null_count() else text
    if known.is_empty():
        return None
    if given is not None:
        return frozenset(_spellings_of_type(known, given))
    return frozenset(_spellings(known, short))


def _spellings(text: pl.Series, short: bool) -> Iterator[Spelling]:
    return (found for found in _possible(text[0]) if found.fits(text, short=short))


def _possible(first: str) -> Iterator[Spelling]:
    """Yield the spellings that a value may have."""
    if first in ("true", "false"):
        yield Spelling(pl.Boolean())
    elif len(first) in (10, *_CLOCKS) and first[4:5] == "-":
        form = "" if len(first) == 10 else f"%Y-%m-%d{first[10]}{_CLOCKS[len(first)]}"
        if not form:
            yield Spelling(pl.Date())
        elif form in DATE_FORMS:
            yield Spelling(pl.Datetime("us"), form)
    elif first[:1].isdecimal() or first[:1] == "-":
        yield Spelling(pl.Int64())
        yield from (Spelling(pl.Float64(), form) for form in ("number", "point"))
        decimals = len(first.partition(".")[2])
        if 0 < decimals <= SHORT:
            yield Spelling(pl.Decimal(18, decimals))


def _fixed(text: pl.Series, decimals: int, short: bool) -> bool:
    """Whether all numbers have this many decimals, and few enough digits for a decimal type."""
    if not text.str.contains(PATTERNS["fixed"].format(decimals)).all():
        return False
    digits = text.str.strip_prefix("-").str.len_bytes().max() or 0  # the point counts as one
    few = bool(digits <= (SHORT if short else 18) + 1)  # type: ignore[operator]
    return few and not text.str.contains(PATTERNS["negative zero"]).any()


def _exact(text: pl.Series, short: bool) -> bool:
    """Whether numbers have few digits, or exactly those of the shortest text of their float."""
    length = text.str.len_bytes()
    if (length.max() or 0) <= SHORT + 1:  # type: ignore[operator]
        return True
    long = text.filter(length - text.str.starts_with("-") > SHORT + 1)
    if short or long.is_empty():
        return long.is_empty()
    numbers = long.cast(pl.Float64, strict=False)
    printed = numbers.cast(pl.String)
    other = printed != long
    same = _digits(printed.filter(other)) == _digits(long.filter(other))
    return bool(numbers.is_finite().all()) and bool(same.all())


def _digits(text: pl.Series) -> pl.Series:
    return text.str.strip_prefix("-").str.replace("e.*$", "").str.replace(".", "", literal=True).str.strip_chars("0")


def _dates(text: pl.Series, found: Spelling, short: bool) -> bool:
    """Whether values are dates, or dates with times, of one format, and not before the first supported day."""
    first = _FIRST_DAY[short]
    if isinstance(found.dtype, pl.Date):
        if not text.str.contains(PATTERNS["day"]).all():
            return False
        days = text.str.to_date("%Y-%m-%d", strict=False)  # with ten characters each day has one spelling
        return not days.null_count() and bool(days.min() >= first)  # type: ignore[operator]
    if short and found.form.endswith("6f"):
        return False
    clock = text.str.to_datetime(found.form, strict=False, time_unit="us")
    same = not clock.null_count() and (clock.dt.to_string(found.form) == text).all()  # a leap second changes
    return same and bool(clock.min().date() >= first)  # type: ignore[union-attr]


def _spellings_of_type(text: pl.Series, given: Type) -> Iterator[Spelling]:
    """Yield the spellings for values of a given type, if all of them have it."""
    if given is Type.DATE:
        dates = parse_dates(text)
        if not dates.null_count():
            if dates.dtype == pl.Date:
                yield Spelling(pl.Date(), "given")
            yield Spelling(pl.Datetime("us"), "given")
        return
    numbers = text.cast(pl.Float64, strict=False)
    if numbers.null_count() or not numbers.is_finite().all():
        return
    if given is Type.DECIMAL:
        yield Spelling(pl.Float64(), "given")
    elif not Spelling(pl.Int64(), "given").cast(text).null_count() and (numbers == numbers.round()).all():
        yield Spelling(pl.Int64(), "given")


_ORDER: Sequence[type[pl.DataType]] = (pl.Boolean, pl.Int64, pl.Float64, pl.Decimal, pl.Date, pl.Datetime)
_GIVEN: Mapping[type[pl.DataType], Type] = {pl.Int64: Type.INTEGER, pl.Float64: Type.DECIMAL}
_NONE = frozenset[Spelling]()
_LEFT_AS_TEXT: Mapping[Destination, tuple[type[pl.DataType], ...]] = {
    "jsonl": (pl.Decimal, pl.Date, pl.Datetime),
    "sqlite": (pl.Boolean, pl.Decimal, pl.Datetime),
    **dict.fromkeys(get_args(StatisticsKind), (pl.Boolean,)),
}
"""Types that a destination does not have, so that the text is kept."""


def _best(found: frozenset[Spelling] | None, destination: Destination) -> Spelling | None:
    left = _LEFT_AS_TEXT.get(destination, ())
    able = [each for each in found or () if not isinstance(each.dtype, left)]
    return min(able, key=lambda each: (_ORDER.index(type(each.dtype)), each.form), default=None)


class Types:
    """Infers the types of text columns, for one destination.

    ``given`` are types the user chose: text stays text, and numbers and dates may have any spelling.
    """

    start = 1000
    """The number of released rows from which types are inferred first."""

    def __init__(self, given: Mapping[str, Type] | None = None, destination: Destination = "frame") -> None:
        self.given = given or {}
        self.destination: Destination = destination
        self.failed = False
        """Whether a column did not have the type of its first rows."""

    def applied(self, plan: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
        """Add types to some columns of a plan, inferred from the first rows and checked in all of them."""
        if self.destination == "csv" or not columns:
            return plan
        texts = plan.select(exactly(column).cast(pl.String) for column in columns)
        chosen = self.found(texts) if self.failed else self._of_start(texts)
        self.failed = False
        return plan.with_columns(
            exactly(column).map_batches(self._checked(found), found.dtype, is_elementwise=True)
            for column, found in chosen.items()
        )

    def found(self, texts: pl.LazyFrame) -> dict[str, Spelling]:
        """Infer types from all rows of a plan, batch by batch; columns that stay text are left out."""
        seen: dict[str, frozenset[Spelling] | None] = dict.fromkeys(texts.collect_schema().names())
        for batch in texts.collect_batches(chunk_size=_BATCH_ROWS, maintain_order=False, engine="streaming"):
            for column in seen:
                if seen[column] != _NONE:
                    seen[column] = self.both(column, seen[column], batch[column])
        return self.chosen(seen)

    def _of_start(self, texts: pl.LazyFrame) -> dict[str, Spelling]:
        """Infer types from the first rows, and from all rows for columns that are empty there."""
        start = texts.head(self.start).collect(engine="streaming")
        seen = {text.name: self.both(text.name, None, text) for text in start}
        empty = [exactly(column) for column, found in seen.items() if found is None]
        rest = self.found(texts.select(empty)) if empty and start.height == self.start else {}
        return {**self.chosen(seen), **rest}

    def chosen(self, seen: Mapping[str, frozenset[Spelling] | None]) -> dict[str, Spelling]:
        """Return the best spelling of each column that has one."""
        best = {column: _best(found, self.destination) for column, found in seen.items()}
        return {column: found for column, found in best.items() if found is not None}

    def both(self, column: str, before: frozenset[Spelling] | None, text: pl.Series) -> frozenset[Spelling] | None:
        """Return the spellings that these values share with those seen before."""
        given = self.given.get(column)
        now = spellings(text, given, short=self.destination in _FLOATS_ONLY)
        both = now if before is None else before if now is None else before & now
        self.check(column, both)
        return both

    def check(self, column: str, found: frozenset[Spelling] | None) -> None:
        """Refuse a column that does not have the type given for it."""
        given = self.given.get(column)
        if found == _NONE and given in _KINDS:
            raise DataError(
                f"Column '{column}' has values that are not {_KINDS[given]}, the type given for it; correct them, or "
                "let its type be text.",
                column=column,
                topic="mixed-types",
            )

    def _checked(self, found: Spelling) -> Callable[[pl.Series], pl.Series]:
        """Return a function that converts a batch, if it still has the spelling."""

        def cast(values: pl.Series) -> pl.Series:
            if values.null_count() == len(values):
                return pl.Series(values.name, [None], dtype=found.dtype).new_from_index(0, len(values))
            if isinstance(values.dtype, pl.Categorical):
                return _by_category(values, cast)
            known = values.drop_nulls() if values.null_count() else values
            if not found.fits(known, short=self.destination in _FLOATS_ONLY):
                self.failed = True
                raise OtherTypesError("A column holds other values than its first rows.")
            return found.cast(values)

        return cast


def _by_category(values: pl.Series, cast: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Convert the distinct values of a categorical column, and look up each row."""
    distinct = values.unique()
    casted = cast(distinct.cast(pl.String))
    numbers = distinct.to_physical()
    missing = int(numbers.max() or 0) + 1  # type: ignore[arg-type]
    position = np.zeros(missing + 1, dtype=np.uint32)
    position[_filled(numbers, missing)] = np.arange(len(distinct))
    return casted.gather(position[_filled(values.to_physical(), missing)]).alias(values.name)


def _filled(numbers: pl.Series, missing: int) -> NDArray[np.integer]:
    return (numbers.cast(pl.Int64).fill_null(missing) if numbers.null_count() else numbers).to_numpy()


def released_texts(schema: Mapping[str, pl.DataType], recoding: Recoding) -> list[str]:
    """Return the text columns that keep their values in a release; generalized ones stay text."""
    return _texts(schema, {*recoding.changed, *recoding.hidden})


def _texts(schema: Mapping[str, pl.DataType], others: Collection[str]) -> list[str]:
    texts = (pl.String, pl.Categorical)
    return [column for column, dtype in schema.items() if isinstance(dtype, texts) and column not in others]


@runtime_checkable
class _TypedText(Protocol):
    """A source that may be delimited text, whose columns get types."""

    types: Types
    separator: str | None


def expect_types(source: Any, given: Mapping[str, Type], destination: Destination) -> None:
    """Set the types given for the columns of delimited text, and the destination of its release."""
    if isinstance(source, _TypedText):
        source.types = Types(given, destination)


def typed_again(
    scan: Callable[[], pl.LazyFrame], source: Any, recoding: Recoding, given: Mapping[str, Type]
) -> Callable[[], pl.LazyFrame]:
    """Return a scan of a release in delimited text that gives its columns the types they would have in a frame."""
    if not isinstance(source, _TypedText) or source.separator is None:
        return scan
    return _TypedScan(scan, frozenset([*recoding.changed, *recoding.hidden]), dict(given))


@dataclass(frozen=True)
class _TypedScan:
    """Reads a release with types. It is pickled with the release, so it holds column names but no values."""

    scan: Callable[[], pl.LazyFrame]
    others: frozenset[str]
    """The generalized columns, which stay text."""
    given: Mapping[str, Type]

    def __call__(self) -> pl.LazyFrame:
        plan, types = self.scan(), Types(self.given)
        columns = _texts(plan.collect_schema(), self.others)
        return _with_types(plan, types.found(plan.select(map(exactly, columns)))) if columns else plan


def _with_types(plan: pl.LazyFrame, found: Mapping[str, Spelling]) -> pl.LazyFrame:
    """Convert columns whose spelling is known for all rows."""
    return plan.with_columns(
        exactly(column).cast(pl.String).map_batches(each.cast, each.dtype, is_elementwise=True)
        for column, each in found.items()
    )
