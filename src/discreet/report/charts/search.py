"""The course of a search, best cost and lower bound over time: as a chart and in plain characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.report.charts.scales import Scale
from discreet.report.charts.svg import ON_PAGE, WIDTH, Frame, chart, legend, text_at
from discreet.report.numbers import number_text

if TYPE_CHECKING:
    from discreet.solve import Progress

__all__ = ["trace_chart", "trace_text"]

_C = ON_PAGE
_LINES = 12
_SHORT = 0.1
"""Seconds up to which a search is shown in milliseconds."""
_LEGEND = "o best cost   . lower bound   = both"


def trace_chart(trace: Sequence[Progress], width: float = WIDTH) -> str:
    """Draw the best cost and the lower bound over time; empty if nothing changed."""
    moments = [moment for moment in trace if np.isfinite(moment.best)]
    if len(moments) < 2 or moments[-1].seconds <= moments[0].seconds:
        return ""
    last, spent = moments[-1], moments[-1].seconds - moments[0].seconds
    ends = f"the best cost fell to {number_text(last.best)}"
    if np.isfinite(last.bound):
        ends += f", the lower bound rose to {number_text(last.bound)}"
    return chart(240, f"Within {spent:.3g} seconds {ends}", _trace_parts(moments, width), width=width)


def _trace_parts(moments: Sequence[Progress], width: float) -> Iterator[str]:
    frame = Frame(56.0, width - 30, 40.0, 196.0)  # the last label of the time axis may be long
    cost = Scale.over([value for m in moments for value in (m.best, m.bound) if np.isfinite(value)])
    start, end = moments[0].seconds, moments[-1].seconds - moments[0].seconds
    time = Scale("linear", 0.0, max(end, 1e-9))

    best_name = "best cost found" if width > 400 else "best found"
    yield legend(frame.left, 14, f'<path d="M0 0H18" stroke="{_C.front}" stroke-width="3"/>', best_name)
    dashed = f'<path d="M0 0H18" stroke="{_C.knee}" stroke-width="2" stroke-dasharray="5 3"/>'
    yield legend(frame.left + 140 if width > 400 else frame.left + 126, 14, dashed, "lower bound")
    yield from frame.rows(cost.ticks(5, short=True), gap=7, size=12)
    best = [frame.point(time, cost, (m.seconds - start, m.best)) for m in moments]
    bound = [frame.point(time, cost, (m.seconds - start, m.bound)) for m in moments if np.isfinite(m.bound)]
    if bound:
        back = bound[::-1]
        area = f"{_staircase(best)}L{back[0][0]:.1f} {back[0][1]:.1f}{_staircase(back, backwards=True)}Z"
        yield f'<path d="{area}" fill="url(#gap)"/>'
        yield f'<path d="{_staircase(bound)}" fill="none" stroke="{_C.knee}" stroke-width="2" stroke-dasharray="5 3"/>'
    yield f'<path class="best" d="{_staircase(best)}" fill="none" stroke="{_C.front}" stroke-width="3"/>'
    axes = f"M{frame.left:g} {frame.top:g}V{frame.bottom:g}H{frame.right:g}"
    yield f'<path d="{axes}" stroke="{_C.soft}" fill="none"/>'
    factor, unit = (1, "seconds") if end > _SHORT else (1000, "milliseconds")
    yield from frame.columns(Scale("linear", 0.0, factor * end).ticks(5 if width > 400 else 4), size=12)
    yield text_at(
        frame.right,
        frame.bottom + 35,
        f"{unit} since the first release was found" if width > 400 else unit,
        _C.ink,
        anchor="end",
    )
    yield text_at(4, frame.bottom + 35, "↑ cost" + ("" if cost.kind == "linear" else " (log scale)"), _C.ink)


def _staircase(points: Sequence[tuple[float, float]], *, backwards: bool = False) -> str:
    """Return a path that moves right and then up or down; backwards the other way round."""
    start = "" if backwards else f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    return start + "".join(f"V{y:.1f}H{x:.1f}" if backwards else f"H{x:.1f}V{y:.1f}" for _, (x, y) in pairwise(points))


def trace_text(trace: Sequence[Progress], width: int = 100) -> str:
    """Draw the course of a search with plain characters, at most ``width`` of them wide.

    >>> from discreet.solve import Progress
    >>> moments = [Progress(0, 9, 3, 1), Progress(1, 7, 4, 5), Progress(3, 6, 5, 8), Progress(4, 6, 6, 9)]
    >>> print(trace_text(moments, 25).splitlines()[0])
    9 |oooooo
    """
    moments = [moment for moment in trace if np.isfinite(moment.best) or np.isfinite(moment.bound)]
    if not moments:
        return "The search recorded no progress."
    seconds = np.array([moment.seconds for moment in moments])
    curves = {"o": np.array([m.best for m in moments]), ".": np.array([m.bound for m in moments])}
    known = np.concatenate(list(curves.values()))
    known = known[np.isfinite(known)]
    low, high = float(known.min()), float(known.max())
    names = [number_text(high), number_text(low)]
    margin = max(map(len, names))
    columns = max(width - margin - 2, 10)
    times = np.linspace(0, float(seconds[-1]), columns)
    moment_at = np.maximum(np.searchsorted(seconds, times, side="right") - 1, 0)
    moment_at[-1] = len(moments) - 1
    lines = _LINES if high > low else 1
    canvas = np.full((lines, columns), " ")
    for mark, curve in curves.items():
        values = curve[moment_at]
        column = np.flatnonzero(np.isfinite(values) & (times >= seconds[0]))
        line = np.rint((high - values[column]) / ((high - low) or 1.0) * (lines - 1)).astype(np.int64)
        canvas[line, column] = np.where(canvas[line, column] == "o", "=", mark)
    left = [names[0], *[""] * (lines - 2), names[1]][:lines]
    drawn = [f"{name:>{margin}} |{''.join(row)}".rstrip() for name, row in zip(left, canvas, strict=True)]
    end = f"{seconds[-1]:.3g} s"
    axis = f"{'':>{margin}} +{'-' * columns}"
    return "\n".join([*drawn, axis, f"{'':>{margin}}  0{end:>{columns - 1}}", _LEGEND])
