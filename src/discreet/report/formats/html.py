"""Sections as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from discreet.report.charts.svg import PATTERNS
from discreet.report.sections.blocks import (
    Block,
    BulletList,
    Card,
    Cards,
    Code,
    DataTable,
    Facts,
    Figure,
    Section,
    Signatures,
    Text,
    Tile,
    Tiles,
    VerdictBox,
)

__all__ = ["to_html"]


def to_html(sections: Sequence[Section], *, contents: bool = True) -> Iterator[str]:
    """Yield the HTML of all sections, with a table of ``contents`` after the first."""
    yield PATTERNS
    links = [
        f'<li><a href="#part{number}">{escape(section.title)}</a></li>'
        for number, section in enumerate(sections)
        if section.title
    ]
    for number, section in enumerate(sections):
        yield f'<section id="part{number}">'
        if section.title:
            yield f"<h2>{escape(section.title)}</h2>"
        yield from _blocks(section.blocks)
        yield "</section>"
        if contents and number == 0 and len(links) > 1:
            yield f'<nav aria-label="Contents"><ol>{"".join(links)}</ol></nav>'


def _blocks(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield blocks, with charts beside the rest where the page is wide enough."""
    charts = [block for block in blocks if isinstance(block, Figure) and block.svg]
    rest = [block for block in blocks if not isinstance(block, Figure)]
    if charts:
        yield '<div class="beside"><div>'
    for block in rest:
        yield from _block(block)
    if charts:
        yield "</div><div>"
        for chart in charts:
            yield from _block(chart)
        yield "</div></div>"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Text):
        yield f"<p>{escape(block.words)}</p>"
    elif isinstance(block, BulletList):
        yield f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in block.items)}</ul>"
    elif isinstance(block, Facts):
        facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in block.facts)
        yield f"<dl>{facts}</dl>"
    elif isinstance(block, VerdictBox):
        yield from _verdict(block)
    elif isinstance(block, Tiles):
        yield f'<div class="tiles">{"".join(map(_tile, block.tiles))}</div>'
    elif isinstance(block, DataTable):
        yield from _table(block)
    elif isinstance(block, Figure):
        caption = f"<figcaption>{escape(block.caption)}</figcaption>" if block.caption else ""
        yield f"<figure>{block.svg}{caption}</figure>"
    elif isinstance(block, Code):
        yield f"<pre>{escape(block.text)}</pre>"
    elif isinstance(block, Signatures):
        yield f'<div class="signatures">{"".join(map(_signature, block.lines))}</div>'
    elif isinstance(block, Cards):
        yield '<div class="grid">'
        for card in block.cards:
            yield from _card(card)
        yield "</div>"


_MARKS = {"ok": "✓", "caution": "!", "danger": "✗"}


def _verdict(verdict: VerdictBox) -> Iterator[str]:
    yield f'<div class="verdict {verdict.level}"><h2>{escape(verdict.headline)}</h2><ul>'
    for level, sentence in verdict.sentences:
        word = "" if level == "ok" else f"<b>{level}</b> "
        mark = f'<span aria-hidden="true">{_MARKS[level]}</span>'
        yield f'<li class="{level}">{mark}<span>{word}{escape(sentence)}</span></li>'
    yield "</ul></div>"


def _signature(line: tuple[str, str]) -> str:
    who, name = line
    fields = (("name", name), ("date", ""), ("signature", ""))
    places = "".join(f"<div><span>{escape(words)}</span><small>{title}</small></div>" for title, words in fields)
    return f"<fieldset><legend>{escape(who)}</legend>{places}</fieldset>"


def _tile(tile: Tile) -> str:
    kind = "" if tile.good is None else " good" if tile.good else " bad"
    mark = "" if tile.good is None else f'<span aria-hidden="true">{"✓" if tile.good else "✗"} </span>'
    return (
        f'<div class="tile{kind}"><b>{escape(tile.name)}</b><strong>{mark}{escape(tile.figure)}</strong>'
        f"<small>{escape(tile.hint)}</small></div>"
    )


def _table(table: DataTable) -> Iterator[str]:
    def cells(row: Sequence[str], head: bool) -> str:
        html = []
        for i, cell in enumerate(row):
            named = cell if head else i == 0  # a header without text is none
            tag, scope = ("th", f' scope="{"col" if head else "row"}"') if named else ("td", "")
            kind = ' class="words"' if i < table.words else ""
            html.append(f"<{tag}{scope}{kind}>{escape(cell)}</{tag}>")
        return "".join(html)

    name = escape(f"Table: {', '.join(filter(None, table.head))}", quote=True)
    yield f'<div class="scroll" tabindex="0" role="group" aria-label="{name}">'
    yield f"<table><thead><tr>{cells(table.head, True)}</tr></thead><tbody>"
    for row in table.rows:
        yield f"<tr>{cells(row, False)}</tr>"
    yield "</tbody></table></div>"


def _card(card: Card) -> Iterator[str]:
    yield f'<article class="card"><h3>{escape(card.title)}</h3><p class="hint">{escape(card.about)}</p>'
    for block in card.blocks:
        yield from _block(block)
    yield "</article>"
