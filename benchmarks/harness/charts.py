"""Charts as plain data, drawn as SVG in the colours of the page they stand on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.report.charts.scales import Scale, Tick
from discreet.report.charts.svg import ON_PAGE, WIDTH, Frame, chart, shortened, text_at

__all__ = ["COLOURS", "Chart", "drawn"]

Curve = tuple[Sequence[float], Sequence[float]]

COLOURS = {
    "light": ("#0072b2", "#d55e00", "#007a5a", "#a4457f", "#8a6d00", "#1f2937", "#3c8fc4", "#b0413e"),
    "dark": ("#56b4e9", "#f0a04b", "#3fc79a", "#e08fc0", "#e6d24a", "#e5e7eb", "#8ab4f8", "#f28b82"),
}
"""Of the curves, as the variables ``--c0`` to ``--c7`` of the page."""
_FEW = 9
"""At most so many different x are each marked on the axis."""
_DASHES = ("", "6 4", "2 3", "8 3 2 3")
_HEIGHT = 300.0
_LINE = 17.0
"""The height of a line of the legend."""


@dataclass(frozen=True)
class Chart:
    """Curves by name, each with its x and y.

    ``log`` names the logarithmic axes; ``steps`` holds y until it changes; ``ticks`` are the names of x = 0, 1, …,
    between which nothing is drawn; nor is anything between the points of the curves named in ``clouds``, which are
    small and grey. Curves whose names begin alike up to a comma have one colour, and the second of them is dashed.
    """

    title: str
    x: str
    y: str
    curves: Mapping[str, Curve]
    log: str = ""
    steps: bool = False
    ticks: tuple[str, ...] = ()
    clouds: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Chart:
        """Return the chart that was written as JSON."""
        return cls(**{**record, "ticks": tuple(record["ticks"]), "clouds": tuple(record["clouds"])})

    def points(self, name: str) -> list[tuple[float, float]]:
        """The points of a curve that have a place on the axes."""
        pairs = zip(*self.curves[name], strict=True)
        known = [(float(x), float(y)) for x, y in pairs if x is not None and y is not None]
        return [
            (x, y)
            for x, y in known
            if math.isfinite(x + y) and not ("x" in self.log and x <= 0) and not ("y" in self.log and y <= 0)
        ]


def drawn(one: Chart) -> str:
    """Return the chart as an ``svg`` element."""
    styles = _styles([name for name in one.curves if name not in one.clouds])
    below = 34.0 + (88.0 if one.ticks else 0.0)
    frame = Frame(58.0, WIDTH - 10, 22.0, _HEIGHT - 40)
    height = frame.bottom + below + 8 + _LINE * math.ceil(len(one.curves) / _columns(one))
    points = [point for name in one.curves for point in one.points(name)]
    if not points:
        return chart(60, one.title, [text_at(WIDTH / 2, 30, "nothing to draw", ON_PAGE.soft, anchor="middle")])
    x, y = (_scale([point[axis] for point in points], log="xy"[axis] in one.log) for axis in (0, 1))
    parts = [*frame.rows(y.ticks(6, short=True)), text_at(4, 12, one.y, ON_PAGE.soft, size=11)]
    parts += _x_axis(one, frame, x)
    for name in one.clouds:
        dots = "".join(f"M{a:.0f} {b:.0f}h0" for a, b in _places(one, name, frame, x, y))
        parts.append(f'<path d="{dots}" stroke="{ON_PAGE.cloud}" stroke-width="2.4" stroke-linecap="round"/>')
    for name, (colour, dash) in styles.items():
        parts += _curve(one, _places(one, name, frame, x, y), colour, dash)
    parts += _legend(one, styles, frame.bottom + below + 12)
    return chart(height, one.title, parts)


def _scale(values: Sequence[float], *, log: bool) -> Scale:
    low, high = min(values), max(values)
    if log:
        ends = math.log10(low), math.log10(high)
        pad = 0.04 * (ends[1] - ends[0]) or 0.3
        return Scale("log", ends[0] - pad, ends[1] + pad)
    low = 0.0 if 0 < low < 0.5 * high else low
    pad = 0.04 * (high - low) or abs(high) / 2 or 1.0
    return Scale("linear", low - pad if low else 0.0 - 0.01 * high, high + pad)


def _x_axis(one: Chart, frame: Frame, x: Scale) -> Iterator[str]:
    """Yield the marks of the x-axis and its name."""
    named = one.ticks
    if named:
        for place, name in enumerate(named):
            at = frame.left + float(x.at(place)) * frame.width
            words = text_at(0, 0, shortened(name, 26), ON_PAGE.soft, anchor="end", size=10)
            yield f'<g transform="translate({at:.1f} {frame.bottom + 12:g}) rotate(-40)">{words}</g>'
    else:
        marks = sorted({point[0] for name in one.curves for point in one.points(name)})
        each = [Tick(float(x.at(mark)), f"{mark:,g}" if mark < 1e6 else f"{mark:g}") for mark in marks]
        near = np.diff([tick.position for tick in each])
        few = len(each) <= _FEW and not one.clouds and bool((near >= 0.06).all())
        yield from frame.columns(each if few else x.ticks(7, short=True))
    yield text_at(frame.right, frame.bottom + (122 if named else 32), one.x, ON_PAGE.soft, anchor="end", size=11)


def _places(one: Chart, name: str, frame: Frame, x: Scale, y: Scale) -> list[tuple[float, float]]:
    return [frame.point(x, y, point) for point in one.points(name)]


def _curve(one: Chart, places: Sequence[tuple[float, float]], colour: str, dash: str) -> Iterator[str]:
    """Yield the line of a curve and its points."""
    if not one.ticks and len(places) > 1:
        line = f"M{places[0][0]:.1f} {places[0][1]:.1f}"
        for a, b in places[1:]:
            line += f"H{a:.1f}V{b:.1f}" if one.steps else f"L{a:.1f} {b:.1f}"
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        yield f'<path d="{line}" fill="none" stroke="{colour}" stroke-width="1.8"{dashes}/>'
    if len(places) <= 80:
        yield "".join(_dot(a, b, colour, dash) for a, b in places)


def _dot(x: float, y: float, colour: str, dash: str) -> str:
    """Return a point of a curve, hollow where the line is dashed."""
    fill = f'fill="{ON_PAGE.paper}" stroke="{colour}" stroke-width="1.4"' if dash else f'fill="{colour}"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2.3 if dash else 2.8}" {fill}/>'


def _columns(one: Chart) -> int:
    """How many entries of the legend stand beside each other."""
    longest = max(map(len, one.curves))
    return 3 if longest <= 18 else 2 if longest <= 30 else 1


def _legend(one: Chart, styles: Mapping[str, tuple[str, str]], top: float) -> Iterator[str]:
    columns = _columns(one)
    for number, name in enumerate(one.curves):
        left = 12 + (number % columns) * (WIDTH - 12) / columns
        y = top + (number // columns) * _LINE
        if name in styles:
            colour, dash = styles[name]
            dashes = f' stroke-dasharray="{dash}"' if dash else ""
            line = "" if one.ticks else f'<path d="M0 0h22" stroke="{colour}" stroke-width="1.8"{dashes}/>'
            mark = line + _dot(11, 0, colour, dash)
        else:
            mark = f'<circle cx="11" cy="0" r="1.8" fill="{ON_PAGE.cloud}"/>'
        yield f'<g transform="translate({left:.0f} {y:.0f})">{mark}</g>'
        yield text_at(left + 28, y + 4, shortened(name, 78 // columns), ON_PAGE.soft, size=11)


def _styles(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The colour and the dashes of each curve.

    >>> _styles(["a, old", "a, new", "b"])
    {'a, old': ('var(--c0)', ''), 'a, new': ('var(--c0)', '6 4'), 'b': ('var(--c1)', '')}
    """
    of = {name: name.split(",")[0] for name in names}
    bases = list(dict.fromkeys(of.values()))
    if len(bases) == 1:
        of = {name: name for name in names}
        bases = list(names)
    seen: dict[str, int] = {}
    styles = {}
    for name, base in of.items():
        seen[base] = seen.get(base, -1) + 1
        styles[name] = (f"var(--c{bases.index(base) % 8})", _DASHES[seen[base] % len(_DASHES)])
    return styles
