from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import yaml

from discreet import auto, dates, flat, groups, intervals, mask, ordered, ranges
from discreet.errors import DataError, UsageError
from discreet.schema import Hierarchy, as_hierarchy, hierarchy_from_text, make_domain

BUILDERS = [
    intervals(5, 10, 20, 40),
    intervals(2.5, 5, origin=-1.5),
    intervals(7, origin="2024-01-01"),
    ranges([0, 18, 65]),
    ranges([0, 5.5, 18], [0, 18]),
    ranges(["2024-01-01", "2025-01-01"]),
    groups(["a", "b"]),
    groups({"x y": ["a", "b, c"], "it's": {"z": ["007", "1", "true"], "*": [["d", 'e"f', "g'h\"i"], "k"]}}),
    groups([["a", "b"], {"x": ["c"]}]),
    ordered(["low", "high"]),
    mask(),
    mask(5),
    mask(digits=3, from_right=False, keep_length=False),
    dates("month", "year"),
    flat(),
    auto(),
]


@pytest.mark.parametrize("builder", BUILDERS, ids=str)
def test_text_forms_parse_back(builder):
    assert hierarchy_from_text(builder.text) == builder
    assert as_hierarchy(builder) is builder
    assert str(builder) == builder.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("intervals(5, 10)", intervals(5, 10)),
        (" mask( digits = 5 ) ", mask(5)),
        ("mask(5)", mask(5)),
        ("flat", flat()),
        ("flat()", flat()),
        ("auto", auto()),
        ("ranges(0, 18, 65)", ranges([0, 18, 65])),
        ("groups([a, b])", groups(["a", "b"])),
        ("groups({x: [a, b], y: c})", groups({"x": ["a", "b"], "y": ["c"]})),
        ("dates(day, month)", dates("day", "month")),
    ],
)
def test_text_forms(text, expected):
    made = hierarchy_from_text(text)
    assert type(made) is type(expected)
    assert made.text == expected.text or text.startswith("groups({")


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("[a, b]", groups(["a", "b"])),
        ("{x: [a, b], y: [c]}", groups({"x": ["a", "b"], "y": ["c"]})),
        ("{ranges: [0, 18, 65]}", ranges([0, 18, 65])),
        ("{ranges: [[0, 5, 18], [0, 18]]}", ranges([0, 5, 18], [0, 18])),
        ("{ranges: [2024-01-01]}", ranges(["2024-01-01"])),
        ("{ordered: [low, high]}", ordered(["low", "high"])),
        ("{groups: {x: [1, 2], y: [yes]}}", groups({"x": ["1", "2"], "y": ["true"]})),
        ("{intervals: [5, 10]}", intervals(5, 10)),
        ("{intervals: 5}", intervals(5)),
        ("{mask: {digits: 5}}", mask(5)),
        ("{dates: [month, year]}", dates("month", "year")),
        ("{flat: }", flat()),
        ("'intervals(5, 10)'", intervals(5, 10)),
        ("null", auto()),
    ],
)
def test_job_files(job, expected):
    assert as_hierarchy(yaml.safe_load(job)) == expected


def test_files(tmp_path):
    tree = Hierarchy.from_rows([["a", "x"], ["b", "x"]])
    tree.to_csv(tmp_path / "work.csv")
    tree.to_csv(tmp_path / "odd name")
    assert hierarchy_from_text("work.csv", tmp_path) == tree
    assert hierarchy_from_text(str(tmp_path / "work.csv")) == tree
    assert hierarchy_from_text(str(tmp_path / "work.csv"), Path("elsewhere")) == tree
    assert hierarchy_from_text("odd name", tmp_path) == tree
    assert as_hierarchy(Path("work.csv"), tmp_path) == tree
    assert make_domain("x", pl.Series(["a"]), tmp_path / "work.csv").text == "work.csv"
    with pytest.raises(DataError, match="no hierarchy file"):
        hierarchy_from_text("none.csv", tmp_path)
    with pytest.raises(DataError, match="no hierarchy file"):
        as_hierarchy(tmp_path / "none")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("interval(5)", "There is no hierarchy 'interval\\(5\\)'; did you mean 'intervals'"),
        ("xyz", "known are age, auto, bottom, dates, .*, ranges, rounding, top, or name a file"),
        ("", "There is no hierarchy ''"),
        ("y" * 5000, "There is no hierarchy"),
        ("flat(1)", "'flat' does not take these arguments"),
        ("mask(width=3)", "'mask' does not take these arguments"),
        ("intervals(5", "lacks its closing bracket"),
        ("intervals(5, 'x)", "a quote or bracket is left open"),
        ("groups", "'groups' does not take these arguments"),
        ("ordered({a: b}, c)", "'ordered' does not take these arguments"),
        (5, "not int"),
        ({"mask": {"width": 3}}, "'mask' does not take these arguments"),
    ],
)
def test_forms_that_are_none(given, message):
    with pytest.raises(UsageError, match=message):
        as_hierarchy(given)
