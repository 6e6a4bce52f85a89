from __future__ import annotations

import random
from datetime import date, datetime, time
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from discreet import flat, groups, intervals, mask, ordered
from discreet.errors import DataError, UsageError
from discreet.schema import Domain, Hierarchy, Type, make_domain

WORK = Hierarchy.from_rows(
    [["State", "Gov", "*"], ["Private", "Private", "*"], ["Local", "Gov", "*"], ["Never", "None", "*"]]
)


def test_explicit_hierarchy(check_domain):
    domain = check_domain(make_domain("work", pl.Series(["Private", "State", "Local"]), WORK))
    assert domain.type is Type.TEXT
    assert domain.labels == [["State", "Local", "Private", "Never"], ["Gov", "Private", "None"], ["*"]]
    assert domain.codes.tolist() == [2, 0, 1]
    assert domain.ancestors.tolist() == [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 0]]
    assert domain.released(1).to_list() == ["Private", "Gov", "Gov"]
    assert domain.released(2).to_list() == ["*"] * 3
    assert not domain.automatic
    assert domain.text == "Hierarchy(4 leaves, height 2)"
    assert domain.height == 2


def test_order_of_the_values_leaves_no_trace(check_domain):
    rng = random.Random(1)
    columns = {
        "ages": [str(number) for number in range(17, 60)],
        "codes": [f"{number:05}" for number in range(0, 99_999, 1234)],
        "words": [
            "red wine",
            "red beer",
            "white wine",
            "cider",
            "ale",
            "gin",
            "rum",
            "stout",
            "mead",
            "port wine",
        ],
        "amounts": [f"{2**number}.5" for number in range(30)],
    }
    for name, values in columns.items():
        rows = {value: rng.randint(1, 9) for value in values}
        first = make_domain(name, pl.Series(values), rows=[rows[value] for value in values])
        for _ in range(5):
            shuffled = rng.sample(values, len(values))
            other = check_domain(make_domain(name, pl.Series(shuffled), rows=[rows[value] for value in shuffled]))
            assert other.labels == first.labels
            assert other.ancestors.tolist() == first.ancestors.tolist()
            assert dict(zip(shuffled, other.codes.tolist(), strict=True)) == dict(
                zip(values, first.codes.tolist(), strict=True)
            )


def test_natural_order_of_an_explicit_hierarchy(check_domain):
    rows = [["30", "x"], ["4", "y"], ["-5", "x"], ["100", "y"]]
    domain = check_domain(make_domain("n", pl.Series(["4", "100"]), Hierarchy.from_rows(rows)))
    assert domain.type is Type.INTEGER
    assert domain.labels == [["-5", "4", "30", "100"], ["x", "y"], ["*"]]
    assert domain.ancestors[1].tolist() == [0, 1, 0, 1]
    assert domain.positions.tolist() == [-5, 4, 30, 100]
    assert domain.codes.tolist() == [1, 3]
    text = check_domain(make_domain("n", pl.Series(["4", "100"]), Hierarchy.from_rows(rows), type="text"))
    assert text.labels[0] == ["30", "-5", "4", "100"]
    assert text.positions is None


def test_leaves_that_are_no_numbers_make_it_text(check_domain):
    tree = Hierarchy.from_rows([["2", "x"], ["1", "x"], ["?", "y"]])
    assert check_domain(make_domain("n", pl.Series([1, 2]), tree)).type is Type.TEXT
    with pytest.raises(DataError, match="was given the type integer, but not all leaves"):
        make_domain("n", pl.Series([1, 2]), tree, type="integer")


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([17, 20]),
        pl.Series([17.0, 20.0]),
        pl.Series([17.0, 20.0], dtype=pl.Float32),
        pl.Series(["17", "20"]),
        pl.Series(["17.0", "20.00"]),
        pl.Series([Decimal("17.00"), Decimal("20.00")]),
        pl.Series([Decimal(17), Decimal(20)], dtype=pl.Decimal(10, 0)),
        pl.Series([17, 20], dtype=pl.UInt8),
        pl.Series(["17", "20"], dtype=pl.Categorical),
        pl.Series([17, 20], dtype=pl.Object),
    ],
    ids=lambda values: str(values.dtype),
)
@pytest.mark.parametrize("leaves", [["17", "20"], ["17.0", "20.0"]])
def test_numbers_find_their_leaves_however_they_are_written(values, leaves, check_domain):
    tree = Hierarchy.from_rows([[leaf, "x"] for leaf in leaves])
    domain = make_domain("age", values, tree)
    assert domain.codes.tolist() == [0, 1]
    assert domain.positions.tolist() == [17, 20]
    if values.dtype != pl.Object:
        check_domain(domain)
    assert domain.released(0) is values


@pytest.mark.parametrize("leaves", [["true", "false"], ["True", "False"], ["TRUE", "FALSE"]])
@pytest.mark.parametrize("values", [[True, False], ["true", "false"], ["True", "False"]])
def test_truth_values(leaves, values, check_domain):
    domain = check_domain(make_domain("x", pl.Series(values), Hierarchy.from_rows([[leaf] for leaf in leaves])))
    assert domain.codes.tolist() == [0, 1]
    assert domain.type is Type.TEXT


@pytest.mark.parametrize("values", [[date(2024, 3, 1)], [datetime(2024, 3, 1)], ["2024-03-01"]])
def test_dates_find_their_leaves(values, check_domain):
    tree = Hierarchy.from_rows([["2024-03-02", "x"], ["2024-03-01", "x"]])
    domain = check_domain(make_domain("born", pl.Series(values), tree))
    assert domain.codes.tolist() == [0]
    assert domain.positions.tolist() == [19783, 19784]


def test_codes_keep_their_zeros():
    tree = Hierarchy.from_rows([["00501", "005"], ["10001", "100"]])
    assert make_domain("zip", pl.Series(["10001", "00501"]), tree).codes.tolist() == [1, 0]
    with pytest.raises(DataError, match="1 of its 2 distinct values"):
        make_domain("zip", pl.Series([501, 10001]), tree)


def test_several_spellings_are_released_as_one(check_domain):
    domain = check_domain(make_domain("x", pl.Series(["1.50", "2", "1.5", "2.0", None]), intervals(0.5)))
    assert domain.type is Type.DECIMAL
    assert domain.codes.tolist() == [0, 1, 0, 1, 2]
    assert domain.released(0).to_list() == ["1.5", "2", "1.5", "2", None]
    shuffled = make_domain("x", pl.Series(["2.0", "1.5", "2", "1.50"]), intervals(0.5))
    assert shuffled.released(0).to_list() == ["2", "1.5", "2", "1.5"]


# --- what the hierarchy lacks ---------------------------------------------------------------------


def test_values_the_hierarchy_lacks():
    values = pl.Series(["Private", "secret", "hidden"])
    with pytest.raises(DataError, match="Column 'work': 2 of its 3 distinct values are not in the hierarchy") as caught:
        make_domain("work", values, WORK)
    assert caught.value.column == "work"
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match=r"2 of its 3 distinct values \(in 1,007 rows\) are not"):
        make_domain("work", values, WORK, rows=[5, 1000, 7])


def test_values_the_file_lacks(tmp_path):
    WORK.to_csv(tmp_path / "work.csv")
    with pytest.raises(DataError, match=r"not in the hierarchy 'work.csv'; add a row for it"):
        make_domain("work", pl.Series(["x"]), str(tmp_path / "work.csv"))


# --- missing values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "hierarchy"),
    [
        (["State", None, "Local"], WORK),
        (["State", None], flat()),
        ([31, None, 7], intervals(5, 10)),
        (["a", None], ordered(["b", "a"])),
        ([4, None, 3], groups({"odd": [3, 1], "even": [2, 4]})),
        ([None], None),
        ([None], WORK),
        ([None], mask()),
        ([date(2024, 3, 1), None], None),
        (["x", None, "NULL", "NA", ""], None),
        ([*map(str, range(50)), None], None),
    ],
)
def test_missing_is_a_leaf_of_its_own(values, hierarchy, check_domain):
    domain = check_domain(make_domain("x", pl.Series(values), hierarchy))
    absent = [value is None for value in values]
    leaf = domain.ancestors.shape[1] - 1
    assert [code == leaf for code in domain.codes.tolist()] == absent
    for level in range(domain.height):
        assert domain.labels[level][-1] is None
        assert [shown is None for shown in domain.released(level)] == absent
    assert domain.released(domain.height).null_count() == 0


def test_leaves_called_null_are_not_missing_values(check_domain):
    for name in ("", "NULL", "null", "NA"):
        tree = Hierarchy.from_rows([[name, "unknown"], ["a", "known"]])
        domain = check_domain(make_domain("x", pl.Series([None, "a"]), tree))
        assert domain.codes.tolist() == [2, 1]


def test_nan_is_missing(check_domain):
    domain = check_domain(make_domain("x", pl.Series([1.5, float("nan")]), intervals(1)))
    assert domain.codes.tolist() == [0, 1]
    assert np.isnan(domain.positions[1])
    assert np.isnan(domain.released(0)[1])
    both = check_domain(make_domain("x", pl.Series([float("nan"), 1.5, None]), intervals(1)))
    assert both.codes.tolist() == [1, 0, 1]
    assert both.released(0).to_list() == [None, 1.5, None]
    nothing = check_domain(make_domain("x", pl.Series([float("nan")])))
    assert nothing.labels == [[None], ["*"]]


def test_missing_is_an_error():
    with pytest.raises(DataError, match="Column 'x' has missing values; fill them in, or choose missing='value'"):
        make_domain("x", pl.Series([1, None]), flat(), missing="error")
    with pytest.raises(DataError, match="has missing values in 12 rows"):
        make_domain("x", pl.Series([1, None]), flat(), missing="error", rows=[3, 12])
    with pytest.raises(DataError, match="has missing values"):
        make_domain("x", pl.Series([1.0, float("nan")]), flat(), missing="error")
    assert len(make_domain("x", pl.Series([1]), flat(), missing="error").codes) == 1


def test_missing_was_taken_out():
    assert len(make_domain("x", pl.Series([1]), flat(), missing="suppress").codes) == 1
    with pytest.raises(DataError, match="take those rows out first"):
        make_domain("x", pl.Series([1, None]), flat(), missing="suppress")


def test_missing_as_never_heard_of():
    with pytest.raises(UsageError, match="missing is one of value, error, suppress, not 'drop'"):
        make_domain("x", pl.Series([1]), missing="drop")


# --- values that cannot be used -------------------------------------------------------------------


@pytest.mark.parametrize("hierarchy", [None, flat(), intervals(5), groups(["1", "2"])])
@pytest.mark.parametrize("values", [[1.0, float("inf")], [1.0, float("-inf")], ["1.5", "inf"]])
def test_infinite_values(values, hierarchy):
    with pytest.raises(DataError, match="Column 'x' has 1 infinite value;"):
        make_domain("x", pl.Series(values), hierarchy)


@pytest.mark.parametrize("values", [[1, "a"], ["a", 1.5, None], [b"x", "y"], [date(2024, 1, 1), "y"]])
def test_mixed_types(values):
    with pytest.raises(DataError, match="Column 'x' mixes values of different types"):
        make_domain("x", pl.Series(values, dtype=pl.Object))


@pytest.mark.parametrize("values", [[[1]], [{"a": 1}], [time(10)], [b"x"]])
def test_values_of_other_kinds(values):
    with pytest.raises(DataError, match="which cannot be generalized"):
        make_domain("x", pl.Series(values))


def test_objects_of_one_type():
    assert make_domain("x", pl.Series(["a", None], dtype=pl.Object), flat()).codes.tolist() == [0, 1]
    assert make_domain("x", pl.Series([2.5, float("nan")], dtype=pl.Object), flat()).codes.tolist() == [0, 1]
    with pytest.raises(DataError, match=r"cannot be generalized|mixes values"):
        make_domain("x", pl.Series([object()], dtype=pl.Object))


def test_no_values_at_all():
    with pytest.raises(DataError, match="Column 'x' has no values"):
        make_domain("x", pl.Series([], dtype=pl.String))


def test_a_type_the_values_do_not_have():
    with pytest.raises(DataError, match="1 of its 2 distinct values is not a whole number"):
        make_domain("x", pl.Series(["1", "1.5"]), flat(), type="integer")
    with pytest.raises(DataError, match="1 of its 2 distinct values is not a number"):
        make_domain("x", pl.Series(["1", "a"]), flat(), type="decimal")
    with pytest.raises(UsageError, match="There is no type"):
        make_domain("x", pl.Series(["1"]), flat(), type="number")
    assert make_domain("x", pl.Series(["007", "9"]), flat(), type="integer").positions.tolist() == [7, 9]


def test_infinite_whole_numbers():
    with pytest.raises(DataError, match="Column 'x' has 1 infinite value;"):
        make_domain("x", pl.Series([1.0, float("inf")]), flat(), type="integer")


def test_short_floats_are_what_they_look_like(check_domain):
    domain = check_domain(make_domain("x", pl.Series([0.1, 0.3], dtype=pl.Float32), intervals(0.1)))
    assert domain.positions.tolist() == [0.1, 0.3]
    assert domain.labels[:2] == [["0.1", "0.3"], ["[0.1, 0.2)", "[0.3, 0.4)"]]


def test_whole_numbers_beyond_floats_stay_apart(check_domain):
    domain = check_domain(make_domain("x", pl.Series([2**53 + 1, 2**53, -(2**53)]), flat()))
    assert domain.codes.tolist() == [2, 1, 0]
    huge = check_domain(make_domain("x", pl.Series([2**64 - 1, 5], dtype=pl.UInt64), flat()))
    assert huge.type is Type.DECIMAL


# --- large ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["integer", "decimal", "skewed", "zip", "word", "date"])
def test_a_hundred_thousand_values(kind):
    rng = np.random.default_rng(0)
    count = 100_000
    letters = np.array(list("abcdefghij"))
    values = {
        "integer": lambda: pl.Series(rng.permutation(count) * 3),
        "decimal": lambda: pl.Series(rng.permutation(count) / 100).cast(pl.String),
        "skewed": lambda: pl.Series(np.exp(rng.normal(5, 3, count))).unique(),
        "zip": lambda: pl.Series([f"{number:05}" for number in rng.permutation(count).tolist()]),
        "word": lambda: pl.Series(["".join(row) for row in letters[rng.integers(0, 10, (count, 7))]]).unique(),
        "date": lambda: pl.Series(rng.permutation(count) - 50_000).cast(pl.Int32).cast(pl.Date),
    }[kind]()
    domain = make_domain("x", values)
    assert domain.automatic
    assert 4 <= domain.height <= 8
    assert np.array_equal(np.sort(domain.codes), np.arange(len(values)))
    for level in range(1, domain.height + 1):
        row = domain.ancestors[level]
        assert np.array_equal(np.unique(row), np.arange(len(domain.labels[level])))
        assert (np.diff(row) >= 0).all()
        assert len(domain.labels[level]) < len(domain.labels[level - 1])
        assert ((np.diff(row) == 0) | (np.diff(domain.ancestors[level - 1]) != 0)).all()
    if domain.positions is not None:
        assert (np.diff(domain.positions) > 0).all()
    assert isinstance(domain, Domain)
    assert domain.released(1).n_unique() == len(domain.labels[1])


HUGE = [2**63 + 1, 2**63, 2**63 + 2048, 2**63 + 10, 7]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series(HUGE, dtype=pl.UInt64),
        pl.Series([-number for number in HUGE], dtype=pl.Int128),
        pl.Series([Decimal(number) for number in HUGE], dtype=pl.Decimal(38, 0)),
        pl.Series([Decimal(number) / 100 for number in HUGE], dtype=pl.Decimal(38, 2)),
        pl.Series([str(number) for number in HUGE]),
        pl.Series([f"{number}{'0' * 30}" for number in HUGE] + ["1.5"]),
        pl.Series([1, 2, 1000, 3]).cast(pl.Datetime("ns")),
    ],
    ids=["unsigned", "long", "decimal", "cents", "text", "longer text", "nanoseconds"],
)
@pytest.mark.parametrize("hierarchy", [None, "flat", "ranges([100])"])
def test_values_that_are_equal_as_floats_stay_apart(values, hierarchy, check_domain):
    if values.dtype == pl.Datetime and hierarchy == "ranges([100])":
        hierarchy = "dates(day)"
    domain = check_domain(make_domain("id", values, hierarchy))
    assert len(set(domain.codes.tolist())) == len(values)
    assert domain.released(0).equals(values)
    assert len(set(domain.labels[0])) == len(domain.labels[0])


def test_spellings_of_one_huge_number_share_a_leaf(check_domain):
    values = pl.Series([f"{2**63}", f"+{2**63}", f"{2**63 + 1}", "1.5", "1.50"])
    domain = check_domain(make_domain("id", values, "flat"))
    assert domain.codes[0] == domain.codes[1] != domain.codes[2]
    assert domain.codes[3] == domain.codes[4]


def test_many_values_that_are_equal_as_floats_get_an_automatic_hierarchy(check_domain):
    values = pl.Series([2**63 + number for number in range(50)], dtype=pl.UInt64)
    domain = check_domain(make_domain("id", values, rows=[1 + number % 3 for number in range(50)]))
    assert len(set(domain.codes.tolist())) == 50
