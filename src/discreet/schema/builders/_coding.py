"""Top and bottom coding: what both builders share."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from discreet.errors import UsageError
from discreet.schema._column import Column, Wants, value_text
from discreet.schema._hierarchy import Level
from discreet.schema._types import Type
from discreet.schema.builders._base import LevelBuilder, blocks_of_runs

__all__ = ["CodedEnd"]

_EPOCH = datetime.date(1970, 1, 1)

Limit = int | float | datetime.date


@dataclass(frozen=True)
class CodedEnd(LevelBuilder):
    """One end of the values is one group; each further limit makes it larger."""

    sign: ClassVar[str]
    """How the group is written before its limit: ``>=`` or ``<=``."""
    advice: ClassVar[str]
    types: ClassVar[tuple[str, ...]] = ("integer", "decimal", "date")

    limits: tuple[Limit, ...]

    def __post_init__(self) -> None:
        if not self.limits:
            raise UsageError(f"{self.name} needs a limit, as in {self.examples[0]}.")
        if len({isinstance(limit, datetime.date) for limit in self.limits}) > 1:
            raise UsageError(f"'{self.text}' mixes numbers and dates; use one kind of limit.")
        for first, second in pairwise(self.limits):
            if (second >= first) if self.sign == ">=" else (second <= first):  # type: ignore[operator]
                raise UsageError(f"The limits of '{self.text}' must {self.advice}, as in {self.examples[0]}.")

    @property
    def wants(self) -> Wants:
        """Numbers or dates, as the limits are."""
        return "dates" if isinstance(self.limits[0], datetime.date) else "numbers"

    @classmethod
    def from_arguments(cls, *limits: float | str | datetime.date) -> Self:
        """Make a builder from its limits, which are numbers or dates."""
        return cls(tuple(cls._limit(limit) for limit in limits))

    @classmethod
    def _limit(cls, value: Any) -> Limit:
        try:
            value = datetime.date.fromisoformat(value) if isinstance(value, str) else value
        except ValueError:
            value = None
        if isinstance(value, datetime.date):
            return value.date() if isinstance(value, datetime.datetime) else value
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or value != value:
            raise UsageError(f"The limits of {cls.name} are numbers or dates, as in {cls.examples[0]}.")
        return int(value) if float(value).is_integer() else float(value)

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the limits."""
        return [limit if isinstance(limit, int | float) else value_text(limit) for limit in self.limits], {}

    def levels(self, column: Column) -> list[Level]:
        """Return one level per limit; values on the other side of it stay as they are."""
        if column.type is Type.DATE and self.wants == "numbers":
            raise UsageError(
                f"Column '{column.name}' holds dates; give the limit as a date, as in {self.name}(2024-01-01).",
                column=column.name,
            )
        assert column.numbers is not None
        found: list[Level] = []
        for limit in self.limits:
            point = (limit - _EPOCH).days if isinstance(limit, datetime.date) else limit
            coded = column.numbers >= point if self.sign == ">=" else column.numbers <= point
            end = len(column) if self.sign == ">=" else -1
            codes, first = blocks_of_runs(np.where(coded, end, np.arange(len(column))))
            label = f"{self.sign} {value_text(limit)}"
            names = column.text.gather(first).to_list()
            found.append((codes, [label if coded[at] else name for at, name in zip(first, names, strict=True)]))
        return found
