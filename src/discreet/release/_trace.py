"""How a search went: the best cost and the lower bound over time, drawn with plain characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.release._audit import number_text

if TYPE_CHECKING:
    from discreet.solve import Progress

__all__ = ["trace_text"]

_LINES = 12
_LEGEND = "o best cost   . lower bound   = both"


def trace_text(trace: Sequence[Progress], width: int = 100) -> str:
    """Draw the moments of a search, at most ``width`` characters wide.

    >>> from discreet.solve import Progress
    >>> moments = [Progress(0, 9, 3, 1), Progress(1, 7, 4, 5), Progress(3, 6, 5, 8), Progress(4, 6, 6, 9)]
    >>> print(trace_text(moments, 25).splitlines()[0])
    9 |oooooo
    """
    moments = [moment for moment in trace if np.isfinite(moment.best) or np.isfinite(moment.bound)]
    if not moments:
        return "Nothing was recorded on the way."
    seconds = np.array([moment.seconds for moment in moments])
    curves = {"o": np.array([m.best for m in moments]), ".": np.array([m.bound for m in moments])}
    known = np.concatenate(list(curves.values()))
    known = known[np.isfinite(known)]
    low, high = float(known.min()), float(known.max())
    names = [number_text(high), number_text(low)]
    margin = max(map(len, names))
    columns = max(width - margin - 2, 10)
    times = np.linspace(0, float(seconds[-1]), columns)
    at = np.maximum(np.searchsorted(seconds, times, side="right") - 1, 0)
    at[-1] = len(moments) - 1
    lines = _LINES if high > low else 1
    canvas = np.full((lines, columns), " ")
    for mark, values in curves.items():
        there = values[at]
        place = np.flatnonzero(np.isfinite(there) & (times >= seconds[0]))
        line = np.rint((high - there[place]) / ((high - low) or 1.0) * (lines - 1)).astype(np.int64)
        canvas[line, place] = np.where(canvas[line, place] == "o", "=", mark)
    left = [names[0], *[""] * (lines - 2), names[1]][:lines]
    drawn = [f"{name:>{margin}} |{''.join(row)}".rstrip() for name, row in zip(left, canvas, strict=True)]
    end = f"{seconds[-1]:.3g} s"
    axis = f"{'':>{margin}} +{'-' * columns}"
    return "\n".join([*drawn, axis, f"{'':>{margin}}  0{end:>{columns - 1}}", _LEGEND])
