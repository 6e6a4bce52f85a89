"""A front as a self-contained HTML page to explore: the picture, each choice, a table, and the steps between."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from discreet.report.charts.svg import ON_PAGE
from discreet.report.formats.page import document, own_file
from discreet.report.front.drawing import draw
from discreet.report.front.picture import FrontPicture, PicturePoint, RecodedAttribute
from discreet.report.numbers import number_text, percent
from discreet.report.small_counts import few

__all__ = ["ExplainRow", "page", "point_card"]

ExplainRow = tuple[str, Sequence[str], Sequence[str]]
"""A step along the front: its heading, gains and losses."""


def page(picture: FrontPicture, explain_rows: Sequence[ExplainRow] = (), *, notes: Sequence[str] = ()) -> str:
    """Return a front as a page for mouse, touch and keyboard, and to print."""
    return document(
        picture.title,
        picture.subtitle,
        [*_explorer(picture), *_table(picture), *_steps(explain_rows)],
        [
            *notes,
            "Made with discreet. This file holds names of attributes, levels and counts, and no value of the data; "
            "it needs no network.",
            *(
                [
                    "It describes the whole table, including people whom a release leaves out, so it is for the "
                    "owner of the data. Hand over the report of the chosen release instead."
                ]
                if any(point.suppressed for point in picture.points)
                else []
            ),
        ],
        style=own_file("front/page.css"),
        script=own_file("front/page.js"),
    )


def _explorer(picture: FrontPicture) -> Iterator[str]:
    """Yield the picture and a card for each point; one card is visible at a time."""
    points = picture.ordered
    start = next((i for i, point in enumerate(points) if point.knee), 0)
    name = escape(picture.axis_name)
    yield '<div class="top"><figure class="chart">'
    yield (
        f'<div id="chart" tabindex="0" role="slider" aria-label="The choices, from the least private to the most" '
        f'aria-valuemin="1" aria-valuemax="{len(points)}" aria-valuenow="{start + 1}" '
        f'data-lower="{str(picture.lower_is_better).lower()}">'
    )
    for kind, width, height in (("wide", 780, 540), ("narrow", 380, 430)):
        yield draw(picture, width, height, ON_PAGE, heading=False).replace("<svg ", f'<svg class="{kind}" ', 1)
    yield "</div>"
    yield (
        '<figcaption class="hint">Point at a choice or use the arrow keys to see what it means; click or press Enter '
        "to see how to make that release.</figcaption></figure>"
    )
    demand = "at most" if picture.lower_is_better else "at least"
    yield '<section aria-label="What the choice means">'
    yield (
        f'<form hidden><label for="ask">I need {name} of {demand}</label><input id="ask" type="number" step="any" '
        'inputmode="decimal" autocomplete="off"><output id="answer" for="ask"></output></form>'
    )
    yield '<div class="cards">'
    for i, point in enumerate(points):
        yield from point_card(picture, point, hidden=i != start)
    yield "</div></section></div>"


def point_card(picture: FrontPicture, point: PicturePoint, *, hidden: bool) -> Iterator[str]:
    """Yield the card of a point: its values, the loss, and the remaining detail of each attribute."""
    reached = escape(picture.reached(point), quote=True)
    label = f"{reached}, loss {percent(point.normalized_loss)}, {few(point.suppressed)} rows suppressed"
    yield (
        f'<article class="card" aria-label="{label}" data-value="{point.value!r}" data-loss="{point.loss!r}"'
        f"{' hidden' if hidden else ''}>"
    )
    badges = '<span class="badge knee">suggested</span>' if point.knee else ""
    badges += "" if point.proven else '<span class="badge">not proven</span>'
    yield f'<h2 class="choice">{reached} {badges}</h2>'
    if point.note:
        yield f'<p class="note">{escape(point.note)}</p>'
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in picture.facts(point).items())
    yield f"<dl>{facts}</dl>"
    yield f'<ul class="levels">{"".join(map(_level, point.recoding))}</ul>'
    if point.python or point.command:
        snippets = [code for code in (point.python, point.command) if code]
        codes = "".join(f'<div class="code"><pre>{escape(code)}</pre></div>' for code in snippets)
        yield f"<details><summary>Make this release</summary>{codes}</details>"
    yield "</article>"


def _level(item: RecodedAttribute) -> str:
    """Return the remaining detail of an attribute; filled boxes are levels that are kept."""
    pips = ""
    if item.level is not None and item.height is not None:
        boxes = '<i class="on"></i>' * (item.height - item.level) + "<i></i>" * item.level
        pips = f'<span class="pips" aria-hidden="true">{boxes}</span>'
    words = f"<b>{escape(item.name)}</b><small>{escape(item.left)}</small>"
    return f'<li title="{escape(item.words, quote=True)}">{words}{pips}</li>'


def _table(picture: FrontPicture) -> Iterator[str]:
    points = picture.ordered
    names = [item.name for item in points[0].recoding]
    yield '<h2 id="choices">All choices</h2>'
    full = all(item.level is not None for point in points for item in point.recoding)
    levels = "its level, 0 being the original value" if full else "how many values it keeps"
    yield f'<p class="hint">For each attribute, {levels}; the deeper the colour, the less is left of it.</p>'
    figures = [picture.axis_name, picture.second_name, f"{picture.cost} loss", "share", "suppressed", "classes"]
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in figures if name)
    heads += "".join(f'<th class="attribute" scope="col">{_breakable(name)}</th>' for name in names)
    yield '<div class="scroll" tabindex="0" role="region" aria-labelledby="choices">'
    yield f"<table><thead><tr>{heads}</tr></thead><tbody>"
    for point in points:
        yield _row(point)
    yield "</tbody></table></div>"


def _breakable(name: str) -> str:
    """Return a name as HTML that breaks after its separators rather than within a word."""
    return re.sub(r"([_.-])(?=.)", r"\1<wbr>", escape(name))


def _row(point: PicturePoint) -> str:
    cells = [number_text(point.loss), percent(point.normalized_loss), few(point.suppressed), f"{point.classes:,}"]
    if point.second is not None:
        cells.insert(0, number_text(point.second))
    levels = "".join(
        f'<td class="level g{_shade(item)}" title="{escape(item.words, quote=True)}">'
        f"{f'{item.values:,}' if item.level is None else item.level}</td>"
        for item in point.recoding
    )
    doubt = "" if point.proven else ' <span title="not proven">?</span>'
    return (
        f'<tr class="{"knee" if point.knee else ""}"><th scope="row"><button class="pick" type="button">'
        f"{number_text(point.value)}</button>{doubt}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}{levels}</tr>"
    )


def _shade(item: RecodedAttribute) -> int:
    """Return how much of an attribute is lost, from 0 to 4."""
    if item.level is not None and item.height:
        return round(4 * item.level / item.height)
    return round(4 * (item.of - item.values) / max(item.of - 1, 1))


def _steps(rows: Sequence[ExplainRow]) -> Iterator[str]:
    if not rows:
        return
    yield '<h2>Step by step: what is gained and what is lost</h2><ol class="steps">'
    for heading, gained, lost in rows:
        lists = "".join(
            f'<ul class="{kind}" aria-label="{kind}">{"".join(f"<li>{escape(item)}</li>" for item in items)}</ul>'
            for kind, items in (("gained", gained), ("lost", lost))
            if items
        )
        yield f"<li><h3>{escape(heading)}</h3>{lists}</li>"
    yield "</ol>"
