"""What a report is made of, whatever it is written as: sections of words, figures, tables and charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = [
    "Block",
    "Card",
    "Cards",
    "Code",
    "Evaluation",
    "Facts",
    "Figure",
    "Items",
    "Section",
    "Table",
    "Text",
    "Tiles",
]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    words: str


@dataclass(frozen=True)
class Items:
    """Sentences that stand for themselves."""

    items: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """Names, and what is to be said about each."""

    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Tiles:
    """Figures that should be seen first: a name, the figure, what it means, and whether it is as it should be."""

    tiles: Sequence[tuple[str, str, str, bool | None]]


@dataclass(frozen=True)
class Table:
    """A table; its first column holds words, the others numbers, unless ``words`` says how many hold words."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


@dataclass(frozen=True)
class Figure:
    """A chart as an ``svg`` element, what it shows, and the same in plain characters; empty where there is no such."""

    svg: str
    caption: str
    text: str = ""


@dataclass(frozen=True)
class Code:
    """Text to be copied as it is."""

    text: str


@dataclass(frozen=True)
class Card:
    """Something with a name that stands beside others of its kind."""

    title: str
    about: str
    blocks: Sequence[Text | Items | Facts | Table | Figure]


@dataclass(frozen=True)
class Cards:
    """Cards beside each other."""

    cards: Sequence[Card]


Block = Text | Items | Facts | Tiles | Table | Figure | Code | Cards


@dataclass(frozen=True)
class Section:
    """A part of a report with a heading. Whoever has more to say about a release hands over more of these."""

    title: str
    blocks: Sequence[Block]


class Evaluation(Protocol):
    """What has something to say about a release, such as a report of its risk or its utility."""

    def sections(self) -> Sequence[Section]:
        """Return it as sections of a report."""
