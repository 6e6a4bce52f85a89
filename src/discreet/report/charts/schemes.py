"""The schemes that were tried, side by side: detail lost, risk, and people left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from discreet.report.charts.svg import ON_PAGE, WIDTH, chart, fitted, rect, text_at, text_width
from discreet.report.numbers import percent

if TYPE_CHECKING:
    from discreet.report.schemes_tried import TriedScheme

__all__ = ["schemes_chart"]

_C = ON_PAGE
_PITCH, _TOP, _NARROW = 38.0, 30.0, 430.0


class _Panel(NamedTuple):
    """One measure: its title, and for each scheme the length of the bar and the words beside it."""

    title: str
    shares: list[float | None]
    words: list[str]


def schemes_chart(tried: Sequence[TriedScheme], width: float = WIDTH) -> str:
    """Draw a bar for each scheme and measure; empty if fewer than two schemes have a release."""
    if sum(each.loss is not None for each in tried) < 2:
        return ""
    panels = [
        _Panel("detail lost", [each.loss for each in tried], [percent(each.loss or 0) for each in tried]),
        _Panel("average risk", [each.risk for each in tried], [each.risk_text for each in tried]),
        _Panel("left out", [each.left_out_share for each in tried], [each.left_out for each in tried]),
    ]
    best = next((each for each in tried if each.taken), tried[0])
    label = f"Schemes that were tried, all with the same promises; {best.name} loses least"
    stacked = width < _NARROW
    rows = len(tried) * (len(panels) if stacked else 1)
    height = (len(panels) if stacked else 1) * _TOP + rows * (24.0 if stacked else _PITCH) + 4
    parts = _stacked(tried, panels, width) if stacked else _beside(tried, panels, width)
    return chart(height, label, parts, width=width)


def _beside(tried: Sequence[TriedScheme], panels: Sequence[_Panel], width: float) -> Iterator[str]:
    names = min(max(max(text_width(each.name) for each in tried) + 16, 70.0), 130.0)
    room = (width - names) / len(panels)
    for i, each in enumerate(tried):
        y = _TOP + _PITCH * i
        if each.taken:
            yield rect(0, y + 1, width, _PITCH - 4, f'fill="{_C.grid}" fill-opacity="0.55" rx="5"')
        yield text_at(8, y + 22, fitted(each.name, names - 10), _C.ink, bold=each.taken)
        if each.loss is None:
            reason = fitted(f"no release: {each.reason}", width - names, 12)
            yield text_at(names, y + 22, reason, _C.soft, size=12)
    for number, panel in enumerate(panels):
        x = names + number * room
        yield text_at(x, 16, panel.title, _C.soft, size=12, bold=True)
        for i, each in enumerate(tried):
            if each.loss is not None:
                yield from _bar(panel, i, x, _TOP + _PITCH * i + 10, room - 12, each.taken)


def _stacked(tried: Sequence[TriedScheme], panels: Sequence[_Panel], width: float) -> Iterator[str]:
    y, names = 0.0, min(max(max(text_width(each.name) for each in tried) + 16, 70.0), 130.0)
    for panel in panels:
        yield text_at(2, y + 20, panel.title, _C.soft, size=12, bold=True)
        y += _TOP
        for i, each in enumerate(tried):
            yield text_at(2, y + 13, fitted(each.name, names - 4), _C.ink, bold=each.taken)
            if each.loss is None:
                yield text_at(names, y + 13, "no release", _C.soft, size=12)
            else:
                yield from _bar(panel, i, names, y, width - names, each.taken)
            y += 24.0


def _bar(panel: _Panel, row: int, x: float, y: float, room: float, taken: bool) -> Iterator[str]:
    """Yield the bar of a scheme, on the scale of its panel, with its figure."""
    peak = max([share for share in panel.shares if share is not None], default=0.0) or 1.0
    words = panel.words[row]
    length = (panel.shares[row] or 0.0) / peak * max(room - max(text_width(each, 12) for each in panel.words) - 8, 12.0)
    style = f'fill="{_C.front}"' if taken else f'fill="url(#hatch)" stroke="{_C.soft}"'
    if length > 0:
        yield rect(x, y + 1, max(length, 1.5), 15, style)
    yield text_at(x + length + (5 if length > 0 else 0), y + 13, words, _C.ink, size=12, bold=taken)
