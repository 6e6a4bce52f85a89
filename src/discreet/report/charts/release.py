"""Charts of a release: class sizes, and each column before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.report.charts.scales import Scale
from discreet.report.charts.svg import (
    ON_PAGE,
    WIDTH,
    Frame,
    chart,
    fitted,
    legend,
    rect,
    shortened,
    text_at,
    text_width,
)
from discreet.report.class_sizes import ClassSizes, edges_for
from discreet.report.numbers import percent
from discreet.report.plain_labels import plain_label
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.report.columns import Box, ReleasedColumn
    from discreet.report.ranges import RangeCounts

__all__ = ["bar_chart", "size_chart", "size_names", "size_range_chart", "spread_chart", "tree_chart"]

_C = ON_PAGE
_BEFORE = f'fill="url(#hatch)" stroke="{_C.soft}"'
_AFTER = f'fill="{_C.front}"'
_LOST = f'fill="url(#gap)" stroke="{_C.cloud}"'
_HATCHED = f'<rect x="0" y="-6" width="18" height="11" {_BEFORE}/>'
_SOLID = f'<rect x="0" y="-6" width="18" height="11" {_AFTER}/>'
_DATE_STEPS = {
    "Y": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000),
    "M": (1, 2, 3, 6, 12, 24),
    "D": (1, 2, 5, 10, 15, 30, 60),
}
_LINE = f'<path d="M0 0H18" stroke="{_C.front}" stroke-width="3"/>'


def size_names(edges: Sequence[int]) -> list[str]:
    """Return the labels of ranges of class sizes.

    >>> size_names([1, 2, 3, 5, 10])
    ['1', '2', '3–4', '5–9', '10+']
    """
    names = [str(a) if b == a + 1 else f"{_thousands(a)}–{_thousands(b - 1)}" for a, b in pairwise(edges)]
    return [*names, f"{_thousands(edges[-1])}+"]


def _thousands(number: int) -> str:
    return f"{(number + 1) // 1000}K" if number >= 1000 else str(number)


def size_chart(before: ClassSizes, after: ClassSizes, least: int, who: str = "people") -> str:
    """Draw the share of the released people, or households, in classes of each size, before and after."""
    edges = edges_for(before, after)
    return size_range_chart(edges, (before.ranges(edges), after.ranges(edges)), least, who=who)


def size_range_chart(
    edges: Sequence[int],
    counts: tuple[Sequence[int], Sequence[int]],
    least: int,
    width: float = WIDTH,
    who: str = "people",
) -> str:
    """Draw the share of people in classes of each range of sizes, before and after, on one scale.

    ``edges`` are the lower ends of the ranges. Counts of fewer people than ``least`` are not drawn.
    """
    label = f"The share of the {who} in classes of each size, before and after"
    return chart(270, label, _size_parts(edges, counts, least, width, who), width=width)


def _size_parts(
    edges: Sequence[int], counts: tuple[Sequence[int], Sequence[int]], least: int, width: float, who: str
) -> Iterator[str]:
    frame = Frame(42.0, width - 8, 56.0, 190.0)
    across, down = (frame.right - 170, 14.0) if width > 400 else (frame.left, 34.0)
    yield legend(across, down, _HATCHED, "before")
    yield legend(across + 90, down, _SOLID, "after")
    shares = [[rows / max(sum(side), 1) for rows in side] for side in counts]
    peak = max([0.05, *shares[0], *shares[1]])
    yield from frame.rows(Scale("linear", 0, 100 * peak).ticks(4, unit=" %"), gap=5)
    slot = frame.width / len(edges)
    bar = min(slot * 0.4, 26.0)
    names = size_names(edges)
    staggered = max(text_width(name, 11) for name in names) > slot - 3
    for i, name in enumerate(names):
        centre = frame.left + (i + 0.5) * slot
        for side, style in enumerate((_BEFORE, _AFTER)):
            share = shares[side][i]
            if share and not 0 < counts[side][i] < least:
                height = max(share / peak * frame.height, 1.0)
                x, y = centre - bar + side * bar, frame.bottom - height
                yield rect(x, y, bar - 1, height, style)
                if share >= 0.01:
                    yield text_at(x + bar / 2, y - 3, f"{100 * share:.0f}", _C.ink, anchor="middle", size=10.5)
        lower = 13 if staggered and i % 2 else 0
        place = min(centre, width - text_width(name, 11) / 2)
        yield text_at(place, frame.bottom + 15 + lower, name, _C.ink, anchor="middle", size=11)
        risk = "1" if edges[i] == 1 else f"1/{_thousands(edges[i])}"
        below, size = 45 if staggered else 33, 11 if slot > 28 else 9.5
        yield text_at(centre, frame.bottom + below, risk, _C.soft, anchor="middle", size=size)
    yield f'<path d="M{frame.left:g} {frame.bottom:g}H{frame.right:g}" stroke="{_C.soft}"/>'
    words = f"{who} who look the same; the highest risk" if width > 400 else f"{who} who look the same; risk"
    yield text_at(4, frame.bottom + (68 if staggered else 56), words, _C.ink)
    yield text_at(4, 18, f"↑ share of the {who}", _C.ink)


def spread_chart(column: ReleasedColumn, width: float = WIDTH) -> str:
    """Draw the distribution of numbers or dates before and after; empty for text."""
    before, after = column.before, column.after
    if before is None:
        return ""
    ends = f"{before.name(before.edges[0])} to {before.name(before.edges[-1])}"
    parts = _spread_parts(before, after, width)
    return chart(190, f"The distribution of {column.name} from {ends}", parts, width=width)


def _spread_parts(before: RangeCounts, after: RangeCounts | None, width: float) -> Iterator[str]:
    frame = Frame(8.0, width - 8, 34.0, 158.0)
    low, high = before.edges[0], before.edges[-1]
    peak = max(density for histogram in (before, after or before) for density in histogram.densities)

    def x(edge: float) -> float:
        return frame.left + (edge - low) / (high - low) * frame.width

    def y(rows: float, a: float, b: float) -> float:
        return frame.bottom - rows / (b - a) / peak * frame.height

    yield legend(frame.left, 14, _HATCHED, "before")
    for rows, (a, b) in zip(before.rows, pairwise(before.edges), strict=True):
        if rows:
            top = y(rows, a, b)
            yield rect(x(a), top, x(b) - x(a), frame.bottom - top, _BEFORE)
    if after is not None:
        words = "after, each value spread evenly over its range" if width > 400 else "after, spread evenly"
        yield legend(frame.left + 90, 14, _LINE, words)
        steps = [(x(b), y(rows, a, b)) for rows, (a, b) in zip(after.rows, pairwise(after.edges), strict=True)]
        line = f"M{x(after.edges[0]):.1f} {frame.bottom:g}" + "".join(f"V{top:.1f}H{end:.1f}" for end, top in steps)
        line += f"V{frame.bottom:g}"
        yield f'<path d="{line}" fill="none" stroke="{_C.paper}" stroke-width="5.5"/>'
        yield f'<path d="{line}" fill="none" stroke="{_C.front}" stroke-width="3" stroke-linejoin="round"/>'
    yield f'<path d="M{frame.left:g} {frame.bottom:g}H{frame.right:g}" stroke="{_C.soft}"/>'
    for edge, words in _axis_names(before, max(int(frame.width // 72), 2)):
        place = x(edge)
        half = text_width(words, 12) / 2
        anchor = "start" if place < half else "end" if place > width - half else "middle"
        yield f'<path d="M{place:.1f} {frame.bottom:g}v4" stroke="{_C.soft}"/>'
        yield text_at(place, frame.bottom + 17, words, _C.soft, anchor=anchor, size=12)


def _axis_names(counts: RangeCounts, most: int) -> list[tuple[float, str]]:
    """Return about ``most`` evenly spaced round numbers or dates of a histogram, with their names."""
    low, high = counts.edges[0], counts.edges[-1]
    if not counts.date:
        return [
            (low + tick.position * (high - low), tick.text)
            for tick in Scale("linear", low, high).ticks(most, short=True)
        ]
    first, last = (np.datetime64(round(day), "D") for day in (low, high))
    unit = "Y" if high - low > 2 * most * 31 else "M" if high - low > 2 * most else "D"
    start, end = (int(day.astype(f"datetime64[{unit}]").astype(np.int64)) for day in (first, last))
    start, end = (start + 1970, end + 1970) if unit == "Y" else (start, end)
    step = next(step for step in _DATE_STEPS[unit] if (end - start) / step <= most)
    marks = np.arange(-(-start // step) * step, end + 1, step) - (1970 if unit == "Y" else 0)
    days = marks.astype(f"datetime64[{unit}]").astype("datetime64[D]").astype(np.int64)
    return [(float(day), counts.name(float(day))) for day in days.tolist() if low <= day <= high]


def bar_chart(column: ReleasedColumn, total: int, width: float = WIDTH, who: str = "people") -> str:
    """Draw how many people, or rows, have each released value, divided by the original values it covers."""
    if not column.bars:
        return ""
    label = f"{column.name}: how many {who} have each of {amount(column.values, 'released value')}"
    divided = any(len(bar.parts) > 1 for bar in column.bars)
    top = 26.0 if divided else 4.0
    parts = _bar_parts(column, total, (top, width), divided)
    return chart(top + 24 * len(column.bars) + 4, label, parts, width=width)


def _bar_parts(column: ReleasedColumn, total: int, room: tuple[float, float], divided: bool) -> Iterator[str]:
    bars, (top, wide) = column.bars, room
    names = [plain_label(bar.name, column.type) or amount(bar.values, "other value") for bar in bars]
    figures = [f"{bar.rows:,} · {percent(bar.rows / max(total, 1))}" for bar in bars]
    left = min(max(max(map(text_width, names)) + 12, 50), 0.39 * wide)
    right = wide - max(text_width(words, 12) for words in figures) - 8
    peak = max(bar.rows for bar in bars)
    if divided:
        mark = f'{_SOLID}<path d="M9 -6V5" stroke="{_C.paper}" stroke-width="1.5"/>'
        yield legend(2.0, 11, mark, "original values in it")
    for i, (bar, name) in enumerate(zip(bars, names, strict=True)):
        y = top + 24 * i
        width = bar.rows / peak * (right - left)
        yield text_at(left - 7, y + 15, fitted(name, left - 8), _C.ink, anchor="end")
        yield rect(left, y + 3, max(width, 1), 17, _AFTER)
        whole, done = sum(bar.parts) or 1, 0
        for part in bar.parts[:-1]:
            done += part
            x = left + done / whole * width
            yield f'<path d="M{x:.1f} {y + 3:g}v17" stroke="{_C.paper}" stroke-width="1.5"/>'
        yield text_at(left + width + 6, y + 15, figures[i], _C.soft, size=12)


def tree_chart(column: ReleasedColumn, width: float = WIDTH) -> str:
    """Draw the hierarchy from its root down to the original values, with the level or cut that is released."""
    if not column.tree:
        return ""
    label = f"The hierarchy of {column.name}; what is released is filled"
    return chart(26.0 * len(column.tree) + 6, label, _tree_parts(column, width), width=width)


def _tree_parts(column: ReleasedColumn, width: float) -> Iterator[str]:
    left, right = 62.0, width - 3
    for i, row in enumerate(column.tree):
        y, level = 3 + 26.0 * i, len(column.tree) - 1 - i
        released = not isinstance(row, int) and any(box.state == "released" for box in row)
        colour = _C.ink if released else _C.soft
        yield text_at(left - 8, y + 16, f"level {level}", colour, anchor="end", size=12, bold=released)
        if isinstance(row, int):
            below = column.level is None or level < column.level
            yield rect(left, y, right - left, 22, _LOST if below else f'{_AFTER} stroke="{_C.ink}"')
            colour, halo = (_C.soft, _C.paper) if below else (_C.paper, _C.front)
            yield text_at((left + right) / 2, y + 15, amount(row, "value"), colour, anchor="middle", size=12, halo=halo)
            continue
        people = np.cumsum([0, *(box.rows for box in row)])
        ends = (left + people / people[-1] * (right - left)).tolist()
        for first, last in _runs([j for j, box in enumerate(row) if box.state == "below"]):
            # one shape for a whole run, as patterns make pages heavy to print
            yield rect(ends[first], y, ends[last + 1] - ends[first], 22, _LOST)
            between = "".join(f"M{x:.1f} {y:g}v22" for x in ends[first + 1 : last + 1])
            yield f'<path d="{between}" stroke="{_C.cloud}"/>' if between else ""
        for box, (x, end) in zip(row, pairwise(ends), strict=True):
            if box.state != "below":
                yield _box(x, y, end - x, box, plain_label(box.name, column.type))


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each run of consecutive numbers.

    >>> list(_runs([1, 2, 3, 7]))
    [(1, 3), (7, 7)]
    """
    there = set(numbers)
    firsts = [number for number in numbers if number - 1 not in there]
    yield from zip(firsts, [number for number in numbers if number + 1 not in there], strict=True)


def _box(x: float, y: float, width: float, box: Box, name: str) -> str:
    released = box.state == "released"
    style = f'{_AFTER} stroke="{_C.paper}"' if released else f'fill="{_C.paper}" stroke="{_C.soft}"'
    drawn = rect(x, y, max(width, 0.3), 22, style)
    letters = int((width - 6) / text_width("0", 12))
    if name and letters >= min(len(name), 4):
        colour = _C.paper if released else _C.ink
        drawn += text_at(x + width / 2, y + 15, shortened(name, letters), colour, anchor="middle", size=12)
    return drawn
