"""Top coding: the largest values are one group."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import ClassVar

from discreet.schema.builders._base import BUILDERS
from discreet.schema.builders._coding import CodedEnd

__all__ = ["Top", "top"]


def top(*limits: float | str | datetime.date) -> Top:
    """Make one group of all values from a limit on; each further limit is lower.

    Other values stay as they are. To have the large ones coded in any case, set the lowest level: ``min_levels`` of 1.

    >>> import polars as pl
    >>> top(90, 80).build(pl.Series([75, 85, 99])).rows()
    [['75', '75', '75', '*'], ['85', '85', '>= 80', '*'], ['99', '>= 90', '>= 80', '*']]
    """
    return Top.from_arguments(*limits)


@BUILDERS.register
@dataclass(frozen=True)
class Top(CodedEnd):
    """Values from a limit on as one group; each further limit is lower."""

    name: ClassVar[str] = "top"
    examples: ClassVar[tuple[str, ...]] = ("top(90, 80)",)
    sought_as: ClassVar[tuple[str, ...]] = ("topcoding", "top-coding", "cap", "outliers")
    title: ClassVar[str] = "Largest values as one"
    summary: ClassVar[str] = "Values from a limit on are one group; the others stay."
    rank: ClassVar[int] = 32
    sign: ClassVar[str] = ">="
    advice: ClassVar[str] = "fall"
