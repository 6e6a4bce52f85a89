"""The only exit: rows are written under a hidden name, read back and audited there, and only then get their name.

Everything that is released goes through :func:`write_rows`: the output of a job, a point of a front, rows that a
mapping was applied to, and a release in memory that is written later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from discreet.engines import (
    Destination,
    Format,
    MissingSensitive,
    OtherTypesError,
    Recoding,
    Source,
    expect_types,
    layout_of,
    relation_of,
    to_lazy,
    typed_again,
    without_formulas,
)
from discreet.errors import AuditError, DataError
from discreet.job.files import FileStamp
from discreet.pipeline.audit import Audit, AuditRequest, RowOwners, read_people, scan
from discreet.pipeline.clock import Clock
from discreet.pipeline.output import Output, SparkOutput, TableOutput, Target, Written, like_input
from discreet.pipeline.staging import ReadBack, Staged, StagedInDatabase, staging
from discreet.problem import PrivacyModel, Suppression
from discreet.report.numbers import number_text
from discreet.runtime.plurals import units

__all__ = ["Promises", "RowsToWrite", "kind_of", "publish", "write_rows"]


_HELD_CELLS = 1 << 25
"""Cells of recoded rows that are held between counting their people and writing them."""


@dataclass(frozen=True, eq=False)
class Promises:
    """What the audit of a release checks: privacy models, the columns they are about, the number of rows.

    ``unknown`` is the text of suppressed sensitive values, if there may be any. ``weights`` and ``population`` are
    those of the audit.
    """

    quasi_identifiers: tuple[str, ...]
    privacy: tuple[PrivacyModel, ...]
    sensitive: Mapping[str, Any]
    types: Mapping[str, Any]
    reference: Mapping[str, pl.DataFrame]
    unknown: str | None
    missing_sensitive: MissingSensitive
    rows: int | None
    way_out: str = "please report this"
    read: FileStamp | None = None
    """The input files, which must not have changed since they were first read."""
    person: str | None = None
    """The column that says whose row it is, or whose household's; promises count its values."""
    unit: str = "person"
    pseudonyms: bool = False
    """Whether that column is released, so that the audit reads it there."""
    expected_people: int | None = None
    """How many people the release should have rows of, as far as the search knows."""
    people: RowOwners | None = None
    """Whose rows were released, if the release does not say."""
    weights: str | None = None
    population: Any = None
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    """Hierarchies of quasi-identifiers, which give released values their meaning."""
    made_for: Format | None = None
    """The format the table was counted for: values it cannot distinguish count as one."""
    read_as: Format | None = None
    """The format of the input, if it is a file: what is written in the same one has its separator and labels."""
    certainty_of: tuple[str, ...] = ()
    """Sensitive columns that no model is about, but that the verdict on the release weighs."""
    unchanged: tuple[str, ...] = ()
    """Columns released unchanged; the verdict says how many rows they single out together."""
    values: Mapping[str, pl.Series] = field(default_factory=dict)
    """All values a quasi-identifier or sensitive column may be released with, where they are known."""
    suppression: Suppression | None = None
    """How rows or values were suppressed."""
    together: Callable[[Any], Any] | None = None
    """Compares a table with earlier releases; raises an error if it breaks a promise together with them."""

    @property
    def secrets(self) -> list[str]:
        """The sensitive attributes, and the columns of those that combine several."""
        return [part for name in self.sensitive for part in (name, *name.split("+"))]

    @property
    def merged(self) -> dict[str, Format]:
        """For each sensitive column, the format that may merge some of its values."""
        return {} if self.made_for is None else dict.fromkeys(self.secrets, self.made_for)

    def __reduce__(self) -> tuple[Any, ...]:
        return _nothing, ()

    def __copy__(self) -> Promises:
        return self

    def __deepcopy__(self, memo: Any) -> Promises:
        return self

    def with_people(self, rows: RowsToWrite, target: Target | None) -> tuple[Promises, RowsToWrite]:
        """Return the promises with the people whose rows are released, and the rows to write.

        People are counted in rows recoded with the number of the person in them, which is never written. Where those
        rows are written in the same form, they are held and not recoded again.
        """
        source, recoding = rows.source, rows.recoding
        if self.person is None or self.pseudonyms or source is None or recoding is None:
            return self, rows
        kept = tuple(column for column in recoding.drop if column != self.person)
        parts = [part for part in self.secrets if part in source.columns]
        with source.guard():
            private = source.recode(source.with_codes(replace(recoding, drop=kept)), to_text=True)
            held = None
            if isinstance(private, pl.LazyFrame) and self._are_held(target, private):
                private = held = private.collect(engine="streaming")
            people = read_people(private, self.quasi_identifiers, parts, self.person, self.rows)
        if held is not None:
            rows = replace(rows, held=held.drop(self.person))
        return replace(self, people=people), rows

    def _are_held(self, target: Target | None, rows: pl.LazyFrame) -> bool:
        """Whether the rows recoded to count people are held in memory, and then written unchanged."""
        if not isinstance(target, Output) or not target.is_text or target.shuffle is None or self.rows is None:
            return False
        return self.rows * len(rows.collect_schema()) <= _HELD_CELLS

    def check(self, data: Any, categories: Sequence[str] = (), read_back: Any = None) -> Audit:
        """Audit a table; raise an error if it breaks a promise, or if the input changed meanwhile."""
        if self.read is not None and not self.read.unchanged:
            raise DataError(f"'{self.read.name}' changed while it was being read; run the job again.")
        request = AuditRequest(
            categories=categories,
            quasi_identifiers={name: self.hierarchies.get(name) for name in self.quasi_identifiers},
            privacy=self.privacy,
            sensitive=self.sensitive,
            types=self.types,
            reference=self.reference,
            unknown=self.unknown,
            suppression=self.suppression,
            missing_sensitive=self.missing_sensitive,
            rows=self.rows,
            person=self.person if self.pseudonyms else None,
            people=self.people,
            unit=self.unit,
            as_read=None if read_back is None else read_back.as_read,
            weights=self.weights,
            population=self.population,
            read_back=read_back,
            certainty_of=self.certainty_of,
            unchanged=self.unchanged,
            made_for=None if self.made_for is None else self.made_for.kind,
        )
        verdict = request.check(data)
        if None is not self.expected_people != verdict.people:
            raise AuditError(
                f"The audit found another number of {units(self.unit)} than were to be released. Nothing was released; "
                f"{self.way_out}."
            )
        for broken in verdict.failed:
            promised = "" if broken.promised is None else f" where {number_text(broken.promised)} was promised"
            raise AuditError(
                f"The audit found {broken.model} broken: the release reached {number_text(broken.reached)}"
                f"{promised}. Nothing was released; {self.way_out}."
            )
        if self.together is not None:
            self.together(data)
        return verdict


def _nothing() -> None:
    """Replace promises in a pickle: they hold values of the original table."""


@dataclass(frozen=True, eq=False)
class RowsToWrite:
    """The rows to write: a source with its recoding, or a released frame."""

    source: Source | None = None
    recoding: Recoding | None = None
    frame: Any = None
    held: pl.DataFrame | None = None
    """The recoded rows, if they are in memory already."""
    for_spreadsheets: bool = False
    """Whether to put an apostrophe in front of text that begins like a formula."""

    @property
    def layout(self) -> Format | None:
        """The format of the file they were read from."""
        return None if self.source is None else layout_of(self.source)

    @property
    def categories(self) -> Sequence[str]:
        """Columns with few distinct values."""
        return () if self.recoding is None else self.recoding.categories

    def released(self, target: Target) -> Any:
        """Return the rows as a frame of any kind; None if the target database recodes a table of its own."""
        if self.source is None or self.recoding is None:
            return self.frame
        if self._in_database(target):
            return None
        if self.held is not None:
            return self.held.lazy()
        return self.source.recode(self.recoding, to_text=isinstance(target, Output) and target.is_text)

    def protected(self, released: Any) -> Any:
        """Return the rows as they are written, without formulas if asked for."""
        return without_formulas(released) if self.for_spreadsheets else released

    def write(self, staged: Staged, released: Any) -> None:
        """Write the rows under a hidden name."""
        if isinstance(staged, StagedInDatabase) and released is None and self.recoding is not None:
            staged.recode(self.source, self.recoding)
        else:
            staged.write(self.protected(released))

    def reopened(self, staged: Staged, released: Any) -> Any:
        """Read what was written, under the column names of the promises."""
        data = staged.reopened()
        if not self.for_spreadsheets:
            return data
        names = (to_lazy(rows).collect_schema().names() for rows in (self.protected(released), released))
        renamed = {safe: name for safe, name in zip(*names, strict=True) if safe != name}
        return scan(data).rename(renamed) if renamed else data

    def read_back(self, staged: Staged, table: pl.DataFrame) -> pl.DataFrame | None:
        """Return what readers would get of a small table; None if it is unchanged."""
        if not self.for_spreadsheets:
            return staged.read_back(table)
        protected = self.protected(table).collect()
        back = staged.read_back(protected)
        return protected if back is None else back

    def guard(self) -> AbstractContextManager[None]:
        """Turn errors of libraries while reading into one clear sentence."""
        return nullcontext() if self.source is None else self.source.guard()

    def _in_database(self, target: Target) -> bool:
        if not isinstance(target, TableOutput) or isinstance(target, SparkOutput):
            return False
        from discreet.engines import DatabaseSource

        return isinstance(self.source, DatabaseSource) and self.source.url.same_database(target.url)


class WriteResult(NamedTuple):
    """The rows that were written, where they are now, and their audit."""

    released: Any
    written: Written
    audit: Audit


class Published(NamedTuple):
    """The released table (or where it is), its audit, and the promises with the people that were counted for it."""

    table: Any
    audit: Audit
    promises: Promises


def publish(source: Source, recoding: Recoding, promises: Promises, target: Target | None, clock: Clock) -> Published:
    """Recode, write if there is a target, and audit.

    Columns of delimited text get the type of their released values. Where the first rows suggested another type than
    later rows have, the release is written a second time.
    """
    expect_types(source, promises.types, kind_of(target))
    try:
        found = _publish(source, recoding, promises, target, clock)
    except OtherTypesError:
        found = _publish(source, recoding, promises, target, clock)
    table = found.table
    if isinstance(table, Written) and isinstance(target, Output) and target.format.kind == "csv":
        table = replace(table, scan=typed_again(table.scan, source, recoding, promises.types))
    return found._replace(table=table)


def kind_of(target: Target | None) -> Destination:
    """Return the kind of target, which decides what types values may have."""
    if target is None:
        return "frame"
    return target.url.database if isinstance(target, TableOutput) else target.format.kind


def _publish(source: Source, recoding: Recoding, promises: Promises, target: Target | None, clock: Clock) -> Published:
    with clock("audit"):
        promises, rows = promises.with_people(RowsToWrite(source, recoding), target)
    if target is not None and target.shuffle is not None:
        recoding = source.with_codes(recoding)
        target = replace(target, shuffle=replace(target.shuffle, rows=promises.rows, coded=recoding.codes))
    if target is None:
        with clock("recode"), source.guard():
            table = source.collect(source.recode(recoding))
        with clock("audit"):
            return Published(table, promises.check(table), promises)
    released, written, verdict = write_rows(replace(rows, recoding=recoding), promises, target, clock)
    if not source.read_again:
        return Published(released, verdict, promises)
    by_engine = released is None or relation_of(released) is not None
    table = replace(written, lazy=source.kind == "polars lazy", shuffle=target.shuffle, by_engine=by_engine)
    return Published(table, verdict, promises)


def write_rows(rows: RowsToWrite, promises: Promises, target: Target, clock: Clock) -> WriteResult:
    """Write rows under a hidden name, read them back in their final format, audit them, and only then name them."""
    if isinstance(target, Output):
        target = like_input(target, rows.layout or promises.read_as)
    with clock("recode"), rows.guard():
        released = rows.released(target)
    with staging(target, released) as staged:
        with clock("recode"), rows.guard():
            rows.write(staged, released)
        with clock("audit"):
            read_back = ReadBack(
                partial(rows.read_back, staged),
                released,
                promises.values if rows.recoding is not None else {},
                promises.merged,
                promises.secrets if promises.missing_sensitive == "unknown" else (),
                target.format_name,
            )
            verdict = promises.check(rows.reopened(staged, released), rows.categories, read_back)
        written = staged.finished()
    return WriteResult(released, written, verdict)
