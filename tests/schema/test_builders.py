from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from discreet import dates, flat, groups, intervals, mask, ordered, ranges
from discreet.errors import DataError, UsageError
from discreet.schema import Builder, Hierarchy, LevelBuilder, Type, blocks_of_text, make_domain


def plain_number(number: Fraction) -> str:
    """A fraction as people write it."""
    if number.denominator == 1:
        return str(number.numerator)
    return f"{Decimal(number.numerator) / Decimal(number.denominator):f}"


def plain_interval(value: str, width: Fraction, origin: Fraction) -> str:
    """The interval of one value, by exact arithmetic."""
    low = origin + (Fraction(value) - origin) // width * width
    return f"[{plain_number(low)}, {plain_number(low + width)})"


# --- intervals ------------------------------------------------------------------------------------


def test_intervals_of_the_readme(check_tree):
    tree = check_tree(intervals(5, 10, 20, 40).build(pl.Series([39, 17, 90, 21])))
    assert tree.rows() == [
        ["17", "[15, 20)", "[10, 20)", "[0, 20)", "[0, 40)", "*"],
        ["21", "[20, 25)", "[20, 30)", "[20, 40)", "[0, 40)", "*"],
        ["39", "[35, 40)", "[30, 40)", "[20, 40)", "[0, 40)", "*"],
        ["90", "[90, 95)", "[90, 100)", "[80, 100)", "[80, 120)", "*"],
    ]


@pytest.mark.parametrize("typed", [True, False])
def test_intervals_against_exact_arithmetic(check_domain, typed):
    rng = random.Random(7)
    for _ in range(250):
        places = rng.choice([0, 0, 1, 2, 3])
        step = Fraction(1, 10**places)
        values = sorted({rng.randint(-3000, 3000) * step for _ in range(rng.randint(1, 30))})
        widths = [rng.randint(2, 20) * step]
        for _ in range(rng.randint(0, 3)):
            widths.append(widths[-1] * rng.randint(2, 5))
        origin = rng.choice([Fraction(0), rng.randint(-50, 50) * step])
        text = [plain_number(value) for value in values]
        series = pl.Series([float(item) for item in text] if typed and places else text)
        if typed and not places:
            series = pl.Series([int(item) for item in text])
        domain = check_domain(make_domain("x", series, intervals(*map(float, widths), origin=float(origin))))
        assert domain.height == len(widths) + 1
        assert domain.positions.tolist() == [float(value) for value in values]
        for level, width in enumerate(widths, start=1):
            assert domain.released(level).to_list() == [plain_interval(item, width, origin) for item in text]


def test_ends_belong_to_the_upper_interval_however_floats_round():
    values = pl.Series([round(number * 0.1, 1) for number in range(100)])
    assert make_domain("x", values, intervals(0.1)).released(1)[3] == "[0.3, 0.4)"
    assert make_domain("x", values, intervals(0.3)).released(1)[9] == "[0.9, 1.2)"


def test_one_wide_integers_repeat_level_0_and_are_left_out():
    assert intervals(1, 5).build(pl.Series([1, 2])).height == 2
    assert intervals(1, 5).build(pl.Series([1.5, 2.0])).rows()[0] == ["1.5", "[1, 2)", "[0, 5)", "*"]
    assert intervals(1).build(pl.Series([1, 2])).rows() == [["1", "*"], ["2", "*"]]


def test_intervals_of_dates():
    values = pl.Series([date(2024, 3, 1), date(2024, 3, 9)])
    tree = intervals(7, 28, origin=date(2024, 1, 1)).build(values)
    assert tree.rows()[0] == ["2024-03-01", "[2024-02-26, 2024-03-04)", "[2024-02-26, 2024-03-25)", "*"]
    assert intervals(7, 28, origin="2024-01-01").build(values) == tree
    with pytest.raises(UsageError, match="whole days"):
        intervals(0.5).build(values)


def test_zero_padded_text_is_read_as_numbers_where_numbers_are_needed(check_domain):
    domain = check_domain(make_domain("x", pl.Series(["07", "12", "7"]), intervals(5)))
    assert domain.type is Type.INTEGER
    assert domain.codes.tolist() == [0, 1, 0]
    assert domain.released(0).to_list() == ["7", "12", "7"]
    assert domain.released(1).to_list() == ["[5, 10)", "[10, 15)", "[5, 10)"]


@pytest.mark.parametrize("builder", [intervals(5), ranges([5])])
def test_numeric_builders_on_text(builder):
    with pytest.raises(DataError, match=r"Column 'job': 2 of its 3 distinct values are not numbers") as caught:
        make_domain("job", pl.Series(["secret", "17", "?"]), builder)
    assert caught.value.column == "job"
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match=r"2 of its 2 distinct values are not numbers"):
        make_domain("job", pl.Series([True, False]), builder)


def test_intervals_too_narrow_for_the_values():
    with pytest.raises(DataError, match="Column 'x' has values too large for intervals this narrow"):
        make_domain("x", pl.Series([1e18, 0.5]), intervals(0.001))
    big = pl.Series([2**60, 2**60 + 1])
    assert make_domain("x", big, intervals(2)).released(1).n_unique() == 1


@pytest.mark.parametrize(
    ("widths", "message"),
    [
        ((), "at least one width"),
        ((0,), "numbers above 0"),
        ((-5,), "numbers above 0"),
        ((float("nan"),), "numbers above 0"),
        ((5, 12), r"'intervals\(5, 12\)', 12 is not a multiple of 5"),
        ((5, 5), "5 is not a multiple of 5"),
        ((10, 5), "5 is not a multiple of 10"),
        (("5",), "The width of intervals is a number"),
        ((True,), "The width of intervals is a number"),
        ((None,), "The width of intervals is a number"),
    ],
)
def test_bad_widths(widths, message):
    with pytest.raises(UsageError, match=message):
        intervals(*widths)


def test_bad_origin():
    with pytest.raises(UsageError, match="origin of intervals is a number or a date"):
        intervals(5, origin="spring")


# --- ranges ---------------------------------------------------------------------------------------


def test_ranges_against_plain_comparison(check_domain):
    rng = random.Random(3)
    for _ in range(200):
        fine = sorted(rng.sample(range(-50, 50), rng.randint(1, 6)))
        coarse = sorted(rng.sample(fine, rng.randint(1, len(fine))))
        values = sorted({rng.randint(-80, 80) for _ in range(rng.randint(1, 40))})
        domain = check_domain(make_domain("x", pl.Series(values), ranges(fine, coarse)))
        for level, cuts in ((1, fine), (2, coarse)):
            for value, shown in zip(values, domain.released(level), strict=True):
                if value < cuts[0]:
                    assert shown == f"< {cuts[0]}"
                elif value >= cuts[-1]:
                    assert shown == f">= {cuts[-1]}"
                else:
                    low = max(cut for cut in cuts if cut <= value)
                    assert shown == f"[{low}, {cuts[cuts.index(low) + 1]})"


def test_ways_to_write_ranges():
    assert ranges([0, 18, 65]) == ranges(0, 18, 65) == ranges([[0, 18, 65]])
    assert ranges([0, 18, 65], [18]) == ranges([[0, 18, 65], [18]])
    assert ranges([0.5, 2.0]).text == "ranges([0.5, 2])"


def test_ranges_of_decimals_and_dates():
    assert ranges([0.1, 0.3]).build(pl.Series([0.3, 0.1])).levels[1] == ["[0.1, 0.3)", ">= 0.3"]
    assert ranges([0.5]).build(pl.Series([0, 1])).levels[1] == ["< 0.5", ">= 0.5"]
    tree = ranges(["2020-01-01", date(2024, 1, 1)]).build(pl.Series(["2019-12-31", "2020-01-01"]))
    assert tree.levels[1] == ["< 2020-01-01", "[2020-01-01, 2024-01-01)"]
    assert ranges([datetime(2020, 1, 1)]).text == "ranges([2020-01-01])"
    with pytest.raises(UsageError, match="Column 'values' holds dates; give the cut points as dates"):
        ranges([5]).build(pl.Series([date(2024, 1, 1)]))
    with pytest.raises(DataError, match="not a date"):
        ranges(["2024-01-01"]).build(pl.Series([5]))


@pytest.mark.parametrize(
    ("cuts", "message"),
    [
        ((), "needs lists of cut points"),
        (([],), "needs lists of cut points"),
        (([1, 2], 3), "needs lists of cut points"),
        (([5, 1],), "must rise"),
        (([5, 5],), "must rise"),
        (([1, 5], [2]), "a cut point the finer one before it lacks"),
        (([1, "2024-01-01"],), "mixes numbers and dates"),
        ((["spring"],), "'spring' is no cut point"),
        (([None],), "numbers or dates"),
        (([float("nan")],), "numbers or dates"),
        (([True],), "numbers or dates"),
    ],
)
def test_bad_cut_points(cuts, message):
    with pytest.raises(UsageError, match=message):
        ranges(*cuts)


# --- groups and ordered ---------------------------------------------------------------------------


def test_nested_groups_with_unequal_depths(check_tree):
    tree = check_tree(
        groups(
            {
                "Government": {"Local": ["City", "County"], "Federal": ["Army"]},
                "Private": "Private",
                "Self": ["Inc"],
            }
        ).hierarchy
    )
    assert tree.rows() == [
        ["City", "Local", "Government", "*"],
        ["County", "Local", "Government", "*"],
        ["Army", "Federal", "Government", "*"],
        ["Private", "Private", "Private", "*"],
        ["Inc", "Inc", "Self", "*"],
    ]


def test_unnamed_groups_are_shown_by_their_members():
    tree = groups([["a", "b"], "c", {"named": ["d", ["e", "f"]]}]).hierarchy
    assert tree.levels[-2] == ["{a, b}", "{a, b}", "c", "named", "named", "named"]
    assert tree.levels[1][-1] == "{e, f}"


def test_groups_of_values_that_are_not_text():
    tree = groups({"low": [1, 2.0], "high": {3}, "yes": [True]}).hierarchy
    assert tree.leaves == ["1", "2", "3", "true"]
    assert groups({"*": {"x": ["a"], "y": ["b"]}}).hierarchy == groups({"x": ["a"], "y": ["b"]}).hierarchy


def test_groups_on_numbers_keep_the_natural_order(check_domain):
    domain = check_domain(make_domain("n", pl.Series([4, 3, 2, 1]), groups({"odd": [3, 1], "even": [2, 4]})))
    assert domain.type is Type.INTEGER
    assert domain.codes.tolist() == [3, 2, 1, 0]
    assert domain.ancestors[1].tolist() == [0, 1, 0, 1]
    assert domain.labels[1] == ["odd", "even"]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("abc", "needs a list of values or a mapping"),
        (5, "needs a list of values or a mapping"),
        ([], "is empty"),
        ({}, "is empty"),
        ({"x": []}, "is empty"),
        ({"x": ["a", None]}, "is missing"),
    ],
)
@pytest.mark.parametrize("builder", [groups, ordered])
def test_bad_groups(tree, message, builder):
    with pytest.raises(UsageError, match=message):
        builder(tree)


def test_groups_that_are_no_tree():
    with pytest.raises(DataError, match="'Other' at level 1 has two parents at level 2"):
        groups({"A": {"Other": ["a"]}, "B": {"Other": ["b"]}})
    with pytest.raises(DataError, match="list the same leaf with different parents"):
        groups({"A": ["a"], "B": ["a"]})


def test_ordered_keeps_the_given_order(check_domain):
    domain = check_domain(make_domain("size", pl.Series(["high", "low"]), ordered(["low", "middle", "high"])))
    assert domain.type is Type.ORDERED
    assert domain.labels[0] == ["low", "middle", "high"]
    assert domain.codes.tolist() == [2, 0]
    assert domain.positions is None
    numbers = check_domain(make_domain("n", pl.Series([1, 2, 3]), ordered([3, 1, 2])))
    assert (numbers.type, numbers.codes.tolist()) == (Type.ORDERED, [1, 2, 0])
    nested = check_domain(make_domain("n", pl.Series(["c"]), ordered({"x": ["b", "a"], "y": ["c"]})))
    assert nested.labels[:2] == [["b", "a", "c"], ["x", "y"]]


def test_builders_compare_by_what_they_say():
    assert groups(["a"]) == groups(["a"]) != groups(["b"])
    assert groups(["a"]) != ordered(["a"])
    assert len({groups(["a"]), groups(["a"]), ordered(["a"]), flat(), flat(), mask(2), mask(2)}) == 4


# --- flat and mask --------------------------------------------------------------------------------


def test_flat(check_domain):
    domain = check_domain(make_domain("sex", pl.Series(["m", "f"]), flat()))
    assert domain.labels == [["f", "m"], ["*"]]
    assert domain.codes.tolist() == [1, 0]


def plain_mask(value: str, hidden: int, length: int, from_right: bool, keep_length: bool) -> str:
    """What is left of a value, character by character."""
    padded = value.ljust(length, "*") if from_right else value.rjust(length, "*")
    if not from_right:
        padded, value = padded[::-1], value[::-1]
    kept = value[: length - hidden]
    shown = kept + "*" * (length - len(kept)) if keep_length else kept + "*"
    return shown if from_right else shown[::-1]


@pytest.mark.parametrize("from_right", [True, False])
@pytest.mark.parametrize("keep_length", [True, False])
def test_mask_against_characters(check_domain, from_right, keep_length):
    rng = random.Random(11)
    for _ in range(120):
        longest = rng.randint(1, 5)
        values = sorted({"".join(rng.choices("01aé", k=rng.randint(1, longest))) for _ in range(rng.randint(1, 25))})
        length = max(map(len, values))
        digits = rng.choice([None, *range(1, 7)])
        domain = check_domain(make_domain("x", pl.Series(values), mask(digits, from_right, keep_length)))
        hidden = min(digits or length, length - 1)
        assert domain.height == hidden + 1
        for level in range(1, hidden + 1):
            expected = [plain_mask(value, level, length, from_right, keep_length) for value in values]
            assert domain.released(level).to_list() == expected


def test_mask_makes_numbers_text(check_domain):
    domain = check_domain(make_domain("zip", pl.Series([94110, 94117, 10001]), "mask(digits=5)"))
    assert domain.type is Type.TEXT
    assert domain.height == 5
    assert domain.released(2).to_list() == ["941**", "941**", "100**"]
    assert domain.released(0).dtype == pl.Int64
    short = make_domain("zip", pl.Series(["94110", "94117"]), mask(2, keep_length=False))
    assert short.released(2).to_list() == ["941*", "941*"]


def test_mask_of_values_with_stars(check_domain):
    check_domain(make_domain("x", pl.Series(["94*", "94*1", "9", "9***", "941"]), mask()))


@pytest.mark.parametrize("digits", [0, -1, 1.5, "2", True])
def test_bad_digits(digits):
    with pytest.raises(UsageError, match="digits of mask"):
        mask(digits)


# --- dates ----------------------------------------------------------------------------------------


def plain_unit(day: date, unit: str, weeks: bool) -> str:
    """The calendar unit of one day."""
    if weeks and unit != "day":
        day = day - timedelta(days=day.weekday()) + timedelta(days=3)
    return {
        "day": day.isoformat(),
        "week": "{}-W{:02}".format(*day.isocalendar()[:2]),
        "month": f"{day.year}-{day.month:02}",
        "quarter": f"{day.year}-Q{(day.month + 2) // 3}",
        "year": f"{day.year}",
        "decade": f"{day.year // 10 * 10}s",
    }[unit]


@pytest.mark.parametrize(
    "units",
    [
        ("month", "quarter", "year", "decade"),
        ("week", "month", "quarter", "year", "decade"),
        ("day", "week", "year"),
        ("day", "week", "month", "quarter", "year", "decade"),
    ],
)
@pytest.mark.parametrize("timed", [True, False])
def test_dates_against_the_calendar(check_domain, units, timed):
    rng = random.Random(5)
    start = date(1895, 1, 1)
    days = sorted({start + timedelta(days=rng.randint(0, 60_000)) for _ in range(2000)})
    values = [datetime(day.year, day.month, day.day, rng.randint(1, 23)) for day in days] if timed else days
    domain = check_domain(make_domain("born", pl.Series(values), dates(*units)))
    expected = [unit for unit in units if timed or unit != "day"]
    assert domain.height == len(expected) + 1
    for level, unit in enumerate(expected, start=1):
        assert domain.released(level).to_list() == [plain_unit(day, unit, "week" in units) for day in days]


def test_dates_given_as_text_or_as_midnights(check_domain):
    text = pl.Series(["2024-12-30", "2024-02-29"])
    for values in (text, text.str.to_date(), text.str.to_datetime("%Y-%m-%d"), text + "T00:00:00"):
        domain = check_domain(make_domain("born", values, "dates(month, year)"))
        assert domain.type is Type.DATE
        assert domain.labels == [["2024-02-29", "2024-12-30"], ["2024-02", "2024-12"], ["2024"], ["*"]]
        assert domain.positions.tolist() == [19782, 20087]
    assert dates().text == "dates(month, quarter, year, decade)"


def test_times_of_day_and_time_zones():
    values = pl.Series([datetime(2024, 3, 1, 12), datetime(2024, 3, 1, 6, 30, 0, 500_000)])
    for given in (values, values.dt.replace_time_zone("Europe/Paris")):
        domain = make_domain("seen", given, dates("day"))
        assert domain.labels[0] == ["2024-03-01 06:30:00.500", "2024-03-01 12:00:00"]
        assert domain.released(1).to_list() == ["2024-03-01"] * 2
        assert domain.positions[1] == 19783.5


def test_dates_on_what_is_no_date():
    with pytest.raises(DataError, match=r"1 of its 2 distinct values is not a date \(YYYY-MM-DD\)"):
        make_domain("born", pl.Series(["2024-03-01", "secret"]), dates("year"))
    with pytest.raises(DataError, match="2 of its 2 distinct values are not dates"):
        make_domain("born", pl.Series([1, 2]), dates("year"))


def test_bad_units():
    with pytest.raises(UsageError, match="no calendar unit 'months' for dates; did you mean 'month'"):
        dates("months")
    with pytest.raises(UsageError, match="from fine to coarse, each once"):
        dates("year", "month")
    with pytest.raises(UsageError, match="from fine to coarse, each once"):
        dates("year", "year")


# --- a user's own ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vowels(LevelBuilder):
    name = "vowels"

    def levels(self, column):
        return [blocks_of_text(column.text.str.contains("^[aeiou]").replace_strict({True: "vowel", False: "other"}))]


class Fixed(Builder):
    name = "fixed"

    def build(self, values, type=None, name="values"):  # noqa: A002
        return Hierarchy.from_rows([[value, "all"] for value in values.to_list()])


class Crossing(LevelBuilder):
    name = "crossing"

    def levels(self, column):
        return [(np.array([0, 0, 1]), ["x", "y"]), (np.array([0, 1, 1]), ["u", "v"])]


def test_builders_of_ones_own(check_domain):
    values = pl.Series(["ann", "bob", "eve"])
    assert check_domain(make_domain("x", values, Vowels())).released(1).to_list() == [
        "vowel",
        "other",
        "vowel",
    ]
    assert check_domain(make_domain("x", values, Fixed())).text == "fixed"
    with pytest.raises(DataError, match="levels must nest"):
        make_domain("x", values, Crossing())
