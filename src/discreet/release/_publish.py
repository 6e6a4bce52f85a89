"""Carry a recoding out and audit what came of it; nothing leaves here that did not pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from discreet._replacing import replacing
from discreet.engines import Recoding, Source, TableFile, open_table, write_data
from discreet.errors import AuditError
from discreet.problem import PrivacyModel
from discreet.release._audit import Audit, audit_table, number_text
from discreet.release._clock import Clock
from discreet.release._output import Output, like_input
from discreet.release._release import Written

__all__ = ["Promises", "publish"]


@dataclass(frozen=True, eq=False)
class Promises:
    """What a release must turn out to be: its privacy models, about which columns, and its number of rows.

    ``unknown`` is what stands for a sensitive value that was suppressed, where that may be.
    """

    quasi_identifiers: tuple[str, ...]
    privacy: tuple[PrivacyModel, ...]
    sensitive: Mapping[str, Any]
    types: Mapping[str, Any]
    reference: Mapping[str, pl.DataFrame]
    unknown: str | None
    rows: int

    def check(self, data: Any, categories: Sequence[str] = ()) -> Audit:
        """Audit a table and refuse it if it breaks a promise."""
        verdict = audit_table(
            data,
            categories=categories,
            quasi_identifiers=self.quasi_identifiers,
            privacy=self.privacy,
            sensitive=self.sensitive,
            types=self.types,
            reference=self.reference,
            unknown=self.unknown,
            rows=self.rows,
        )
        for broken in verdict.failed:
            promised = "" if broken.promised is None else f" where {number_text(broken.promised)} was promised"
            raise AuditError(
                f"The audit found {broken.model} broken: the release reached {number_text(broken.reached)}"
                f"{promised}. Nothing was released; please report this."
            )
        return verdict


def publish(
    source: Source, recoding: Recoding, promises: Promises, target: Output | None, clock: Clock
) -> tuple[Any, Audit]:
    """Return the released table, or where it was written, and the audit of it."""
    if target is not None:
        return _to_file(source, recoding, promises, like_input(target, source.separator), clock)
    with clock("recode"), source.guard():
        table = source.collect(source.recode(recoding))
    with clock("audit"):
        return table, promises.check(table)


def _to_file(source: Source, recoding: Recoding, promises: Promises, output: Output, clock: Clock) -> tuple[Any, Audit]:
    with replacing(output.path) as unfinished:
        with clock("recode"), source.guard():
            released = source.recode(recoding, to_text=output.format.kind in ("csv", "jsonl"))
            schema = write_data(released, unfinished, output.format, output.path.name)
        with clock("audit"):
            file = _reopen(unfinished, output, schema)
            verdict = promises.check(file, recoding.categories)
    if not source.read_again:
        return released, verdict
    return Written(replace(file, path=output.path), lazy=source.kind == "polars lazy"), verdict


def _reopen(path: Path, output: Output, schema: pl.Schema) -> TableFile:
    """Open what was just written; JSON lines without a line say nothing, not even which columns there are."""
    if path.stat().st_size:
        return open_table(path, output.format)
    return TableFile(path, output.format, tuple(schema), table=pl.DataFrame(schema=schema))
