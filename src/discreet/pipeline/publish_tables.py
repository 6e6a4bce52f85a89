"""Several tables leave together: all are written under hidden names, read back and audited joined, and then named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from discreet.engines import EagerSource, InMemorySource, Recoding, Shuffle, Source, open_source, unused
from discreet.job.linked_tables import LinkedTables
from discreet.pipeline.audit import Audit, RowOwners, read_people, read_tables, uniqueness_of_tables
from discreet.pipeline.clock import Clock
from discreet.pipeline.output import TablesOutput, like_input
from discreet.pipeline.publish import Promises
from discreet.pipeline.staging import ReadBack, Staged, staging_tables
from discreet.pipeline.tables import blanked, divided

__all__ = ["ReleasedTogether", "publish_tables", "write_tables"]


class ReleasedTogether(NamedTuple):
    """The joined table as it was released, its audit, and the tables by name, or where they were written."""

    joined: pl.DataFrame
    audit: Audit
    tables: dict[str, Any]
    promises: Promises
    """What was checked, with the households that were counted for it."""
    unseen: tuple[str, ...]
    """Quasi-identifiers that say whether a person has rows in a table, where all released people have some: that others
    were left out must not show."""


def publish_tables(
    source: Source,
    recoding: Recoding,
    promises: Promises,
    linked: LinkedTables,
    target: TablesOutput | None,
    clock: Clock,
) -> ReleasedTogether:
    """Recode the joined table, divide it into the tables, write them if there is a target, and audit them joined."""
    assert isinstance(source, InMemorySource)
    with clock("recode"):
        number = unused("row", source.columns)
        numbered = open_source(source.frame.with_row_index(number))
        released = numbered.recode(recoding)
        kept = released[number].to_numpy()
        unseen = tuple(mark for mark in linked.presence if not (released[mark] == "no").any())
        released = released.drop(number, *unseen)
        frames = divided(linked, released, kept)
        joined = blanked(linked, released, kept)
        promises = replace(
            promises, quasi_identifiers=tuple(name for name in promises.quasi_identifiers if name not in unseen)
        )
    if promises.person is not None and not promises.pseudonyms:  # households, whose column does not leave
        with clock("audit"):
            promises = replace(promises, people=_owners(source.frame, promises, joined, kept))
    if target is not None:
        audit, tables = write_tables(frames, promises, linked, target, clock)
        return ReleasedTogether(joined, audit, tables, promises, unseen)
    tables = {table.name: _as_given(frames[table.name], table.data) for table in linked.tables}
    with clock("audit"):
        return ReleasedTogether(joined, _checked(tables, promises, linked, None), tables, promises, unseen)


def _owners(numbered: pl.DataFrame, promises: Promises, joined: pl.DataFrame, kept: Any) -> RowOwners:
    """Return whose rows were released; the column that says so has numbers in the original table."""
    unit = str(promises.person)
    private = joined.with_columns(numbered[unit].gather(kept))
    parts = [part for part in promises.secrets if part in joined.columns]
    return read_people(private, promises.quasi_identifiers, parts, unit, promises.rows)


def write_tables(
    frames: Mapping[str, Any], promises: Promises, linked: LinkedTables, target: TablesOutput, clock: Clock
) -> tuple[Audit, dict[str, Any]]:
    """Write tables under hidden names, read them back, audit them joined, and only then name them, all at once."""
    layouts = {table.name: table.layout for table in linked.tables}
    outputs = {
        name: replace(like_input(output, layouts[name]), shuffle=_sized(target.shuffle, frames[name]))
        for name, output in target.outputs.items()
    }
    with staging_tables(replace(target, outputs=outputs)) as staged:
        with clock("recode"):
            for name, file in staged.items():
                file.write(frames[name])
        with clock("audit"):
            audit = _checked(
                {name: file.reopened() for name, file in staged.items()},
                promises,
                linked,
                _ReadBackTables(linked, staged, frames, promises, target.format_name),
            )
        written: dict[str, Any] = {name: file.finished() for name, file in staged.items()}
    return audit, written


def _sized(shuffle: Shuffle | None, frame: Any) -> Shuffle | None:
    return None if shuffle is None else replace(shuffle, rows=len(frame))


def _checked(
    tables: Mapping[str, Any], promises: Promises, linked: LinkedTables, read_back: _ReadBackTables | None
) -> Audit:
    """Audit tables, joined as whoever gets them joins them."""
    found = read_tables(tables, linked.person)
    audit = promises.check(found.joined, (), read_back)
    unique, together = uniqueness_of_tables(found, promises.quasi_identifiers, promises.unchanged)
    return replace(audit, unique=unique, singled_out=together)


class _ReadBackTables:
    """Translates values of the joined table, each by the file that it was read from."""

    def __init__(
        self,
        linked: LinkedTables,
        staged: Mapping[str, Staged],
        frames: Mapping[str, Any],
        promises: Promises,
        format_name: str,
    ) -> None:
        self._of_column: dict[str, tuple[str, ReadBack]] = {}
        needed = promises.secrets if promises.missing_sensitive == "unknown" else ()
        for table in linked.tables:
            own = {joined: column for column, joined in table.columns.items()}
            back = ReadBack(
                staged[table.name].read_back,
                frames[table.name],
                {own[name]: values for name, values in promises.values.items() if name in own},
                {own[name]: merged for name, merged in promises.merged.items() if name in own},
                [own[name] for name in needed if name in own],
                format_name,
            )
            self._of_column |= {joined: (column, back) for joined, column in own.items()}

    def as_read(self, values: Mapping[str, pl.Series]) -> dict[str, pl.Series]:
        """Return the distinct values of some columns as readers find them, each in its file."""
        found = dict(values)
        for back in {id(back): back for _, back in self._of_column.values()}.values():
            own = {name: column for name, (column, other) in self._of_column.items() if other is back}
            read = back.as_read({own[name]: values[name] for name in values if name in own})
            found |= {name: read[own[name]] for name in values if name in own}
        return found

    def __call__(self, column: str, read: pl.Series) -> pl.Series:
        """Return the released values; raise an OutputError if a file merges some of them."""
        if column not in self._of_column:  # whether a person has rows is not read from a file
            return read
        own, back = self._of_column[column]
        return back(own, read)


def _as_given(frame: pl.DataFrame, data: Any) -> Any:
    """Return a table as the kind of frame that came in."""
    if isinstance(data, pl.LazyFrame):
        return frame.lazy()
    source = open_source(data) if not isinstance(data, pl.DataFrame) else None
    return source.of_kind(frame) if isinstance(source, EagerSource) else frame
