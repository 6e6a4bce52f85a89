"""The charts of a report: drawn so that black and white print loses nothing, and readable on a phone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet._words import amount
from discreet.release._front_scale import Scale, brief, plain, share
from discreet.release._sizes import ClassSizes, edges_for
from discreet.release._svg import FONT, NAMESPACE, ON_PAGE, words_at

if TYPE_CHECKING:
    from discreet.release._bins import Steps
    from discreet.release._columns import Bar, Box, ReleasedColumn
    from discreet.solve import Progress

__all__ = [
    "PATTERNS",
    "WIDTH",
    "bar_chart",
    "chart",
    "legend",
    "shortened",
    "size_chart",
    "size_names",
    "spread_chart",
    "trace_chart",
    "tree_chart",
]

WIDTH = 460.0
_C = ON_PAGE
PATTERNS = (
    f'<svg xmlns="{NAMESPACE}" class="patterns" width="0" height="0" aria-hidden="true"><defs>'
    '<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<path d="M0 0V5" stroke="{_C.soft}" stroke-width="1.6"/></pattern>'
    '<pattern id="gap" width="7" height="7" patternUnits="userSpaceOnUse">'
    f'<circle cx="2" cy="2" r="1" fill="{_C.soft}"/></pattern></defs></svg>'
)
"""What fills shapes; once on each page, before the charts."""


def chart(height: float, label: str, parts: Iterator[str]) -> str:
    """Return a drawing of a given height with its parts."""
    head = (
        f'<svg xmlns="{NAMESPACE}" class="chart" viewBox="0 0 {WIDTH:g} {height:g}" role="img" '
        f'aria-label="{escape(label, quote=True)}" font-family="{FONT}" font-size="13">'
    )
    return head + "".join(parts) + "</svg>"


def legend(x: float, y: float, mark: str, words: str) -> str:
    """Return an entry of a legend."""
    return f'<g transform="translate({x:g} {y:g})">{mark}</g>{words_at(x + 24, y + 4, words, _C.soft)}'


_HATCHED = f'<rect x="0" y="-6" width="18" height="11" fill="url(#hatch)" stroke="{_C.soft}"/>'
_SOLID = f'<rect x="0" y="-6" width="18" height="11" fill="{_C.front}"/>'
_LINE = f'<path d="M0 0H18" stroke="{_C.front}" stroke-width="3"/>'
_DASHED = f'<path d="M0 0H18" stroke="{_C.knee}" stroke-width="2" stroke-dasharray="5 3"/>'


def trace_chart(trace: Sequence[Progress]) -> str:
    """Draw the best cost and the lower bound over time; nothing where there is nothing to see."""
    moments = [moment for moment in trace if np.isfinite(moment.best)]
    if len(moments) < 2 or moments[-1].seconds <= moments[0].seconds:
        return ""
    known = [value for m in moments for value in (m.best, m.bound) if np.isfinite(value)]
    scale = Scale.over(known)
    last = moments[-1]
    ends = f"the best cost fell to {plain(last.best)}, the bound rose to {plain(last.bound)}"
    spent = last.seconds - moments[0].seconds
    return chart(240, f"Over {spent:.3g} seconds {ends}", _trace_parts(moments, scale))


def _trace_parts(moments: Sequence[Progress], scale: Scale) -> Iterator[str]:
    left, right, top, bottom = 56.0, WIDTH - 14, 40.0, 196.0
    begin = moments[0].seconds
    end = moments[-1].seconds - begin

    def at(seconds: float, value: float) -> tuple[float, float]:
        across = (seconds - begin) / max(end, 1e-9)
        return left + across * (right - left), bottom - float(scale.at(value)) * (bottom - top)

    yield legend(left, 14, f'<path d="M0 0H18" stroke="{_C.front}" stroke-width="3"/>', "best cost found")
    yield legend(left + 140, 14, _DASHED, "no release costs less")
    for tick in scale.ticks(5, short=True):
        y = bottom - tick.place * (bottom - top)
        yield f'<path d="M{left:g} {y:.1f}H{right:g}" stroke="{_C.grid}"/>'
        yield words_at(left - 7, y + 4, tick.text, _C.soft, anchor="end", size=12)
    best = [at(m.seconds, m.best) for m in moments]
    bound = [at(m.seconds, m.bound) for m in moments if np.isfinite(m.bound)]
    if bound:
        back = bound[::-1]
        area = f"{_stairs(best)}L{back[0][0]:.1f} {back[0][1]:.1f}{_stairs(back, back=True)}Z"
        yield f'<path d="{area}" fill="url(#gap)"/>'
        yield (f'<path d="{_stairs(bound)}" fill="none" stroke="{_C.knee}" stroke-width="2" stroke-dasharray="5 3"/>')
    yield f'<path d="{_stairs(best)}" fill="none" stroke="{_C.front}" stroke-width="3"/>'
    yield f'<path d="M{left:g} {top:g}V{bottom:g}H{right:g}" stroke="{_C.soft}" fill="none"/>'
    for tick in Scale("linear", 0.0, end).ticks(5):
        x = left + tick.place * (right - left)
        yield f'<path d="M{x:.1f} {bottom:g}v4" stroke="{_C.soft}"/>'
        yield words_at(x, bottom + 17, tick.text, _C.soft, anchor="middle", size=12)
    yield words_at(right, bottom + 35, "seconds since the first release found", _C.ink, anchor="end")
    yield words_at(4, bottom + 35, "↑ cost" + ("" if scale.kind == "linear" else " (log scale)"), _C.ink)


def _stairs(points: Sequence[tuple[float, float]], *, back: bool = False) -> str:
    """Return steps that go on and then change; backwards they change first."""
    line = "" if back else f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    return line + "".join(f"V{y:.1f}H{x:.1f}" if back else f"H{x:.1f}V{y:.1f}" for _, (x, y) in pairwise(points))


def size_names(edges: Sequence[int]) -> list[str]:
    """Return how the ranges of class sizes are written.

    >>> size_names([1, 2, 3, 5, 10])
    ['1', '2', '3–4', '5–9', '10+']
    """
    names = [str(a) if b == a + 1 else f"{_thousands(a)}–{_thousands(b - 1)}" for a, b in pairwise(edges)]
    return [*names, f"{_thousands(edges[-1])}+"]


def _thousands(number: int) -> str:
    return f"{(number + 1) // 1000}K" if number >= 1000 else str(number)


def size_chart(before: ClassSizes, after: ClassSizes, least: int) -> str:
    """Draw which share of the released people is in classes of which size, before and after."""
    edges = edges_for(before, after)
    label = "Which share of the people is in classes of which size, before and after"
    return chart(256, label, _size_parts(before, after, edges, least))


def _size_parts(before: ClassSizes, after: ClassSizes, edges: tuple[int, ...], least: int) -> Iterator[str]:
    left, right, top, bottom = 38.0, WIDTH - 8, 56.0, 190.0
    yield legend(right - 170, 14, _HATCHED, "before")
    yield legend(right - 80, 14, _SOLID, "after")
    sides = [(before, 'fill="url(#hatch)" ' + f'stroke="{_C.soft}"'), (after, f'fill="{_C.front}"')]
    shares = [[rows / max(table.rows, 1) for rows in table.ranges(edges)] for table, _ in sides]
    small = [[0 < rows < least for rows in table.ranges(edges)] for table, _ in sides]
    peak = max([0.05, *shares[0], *shares[1]])
    for tick in Scale("linear", 0, 100 * peak).ticks(4, unit=" %"):
        y = bottom - tick.place * (bottom - top)
        yield f'<path d="M{left:g} {y:.1f}H{right:g}" stroke="{_C.grid}"/>'
        yield words_at(left - 5, y + 4, tick.text, _C.soft, anchor="end", size=11)
    room = (right - left) / len(edges)
    bar = min(room * 0.4, 26.0)
    names = size_names(edges)
    if room < 46:
        names = [name.split("–")[0] + "–" * ("–" in name) for name in names]
    for place, name in enumerate(names):
        middle = left + (place + 0.5) * room
        for side, (_, look) in enumerate(sides):
            part = shares[side][place]
            if part and not small[side][place]:
                height = max(part / peak * (bottom - top), 1.0)
                x = middle - bar + side * bar
                place_of = f'x="{x:.1f}" y="{bottom - height:.1f}" width="{bar - 1:.1f}" height="{height:.1f}"'
                yield f"<rect {place_of} {look}/>"
                if part >= 0.01:
                    words = f"{100 * part:.0f}"
                    yield words_at(x + bar / 2, bottom - height - 3, words, _C.ink, anchor="middle", size=10.5)
        size = 12 if room > 36 else 10.5
        yield words_at(middle, bottom + 15, name, _C.ink, anchor="middle", size=size)
        risk = "1" if edges[place] == 1 else f"1/{_thousands(edges[place])}"
        yield words_at(middle, bottom + 33, risk, _C.soft, anchor="middle", size=size)
    yield f'<path d="M{left:g} {bottom:g}H{right:g}" stroke="{_C.soft}"/>'
    yield words_at(left - 34, bottom + 52, "size of the class, and the highest risk of being found in it", _C.ink)
    yield words_at(4, 18, "↑ share of the people", _C.ink)


def spread_chart(column: ReleasedColumn) -> str:
    """Draw how numbers or dates are spread, before and after; nothing where they are neither."""
    before, after = column.before, column.after
    if before is None:
        return ""
    label = f"How {column.name} is spread from {before.name(before.edges[0])} to {before.name(before.edges[-1])}"
    return chart(190, label, _spread_parts(before, after))


def _spread_parts(before: Steps, after: Steps | None) -> Iterator[str]:
    left, right, top, bottom = 8.0, WIDTH - 8, 34.0, 158.0
    low, high = before.edges[0], before.edges[-1]
    drawn = [before] if after is None else [before, after]
    peak = max(density for steps in drawn for density in steps.densities)

    def x(edge: float) -> float:
        return left + (edge - low) / (high - low) * (right - left)

    def y(rows: float, a: float, b: float) -> float:
        return bottom - rows / (b - a) / peak * (bottom - top)

    yield legend(left, 14, _HATCHED, "before")
    for rows, (a, b) in zip(before.rows, pairwise(before.edges), strict=True):
        if rows:
            height = y(rows, a, b)
            yield (
                f'<rect x="{x(a):.1f}" y="{height:.1f}" width="{x(b) - x(a):.1f}" height="{bottom - height:.1f}" '
                f'fill="url(#hatch)" stroke="{_C.soft}"/>'
            )
    if after is not None:
        yield legend(left + 90, 14, _LINE, "after, each value spread evenly over its range")
        steps = [(x(a), x(b), y(rows, a, b)) for rows, (a, b) in zip(after.rows, pairwise(after.edges), strict=True)]
        line = f"M{steps[0][0]:.1f} {bottom:g}" + "".join(f"V{h:.1f}H{b:.1f}" for _, b, h in steps) + f"V{bottom:g}"
        yield f'<path d="{line}" fill="none" stroke="{_C.paper}" stroke-width="5.5"/>'
        yield f'<path d="{line}" fill="none" stroke="{_C.front}" stroke-width="3" stroke-linejoin="round"/>'
    yield f'<path d="M{left:g} {bottom:g}H{right:g}" stroke="{_C.soft}"/>'
    every = max(1, -(-len(before.edges) // 8))
    for place, edge in enumerate(before.edges):
        if place % every == 0 and (place == 0 or x(edge) < right - 20 or place == len(before.edges) - 1):
            anchor = "start" if place == 0 else "end" if place == len(before.edges) - 1 else "middle"
            yield f'<path d="M{x(edge):.1f} {bottom:g}v4" stroke="{_C.soft}"/>'
            words = brief(edge) if not before.date else before.name(edge)
            yield words_at(x(edge), bottom + 17, words, _C.soft, anchor=anchor, size=12)


def bar_chart(column: ReleasedColumn, total: int) -> str:
    """Draw how many people have each released value, and how many original values it stands for."""
    if not column.bars:
        return ""
    several = any(len(bar.parts) > 1 for bar in column.bars)
    head = 26.0 if several else 4.0
    label = f"{column.name}: how many people have each of {amount(column.values, 'released value')}"
    return chart(head + 24 * len(column.bars) + 4, label, _bar_parts(column.bars, total, head, several))


def _bar_parts(bars: Sequence[Bar], total: int, head: float, several: bool) -> Iterator[str]:
    names = [_name(bar) for bar in bars]
    left = min(max(7.5 * max(map(len, names)) + 12, 50), 180.0)
    right = WIDTH - 104
    peak = max(bar.rows for bar in bars)
    if several:
        divided = f'{_SOLID}<path d="M9 -6V5" stroke="{_C.paper}" stroke-width="1.5"/>'
        yield legend(2.0, 11, divided, "original values in it")
    for place, (bar, name) in enumerate(zip(bars, names, strict=True)):
        y = head + 24 * place
        width = bar.rows / peak * (right - left)
        yield words_at(left - 7, y + 15, shortened(name, int((left - 10) / 6.9)), _C.ink, anchor="end")
        yield f'<rect x="{left:g}" y="{y + 3:g}" width="{max(width, 1):.1f}" height="17" fill="{_C.front}"/>'
        whole, done = sum(bar.parts) or 1, 0
        for part in bar.parts[:-1]:
            done += part
            x = left + done / whole * width
            yield f'<path d="M{x:.1f} {y + 3:g}v17" stroke="{_C.paper}" stroke-width="1.5"/>'
        words = f"{bar.rows:,} · {share(bar.rows / max(total, 1))}"
        yield words_at(left + width + 6, y + 15, words, _C.soft, size=12)


def _name(bar: Bar) -> str:
    return bar.name or amount(bar.values, "other value")


def shortened(words: str, letters: int) -> str:
    """Return words cut off after so many letters."""
    return words if len(words) <= letters else words[: max(letters - 1, 1)] + "…"


def tree_chart(column: ReleasedColumn) -> str:
    """Draw the hierarchy from its root down to the original values, with the level or cut that was chosen."""
    if not column.tree:
        return ""
    height = 26.0 * len(column.tree) + 6
    label = f"The hierarchy of {column.name}; what is released is outlined"
    return chart(height, label, _tree_parts(column))


def _tree_parts(column: ReleasedColumn) -> Iterator[str]:
    left, right = 62.0, WIDTH - 3
    top = len(column.tree) - 1
    for place, row in enumerate(column.tree):
        y, level = 3 + 26.0 * place, top - place
        at_level = not isinstance(row, int) and any(box.state == "released" for box in row)
        words = f"level {level}"
        yield words_at(left - 8, y + 16, words, _C.ink if at_level else _C.soft, anchor="end", size=12, bold=at_level)
        if isinstance(row, int):
            below = column.level is None or level < column.level
            look = f'fill="url(#gap)" stroke="{_C.cloud}"' if below else f'fill="{_C.front}" stroke="{_C.ink}"'
            yield f'<rect x="{left:g}" y="{y:g}" width="{right - left:g}" height="22" {look}/>'
            halo = _C.paper if below else _C.front
            colour = _C.soft if below else _C.paper
            words = amount(row, "value")
            yield words_at((left + right) / 2, y + 15, words, colour, anchor="middle", size=12, halo=halo)
            continue
        people = np.cumsum([0, *(box.rows for box in row)])
        ends = (left + people / people[-1] * (right - left)).tolist()
        lost = [place for place, box in enumerate(row) if box.state == "below"]
        for first, last in _runs(lost):  # one shape for all of them: a pattern is heavy on paper
            yield (
                f'<rect x="{ends[first]:.1f}" y="{y:g}" width="{ends[last + 1] - ends[first]:.1f}" height="22" '
                f'fill="url(#gap)" stroke="{_C.cloud}"/>'
            )
            between = "".join(f"M{x:.1f} {y:g}v22" for x in ends[first + 1 : last + 1])
            yield f'<path d="{between}" stroke="{_C.cloud}"/>' if between else ""
        for box, (x, end) in zip(row, pairwise(ends), strict=True):
            if box.state != "below":
                yield _box(x, y, end - x, box)


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of numbers that follow each other.

    >>> list(_runs([1, 2, 3, 7]))
    [(1, 3), (7, 7)]
    """
    begins = [place for place in places if place - 1 not in set(places)]
    yield from zip(begins, [place for place in places if place + 1 not in set(places)], strict=True)


def _box(x: float, y: float, width: float, box: Box) -> str:
    shown = box.state == "released"
    look = f'fill="{_C.front}" stroke="{_C.paper}"' if shown else f'fill="{_C.paper}" stroke="{_C.soft}"'
    drawn = f'<rect x="{x:.1f}" y="{y:g}" width="{max(width, 0.3):.1f}" height="22" {look}/>'
    letters = int((width - 6) / 6.6)
    if box.name and letters >= min(len(box.name), 4):
        colour = _C.paper if shown else _C.ink
        drawn += words_at(x + width / 2, y + 15, shortened(box.name, letters), colour, anchor="middle", size=12)
    return drawn
