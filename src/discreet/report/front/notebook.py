"""A front as notebooks show it: the picture, the suggestion, and a table of all choices."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from discreet.report.charts.svg import ON_PAGE
from discreet.report.front.drawing import draw
from discreet.report.front.plot import picture_of
from discreet.report.numbers import number_text, percent
from discreet.report.small_counts import few
from discreet.runtime.notebook_html import card, folded, note_list, table

if TYPE_CHECKING:
    from discreet.pipeline.front import Front

__all__ = ["front_html"]


def front_html(front: Front) -> str:
    """Return a front as a card; without points, what the search did."""
    if not front.points:
        return card("No choice was found", note_list(["Let the search run longer, or ask for less."]))
    picture = picture_of(front)
    points = picture.ordered
    names = [name for name in (picture.axis_name, picture.second_name, f"{picture.cost} loss") if name]
    rows = [
        [
            number_text(point.value),
            *([] if point.second is None else [number_text(point.second)]),
            number_text(point.loss),
            percent(point.normalized_loss),
            few(point.suppressed),
            f"{point.classes:,}",
            "suggested" if point.knee else "" if point.proven else "not proven",
        ]
        for point in points
    ]
    head = [*names, "share", "suppressed", "classes", ""]
    notes = [] if front.complete else ["The search was stopped before it was complete."]
    notes.append("front.widget() is this picture to click on; front.release(5) makes the release of a choice.")
    return card(
        picture.title,
        f'<p class="quiet">{escape(picture.subtitle)}</p>',
        draw(picture, 780, 440, ON_PAGE, heading=False),
        *(f"<p>{escape(point.note)}</p>" for point in points if point.note),
        folded("All choices", table("", head, rows, text=[len(head) - 1])),
        note_list(notes),
    )
