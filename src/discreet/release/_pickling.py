"""What leaves with a pickle: no value of the original table.

Pickles are copied, cached and mailed, and whoever loads one can look into every attribute. A pickled release keeps the
released table, its figures and its audit; what it was made from stays behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engines import relation_of
from discreet.errors import UsageError
from discreet.release._describe import plain_data, shown_job
from discreet.release._sizes import ClassSizes

if TYPE_CHECKING:
    from discreet.release._release import Release

__all__ = ["pickled_release", "refuse", "released_rows", "unpickled", "whole", "with_originals"]

_WHOLE: ContextVar[bool] = ContextVar("whole", default=False)
_DERIVED = ("blocks", "neighbours", "measured")
"""Attributes that are computed once and then kept: they are made from the original table."""


@contextmanager
def with_originals() -> Iterator[None]:
    """Pickle everything meanwhile, values of the original table too; for files as private as the table itself."""
    token = _WHOLE.set(True)
    try:
        yield
    finally:
        _WHOLE.reset(token)


def whole() -> bool:
    """Whether values of the original table are to be pickled."""
    return _WHOLE.get()


def pickled_release(release: Release) -> dict[str, Any]:
    """Return the attributes of a release that may be pickled."""
    state = {name: value for name, value in vars(release).items() if name not in _DERIVED}
    if whole():
        return state
    return state | {
        "table": released_rows(release.table),
        "job": plain_data(shown_job(release.job)),
        "partition": {
            column: (pl.Series(values=[None] * len(values)), block)  # how many there are is told anyway
            for column, (values, block) in release.partition.items()
        },
        "before": ClassSizes(),
        "read": None,
        "drawn_from": None,
        "recipe": None,
        "behind": None,
        "recoding": None,
        "key": None,
        "choices": "",
        "unpickled": True,
    }


def released_rows(table: Any) -> Any:
    """Return the released rows by themselves: a plan to make them would bring the original table along."""
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if relation_of(table) is not None:
        raise UsageError(
            "The release is a plan of a database or cluster, which cannot be pickled; write it, as in "
            "release.write('safe.parquet')."
        )
    return table


def unpickled(what: str, way_out: str) -> UsageError:
    """Say that something stayed behind when a release was pickled, and the way out."""
    return UsageError(
        f"A pickled release leaves {what} behind, which would hold values of the original table; {way_out}."
    )


def refuse(what: str, instead: Mapping[str, str]) -> UsageError:
    """Refuse to pickle something, and say how to save it."""
    ways = " or ".join(f"{how} ({why})" for how, why in instead.items())
    return UsageError(f"{what} holds values of the original table and is not pickled; save it with {ways}.")
