"""Rounded numbers, each level coarser than the one below."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from discreet.errors import UsageError
from discreet.schema._column import Column, Wants, number_text
from discreet.schema._hierarchy import Level
from discreet.schema._types import Type
from discreet.schema.builders._base import BUILDERS, LevelBuilder, blocks_of_runs

__all__ = ["Rounding", "rounding"]

_FORM = "rounding(10, 100)"
_EXACT = 1e6
"""Quotients below this have nine decimals to spare."""


def rounding(*steps: float) -> Rounding:
    """Round numbers to multiples of a step, half up; each further step rounds what the one before made.

    A rounded number is released as a number: 1,234 becomes 1230. It is a group of values all the same, and counts as
    one in every promise and cost.

    >>> import polars as pl
    >>> rounding(10, 100).build(pl.Series([1234, 1235, 1249])).rows()
    [['1234', '1230', '1200', '*'], ['1235', '1240', '1200', '*'], ['1249', '1250', '1300', '*']]
    >>> [row[1] for row in rounding(0.1).build(pl.Series([0.05, 0.15, 0.25, 0.35])).rows()]
    ['0.1', '0.2', '0.3', '0.4']
    """
    return Rounding.from_arguments(*steps)


@BUILDERS.register
@dataclass(frozen=True)
class Rounding(LevelBuilder):
    """Numbers rounded to multiples of a step; each step is a multiple of the one before."""

    name: ClassVar[str] = "rounding"
    examples: ClassVar[tuple[str, ...]] = ("rounding(10, 100)",)
    sought_as: ClassVar[tuple[str, ...]] = ("round", "rounded", "income", "salary")
    title: ClassVar[str] = "Rounded numbers"
    summary: ClassVar[str] = "Numbers rounded to tens, hundreds and so on."
    types: ClassVar[tuple[str, ...]] = ("integer", "decimal")
    rank: ClassVar[int] = 25

    steps: tuple[Decimal, ...]

    def __post_init__(self) -> None:
        if not self.steps or not all(Decimal("1e-12") <= step <= Decimal("1e15") for step in self.steps):
            raise UsageError(f"rounding takes steps above 0, as in {_FORM}.")
        for fine, coarse in pairwise(self.steps):
            if coarse <= fine or coarse % fine:
                raise UsageError(
                    f"In '{self.text}', {_plain(coarse)} is not a multiple of {_plain(fine)}; make each step a "
                    "multiple of the one before."
                )

    @property
    def wants(self) -> Wants:
        """Numbers."""
        return "numbers"

    @classmethod
    def from_arguments(cls, *steps: float) -> Self:
        """Make a builder from its steps."""
        if not all(isinstance(step, int | float | Decimal) and not isinstance(step, bool) for step in steps):
            raise UsageError(f"rounding takes steps above 0, as in {_FORM}.")
        return cls(tuple(Decimal(str(step)) for step in steps))

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the steps."""
        return [_plain(step) for step in self.steps], {}

    def levels(self, column: Column) -> list[Level]:
        """Return one level per step."""
        if column.type is Type.DATE:
            raise UsageError(
                f"Column '{column.name}' holds dates, which are not rounded; choose dates(month, year).",
                column=column.name,
            )
        assert column.numbers is not None
        quotients = column.numbers / float(self.steps[0])
        exact = np.where(np.abs(quotients) < _EXACT, np.round(quotients, 9), quotients)  # 0.15 / 0.1 is just below 1.5
        multiples = np.floor(exact + 0.5)
        found: list[Level] = []
        for fine, step in zip((self.steps[0], *self.steps), self.steps, strict=False):
            multiples = np.floor(multiples / float(step / fine) + 0.5) if step != fine else multiples
            codes, first = blocks_of_runs(multiples)
            decimals = max(0, -int(step.normalize().as_tuple().exponent))
            rounded = np.round(multiples[first] * float(step), decimals) + 0.0
            found.append((codes, number_text(pl.Series(rounded)).to_list()))
        return found


def _plain(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)
