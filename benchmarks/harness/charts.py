"""Charts as plain data, drawn with matplotlib where it is installed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

__all__ = ["Chart", "draw"]

Curve = tuple[Sequence[float], Sequence[float]]

_FEW = 9
"""At most so many different x are each marked on the axis."""
_LINES = ("solid", "dashed", "dotted", "dashdot")


@dataclass(frozen=True)
class Chart:
    """Curves by name, each with its x and y.

    ``log`` names the logarithmic axes; ``steps`` holds y until it changes; ``ticks`` are the names of x = 0, 1, …,
    between which nothing is drawn; nor is anything between the points of the curves named in ``clouds``, which are
    small and grey. Curves whose names begin alike up to a comma have one colour, and the second of them is dashed.
    """

    title: str
    x: str
    y: str
    curves: Mapping[str, Curve]
    log: str = ""
    steps: bool = False
    ticks: tuple[str, ...] = ()
    clouds: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The name of its picture."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-") + ".svg"


def draw(charts: Sequence[Chart], folder: Path) -> list[Path] | None:
    """Write one picture for each chart; None if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        return None
    return [_draw(chart, folder / chart.file) for chart in charts]


def _draw(chart: Chart, path: Path) -> Path:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = 4.4 + (0.2 * len(chart.curves) if chart.ticks else 0)
    figure = Figure(figsize=(6.4, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot(title=chart.title, xlabel=chart.x, ylabel=chart.y)
    styles = _styles(list(chart.curves))
    for name, (x, y) in chart.curves.items():
        if name in chart.clouds:
            axes.plot(x, y, ".", markersize=1.5, color="0.7", label=name, rasterized=True)
        elif chart.steps:
            axes.step(x, y, where="post", label=name)
        else:
            colour, line = styles[name]
            line = "none" if chart.ticks else line
            axes.plot(x, y, marker="o", markersize=4, label=name, color=colour, linestyle=line)
    if chart.ticks:
        axes.set_xticks(range(len(chart.ticks)), chart.ticks, rotation=40, ha="right")
    if "x" in chart.log:
        axes.set_xscale("log")
    if "y" in chart.log:
        axes.set_yscale("log")
    marks = sorted({each for x, _ in chart.curves.values() for each in x})
    if not chart.ticks and not chart.clouds and len(marks) <= _FEW:
        axes.set_xticks(marks, [f"{mark:,g}" if mark < 1e6 else f"{mark:g}" for mark in marks])
        axes.set_xticks([], minor=True)
    axes.grid(visible=True, alpha=0.3)
    if chart.ticks:
        figure.legend(fontsize="small", loc="outside lower center")
    else:
        axes.legend(fontsize="small")
    figure.savefig(path)
    return path


def _styles(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The colour and the line of each curve.

    >>> _styles(["a, old", "a, new", "b"])
    {'a, old': ('C0', 'solid'), 'a, new': ('C0', 'dashed'), 'b': ('C1', 'solid')}
    """
    of = {name: name.split(",")[0] for name in names}
    bases = list(dict.fromkeys(of.values()))
    seen: dict[str, int] = {}
    styles = {}
    for name, base in of.items():
        seen[base] = seen.get(base, -1) + 1
        styles[name] = (f"C{bases.index(base)}", _LINES[seen[base] % len(_LINES)])
    return styles
