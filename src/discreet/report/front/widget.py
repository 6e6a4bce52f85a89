"""A front to click on in a notebook, whose choice is read back in Python. Needs the extra ``notebook``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from discreet.report.charts.svg import ON_PAGE
from discreet.report.formats.page import own_file
from discreet.report.front.drawing import draw
from discreet.report.front.page import point_card
from discreet.report.front.plot import picture_of

if TYPE_CHECKING:
    from discreet.pipeline.front import Front, FrontPoint
    from discreet.pipeline.release import Release

__all__ = ["FrontWidget"]


class FrontWidget(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """A front as a widget for Jupyter, VS Code and marimo. Made by :meth:`discreet.Front.widget`.

    A click on a point, or the arrow keys and Enter, choose it; ``point`` is the choice in Python, and ``release()``
    makes its release.
    """

    _esm = own_file("front/widget.js")
    _css = own_file("front/widget.css")
    drawing = traitlets.Unicode().tag(sync=True)
    cards = traitlets.List(traitlets.Unicode()).tag(sync=True)
    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    index = traitlets.Int().tag(sync=True)
    """The number of the point chosen, from the least private to the most."""

    def __init__(self, front: Front) -> None:
        picture = picture_of(front)
        drawn = {id(shown): point for shown, point in zip(picture.points, front.points, strict=True)}
        ordered = picture.ordered
        super().__init__(
            drawing=draw(picture, 780, 480, ON_PAGE, heading=False),
            cards=["".join(point_card(picture, point, hidden=False)) for point in ordered],
            names=[picture.reached(point) for point in ordered],
            index=next((number for number, point in enumerate(ordered) if point.knee), 0),
        )
        self.front = front
        self._points = [drawn[id(point)] for point in ordered]

    @traitlets.validate("index")
    def _check_index(self, proposal: Any) -> int:
        """Keep the number of the point within the front, whatever a page sends."""
        return max(0, min(int(proposal["value"]), len(self.cards) - 1))

    @property
    def point(self) -> FrontPoint:
        """The point chosen; the suggestion until one is."""
        return self._points[self.index]

    @property
    def k(self) -> float | int:
        """The k of the choice or, if there is no axis of k, its value on the first axis."""
        return self.point.k

    def release(self, **options: Any) -> Release:
        """Make the release of the choice; ``options`` are those of :meth:`discreet.Front.release`."""
        return self.front.release(point=self.point, **options)
