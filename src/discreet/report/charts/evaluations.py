"""Charts of evaluations: neighbouring promises, utility, and releases side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
from discreet.report.numbers import percent

if TYPE_CHECKING:
    from discreet.pipeline.neighbours import Neighbour

__all__ = ["before_after_chart", "grouped_bar_chart", "neighbour_chart", "share_chart", "trade_off_chart"]

_C = ON_PAGE
_PITCH = 24.0
"""The height of a row in charts that have rows."""
_LABEL = 46.0
"""The width of a percentage above a point."""
_MARKS = (
    '<circle r="6.5" {style}/>',
    '<path d="M-6 -6H6V6H-6Z" {style}/>',
    '<path d="M0 -8L7.5 6H-7.5Z" {style}/>',
    '<path d="M0 -8.5L8.5 0L0 8.5L-8.5 0Z" {style}/>',
    '<path d="M0 8L7.5 -6H-7.5Z" {style}/>',
)
"""Shapes that distinguish points without colour."""


def neighbour_chart(neighbours: Sequence[Neighbour], letter: str) -> str:
    """Draw the loss of neighbouring promises; empty if fewer than two are possible."""
    known = [neighbour for neighbour in neighbours if np.isfinite(neighbour.cost)]
    if len(known) < 2:
        return ""
    losses = ", ".join(f"{letter} = {each.value}: {percent(each.normalized_cost)}" for each in known)
    return chart(250, f"The loss of the best release for {losses}", _neighbour_parts(known, letter))


def _neighbour_parts(known: Sequence[Neighbour], letter: str) -> Iterator[str]:
    frame = Frame(52.0, WIDTH - 22, 44.0, 202.0)
    peak = max(max(each.normalized_cost for each in known), 1e-9)
    yield text_at(4, 14, "↑ loss, relative to leaving everybody out", _C.ink)
    yield from frame.rows(Scale("linear", 0, 100 * peak).ticks(4, unit=" %"))
    logs = np.log([each.value for each in known])
    share = (logs - logs[0]) / ((logs[-1] - logs[0]) or 1)
    xs = (frame.left + 14 + share * (frame.width - 28)).tolist()
    ys = [frame.bottom - each.normalized_cost / peak * frame.height for each in known]
    line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(xs, ys, strict=True))
    yield f'<path d="M{frame.left:g} {frame.bottom:g}H{frame.right:g}" stroke="{_C.soft}"/>'
    yield f'<path d="{line}" fill="none" stroke="{_C.front}" stroke-width="2"/>'
    labelled = -_LABEL
    for each, x, y in zip(known, xs, ys, strict=True):
        if each.chosen:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{_C.paper}" stroke="{_C.knee}" stroke-width="2.5"/>'
        style = f'fill="{_C.front}"' if each.proven else f'fill="{_C.paper}" stroke="{_C.front}" stroke-width="2"'
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" {style}/>'
        if each.chosen or x - labelled >= _LABEL:
            yield text_at(x, y - 13, percent(each.normalized_cost), _C.ink, anchor="middle", size=12, halo=_C.paper)
            labelled = x
        yield text_at(x, frame.bottom + 17, f"{each.value:,}", _C.ink, anchor="middle", size=12, bold=each.chosen)
    yield text_at(frame.right, frame.bottom + 36, f"{letter} →", _C.ink, anchor="end")


def share_chart(shares: Sequence[tuple[str, float]], label: str) -> str:
    """Draw a partly filled bar for each name and share."""
    return chart(_PITCH * len(shares) + 6, label, _share_parts(shares)) if shares else ""


def _share_parts(shares: Sequence[tuple[str, float]]) -> Iterator[str]:
    left, right = _name_width([name for name, _ in shares]), WIDTH - 58
    for i, (name, share) in enumerate(shares):
        y = _PITCH * i + 3
        yield text_at(left - 7, y + 14, fitted(name, left - 8), _C.ink, anchor="end")
        yield rect(left, y, right - left, 18, f'fill="none" stroke="{_C.cloud}"')
        yield rect(left, y, min(max(share, 0.0), 1.0) * (right - left), 18, f'fill="{_C.front}"')
        yield text_at(right + 7, y + 14, percent(share), _C.soft, size=12)


def before_after_chart(
    pairs: Sequence[tuple[str, float, float]], label: str, width: float = WIDTH, *, unit: str = ""
) -> str:
    """Draw for each name a number from 0 to 1, before and after; ``unit`` is appended to the numbers of the axis."""
    if not pairs:
        return ""
    names = _name_width([name for name, *_ in pairs], math.inf)
    above = names > width / 2  # names have lines of their own
    left, pitch = (10.0, 40.0) if above else (names, _PITCH)
    parts = _before_after_parts(pairs, Frame(left, width - 20, 28.0, 28.0 + pitch * len(pairs)), above, unit)
    return chart(pitch * len(pairs) + 48, label, parts, width=width)


def _before_after_parts(
    pairs: Sequence[tuple[str, float, float]], frame: Frame, above: bool, unit: str
) -> Iterator[str]:
    peak = max(0.1, *(abs(value) for _, *values in pairs for value in values))
    hollow, filled = f'fill="{_C.paper}" stroke="{_C.soft}" stroke-width="2"', f'fill="{_C.front}"'
    yield legend(frame.left, 12, f'<circle cx="9" cy="0" r="5" {hollow}/>', "before")
    yield legend(frame.left + 86, 12, f'<circle cx="9" cy="0" r="5" {filled}/>', "after")
    scale = Scale("linear", 0, peak * (100 if unit else 1))
    for tick in scale.ticks(max(2, min(4, int(frame.width // 70))), unit=unit):
        x = frame.left + tick.position * frame.width
        yield f'<path d="M{x:.1f} {frame.top:g}V{frame.bottom:g}" stroke="{_C.grid}"/>'
        yield text_at(
            max(x, text_width(tick.text, 11) / 2), frame.bottom + 15, tick.text, _C.soft, anchor="middle", size=11
        )
    pitch = frame.height / len(pairs)
    for i, (name, before, after) in enumerate(pairs):
        y = frame.top + pitch * (i + (0.72 if above else 0.5))
        a, b = (frame.left + abs(value) / peak * frame.width for value in (before, after))
        if above:
            yield text_at(2, y - 12, fitted(name, frame.right, 12), _C.ink, size=12, halo=_C.paper)
        else:
            yield text_at(frame.left - 10, y + 4, name, _C.ink, anchor="end", size=12)
        yield f'<path d="M{a:.1f} {y:.1f}H{b:.1f}" stroke="{_C.soft}" stroke-width="2"/>'
        yield f'<circle cx="{a:.1f}" cy="{y:.1f}" r="5.5" {hollow}/>'
        yield f'<circle cx="{b:.1f}" cy="{y:.1f}" r="4" {filled}/>'


def grouped_bar_chart(
    groups: Sequence[tuple[str, Sequence[tuple[str, float]]]], label: str, *, hatched: bool = True
) -> str:
    """Draw groups of bars, each with a name and a share; ``hatched`` hatches all but the first of a group."""
    rows = sum(len(bars) for _, bars in groups)
    return chart(20.0 * rows + 26 * len(groups) + 6, label, _grouped_parts(groups, hatched)) if rows else ""


def _grouped_parts(groups: Sequence[tuple[str, Sequence[tuple[str, float]]]], hatched: bool) -> Iterator[str]:
    left, right = _name_width([name for _, bars in groups for name, _ in bars]), WIDTH - 58
    y = 4.0
    for title, bars in groups:
        yield text_at(2, y + 14, title, _C.ink, bold=True)
        y += 24
        for i, (name, share) in enumerate(bars):
            style = f'fill="{_C.front}"' if i == 0 or not hatched else f'fill="url(#hatch)" stroke="{_C.soft}"'
            width = max(min(share, 1.0) * (right - left), 1.0)
            yield text_at(left - 7, y + 12, fitted(name, left - 8, 12), _C.ink, anchor="end", size=12)
            yield rect(left, y + 1, width, 14, style)
            yield text_at(left + width + 6, y + 12, percent(share), _C.soft, size=12)
            y += 20
        y += 2


def trade_off_chart(points: Sequence[tuple[str, float, float]], across: str, up: str, label: str) -> str:
    """Draw named points by two shares; less is better."""
    return chart(300, label, _trade_off_parts(points, across, up)) if points else ""


def _trade_off_parts(points: Sequence[tuple[str, float, float]], across: str, up: str) -> Iterator[str]:
    frame = Frame(52.0, WIDTH - 20, 44.0, 240.0)
    xs = Scale.over([100 * point[1] for point in points])
    ys = Scale("linear", 0.0, 105 * max(max(point[2] for point in points), 1e-3))
    yield text_at(4, 14, f"↑ {up}", _C.ink)
    yield from frame.rows(ys.ticks(5, unit=" %"))
    yield from frame.columns(xs.ticks(5, unit=" %"))
    axes = f"M{frame.left:g} {frame.top:g}V{frame.bottom:g}H{frame.right:g}"
    yield f'<path d="{axes}" stroke="{_C.soft}" fill="none"/>'
    yield text_at(frame.right, frame.bottom + 38, f"{across} →", _C.ink, anchor="end")
    labels: list[tuple[float, float]] = []
    for number, (name, a, b) in enumerate(points):
        x, y = frame.point(xs, ys, (100 * a, 100 * b))
        filled = number // len(_MARKS) % 2 == 0
        style = f'fill="{_C.front if filled else _C.paper}" stroke="{_C.front}" stroke-width="2"'
        yield f'<g transform="translate({x:.1f} {y:.1f})">{_MARKS[number % len(_MARKS)].format(style=style)}</g>'
        baseline = y - 12
        while any(abs(baseline - other) < 14 and abs(x - beside) < 120 for beside, other in labels):
            baseline = max(baseline + 15, y + 22)  # below the mark, and below other labels there
        labels.append((x, baseline))
        anchor = "end" if x > (frame.left + frame.right) / 2 else "start"
        yield text_at(x, baseline, shortened(name, 30), _C.ink, anchor=anchor, size=12, halo=_C.paper)


def _name_width(names: Sequence[str], most: float = 180.0) -> float:
    """Return the room that names need on the left."""
    return min(max(max(map(text_width, names)) + 12, 60.0), most)
