"""``front.plot()``: a front as a picture for notebooks and files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import UsageError
from discreet.report.front.drawing import png, svg
from discreet.report.front.page import ExplainRow, page
from discreet.report.front.picture import FrontPicture, PicturePoint, RecodedAttribute, recoded_attributes
from discreet.runtime.atomic_write import replacing
from discreet.runtime.locations import as_path
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.pipeline.front import Front, FrontPoint
    from discreet.report.front.steps import Step

__all__ = ["Plot", "picture_of"]


class Plot:
    """A front as a picture, with the options width, height and dark."""

    def __init__(self, front: Front, options: dict[str, Any]) -> None:
        unknown = set(options) - {"width", "height", "dark"}
        if unknown:
            raise UsageError(f"A plot of a front has no option '{sorted(unknown)[0]}'; it has width, height and dark.")
        self.front, self.options = front, options

    def render(self, kind: str) -> str | bytes:
        """Return the picture as ``svg``, ``png`` or ``html``."""
        picture = picture_of(self.front)
        if kind == "html":
            notes = [] if self.front.complete else ["The search was stopped before it was complete."]
            return page(picture, [_row(step) for step in self.front.steps()], notes=notes)
        drawn = svg(picture, **self.options)
        if kind == "png":
            return png(drawn)
        if kind != "svg":
            raise UsageError(f"A plot is written as .svg, .png or .html, not as .{kind}.")
        return drawn

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture as .svg, .png or .html."""
        target = as_path(path, "The picture")
        content = self.render(target.suffix[1:])
        with replacing(target) as unfinished:
            unfinished.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    def _repr_svg_(self) -> str:
        return str(self.render("svg"))


def picture_of(front: Front) -> FrontPicture:
    """Return a front, ready to be drawn."""
    axis = front.parts[0]
    second = front.parts[1] if len(front.parts) > 1 else None
    knee = front.knee() if len(front.points) > 2 else None
    share = f"{100 * front.evaluated:.1f} % of {front.space:,} recodings evaluated" if front.space else front.method
    state = "choices, all proven" if front.complete and front.method != "poka" else "choices found so far"
    if front.method == "poka":
        state = f"found by POkA, which missed {len(front.missed)}" if front.compared else "found by POkA"
    return FrontPicture(
        points=[
            _point(front, point, knee.reason if knee is not None and point is knee.point else "")
            for point in front.points
        ],
        n=front.n,
        axis=front.axes[0],
        cost=front.cost,
        cloud=front.cloud[:, [0, -1]],
        missed=np.array([[point.k, point.loss] for point in front.missed], dtype=np.float64).reshape(-1, 2),
        lower_is_better=axis.shown(1.0) < 0,
        second_axis="" if second is None else second.text,
        second_lower_is_better=second is not None and second.shown(1.0) < 0,
        title=f"{front.axes[0]} against {front.cost}",
        subtitle=f"{amount(front.n, 'row')}; {len(front.points)} {state}; {share}",
    )


def _point(front: Front, point: FrontPoint, reason: str) -> PicturePoint:
    values = list(point.values.values())
    attributes = front.problem.table.attributes
    recoding: tuple[RecodedAttribute, ...] = ()
    if point.levels:
        recoding = recoded_attributes(attributes, list(point.levels.values()))
    elif point.solved is not None:
        blocks = zip(attributes, point.solved.solution.blocks, strict=True)
        recoding = tuple(RecodedAttribute(a.name, len(np.unique(block)), a.leaves) for a, block in blocks)
    return PicturePoint(
        value=float(values[0]),
        loss=point.loss,
        normalized_loss=point.normalized_loss,
        suppressed=point.suppressed,
        classes=point.classes,
        recoding=recoding,
        also=point.also,
        proven=point.proven,
        knee=bool(reason),
        second=float(values[1]) if len(values) > 1 else None,
        note=reason,
        python=f"release = front.release({point.k!r})",
        command=f"discreet pareto … --release {point.k} --release-to safe.csv",
    )


def _row(step: Step) -> ExplainRow:
    heading, *gained = step.gained
    return heading, gained, step.lost
