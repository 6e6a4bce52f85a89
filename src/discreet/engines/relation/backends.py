"""Find the engine of a frame; its back end is imported only then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import UsageError

if TYPE_CHECKING:
    from discreet.engines.relation.relation import Backend, Relation

__all__ = ["is_wrapped", "relation_of"]

_NONE = {"builtins", "pathlib", "polars", "pandas", "pyarrow"}
"""Packages whose objects never belong to an engine of their own."""


def relation_of(data: Any) -> Relation | None:
    """Return a DuckDB, Spark or Ibis table as a relation; None for anything else."""
    if _package(data) in _NONE:
        return None
    import narwhals as nw

    from discreet.engines.relation.relation import Relation

    if isinstance(data, Relation):
        return data
    frame = nw.from_native(data, pass_through=True)
    if not isinstance(frame, nw.LazyFrame) or frame.implementation.is_polars():
        return None
    return Relation(frame.to_native(), _backend(frame.implementation.name.lower()))


def is_wrapped(data: Any) -> bool:
    """Whether a frame is wrapped by narwhals."""
    return _package(data) == "narwhals"


def _package(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def _backend(library: str) -> Backend:
    if library == "duckdb":
        from discreet.engines.relation.duckdb import DuckDB

        return DuckDB()
    if library in ("pyspark", "pyspark_connect"):
        from discreet.engines.relation.spark import Spark

        return Spark()
    if library == "ibis":
        from discreet.engines.relation.ibis import Ibis

        return Ibis()
    raise UsageError(
        f"Lazy frames of {library} cannot be read; collect the frame into memory, "
        "or give one of polars, DuckDB, Spark or Ibis."
    )
