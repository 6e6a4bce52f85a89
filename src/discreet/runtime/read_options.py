"""Options of reading a table, shared by counting and the audit: the engine, and missing sensitive values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from discreet.errors import UsageError, did_you_mean

__all__ = ["EngineChoice", "EngineName", "MissingSensitive", "check_missing_sensitive"]

EngineName = Literal["auto", "polars", "duckdb", "spark"]
MissingSensitive = Literal["unknown", "value"]
_MEMORY = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?B|%)", re.IGNORECASE)


@dataclass(frozen=True)
class EngineChoice:
    """A choice of engine and its settings.

    ``memory_limit`` is that of DuckDB, such as ``4GB``; what does not fit is spilled to disk. ``spark`` is a Spark
    session, or the address of a cluster (``local[4]``, ``spark://…``) to open one on.
    """

    name: EngineName = "auto"
    memory_limit: str | None = None
    spark: Any = None

    def __post_init__(self) -> None:
        known = get_args(EngineName)
        if self.name not in known:
            hint = did_you_mean(str(self.name), known) or f"the engines are {', '.join(known)}."
            raise UsageError(f"There is no engine '{self.name}'; {hint}", topic="unknown-name")
        if self.memory_limit is not None and self.name != "duckdb":
            raise UsageError("Only DuckDB has a memory limit; choose the engine duckdb, or leave it out.")
        if self.memory_limit is not None and not _MEMORY.fullmatch(self.memory_limit):
            raise UsageError(f"The memory limit is a size such as 4GB, not '{self.memory_limit}'.")
        if self.spark is not None and self.name != "spark":
            raise UsageError("A Spark session needs the engine spark; choose that one, or leave the session out.")

    def to_dict(self) -> dict[str, str]:
        """Return the settings that differ from the defaults, as in a job file; an open session is left out."""
        address = self.spark if isinstance(self.spark, str) else None
        known = {"engine": self.name, "memory_limit": self.memory_limit, "spark": address}
        return {key: value for key, value in known.items() if value not in (None, "auto")}

    def check_frame(self, kind: str) -> None:
        """Refuse a frame of another engine."""
        own = kind.partition(" ")[0]
        if self.name not in ("auto", own):
            raise UsageError(
                f"The engine {self.name} is for files, and this is a frame of {own}, which works on it itself; "
                "leave the engine out."
            )
        self._check_limit("a frame", "set it on the connection of a DuckDB relation, or leave it out.")

    def check_database(self, database: str) -> None:
        """Refuse a table of another database."""
        if self.name not in ("auto", database):
            raise UsageError(
                f"The engine {self.name} is for files, and a table of {database} is worked on by the database itself; "
                "leave the engine out."
            )
        self._check_limit("a table of a database", "leave it out.")

    def _check_limit(self, what: str, way_out: str) -> None:
        if self.memory_limit is not None:
            raise UsageError(f"The memory limit is for files that DuckDB reads, and this is {what}; {way_out}")


def check_missing_sensitive(choice: Any) -> None:
    """Raise UsageError unless this is a choice for ``missing_sensitive``.

    >>> check_missing_sensitive("unknown")
    """
    known = get_args(MissingSensitive)
    if choice not in known:
        raise UsageError(f"missing_sensitive is one of {', '.join(known)}, not {choice!r}.", topic="parameter")
