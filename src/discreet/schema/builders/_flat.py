"""The tree with no inner nodes: a value is either kept or hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.schema._column import Column
from discreet.schema._hierarchy import Level
from discreet.schema.builders._base import LevelBuilder

__all__ = ["Flat", "flat"]


def flat() -> Flat:
    """Put all values right under the root.

    >>> import polars as pl
    >>> flat().build(pl.Series(["m", "f"])).rows()
    [['f', '*'], ['m', '*']]
    """
    return Flat()


@dataclass(frozen=True)
class Flat(LevelBuilder):
    """See :func:`flat`."""

    name: ClassVar[str] = "flat"

    def levels(self, column: Column) -> list[Level]:
        """Return none: nothing stands between the values and the root."""
        return []
