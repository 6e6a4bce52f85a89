"""Columns released as they are because nobody said what they are: how many people each singles out, and a stop.

A column stops the job, before any search, if nobody confirmed it (``keep``) and

- it singles people out: one row in ten has a value no other row has (nine in ten where fewer than 200 rows have a
  value; in fewer than 20, counts say nothing);
- its values show what it is: e-mail addresses, telephone numbers, numbers with check digits, birth dates, …;
- its name says that it names people, and it has enough different values to do so;
- it holds values of a column that is left out as an identifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from discreet._words import either
from discreet.engines import Source, look_at
from discreet.errors import UndecidedColumnError
from discreet.release._caution import Caution
from discreet.schema import ColumnFacts, Finding, Leak, detect, find_leaks, known_texts

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


@dataclass(frozen=True, eq=False)
class Undecided:
    """What a look at the columns without a role, and at identifiers, found."""

    rows: int = 0
    kept: tuple[KeptColumn, ...] = ()
    repeated: Mapping[str, float] = field(default_factory=dict)
    """Identifiers that name several rows each, and how many on average."""
    sampled: bool = False
    """Whether values of identifiers were looked for in a sample of the rows."""

    def check(self) -> None:
        """Stop if a column that nobody confirmed could tell who somebody is."""
        stopping = [column for column in self.kept if column.stops and not column.confirmed]
        if not stopping:
            return
        named = "; ".join(f"'{column.name}': {' '.join(column.reasons)}".rstrip(".") for column in stopping)
        names = [column.name for column in stopping]
        raise UndecidedColumnError(
            f"{either(len(stopping), 'A column', 'Columns')} without a role would be released as "
            f"{either(len(stopping), 'it is', 'they are')} and could tell who somebody is ({named}); name "
            f"{either(len(stopping), 'it', 'each')} as an identifier, a quasi-identifier or sensitive, or confirm that "
            f"{either(len(stopping), 'it stays', 'they stay')}: keep={names!r}, or on the command line "
            f"{' '.join(f'--keep {_quoted(name)}' for name in names)}.",
            names,
        )

    def notes(self) -> Iterator[str]:
        """Yield what a user should know about columns that are released as they are."""
        for name, rows in self.repeated.items():
            yield Caution(
                f"Identifier '{name}' repeats, {rows:.1f} rows for each of its values on average: k counts rows, not "
                "people, so that a class of k rows may be fewer people; release one row for each person."
            )
        confirmed = [column for column in self.kept if column.stops]
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
        unread = [column for column in self.kept if column.unique is None and not column.confirmed]
        if unread:
            yield Caution(
                f"Nobody looked into {', '.join(repr(column.name) for column in unread)}, which "
                f"{either(len(unread), 'holds', 'hold')} lists, records or bytes and "
                f"{either(len(unread), 'is', 'are')} released as {either(len(unread), 'it is', 'they are')}; make sure "
                "that nobody is named there."
            )
        listed = {column.name for column in (*confirmed, *doubtful, *unread)}
        others = [column for column in self.kept if column.name not in listed]
        if others:
            yield f"Released as {either(len(others), 'it is', 'they are')}: {_listed(others, self.rows)}."
        if self.sampled and self.kept:
            yield "Values of identifiers were looked for in a sample of the rows of the columns released as they are."


def look_at_undecided(
    source: Source, identifiers: Sequence[str], columns: Sequence[str], keep: Sequence[str] = ()
) -> Undecided:
    """Look at the ``columns`` that are released as they are, of which ``keep`` are confirmed, and at identifiers."""
    if not columns and not identifiers:
        return Undecided()
    look = look_at(source, [*columns, *identifiers])
    findings = {name: detect(look.facts[name]) for name in columns if name in look.facts}
    known = [name for name in identifiers if name in look.facts]
    leaks = {leak.column: leak for leak in find_leaks(look.sample, known, list(findings))}
    return Undecided(
        rows=max((facts.rows for facts in look.facts.values()), default=0),
        kept=tuple(_kept(name, findings.get(name), leaks.get(name), name in keep) for name in columns),
        repeated={name: rows for name in known if (rows := _rows_each(look.facts[name])) is not None},
        sampled=bool(leaks or known) and not look.whole,
    )


def _kept(name: str, found: Finding | None, leak: Leak | None, confirmed: bool) -> KeptColumn:
    if found is None:
        return KeptColumn(name, None, confirmed)
    reasons = found.reasons if found.suspicious or found.stops else ()
    if leak is not None:
        reasons = (f"It holds values of the identifier '{leak.identifier}'.", *(reasons if found.stops else ()))
    return KeptColumn(name, found.unique, confirmed, reasons, found.stops or leak is not None)


_PEOPLE = ("the names of people", "places smaller than a state", "dates more exact than a year")
"""What several people may share, so that it may well repeat."""


def _rows_each(facts: ColumnFacts) -> float | None:
    """Return how many rows each value of an identifier has on average, if that means several rows for a person."""
    if facts.known < 4 or not facts.distinct:
        return None
    each = facts.known / facts.distinct
    found = detect(facts)
    shared = [seen for seen in found.kinds if seen.kind in _PEOPLE]
    texts = known_texts(facts.sample)
    if shared and (not len(texts) or float(texts.str.contains(r"\S\s+\S").mean() or 0) < 0.8 or each < 2):  # type: ignore[arg-type]
        return None
    if not found.kinds and facts.distinct_share < 0.02:
        return None  # nothing says that it names a person: a column somebody wanted to leave out
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
    shares = [f"'{column.name}' ({share_text(column.unique, rows)} unique)" for column in columns]
    return ", ".join(shares)


def _quoted(name: str) -> str:
    return f"'{name}'" if " " in name else name
