"""What blocks are released as, and read back: nothing is lost on the way, whatever the values look like."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import UsageError
from discreet.schema import Hierarchy, make_domain
from discreet.schema._blocks import block_names

AWKWARD = [
    "a", "b", "a, b", "{a, b}", "{a}", "{a", "a}", '"a"', '"', "", " a", "a ", "[1, 2]", "[1, 2)", "(1, 2]", "< 5",
    ">= 5", "**", "a or missing", " or missing", "5", "1e3", "2024-01-01", "a,b", "a\nb", "\n", "é", "{}", "[a, b]",
]  # fmt: skip


def named(labels: list[Any], blocks: list[int], *, ranges: bool = False) -> list[str | None]:
    """The names of blocks over a flat tree."""
    ancestors = np.array([range(len(labels)), [0] * len(labels)])
    return block_names([labels, ["*"]], ancestors, np.array(blocks), ranges=ranges)


def numbered(blocks: list[int]) -> list[int]:
    seen: dict[int, int] = {}
    return [seen.setdefault(block, len(seen)) for block in blocks]


@st.composite
def partitions(draw: st.DrawFn) -> tuple[list[str | None], list[int]]:
    labels: list[str | None] = draw(
        st.lists(
            st.sampled_from(AWKWARD) | st.text(max_size=6).filter(lambda text: text != "*"),
            min_size=2,
            max_size=7,
            unique=True,
        )
    )
    if draw(st.booleans()):
        labels.append(None)
    blocks = draw(st.lists(st.integers(0, 3), min_size=len(labels), max_size=len(labels)))
    return labels, numbered(blocks)


@settings(max_examples=600, deadline=None)
@example((["a or missing", "a", "b", "a, b", None], [0, 1, 0, 0, 1]))
@given(partitions())
def test_sets_of_any_text_are_read_back(made: tuple[list[str | None], list[int]]) -> None:
    labels, blocks = made
    names = named(labels, blocks)
    assert len(set(names)) == len(names)
    known = [label for label in labels if label is not None]
    for number, name in enumerate(names):
        members = [label for label, block in zip(labels, blocks, strict=True) if block == number]
        values = frozenset(label for label in members if label is not None)
        everything = len(members) == len(labels)
        parsed = dc.parse_block(name, known)
        assert isinstance(parsed, dc.ValueSet)
        assert parsed.everything == everything
        assert parsed.values == values
        assert parsed.missing == (None in members or everything)
        if len(members) > 1 and not everything:  # what was made up speaks for itself
            assert dc.parse_block(name) == dc.ValueSet(values, None in members)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(-(2**52), 2**52), min_size=3, max_size=8, unique=True)
    | st.lists(st.floats(-1e15, 1e15), min_size=3, max_size=8, unique=True)
    | st.lists(st.dates(), min_size=3, max_size=8, unique=True),
    st.data(),
)
def test_ranges_are_read_back(values: list[Any], data: st.DataObject) -> None:
    values = [abs(value) if value == 0 else value for value in values]  # tables are read without negative zeros
    domain = make_domain("q", pl.Series(values), "flat")
    first = data.draw(st.integers(0, len(values) - 2))
    last = data.draw(st.integers(first + 1, len(values) - 1))
    blocks = np.arange(len(values))
    blocks[first : last + 1] = first
    inside = sorted(values)[first : last + 1]
    names = dict(zip(domain.values.to_list(), domain.released_as(blocks).to_list(), strict=True))
    joined = dc.parse_block(names[inside[0]])
    if len(inside) == len(values):
        assert joined == dc.ValueSet(frozenset(), missing=True, everything=True)
        return
    assert joined == dc.Interval(inside[0], inside[-1])
    for value in values:
        assert (value in joined) == (value in inside)
        assert value in dc.parse_block(names[value])


def test_a_run_with_missing_values_elsewhere() -> None:
    assert named(["18", "21", "25", None], [0, 1, 0, 2], ranges=True) == ["{18, 25}", "21", None]
    assert named(["18", "21", "25", None], [0, 0, 1, 2], ranges=True) == ["[18, 21]", "25", None]
    assert named(["18", "21", "25", None], [0, 0, 1, 0], ranges=True) == ["[18, 21] or missing", "25"]
    assert named(["18", "21", "25", None], [0, 1, 0, 0], ranges=True) == ["{18, 25} or missing", "21"]


def test_text_is_never_a_range() -> None:
    grades = dc.ordered(["low", "middle", "high"])
    domain = make_domain("grade", pl.Series(["low", "high", "middle"]), grades)
    assert domain.released_as(np.array([0, 0, 1])).to_list() == ["{low, middle}", "high", "{low, middle}"]


def test_long_sets_are_written_in_full() -> None:
    values = [f"value {number:02}" for number in range(30)]
    (name, _) = named([*values, "x"], [0] * 30 + [1])
    assert name is not None
    assert dc.parse_block(name) == dc.ValueSet(frozenset(values))


def test_a_value_that_looks_like_a_block_beside_that_block() -> None:
    names = named(["a", "b", "{a, b}", "c"], [0, 0, 1, 2])
    assert names == ['{"a", "b"}', "{a, b}", "c"]
    assert dc.parse_block(names[0]) == dc.ValueSet(frozenset({"a", "b"}))
    names = named(["a", "b", "{a, b}", '{"a", "b"}'], [0, 0, 1, 2])
    assert names[0] == '{"a", "b" }'
    assert dc.parse_block(names[0]) == dc.ValueSet(frozenset({"a", "b"}))
    names = named(["a", "a or missing", "b", None], [0, 1, 2, 0])
    assert names[:2] == ['"a" or missing', "a or missing"]
    assert dc.parse_block(names[0]) == dc.ValueSet(frozenset({"a"}), missing=True)


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("[17, 23]", dc.Interval(17, 23)),
        ("[20, 30)", dc.Interval(20, 30, "left")),
        ("(20, 30]", dc.Interval(20, 30, "right")),
        ("(-1.5, 1e3)", dc.Interval(-1.5, 1000.0, "neither")),
        ('["17", "23"]', dc.Interval(17, 23)),
        ("[17, 23] or missing", dc.Interval(17, 23, missing=True)),
        ("< 18", dc.Interval(-math.inf, 18, "neither")),
        (">= 65", dc.Interval(65, math.inf, "left")),
        (">= 2024-01-01", dc.Interval(datetime.date(2024, 1, 1), datetime.date.max, "left")),
        ("[2024-01-01, 2024-02-29]", dc.Interval(datetime.date(2024, 1, 1), datetime.date(2024, 2, 29))),
        (
            "[2024-01-01 08:00:00, 2024-01-01 09:30:00]",
            dc.Interval(datetime.datetime(2024, 1, 1, 8), datetime.datetime(2024, 1, 1, 9, 30)),
        ),
        ("{Inc, Private}", dc.ValueSet(frozenset({"Inc", "Private"}))),
        ('{"Inc, large", "say ""hi""", x}', dc.ValueSet(frozenset({"Inc, large", 'say "hi"', "x"}))),
        ("Private", dc.ValueSet(frozenset({"Private"}))),
        ("94***", dc.ValueSet(frozenset({"94***"}))),
        ("[x, y]", dc.ValueSet(frozenset({"[x, y]"}))),
        ("[1, 2024-01-01]", dc.ValueSet(frozenset({"[1, 2024-01-01]"}))),
        ("[2024-13-01, 2024-14-01]", dc.ValueSet(frozenset({"[2024-13-01, 2024-14-01]"}))),
        ("{a, b", dc.ValueSet(frozenset({"{a, b"}))),
        ("{}", dc.ValueSet(frozenset({"{}"}))),
        ("{a, }", dc.ValueSet(frozenset({"{a, }"}))),
        ("", dc.ValueSet(frozenset({""}))),
        ("*", dc.ValueSet(frozenset(), missing=True, everything=True)),
        (None, dc.ValueSet(frozenset(), missing=True)),
        (math.nan, dc.ValueSet(frozenset(), missing=True)),
        (pd.NA, dc.ValueSet(frozenset(), missing=True)),
        (pd.NaT, dc.ValueSet(frozenset(), missing=True)),
        (38, dc.ValueSet(frozenset({"38"}))),
        (17.0, dc.ValueSet(frozenset({"17"}))),
        (datetime.date(2024, 1, 1), dc.ValueSet(frozenset({"2024-01-01"}))),
    ],
)
def test_what_a_released_value_stands_for(text: Any, block: Any) -> None:
    assert dc.parse_block(text) == block


def test_membership() -> None:
    ages = dc.Interval(17, 23, "left")
    assert [value in ages for value in (16, 17, 22.9, 23, "17", "x", None, datetime.date(2024, 1, 1))] == [
        False, True, True, False, True, False, False, False,
    ]  # fmt: skip
    assert 17 not in dc.Interval(17, 23, "neither")
    assert math.nan in dc.Interval(17, 23, missing=True)
    days = dc.Interval(datetime.date(2024, 1, 1), datetime.date(2024, 1, 31))
    assert datetime.datetime(2024, 1, 5, 12) in days
    assert "2024-02-01" not in days
    assert 5 not in days
    some = dc.ValueSet(frozenset({"17", "x"}), missing=True)
    assert [value in some for value in (17, 17.0, "x", "y", None)] == [True, True, True, False, True]
    assert 1e300 in dc.ValueSet(frozenset({"1e300"}))
    assert "anything" in dc.parse_block("*")


def test_a_value_called_as_the_root() -> None:
    assert named(["*", "a", None], [0, 1, 0]) == ['"*" or missing', "a"]
    assert dc.parse_block('"*" or missing') == dc.ValueSet(frozenset({"*"}), missing=True)
    assert dc.parse_block("*", ["*", "a"]).everything  # the same text: the safe reading is the one that says less


def test_an_interval_is_what_pandas_has() -> None:
    block = dc.parse_block("[20, 30)")
    assert isinstance(block, dc.Interval)
    assert 20 in pd.Interval(block.left, block.right, block.closed)


def test_names_of_a_hierarchy() -> None:
    tree = Hierarchy.from_rows([["Other", "Rest"], ["x", "Other"], ["y", "Other"], ["z", "Rest"]])
    assert dc.parse_block("Rest", tree) == dc.ValueSet(frozenset({"Other", "z"}))
    assert dc.parse_block("Other", tree) == dc.ValueSet(frozenset({"Other", "x", "y"}))  # it may stand for either
    assert dc.parse_block("Other (level 1)", tree) == dc.ValueSet(frozenset({"x", "y"}))
    assert dc.parse_block("Other (level 7)", tree) == dc.ValueSet(frozenset({"Other (level 7)"}))
    assert dc.parse_block("*", tree) == dc.ValueSet(frozenset({"Other", "x", "y", "z"}), missing=True, everything=True)
    assert dc.parse_block("{x, z}", tree) == dc.ValueSet(frozenset({"x", "z"}))
    ages = dc.intervals(10).build(pl.Series([18, 21, 25]))
    assert dc.parse_block("[20, 30)", ages) == dc.ValueSet(frozenset({"21", "25"}))
    with pytest.raises(UsageError, match=r"intervals\(10\)' needs to see the values"):
        dc.parse_block("[20, 30)", dc.intervals(10))


def test_groups_without_a_name_are_read_back() -> None:
    tree = dc.groups([["Mon", "a, b"], ["Sat", "Sun"]]).hierarchy
    assert tree.levels[1][0] == '{Mon, "a, b"}'
    assert dc.parse_block(tree.levels[1][0]) == dc.ValueSet(frozenset({"Mon", "a, b"}))


def test_how_blocks_are_shown() -> None:
    assert repr(dc.parse_block("{b, a} or missing")) == "ValueSet({a, b}, missing=True)"
    assert repr(dc.parse_block("*")) == "ValueSet(everything)"
