"""Columns derived before anything else: dates shifted by person, and keyed pseudonyms.

Both replace values by others that only the owner's key can explain, so they are no generalizations and have no place in
a hierarchy. What they make is pseudonymous, and every release says so. The same key makes the same pseudonyms and
shifts each time: new ones in every release would let shifts be averaged away.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from discreet.engines import Engine, exactly, layout_of, open_source, relation_of, to_lazy
from discreet.errors import Argument, DataError, MissingColumnError, OutputError, UsageError, did_you_mean
from discreet.job.owner_key import Key, key_file
from discreet.job.settings import JobSettings
from discreet.pipeline.output import check_output
from discreet.report.notes import Caution
from discreet.runtime.locations import is_url
from discreet.runtime.text_form import parse_text
from discreet.schema import parse_dates

__all__ = ["DERIVATIONS", "about_derived", "check_derive", "with_derived_columns"]

_MOST_DAYS = 36_525
_LONGEST = 64
"""The hexadecimal digits of an HMAC-SHA256."""


class _Derivation(ABC):
    """One way to derive a column."""

    form: ClassVar[str]
    """How it is written, for messages."""
    title: ClassVar[str]
    summary: ClassVar[str]
    """What it does, in plain words."""

    @abstractmethod
    def columns(self, column: str) -> tuple[str, ...]:
        """Return the columns it needs."""

    @abstractmethod
    def derive(self, table: pl.DataFrame, column: str, key: Key) -> pl.Series:
        """Return the new values of a column."""

    @abstractmethod
    def about(self, column: str) -> str:
        """Return what the release says about the column."""


@dataclass(frozen=True)
class _ShiftDates(_Derivation):
    """All dates of a person shifted by the same number of days, which is random and never zero."""

    form: ClassVar[str] = "shift_dates(person=patient, days=180)"
    title: ClassVar[str] = "Shift its dates"
    summary: ClassVar[str] = "All dates of a person move by the same random number of days."

    person: str
    days: int = 180

    def __post_init__(self) -> None:
        whole = isinstance(self.days, int) and not isinstance(self.days, bool)
        if not isinstance(self.person, str) or not whole or not 0 < self.days <= _MOST_DAYS:
            raise UsageError(
                f"shift_dates takes the column that names people and a number of days from 1 to {_MOST_DAYS:,}, as in "
                f"{self.form}.",
                topic="derive",
            )

    def columns(self, column: str) -> tuple[str, ...]:
        """Return the dates and the column that names people."""
        return column, self.person

    def derive(self, table: pl.DataFrame, column: str, key: Key) -> pl.Series:
        """Shift the dates; text stays text."""
        people = table[self.person].cast(pl.String)
        if people.null_count():
            raise DataError(
                f"Column '{self.person}' has missing values, so that nobody knows whose dates in '{column}' belong "
                "together; fill or remove these rows.",
                column=self.person,
                topic="derive",
            )
        values = table[column]
        dates = _dates(values, column)
        shifts = {person: self._shift(key, person) for person in people.unique()}
        days = people.replace_strict(shifts, return_dtype=pl.Int64)
        moved = dates.to_frame("date").select(pl.col("date") + pl.duration(days=pl.lit(days))).to_series()
        moved = moved.cast(dates.dtype)
        if values.dtype != pl.String:
            return moved.alias(column)
        return moved.dt.to_string("%Y-%m-%d" if moved.dtype == pl.Date else "%Y-%m-%d %H:%M:%S").alias(column)

    def _shift(self, key: Key, person: str) -> int:
        """Return the days of a person: from -days to days, without zero."""
        drawn = int(key.sign("shift dates", self.person, person), 16) % (2 * self.days)
        return drawn - self.days if drawn < self.days else drawn - self.days + 1

    def about(self, column: str) -> str:
        """Return that dates are pseudonymous."""
        return (
            f"The dates in '{column}' are shifted by up to {self.days} days, by as many for all dates of one "
            f"'{self.person}'. They are pseudonymous and not anonymous: whoever knows one true date of a person knows "
            "them all."
        )


@dataclass(frozen=True)
class _Pseudonym(_Derivation):
    """An HMAC of each value, by the owner's key."""

    form: ClassVar[str] = "pseudonym(length=20)"
    title: ClassVar[str] = "Replace by keyed pseudonyms"
    summary: ClassVar[str] = "Each value becomes a code that nobody without your key can explain."

    length: int = 20

    def __post_init__(self) -> None:
        whole = isinstance(self.length, int) and not isinstance(self.length, bool)
        if not whole or not 16 <= self.length <= _LONGEST:
            raise UsageError(
                f"The length of a pseudonym is a whole number from 16 to {_LONGEST}, as in {self.form}.", topic="derive"
            )

    def columns(self, column: str) -> tuple[str, ...]:
        """Return the column itself."""
        return (column,)

    def derive(self, table: pl.DataFrame, column: str, key: Key) -> pl.Series:
        """Replace each value; a missing one stays missing."""
        values = table[column].cast(pl.String)
        known = values.drop_nulls().unique()
        names = [key.sign("pseudonym", column, value)[: self.length] for value in known]
        return values.replace_strict(known, pl.Series(names, dtype=pl.String), default=None, return_dtype=pl.String)

    def about(self, column: str) -> str:
        """Return that values are pseudonymous."""
        return (
            f"'{column}' has keyed pseudonyms. They are pseudonymous and not anonymous: rows of one person belong "
            "together visibly, and whoever has the key can find everybody."
        )


DERIVATIONS: Mapping[str, type[_Derivation]] = {"shift_dates": _ShiftDates, "pseudonym": _Pseudonym}
"""The ways to derive a column, by name."""


def check_derive(given: Any) -> dict[str, _Derivation]:
    """Return the derivation of each column; refuse what is none."""
    if not isinstance(given, Mapping) or not all(isinstance(text, str) for pair in given.items() for text in pair):
        raise UsageError(
            "derive maps columns to how they are derived, as in {visit: 'shift_dates(person=patient)'}.", topic="derive"
        )
    return {column: _parsed_derivation(form) for column, form in given.items()}


def _parsed_derivation(form: str) -> _Derivation:
    name, args, options = parse_text(form)
    if name not in DERIVATIONS:
        hint = did_you_mean(name, DERIVATIONS) or f"there are {' and '.join(DERIVATIONS)}."
        raise UsageError(f"There is no derivation '{name}'; {hint}", topic="derive")
    try:
        return DERIVATIONS[name](*args, **options)
    except TypeError:
        raise UsageError(
            f"'{form}' does not have these arguments; write it as in {DERIVATIONS[name].form}.", topic="derive"
        ) from None


def with_derived_columns(settings: JobSettings, *, dry: bool = False) -> JobSettings:
    """Return the settings, with derived columns in the table if there are any.

    A ``dry`` run writes nothing, not even a new key: it takes one that is forgotten afterwards.
    """
    chosen = check_derive(settings.derive)
    if not chosen:
        return settings
    data = settings.data
    is_file = isinstance(data, str | PathLike) and not is_url(data)
    if not is_file and (relation_of(data) is not None or not isinstance(data, pl.DataFrame | pl.LazyFrame)):
        raise UsageError(
            "Columns are derived in files and polars frames; give the table as one of them, or derive the columns "
            "where it is.",
            topic="derive",
        )
    layout = layout_of(open_source(data)) if is_file else None
    if settings.output is not None and settings.linked is None:
        check_output(settings.output, data, settings.population, overwrite=settings.overwrite)
    plan = to_lazy(data)
    names = plan.collect_schema().names()
    for column, derivation in chosen.items():
        for needed in derivation.columns(column):
            if needed not in names:
                raise MissingColumnError(needed, names)
    table = plan.collect(engine="streaming")
    key = Key(Path(), secrets.token_bytes(32)) if dry else _key(settings)
    derived = [derivation.derive(table, column, key) for column, derivation in chosen.items()]
    made = table.with_columns(derived).select(map(exactly, names))
    return replace(
        settings,
        data=made.lazy() if isinstance(data, pl.LazyFrame) else made,
        engine=Engine(),
        read_as=layout,
    )


def about_derived(settings: JobSettings) -> Iterator[str]:
    """Yield what a release says about derived columns that it has."""
    left_out = settings.identifiers
    dropped = [left_out] if isinstance(left_out, str) else left_out
    for column, derivation in check_derive(settings.derive).items():
        if column not in dropped:
            yield Caution(derivation.about(column))


def _key(settings: JobSettings) -> Key:
    """Return the owner's key, which is made if it is not there."""
    file = key_file(settings.key)
    key = None if file is None else file.make()
    if key is None:
        raise OutputError(
            "Derived columns need a key, which cannot be kept in the home folder; name a file for it with ",
            Argument("key"),
            ".",
            topic="key",
        )
    return key


def _dates(values: pl.Series, column: str) -> pl.Series:
    """Return dates, or dates with times, from text too."""
    dates = parse_dates(values) if values.dtype == pl.String else values
    is_date = dates.dtype == pl.Date or isinstance(dates.dtype, pl.Datetime)
    if not is_date or dates.null_count() > values.null_count():
        raise DataError(
            f"Column '{column}' has values that are no dates, which cannot be shifted; correct them, or say how dates "
            "are written with ",
            Argument("date_format"),
            ".",
            column=column,
            topic="derive",
        )
    return dates
