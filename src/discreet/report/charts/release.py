"""Charts of a release: class sizes, and each column before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.report.charts.scales import Scale
from discreet.report.charts.svg import ON_PAGE, WIDTH, Frame, chart, legend, rect, shortened, text_at
from discreet.report.class_sizes import ClassSizes, edges_for
from discreet.report.numbers import percent, short_number
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.report.columns import Bar, Box, ReleasedColumn
    from discreet.report.ranges import RangeCounts

__all__ = ["bar_chart", "size_chart", "size_names", "spread_chart", "tree_chart"]

_C = ON_PAGE
_BEFORE = f'fill="url(#hatch)" stroke="{_C.soft}"'
_AFTER = f'fill="{_C.front}"'
_LOST = f'fill="url(#gap)" stroke="{_C.cloud}"'
_HATCHED = f'<rect x="0" y="-6" width="18" height="11" {_BEFORE}/>'
_SOLID = f'<rect x="0" y="-6" width="18" height="11" {_AFTER}/>'
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


def size_chart(before: ClassSizes, after: ClassSizes, least: int) -> str:
    """Draw the share of the released people in classes of each size, before and after."""
    edges = edges_for(before, after)
    label = "The share of the people in classes of each size, before and after"
    return chart(256, label, _size_parts(before, after, edges, least))


def _size_parts(before: ClassSizes, after: ClassSizes, edges: tuple[int, ...], least: int) -> Iterator[str]:
    frame = Frame(38.0, WIDTH - 8, 56.0, 190.0)
    yield legend(frame.right - 170, 14, _HATCHED, "before")
    yield legend(frame.right - 80, 14, _SOLID, "after")
    counts = [table.ranges(edges) for table in (before, after)]
    shares = [[rows / max(sum(side), 1) for rows in side] for side in counts]
    peak = max([0.05, *shares[0], *shares[1]])
    yield from frame.rows(Scale("linear", 0, 100 * peak).ticks(4, unit=" %"), gap=5)
    slot = frame.width / len(edges)
    bar = min(slot * 0.4, 26.0)
    names = size_names(edges)
    if slot < 46:
        names = [name.split("–")[0] + "–" * ("–" in name) for name in names]
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
        size = 12 if slot > 36 else 10.5
        yield text_at(centre, frame.bottom + 15, name, _C.ink, anchor="middle", size=size)
        risk = "1" if edges[i] == 1 else f"1/{_thousands(edges[i])}"
        yield text_at(centre, frame.bottom + 33, risk, _C.soft, anchor="middle", size=size)
    yield f'<path d="M{frame.left:g} {frame.bottom:g}H{frame.right:g}" stroke="{_C.soft}"/>'
    yield text_at(frame.left - 34, frame.bottom + 52, "class size, and the highest risk in such a class", _C.ink)
    yield text_at(4, 18, "↑ share of the people", _C.ink)


def spread_chart(column: ReleasedColumn) -> str:
    """Draw the distribution of numbers or dates before and after; empty for text."""
    before, after = column.before, column.after
    if before is None:
        return ""
    ends = f"{before.name(before.edges[0])} to {before.name(before.edges[-1])}"
    return chart(190, f"The distribution of {column.name} from {ends}", _spread_parts(before, after))


def _spread_parts(before: RangeCounts, after: RangeCounts | None) -> Iterator[str]:
    frame = Frame(8.0, WIDTH - 8, 34.0, 158.0)
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
        yield legend(frame.left + 90, 14, _LINE, "after, each value spread evenly over its range")
        steps = [(x(b), y(rows, a, b)) for rows, (a, b) in zip(after.rows, pairwise(after.edges), strict=True)]
        line = f"M{x(after.edges[0]):.1f} {frame.bottom:g}" + "".join(f"V{top:.1f}H{end:.1f}" for end, top in steps)
        line += f"V{frame.bottom:g}"
        yield f'<path d="{line}" fill="none" stroke="{_C.paper}" stroke-width="5.5"/>'
        yield f'<path d="{line}" fill="none" stroke="{_C.front}" stroke-width="3" stroke-linejoin="round"/>'
    yield f'<path d="M{frame.left:g} {frame.bottom:g}H{frame.right:g}" stroke="{_C.soft}"/>'
    every, last = max(1, -(-len(before.edges) // 8)), len(before.edges) - 1
    for i, edge in enumerate(before.edges):
        if i % every == 0 and (i in (0, last) or x(edge) < frame.right - 20):
            anchor = "start" if i == 0 else "end" if i == last else "middle"
            yield f'<path d="M{x(edge):.1f} {frame.bottom:g}v4" stroke="{_C.soft}"/>'
            words = before.name(edge) if before.date else short_number(edge)
            yield text_at(x(edge), frame.bottom + 17, words, _C.soft, anchor=anchor, size=12)


def bar_chart(column: ReleasedColumn, total: int) -> str:
    """Draw how many people have each released value, divided by the original values it covers."""
    if not column.bars:
        return ""
    label = f"{column.name}: how many people have each of {amount(column.values, 'released value')}"
    divided = any(len(bar.parts) > 1 for bar in column.bars)
    top = 26.0 if divided else 4.0
    return chart(top + 24 * len(column.bars) + 4, label, _bar_parts(column.bars, total, top, divided))


def _bar_parts(bars: Sequence[Bar], total: int, top: float, divided: bool) -> Iterator[str]:
    names = [bar.name or amount(bar.values, "other value") for bar in bars]
    left = min(max(7.5 * max(map(len, names)) + 12, 50), 180.0)
    right = WIDTH - 104
    peak = max(bar.rows for bar in bars)
    if divided:
        mark = f'{_SOLID}<path d="M9 -6V5" stroke="{_C.paper}" stroke-width="1.5"/>'
        yield legend(2.0, 11, mark, "original values in it")
    for i, (bar, name) in enumerate(zip(bars, names, strict=True)):
        y = top + 24 * i
        width = bar.rows / peak * (right - left)
        yield text_at(left - 7, y + 15, shortened(name, int((left - 10) / 6.9)), _C.ink, anchor="end")
        yield rect(left, y + 3, max(width, 1), 17, _AFTER)
        whole, done = sum(bar.parts) or 1, 0
        for part in bar.parts[:-1]:
            done += part
            x = left + done / whole * width
            yield f'<path d="M{x:.1f} {y + 3:g}v17" stroke="{_C.paper}" stroke-width="1.5"/>'
        words = f"{bar.rows:,} · {percent(bar.rows / max(total, 1))}"
        yield text_at(left + width + 6, y + 15, words, _C.soft, size=12)


def tree_chart(column: ReleasedColumn) -> str:
    """Draw the hierarchy from its root down to the original values, with the level or cut that is released."""
    if not column.tree:
        return ""
    label = f"The hierarchy of {column.name}; what is released is filled"
    return chart(26.0 * len(column.tree) + 6, label, _tree_parts(column))


def _tree_parts(column: ReleasedColumn) -> Iterator[str]:
    left, right = 62.0, WIDTH - 3
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
                yield _box(x, y, end - x, box)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each run of consecutive numbers.

    >>> list(_runs([1, 2, 3, 7]))
    [(1, 3), (7, 7)]
    """
    there = set(numbers)
    firsts = [number for number in numbers if number - 1 not in there]
    yield from zip(firsts, [number for number in numbers if number + 1 not in there], strict=True)


def _box(x: float, y: float, width: float, box: Box) -> str:
    released = box.state == "released"
    style = f'{_AFTER} stroke="{_C.paper}"' if released else f'fill="{_C.paper}" stroke="{_C.soft}"'
    drawn = rect(x, y, max(width, 0.3), 22, style)
    letters = int((width - 6) / 6.6)
    if box.name and letters >= min(len(box.name), 4):
        colour = _C.paper if released else _C.ink
        drawn += text_at(x + width / 2, y + 15, shortened(box.name, letters), colour, anchor="middle", size=12)
    return drawn
