"""The tree without inner nodes: a value is either kept or hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.schema._column import Column
from discreet.schema._hierarchy import Level
from discreet.schema.builders._base import BUILDERS, LevelBuilder

__all__ = ["Flat", "flat"]


def flat() -> Flat:
    """Put all values right under the root.

    >>> import polars as pl
    >>> flat().build(pl.Series(["m", "f"])).rows()
    [['f', '*'], ['m', '*']]
    """
    return Flat()


@BUILDERS.register
@dataclass(frozen=True)
class Flat(LevelBuilder):
    """All values right below the root."""

    name: ClassVar[str] = "flat"
    examples: ClassVar[tuple[str, ...]] = ("flat",)
    title: ClassVar[str] = "All or nothing"
    summary: ClassVar[str] = "The value itself, or nothing at all."
    rank: ClassVar[int] = 60

    def levels(self, column: Column) -> list[Level]:
        """Return no levels between the values and the root."""
        return []
