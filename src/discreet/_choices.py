"""Choices that counting and the audit both offer: which engine reads a file, and what a missing sensitive value is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from discreet.errors import UsageError, did_you_mean

__all__ = ["EngineChoice", "EngineName", "MissingSensitive"]

EngineName = Literal["auto", "polars", "duckdb", "spark"]
MissingSensitive = Literal["unknown", "value"]
_MEMORY = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?B|%)", re.IGNORECASE)


@dataclass(frozen=True)
class EngineChoice:
    """A choice of engine, and what it may take.

    ``memory_limit`` is one on DuckDB, such as ``4GB``; what does not fit goes to disk. ``spark`` is a session of Spark,
    or the address of a cluster (``local[4]``, ``spark://…``) to open one on.
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
            raise UsageError("A session of Spark goes with the engine spark; choose that one, or leave it out.")

    def told(self) -> dict[str, str]:
        """Return what was chosen, as a job has it; an open session has no text."""
        address = self.spark if isinstance(self.spark, str) else None
        known = {"engine": self.name, "memory_limit": self.memory_limit, "spark": address}
        return {key: value for key, value in known.items() if value not in (None, "auto")}

    def check_frame(self, kind: str) -> None:
        """Refuse to work on a frame with another engine than its own."""
        own = kind.partition(" ")[0]
        if self.name not in ("auto", own):
            raise UsageError(
                f"The engine {self.name} is for files, and this is a frame of {own}, which works on it itself; "
                "leave the engine out."
            )
        self._check_limit("a frame", "set it on the connection of a DuckDB relation, or leave it out.")

    def check_database(self, database: str) -> None:
        """Refuse to work on a table of a database with another engine than the database itself."""
        if self.name not in ("auto", database):
            raise UsageError(
                f"The engine {self.name} is for files, and a table of {database} is worked on by the database itself; "
                "leave the engine out."
            )
        self._check_limit("a table of a database", "leave it out.")

    def _check_limit(self, what: str, way_out: str) -> None:
        if self.memory_limit is not None:
            raise UsageError(f"The memory limit is for files that DuckDB reads, and this is {what}; {way_out}")
