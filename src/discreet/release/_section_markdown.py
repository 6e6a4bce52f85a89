"""Sections as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from discreet.release._sections import (
    Block,
    Cards,
    Code,
    Facts,
    Figure,
    Items,
    Section,
    Table,
    Text,
    Tiles,
)

__all__ = ["to_markdown"]


def to_markdown(title: str, subtitle: str, sections: Sequence[Section], footer: Sequence[str]) -> str:
    """Write a report; charts are drawn with plain characters, or left to the HTML."""
    parts = [f"# {_plain(title)}", subtitle]
    for section in sections:
        parts += [f"## {_plain(section.title)}"] if section.title else []
        parts += [text for block in section.blocks for text in _block(block) if text]
    return "\n\n".join([*parts, "---", *footer]) + "\n"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Text):
        yield _plain(block.words)
    elif isinstance(block, Items):
        yield "\n".join(f"- {_plain(item)}" for item in block.items)
    elif isinstance(block, Facts):
        yield "\n".join(f"- **{_plain(name)}**: {_plain(words)}" for name, words in block.facts)
    elif isinstance(block, Tiles):
        yield "\n".join(
            f"- **{_plain(name)}**: {_plain(figure)} ({_plain(hint)})" for name, figure, hint, _ in block.tiles
        )
    elif isinstance(block, Table):
        yield _table(block)
    elif isinstance(block, Figure):
        yield f"{_fenced(block.text)}\n\n{_plain(block.caption)}" if block.text else ""
    elif isinstance(block, Code):
        yield _fenced(block.text)
    elif isinstance(block, Cards):
        for card in block.cards:
            yield f"### {_plain(card.title)}"
            yield _plain(card.about)
            for inner in card.blocks:
                yield from _block(inner)


def _table(table: Table) -> str:
    rule = ["---" if place < table.words else "---:" for place in range(len(table.head))]
    rows = [table.head, rule, *table.rows]
    return "\n".join(f"| {' | '.join(_plain(cell) for cell in row)} |" for row in rows)


def _fenced(text: str) -> str:
    """Return text that is shown as it is, whatever it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _plain(words: str) -> str:
    """Keep marks in names from being read as Markdown."""
    for mark in "\\`*_|<>#":
        words = words.replace(mark, f"\\{mark}")
    return " ".join(words.split())
