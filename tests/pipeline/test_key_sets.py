"""Promises about key sets end to end: releases, audits of files and databases, reports, policies and fronts."""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter

import polars as pl
import pytest

import discreet as dc
from discreet.errors import InfeasibleError, UnsupportedCombinationError, UsageError

FOUR = {"province": "flat", "activity": "flat", "sex": "flat", "income": "flat"}


def montero_serrano():
    """The table of sdcMicro#352, for which kAnon(k = 3, combs = 2) leaves two rows with province 2 and activity A."""
    return pl.DataFrame(
        {
            "province": [2, 3, 3, 2, 4, 2, 4, 2, 2, 3],
            "activity": list("AAAABBBBAA"),
            "sex": ["Female", "Female", "Female", "Male", "Female", "Female", "Female", "Female", "Male", "Male"],
            "income": ["high", "low", "low", "low", "high", "medium", "high", "low", "high", "medium"],
        }
    ).with_columns(pl.all().cast(pl.String))


def smallest(rows, columns):
    return min(Counter(tuple(row[name] for name in columns) for row in rows).values(), default=0)


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "local"])
@pytest.mark.parametrize("suppression", ["none", "budget(3)", "class-records"])
def test_suppression_for_one_pair_does_not_break_another(scheme, suppression):
    release = dc.anonymize(
        montero_serrano(),
        quasi_identifiers=FOUR,
        privacy="k(3, any=2)",
        scheme=scheme,
        suppression=suppression,
        seed=1,
    )
    rows = release.frame.to_dicts()
    for pair in itertools.combinations(FOUR, 2):
        assert not rows or smallest(rows, pair) >= 3, pair
    assert release.audit.passed
    assert len(release.audit.checks[0].key_sets) == 6


def test_a_row_goes_with_those_it_needs():
    """A chain: the lone row takes its neighbours along, one key set after the other."""
    table = pl.DataFrame({"a": list("xxxyyyzz"), "b": list("11223344"), "c": list("ppqqqqrr")})
    quasi = {name: f"groups([{', '.join(sorted(set(table[name])))}])" for name in table.columns}
    options = {
        "quasi_identifiers": quasi,
        "privacy": ["k(3, on=[a])", "k(2, on=[b, c])"],
        "max_levels": {"a": 0, "b": 0},
    }
    release = dc.anonymize(table, suppression="class-records", seed=1, **options)
    # z has two rows; they go, and take nobody along. Row 3 (y, 2) needs row 4 (x, 2), and so on.
    rows = release.frame.to_dicts()
    assert {row["a"] for row in rows} == {"x", "y"}
    assert smallest(rows, ["a"]) >= 3
    assert smallest(rows, ["b", "c"]) >= 2
    with pytest.raises(InfeasibleError):
        dc.anonymize(table, suppression="budget(1)", seed=1, **options)


def people(n=300):
    return pl.DataFrame(
        {
            "age": [20 + i * 7 % 40 for i in range(n)],
            "zip": [f"{1000 + i * 37 % 23 * 10 + i % 7}" for i in range(n)],
            "sex": ["fm"[i * i % 2] for i in range(n)],
            "ill": [("flu", "cold", "none")[i % 3] for i in range(n)],
        }
    )


QUASI = {"age": "intervals(5, 10, 20)", "zip": "mask(digits=4)", "sex": "flat"}
OPTIONS = {"quasi_identifiers": QUASI, "suppression": "budget(10%)", "keep": ["ill"], "seed": 1}


@pytest.fixture(scope="module")
def release():
    return dc.anonymize(people(), privacy=["k(4, any=2)", dc.KAnonymity(3, on=["age", "sex"])], **OPTIONS)


def test_a_release_says_what_is_protected_and_what_is_not(release):
    assert release.status == "optimal"
    assert release.job["privacy"] == ["k(4, any=2)", "k(3, on=[age, sex])"]
    assert release.audit.smallest_class < 4
    finding = next(each for each in release.verdict.findings if "combinations" in each.sentence)
    assert finding.level == "caution"
    assert "Only some combinations of columns are protected: k(4, any=2), k(3, on=[age, sex])." in finding.sentence
    assert f"the smallest class has {release.audit.smallest_class} row" in finding.sentence
    assert not any(
        each.level == "danger" and "share their released quasi-identifiers" in each.sentence
        for each in release.verdict.findings
    )
    assert "Only some combinations" in release.risk().summary()
    assert "(3 key sets; least by" in release.audit.summary()


def test_a_promise_for_all_columns_leaves_nothing_open():
    whole = dc.anonymize(people(), privacy=["k(5)", "k(20, on=[sex])"], **OPTIONS)
    assert not any("combinations" in sentence for sentence in whole.verdict.sentences)
    assert whole.audit.smallest_class >= 5


def test_the_report_lists_the_key_sets(release, tmp_path):
    release.report(tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text()
    assert "k(3, on=[age, sex])" in text
    assert "2 values]" not in text  # names of columns are no values of the data
    assert "Key sets were grouped one by one" in text
    assert "age and zip" in text
    assert "Whoever knows any 2 of the quasi-identifiers of a person, and no more, finds at least 4" in text


def test_implied_key_sets_change_nothing():
    plain = dc.anonymize(people(), privacy="k(4)", **OPTIONS)
    beside = dc.anonymize(people(), privacy=["k(4)", "k(4, any=2)", "k(3, on=[age])"], **OPTIONS)
    assert beside.cost == plain.cost
    assert beside.levels == plain.levels
    assert dc.anonymize(people(), privacy="k(4, any=3)", **OPTIONS).levels == plain.levels


@pytest.mark.parametrize("kind", ["csv", "parquet", "sqlite", "duckdb"])
def test_audits_group_each_key_set_by_itself(release, tmp_path, kind):
    frame = release.frame
    columns = list(QUASI)
    if kind == "csv":
        frame.write_csv(data := tmp_path / "safe.csv")
    elif kind == "parquet":
        frame.write_parquet(data := tmp_path / "safe.parquet")
    elif kind == "sqlite":
        data = f"sqlite:///{tmp_path / 'safe.db'}?table=safe"
        with sqlite3.connect(tmp_path / "safe.db") as connection:
            connection.execute("CREATE TABLE safe (age TEXT, zip TEXT, sex TEXT, ill TEXT)")
            rows = frame.select("age", "zip", "sex", "ill").cast(pl.String).rows()
            connection.executemany("INSERT INTO safe VALUES (?, ?, ?, ?)", rows)
        connection.close()
    else:
        duckdb = pytest.importorskip("duckdb")
        data = duckdb.sql("SELECT * FROM frame")
    audit = dc.audit(data, quasi_identifiers=columns, privacy=["k(4, any=2)", "k(3, on=[age, sex])", "k(200, any=1)"])
    assert [check.passed for check in audit.checks] == [True, True, False]
    rows = frame.to_dicts()
    for check in audit.checks:
        for found in check.key_sets:
            assert found.reached == smallest(rows, found.columns)
    assert audit.to_dict()["checks"][0]["key_sets"][0] == {
        "columns": ["age", "zip"],
        "classes": frame.select("age", "zip").n_unique(),
        "reached": audit.checks[0].key_sets[0].reached,
    }


def test_certificates_and_policies_know_key_sets(tmp_path):
    release = dc.anonymize(people(), privacy="k(4, any=2)", output=tmp_path / "safe.csv", **OPTIONS)
    release.certificate(tmp_path / "safe.json")
    assert dc.verify(tmp_path / "safe.csv", tmp_path / "safe.json").passed
    policy = {"quasi_identifiers": list(QUASI), "privacy": ["k(4, any=2)"]}
    assert dc.check(tmp_path / "safe.csv", policy=policy).passed
    assert not dc.check(tmp_path / "safe.csv", policy={**policy, "privacy": ["k(90, any=2)"]}).passed


def test_a_front_keeps_key_sets():
    options = {**OPTIONS, "suppression": "budget(5%)"}
    options.pop("seed")
    front = dc.pareto(people(), privacy=["k", "k(8, any=2)"], **options)
    assert all(point.proven for point in front.points)
    assert all(point.levels for point in front.points)
    best = dc.anonymize(people(), privacy=["k(8, any=2)"], seed=1, **options)
    assert front.points[0].loss == pytest.approx(best.cost)


@pytest.mark.parametrize(
    ("privacy", "error", "words"),
    [
        ("k(3, on=[agee])", UsageError, "did you mean 'age'?"),
        ("k(3, any=4)", UsageError, "any 4 of 3 quasi-identifiers"),
        ("k(3, any=0)", UsageError, "at least 1"),
        ("k(3, on=[])", UsageError, "names the columns of a key set"),
        ("k(3, on=[age, age])", UsageError, "'age' twice"),
        ("k(3, on=[age], any=2)", UsageError, "leave one out"),
    ],
)
def test_wrong_key_sets_are_refused_in_one_sentence(privacy, error, words):
    with pytest.raises(error, match=words.replace("?", r"\?")):
        dc.anonymize(people(30), privacy=privacy, **OPTIONS)
    with pytest.raises(error):
        dc.audit(people(30), quasi_identifiers=list(QUASI), privacy=privacy)


def test_what_cannot_keep_key_sets_is_refused():
    with pytest.raises(UnsupportedCombinationError, match="promises about key sets"):
        dc.anonymize(people(), privacy="k(3, any=2)", solver="incognito", **{**OPTIONS, "suppression": "none"})
    options = {**OPTIONS, "suppression": "violating-records", "sensitive": ["ill"], "keep": []}
    with pytest.raises(UnsupportedCombinationError, match="key sets of k\\(3, any=2\\)"):
        dc.anonymize(people(), privacy=["k(3, any=2)", "l+(0.5, ill)"], **options)


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "local"])
def test_a_release_drawn_near_the_best_keeps_key_sets(scheme):
    release = dc.anonymize(people(80), privacy="k(4, any=2)", solver="robust(epsilon=0.2)", scheme=scheme, **OPTIONS)
    assert release.audit.passed


def test_what_a_mapping_recodes_keeps_key_sets(release, tmp_path):
    release.mapping(tmp_path / "mapping.json")
    again = dc.apply_mapping(tmp_path / "mapping.json", people(200), keep=["ill"], broken="suppress")
    rows = again.frame.to_dicts()
    assert again.audit.passed
    assert all(smallest(rows, pair) >= 4 for pair in itertools.combinations(QUASI, 2))


def test_equal_seeds_give_equal_local_releases():
    made = [dc.anonymize(people(120), privacy="k(3, any=2)", scheme="local", **OPTIONS).frame for _ in range(2)]
    assert made[0].equals(made[1])


def test_text_forms():
    model = dc.KAnonymity(3, on=["zip code", "age"])
    assert model.text == "k(3, on=[zip code, age])"
    assert dc.KAnonymity(3, any=2).text == "k(3, any=2)"
    from discreet.problem import PRIVACY

    assert PRIVACY.make(model.text) == model
    assert PRIVACY.make("k(3, on=age)").on == ("age",)
    assert hash(model) == hash(PRIVACY.make(model.text))
