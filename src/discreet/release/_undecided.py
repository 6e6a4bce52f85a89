"""Columns released as they are because nobody said what they are: how many people each singles out, and a stop.

A column stops the job, before any search, if nobody confirmed it (``keep``) and

- it singles people out: one row in ten has a value no other row has (nine in ten where fewer than 200 rows have a
  value; in fewer than 20, counts say nothing);
- its values show what it is: e-mail addresses, telephone numbers, numbers with check digits, birth dates, …;
- its name says that it names people, and it has enough different values to do so;
- it holds values of a column that is left out as an identifier;
- it holds lists, records, bytes or objects, into which nobody can look.

Sensitive columns are released as they are too: those that name people stop the job in the same way. So does an index of
pandas that names people, which leaves with the rows of a frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from discreet._words import either, listed
from discreet.engines import Source, index_of, look_at, unnamed_of
from discreet.errors import UndecidedColumnError
from discreet.release._caution import Caution
from discreet.schema import ColumnFacts, Finding, Leak, Type, detect, find_leaks, numbers_people

__all__ = ["KeptColumn", "Undecided", "look_at_undecided", "share_text"]


@dataclass(frozen=True)
class KeptColumn:
    """A column that is released as it is."""

    name: str
    unique: float | None
    """The share of the rows with a value whose value nobody else has; None where that cannot be counted."""
    confirmed: bool
    """Whether somebody said that it may be (``keep``)."""
    reasons: tuple[str, ...] = ()
    """Why it could tell who somebody is, if it could."""
    stops: bool = False
    """Whether it would stop the job if nobody had confirmed it."""
    names_people: bool = False
    """Whether it would stop the job as a sensitive column, too."""
    role: Literal["", "sensitive", "index"] = ""
    """What it is, where it is no column without a role."""


@dataclass(frozen=True, eq=False)
class Undecided:
    """What a look at the columns without a role, and at identifiers, found."""

    rows: int = 0
    kept: tuple[KeptColumn, ...] = ()
    repeated: Mapping[str, float] = field(default_factory=dict)
    """Identifiers that number people and name several rows each, and how many on average."""
    sensitive: tuple[KeptColumn, ...] = ()
    """Sensitive columns."""
    index: tuple[KeptColumn, ...] = ()
    """The levels of an index of pandas that leaves with the rows."""
    index_dropped: tuple[str, ...] = ()
    """The levels of one that do not, because they are identifiers."""
    sampled: bool = False
    """Whether values of identifiers were looked for in a sample of the rows."""

    def check(self) -> None:
        """Stop if a column that nobody confirmed could tell who somebody is."""
        every = (*self.kept, *self.sensitive, *self.index)
        stopping = [column for column in every if column.stops and not column.confirmed]
        if not stopping:
            return
        named = "; ".join(f"{_named(column)}: {' '.join(column.reasons)}".rstrip(".") for column in stopping)
        names = list(dict.fromkeys(column.name for column in stopping))
        one, undecided = len(stopping), not any(column.role for column in stopping)
        named_people = any(column.names_people or column.role for column in stopping)
        ways = (
            "an identifier or a quasi-identifier" if named_people else "an identifier, a quasi-identifier or sensitive"
        )
        way = f"name {either(one, 'it', 'each')} as {ways}"
        if any(column.role == "index" for column in stopping):
            way = "replace the index, as in frame.reset_index(drop=True)" + ("" if one == 1 else f", {way}")
        raise UndecidedColumnError(
            f"{either(one, 'A column', 'Columns')} {'without a role ' if undecided else ''}would be released as "
            f"{either(one, 'it is', 'they are')} and could tell who somebody is ({named}); {way}, or confirm that "
            f"{either(one, 'it stays', 'they stay')}: keep={names!r}, or on the command line "
            f"{' '.join(f'--keep {_quoted(name)}' for name in names)}.",
            names,
        )

    def notes(self) -> Iterator[str]:
        """Yield what a user should know about columns that are released as they are."""
        if self.repeated:
            several, figures = len(self.repeated), [f"{rows:.1f}" for rows in self.repeated.values()]
            yield Caution(
                f"{either(several, 'Identifier', 'Identifiers')} {listed(map(repr, self.repeated))} "
                f"{either(several, 'repeats', 'repeat')}, {listed(figures)} rows for each of "
                f"{either(several, 'its', 'their')} values on average: k counts rows, not people, so that a class of k "
                "rows may be fewer people; release one row for each person."
            )
        yield from self.index_notes()
        alone = [column for column in self.sensitive if column.reasons and not column.stops]
        if alone:
            yield Caution(
                f"Sensitive columns are released as they are, and many people have a value of their own in "
                f"{_listed(alone, self.rows)}: who knows it finds the row; release fewer digits, or name "
                f"{either(len(alone), 'it', 'such a column')} as a quasi-identifier."
            )
        confirmed = [column for column in (*self.kept, *self.sensitive) if column.stops]
        if confirmed:
            yield Caution(
                "Kept as confirmed, though "
                + either(len(confirmed), "it", "each")
                + f" could tell who somebody is: {_listed(confirmed, self.rows)}."
            )
        doubtful = [column for column in self.kept if column.reasons and not column.stops and not column.confirmed]
        if doubtful:
            yield Caution(
                f"Released as {either(len(doubtful), 'it is', 'they are')}, though others may know "
                f"{either(len(doubtful), 'it', 'them')} about a person: {_listed(doubtful, self.rows)}; name such "
                "columns as identifiers or quasi-identifiers."
            )
        told = {column.name for column in (*confirmed, *doubtful)}
        others = [column for column in self.kept if column.name not in told]
        if others:
            yield f"Released as {either(len(others), 'it is', 'they are')}: {_listed(others, self.rows)}."
        if self.sampled and self.kept:
            yield "Values of identifiers were looked for in a sample of the rows of the columns released as they are."

    def index_notes(self) -> Iterator[str]:
        """Yield what a user should know about the index of a frame of pandas."""
        if self.index:
            names = listed(f"'{column.name}'" for column in self.index)
            yield Caution(
                f"The index of the frame ({names}) leaves with its rows as it is; make sure that it tells nothing "
                "about people, or replace it, as in frame.reset_index(drop=True)."
            )
        if self.index_dropped:
            names = listed(map(repr, self.index_dropped))
            yield f"The index of the frame ({names}) is an identifier, and is left out."


def look_at_undecided(
    source: Source,
    identifiers: Sequence[str],
    columns: Sequence[str],
    keep: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    *,
    with_index: bool = True,
) -> Undecided:
    """Look at the ``columns`` without a role, at identifiers and at ``sensitive`` columns; ``keep`` are confirmed.

    An index of pandas is looked at unless the rows go to a place, where it does not go ``with_index``.
    """
    levels, index_dropped = index_of(source, identifiers) if with_index else ({}, [])
    index = tuple(_index_level(name, values, name in keep) for name, values in levels.items())
    unnamed = tuple(_looked_at(name, values, name in keep)[0] for name, values in unnamed_of(source).items())
    left = Undecided(kept=unnamed, index=index, index_dropped=tuple(index_dropped))
    if not columns and not identifiers and not sensitive:
        return left
    released = [*columns, *sensitive]
    look = look_at(source, [*released, *identifiers])
    findings = {name: detect(look.facts[name]) for name in released if name in look.facts}
    known = [name for name in identifiers if name in look.facts]
    leaks = {leak.column: leak for leak in find_leaks(look.sample, known, list(findings))}
    kept = {name: _kept(name, findings.get(name), leaks.get(name), name in keep) for name in released}
    return replace(
        left,
        rows=max((facts.rows for facts in look.facts.values()), default=0),
        kept=(*(kept[name] for name in columns), *unnamed),
        sensitive=tuple(_sensitive(kept[name]) for name in sensitive),
        repeated={name: rows for name in known if (rows := _rows_each(look.facts[name])) is not None},
        sampled=bool(leaks or known) and not look.whole,
    )


def _kept(name: str, found: Finding | None, leak: Leak | None, confirmed: bool) -> KeptColumn:
    if found is None:
        return KeptColumn(name, None, confirmed, (_CLOSED,), stops=True, names_people=True)
    reasons = found.reasons if found.suspicious or found.stops else ()
    if leak is not None:
        reasons = (f"It holds values of the identifier '{leak.identifier}'.", *(reasons if found.stops else ()))
    names = found.names_people or leak is not None
    return KeptColumn(name, found.unique, confirmed, reasons, found.stops or leak is not None, names)


_CLOSED = "It holds lists, records, bytes or objects, into which nobody can look."


def _sensitive(column: KeptColumn) -> KeptColumn:
    """Return a sensitive column, which stops the job only if it names people."""
    return replace(column, reasons=column.reasons if column.stops else (), stops=column.names_people, role="sensitive")


def _index_level(name: str, values: pl.Series, confirmed: bool) -> KeptColumn:
    """Return a level of an index, which stops the job if it names people or is text that singles them out."""
    column, found = _looked_at(name, values, confirmed)
    stops = found is None or found.names_people or (found.stops and found.type is Type.TEXT)
    return replace(column, reasons=column.reasons if stops else (), stops=stops, role="index")


def _looked_at(name: str, values: pl.Series, confirmed: bool) -> tuple[KeptColumn, Finding | None]:
    """Look at values that no source counts: an index, and columns without a text for a name."""
    closed = values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary)
    found = None if closed else detect(ColumnFacts.of(name, values))
    return _kept(name, found, None, confirmed), found


def _rows_each(facts: ColumnFacts) -> float | None:
    """Return how many rows each value of an identifier has on average, if it numbers people who have several rows."""
    if facts.known < 4 or not facts.distinct or not numbers_people(facts):
        return None
    each = facts.known / facts.distinct
    return each if each >= (1.01 if facts.exact else 1.05) else None


def share_text(share: float | None, rows: int) -> str:
    """Write a share of the rows so that no single person can be read from it.

    >>> share_text(0.3751, 48_842), share_text(0.001, 48_842), share_text(0.4, 10)
    ('38 %', 'under 1 %', 'not told of so few rows')
    """
    if share is None:
        return "not counted"
    if rows < 100:
        return "not told of so few rows"
    step = 1 if rows >= 1000 else 5
    percent = step * round(100 * share / step)
    return f"under {step} %" if percent == 0 else f"{percent} %"


def _listed(columns: Sequence[KeptColumn], rows: int) -> str:
    """Name columns with the share of rows whose value is unique."""
    if rows < 100:
        return ", ".join(f"'{column.name}'" for column in columns)
    shares = (f" ({share_text(column.unique, rows)} unique)" if column.unique is not None else "" for column in columns)
    return ", ".join(f"'{column.name}'{share}" for column, share in zip(columns, shares, strict=True))


def _named(column: KeptColumn) -> str:
    """Name a column, and say what it is."""
    if column.role == "index":
        return f"the index '{column.name}'"
    return f"the sensitive column '{column.name}'" if column.role else f"'{column.name}'"


def _quoted(name: str) -> str:
    return f"'{name}'" if " " in name else name
