"""Bottom coding: the smallest values are one group."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import ClassVar

from discreet.schema.builders._base import BUILDERS
from discreet.schema.builders._coding import CodedEnd

__all__ = ["Bottom", "bottom"]


def bottom(*limits: float | str | datetime.date) -> Bottom:
    """Make one group of all values up to a limit; each further limit is higher.

    Other values stay as they are. To have the small ones coded in any case, set the lowest level: ``min_levels`` of 1.

    >>> import polars as pl
    >>> bottom(17).build(pl.Series([3, 17, 18])).rows()
    [['3', '<= 17', '*'], ['17', '<= 17', '*'], ['18', '18', '*']]
    """
    return Bottom.from_arguments(*limits)


@BUILDERS.register
@dataclass(frozen=True)
class Bottom(CodedEnd):
    """Values up to a limit as one group; each further limit is higher."""

    name: ClassVar[str] = "bottom"
    examples: ClassVar[tuple[str, ...]] = ("bottom(17, 20)",)
    sought_as: ClassVar[tuple[str, ...]] = ("bottomcoding", "bottom-coding", "floor")
    title: ClassVar[str] = "Smallest values as one"
    summary: ClassVar[str] = "Values up to a limit are one group; the others stay."
    rank: ClassVar[int] = 34
    sign: ClassVar[str] = "<="
    advice: ClassVar[str] = "rise"
