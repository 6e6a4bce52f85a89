"""Charts of the studio: the drawings of reports, at the width of the screen, from the results of a job.

The page shows them as they are. Points of a front carry their number, so that they can be chosen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import UsageError
from discreet.report.charts.evaluations import before_after_chart
from discreet.report.charts.histogram import histogram
from discreet.report.charts.release import bar_chart, size_range_chart, spread_chart, tree_chart
from discreet.report.charts.search import trace_chart
from discreet.report.charts.svg import ON_PAGE
from discreet.report.columns import Bar, Box, ReleasedColumn
from discreet.report.front.drawing import draw
from discreet.report.front.picture import FrontPicture, PicturePoint, RecodedAttribute
from discreet.report.ranges import RangeCounts
from discreet.solve import Progress
from discreet.studio._jobs import Run

__all__ = ["column_chart", "job_chart"]

_LEAST, _MOST = 300, 1600
_WHOLE, _DAY = re.compile(r"-?\d+"), re.compile(r"\d{4}-\d\d-\d\d")
_STRONGEST = 12
"""Pairs of columns whose association is drawn."""
_ATTACKERS = {"prosecutor": "knows you are in it", "journalist": "does not know", "marketer": "wants many people"}


def column_chart(name: str, bars: Sequence[Mapping[str, Any]], width: int) -> dict[str, Any]:
    """Draw the distribution of a column of the original table."""
    named = [(_bar_name(bar), int(bar["count"])) for bar in bars]
    return {"svg": histogram(named, f"The distribution of {name}", _within(width))}


def _bar_name(bar: Mapping[str, Any]) -> str:
    """Return the values that a bar covers, such as 5–9, or 1980–1984 for dates from 1980-01-01 to before 1985-01-01.

    >>> _bar_name({"label": "5", "to": "10"}), _bar_name({"label": "1980-01-01", "to": "1985-01-01"})
    ('5–9', '1980–1984')
    """
    first, end = str(bar["label"]), bar.get("to")
    if end is None:
        return first
    last = str(end)
    if _WHOLE.fullmatch(first) and _WHOLE.fullmatch(last):
        last = str(int(last) - 1)
    elif _DAY.fullmatch(first) and _DAY.fullmatch(last):
        letters = 4 if first.endswith("-01-01") and last.endswith("-01-01") else 7 if last.endswith("-01") else 10
        before = str(np.datetime64(last) - np.timedelta64(1, "D"))
        first, last = first[:letters], before[:letters]
    return first if last == first else f"{first}–{last}"


def job_chart(run: Run, name: str, column: str | None, width: int) -> dict[str, Any]:
    """Draw a chart of a job; its ``svg`` is empty if there is nothing to draw."""
    if name not in _CHARTS:
        raise UsageError(f"There is no chart '{name}'; the charts are {', '.join(_CHARTS)}.")
    if name == "trace":
        return {"svg": _trace(run, _within(width))}
    if run.state != "done":
        return {"svg": ""}
    return _CHARTS[name](run.folder, column, _within(width))


def _within(width: int) -> float:
    return float(min(max(width, _LEAST), _MOST))


def _trace(run: Run, width: float) -> str:
    """Draw the course of a search, also while it runs."""
    points = list(run.trace)
    result = _read(run.folder, "result.json") if run.state == "done" and run.kind == "release" else {}
    moments = [
        Progress(seconds or 0.0, _finite(best), _finite(bound), 0)
        for seconds, best, bound in result.get("trace") or points
    ]
    return trace_chart(moments, width)


def _finite(value: float | None) -> float:
    return float("nan") if value is None or abs(value) > 1e200 else value


def _read(folder: Path, name: str) -> dict[str, Any]:
    file = folder / name
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


def _sizes(folder: Path, column: str | None, width: float) -> dict[str, Any]:
    result = _read(folder, "result.json")
    sizes, who = result["class_sizes"], result.get("counted_as", "people")
    return {"svg": size_range_chart(sizes["edges"], (sizes["before"], sizes["after"]), 0, width, who)}


def _column(folder: Path, column: str | None, width: float) -> dict[str, Any]:
    """Draw a column before and after, its released values, and its hierarchy, as a report does."""
    result = _read(folder, "result.json")
    attribute = next((each for each in result["attributes"] if each["name"] == column), None)
    if attribute is None or attribute["cut"] is None:
        return {"svg": "", "tree": ""}
    released = _released_column(attribute["cut"])
    drawn = [spread_chart(released, width)]
    if released.bars and (not drawn[0] or released.after is None):
        drawn.append(bar_chart(released, result["released"], width, result.get("values_of", "people")))
    return {"svg": "".join(drawn), "tree": tree_chart(released, width), "detail": attribute["cut"]["detail"]}


def _released_column(cut: Mapping[str, Any]) -> ReleasedColumn:
    """Restore what a report shows of a column from plain data."""
    ranges = {side: None if cut[side] is None else _ranges(cut[side]) for side in ("before", "after")}
    tree = tuple(row if isinstance(row, int) else tuple(Box(**box) for box in row) for row in cut["tree"])
    bars = tuple(Bar(**{**bar, "parts": tuple(bar["parts"])}) for bar in cut["bars"])
    return ReleasedColumn(**{**cut, **ranges, "tree": tree, "bars": bars, "detail": ()})


def _ranges(fields: Mapping[str, Any]) -> RangeCounts:
    return RangeCounts(tuple(fields["edges"]), tuple(fields["rows"]), fields["date"])


def _attackers(folder: Path, column: str | None, width: float) -> dict[str, Any]:
    risk = _read(folder, "risk.json")
    before = risk.get("original") or {}
    pairs = [
        (words, _average(before.get(name)) or 0.0, average)
        for name, words in _ATTACKERS.items()
        if (average := _average(risk.get(name))) is not None and _average(before.get(name)) is not None
    ]
    label = "The average chance of each attacker to find somebody, before and after"
    return {"svg": before_after_chart(pairs, label, width, unit=" %")}


def _average(risk: Any) -> float | None:
    return risk.get("average") if isinstance(risk, Mapping) else risk


def _associations(folder: Path, column: str | None, width: float) -> dict[str, Any]:
    """Draw the associations that changed most."""
    found = _read(folder, "utility.json").get("associations") or []
    known = [each for each in found if each["original"] is not None and each["released"] is not None]
    known = [each for each in known if each["measure"] != "spearman"]
    pairs = [(f"{each['first']}, {each['second']}", each["original"], each["released"]) for each in known[:_STRONGEST]]
    label = "How strongly columns are associated, from 0 (not at all) to 1, before and after"
    return {"svg": before_after_chart(pairs, label, width)}


def _front(folder: Path, column: str | None, width: float) -> dict[str, Any]:
    """Draw a front; ``order`` has the number of each of its points, in the order of the drawing."""
    picture = _picture(_read(folder, "result.json")["picture"])
    if picture is None:
        return {"svg": "", "order": []}
    numbers = {id(point): number for number, point in enumerate(picture.points)}
    height = 440.0 if width >= 560 else 400.0
    return {
        "svg": draw(picture, width, height, ON_PAGE, heading=False),
        "order": [numbers[id(point)] for point in picture.ordered],
    }


def _picture(fields: Mapping[str, Any] | None) -> FrontPicture | None:
    """Restore a picture of a front from plain data."""
    if fields is None or not fields["points"]:
        return None
    points = [
        PicturePoint(**{**point, "recoding": tuple(RecodedAttribute(*each) for each in point["recoding"])})
        for point in fields["points"]
    ]
    clouds = {name: np.array(fields[name], dtype=np.float64).reshape(-1, 2) for name in ("cloud", "missed")}
    return FrontPicture(**{**fields, **clouds, "points": points})


_CHARTS: dict[str, Callable[[Path, str | None, float], dict[str, Any]]] = {
    "trace": lambda folder, column, width: {"svg": ""},
    "sizes": _sizes,
    "column": _column,
    "attackers": _attackers,
    "associations": _associations,
    "front": _front,
}
