"""Run the notebooks of the gallery, and draw the picture of each from its results, with the charts of reports.

Run it with ``python docs/gallery/pictures.py``; it writes an SVG for each notebook beside this file.
"""

from __future__ import annotations

import ast
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.report.charts.evaluations import before_after_chart, grouped_bar_chart, share_chart, trade_off_chart
from discreet.report.charts.release import size_chart
from discreet.report.charts.svg import DARK, LIGHT, PATTERNS, Colours
from discreet.report.front.drawing import svg
from discreet.report.front.plot import picture_of

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parents[1] / "examples" / "notebooks"


def cells(notebook: Path) -> list[str]:
    """Return the code of a notebook, cell by cell."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def run(notebook: Path, show: Callable[[Any], object] = lambda _: None) -> dict[str, Any]:
    """Run a notebook in the current folder and return its names; ``show`` gets what its cells display."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells(notebook), start=1):
        code, place = ast.parse(cell), f"{notebook.name}, code cell {number}"
        last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
        exec(compile(code, place, "exec"), names)
        if isinstance(last, ast.Expr):
            show(eval(compile(ast.Expression(last.value), place, "eval"), names))
    return names


def attacks(names: dict[str, Any]) -> str:
    """Draw how often attacks on the hospital's release succeed."""
    attacked = names["attacked"]
    chosen = {
        "linkage": "Linkage: pick the person's row",
        "homogeneity": "Homogeneity: guess the diagnosis by the class",
        "inference": "Inference: predict the diagnosis by a model",
    }
    groups = [
        (title, [("this attack", attacked[name].success), ("a naive guess", attacked[name].naive)])
        for name, title in chosen.items()
    ]
    return grouped_bar_chart(groups, "How often attacks on the release succeed, and naive guesses")


def estimates(names: dict[str, Any]) -> str:
    """Draw the weighted shares of the most frequent diagnoses, before and after."""
    most = names["estimates"].sort("share", descending=True).head(9)
    return before_after_chart(most.rows(), "The weighted share of the most frequent diagnoses", unit=" %")


def nights(names: dict[str, Any]) -> str:
    """Draw the share of the rows of each night that were released."""
    return share_chart(names["left"], "The share of the rows of each night that were released")


def papers(names: dict[str, Any]) -> str:
    """Draw the risk and the loss of each paper's release."""
    jobs = [(job.name, job.figures()) for job in names["comparison"].jobs]
    points = [(name, figures["average_risk"], figures["loss_LM"]) for name, figures in jobs]
    return trade_off_chart(points, "average risk", "loss (LM)", "The average risk and the loss of each release")


def front(names: dict[str, Any]) -> str:
    """Draw the front of k against loss."""
    return svg(picture_of(names["front"]), 760, 470)


def sizes(names: dict[str, Any]) -> str:
    """Draw class sizes of the received table and of the proposal."""
    return size_chart(names["audit"].sizes, names["release"].audit.sizes, 1)


PICTURES: dict[str, Callable[[dict[str, Any]], str]] = {
    "hospital": attacks,
    "survey": estimates,
    "nightly": nights,
    "five-papers": papers,
    "choose-k": front,
    "somebody-elses-table": sizes,
}


def picture(name: str, names: dict[str, Any]) -> str:
    """Return the picture of a notebook that was run, as a file of its own."""
    drawn = PICTURES[name](names)
    return drawn if "var(--" not in drawn else _with_colours(drawn)


def _with_colours(drawn: str) -> str:
    """Define the colours and patterns that a chart takes from its page, light or dark as the reader prefers."""
    start = drawn.index(">") + 1
    _, _, patterns = PATTERNS.partition("<defs>")
    style = f"svg {{ {_variables(LIGHT)} }} @media (prefers-color-scheme: dark) {{ svg {{ {_variables(DARK)} }} }}"
    paper = '<rect width="100%" height="100%" fill="var(--paper)"/>'
    return f"{drawn[:start]}<style>{style}</style><defs>{patterns.removesuffix('</svg>')}{paper}{drawn[start:]}\n"


def _variables(colours: Colours) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours._asdict().items())


if __name__ == "__main__":
    for name in PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            drawn = picture(name, run(NOTEBOOKS / f"{name}.ipynb"))
            os.chdir(HERE)
        (HERE / f"{name}.svg").write_text(drawn, encoding="utf-8")
