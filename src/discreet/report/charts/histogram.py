"""The distribution of one column, as bars from left to right."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from discreet.report.charts.scales import Scale
from discreet.report.charts.svg import ON_PAGE, WIDTH, Frame, chart, fitted, rect, text_at, text_width

__all__ = ["histogram"]

_C = ON_PAGE
_LETTERS = 12
"""Longer names may be cut."""


def histogram(bars: Sequence[tuple[str, int]], label: str, width: float = WIDTH) -> str:
    """Draw named bars with their counts; names that do not fit beside each other are written below every n-th bar."""
    return chart(220, label, _parts(bars, width), width=width) if bars else ""


def _parts(bars: Sequence[tuple[str, int]], width: float) -> Iterator[str]:
    peak = max(max(rows for _, rows in bars), 1)
    ticks = Scale("linear", 0, peak).ticks(4, short=True)
    frame = Frame(max(text_width(tick.text, 11) for tick in ticks) + 12, width - 4, 12.0, 184.0)
    yield from frame.rows(ticks)
    slot = frame.width / len(bars)
    letters = min(max(len(name) for name, _ in bars), _LETTERS)
    every = max(1, math.ceil((text_width("0" * letters, 11) + 8) / slot))
    for i, (name, rows) in enumerate(bars):
        x, tall = frame.left + i * slot, max(rows / peak * frame.height, 1.0) if rows else 0.0
        gap = min(2.0, slot * 0.12)
        drawn = rect(x + gap, frame.bottom - tall, max(slot - 2 * gap, 1.0), tall, f'fill="{_C.front}"')
        yield f"<g><title>{_title(name, rows)}</title>{drawn}</g>"
        words = fitted(name, slot * every - 4, 11)
        half, middle = text_width(words, 11) / 2, x + slot / 2
        if i % every == 0 and middle + half <= width:
            yield text_at(max(middle, half), frame.bottom + 17, words, _C.soft, anchor="middle", size=11)
    yield f'<path d="M{frame.left:g} {frame.bottom:g}H{frame.right:g}" stroke="{_C.soft}"/>'


def _title(name: str, rows: int) -> str:
    return escape(f"{name}: {rows:,}")
