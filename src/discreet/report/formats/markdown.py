"""Sections as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from discreet.report.sections.blocks import (
    Block,
    BulletList,
    Cards,
    Code,
    DataTable,
    Facts,
    Figure,
    Section,
    Signatures,
    Text,
    Tiles,
    VerdictBox,
)

__all__ = ["to_markdown"]

_LINE = r"\_" * 20


def to_markdown(title: str, subtitle: str, sections: Sequence[Section], footer: Sequence[str]) -> str:
    """Return a whole report; of the charts only those that have a plain-text form are in it."""
    parts = [f"# {_plain(title)}", subtitle]
    for section in sections:
        parts += [f"## {_plain(section.title)}"] if section.title else []
        parts += [text for block in section.blocks for text in _block(block) if text]
    return "\n\n".join([*parts, "---", *footer]) + "\n"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Text):
        yield _plain(block.words)
    elif isinstance(block, BulletList):
        yield "\n".join(f"- {_plain(item)}" for item in block.items)
    elif isinstance(block, Facts):
        yield "\n".join(f"- **{_plain(name)}**: {_plain(words)}" for name, words in block.facts)
    elif isinstance(block, VerdictBox):
        lines = [f"- **{level}**: {_plain(sentence)}" for level, sentence in block.sentences]
        yield f"**{_plain(block.headline)}**\n\n" + "\n".join(lines)
    elif isinstance(block, Tiles):
        yield "\n".join(
            f"- **{_plain(tile.name)}**: {_plain(tile.figure)} ({_plain(tile.hint)})" for tile in block.tiles
        )
    elif isinstance(block, DataTable):
        yield _table(block)
    elif isinstance(block, Figure):
        yield f"{_fenced(block.text)}\n\n{_plain(block.caption)}" if block.text else ""
    elif isinstance(block, Code):
        yield _fenced(block.text)
    elif isinstance(block, Signatures):
        for who, name in block.lines:
            yield f"**{_plain(who)}**: {_plain(name) or _LINE} &emsp; **Date**: {_LINE} &emsp; **Signature**: {_LINE}"
    elif isinstance(block, Cards):
        for card in block.cards:
            yield f"### {_plain(card.title)}"
            yield _plain(card.about)
            for inner in card.blocks:
                yield from _block(inner)


def _table(table: DataTable) -> str:
    rule = ["---" if i < table.words else "---:" for i in range(len(table.head))]
    rows = [table.head, rule, *table.rows]
    return "\n".join(f"| {' | '.join(_plain(cell) for cell in row)} |" for row in rows)


def _fenced(text: str) -> str:
    """Return a fenced code block; the fence is longer than any run of backticks in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _plain(words: str) -> str:
    """Escape what Markdown would take for markup."""
    for mark in "\\`*_|<>#":
        words = words.replace(mark, f"\\{mark}")
    return " ".join(words.split())
