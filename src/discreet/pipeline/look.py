"""A first look at a table: its columns, the roles they seem to have, and who is unique in it.

Only names, types and counts are shown, no value of the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engines import open_source
from discreet.runtime.notebook_html import card, figures, findings, folded, note_list, table
from discreet.runtime.plurals import amount, listed
from discreet.runtime.text_form import format_text
from discreet.schema import Role, count_missing_marks, detect_all, missing_mark_notes, odd_value_notes, odd_values

if TYPE_CHECKING:
    from discreet.engines import Source
    from discreet.schema import ColumnFacts, Finding, Leak

__all__ = ["ColumnLook", "Look", "look"]

_MOST_IN_PAIRS = 12
"""Pairs are counted for up to this many quasi-identifiers."""
_SHOWN_PAIRS = 5


@dataclass(frozen=True)
class ColumnLook:
    """Facts about a column, without its values."""

    name: str
    type: str
    missing: int
    distinct: int
    unique: float
    """The share of rows whose value nobody else has."""
    suggested_role: str
    reasons: tuple[str, ...]
    certainty: str
    needs_decision: bool
    """Whether a job stops unless the column is given a role, or is confirmed with ``keep``."""
    estimated: bool = False
    """Whether ``distinct`` and ``unique`` are estimates."""

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain data."""
        data = {**asdict(self), "unique": round(self.unique, 6), "reasons": list(self.reasons)}
        if not self.estimated:
            del data["estimated"]
        return data


@dataclass(frozen=True, repr=False)
class Look:
    """A table at a glance. Made by :func:`discreet.look`; ``print`` shows it as text, a notebook as a page."""

    rows: int
    columns: tuple[ColumnLook, ...]
    classes: int | None
    """The number of different combinations of the quasi-identifiers; None if none is suggested."""
    unique_rows: int | None
    """The rows that the quasi-identifiers single out together."""
    smallest_class: int | None
    pairs: tuple[tuple[tuple[str, str], int], ...] = field(default=())
    """The pairs of quasi-identifiers that single out most rows, and how many."""
    notes: tuple[str, ...] = field(default=())
    """What may have been meant otherwise."""

    @property
    def identifiers(self) -> list[str]:
        """Columns that seem to name people."""
        return self._with_role(Role.IDENTIFIER)

    @property
    def quasi_identifiers(self) -> list[str]:
        """Columns that others could know about a person."""
        return self._with_role(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> list[str]:
        """Columns nobody should learn."""
        return self._with_role(Role.SENSITIVE)

    @property
    def call(self) -> str:
        """A call of :func:`discreet.anonymize` with the suggested roles, to start from."""
        roles = {name: getattr(self, name) for name in ("identifiers", "quasi_identifiers", "sensitive")}
        given = "".join(f"{name}={columns!r}, " for name, columns in roles.items() if columns)
        privacy = ["k(5)", *(format_text("distinct-l", [2, name], {}) for name in self.sensitive)]
        return f'dc.anonymize(data, {given}privacy={privacy!r}, suppression="budget(5%)", scheme="best")'

    def _with_role(self, role: Role) -> list[str]:
        return [column.name for column in self.columns if column.suggested_role == str(role)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON, without any value of the data."""
        data: dict[str, Any] = {"rows": self.rows, "columns": [column.to_dict() for column in self.columns]}
        if self.classes is not None:
            data["quasi_identifiers"] = {
                "columns": self.quasi_identifiers,
                "classes": self.classes,
                "unique_rows": self.unique_rows,
                "smallest_class": self.smallest_class,
            }
        return {**data, **({"notes": list(self.notes)} if self.notes else {})}

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each column."""
        names = ("name", "type", "missing", "distinct", "unique", "suggested_role", "needs_decision")
        return pl.DataFrame({name: [getattr(column, name) for column in self.columns] for name in names})

    def summary(self) -> str:
        """Return the table at a glance as text."""
        head = ("column", "type", "missing", "distinct", "unique", "suggested role")
        body = [_cells(column) for column in self.columns]
        widths = [max(map(len, cells)) for cells in zip(head, *body, strict=True)]
        lines = [f"{amount(self.rows, 'row')}, {amount(len(body), 'column')}", ""]
        for row in (head, *body):
            cells = (
                cell.rjust(width) if number in _NUMERIC else cell.ljust(width)
                for number, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("  ".join(cells).rstrip())
        decide = [column for column in self.columns if column.needs_decision]
        if decide:
            lines += ["", "Give each of these a role, or confirm with --keep that it is released as it is:"]
            lines += [f"  {column.name}: {' '.join(column.reasons)}" for column in decide]
        if self.unique_rows is not None:
            lines += ["", f"Together {', '.join(self.quasi_identifiers)}", f"{self._singled_out()}."]
            lines += [f"  {' and '.join(pair)} alone: {amount(alone, 'row')}" for pair, alone in self.pairs]
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(lines)

    def _singled_out(self) -> str:
        share = 100 * (self.unique_rows or 0) / max(self.rows, 1)
        return f"single out {self.unique_rows:,} of {amount(self.rows, 'row')} ({share:.1f} %)"

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"Look({amount(self.rows, 'row')}, {amount(len(self.columns), 'column')}: "
            f"identifiers={self.identifiers}, quasi_identifiers={self.quasi_identifiers}, sensitive={self.sensitive})"
        )

    def _repr_html_(self) -> str:
        decide = [
            ("caution", f"'{column.name}': {' '.join(column.reasons)}")
            for column in self.columns
            if column.needs_decision
        ]
        parts = [("Rows", f"{self.rows:,}", ""), ("Columns", f"{len(self.columns):,}", "")]
        if self.unique_rows is not None:
            share = self.unique_rows / max(self.rows, 1)
            quasi = f"of the rows are singled out by {listed(self.quasi_identifiers)}"
            parts.append(("Unique", f"{share:.1%}", quasi))
        rows = [_cells(column) for column in self.columns]
        pairs = [(", ".join(pair), f"{alone:,}") for pair, alone in self.pairs]
        return card(
            "A first look: the roles are guesses, check them",
            figures(parts),
            table("", ("column", "type", "missing", "different", "unique", "suggested role"), rows, text=[1, 5]),
            *(
                ["<p>Give each of these a role, or confirm with <code>keep</code> that it is released as it is:</p>"]
                if decide
                else []
            ),
            findings(decide),
            folded("Pairs of columns that single out most rows", table("", ("columns", "unique rows"), pairs))
            if pairs
            else "",
            note_list(self.notes),
            f"<p>Next: <code>{escape(self.call)}</code></p>",
        )


_NUMERIC = (2, 3, 4)


def _cells(column: ColumnLook) -> tuple[str, ...]:
    return (
        column.name,
        column.type,
        f"{column.missing:,}",
        f"{column.distinct:,}",
        f"{100 * column.unique:.1f} %",
        column.suggested_role,
    )


def look(data: Any) -> Look:
    """Return what is in a table: columns, types, the roles they seem to have, and who is unique. No value is shown.

    ``data`` is a path, the URL of a database table or a frame, as for :func:`discreet.anonymize`. The roles are guesses
    from names and values: check them.

    >>> from discreet import sample
    >>> seen = look(sample(200, seed=1))
    >>> seen.identifiers, seen.sensitive
    (['person_id', 'name'], ['income', 'diagnosis'])
    >>> seen.to_frame().columns[:3]
    ['name', 'type', 'missing']
    """
    source = open_source(data)
    profile = source.profile(source.columns)
    found, leaks = detect_all(profile.facts, profile.sample)
    columns = tuple(
        _column(profile.facts[name], found[name], leaks.get(name)) if name in found else _unreadable(name)
        for name in source.columns
    )
    rows = max((facts.rows for facts in profile.facts.values()), default=0)
    likely = [column.name for column in columns if column.suggested_role == str(Role.QUASI_IDENTIFIER)]
    notes = (*_missing_marks(source, profile.facts), *_odd_values(source, profile.facts))
    if not likely:
        return Look(rows, columns, None, None, None, notes=notes)
    counted = source.count(likely)
    sizes = counted.to_series(-1)
    smallest = int(sizes.min() or 0)  # type: ignore[arg-type]
    return Look(rows, columns, len(sizes), int((sizes == 1).sum()), smallest, tuple(_pairs(counted, likely)), notes)


def _missing_marks(source: Source, facts: Mapping[str, ColumnFacts]) -> Iterator[str]:
    """Yield a note for each column with texts that often mean a missing value; they are looked for in its sample."""
    for name, column in facts.items():
        if count_missing_marks(column.sample, [1] * len(column.sample)):
            counted = source.count([name])
            yield from missing_mark_notes(name, counted.to_series(0), counted.to_series(1).cast(pl.Int64))


def _odd_values(source: Source, facts: Mapping[str, ColumnFacts]) -> Iterator[str]:
    """Yield a note for each column with values that do not fit the others; they are looked for in its sample."""
    for name, column in facts.items():
        if next(odd_values(name, column.sample, [2] * len(column.sample)), None):
            counted = source.count([name])
            yield from odd_value_notes(name, counted.to_series(0), counted.to_series(1).cast(pl.Int64))


def _pairs(counted: pl.DataFrame, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the pairs of columns that single out most rows, given the rows of each combination of all columns.

    Pairs that single out no more rows than one of their columns by itself are left out.
    """
    if not 2 < len(names) <= _MOST_IN_PAIRS:
        return
    number = counted.columns[-1]

    def unique(*columns: str) -> int:
        sizes = counted.group_by([counted[name] for name in columns]).agg(pl.col(number).sum())[number]
        return int((sizes == 1).sum())

    single = {name: unique(name) for name in names}
    pairs = {pair: unique(*pair) for pair in combinations(names, 2)}
    alone = {pair: rows for pair, rows in pairs.items() if rows > max(single[name] for name in pair)}
    best = sorted(alone.items(), key=lambda item: -item[1])[:_SHOWN_PAIRS]
    yield from best


def _column(facts: ColumnFacts, found: Finding, leak: Leak | None) -> ColumnLook:
    reasons = list(found.reasons)
    if leak is not None:
        reasons.insert(0, f"It holds values of the identifier '{leak.identifier}'.")
    return ColumnLook(
        name=facts.name,
        type=str(found.type),
        missing=facts.missing,
        distinct=facts.distinct,
        unique=facts.unique / max(facts.rows, 1),
        suggested_role=str(found.role if leak is None else Role.IDENTIFIER),
        reasons=tuple(reasons),
        certainty=found.certainty if leak is None else "certain",
        needs_decision=found.stops or leak is not None,
        estimated=not facts.exact,
    )


def _unreadable(name: str) -> ColumnLook:
    """Describe a column of lists, structs or bytes, which cannot be inspected."""
    reason = "It holds lists, records or bytes, which cannot be inspected."
    return ColumnLook(name, "other", 0, 0, 0.0, str(Role.IDENTIFIER), (reason,), "possible", False)
