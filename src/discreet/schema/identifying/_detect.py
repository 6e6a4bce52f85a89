"""Detection of columns that could identify people: a suggested role, the reasons with figures, and a certainty."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from discreet.schema._column import text_of
from discreet.schema._schema import Role
from discreet.schema._types import Type, infer_type, parse_dates
from discreet.schema.identifying._kinds import BIRTH, DATES, NAMES, PERSON_NUMBER, Sighting, sightings
from discreet.schema.identifying._words import DESCRIBING, SENSITIVE, words_of

__all__ = ["ColumnFacts", "Finding", "detect", "known_texts", "numbers_people", "singles_out"]

_FEW_ROWS, _SOME_ROWS = 20, 200
_OFTEN, _NEARLY_ALL = 0.1, 0.9
_PEOPLE = 20
"""Least number of distinct names or ID numbers that identify people, however many rows each has."""


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """Counts and a sample of a column, before it has a role."""

    name: str
    rows: int
    missing: int
    distinct: int
    """The number of different values, not counting missing ones."""
    unique: int
    """The number of rows with a value that no other row has."""
    sample: pl.Series
    """Some of its values, in a small table all; nulls are ignored."""
    exact: bool = True
    """Whether the counts are exact; they are estimated for very large tables."""

    @property
    def known(self) -> int:
        """The number of rows with a value."""
        return self.rows - self.missing

    @property
    def unique_share(self) -> float:
        """The share of rows with a value that no other row has, among rows with a value."""
        return self.unique / self.known if self.known else 0.0

    @property
    def distinct_share(self) -> float:
        """The number of different values over the number of rows with a value."""
        return self.distinct / self.known if self.known else 0.0

    @classmethod
    def of(cls, name: str, values: pl.Series, sizes: pl.Series | None = None) -> ColumnFacts:
        """Count a column, given all its values, or its distinct values and the number of rows of each as ``sizes``."""
        if sizes is None:
            counted = values.alias("value").value_counts(name="rows")
            values, sizes = counted["value"], counted["rows"]
        absent = values.is_null()
        present = sizes.filter(~absent)
        return cls(
            name,
            rows=int(sizes.sum()),
            missing=int(sizes.filter(absent).sum()),
            distinct=len(present),
            unique=int((present == 1).sum()),
            sample=values.filter(~absent),
        )


@dataclass(frozen=True)
class Finding:
    """Whether and why a column could identify people."""

    column: str
    role: Role
    """The suggested role."""
    reasons: tuple[str, ...]
    """Why, in sentences with figures and without values of the data."""
    certainty: Literal["certain", "likely", "possible"]
    """``certain``: by the values; ``likely``: by name and counts; ``possible``: by the name alone."""
    stops: bool
    """Whether the column must be confirmed before it is released as it is."""
    unique: float
    """The share of rows with a value that no other row has, among rows with a value."""
    type: Type
    kinds: tuple[Sighting, ...] = ()
    names_people: bool = False
    """Whether it holds names or birth dates of people by its name or values, whatever its counts."""

    @property
    def suspicious(self) -> bool:
        """Whether it could identify people at all."""
        return self.role in (Role.IDENTIFIER, Role.QUASI_IDENTIFIER)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "column": self.column,
            "role": str(self.role),
            "reasons": list(self.reasons),
            "certainty": self.certainty,
            "stops": self.stops,
            "unique": self.unique,
            "type": str(self.type),
        }


def singles_out(facts: ColumnFacts) -> bool:
    """Whether the values of a column single people out, by counts alone.

    In a table of 200 rows or more, one row in ten has a value nobody else has. In one of 20 or more, nine in ten have:
    with so few rows most ages and dates are rare by chance. Below that, counts say nothing.

    >>> singles_out(ColumnFacts.of("n", pl.Series(range(300)))), singles_out(ColumnFacts.of("n", pl.Series(range(9))))
    (True, False)
    """
    if facts.known < _FEW_ROWS:
        return False
    return facts.unique_share >= (_OFTEN if facts.known >= _SOME_ROWS else _NEARLY_ALL)


def detect(facts: ColumnFacts) -> Finding:
    """Propose a role for a column, and say why.

    >>> detect(ColumnFacts.of("Nachname", pl.Series(["Ruiz", "Okafor", "Weiss"]))).role
    <Role.IDENTIFIER: 'identifier'>
    >>> detect(ColumnFacts.of("fnlwgt", pl.Series(range(1000)))).stops
    True
    """
    texts = known_texts(facts.sample)
    kind = infer_type(facts.sample) if facts.sample.dtype != pl.Object else Type.TEXT
    words = words_of(facts.name)
    seen = sightings(facts.name, texts)
    sensitive = SENSITIVE.search(words) is not None
    described = DESCRIBING.search(words) is not None and not _numbers_called_dates(words, kind)
    alone = singles_out(facts)

    def finding(role: Role, certainty: Any, stops: bool, *reasons: str, names: bool = False) -> Finding:
        return Finding(facts.name, role, reasons, certainty, stops, facts.unique_share, kind, tuple(seen), names)

    shares = _uniqueness_text(facts)
    certain = [one for one in seen if one.direct and one.certain]
    if certain:
        why = f"It holds {certain[0].what}."
        return finding(Role.IDENTIFIER, "certain", True, why, *([shares] if alone else []), names=True)
    named = [one for one in seen if one.direct]
    numbered = PERSON_NUMBER.search(words) is not None
    if (named or numbered) and not sensitive and _may_name(facts, kind, seen, numbered):
        by = "values say" if named and named[0].found_in == "contents" else "name says"
        what = named[0].what if named else "numbers of people"
        many = f"It has {facts.distinct:,} different values in {facts.known:,} rows."
        return finding(Role.IDENTIFIER, "likely", True, f"Its {by} that it holds {what}.", many, names=True)
    birth = _birth(facts, words, texts, kind, seen)
    if birth is not None:
        return finding(Role.QUASI_IDENTIFIER, "likely", True, birth, *([shares] if alone else []), names=True)
    quasi = described or any(not one.direct for one in seen)
    if alone:
        return finding(_role_of_unique(facts, kind, sensitive, quasi), "certain", True, shares)
    if sensitive:
        return finding(Role.SENSITIVE, "possible", False, "Its name says something a person may want to keep private.")
    if any(one.kind == DATES and one.found_in == "contents" for one in seen):
        return finding(Role.QUASI_IDENTIFIER, "likely", False, "It holds dates more exact than a year.")
    if named or quasi:
        why = "Others may know this about a person, judging by its name."
        return finding(Role.QUASI_IDENTIFIER, "possible", False, why)
    if kind is Type.TEXT and _look_like_codes(texts):
        return finding(Role.QUASI_IDENTIFIER, "possible", False, "Its values look like codes of places or of people.")
    return finding(Role.INSENSITIVE, "possible", False, "Neither its name nor its values point to a person.")


def numbers_people(facts: ColumnFacts) -> bool:
    """Whether a column holds numbers or codes of people, by its name or by values that look like codes.

    >>> [numbers_people(ColumnFacts.of(name, pl.Series([1, 2]))) for name in ("Pat_ID", "income")]
    [True, False]
    """
    words, texts = words_of(facts.name), known_texts(facts.sample)
    if PERSON_NUMBER.search(words):
        return True
    seen = sightings(facts.name, texts)
    if any(one.kind in _NUMBERS for one in seen):
        return True
    letters = len(texts) >= _PEOPLE and texts.str.contains(r"[A-Z].*\d|\d.*[A-Z]").all()
    return not seen and letters and not DESCRIBING.search(words) and _look_like_codes(texts)


_NUMBERS = (
    "medical record numbers",
    "health plan numbers",
    "social security or other national numbers",
    "account numbers",
    "other numbers or codes of a person",
)


def _uniqueness_text(facts: ColumnFacts) -> str:
    about = "" if facts.exact else "about "
    share = f"{about}{facts.unique_share:.0%} of the rows"
    if facts.missing:
        return f"Where it has a value, {share} have one that no other row has."
    return f"In {share} it has a value that no other row has."


def _may_name(facts: ColumnFacts, kind: Type, seen: Sequence[Sighting], numbered: bool) -> bool:
    """Whether a column whose name says it names people has enough different values to do so.

    The names and numbers of people repeat where a person has several rows, so that some tens of them are enough.
    """
    if kind not in (Type.TEXT, Type.INTEGER):
        return False
    if facts.distinct >= _PEOPLE and (numbered or any(one.kind == NAMES for one in seen)):
        return True
    share = _OFTEN if facts.known >= _SOME_ROWS else 0.25 if facts.known >= _FEW_ROWS else 0.5
    return facts.distinct >= 2 and facts.distinct_share >= share


def _role_of_unique(facts: ColumnFacts, kind: Type, sensitive: bool, described: bool) -> Role:
    """Return the role of a column that singles people out; never one that is released as it is."""
    if sensitive:
        return Role.SENSITIVE
    if described:
        return Role.QUASI_IDENTIFIER
    if kind is Type.TEXT or (kind is Type.INTEGER and facts.distinct == facts.known):
        return Role.IDENTIFIER
    return Role.QUASI_IDENTIFIER


_DATES_TOLD = 20


def _birth(facts: ColumnFacts, words: str, texts: pl.Series, kind: Type, seen: list[Sighting]) -> str | None:
    """Say that a column holds birth dates, by its name and content or by a plausible range of days; None if not."""
    days = kind is Type.DATE or any(one.kind == DATES and one.found_in == "contents" for one in seen)
    if not days:
        return None
    if BIRTH.search(words):
        return "Its name and its values say that it holds birth dates."
    if kind is not Type.DATE or facts.known < _DATES_TOLD or facts.distinct_share < _OFTEN:
        return None
    years = parse_dates(texts).dt.year().drop_nulls()
    if not len(years):
        return None
    low, high = int(years.min()), int(years.max())  # type: ignore[arg-type]
    plausible = low >= 1900 and high <= datetime.datetime.now(datetime.UTC).year
    middle = years.quantile(0.75, "nearest"), years.quantile(0.25, "nearest")
    spread = (middle[0] or 0) - (middle[1] or 0)
    if plausible and spread >= 15 and high - low >= 40:
        return f"Its dates span {high - low} years, as those of birth do."
    return None


_CALLED_DATE = re.compile(r"\b(date|datum|fecha|dt|year|jahr|annee|jaar)\b")


def _numbers_called_dates(words: str, kind: Type) -> bool:
    """Whether a column of decimal numbers is called a date and nothing else others know."""
    return kind is Type.DECIMAL and DESCRIBING.sub("", _CALLED_DATE.sub("", words)) == _CALLED_DATE.sub("", words)


def known_texts(values: pl.Series) -> pl.Series:
    """Return the known values of a column as text, none where it holds something else."""
    dtype = values.dtype
    if isinstance(dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    elif dtype.is_nested() or dtype in (pl.Object, pl.Binary, pl.Duration):
        return pl.Series(values.name, [], dtype=pl.String)
    if values.dtype.is_float():
        values = values.fill_nan(None)
    return text_of(values).drop_nulls()


def _look_like_codes(texts: pl.Series) -> bool:
    """Whether the values are codes such as 00501 or SW1A 1AA: short, of one length or nearly, with digits."""
    if not len(texts):
        return False
    lengths = texts.str.len_chars().to_numpy()
    short = 3 <= lengths.max() <= 12 and lengths.max() - lengths.min() <= 2
    return bool(short and texts.n_unique() >= 2 and texts.str.contains(r"^[A-Z0-9 .-]*\d[A-Z0-9 .-]*$").all())
