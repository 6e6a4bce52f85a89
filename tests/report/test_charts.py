"""Charts: axes that can be read whatever the numbers, and names that are neither clipped nor cut."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.report.charts.evaluations import before_after_chart
from discreet.report.charts.release import bar_chart, size_range_chart, spread_chart, tree_chart
from discreet.report.charts.scales import Scale
from discreet.report.charts.schemes import schemes_chart
from discreet.report.charts.search import trace_chart
from discreet.report.columns import ReleasedColumn
from discreet.report.ranges import RangeCounts
from discreet.report.schemes_tried import TriedScheme
from discreet.solve import Progress


def texts_of(drawn: str) -> list[str]:
    return re.findall(r">([^<>]+)</text>", drawn)


@pytest.mark.parametrize(
    ("low", "high"), [(6480.842105263157, 6480.842105263158), (1e15, 1e15 + 0.125), (3, 3), (0, 1e-12), (1234, 1234.5)]
)
def test_an_axis_over_mere_rounding(low: float, high: float) -> None:
    ticks = Scale.over([low, high]).ticks(5)
    assert 1 <= len(ticks) <= 12
    assert len({tick.text for tick in ticks}) == len(ticks)
    assert "nan" not in trace_chart([Progress(0, high, low, 1), Progress(1, high, low, 2)])


@pytest.mark.parametrize("width", [300, 460, 900])
def test_ranges_of_class_sizes_say_both_ends(width: int) -> None:
    drawn = size_range_chart((1, 2, 3, 5, 10, 20, 50, 100), ((9,) * 8, (7,) * 8), 0, width)
    assert {"1", "3–4", "5–9", "10–19", "50–99", "100+"} <= set(texts_of(drawn))


@pytest.mark.parametrize("date", [False, True])
@pytest.mark.parametrize("width", [300, 460, 900])
def test_ticks_are_evenly_spaced(date: bool, width: int) -> None:
    draw = np.random.default_rng(width)
    for _ in range(40):
        edges = np.unique(draw.integers(-9000, 20_000, 12)).astype(float)
        counts = RangeCounts(tuple(edges), (5.0,) * (len(edges) - 1), date)
        column = ReleasedColumn("x", "date", "subtree", None, False, 3, 3, None, None, (), counts, counts)
        places = [float(x) for x in re.findall(r'<path d="M([\d.]+) 158v4"', spread_chart(column, width))]
        steps = np.diff(places)
        assert len(places) >= 1
        assert len(steps) == 0 or steps.max() - steps.min() <= 0.02 * width + 1e-9  # years have leap days


def test_long_names_get_lines_of_their_own() -> None:
    pairs = [("marital_status, education_of_parents", 0.4, 0.3), ("a, b", 0.1, 0.1)]
    assert pairs[0][0] in texts_of(before_after_chart(pairs, "x", 340))
    assert pairs[0][0] in texts_of(before_after_chart(pairs, "x", 900))


@pytest.mark.parametrize("width", [300, 460, 900])
def test_the_schemes_that_were_tried(width: int) -> None:
    tried = [
        TriedScheme("full-domain", False, 0.49, 0.02, "110", 0.1, "optimal"),
        TriedScheme("local", True, 0.047, 0.15, "0", 0.0, "within 5 %"),
        TriedScheme("subtree", False, reason="no release keeps the promises"),
    ]
    words = texts_of(schemes_chart(tried, width))
    assert {"full-domain", "local", "49.0 %", "4.7 %", "1 in 50", "110", "0", "detail lost", "average risk"} <= set(
        words
    )
    assert any("no release" in each for each in words)
    assert schemes_chart(tried[1:], width) == ""


def test_ranges_are_shown_without_brackets_and_released_with_them() -> None:
    table = pl.DataFrame({"age": [20 + n % 20 for n in range(200)]})
    release = dc.anonymize(
        table, quasi_identifiers={"age": "intervals(5, 10)"}, privacy="k(10)", min_levels={"age": 1}, scheme="subtree"
    )
    assert "[20, 25)" in release.frame["age"].to_list()
    column = release.columns[0]
    for drawn in (bar_chart(column, 200), tree_chart(column)):
        assert "20–24" in drawn
        assert "[20, 25)" not in drawn
