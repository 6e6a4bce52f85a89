"""Columns without a role: they would be released unchanged, so those that could identify people stop the job.

A column stops the job, before any search, if nobody confirmed it (``keep``) and

- it singles people out: one row in ten has a unique value (nine in ten where fewer than 200 rows have a value; with
  fewer than 20, counts say nothing);
- its values show what it is: e-mail addresses, telephone numbers, numbers with check digits, birth dates, …;
- its name says that it names people, and it has enough distinct values to do so;
- it holds values of a column that is dropped as an identifier;
- it holds lists, structs, bytes or objects, which cannot be inspected.

Sensitive columns are released unchanged too: those that name people stop the job in the same way. So does a pandas
index that names people, which leaves with the rows of a frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from discreet.engines import Source, index_of, unnamed_of
from discreet.errors import Argument, UndecidedColumnError
from discreet.report.notes import Caution
from discreet.report.numbers import rounded_percent
from discreet.runtime.plurals import either, listed
from discreet.schema import ColumnFacts, Finding, Leak, Type, detect, find_leaks, numbers_people

__all__ = ["KeptColumn", "UndecidedColumns", "inspect_columns"]


@dataclass(frozen=True)
class KeptColumn:
    """A column that is released unchanged."""

    name: str
    unique: float | None
    """The share of non-missing values that occur once; None if they cannot be counted.

    Of a release, those of the released rows; for tables too large to group again, those of all rows.
    """
    confirmed: bool
    """Whether the user confirmed it (``keep``)."""
    reasons: tuple[str, ...] = ()
    """Why it could identify people, if it could."""
    stops: bool = False
    """Whether it would stop the job unless confirmed."""
    names_people: bool = False
    """Whether it would stop the job even as a sensitive column."""
    role: Literal["", "sensitive", "index"] = ""
    """Its role, if it has one."""


@dataclass(frozen=True, eq=False)
class UndecidedColumns:
    """Findings about identifiers and columns without a role."""

    rows: int = 0
    kept: tuple[KeptColumn, ...] = ()
    repeated: Mapping[str, float] = field(default_factory=dict)
    """Identifiers of people with several rows each, and the average number of rows."""
    sensitive: tuple[KeptColumn, ...] = ()
    index: tuple[KeptColumn, ...] = ()
    """The levels of a pandas index, which leaves with the rows."""
    index_dropped: tuple[str, ...] = ()
    """The index levels that do not leave, because they are identifiers."""
    sampled: bool = False
    """Whether values of identifiers were searched for in a sample of the rows."""

    def check(self) -> None:
        """Raise an UndecidedColumnError if a column that was not confirmed could identify people."""
        every = (*self.kept, *self.sensitive, *self.index)
        stopping = [column for column in every if column.stops and not column.confirmed]
        if not stopping:
            return
        named = "; ".join(f"{_named(column)}: {' '.join(column.reasons)}".rstrip(".") for column in stopping)
        names = list(dict.fromkeys(column.name for column in stopping))
        count, undecided = len(stopping), not any(column.role for column in stopping)
        named_people = any(column.names_people or column.role for column in stopping)
        roles = (
            "an identifier or a quasi-identifier" if named_people else "an identifier, a quasi-identifier or sensitive"
        )
        way_out = f"name {either(count, 'it', 'each')} as {roles}"
        if any(column.role == "index" for column in stopping):
            way_out = "replace the index, as in frame.reset_index(drop=True)" + ("" if count == 1 else f", {way_out}")
        raise UndecidedColumnError(
            f"{either(count, 'A column', 'Columns')} {'without a role ' if undecided else ''}would be released as "
            f"{either(count, 'it is', 'they are')} and could identify people ({named}); {way_out}, or confirm "
            f"that {either(count, 'it stays', 'they stay')}, with ",
            Argument("keep", names),
            ".",
            columns=names,
        )

    def notes(self) -> Iterator[str]:
        """Yield what a user should know about columns that are released unchanged."""
        if self.repeated:
            several, figures = len(self.repeated), [f"{rows:.1f}" for rows in self.repeated.values()]
            yield Caution(
                f"{either(several, 'Identifier', 'Identifiers')} {listed(map(repr, self.repeated))} "
                f"{either(several, 'repeats', 'repeat')}, {listed(figures)} rows for each of "
                f"{either(several, 'its', 'their')} values on average: k counts rows, not people, so a class of k "
                "rows may be fewer people; name the column that says whose row it is, as in "
                f"person='{next(iter(self.repeated))}' (--person, person:), and promises count people."
            )
        yield from self.index_notes()
        alone = [column for column in self.sensitive if column.reasons and not column.stops]
        if alone:
            yield Caution(
                f"Sensitive columns are released as they are, and many people have a unique value in "
                f"{_listed(alone, self.rows)}: anyone who knows it finds the row; release fewer digits, or name "
                f"{either(len(alone), 'it', 'such a column')} as a quasi-identifier."
            )
        confirmed = [column for column in (*self.kept, *self.sensitive) if column.stops]
        if confirmed:
            yield Caution(
                "Kept as confirmed, though "
                + either(len(confirmed), "it", "each")
                + f" could identify people: {_listed(confirmed, self.rows)}."
            )
        doubtful = [column for column in self.kept if column.reasons and not column.stops and not column.confirmed]
        if doubtful:
            yield Caution(
                f"Released as {either(len(doubtful), 'it is', 'they are')}, though others may know "
                f"{either(len(doubtful), 'it', 'them')} about a person: {_listed(doubtful, self.rows)}; name such "
                "columns as identifiers or quasi-identifiers."
            )
        noted = {column.name for column in (*confirmed, *doubtful)}
        others = [column for column in self.kept if column.name not in noted]
        if others:
            yield f"Released as {either(len(others), 'it is', 'they are')}: {_listed(others, self.rows)}."
        if self.sampled and self.kept:
            yield "Columns released as they are were searched for values of identifiers in a sample of the rows only."

    def index_notes(self) -> Iterator[str]:
        """Yield what a user should know about the index of a pandas frame."""
        if self.index:
            names = listed(f"'{column.name}'" for column in self.index)
            yield Caution(
                f"The index of the frame ({names}) is released as it is; make sure that it discloses nothing about "
                "people, or replace it, as in frame.reset_index(drop=True)."
            )
        if self.index_dropped:
            names = listed(map(repr, self.index_dropped))
            yield f"The index of the frame ({names}) is an identifier, and is left out."


def inspect_columns(
    source: Source,
    identifiers: Sequence[str],
    columns: Sequence[str],
    keep: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    *,
    with_index: bool = True,
) -> UndecidedColumns:
    """Inspect the ``columns`` without a role, identifiers and ``sensitive`` columns; ``keep`` are confirmed.

    With ``with_index`` a pandas index is inspected too; it leaves with a frame, but is not written to outputs.
    """
    levels, index_dropped = index_of(source, identifiers) if with_index else ({}, [])
    index = tuple(_index_level(name, values, name in keep) for name, values in levels.items())
    unnamed = tuple(_inspected(name, values, name in keep)[0] for name, values in unnamed_of(source).items())
    found = UndecidedColumns(kept=unnamed, index=index, index_dropped=tuple(index_dropped))
    if not columns and not identifiers and not sensitive:
        return found
    released = [*columns, *sensitive]
    profile = source.profile([*released, *identifiers])
    findings = {name: detect(profile.facts[name]) for name in released if name in profile.facts}
    known = [name for name in identifiers if name in profile.facts]
    leaks = {leak.column: leak for leak in find_leaks(profile.sample, known, list(findings))}
    kept = {name: _kept_column(name, findings.get(name), leaks.get(name), name in keep) for name in released}
    return replace(
        found,
        rows=max((facts.rows for facts in profile.facts.values()), default=0),
        kept=(*(kept[name] for name in columns), *unnamed),
        sensitive=tuple(_sensitive(kept[name]) for name in sensitive),
        repeated={name: rows for name in known if (rows := _rows_each(profile.facts[name])) is not None},
        sampled=bool(leaks or known) and not profile.whole,
    )


def _kept_column(name: str, found: Finding | None, leak: Leak | None, confirmed: bool) -> KeptColumn:
    if found is None:
        return KeptColumn(name, None, confirmed, (_CLOSED,), stops=True, names_people=True)
    reasons = found.reasons if found.suspicious or found.stops else ()
    if leak is not None:
        reasons = (f"It holds values of the identifier '{leak.identifier}'.", *(reasons if found.stops else ()))
    names = found.names_people or leak is not None
    return KeptColumn(name, found.unique, confirmed, reasons, found.stops or leak is not None, names)


_CLOSED = "It holds lists, records, bytes or objects, which cannot be inspected."


def _sensitive(column: KeptColumn) -> KeptColumn:
    """Make it a sensitive column, which stops the job only if it names people."""
    return replace(column, reasons=column.reasons if column.stops else (), stops=column.names_people, role="sensitive")


def _index_level(name: str, values: pl.Series, confirmed: bool) -> KeptColumn:
    """Return an index level, which stops the job if it names people or is text that singles them out."""
    column, found = _inspected(name, values, confirmed)
    stops = found is None or found.names_people or (found.stops and found.type is Type.TEXT)
    return replace(column, reasons=column.reasons if stops else (), stops=stops, role="index")


def _inspected(name: str, values: pl.Series, confirmed: bool) -> tuple[KeptColumn, Finding | None]:
    """Inspect values that no source counts: an index, or columns whose name is no text."""
    closed = values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary)
    found = None if closed else detect(ColumnFacts.of(name, values))
    return _kept_column(name, found, None, confirmed), found


def _rows_each(facts: ColumnFacts) -> float | None:
    """Return the average number of rows per value of an identifier, if it identifies people with several rows."""
    if facts.known < 4 or not facts.distinct or not numbers_people(facts):
        return None
    each = facts.known / facts.distinct
    return each if each >= (1.01 if facts.exact else 1.05) else None


def _listed(columns: Sequence[KeptColumn], rows: int) -> str:
    """List columns with their share of unique values."""
    if rows < 100:
        return ", ".join(f"'{column.name}'" for column in columns)
    shares = (
        f" ({rounded_percent(column.unique, rows)} unique)" if column.unique is not None else "" for column in columns
    )
    return ", ".join(f"'{column.name}'{share}" for column, share in zip(columns, shares, strict=True))


def _named(column: KeptColumn) -> str:
    """Name a column and its role."""
    if column.role == "index":
        return f"the index '{column.name}'"
    return f"the sensitive column '{column.name}'" if column.role else f"'{column.name}'"
