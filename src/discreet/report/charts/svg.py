"""Elements of all drawings: colours, fonts, text, legends, grids and the frame of a chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from discreet.report.charts.scales import Scale, Tick

__all__ = [
    "DARK",
    "FONT",
    "LIGHT",
    "NAMESPACE",
    "ON_PAGE",
    "PATTERNS",
    "WIDTH",
    "Colours",
    "Frame",
    "chart",
    "fitted",
    "legend",
    "rect",
    "shortened",
    "text_at",
    "text_width",
]

_LETTER = 0.62
"""The width of a letter in terms of its size, in the widest of the fonts below."""
NAMESPACE = "http://www.w3.org/2000/svg"
FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
WIDTH = 460.0
"""The width of charts unless another is asked for, as the studio does for the screen it is on."""


class Colours(NamedTuple):
    """Colours that colour-blind readers can distinguish; in print, shapes and patterns serve instead."""

    paper: str
    ink: str
    soft: str
    grid: str
    cloud: str
    front: str
    knee: str


LIGHT = Colours("#ffffff", "#1f2937", "#4b5563", "#e5e7eb", "#b4bac4", "#0072b2", "#d55e00")
DARK = Colours("#0d1117", "#e5e7eb", "#9ca3af", "#252c35", "#5d6877", "#56b4e9", "#f0a04b")
ON_PAGE = Colours(*(f"var(--{name})" for name in Colours._fields))
"""The colours a page defines, light or dark as its reader prefers."""
PATTERNS = (
    f'<svg xmlns="{NAMESPACE}" class="patterns" width="0" height="0" aria-hidden="true"><defs>'
    '<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<path d="M0 0V5" stroke="{ON_PAGE.soft}" stroke-width="1.6"/></pattern>'
    '<pattern id="gap" width="7" height="7" patternUnits="userSpaceOnUse">'
    f'<circle cx="2" cy="2" r="1" fill="{ON_PAGE.soft}"/></pattern></defs></svg>'
)
"""Fill patterns, defined once per page before the charts."""


class Frame(NamedTuple):
    """The plotting area of a chart, in pixels."""

    left: float
    right: float
    top: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    def rows(self, ticks: Sequence[Tick], *, gap: float = 6, size: float = 11) -> Iterator[str]:
        """Yield a horizontal grid line with its label for each tick."""
        for tick in ticks:
            y = self.bottom - tick.position * self.height
            yield f'<path d="M{self.left:g} {y:.1f}H{self.right:g}" stroke="{ON_PAGE.grid}"/>'
            yield text_at(self.left - gap, y + 4, tick.text, ON_PAGE.soft, anchor="end", size=size)

    def columns(self, ticks: Sequence[Tick], *, size: float = 11) -> Iterator[str]:
        """Yield a mark below the axis with its label for each tick."""
        for tick in ticks:
            x = self.left + tick.position * self.width
            yield f'<path d="M{x:.1f} {self.bottom:g}v4" stroke="{ON_PAGE.soft}"/>'
            yield text_at(x, self.bottom + 17, tick.text, ON_PAGE.soft, anchor="middle", size=size)

    def point(self, x: Scale, y: Scale, value: tuple[float, float]) -> tuple[float, float]:
        """Return where a value is drawn."""
        return self.left + float(x.at(value[0])) * self.width, self.bottom - float(y.at(value[1])) * self.height


def chart(height: float, label: str, parts: Iterable[str], *, width: float = WIDTH) -> str:
    """Return an ``svg`` element; ``label`` describes it to those who cannot see it."""
    head = (
        f'<svg xmlns="{NAMESPACE}" class="chart" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(label, quote=True)}" font-family="{FONT}" font-size="13">'
    )
    return head + "".join(parts) + "</svg>"


def legend(x: float, y: float, mark: str, words: str) -> str:
    """Return an entry of a legend."""
    return f'<g transform="translate({x:g} {y:g})">{mark}</g>{text_at(x + 24, y + 4, words, ON_PAGE.soft)}'


def rect(x: float, y: float, width: float, height: float, style: str) -> str:
    """Return a rectangle."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {style}/>'


def shortened(words: str, letters: int) -> str:
    """Cut text to at most ``letters`` characters."""
    return words if len(words) <= letters else words[: max(letters - 1, 1)] + "…"


def fitted(words: str, room: float, size: float = 13) -> str:
    """Cut text to what fits in ``room``.

    >>> fitted("Vocational training", 90), fitted("Doctor", 90)
    ('Vocational…', 'Doctor')
    """
    return shortened(words, int(room / text_width("0", size)))


def text_width(words: str, size: float = 13) -> float:
    """Return about how wide a text is drawn, rather too wide than too narrow.

    >>> round(text_width("20,000 · 5 %"))
    97
    """
    return _LETTER * size * len(words)


def text_at(
    x: float,
    y: float,
    words: str,
    fill: str,
    *,
    anchor: str = "start",
    size: float = 0,
    bold: bool = False,
    halo: str = "",
) -> str:
    """Return a text element; a ``halo`` of this colour keeps it readable on top of lines."""
    style = f' font-size="{size:g}"' if size else ""
    style += ' font-weight="bold"' if bold else ""
    style += f' stroke="{halo}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    aligned = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{aligned}{style}>{escape(words)}</text>'
