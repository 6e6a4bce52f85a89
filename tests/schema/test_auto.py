from __future__ import annotations

import random
from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from discreet import auto
from discreet.schema import Type, make_domain


def names(values, rows=None):
    """The names of the levels between the values and the root."""
    return make_domain("x", pl.Series(values), rows=rows).labels[1:-1]


def test_said_to_be_automatic_only_if_nothing_was_given():
    assert make_domain("x", pl.Series([1, 2])).automatic
    assert make_domain("x", pl.Series([1, 2])).text == "auto"
    assert not make_domain("x", pl.Series([1, 2]), "auto").automatic


@pytest.mark.parametrize("values", [[1, 2, 3], list("abcdefgh"), [0.5, 1e9], [date(2024, 1, 1), date(1950, 1, 1)]])
def test_few_values_are_flat(values):
    assert names(values) == []


def test_even_numbers_get_round_nested_intervals(check_domain):
    domain = check_domain(make_domain("age", pl.Series(range(17, 91))))
    assert [level[:2] for level in domain.labels[1:-1]] == [
        ["[15, 20)", "[20, 25)"],
        ["[10, 20)", "[20, 30)"],
        ["[0, 20)", "[20, 40)"],
    ]


def test_skewed_numbers_get_intervals_with_about_equally_many_rows(check_domain):
    rng = np.random.default_rng(1)
    values = np.unique(np.round(rng.lognormal(8, 2, 3000), 2))
    domain = check_domain(make_domain("income", pl.Series(values)))
    assert [len(level) for level in domain.labels[1:]] == [32, 16, 8, 4, 2, 1]
    sizes = np.bincount(domain.ancestors[1])
    assert sizes.max() <= 3 * sizes.min()
    assert max(len(name) for name in domain.labels[1]) <= len("[1000000, 2000000)")


def test_one_value_with_most_rows_does_not_swallow_the_intervals(check_domain):
    values = [0, *range(100, 10_000, 100)]
    domain = check_domain(make_domain("gain", pl.Series(values), rows=[100_000] + [5] * 99))
    assert len(domain.labels[1]) > 8
    assert domain.released(1)[0] != domain.released(1)[2]


def test_codes_lose_characters_from_the_right(check_domain):
    zips = [f"{number:05}" for number in range(501, 99_000, 97)]
    domain = check_domain(make_domain("zip", pl.Series(zips)))
    assert domain.released(1)[0] == "00***"
    assert domain.labels[-2] == [f"{digit}****" for digit in range(10)]
    phones = [f"+49 30 {number:07}" for number in range(0, 9_999_999, 9_999)]
    assert all(name.startswith("+49 30 ") and name.endswith("*") for name in names(phones)[0])
    icd = ["E11.9", "E11.65", "E10.1", "I10", "I11.0", "I25.10", "J45", "J45.909", "J18.9", "J18.1"]
    assert names(icd)[-1] == ["E******", "I******", "J******"]


def test_long_codes_get_a_handful_of_levels(check_domain):
    domain = check_domain(make_domain("code", pl.Series([f"{number:012b}" for number in range(4096)])))
    assert domain.height == 6
    assert [len(level) for level in domain.labels[1:]] == [2048, 512, 64, 8, 2, 1]


def test_values_that_share_a_word_are_grouped_by_it(check_domain):
    work = [
        "State-gov",
        "Local-gov",
        "Federal-gov",
        "Self-inc",
        "Not-inc",
        "Private",
        "Never",
        "Student",
        "Retired",
    ]
    domain = check_domain(make_domain("work", pl.Series(work)))
    assert domain.released(1).to_list() == ["*-gov"] * 3 + ["*-inc"] * 2 + work[5:]
    wine = [
        "red Rioja",
        "red Merlot",
        "red Malbec",
        "white Riesling",
        "white Silvaner",
        "Port",
        "Sherry",
        "rose X",
        "Y",
    ]
    assert make_domain("wine", pl.Series(wine)).released(1).to_list()[:5] == ["red *"] * 3 + ["white *"] * 2


def test_rare_values_go_together_first(check_domain):
    values = [f"country{chr(65 + number)}" for number in range(20)]
    rows = [2**number for number in range(20)]
    domain = check_domain(make_domain("country", pl.Series(values), rows=rows))
    kept = [sum(name in values for name in level) for level in domain.labels[:-1]]
    assert kept == sorted(kept, reverse=True)
    assert domain.released(1)[0] == f"{{rare: {20 - kept[1]} values}}"
    assert domain.released(domain.height - 1)[19] == values[19]


def test_words_without_frequencies_are_grouped_by_how_they_begin(check_domain):
    rng = random.Random(2)
    words = sorted({"".join(rng.choices("abcdefgh", k=rng.randint(3, 9))) for _ in range(3000)})
    domain = check_domain(make_domain("word", pl.Series(words)))
    for level in range(1, domain.height):
        for word, shown in zip(words, domain.released(level), strict=True):
            assert word.startswith(shown.removesuffix("*"))


@pytest.mark.parametrize(
    ("days", "units"),
    [
        (20, []),
        (100, ["2024-01"]),
        (1000, ["2024-01", "2024-Q1", "2024"]),
        (9000, ["2024-01", "2024-Q1", "2024", "2020s"]),
    ],
)
def test_calendar_units_that_fit_the_span(days, units, check_domain):
    values = [date(2024, 1, 1) + timedelta(days=day) for day in range(days)]
    found = names(values)
    assert [level[0] for level in found] == (units if days != 100 else ["2024-01", "2024-Q1"])
    check_domain(make_domain("day", pl.Series(values)))
    timed = [datetime(2024, 1, 1) + timedelta(hours=hour) for hour in range(100)]
    assert names(timed) == [["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"]]


def test_ordered_text_is_not_regrouped():
    domain = make_domain("x", pl.Series(list("abcdefghijklmnop")), type="ordered", rows=list(range(1, 17)))
    assert domain.labels == [list("abcdefghijklmnop"), ["*"]]


def test_any_column_gets_a_sound_hierarchy(check_domain):
    rng = random.Random(9)
    alphabet = "ab1 -.*0é/"
    for _ in range(400):
        count = rng.randint(1, 60)
        kind = rng.randrange(8)
        if kind == 0:
            values = [rng.randint(-(10 ** rng.randint(1, 18)), 10 ** rng.randint(1, 18)) for _ in range(count)]
        elif kind == 1:
            values = [rng.lognormvariate(0, 3) * rng.choice([-1, 1]) for _ in range(count)]
        elif kind == 2:
            values = [rng.uniform(0, 1) * 10 ** rng.randint(-300, 300) for _ in range(count)]
        elif kind == 3:
            values = [1e15 + rng.randint(0, 1000) / 8 for _ in range(count)]
        elif kind == 4:
            values = [date(1900, 1, 1) + timedelta(days=rng.randint(0, 10 ** rng.randint(1, 5))) for _ in range(count)]
        elif kind == 5:
            values = [f"{rng.randint(0, 10**6):0{rng.randint(1, 7)}}" for _ in range(count)]
        else:
            values = ["".join(rng.choices(alphabet, k=rng.randint(0, 8))) for _ in range(count)]
        values = list(dict.fromkeys(values))
        rows = rng.choice([None, [rng.randint(1, 1000) for _ in values]])
        if rng.random() < 0.3:
            values.append(None)
            rows = rows and [*rows, 3]
        domain = check_domain(make_domain("x", pl.Series(values), rows=rows))
        assert domain.height <= 8
        for below, above in zip(domain.labels, domain.labels[1:], strict=False):
            assert len(above) < len(below) or len(below) == 1 or domain.type is not Type.TEXT


def test_build_makes_the_same_tree():
    values = pl.Series(range(17, 91))
    assert auto().build(values, Type.INTEGER, "age").labels == tuple(
        map(tuple, make_domain("age", values, "auto").labels)
    )


def test_build_counts_rows_too():
    values = pl.Series([*(f"country{chr(65 + number)}" for number in range(20)), None])
    rows = np.array([2**number for number in range(21)])
    domain = make_domain("country", values, rows=rows)
    expected = tuple(tuple(name for name in level if name is not None) for level in domain.labels)
    assert auto().build(values, name="country", rows=rows).labels == expected


def test_a_value_that_looks_like_the_name_of_a_group(check_domain):
    words = ["ale", "gin", "rum", "stout", "mead", "port", "cider", "lager", "bock", "sake"]
    odd = ["{rare: 7 values}", "{{rare: 7 values}}", "{rare: 10 values}", "{rare: 9 values}"]
    rows = [*range(30, 20, -1), *range(60, 56, -1)]
    domain = check_domain(make_domain("drink", pl.Series(words + odd), rows=rows))
    above = {label for level in domain.labels[1:] for label in level} - {"*"}
    assert above - set(words + odd) == {"{{{rare: 7 values}}}", "{rare: 11 values}"}
    for level in range(1, domain.height):
        assert domain.released(level).n_unique() == len(set(domain.ancestors[level].tolist()))
