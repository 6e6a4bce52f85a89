"""The building blocks of a report, independent of its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = [
    "Block",
    "BulletList",
    "Card",
    "Cards",
    "Code",
    "DataTable",
    "Facts",
    "Figure",
    "Reportable",
    "Section",
    "Signatures",
    "Text",
    "Tile",
    "Tiles",
    "VerdictBox",
]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    words: str


@dataclass(frozen=True)
class BulletList:
    """A bulleted list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """Pairs of a name and its description."""

    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class VerdictBox:
    """The verdict: a headline, and sentences each marked ``ok``, ``caution`` or ``danger``."""

    level: str
    headline: str
    sentences: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Tile:
    """A key figure, what it means, and whether it is as it should be (None if that cannot be judged)."""

    name: str
    figure: str
    hint: str
    good: bool | None = None


@dataclass(frozen=True)
class Tiles:
    """The key figures, shown first."""

    tiles: Sequence[Tile]


@dataclass(frozen=True)
class DataTable:
    """A table whose first ``words`` columns hold text, and the others numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


@dataclass(frozen=True)
class Figure:
    """A chart as an ``svg`` element, and as plain ``text`` where there is such a form."""

    svg: str
    caption: str
    text: str = ""


@dataclass(frozen=True)
class Code:
    """Preformatted text."""

    text: str


@dataclass(frozen=True)
class Card:
    """A titled box beside others of its kind."""

    title: str
    about: str
    blocks: Sequence[Text | BulletList | Facts | DataTable | Figure]


@dataclass(frozen=True)
class Cards:
    """Cards side by side."""

    cards: Sequence[Card]


@dataclass(frozen=True)
class Signatures:
    """Lines to sign on: who signs, and the name if it is known."""

    lines: Sequence[tuple[str, str]]


Block = Text | BulletList | Facts | VerdictBox | Tiles | DataTable | Figure | Code | Cards | Signatures


@dataclass(frozen=True)
class Section:
    """A part of a report with a heading; users may add their own."""

    title: str
    blocks: Sequence[Block]


class Reportable(Protocol):
    """Anything that can be shown in a report as sections."""

    def sections(self) -> Sequence[Section]:
        """Return the sections."""
