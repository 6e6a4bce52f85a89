"""Codes hidden character by character: 94110, 9411*, 941** and so on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from discreet.errors import UsageError
from discreet.schema._column import Column, Wants
from discreet.schema._hierarchy import Level
from discreet.schema._naming import Naming
from discreet.schema.builders._base import LevelBuilder, blocks_of_text

__all__ = ["Mask", "mask", "masked"]


def mask(digits: int | None = None, from_right: bool = True, keep_length: bool = True) -> Mask:
    """Hide one more character at each level, ``digits`` in all (by default all of them), then everything.

    ``keep_length`` shows a star for each hidden character, else one for all. Values shorter than the longest
    are treated as if hidden characters followed them (from the left: preceded them).

    >>> import polars as pl
    >>> mask(digits=2).build(pl.Series(["94110", "94117", "10001"])).rows()[1]
    ['94110', '9411*', '941**', '*']
    """
    return Mask(digits, from_right, keep_length)


@dataclass(frozen=True)
class Mask(LevelBuilder):
    """See :func:`mask`."""

    name: ClassVar[str] = "mask"
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

    def settings(self) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Return what differs from hiding everything from the right."""
        options = {
            "digits": (self.digits, None),
            "from_right": (self.from_right, True),
            "keep_length": (self.keep_length, True),
        }
        return (), {key: value for key, (value, default) in options.items() if value != default}

    def levels(self, column: Column) -> list[Level]:
        """Return one level per hidden character, short of the one that hides all."""
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
