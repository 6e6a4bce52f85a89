"""Automatic hierarchies: levels chosen from the values.

Nothing here is random. Cut points are the roundest numbers between two neighbouring values, so that names are short and
the ends of intervals are not values of the data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import ClassVar

import numpy as np
import polars as pl

from discreet.runtime.integer_codes import add_up
from discreet.schema._column import Column, Numbers
from discreet.schema._hierarchy import Level
from discreet.schema._naming import Naming
from discreet.schema._types import Type
from discreet.schema.builders._base import BUILDERS, LevelBuilder, blocks_of_text
from discreet.schema.builders.dates import UNITS, calendar_level
from discreet.schema.builders.intervals import Intervals
from discreet.schema.builders.mask import masked
from discreet.schema.builders.ranges import Ranges

__all__ = ["Auto", "auto"]

FEW = 8
"""A column with no more distinct values than this gets a flat tree."""
LEVELS = 4
"""About the number of levels between the values and the root."""
_BINS = 16
_CODE = r"^[+(]?[A-Za-z]{0,3}[-. ]?[0-9][0-9A-Za-z./() -]*$"
_SEPARATORS = r"[-_/ ,.]+"


def auto() -> Auto:
    """Choose the levels from the values.

    Numbers: round intervals where the values are spread evenly, else intervals that hold about equally many
    rows. Dates: the calendar units that fit the span. Text: codes lose characters, values that share a first
    or last word are grouped by it, else the rarest values go together first.

    >>> tree = auto().build(pl.Series(range(17, 91)))
    >>> tree.rows()[3]
    ['20', '[20, 25)', '[20, 30)', '[20, 40)', '*']
    """
    return Auto()


@BUILDERS.register
@dataclass(frozen=True)
class Auto(LevelBuilder):
    """Levels chosen from the values: round intervals, calendar units, prefixes of codes, shared words, rare values."""

    name: ClassVar[str] = "auto"
    examples: ClassVar[tuple[str, ...]] = ("auto",)
    title: ClassVar[str] = "Automatic"
    summary: ClassVar[str] = "Levels are chosen by looking at the values."
    recommended: ClassVar[bool] = True
    rank: ClassVar[int] = 10

    def levels(self, column: Column) -> list[Level]:
        """Return the levels that suit the values."""
        return self.named_levels(column)[0]

    def named_levels(self, column: Column) -> tuple[list[Level], Naming]:
        """Return the levels, and whether their names depend on other values of the column.

        Those of round intervals, calendar units and prefixes do not; those of quantiles, shared words and rare values
        do.
        """
        if len(column) <= FEW or column.type is Type.ORDERED:
            return [], Naming.FIXED
        if column.type is Type.DATE:
            return _calendar(column), Naming.FIXED
        if column.type.numeric:
            if _spread_evenly(column):
                return _even(column), Naming.FIXED
            return _quantiles(column), Naming.BY_VALUES
        if levels := _codes(column):
            return levels, Naming.PADDED_END
        if levels := _words(column) or _rarest(column):
            return levels, Naming.BY_VALUES
        return _prefixes(column), Naming.FIXED


def _spread_evenly(column: Column) -> bool:
    """Return whether nine tenths of the rows need at least a quarter of the range."""
    assert column.numbers is not None
    numbers, span = column.numbers.astype(np.float64), _span(column.numbers)
    if max(abs(numbers[0]), abs(numbers[-1])) > 2**40 / len(column) * span or math.isinf(span):
        return False  # too far from zero: the names of round intervals would not differ
    bins = np.minimum((numbers - numbers[0]) / span * _BINS, _BINS - 1).astype(np.int64)
    fullest_first = np.sort(np.bincount(bins, weights=column.rows))[::-1].cumsum()
    return int(np.searchsorted(fullest_first, 0.9 * fullest_first[-1])) + 1 >= _BINS // 4


def _even(column: Column) -> list[Level]:
    """Return round intervals, from those with two or three values to a few wide ones."""
    assert column.numbers is not None
    span = _span(column.numbers)
    widths = [_round_up(2.5 * span / len(column))]
    if column.type is Type.INTEGER:
        widths = [max(widths[0], Decimal(2))]
    growth = max(2.0, (span / float(widths[0]) / 2) ** (1 / LEVELS))
    while float(widths[-1]) * growth < span:
        multiple = _round_up(float(widths[-1]) * growth * 0.8)
        while multiple % widths[-1] or multiple <= widths[-1]:
            multiple = _round_up(float(multiple) * 1.01)
        if float(multiple) >= span:
            break
        widths.append(multiple)
    return Intervals(tuple(widths)).levels(column)


def _span(numbers: Numbers) -> float:
    return float(numbers[-1]) - float(numbers[0])


def _round_up(number: float) -> Decimal:
    """Return the smallest 1, 2 or 5 times a power of ten that is not below the number."""
    power = Decimal(10) ** math.floor(math.log10(number))
    return next(power * step for step in (1, 2, 5, 10, 20) if float(power * step) >= number * (1 - 1e-9))


def _quantiles(column: Column) -> list[Level]:
    """Return intervals with about equally many rows; each level joins two neighbours of the one below.

    A value with more than its share of the rows counts for that share only, so that there are intervals elsewhere.
    """
    numbers = column.numbers
    assert numbers is not None
    bins = 2 ** min(LEVELS + 1, int(math.log2(len(column))) - 1)
    counted = column.rows.astype(np.float64)
    for _ in range(20):
        counted = np.minimum(counted, counted.sum() / bins)
    cumulative = counted.cumsum()
    wanted = cumulative[-1] * np.arange(1, bins) / bins
    slack = cumulative[-1] / bins / 4
    below = np.searchsorted(cumulative, wanted - slack)
    above = np.maximum(np.searchsorted(cumulative, wanted + slack), below + 1)
    valid = above < len(numbers)
    valid[valid] = numbers[below[valid]] < numbers[above[valid]]
    pairs = zip(numbers[below[valid]].tolist(), numbers[above[valid]].tolist(), strict=True)
    cuts = sorted({_roundest(low, high) for low, high in pairs})
    levels = []
    while cuts:
        levels.append(tuple(cuts))
        cuts = cuts[1::2]
    return Ranges(tuple(levels)).levels(column) if levels else []


def _roundest(low: float, high: float) -> int | float:
    """Return the roundest number above ``low`` and not above ``high``."""
    below, above = Decimal(str(low)), Decimal(str(high))
    power = Decimal(10) ** ((above - below).adjusted() + 1)
    while True:
        for step in (power, power / 2, power / 5):
            cut = ((below / step).to_integral_value(ROUND_CEILING)) * step
            if cut == below:
                cut += step
            if below < cut <= above:
                return int(cut) if cut == cut.to_integral_value() else float(cut)
        power /= 10


def _calendar(column: Column) -> list[Level]:
    """Return the calendar units that join some dates but not all."""
    assert column.numbers is not None
    chosen: list[Level] = []
    blocks = len(column)
    for unit in UNITS:
        level = calendar_level(column.numbers, unit)
        if unit != "week" and 1 < len(level[1]) < blocks:
            chosen.append(level)
            blocks = len(level[1])
    return chosen


def _codes(column: Column) -> list[Level]:
    """Return prefixes of codes such as zip, phone and ICD; none if the values are no codes."""
    text = column.text
    if not re.match(_CODE, text[0]) or not text.str.contains(_CODE).all():
        return []
    lengths = text.str.len_chars().to_numpy()
    shortest, longest = int(lengths.min()), int(lengths.max())
    alike = shortest > 1 and longest <= min(20, 2 * shortest + 2)
    return _best_prefixes(text, longest, keep_length=True) if alike else []


def _words(column: Column) -> list[Level]:
    """Group values by their first or last word, if at least half of them share it with another value."""
    text = column.text
    best: tuple[int, pl.Series] | None = None
    for pattern, star in (
        (rf"^(.*?{_SEPARATORS}).*$", "${1}*"),
        (rf"^.*?({_SEPARATORS}[^-_/ ,.]*)$", "*${1}"),
    ):
        names = text.str.replace(pattern, star)
        shared = names.is_duplicated()
        if 2 * int(shared.sum()) >= len(column):
            named = pl.select(pl.when(shared).then(names).otherwise(text)).to_series()
            groups = named.n_unique()
            if groups > 1 and (best is None or groups < best[0]):
                best = groups, named
    if best is None:
        return []
    level = blocks_of_text(best[1])
    return [level, *_rarest_blocks(level, column)]


def _rarest(column: Column) -> list[Level]:
    """Return levels with the rarest values in one group, which grows; none if all are equally rare."""
    return _rarest_blocks((np.arange(len(column)), column.text.to_list()), column)


def _rarest_blocks(level: Level, column: Column) -> list[Level]:
    """Return levels above a level, in which ever fewer of the most frequent blocks stay single."""
    codes, names = level
    rows = add_up(codes, column.rows)
    if len(names) <= FEW // 2 or rows.min() == rows.max():
        return []
    rank = np.empty(len(names), dtype=np.int64)
    rank[np.argsort(-rows, kind="stable")] = np.arange(len(names))
    ratio = max(2.0, len(names) ** (1 / (LEVELS + 1)))
    taken = {*names, *column.text.to_list()}
    found: list[Level] = []
    alone = int(len(names) / ratio)
    while alone > 1 and len(found) < LEVELS:
        by_rank: list[str] = [""] * (alone + 1)
        for block in np.flatnonzero(rank < alone).tolist():
            by_rank[rank[block]] = names[block]
        values = int(np.count_nonzero(rank[codes] >= alone))
        by_rank[alone] = _unlike(f"rare: {values} values", taken)
        found.append((np.minimum(rank, alone)[codes], by_rank))
        alone = int(alone / ratio)
    return found


def _unlike(name: str, taken: Collection[str]) -> str:
    """Return a name in braces that is not taken, adding braces as needed.

    >>> _unlike("rare: 2 values", ["ale", "{rare: 2 values}"])
    '{{rare: 2 values}}'
    """
    while (name := f"{{{name}}}") in taken:
        pass
    return name


def _prefixes(column: Column) -> list[Level]:
    """Return prefixes of any text."""
    longest = int(column.text.str.len_chars().max())  # type: ignore[arg-type]
    return _best_prefixes(column.text, min(longest, 24), keep_length=False)


def _best_prefixes(text: pl.Series, length: int, keep_length: bool) -> list[Level]:
    """Return levels of prefixes, each of which nearly halves the number of blocks or better."""
    frame = pl.DataFrame({"text": text})
    shown = [pl.col("text").str.head(kept).n_unique().alias(str(kept)) for kept in range(1, length)]
    distinct = frame.select(shown).row(0) if shown else ()
    chosen: list[int] = []
    blocks = len(text)
    for kept in range(length - 1, 0, -1):
        if 1 < distinct[kept - 1] <= 0.6 * blocks:
            chosen.append(kept)
            blocks = distinct[kept - 1]
    return [masked(text, kept, length, keep_length=keep_length) for kept in _few(chosen, LEVELS + 1)]


def _few(items: Sequence[int], most: int) -> list[int]:
    """Return at most ``most`` of the items, evenly spaced, including the first and the last."""
    if len(items) <= most:
        return list(items)
    return [items[round(step * (len(items) - 1) / (most - 1))] for step in range(most)]
