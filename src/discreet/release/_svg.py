"""What all drawings share: colours, the font, and words at a place."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

__all__ = ["DARK", "FONT", "LIGHT", "NAMESPACE", "ON_PAGE", "Colours", "words_at"]

NAMESPACE = "http://www.w3.org/2000/svg"
FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


class Colours(NamedTuple):
    """Colours that stay apart for every kind of sight; in print the shapes tell what is what."""

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
"""The colours a page defines, light or dark as its reader likes it."""


def words_at(
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
    """Return words as an element of a drawing."""
    look = f' font-size="{size:g}"' if size else ""
    look += ' font-weight="bold"' if bold else ""
    look += f' stroke="{halo}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    where = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{where}{look}>{escape(words)}</text>'
