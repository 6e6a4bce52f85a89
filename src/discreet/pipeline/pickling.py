"""Pickles of releases: they hold no value of the original table.

Pickles are copied, cached and mailed, and anyone who loads one can inspect every attribute. A pickled release keeps the
released table, its figures and its audit, but not its provenance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engines import relation_of
from discreet.errors import UsageError
from discreet.report.job_text import job_for_reports, plain_data

if TYPE_CHECKING:
    from discreet.pipeline.release import Release

__all__ = [
    "not_pickled",
    "pickled_release",
    "released_rows",
    "unpickled",
    "with_originals",
    "with_originals_wanted",
]

_WITH_ORIGINALS: ContextVar[bool] = ContextVar("with_originals", default=False)
_DERIVED = ("blocks", "neighbours", "measured")
"""Cached attributes of a release that are computed from the original table."""


@contextmanager
def with_originals() -> Iterator[None]:
    """Pickle values of the original table too, for files as private as the table itself."""
    token = _WITH_ORIGINALS.set(True)
    try:
        yield
    finally:
        _WITH_ORIGINALS.reset(token)


def with_originals_wanted() -> bool:
    """Whether values of the original table are to be pickled."""
    return _WITH_ORIGINALS.get()


def pickled_release(release: Release) -> dict[str, Any]:
    """Return the attributes of a release that may be pickled."""
    state = {name: value for name, value in vars(release).items() if name not in _DERIVED}
    if with_originals_wanted():
        return state
    job = plain_data(job_for_reports(release.job))
    tables = {name: released_rows(table) for name, table in release.tables.items()}
    return state | {"table": released_rows(release.table), "tables": tables, "job": job, "provenance": None}


def released_rows(table: Any) -> Any:
    """Return the released rows themselves: a plan to make them would include the original table."""
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if relation_of(table) is not None:
        raise UsageError(
            "The release is a plan of a database or cluster, which cannot be pickled; write it, as in "
            "release.write('safe.parquet')."
        )
    return table


def unpickled(what: str, way_out: str) -> UsageError:
    """Return the error for something that a pickled release no longer has."""
    return UsageError(
        f"A pickled release leaves {what} behind, which would hold values of the original table; {way_out}."
    )


def not_pickled(what: str, instead: Mapping[str, str]) -> UsageError:
    """Return the error for something that is not pickled, with ways to save it."""
    ways = " or ".join(f"{how} ({why})" for how, why in instead.items())
    return UsageError(f"{what} holds values of the original table and is not pickled; save it with {ways}.")
