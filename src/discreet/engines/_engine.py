"""Which engine works on a table: that of the frame itself, and for a file the one that was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet._choices import EngineChoice, EngineName
from discreet.engines._files import TableFile
from discreet.engines._parts import TableFiles

if TYPE_CHECKING:
    from discreet.engines._relation import Relation

__all__ = ["Engine", "EngineName"]


@dataclass(frozen=True)
class Engine(EngineChoice):
    """A choice of engine that opens files."""

    def open(self, file: TableFile | TableFiles) -> Relation | None:
        """Return a file, or several, as a table on the engine; None for polars, which reads files itself."""
        if self.name == "duckdb":
            from discreet.engines._duckdb import read_file

            return read_file(file, self.memory_limit)
        if self.name == "spark":
            from discreet.engines._spark import read_file as read_with_spark

            return read_with_spark(file, self.spark)
        return None
