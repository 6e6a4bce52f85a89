"""Codes hidden character by character: 94110, 9411*, 941** and so on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from discreet.errors import UsageError
from discreet.schema._column import Column, Wants
from discreet.schema._hierarchy import Level
from discreet.schema._naming import Naming
from discreet.schema.builders._base import BUILDERS, LevelBuilder, blocks_of_text

__all__ = ["Mask", "mask", "masked"]


def mask(digits: int | None = None, from_right: bool = True, keep_length: bool = True) -> Mask:
    """Hide one more character at each level, ``digits`` in all (by default all of them), then everything.

    ``keep_length`` shows a star for each hidden character, else one for all. Values shorter than the longest are
    treated as if they were padded with hidden characters.

    >>> import polars as pl
    >>> mask(digits=2).build(pl.Series(["94110", "94117", "10001"])).rows()[1]
    ['94110', '9411*', '941**', '*']
    """
    return Mask(digits, from_right, keep_length)


@BUILDERS.register
@dataclass(frozen=True)
class Mask(LevelBuilder):
    """Characters hidden one more at each level, from the right or from the left."""

    name: ClassVar[str] = "mask"
    examples: ClassVar[tuple[str, ...]] = ("mask(digits=5)", "mask")
    sought_as: ClassVar[tuple[str, ...]] = ("zip", "postcode", "digits", "prefix", "stars", "truncate")
    title: ClassVar[str] = "Hide characters"
    summary: ClassVar[str] = "One more character at each level, from the right."
    rank: ClassVar[int] = 50

    digits: int | None = None
    from_right: bool = True
    keep_length: bool = True

    def __post_init__(self) -> None:
        number = self.digits
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 1):
            raise UsageError(f"The digits of mask are a whole number of characters to hide, 1 or more, not {number!r}.")
        for name in ("from_right", "keep_length"):
            if not isinstance(value := getattr(self, name), bool):
                raise UsageError(f"{name} of mask is true or false, not {value!r}.", topic="parameter")

    @property
    def wants(self) -> Wants:
        """Text: a number that is masked is a code."""
        return "text"

    def levels(self, column: Column) -> list[Level]:
        """Return one level per hidden character, except the one that hides all."""
        length = int(column.text.str.len_chars().max() or 0)  # type: ignore[arg-type]
        hidden = range(1, min(self.digits or length, length - 1) + 1)
        return [masked(column.text, length - count, length, self.from_right, self.keep_length) for count in hidden]

    def named_levels(self, column: Column) -> tuple[list[Level], Naming]:
        """Return the levels; names that keep the length are as long as the longest value."""
        padded = Naming.PADDED_END if self.from_right else Naming.PADDED_START
        return self.levels(column), padded if self.keep_length else Naming.FIXED


def masked(text: pl.Series, kept: int, length: int, from_right: bool = True, keep_length: bool = True) -> Level:
    """Return the level that shows ``kept`` characters of texts that are at most ``length`` long."""
    if from_right:
        shown = text.str.head(kept)
        return blocks_of_text(shown.str.pad_end(length, "*") if keep_length else shown + "*")
    shown = text.str.tail(kept)
    return blocks_of_text(shown.str.pad_start(length, "*") if keep_length else "*" + shown)
