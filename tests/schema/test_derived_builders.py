"""Ages, rounded numbers, top and bottom coding, compared with plain Python on random columns."""

import datetime
import math
import random

import polars as pl
import pytest

import discreet as dc


def test_ages_are_those_of_the_calendar():
    draw = random.Random(1)
    for _ in range(200):
        on = datetime.date(2020, 1, 1) + datetime.timedelta(days=draw.randrange(2000))
        born = {on - datetime.timedelta(days=draw.randrange(40_000)) for _ in range(6)}
        rows = dc.age(5, 10, on=on).build(pl.Series(sorted(born))).rows()
        for day, years, five, ten, _ in rows:
            birth = datetime.date.fromisoformat(day)
            whole = on.year - birth.year - ((on.month, on.day) < (birth.month, birth.day))
            assert years == str(whole)
            assert five == f"[{whole // 5 * 5}, {whole // 5 * 5 + 5})"
            assert ten == f"[{whole // 10 * 10}, {whole // 10 * 10 + 10})"


def test_rounding_is_half_up_and_nests():
    draw = random.Random(2)
    for _ in range(200):
        values = {draw.randrange(-3000, 3000) for _ in range(8)}
        for value, ten, hundred, _ in dc.rounding(10, 100).build(pl.Series(sorted(values))).rows():
            rounded = math.floor((int(value) + 5) / 10) * 10
            assert int(ten) == rounded
            assert int(hundred) == math.floor((rounded + 50) / 100) * 100
    assert dc.rounding(0.5).build(pl.Series([0.2, 0.25, 1.8])).levels[1] == ["0", "0.5", "2"]


def test_ends_are_coded():
    draw = random.Random(3)
    for _ in range(200):
        values = sorted({draw.randrange(0, 120) for _ in range(8)})
        for value, high, higher, _ in dc.top(90, 60).build(pl.Series(values)).rows():
            assert high == (">= 90" if int(value) >= 90 else value)
            assert higher == (">= 60" if int(value) >= 60 else value)
        for value, low, _ in dc.bottom(17.5).build(pl.Series(values)).rows():
            assert low == ("<= 17.5" if int(value) <= 17.5 else value)
    days = pl.Series(["2024-01-01", "2026-05-05"])
    assert dc.top("2025-01-01").build(days).levels[1] == ["2024-01-01", ">= 2025-01-01"]


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "local"])
def test_releases_keep_their_promises(scheme: str):
    draw = random.Random(4)
    table = pl.DataFrame(
        {
            "born": [datetime.date(1940 + draw.randrange(60), draw.randint(1, 12), 1) for _ in range(200)],
            "income": [draw.choice([100, 149, 150, 151, 1000, 1049]) for _ in range(200)],
            "visits": [draw.randrange(12) for _ in range(200)],
        }
    )
    made = dc.anonymize(
        table,
        quasi_identifiers={"born": "age(10, on=2026-01-01)", "income": "rounding(10, 100)", "visits": "top(9, 5)"},
        privacy="k(4)",
        scheme=scheme,
        suppression="budget(10%)" if scheme != "local" else "none",
        time_limit=5,
    )
    assert made.audit.passed
    assert made.frame.group_by(table.columns).len()["len"].min() >= 4


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ("age", "age needs the day on which ages are counted, as in age\\(on=2026-01-01\\)"),
        ("age(on=May)", "age needs the day on which ages are counted"),
        ("age(5, 12, on=2026-01-01)", "12 is not a multiple of 5"),
        ("age(0.5, on=2026-01-01)", "The widths of age are whole numbers of years above 1"),
        ("rounding", "rounding takes steps above 0, as in rounding\\(10, 100\\)"),
        ("rounding(0)", "rounding takes steps above 0"),
        ("rounding(ten)", "rounding takes steps above 0"),
        ("rounding(10, 25)", "25 is not a multiple of 10"),
        ("top", "top needs a limit, as in top\\(90, 80\\)"),
        ("top(80, 90)", "The limits of 'top\\(80, 90\\)' must fall"),
        ("bottom(20, 17)", "The limits of 'bottom\\(20, 17\\)' must rise"),
        ("top(much)", "The limits of top are numbers or dates"),
        ("top(90, 2020-01-01)", "mixes numbers and dates"),
    ],
)
def test_forms_that_are_wrong(form: str, sentence: str):
    with pytest.raises(dc.UsageError, match=sentence):
        dc.anonymize(pl.DataFrame({"a": [1, 1]}), quasi_identifiers={"a": form}, privacy="k(2)")


@pytest.mark.parametrize(
    ("form", "values", "error", "sentence"),
    [
        ("age(on=2026-01-01)", ["2026-01-02"], dc.DataError, "Column 'a' has dates after 2026-01-01"),
        ("age(on=2026-01-01)", ["soon"], dc.DataError, "'a'"),
        ("rounding(10)", ["2026-01-02"], dc.UsageError, "Column 'a' holds dates, which are not rounded"),
        ("top(90)", ["2026-01-02"], dc.UsageError, "Column 'a' holds dates; give the limit as a date"),
        ("top(90)", ["many"], dc.DataError, "'a'"),
    ],
)
def test_columns_they_do_not_fit(form: str, values: list[str], error: type, sentence: str):
    with pytest.raises(error, match=sentence) as caught:
        dc.anonymize(pl.DataFrame({"a": values * 2}), quasi_identifiers={"a": form}, privacy="k(2)")
    assert caught.value.column == "a"
    assert values[0] not in caught.value.message
