"""The charts of what was measured: the neighbourhood of a release, its utility, and releases side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.release._charts import WIDTH, chart, legend, shortened
from discreet.release._front_scale import Scale, share
from discreet.release._svg import ON_PAGE, words_at

if TYPE_CHECKING:
    from discreet.release._around import Neighbour

__all__ = ["around_chart", "kept_chart", "pair_chart", "share_chart", "trade_chart"]

_C = ON_PAGE
_HOLLOW_DOT = f'<circle cx="9" cy="0" r="5" fill="{_C.paper}" stroke="{_C.soft}" stroke-width="2"/>'
_DOT = f'<circle cx="9" cy="0" r="5" fill="{_C.front}"/>'
_PITCH = 24.0
"""The height of a row of a chart that has rows."""


def around_chart(neighbours: Sequence[Neighbour], letter: str) -> str:
    """Draw what neighbouring promises would cost; nothing where there are no two of them."""
    known = [one for one in neighbours if np.isfinite(one.cost)]
    if len(known) < 2:
        return ""
    told = ", ".join(f"{letter} = {one.value}: {share(one.normalized_cost)}" for one in known)
    return chart(232, f"The loss of the best release for {told}", _around_parts(known, letter))


def _around_parts(known: Sequence[Neighbour], letter: str) -> Iterator[str]:
    left, right, top, bottom = 52.0, WIDTH - 22, 26.0, 184.0
    peak = max(max(one.normalized_cost for one in known), 1e-9)
    yield words_at(4, 14, "↑ loss, of leaving everybody out", _C.ink)
    for tick in Scale("linear", 0, 100 * peak).ticks(4, unit=" %"):
        y = bottom - tick.place * (bottom - top)
        yield f'<path d="M{left:g} {y:.1f}H{right:g}" stroke="{_C.grid}"/>'
        yield words_at(left - 6, y + 4, tick.text, _C.soft, anchor="end", size=11)
    first, last = (math.log(known[place].value) for place in (0, -1))
    places = [
        (
            left + 14 + (math.log(one.value) - first) / ((last - first) or 1) * (right - left - 28),
            bottom - one.normalized_cost / peak * (bottom - top),
        )
        for one in known
    ]
    line = f"M{places[0][0]:.1f} {places[0][1]:.1f}" + "".join(f"L{x:.1f} {y:.1f}" for x, y in places[1:])
    yield f'<path d="M{left:g} {bottom:g}H{right:g}" stroke="{_C.soft}"/>'
    yield f'<path d="{line}" fill="none" stroke="{_C.front}" stroke-width="2"/>'
    for one, (x, y) in zip(known, places, strict=True):
        if one.chosen:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{_C.paper}" stroke="{_C.knee}" stroke-width="2.5"/>'
        look = f'fill="{_C.front}"' if one.proven else f'fill="{_C.paper}" stroke="{_C.front}" stroke-width="2"'
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" {look}/>'
        yield words_at(x, y - 13, share(one.normalized_cost), _C.ink, anchor="middle", size=12, halo=_C.paper)
        bold = one.chosen
        yield words_at(x, bottom + 17, f"{one.value:,}", _C.ink, anchor="middle", size=12, bold=bold)
    yield words_at(right, bottom + 36, f"{letter}, growing →", _C.ink, anchor="end")


def kept_chart(kept: Sequence[tuple[str, float]], label: str) -> str:
    """Draw for each name a share from 0 to 1 as a filled part of a bar."""
    return chart(_PITCH * len(kept) + 6, label, _kept_parts(kept)) if kept else ""


def _kept_parts(kept: Sequence[tuple[str, float]]) -> Iterator[str]:
    left, right = _room([name for name, _ in kept]), WIDTH - 58
    for place, (name, part) in enumerate(kept):
        y = _PITCH * place + 3
        width = min(max(part, 0.0), 1.0) * (right - left)
        yield words_at(left - 7, y + 14, shortened(name, int((left - 10) / 6.9)), _C.ink, anchor="end")
        yield f'<rect x="{left:g}" y="{y:g}" width="{right - left:g}" height="18" fill="none" stroke="{_C.cloud}"/>'
        yield f'<rect x="{left:g}" y="{y:g}" width="{width:.1f}" height="18" fill="{_C.front}"/>'
        yield words_at(right + 7, y + 14, share(part), _C.soft, size=12)


def pair_chart(pairs: Sequence[tuple[str, float, float]], label: str) -> str:
    """Draw for each name where it was before, from 0 to 1, and where it is after."""
    return chart(_PITCH * len(pairs) + 48, label, _pair_parts(pairs)) if pairs else ""


def _pair_parts(pairs: Sequence[tuple[str, float, float]]) -> Iterator[str]:
    left, right, top = _room([name for name, *_ in pairs], 230.0), WIDTH - 14, 28.0
    bottom = top + _PITCH * len(pairs)
    peak = max(0.1, *(abs(value) for _, *values in pairs for value in values))
    yield legend(left, 12, _HOLLOW_DOT, "before")
    yield legend(left + 86, 12, _DOT, "after")
    for tick in Scale("linear", 0, peak).ticks(4):
        x = left + tick.place * (right - left)
        yield f'<path d="M{x:.1f} {top:g}V{bottom:g}" stroke="{_C.grid}"/>'
        yield words_at(x, bottom + 15, tick.text, _C.soft, anchor="middle", size=11)
    for place, (name, before, after) in enumerate(pairs):
        y = top + _PITCH * (place + 0.5)
        a, b = (left + abs(value) / peak * (right - left) for value in (before, after))
        yield words_at(left - 10, y + 4, shortened(name, int((left - 12) / 6.6)), _C.ink, anchor="end", size=12)
        yield f'<path d="M{a:.1f} {y:.1f}H{b:.1f}" stroke="{_C.soft}" stroke-width="2"/>'
        yield f'<circle cx="{a:.1f}" cy="{y:.1f}" r="5.5" fill="{_C.paper}" stroke="{_C.soft}" stroke-width="2"/>'
        yield f'<circle cx="{b:.1f}" cy="{y:.1f}" r="4" fill="{_C.front}"/>'


def share_chart(groups: Sequence[tuple[str, Sequence[tuple[str, float]]]], label: str, *, hatched: bool = True) -> str:
    """Draw groups of bars, each with a name and a share; ``hatched`` are all but the first of a group."""
    rows = sum(len(bars) for _, bars in groups)
    return chart(20.0 * rows + 26 * len(groups) + 6, label, _share_parts(groups, hatched)) if rows else ""


def _share_parts(groups: Sequence[tuple[str, Sequence[tuple[str, float]]]], hatched: bool) -> Iterator[str]:
    left, right = _room([name for _, bars in groups for name, _ in bars]), WIDTH - 58
    y = 4.0
    for title, bars in groups:
        yield words_at(2, y + 14, title, _C.ink, bold=True)
        y += 24
        for place, (name, part) in enumerate(bars):
            look = f'fill="{_C.front}"' if place == 0 or not hatched else f'fill="url(#hatch)" stroke="{_C.soft}"'
            width = max(min(part, 1.0) * (right - left), 1.0)
            yield words_at(left - 7, y + 12, shortened(name, int((left - 10) / 6.9)), _C.ink, anchor="end", size=12)
            yield f'<rect x="{left:g}" y="{y + 1:g}" width="{width:.1f}" height="14" {look}/>'
            yield words_at(left + width + 6, y + 12, share(part), _C.soft, size=12)
            y += 20
        y += 2


def trade_chart(points: Sequence[tuple[str, float, float]], across: str, up: str, label: str) -> str:
    """Draw named points by two shares, of which less is better: near the corner is best."""
    return chart(300, label, _trade_parts(points, across, up)) if points else ""


_MARKS = (
    '<circle r="6.5" {look}/>',
    '<path d="M-6 -6H6V6H-6Z" {look}/>',
    '<path d="M0 -8L7.5 6H-7.5Z" {look}/>',
    '<path d="M0 -8.5L8.5 0L0 8.5L-8.5 0Z" {look}/>',
    '<path d="M0 8L7.5 -6H-7.5Z" {look}/>',
)
"""Shapes that can be told apart without colour."""


def _trade_parts(points: Sequence[tuple[str, float, float]], across: str, up: str) -> Iterator[str]:
    left, right, top, bottom = 52.0, WIDTH - 20, 44.0, 240.0
    xs = Scale.over([100 * point[1] for point in points])
    ys = Scale("linear", 0.0, 105 * max(max(point[2] for point in points), 1e-3))
    yield words_at(4, 14, f"↑ {up}", _C.ink)
    for tick in ys.ticks(5, unit=" %"):
        y = bottom - tick.place * (bottom - top)
        yield f'<path d="M{left:g} {y:.1f}H{right:g}" stroke="{_C.grid}"/>'
        yield words_at(left - 6, y + 4, tick.text, _C.soft, anchor="end", size=11)
    for tick in xs.ticks(5, unit=" %"):
        x = left + tick.place * (right - left)
        yield f'<path d="M{x:.1f} {bottom:g}v4" stroke="{_C.soft}"/>'
        yield words_at(x, bottom + 17, tick.text, _C.soft, anchor="middle", size=11)
    yield f'<path d="M{left:g} {top:g}V{bottom:g}H{right:g}" stroke="{_C.soft}" fill="none"/>'
    yield words_at(right, bottom + 38, f"{across} →", _C.ink, anchor="end")
    taken: list[tuple[float, float]] = []
    for number, (name, a, b) in enumerate(points):
        x = left + float(xs.at(100 * a)) * (right - left)
        y = bottom - float(ys.at(100 * b)) * (bottom - top)
        filled = number // len(_MARKS) % 2 == 0
        look = f'fill="{_C.front if filled else _C.paper}" stroke="{_C.front}" stroke-width="2"'
        yield f'<g transform="translate({x:.1f} {y:.1f})">{_MARKS[number % len(_MARKS)].format(look=look)}</g>'
        at = y - 12
        while any(abs(at - other) < 14 and abs(x - beside) < 120 for beside, other in taken):
            at = max(at + 15, y + 22)  # below the mark, and below other names there
        taken.append((x, at))
        anchor = "end" if x > (left + right) / 2 else "start"
        yield words_at(x, at, shortened(name, 30), _C.ink, anchor=anchor, size=12, halo=_C.paper)


def _room(names: Sequence[str], most: float = 180.0) -> float:
    """Return how far from the left names end."""
    return min(max(6.9 * max(map(len, names)) + 14, 60.0), most)
