"""Drawings of a front: privacy to the right, loss upwards, all evaluated recodings in the background."""

from __future__ import annotations

import importlib.util
import textwrap
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

import numpy as np

from discreet.errors import UsageError
from discreet.report.charts.scales import Scale, Tick
from discreet.report.charts.svg import DARK, FONT, LIGHT, NAMESPACE, Colours, text_at
from discreet.report.front.picture import FrontPicture, PicturePoint
from discreet.report.numbers import number_text, percent

__all__ = ["check_png", "draw", "png", "svg"]


_AXES = {
    "k": "k: every row looks like at least k − 1 others",
    "distinct-l": "l: different sensitive values in each group, at least",
    "entropy-l": "l: diversity of the sensitive values in each group, at least",
    "t": "t: distance of any group from the whole table, at most",
    "theta": "θ: confidence about a sensitive value, at most",
    "average-risk": "average risk of being found",
}
_EDGE = 10.0
_CELL = 7.0
"""Side in pixels of the squares whose recodings are drawn as one dot."""
_DOTS = (1, 4, 16, 64)
"""A dot grows at these numbers of recodings."""


def svg(picture: FrontPicture, width: float = 900, height: float = 560, *, dark: bool = False) -> str:
    """Draw a front as an SVG file."""
    colours = DARK if dark else LIGHT
    paper = f'<rect width="100%" height="100%" fill="{colours.paper}"/>'
    drawn = draw(picture, width, height, colours)
    return drawn.replace(">", f">{paper}", 1) + "\n"


def check_png() -> None:
    """Raise UsageError if the extra that writes PNG files is not installed."""
    if importlib.util.find_spec("resvg_py") is None:
        raise UsageError("To write PNG files, install the extra: pip install 'discreet[plot]'.", topic="missing-extra")


def png(svg_text: str, scale: float = 2.0) -> bytes:
    """Turn an SVG file into a PNG file, ``scale`` times as large."""
    check_png()
    import resvg_py

    blank, letter = (
        resvg_py.svg_to_bytes(svg_string=f'<svg xmlns="{NAMESPACE}" width="20" height="20">{content}</svg>')
        for content in ("", f'<text y="15" font-family="{FONT}">x</text>')
    )
    if blank == letter:
        raise UsageError("A PNG file needs a font, and none is installed; install one, or write SVG.")
    return bytes(resvg_py.svg_to_bytes(svg_string=svg_text, zoom=scale))


def draw(picture: FrontPicture, width: float, height: float, colours: Colours, *, heading: bool = True) -> str:
    """Draw a front as an ``svg`` element without background; points carry their number and position."""
    return "".join(_FrontDrawing(picture, width, height, colours, heading).parts())


class _FrontDrawing:
    """A front drawn at a given size."""

    def __init__(self, picture: FrontPicture, width: float, height: float, colours: Colours, heading: bool) -> None:
        self.picture, self.colours = picture, colours
        self.width, self.height, self.heading = width, height, heading
        self.points = picture.ordered
        values, losses = [p.value for p in self.points], [p.loss for p in self.points]
        background = np.concatenate([picture.cloud.reshape(-1, 2), picture.missed.reshape(-1, 2)])
        self.x = Scale.over(values, background[:, 0], flipped=picture.lower_is_better)
        self.y = Scale.over(losses, background[:, 1])
        self.narrow = width < 560
        self.whole = self._whole()
        self.legend = list(self._legend())
        self.left, self.right = (56.0, 24.0) if self.narrow else (64.0, 64.0 if self.whole else 28.0)
        self.title, self.subtitle = (self._wrapped(picture.title, 9.6), self._wrapped(picture.subtitle, 6.3))
        self.keys = self._keys()
        head = 22 * len(self.title) + 18 * len(self.subtitle) + 14 if heading else 0
        self.top = head + 21 * len(self.keys) + 32
        self.bottom = height - 52

    def parts(self) -> Iterator[str]:
        """Yield the drawing, back to front."""
        label = escape(f"{self.picture.title}: {len(self.points)} choices, from {self._range()}", quote=True)
        yield (
            f'<svg xmlns="{NAMESPACE}" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" height="{self.height:g}" role="img" aria-label="{label}" '
            f'data-left="{self.left:g}" data-bottom="{self.bottom:g}" '
            f'font-family="{FONT}" font-size="12.5">'
        )
        if self.heading:
            yield from self._headings()
        yield from self._legend_keys()
        yield from self._axes()
        yield from self._cloud()
        yield from self._lines()
        yield from self._missed()
        yield from self._marks()
        yield from self._caption()
        yield "</svg>"

    def position(self, value: float, loss: float) -> tuple[float, float]:
        """Return the position of a point."""
        across = self.left + float(self.x.at(value)) * (self.width - self.right - self.left)
        return across, self.bottom - float(self.y.at(loss)) * (self.bottom - self.top)

    def _range(self) -> str:
        return f"{self.picture.reached(self.points[0])} to {self.picture.reached(self.points[-1])}"

    def _whole(self) -> float:
        """The loss of suppressing everything; 0 if it cannot be derived from the points."""
        ratios = [point.loss / point.normalized_loss for point in self.points if point.normalized_loss > 0]
        return ratios[0] if ratios and max(ratios) <= min(ratios) * 1.000001 else 0.0

    def _headings(self) -> Iterator[str]:
        y = 26.0
        for line in self.title:
            yield text_at(_EDGE, y, line, self.colours.ink, size=17, bold=True)
            y += 22
        for line in self.subtitle:
            yield text_at(_EDGE, y - 2, line, self.colours.soft)
            y += 18

    def _wrapped(self, words: str, letter: float) -> list[str]:
        return textwrap.wrap(words, max(int((self.width - 2 * _EDGE) / letter), 12))

    def _legend(self) -> Iterator[tuple[str, str]]:
        """Yield the marks that occur and what they mean."""
        colours, line = self.colours, f'<path d="M-11 4h11v-8h11" fill="none" stroke="{self.colours.front}" '
        yield f'{line}stroke-width="2"/>{self._mark(True, False)}', "best choices"
        if not all(point.proven for point in self.points):
            yield self._mark(False, False), "not proven yet"
        if any(point.knee for point in self.points):
            yield self._mark(True, True), "suggested"
        if len(self.picture.missed):
            yield _cross(colours.ink), "missed"
        if len(self.picture.cloud):
            sizes = ((-9, 1.2), (-2, 2), (7, 3))
            dots = "".join(f'<circle cx="{x}" r="{r}" fill="{colours.cloud}"/>' for x, r in sizes)
            yield dots, f"{max(len(self.picture.cloud), self.picture.evaluated):,} recodings evaluated"

    def _keys(self) -> list[list[tuple[float, str, str]]]:
        """Return the rows of the legend: position, mark and words of each entry."""
        rows: list[list[tuple[float, str, str]]] = [[]]
        x = _EDGE
        for mark, words in self.legend:
            room = 50 + 6.4 * len(words)
            if rows[-1] and x + room > self.width:
                rows.append([])
                x = _EDGE
            rows[-1].append((x, mark, words))
            x += room
        return rows

    def _legend_keys(self) -> Iterator[str]:
        y = self.top - 21 * len(self.keys) - 18.0
        for row in self.keys:
            for x, mark, words in row:
                yield f'<g transform="translate({x + 11:.1f} {y:.1f})">{mark}</g>'
                yield text_at(x + 28, y + 4, words, self.colours.soft)
            y += 21

    def _axes(self) -> Iterator[str]:
        colours, right = self.colours, self.width - self.right
        across, up = right - self.left, self.bottom - self.top
        end = self.points[-1].value if float(self.points[-1].value).is_integer() else None
        xs = [(self.left + tick.position * across, tick.text) for tick in self.x.ticks(int(across // 58), end=end)]
        in_shares = bool(self.narrow and self.whole)  # there is room for one axis, and shares are understood by all
        marks = self._share_ticks(up) if in_shares else self.y.ticks(int(up // 42), short=True)
        ys = [(self.bottom - tick.position * up, tick.text) for tick in marks]
        grid = "".join(
            [f"M{x:.1f} {self.top:g}v{up:g}" for x, _ in xs] + [f"M{self.left:g} {y:.1f}h{across:g}" for y, _ in ys]
        )
        yield f'<path d="{grid}" stroke="{colours.grid}" fill="none"/>'
        yield f'<path d="M{self.left:g} {self.top:g}v{up:g}h{across:g}" stroke="{colours.soft}" fill="none"/>'
        for x, words in xs:
            yield text_at(x, self.bottom + 18, words, colours.soft, anchor="middle", size=12)
        for y, words in ys:
            yield text_at(self.left - 8, y + 4, words, colours.soft, anchor="end", size=12)
        name = _AXES.get(self.picture.axis.partition("(")[0], self.picture.axis)
        if self.narrow:
            name = name.partition(":")[0]
        yield text_at(self.left, self.bottom + 41, name + _scale_words(self.x), colours.ink)
        yield text_at(right, self.bottom + 41, "more privacy →", colours.ink, anchor="end")
        loss = "loss, of suppressing everything" if in_shares else f"{self.picture.cost} loss"
        yield text_at(_EDGE, self.top - 11, f"↑ {loss}{_scale_words(self.y)}", colours.ink)
        if self.whole and not self.narrow:
            yield from self._shares(right, up)

    def _share_ticks(self, up: float) -> list[Tick]:
        """Return ticks for the loss relative to suppressing everything."""
        shares = Scale(self.y.kind, self.y.low, self.y.high, self.y.unit * 100 / self.whole)
        if self.y.kind == "linear":
            shares = Scale("linear", self.y.low * 100 / self.whole, self.y.high * 100 / self.whole)
        return shares.ticks(int(up // 42), unit=" %")

    def _shares(self, right: float, up: float) -> Iterator[str]:
        """Yield a second axis on the right: the loss relative to suppressing everything."""
        for position, words in self._share_ticks(up):
            y = self.bottom - position * up
            yield f'<path d="M{right:g} {y:.1f}h5" stroke="{self.colours.soft}"/>'
            yield text_at(right + 8, y + 4, words, self.colours.soft, size=12)
        words = "loss relative to suppressing everything ↑"
        yield text_at(self.width - _EDGE, self.top - 11, words, self.colours.ink, anchor="end")

    def _cloud(self) -> Iterator[str]:
        """Yield a dot for all recodings of a cell, at their mean, larger where there are many."""
        cloud = self.picture.cloud.reshape(-1, 2)
        cloud = cloud[np.isfinite(cloud).all(axis=1)]
        if not len(cloud):
            return
        across = self.left + self.x.at(cloud[:, 0]) * (self.width - self.right - self.left)
        down = self.bottom - self.y.at(cloud[:, 1]) * (self.bottom - self.top)
        column, row = (np.floor(pixels / _CELL).astype(np.int64) for pixels in (across, down))
        _, cell = np.unique(column * 100_000 + row, return_inverse=True)
        number = np.bincount(cell)
        x, y = (np.bincount(cell, weights=pixels) / number for pixels in (across, down))
        size = np.searchsorted(_DOTS, number, side="right")
        yield f'<g stroke="{self.colours.cloud}" stroke-linecap="round" fill="none" class="cloud">'
        for grade in np.unique(size).tolist():
            there = np.flatnonzero(size == grade)
            dots = "".join(f"M{x[i]:.1f} {y[i]:.1f}h0" for i in there.tolist())
            yield f'<path stroke-width="{1.2 + 1.2 * grade:.1f}" d="{dots}"/>'
        yield "</g>"

    def _lines(self) -> Iterator[str]:
        """Yield the least loss for each privacy: one line, or one for each of some demands on the second axis."""
        demands = self._demands()
        for demand in demands[1:]:
            line = self._steps(demand)
            yield f'<path d="{_path(line)}" fill="none" stroke="{self.colours.front}" stroke-dasharray="5 3"/>'
            sign = "≤" if self.picture.second_lower_is_better else "≥"
            words = f"{self.picture.second_name} {sign} {number_text(demand)}"
            x, y = line[0]
            yield text_at(x + 2, y - 8, words, self.colours.soft, size=11, halo=self.colours.paper)
        look = f'stroke="{self.colours.front}" stroke-width="2" stroke-linejoin="round"'
        yield f'<path d="{_path(self._steps(None))}" fill="none" {look}/>'

    def _demands(self) -> list[float]:
        """Return up to five demands on the second axis, the weakest first."""
        known = {point.second for point in self.points if point.second is not None}
        ordered = sorted(known, reverse=self.picture.second_lower_is_better)
        if len(ordered) <= 5:
            return ordered
        return [ordered[i] for i in np.linspace(0, len(ordered) - 1, 5).round().astype(int).tolist()]

    def _steps(self, demand: float | None) -> list[tuple[float, float]]:
        """Return the corners of the line under all points that meet a demand."""
        sign = -1 if self.picture.second_lower_is_better else 1
        best, line = np.inf, []
        for point in reversed(self.points):
            meets = demand is None or (point.second is not None and sign * point.second >= sign * demand)
            if meets and point.loss < best:
                best = point.loss
                line.append(self.position(point.value, point.loss))
        return line[::-1]

    def _missed(self) -> Iterator[str]:
        for value, loss in self.picture.missed.reshape(-1, 2).tolist():
            x, y = self.position(value, loss)
            words = f"{self.picture.axis_name} = {number_text(value)}, loss {number_text(loss)}: missed by this search"
            cross = f"<title>{escape(words)}</title>{_cross(self.colours.ink)}"
            yield f'<g transform="translate({x:.1f} {y:.1f})">{cross}</g>'

    def _marks(self) -> Iterator[str]:
        for number, point in sorted(enumerate(self.points), key=lambda item: item[1].knee):
            x, y = self.position(point.value, point.loss)
            words = escape("\n".join(self._words(point)))
            yield (
                f'<g class="point" data-i="{number}" data-x="{x:.1f}" data-y="{y:.1f}" '
                f'transform="translate({x:.1f} {y:.1f})"><title>{words}</title>'
                f'<circle r="9" fill="none" pointer-events="all"/>{self._mark(point.proven, point.knee)}</g>'
            )

    def _words(self, point: PicturePoint) -> Iterator[str]:
        yield self.picture.reached(point)
        yield from (f"{name}: {words}" for name, words in self.picture.facts(point).items())
        yield from (f"{item.name}: {item.words}" for item in point.recoding)

    def _mark(self, proven: bool, knee: bool) -> str:
        colours = self.colours
        colour = colours.knee if knee else colours.front
        look = f'fill="{colour}" stroke="{colours.paper}"'
        if not proven:
            look = f'fill="{colours.paper}" stroke="{colour}" stroke-width="2"'
        return f'<path d="M0 -7.5L7.5 0L0 7.5L-7.5 0Z" {look}/>' if knee else f'<circle r="4.5" {look}/>'

    def _caption(self) -> Iterator[str]:
        """Yield a label for the suggested point, in the empty corner below the line."""
        for point in self.points:
            if point.knee:
                x, y = self.position(point.value, point.loss)
                words = f"suggested: {self.picture.reached(point)}, loss {percent(point.normalized_loss)}"
                end, long = self.width - self.right - 6, 8.8 * len(words)  # as in a wide font, so that it fits in any
                start = max(min(x + 16, end - long), self.left + 6)
                anchor = "end" if start == end - long else "start"
                line = next((y for x, y in self._steps(None) if x >= start), y)
                below = min(max(y + 34, line + 24), self.bottom - 8)
                lead = f"M{x + 6:.1f} {y + 6:.1f}L{x + 13:.1f} {below - 13:.1f}"
                yield f'<path d="{lead}" stroke="{self.colours.knee}" fill="none"/>'
                at, halo = end if anchor == "end" else start, self.colours.paper
                yield text_at(at, below, words, self.colours.knee, anchor=anchor, bold=True, size=13, halo=halo)


def _scale_words(scale: Scale) -> str:
    return "" if scale.kind == "linear" else " (log scale)"


def _path(line: Sequence[tuple[float, float]]) -> str:
    """Return a staircase that first rises: more privacy than a point has costs what the next point does."""
    first = f"M{line[0][0]:.1f} {line[0][1]:.1f}"
    return first + "".join(f"V{y:.1f}H{x:.1f}" for _, (x, y) in pairwise(line))


def _cross(colour: str) -> str:
    return f'<path d="M-4 -4L4 4M-4 4L4 -4" stroke="{colour}" stroke-width="1.8"/>'
