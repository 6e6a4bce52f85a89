"""Charts as plain data, drawn with matplotlib where it is installed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

__all__ = ["Chart", "draw"]

Curve = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Chart:
    """Curves by name, each with its x and y.

    ``log`` names the logarithmic axes; ``steps`` holds y until it changes; ``ticks`` are the names of x = 0, 1, …,
    between which nothing is drawn; nor is anything between the points of the curves named in ``clouds``, which are
    small and grey.
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
    for name, (x, y) in chart.curves.items():
        if name in chart.clouds:
            axes.plot(x, y, ".", markersize=1.5, color="0.7", label=name, rasterized=True)
        elif chart.steps:
            axes.step(x, y, where="post", label=name)
        else:
            axes.plot(x, y, marker="o", markersize=4, label=name, linestyle="none" if chart.ticks else "solid")
    if chart.ticks:
        axes.set_xticks(range(len(chart.ticks)), chart.ticks, rotation=40, ha="right")
    if "x" in chart.log:
        axes.set_xscale("log")
    if "y" in chart.log:
        axes.set_yscale("log")
    axes.grid(visible=True, alpha=0.3)
    if chart.ticks:
        figure.legend(fontsize="small", loc="outside lower center")
    else:
        axes.legend(fontsize="small")
    figure.savefig(path)
    return path
