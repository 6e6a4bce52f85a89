"""Releases that count people: every class has enough of them, and the audit counts them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
import naive
from discreet.engines import counting
from discreet.errors import (
    AuditError,
    DataError,
    DiscreetError,
    InfeasibleError,
    MissingColumnError,
    UsageError,
)
from people import ILLNESSES, QUASI, crowds, make, released_rows, visits

MODELS = [
    "k(2)",
    "k(3)",
    "distinct-l(2, s)",
    "entropy-l(1.8, s)",
    "recursive-cl(2, 2, s)",
    "l+(0.85, s)",
    "alpha-k(0.9, 1, s)",
    "t(0.4, s, equal)",
    "t(0.3, s, ordered)",
    "beta(1.5, s)",
    "delta-disclosure(1.2, s)",
]


@pytest.mark.parametrize("model", MODELS)
def test_the_audit_counts_people_as_sets_do(model: str) -> None:
    verdicts = set()
    for seed in range(60):
        rng = random.Random(f"{model} {seed}")
        table = visits(seed, rng.randint(3, 30), rng.randint(1, 12), missing=rng.choice((0, 0.3)))
        table = table.with_columns(age=pl.col("age") // rng.choice((3, 10, 30, 100)))
        table = table.with_columns(sex=pl.lit("x")) if rng.random() < 0.3 else table
        if table["s"].null_count() == table.height:
            continue
        rows = table.to_dicts()
        whole = naive.crowd(naive.Table(rows, {}), range(len(rows)), "pid", "s")
        ok = naive.crowd_ok(model, [[value, "*"] for value in ILLNESSES if value in whole.counts], whole)
        found = dc.audit(table, quasi_identifiers=["age", "sex"], sensitive={"s": None}, privacy=[model], person="pid")
        counted = crowds(rows, "pid")
        assert found.passed == all(map(ok, counted)), (seed, model, rows)
        assert found.people == len(whole.people)
        assert found.smallest_class == min(len(each.people) for each in counted)
        assert found.rows == len(rows)
        verdicts.add(found.passed)
    assert verdicts == {True, False}, "both verdicts should occur"


@pytest.mark.parametrize("suppression", ["none", "class-records", "budget(0.3)", "budget(4)", "budget(0.4, of=rows)"])
@pytest.mark.parametrize("unit", ["pid", "hid"])
def test_every_class_of_a_release_has_enough_people(suppression: str, unit: str, tmp_path: Path) -> None:
    done = 0
    for seed in range(12):
        table = visits(seed, 40, 18, constant=seed % 3 == 0, missing=0.2 * (seed % 2))
        job: dict[str, Any] = {"person": "pid"} if unit == "pid" else {"person": "pid", "household": "hid"}
        if seed % 4 == 1:
            job["output"] = tmp_path / f"{seed}.{random.Random(seed).choice(['csv', 'parquet', 'jsonl'])}"
        try:
            release = dc.anonymize(
                table,
                identifiers=[] if "household" in job else ["hid"],
                quasi_identifiers=QUASI,
                sensitive="s",
                privacy=["k(3)", "distinct-l(2, s)"],
                suppression=suppression,
                seed=seed,
                **job,
            )
        except InfeasibleError:
            continue
        done += 1
        rows = released_rows(release, table)
        assert all(row["s"] == row["secret"] for row in rows)
        key = "person" if unit == "pid" else "house"
        for crowd in crowds(rows, key):
            assert len(crowd.people) >= 3
            assert len(crowd.counts) >= 2
        left = {row[key] for row in rows}
        gone = set(table[unit]) - left
        assert release.people == table[unit].n_unique()
        assert release.audit.people == len(left)
        assert release.suppressed_people == len(gone)
        assert release.suppressed == table.height - len(rows)
        if suppression.startswith("budget") and "rows" not in suppression:
            whole = table.filter(~pl.col(unit).is_in(list(gone))).height
            assert len(rows) == whole, "suppressed people leave with all their rows, others with none"
            assert release.people_losing_rows == len(gone)
    assert done >= 4


def test_hidden_values_are_those_of_people() -> None:
    """Somebody with a hidden and a shown value in one class is no reason to see nothing hidden there."""
    overlapping = 0
    for seed in range(40):
        rng = random.Random(f"hidden {seed}")
        table = visits(seed, rng.randint(4, 30), rng.randint(2, 9), missing=rng.choice((0, 0.2)))
        table = table.with_columns(
            age=pl.col("age") // 30, s=pl.when(pl.col("s") == ILLNESSES[0]).then(pl.lit("*")).otherwise("s")
        )
        rows = table.to_dicts()
        occurring = {row["s"] for row in rows} - {"*", None}
        classes: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in rows:
            classes.setdefault((row["age"], row["sex"]), []).append(row)
        people, possible = [], []
        for members in classes.values():
            hidden = {row["pid"] for row in members if row["s"] == "*"}
            shown = {row["s"] for row in members} - {"*", None}
            left = len(occurring - shown) or bool(shown)
            if hidden and left:
                people.append(len(hidden))
                possible.append(int(left))
                overlapping += any(row["pid"] in hidden and row["s"] in shown for row in members)
        given: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "person": "pid", "unknown": "*"}
        audited = dc.audit(table, **given, sensitive="s", privacy="l+(0.9, s)").hidden.get("s")
        measured = dc.evaluate.risk(table, **given, sensitive="s", depth=1).disclosure["s"].hidden
        for found in (audited, measured):
            if not people:
                assert found is None
                continue
            assert found is not None
            assert (found.values, found.classes, found.fewest) == (sum(people), len(people), min(possible)), seed
            assert found.known == sum(n for n, left in zip(people, possible, strict=True) if left == 1)
    assert overlapping > 10


def test_people_are_numbered_by_the_codes_of_their_rows_alone() -> None:
    table = visits(3, 200, 40, missing=0.2)
    others = {f"QZPerson{number:04d}": f"other{(number * 37) % 101:03d}" for number in range(40)}
    again = table.sample(fraction=1, shuffle=True, seed=1).with_columns(pl.col("pid").replace_strict(others))
    first, second = (_counted(each) for each in (table, again))
    assert first.people is not None
    assert second.people is not None
    for name in ("offsets", "members", "rows"):
        assert np.array_equal(getattr(first.people, name), getattr(second.people, name)), name
    for name in ("offsets", "people", "values", "totals"):
        mine, theirs = (getattr(each.people.sensitive["s"], name) for each in (first, second))
        assert np.array_equal(mine, theirs), name


def _counted(table: pl.DataFrame) -> Any:
    from discreet.engines import count, open_source
    from discreet.schema import Schema

    source = open_source(table)
    source.number_people(["pid"])
    schema = Schema.make(source.columns, ["hid"], QUASI, "s").with_owners("pid")
    return count(source, schema).table


def test_counts_of_people_are_those_of_sets() -> None:
    for seed in range(40):
        table = visits(seed, 30, 9, constant=seed % 2 == 0, missing=0.2)
        found = _counted(table)
        rows = table.to_dicts()
        pairs = {(row["age"], row["sex"], row["pid"]) for row in rows}
        if len({row["pid"] for row in rows}) == len(rows):
            assert found.people is None
            continue
        assert found.people.members.size == len(pairs)
        assert found.people.count == len({row["pid"] for row in rows})
        assert found.people.rows.sum() == len(rows)
        assert found.people.constant == (len(pairs) == found.people.count)
        triples = {(row["age"], row["sex"], row["pid"], row["s"]) for row in rows if row["s"] is not None}
        values = found.people.sensitive["s"]
        assert values.people.size == len(triples)
        having = {value: {row["pid"] for row in rows if row["s"] == value} for value in ILLNESSES}
        assert sorted(values.totals.tolist()) == sorted(len(who) for who in having.values() if who)
        for start, end in zip(found.people.offsets[:-1], found.people.offsets[1:], strict=True):
            assert (np.diff(found.people.members[start:end]) > 0).all()


def test_a_search_that_counts_rows_does_not_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(counting.CountedPeople, "own_rows", True)
    table = pl.DataFrame({"pid": ["a"] * 5 + ["b"] * 5, "age": [30] * 5 + [40] * 5})
    with pytest.raises(AuditError, match=r"k\(5\) broken"):
        dc.anonymize(
            table, quasi_identifiers={"age": "flat"}, privacy="k(5)", person="pid", output=tmp_path / "safe.csv"
        )
    assert not list(tmp_path.iterdir())


def test_other_rows_than_were_counted_do_not_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from discreet.pipeline import publish

    read = publish.read_people

    def one_row_less(data: Any, *others: Any) -> Any:
        rows = data.collect() if isinstance(data, pl.LazyFrame) else data
        return read(rows.head(-1), *others)

    monkeypatch.setattr(publish, "read_people", one_row_less)
    with pytest.raises(AuditError, match="other rows"):
        make(output=tmp_path / "safe.csv")
    assert not list(tmp_path.iterdir())


ERRORS: dict[str, tuple[dict[str, Any], type[DiscreetError], str]] = {
    "missing column": ({"person": "pidd"}, MissingColumnError, "did you mean"),
    "quasi-identifier": ({"person": "age"}, UsageError, "quasi-identifier and the person"),
    "sensitive": ({"person": "s"}, UsageError, "sensitive and the person"),
    "both": ({"household": "pid"}, UsageError, "the person and the household"),
    "kept": ({"keep": ["pid"]}, UsageError, "cannot be kept"),
    "several": ({"person": ["pid", "hid"]}, UsageError, "one column"),
    "pseudonyms of nobody": ({"person": None, "identifiers": ["pid", "hid"], "pseudonyms": True}, UsageError, "person"),
    "weights": ({"person": "pid", "weights": "pid"}, UsageError, "choose one role"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    changes, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        make(**changes)


def test_missing_people_are_counted_and_never_named() -> None:
    table = visits(1).with_columns(pl.when(pl.int_range(pl.len()) > 2).then("pid").alias("pid"))
    with pytest.raises(DataError, match="no value in 3 rows") as error:
        make(table)
    assert "QZ" not in str(error.value)
    with pytest.raises(DataError, match="no value in 3 rows"):
        dc.audit(table, quasi_identifiers=["age"], privacy="k(1)", person="pid")
    with pytest.raises(DataError, match="no value in 3 rows"):
        dc.evaluate.risk(table, quasi_identifiers=["age"], person="pid")


@pytest.mark.parametrize("kind", ["polars", "category", "lazy", "pandas", "csv", "duckdb", "sqlite"])
@pytest.mark.parametrize("column", ["pid", "hid"])
def test_texts_that_mean_a_missing_value_do_not_join_people(kind: str, column: str, tmp_path: Path) -> None:
    def marked(rows: int) -> Any:
        first = pl.int_range(pl.len()) < rows
        table = visits(1).with_columns(pl.when(first).then(pl.lit("NA")).otherwise(column).alias(column))
        if kind == "category":
            return table.with_columns(pl.col(column).cast(pl.Categorical))
        if kind in ("csv", "duckdb"):
            table.write_csv(tmp_path / f"{rows}.csv")
            return tmp_path / f"{rows}.csv"
        if kind == "sqlite":
            with closing(sqlite3.connect(tmp_path / f"{rows}.db")) as connection, connection:
                connection.execute("DROP TABLE IF EXISTS visits")
                connection.execute("CREATE TABLE visits (pid TEXT, hid TEXT, age INTEGER, sex TEXT, s TEXT)")
                connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", table.rows())
            return f"sqlite:///{tmp_path}/{rows}.db?table=visits"
        return {"lazy": table.lazy, "pandas": table.to_pandas}.get(kind, lambda: table)()

    job: dict[str, Any] = {"engine": "duckdb"} if kind == "duckdb" else {}
    job |= {"person": "pid"} if column == "pid" else {"household": "hid", "person": "pid", "identifiers": []}
    text = "has the text NA in 3 rows, which would count as one person"
    with pytest.raises(DataError, match=text) as error:
        make(marked(3), **job)
    assert "QZ" not in str(error.value)
    assert make(marked(1), **job).audit.passed  # one row is of one person, whoever it is
    if kind != "duckdb":
        for measure in (
            lambda: dc.audit(marked(3), quasi_identifiers=["age"], privacy="k(1)", person=column),
            lambda: dc.evaluate.risk(marked(3), quasi_identifiers=["age"], person=column),
            lambda: dc.find(marked(3), {"sex": "f"}, person=column),
        ):
            with pytest.raises(DataError, match=text):
                measure()


def test_texts_that_may_mean_a_missing_value_are_noted_for_the_owner() -> None:
    first = pl.int_range(pl.len()) < 3
    marked = [pl.when(first).then(pl.lit("NA")).otherwise(name).alias(name) for name in ("sex", "s")]
    release = make(visits(1, 120, 40).with_columns(marked))
    for name in ("sex", "s"):
        note = next(note for note in release.notes if note.startswith(f"3 cells of column '{name}' are the text NA"))
        assert "--na NA" in note
        assert note in release.summary(exact=True)
        assert note not in release.summary()  # counts of the original table stay with the owner


def test_an_identifier_may_be_the_person() -> None:
    release = make(identifiers=["pid", "hid"])
    assert release.frame.columns == ["age", "sex", "s"]


def test_a_person_per_row_is_a_row() -> None:
    table = visits(1, 60).with_columns(pid=pl.int_range(pl.len()))
    by_person = make(table)
    by_row = make(table, person=None, identifiers=["hid", "pid"])
    assert by_person.cost == by_row.cost
    assert by_person.audit.people == by_person.audit.rows == by_row.audit.rows
    assert any("every row" in note.lower() for note in by_person.notes)


@pytest.mark.parametrize("count", [dc.anonymize, dc.pareto])
def test_all_searches_take_people(count: Callable[..., Any]) -> None:
    job = {"privacy": "k"} if count is dc.pareto else {"privacy": "k(3)"}
    found = count(
        visits(4, 90, 30, constant=True), identifiers="hid", quasi_identifiers=QUASI, sensitive="s", person="pid", **job
    )
    assert found is not None


def test_drawn_rows_are_no_people_even_if_each_drawn_row_is_another_persons():
    table = pl.DataFrame({"age": [30, 40, 30, 40] * 10, "who": [f"p{i}" for i in range(40)]})
    with pytest.raises(dc.errors.UnsupportedCombinationError, match="rows are drawn one by one"):
        dc.anonymize(table, quasi_identifiers=["age"], privacy="dp(2, 0.01)", person="who")


@pytest.mark.parametrize("privacy", ["k(3, any=2)", "k(3, on=[age, sex])"])
def test_key_sets_of_all_columns_hold_in_groups_of_people(privacy: str) -> None:
    visits = dc.sample_visits(120, seed=3).select("patient_id", "age", "sex")
    release = dc.anonymize(
        visits,
        person="patient_id",
        quasi_identifiers={"age": "intervals(5, 20)", "sex": "flat"},
        privacy=privacy,
        scheme="local",
        pseudonyms=True,
    )
    assert release.frame.group_by("age", "sex").agg(pl.col("patient_id").n_unique())["patient_id"].min() >= 3
