"""Carry a recoding out and audit what came of it; nothing leaves here that did not pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from discreet._replacing import replacing, replacing_folder
from discreet.engines import (
    Recoding,
    Source,
    TableFile,
    open_file,
    open_table,
    plan_of,
    relation_of,
    write_data,
    write_parts,
)
from discreet.errors import AuditError, DataError
from discreet.problem import PrivacyModel
from discreet.release._audit import Audit, audit_table, number_text
from discreet.release._checksums import FileStamp
from discreet.release._clock import Clock
from discreet.release._output import FolderOutput, Output, SparkOutput, TableOutput, Target, like_input
from discreet.release._release import Written

__all__ = ["Promises", "publish"]


@dataclass(frozen=True, eq=False)
class Promises:
    """What a release must turn out to be: its privacy models, about which columns, and its number of rows.

    ``unknown`` is what stands for a sensitive value that was suppressed, where that may be. ``weights`` and
    ``population`` are as the audit takes them.
    """

    quasi_identifiers: tuple[str, ...]
    privacy: tuple[PrivacyModel, ...]
    sensitive: Mapping[str, Any]
    types: Mapping[str, Any]
    reference: Mapping[str, pl.DataFrame]
    unknown: str | None
    rows: int | None
    way_out: str = "please report this"
    read: FileStamp | None = None
    """The files the release is made from, as they were when they were first read."""
    weights: str | None = None
    population: Any = None
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    """Those of quasi-identifiers, which say what released values stand for."""

    def check(self, data: Any, categories: Sequence[str] = ()) -> Audit:
        """Audit a table and refuse it if it breaks a promise, or if what it was made from has changed meanwhile."""
        if self.read is not None and not self.read.unchanged:
            raise DataError(f"'{self.read.name}' changed while it was being read; run the job again.")
        verdict = audit_table(
            data,
            categories=categories,
            quasi_identifiers={name: self.hierarchies.get(name) for name in self.quasi_identifiers},
            privacy=self.privacy,
            sensitive=self.sensitive,
            types=self.types,
            reference=self.reference,
            unknown=self.unknown,
            rows=self.rows,
            weights=self.weights,
            population=self.population,
        )
        for broken in verdict.failed:
            promised = "" if broken.promised is None else f" where {number_text(broken.promised)} was promised"
            raise AuditError(
                f"The audit found {broken.model} broken: the release reached {number_text(broken.reached)}"
                f"{promised}. Nothing was released; {self.way_out}."
            )
        return verdict


def publish(
    source: Source, recoding: Recoding, promises: Promises, target: Target | None, clock: Clock
) -> tuple[Any, Audit]:
    """Return the released table, or where it was written, and the audit of it."""
    if target is not None and target.shuffle is not None:
        if source.takes_codes:
            recoding = recoding.coded()
        target = replace(target, shuffle=replace(target.shuffle, rows=promises.rows, coded=recoding.codes))
    if target is None:
        with clock("recode"), source.guard():
            table = source.collect(source.recode(recoding))
        with clock("audit"):
            return table, promises.check(table)
    if isinstance(target, SparkOutput):
        released, verdict = _to_spark(source, recoding, promises, target, clock)
        written = Written(target.place, target.scan)
    elif isinstance(target, TableOutput):
        released, verdict = _to_table(source, recoding, promises, target, clock)
        written = Written(target.place, target.scan)
    elif isinstance(target, FolderOutput):
        released, verdict = _to_folder(source, recoding, promises, target, clock)
        written = Written(target.place, open_table(target.path).scan)
    else:
        released, file, verdict = _to_file(source, recoding, promises, like_input(target, source.separator), clock)
        written = Written(target.place, replace(file, path=target.path).scan)
    if not source.read_again:
        return released, verdict
    by_engine = released is None or relation_of(released) is not None
    return replace(written, lazy=source.kind == "polars lazy", shuffle=target.shuffle, by_engine=by_engine), verdict


def _to_file(
    source: Source, recoding: Recoding, promises: Promises, output: Output, clock: Clock
) -> tuple[Any, TableFile, Audit]:
    with replacing(output.path) as unfinished:
        with clock("recode"), source.guard():
            released = source.recode(recoding, to_text=output.format.kind in ("csv", "jsonl"))
            schema = write_data(released, unfinished, output.format, output.path.name, shuffle=output.shuffle)
        with clock("audit"):
            file = _reopen(unfinished, output, schema)
            return released, file, promises.check(file, recoding.categories)


def _to_folder(
    source: Source, recoding: Recoding, promises: Promises, output: FolderOutput, clock: Clock
) -> tuple[Any, Audit]:
    with replacing_folder(output.path) as unfinished:
        with clock("recode"), source.guard():
            released = source.recode(recoding)
            with plan_of(released, unfinished, output.path.name, shuffle=output.shuffle) as plan:
                write_parts(plan, unfinished, output.path.name)
        with clock("audit"):
            return released, promises.check(open_table(unfinished))


def _to_table(
    source: Source, recoding: Recoding, promises: Promises, output: TableOutput, clock: Clock
) -> tuple[Any, Audit]:
    from discreet.engines.database import DatabaseSource, replacing_table

    with replacing_table(output.url) as staged:
        with clock("recode"), source.guard():
            released = None
            if isinstance(source, DatabaseSource) and source.url.same_database(output.url):
                staged.recode(source, recoding, shuffle=output.shuffle)
            else:
                released = source.recode(recoding)
                staged.write(released, shuffle=output.shuffle)
        with clock("audit"):
            return released, promises.check(staged)


def _to_spark(
    source: Source, recoding: Recoding, promises: Promises, output: SparkOutput, clock: Clock
) -> tuple[Any, Audit]:
    from discreet.engines._spark_table import replacing_spark_table

    with source.guard():
        released = source.recode(recoding)
    with replacing_spark_table(output.url, released) as staged:
        with clock("recode"), source.guard():
            staged.write(released, shuffle=output.shuffle)
        with clock("audit"):
            return released, promises.check(staged.relation())


def _reopen(path: Path, output: Output, schema: pl.Schema) -> TableFile:
    """Open what was just written; JSON lines without a line say nothing, not even which columns there are."""
    if path.stat().st_size:
        return open_file(path, output.format)
    return TableFile(path, output.format, tuple(schema), table=pl.DataFrame(schema=schema))
