"""Risk: every measure is that of the plain definition, on random tables and on worked examples."""

from __future__ import annotations

import itertools
import json
import math
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
import naive
import naive_risk as plain
from discreet.errors import DataError, MissingColumnError, UsageError
from discreet.evaluate import risk
from discreet.evaluate.risk.records import expected_risk

QUASI = ("age", "sex", "zip", "job")


def random_rows(seed, most=40):
    rng = random.Random(seed)
    kinds = [rng.randrange(1, 9) for _ in QUASI]
    rows = [
        {
            **{
                name: None if rng.random() < 0.08 else f"{name}{rng.randrange(kind)}"
                for name, kind in zip(QUASI, kinds, strict=True)
            },
            "ill": rng.choice("aaabbcd"),
            "pay": rng.randrange(4),
        }
        for _ in range(rng.randrange(2, most))
    ]
    return rows, list(QUASI[: rng.randrange(1, 5)])


def framed(rows):
    return pl.DataFrame(rows, schema={**dict.fromkeys(QUASI, pl.String), "ill": pl.String, "pay": pl.Int64})


@pytest.mark.parametrize("seed", range(40))
def test_records(seed):
    rows, columns = random_rows(seed)
    found = plain.risks(rows, columns)
    report = risk(framed(rows), quasi_identifiers=columns, threshold=0.3)
    expected = (min(found), sum(found) / len(rows), max(found), sum(one > 0.3 for one in found))
    prosecutor = report.prosecutor
    assert (prosecutor.lowest, prosecutor.average, prosecutor.highest, prosecutor.at_risk) == pytest.approx(expected)
    assert prosecutor.share_at_risk == pytest.approx(expected[3] / len(rows))
    assert prosecutor.success_rate == pytest.approx(report.marketer) == pytest.approx(expected[1])
    assert report.journalist is None
    assert report.uniques == len(plain.unique_rows(rows, columns))
    sizes = [len(members) for members in plain.classes(rows, columns).values()]
    assert report.sizes.rows() == [
        (size, sizes.count(size), size * sizes.count(size), pytest.approx(size * sizes.count(size) / len(rows)))
        for size in sorted(set(sizes))
    ]


@pytest.mark.parametrize("seed", range(30))
def test_journalist_with_a_table(seed):
    people, columns = random_rows(seed, 120)
    rows = random.Random(seed).sample(people, max(1, len(people) // 3))
    report = risk(framed(rows), quasi_identifiers=columns, population=framed(people), threshold=0.25)
    found = plain.population_risks(rows, people, columns)
    journalist = report.journalist
    assert (journalist.lowest, journalist.average, journalist.highest) == pytest.approx(
        (min(found), sum(found) / len(rows), max(found))
    )
    assert journalist.at_risk == sum(one > 0.25 for one in found)
    assert report.marketer == pytest.approx(journalist.average)
    inside = [1 / min(found[row] for row in members) for members in plain.classes(rows, columns).values()]
    assert journalist.success_rate == pytest.approx(max(journalist.average, len(inside) / sum(inside)))
    unique = [row for row in plain.unique_rows(rows, columns) if found[row] == 1]
    assert report.population.uniques == len(unique)
    assert report.population.outside == 0
    assert report.population.size == len(people)


def test_a_population_that_is_less_coarse():
    people = pl.DataFrame({"age": [20, 21, 25, 31, 33, 38], "sex": ["f", "m", "f", "m", "m", "f"]})
    data = pl.DataFrame({"age": ["[20, 30)", "[30, 40)"], "sex": ["f", "*"]})
    report = risk(data, quasi_identifiers=["age", "sex"], population=people)
    assert (report.journalist.highest, report.journalist.lowest) == pytest.approx((1 / 2, 1 / 3))


def test_a_population_without_the_people():
    people = pl.DataFrame({"age": [20, 20, 25]})
    data = pl.DataFrame({"age": [20, 31, 31]})
    report = risk(data, quasi_identifiers=["age"], population=people)
    assert report.population.outside == 2
    assert report.journalist.highest == 0.5
    assert "has too few people for 2 rows" in report.summary()


@pytest.mark.parametrize("fraction", [0.01, 0.2, 0.5, 0.7, 0.95])
def test_expected_risk(fraction):
    sizes = np.array([1, 2, 3, 7, 63, 64, 65, 90])
    assert expected_risk(sizes, fraction) == pytest.approx([plain.expected_risk(f, fraction) for f in sizes.tolist()])
    assert expected_risk(sizes, 1.0) == pytest.approx(1 / sizes)


def test_expected_risk_with_a_fraction_for_each_class():
    sizes, fractions = np.array([1, 1, 2, 7, 70, 3]), np.array([0.1, 0.7, 0.02, 0.3, 0.2, 1.0])
    want = [plain.expected_risk(f, p) for f, p in zip(sizes.tolist()[:-1], fractions.tolist()[:-1], strict=True)]
    assert expected_risk(sizes, fractions) == pytest.approx([*want, 1 / 3])


def test_weights_tell_the_population():
    """The journalist's risk is that of sdcMicro: what is expected of 1 / F by the weights of the class."""
    data = pl.DataFrame({"age": [20, 20, 30, 40, 40, 40], "w": [2.5, 7.5, 8.0, 0.5, 0.5, 0.5]})
    report = risk(data, quasi_identifiers="age", weights="w", threshold=0.2)
    each = [*[plain.expected_risk(2, 2 / 10)] * 2, plain.expected_risk(1, 1 / 8), *[1 / 3] * 3]
    assert report.journalist.highest == pytest.approx(max(each))
    assert report.journalist.average == report.marketer == pytest.approx(sum(each) / 6)
    assert report.journalist.at_risk == sum(one > 0.2 for one in each)
    assert report.population.size == 10 + 8 + 3
    release = dc.anonymize(data, quasi_identifiers={"age": "intervals(20)"}, weights="w", privacy="k(2)")
    assert risk(release).journalist is not None
    with pytest.raises(UsageError, match="either a table or estimated by weights"):
        risk(data, quasi_identifiers="age", weights="w", population=50)
    with pytest.raises(DataError, match="in 1 row; correct them"):
        risk(data.with_columns(w=pl.Series([1.0, None, 1, 1, 1, 1])), quasi_identifiers="age", weights="w")


def test_expected_risk_of_large_classes_is_the_scaled_one():
    assert expected_risk(np.array([100_000]), 0.1)[0] == pytest.approx(0.1 / 100_000, rel=1e-4)


@pytest.mark.parametrize("seed", range(30))
def test_columns(seed):
    rows, columns = random_rows(seed)
    depth = 1 + seed % 3
    report = risk(framed(rows), quasi_identifiers=columns, depth=depth)
    settings = {row["columns"]: row for row in report.columns.combinations.to_dicts()}
    reached = min(depth, len(columns))
    expected = [some for size in range(1, reached + 1) for some in itertools.combinations(columns, size)]
    for some in {*expected, tuple(columns)}:
        row = settings.pop(", ".join(some))
        assert row["distinction"] == pytest.approx(plain.distinction(rows, some))
        assert row["separation"] == pytest.approx(plain.separation(rows, some))
        assert row["unique"] == len(plain.unique_rows(rows, some))
        assert row["share"] == pytest.approx(row["unique"] / len(rows))
        assert row["minimal"] == (len(plain.minimal_rows(rows, some)) if some in expected else None)
    assert not settings
    assert report.columns.depth == reached
    assert report.columns.complete
    assert sorted(report.columns.keys) == sorted(plain.keys(rows, columns, reached))
    lost = {column: len(plain.needed(rows, columns, column)) for column in columns}
    assert dict(report.columns.needed.select("column", "unique").iter_rows()) == lost


def test_distinction_and_separation_of_a_worked_example():
    """The table ARX checks its own figures with."""
    data = pl.DataFrame(
        {
            "age": [20, 30, 40, 20, 40],
            "sex": ["Female", "Female", "Female", "Male", "Male"],
            "state": ["CA", "CA", "TX", "NY", "CA"],
        }
    )
    report = risk(data, quasi_identifiers=["sex", "age", "state"])
    settings = {
        row[0]: row[1:] for row in report.columns.combinations.select("columns", "distinction", "separation").rows()
    }
    assert settings == {
        "sex": pytest.approx((0.4, 0.6)),
        "state": pytest.approx((0.6, 0.7)),
        "age": pytest.approx((0.6, 0.8)),
        "sex, state": pytest.approx((0.8, 0.9)),
        "age, state": pytest.approx((1.0, 1.0)),
        "sex, age": pytest.approx((1.0, 1.0)),
        "sex, age, state": pytest.approx((1.0, 1.0)),
    }
    assert report.columns.keys == (("sex", "age"), ("age", "state"))


def test_too_many_combinations(monkeypatch):
    monkeypatch.setattr(sys.modules["discreet.evaluate.risk.combinations"], "_BUDGET", 100)
    rows, _ = random_rows(3)
    report = risk(framed(rows), quasi_identifiers=list(QUASI))
    assert report.columns.depth == 1
    assert not report.columns.complete
    assert set(report.columns.combinations["size"]) == {1, 4}


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("secret", ["ill", "pay"])
def test_disclosure(seed, secret):
    rows, columns = random_rows(seed)
    kept = random.Random(seed).sample(rows, max(1, len(rows) * 2 // 3))
    for table, reference in ((rows, None), (kept, rows)):
        original = None if reference is None else framed(reference)
        disclosed = risk(framed(table), quasi_identifiers=columns, sensitive=[secret], original=original).disclosure[
            secret
        ]
        histograms = plain.histograms(table, columns, secret)
        compared = reference or table
        assert disclosed.values == len(plain.whole(table, secret))
        assert disclosed.confidence == pytest.approx(plain.confidence(table, columns, secret))
        assert disclosed.average_confidence == pytest.approx(plain.average_confidence(table, columns, secret))
        assert disclosed.distinct_l == min(map(len, histograms))
        assert disclosed.entropy_l == pytest.approx(min(math.exp(naive.entropy(counts)) for counts in histograms))
        assert disclosed.recursive_c2 == pytest.approx(plain.recursive_c(table, columns, secret, 2))
        assert disclosed.recursive_c3 == pytest.approx(plain.recursive_c(table, columns, secret, 3))
        whole = dict(sorted(plain.whole(compared, secret).items()))
        for distance, reached in (("equal", disclosed.t_equal), ("ordered", disclosed.t_ordered)):
            assert reached == pytest.approx(max(naive.emd(counts, whole, distance) for counts in histograms))
        assert disclosed.beta == pytest.approx(plain.beta(table, columns, secret, compared))
        assert disclosed.enhanced_beta == pytest.approx(plain.enhanced_beta(table, columns, secret, compared))
        assert disclosed.delta == pytest.approx(plain.delta(table, columns, secret, compared))
        assert disclosed.t_hierarchical is None


def test_values_made_unknown_are_no_values():
    data = pl.DataFrame({"sex": ["f", "f", "f", "m"], "ill": ["a", "*", "b", "*"]})
    disclosed = risk(data, quasi_identifiers=["sex"], sensitive=["ill"], unknown="*").disclosure["ill"]
    assert disclosed.values == 2
    assert disclosed.confidence == pytest.approx(1 / 3)
    assert disclosed.distinct_l == 2


def test_a_hierarchy_of_a_sensitive_column():
    data = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["flu", "ulcer", "cold", "gastritis"]})
    organs = dc.groups({"lung": ["flu", "cold"], "stomach": ["ulcer", "gastritis"]})
    disclosed = risk(data, quasi_identifiers=["sex"], sensitive={"ill": organs}).disclosure["ill"]
    assert disclosed.t_hierarchical == 0.25
    assert disclosed.t_equal == 0.5


def test_what_cannot_be_reached_is_none_in_json():
    data = pl.DataFrame({"sex": ["f", "m"], "ill": ["a", "b"]})
    facts = risk(data, quasi_identifiers="sex", sensitive="ill").to_dict()
    assert facts["disclosure"]["ill"]["recursive_c2"] is None
    assert facts["disclosure"]["ill"]["enhanced_beta"] is None
    json.dumps(facts, allow_nan=False)


def test_any_kind_of_table(tmp_path: Path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    people = dc.sample(300, seed=3)
    path = tmp_path / "people.csv"
    people.write_csv(path)
    people.write_parquet(tmp_path / "people.parquet")
    tables = [people, people.lazy(), people.to_pandas(), people.to_arrow(), path, str(tmp_path / "people.parquet")]
    assert isinstance(tables[2], pandas.DataFrame)
    asked = {"quasi_identifiers": ["sex", "zip", "education"], "sensitive": ["diagnosis"]}
    data = [risk(table, population=table, **asked).to_dict() for table in tables]
    assert all(other == data[0] for other in data[1:])
    asked["quasi_identifiers"] = ["birth_date", "sex"]
    assert risk(path, **asked).to_dict()["prosecutor"] == risk(people, **asked).to_dict()["prosecutor"]


def test_a_release_knows_its_columns():
    people = dc.sample(400, seed=4).select("birth_date", "zip", "diagnosis")
    hierarchies = {"birth_date": dc.dates("year", "decade"), "zip": dc.mask(digits=5)}
    release = dc.anonymize(people, quasi_identifiers=hierarchies, sensitive=["diagnosis"], privacy="k(4)")
    report = risk(release, population=people, original=people)
    assert report.quasi_identifiers == ("birth_date", "zip")
    assert report.prosecutor.highest <= 0.25
    assert report.journalist.highest == report.prosecutor.highest
    assert report.before.highest == 1.0
    assert report.to_frame()["attacker"].to_list() == ["prosecutor", "journalist", "prosecutor before"]
    assert set(report.disclosure) == {"diagnosis"}


def test_text():
    rows, columns = random_rows(5)
    report = risk(framed(rows), quasi_identifiers=columns, sensitive=["ill"], population=1_000)
    assert str(report) == report.summary()
    assert f"{len(rows)} rows" in report.summary()
    assert "population of 1,000" in report.summary()
    assert repr(report).startswith("RiskReport(rows=")


def test_no_value_of_the_data_is_told():
    secret = ["Zebulon Quark", "Ophelia Vex", "Ignatz Unruh"] * 10
    data = pl.DataFrame({"name": secret, "city": ["Xanadu", "Avalon", "Ithaka"] * 10, "ill": ["a"] * 30})
    report = risk(data, quasi_identifiers=["name", "city"], sensitive="ill", population=90)
    facts = report.summary() + json.dumps(report.to_dict()) + repr(report)
    assert not any(value in facts for value in (*secret, "Xanadu", "Avalon", "Ithaka"))


def test_errors():
    data = pl.DataFrame({"age": [1, 2, 3], "ill": ["a", "b", "b"]})
    with pytest.raises(UsageError, match="no quasi-identifier"):
        risk(data)
    with pytest.raises(MissingColumnError, match="agge"):
        risk(data, quasi_identifiers=["agge"])
    with pytest.raises(UsageError, match="threshold"):
        risk(data, quasi_identifiers="age", threshold=0)
    with pytest.raises(UsageError, match="depth"):
        risk(data, quasi_identifiers="age", depth=0)
    with pytest.raises(UsageError, match="at least the 3 people"):
        risk(data, quasi_identifiers="age", population=2)
    with pytest.raises(UsageError, match="at least the 3 people"):
        risk(data, quasi_identifiers="age", population=3.5)
    with pytest.raises(UsageError, match="number, not text"):
        risk(data, quasi_identifiers="age", population="1000")
    with pytest.raises(MissingColumnError):
        risk(data, quasi_identifiers="age", population=pl.DataFrame({"sex": ["f"]}))
    with pytest.raises(DataError, match="no rows"):
        risk(data.clear(), quasi_identifiers="age")
    with pytest.raises(UsageError, match="both"):
        risk(data, quasi_identifiers=["age"], sensitive=["age"])


def test_a_comparison_with_suppressed_people_says_that_it_is_for_the_owner() -> None:
    table = pl.DataFrame({"age": [1, 1, 1, 9], "ill": ["u", "v", "u", "w"]})
    options: dict[str, Any] = {"quasi_identifiers": {"age": "intervals(1, 2)"}, "sensitive": ["ill"], "seed": 1}
    release = dc.anonymize(table, **options, privacy="k(3)", suppression="budget(1)")
    assert release.suppressed == 1
    assert any("owner of the data alone" in note for note in release.risk().notes)
    assert "owner of the data alone" in release.risk().summary()
    assert not release.risk(only_released=True).notes
    assert not dc.anonymize(table, **options, privacy="k(1)").risk().notes
    hidden = dc.anonymize(
        table, **options, privacy="distinct-l(3, ill)", suppression="class-values", max_levels={"age": 0}
    )
    assert any("owner of the data alone" in note for note in hidden.risk().notes) == bool(hidden.suppressed_values)
