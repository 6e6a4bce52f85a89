"""The same table gives the same release, with the same numbers, on every engine and by every way to release."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import discreet as dc
from databases import GLOBAL, QUASI
from discreet.engines import open_table
from discreet.errors import DataError, MissingColumnError, OutputError, UsageError
from lazy import ENGINES, duckdb, make_relation, rows_of, spark

pytestmark = pytest.mark.usefixtures("columns_kept")

L_PLUS = {**GLOBAL, "privacy": "l+(0.5, disease)", "scheme": "subtree"}
LOCAL = {"quasi_identifiers": [*QUASI], "sensitive": "disease", "scheme": "local", "cost": "NCP", "seed": 1}

QUICK = ("duckdb", "ibis-duckdb", "ibis-sqlite")
"""Engines that start at once."""

JOBS: dict[str, dict[str, Any]] = {
    "budget": {**GLOBAL, "privacy": ["k(4)", "distinct-l(2, disease)"], "suppression": "budget(0.3)"},
    "missing": {
        **GLOBAL,
        "identifiers": "name",
        "privacy": "k(3)",
        "suppression": "budget(0.5)",
        "missing": "suppress",
        "max_levels": {"age": 1, "zip": 1},
    },
    "everything": {**GLOBAL, "privacy": "k(120)", "suppression": "budget(1.0)", "max_levels": dict.fromkeys(QUASI, 0)},
    "subtree": {**GLOBAL, "privacy": "k(4)", "scheme": "subtree", "suppression": "budget(0.1)"},
    "partitions": {
        **GLOBAL,
        "privacy": "k(8)",
        "scheme": {"age": "ordered", "sex": "set"},
        "solver": "partitions",
    },
    "class-records": {**L_PLUS, "suppression": "class-records"},
    "violating-records": {**L_PLUS, "suppression": "violating-records", "cost": "CM"},
    "violating-records, dearest": {**L_PLUS, "suppression": "violating-records", "cost": "HDM"},
    "class-values": {**L_PLUS, "suppression": "class-values"},
    "violating-values": {**L_PLUS, "suppression": "violating-values"},
    "local": {**LOCAL, "privacy": "k(4)"},
    "local, diverse": {**LOCAL, "privacy": ["k(3)", "distinct-l(2, disease)"]},
    "local, middle": {**LOCAL, "privacy": "k(4)", "scheme": "local(show=mean)"},
}


def people(n: int = 150, seed: int = 5) -> pl.DataFrame:
    """Nulls and equal rows, in an order of all columns: the order of the rows is that of their values."""
    rng = np.random.default_rng(seed)

    def pick(values: list[Any], shares: list[float]) -> list[Any]:
        return [values[place] for place in rng.choice(len(values), n, p=shares)]

    table = pl.DataFrame(
        {
            "name": pick(["Ann", "Bob", "Cy", None], [0.3, 0.3, 0.3, 0.1]),
            "age": pick([21, 24, 33, 57, None], [0.3, 0.3, 0.2, 0.1, 0.1]),
            "disease": pick(["flu", "hiv", "ache", None], [0.45, 0.25, 0.2, 0.1]),
            "zip": pick(["011", "012", "020"], [0.4, 0.4, 0.2]),
            "sex": pick(["m", "f", None], [0.5, 0.4, 0.1]),
            "dose": pick([0.0, 1.5, None], [0.5, 0.4, 0.1]),
            "income": pick(["low", "high"], [0.6, 0.4]),
            "note": pick(["x", 'say "y"', None], [0.4, 0.4, 0.2]),
        },
        schema_overrides={"dose": pl.Float64},
    )
    return table.sort(table.columns)


def odd_numbers(table: pl.DataFrame) -> pl.DataFrame:
    """Write some zeros as negative ones, and what is missing as NaN."""
    dose, even = pl.col("dose"), pl.int_range(pl.len()) % 2 == 0
    zero = pl.when(even).then(-0.0).otherwise(0.0)
    return table.with_columns(dose=pl.when(dose == 0.0).then(zero).otherwise(dose.fill_null(float("nan"))))


def multiset(frame: Any) -> Counter[tuple[Any, ...]]:
    return Counter(rows_of(frame).rows())


def figures(release: dc.Release) -> dict[str, Any]:
    facts = release.to_dict()
    for key in ("seconds", "stats", "trace", "versions", "notes"):
        facts.pop(key, None)
    return facts


_expected: dict[str, dc.Release] = {}


def expected(job: str) -> dc.Release:
    if job not in _expected:
        _expected[job] = dc.anonymize(people(), **JOBS[job])
    return _expected[job]


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("job", JOBS)
def test_same_release_on_every_engine(kind: str, job: str) -> None:
    data = make_relation(kind, people())
    release = dc.anonymize(data, **JOBS[job])
    assert type(release.frame) is type(data)
    assert figures(release) == figures(expected(job))
    assert multiset(release.frame) == multiset(expected(job).frame)
    assert list(nw.from_native(release.frame).columns) == expected(job).frame.columns


def test_the_jobs_do_what_they_should_show() -> None:
    """Every way to leave something out is used, and rows of one tuple are shared between groups."""
    assert all(
        expected(job).suppressed for job in ("budget", "missing", "everything", "class-records", "violating-records")
    )
    assert all(expected(job).suppressed_values for job in ("class-values", "violating-values"))
    assert expected("missing").dropped_missing
    table = people()
    both = table.select(*QUASI).hstack([s.alias(f"to {s.name}") for s in expected("local").frame.select(*QUASI)])
    shared = both.group_by([*QUASI]).agg(pl.struct(pl.exclude(*QUASI)).n_unique().alias("ways"))["ways"].max()
    assert shared > 1


@pytest.mark.parametrize("kind", QUICK)
def test_nan_and_negative_zero(kind: str) -> None:
    table = odd_numbers(people())
    settings = {**JOBS["budget"], "max_levels": {"dose": 0}}
    release, wanted = dc.anonymize(make_relation(kind, table), **settings), dc.anonymize(table, **settings)
    assert figures(release) == figures(wanted)
    rows = rows_of(release.frame)
    assert Counter(rows.rows()) == multiset(wanted.frame)
    assert rows["dose"].null_count()
    assert not rows["dose"].is_nan().any()
    assert not (1 / rows["dose"] < 0).any()


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("suppression", ["budget(0.2)", "class-records"])
def test_only_classes_with_missing_values_are_left_out(kind: str, suppression: str) -> None:
    """Of the values of a column that tell suppressed classes apart, missing is the only one."""
    row = pl.int_range(60)
    table = pl.select(
        zip=row % 4,
        sex=pl.when(row % 10 == 3).then(None).otherwise(pl.when(row % 2 == 0).then(pl.lit("f")).otherwise(pl.lit("m"))),
        disease=pl.when(row % 3 == 0).then(pl.lit("flu")).when(row % 3 == 1).then(pl.lit("ache")),
        row=row,
    )
    settings = {"quasi_identifiers": {"zip": "flat()", "sex": "flat()"}, "max_levels": {"sex": 0, "zip": 0}}
    settings |= {"sensitive": "disease", "privacy": "k(6)", "suppression": suppression, "scheme": "full-domain"}
    release, wanted = dc.anonymize(make_relation(kind, table), **settings), dc.anonymize(table, **settings)
    assert wanted.suppressed == 6
    assert figures(release) == figures(wanted)
    assert multiset(release.frame) == multiset(wanted.frame)


TIES = {
    "class-records": [*QUASI, "disease", "income"],
    "violating-records": [*QUASI, "disease", "income"],
    "violating-records, dearest": [*QUASI, "disease"],
    "local": [*QUASI],
    "local, diverse": [*QUASI, "disease"],
}
"""Jobs in which it may have to be decided which of several rows that are alike is left out, or goes to which group; and
the columns in which they are alike."""


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("job", TIES)
def test_engines_decide_by_values_and_not_by_the_order_of_rows(kind: str, job: str) -> None:
    mixed = people().sample(fraction=1, shuffle=True, seed=2)
    release = dc.anonymize(make_relation(kind, mixed), **JOBS[job])
    assert figures(release) == figures(expected(job))
    assert multiset(release.frame) == multiset(expected(job).frame)


@pytest.mark.parametrize("job", TIES)
@pytest.mark.parametrize("lazy", [False, True])
def test_in_memory_the_order_of_rows_decides_about_other_columns_only(job: str, lazy: bool) -> None:
    """Of the columns the job looks at the same is released in any order."""
    counted = TIES[job]
    for seed in range(3):
        mixed = people().sample(fraction=1, shuffle=True, seed=seed)
        release = dc.anonymize(mixed.lazy() if lazy else mixed, **JOBS[job])
        assert figures(release)["cost"] == figures(expected(job))["cost"]
        assert multiset(rows_of(release.frame).select(counted)) == multiset(expected(job).frame.select(counted))


TYPED = {
    "text": pl.Series(["x", "y", "z"]),
    "large whole": pl.Series([2**60 + 1, 2**60, 2**60 + 2]),
    "small whole": pl.Series([1, 2, 3], dtype=pl.Int8),
    "unsigned": pl.Series([2**64 - 1, 2**64 - 2, 5], dtype=pl.UInt64),
    "single": pl.Series([1.5, 0.1, -0.25], dtype=pl.Float32),
    "exact": pl.Series(["1.50", "2.25", "0.10"]).cast(pl.Decimal(10, 2)),
    "date": pl.Series(["2020-01-01", "1970-01-01", "1899-12-31"]).str.to_date(),
    "clock": pl.Series(["2020-01-01 01:02:03.004", "1970-01-01 00:00:00.0", "1999-01-01 12:00:00.0"]).str.to_datetime(),
    "zone": pl.Series(["2020-01-01", "1970-01-01", "1999-01-01"]).str.to_datetime(time_zone="UTC"),
    "truth": pl.Series([True, False, True]),
    "enum": pl.Series(["x", "y", "z"], dtype=pl.Enum(["z", "y", "x", "w"])),
}


@pytest.mark.parametrize("type_", TYPED)
@pytest.mark.parametrize("kind", ["duckdb", "ibis-duckdb"])
def test_every_type_of_column(kind: str, type_: str) -> None:
    values = TYPED[type_].gather([0, 0, 0, 1, 1, 1, 2]).extend_constant(None, 2).alias("q")
    table = pl.DataFrame({"q": values, "s": values, "p": ["a"] * 9, "row": range(9)})
    settings: dict[str, Any] = {"quasi_identifiers": {"q": "flat()", "p": "flat()"}, "suppression": "budget(1)"}
    jobs = (
        {**settings, "privacy": "k(2)"},
        {**settings, "privacy": "k(2)", "min_levels": {"q": 1}},
        {**settings, "privacy": "l+(0.6, s)", "sensitive": "s", "suppression": "violating-values", "scheme": "subtree"},
        {"quasi_identifiers": ["q", "p"], "privacy": "k(3)", "scheme": "local", "cost": "NCP", "seed": 1},
    )
    for job in jobs:
        release, wanted = dc.anonymize(make_relation(kind, table), **job), dc.anonymize(table, **job)
        assert figures(release) == figures(wanted)
        assert multiset(release.frame) == multiset(wanted.frame)


def test_types_only_duckdb_has() -> None:
    connection = duckdb().connect()
    kinds = ("hugeint", "uuid", "enum_", "interval_")
    query = """
        SELECT (i % 3 + 170141183460469231)::HUGEINT AS hugeint, md5((i % 3)::VARCHAR)::UUID AS uuid,
          (['a', 'b', 'c'][i % 3 + 1])::ENUM('a', 'b', 'c', 'd') AS enum_, to_days((i % 3)::INTEGER) AS interval_,
          [i] AS list_, MAP {'a': i} AS map_, i AS row
        FROM range(8) AS t(i)
    """
    for kind in kinds:
        relation = connection.sql(query)
        job = {"quasi_identifiers": {kind: "flat()"}, "privacy": "k(3)", "suppression": "budget(2)"}
        release = dc.anonymize(relation, **job, max_levels={kind: 0})
        assert (release.suppressed, release.classes) == (2, 2), kind
        assert sorted(release.frame.project("row").fetchall()) == [(i,) for i in (0, 1, 3, 4, 6, 7)]
        kept = str(relation.project(kind).types[0])
        assert str(release.frame.project(kind).types[0]) == ("VARCHAR" if kind == "enum_" else kept)
        local = dc.anonymize(relation, quasi_identifiers=[kind], privacy="k(3)", scheme="local", seed=1)
        assert len(local.frame.fetchall()) == 8
    with pytest.raises(DataError, match="'list_' holds lists"):
        dc.anonymize(connection.sql(query), quasi_identifiers="list_", privacy="k(2)")


NAMES = [
    "select",
    "a.b",
    'say "x"',
    "back`tick",
    "part",
    "group",
    "value",
    "c0",
    "c1",
    "place",
    "rows",
    "main",
    "über",
    " ",
]


@pytest.mark.parametrize("kind", ["duckdb", "ibis-duckdb", "spark"])
def test_odd_names_of_columns(kind: str) -> None:
    table = people().select([*QUASI, "disease", "income", "name", "note", *(pl.lit(0).alias(n) for n in NAMES[8:])])
    table = table.rename(dict(zip(table.columns, NAMES[:8], strict=False))).sort(pl.all())
    quasi = dict(zip(NAMES, QUASI.values(), strict=False))
    jobs = [{"quasi_identifiers": quasi, "sensitive": NAMES[4], "privacy": f"l+(0.5, {NAMES[4]})", "scheme": "subtree"}]
    jobs[0] |= {"suppression": "violating-records"}
    jobs += [{"quasi_identifiers": [*quasi], "privacy": "k(4)", "scheme": "local", "seed": 1}] * (kind != "spark")
    for job in jobs:
        release = dc.anonymize(make_relation(kind, table), **job)
        assert multiset(release.frame) == multiset(dc.anonymize(table, **job).frame)
        assert list(release.frame.columns) == table.columns


@pytest.mark.parametrize("kind", ["duckdb", "spark"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_of_a_file_that_differ_in_capitals_alone(kind: str, suffix: str, tmp_path: Path) -> None:
    table, path = pl.DataFrame({"age": [1, 1], "AGE": [2, 3]}), tmp_path / f"people.{suffix}"
    table.write_csv(path) if suffix == "csv" else table.write_parquet(path)
    settings: dict[str, Any] = {"engine": kind, "quasi_identifiers": "age", "privacy": "k(2)"}
    if kind == "spark":
        settings["spark"] = spark()
    with pytest.raises(DataError, match=f"'age' and 'AGE' have the same name to {kind}; rename one"):
        dc.anonymize(path, **settings)
    assert dc.anonymize(path, **{**settings, "engine": "polars", "spark": None}).frame["AGE"].n_unique() == 2


def test_frames_of_spark_with_columns_that_differ_in_capitals_alone() -> None:
    """A session may be set to distinguish them."""
    session = spark()
    frame = session.createDataFrame(pl.DataFrame({"age": [1, 1, 2], "AGE": ["x", "y", "z"]}).to_arrow())
    settings: dict[str, Any] = {"quasi_identifiers": {"age": "flat()"}, "privacy": "k(2)", "suppression": "budget(1)"}
    with pytest.raises(DataError, match="'age' and 'AGE' have the same name to spark; rename one"):
        dc.anonymize(frame, **settings)
    session.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert sorted(dc.anonymize(frame, **settings).frame.toArrow().to_pylist(), key=str) == [
            {"age": 1, "AGE": "x"},
            {"age": 1, "AGE": "y"},
        ]
    finally:
        session.conf.unset("spark.sql.caseSensitive")


def test_names_that_differ_in_capitals_alone() -> None:
    relation = duckdb().connect().sql("SELECT 1 AS age, 2 AS AGE")
    with pytest.raises(DataError, match="'age' and 'AGE' have the same name to duckdb; rename one"):
        dc.anonymize(relation, quasi_identifiers="age", privacy="k(1)")
    with pytest.raises(DataError, match="'a' and 'a'"):
        dc.audit(duckdb().connect().sql("SELECT 1 AS a, 2 AS a"), quasi_identifiers="a", privacy="k(1)")


@pytest.mark.parametrize("kind", QUICK)
def test_audit_front_and_queries(kind: str) -> None:
    table = people()
    data = make_relation(kind, table)
    settings = {"quasi_identifiers": [*QUASI], "privacy": ["k(2)", "t(0.3, disease)"], "sensitive": "disease"}
    assert dc.audit(data, **settings) == dc.audit(table, **settings)
    twice = pl.concat([table, table.filter(pl.col("disease") == "flu")])
    assert dc.audit(data, **settings, reference=make_relation(kind, twice)) == dc.audit(
        table, **settings, reference=twice
    )
    front, wanted = dc.pareto(data, quasi_identifiers=QUASI), dc.pareto(table, quasi_identifiers=QUASI)
    assert [point.to_dict() for point in front] == [point.to_dict() for point in wanted]
    release = front.release(5)
    assert multiset(release.frame) == multiset(wanted.release(5).frame)
    asked = {"quasi_identifiers": [*QUASI], "count": 30, "dimensions": 2, "seed": 1}
    mine = dc.evaluate.queries(data, release, **asked)
    assert mine.frame.equals(dc.evaluate.queries(table, wanted.release(5), **asked).frame)


@pytest.mark.parametrize("kind", QUICK)
@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_into_a_file(kind: str, suffix: str, tmp_path: Path) -> None:
    data, output = make_relation(kind, people()), tmp_path / f"safe.{suffix}"
    release = dc.anonymize(data, **JOBS["budget"], output=output)
    assert type(release.frame) is type(data)
    assert (
        figures(dc.anonymize(people(), **JOBS["budget"], output=tmp_path / f"other.{suffix}"))["audit"]
        == (figures(release)["audit"])
    )
    written = open_table(output).scan().collect()
    assert Counter(written.rows()) == Counter(open_table(tmp_path / f"other.{suffix}").scan().collect().rows())
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"other.{suffix}", f"safe.{suffix}"]
    release.write(tmp_path / f"again.{suffix}")
    assert Counter(open_table(tmp_path / f"again.{suffix}").scan().collect().rows()) == Counter(written.rows())


def test_an_engine_does_not_overwrite_what_it_reads(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    relation = duckdb().connect().sql(f"SELECT * FROM '{tmp_path}/*.parquet' WHERE true")
    with pytest.raises(OutputError, match="is the input itself"):
        dc.anonymize(relation, **JOBS["budget"], output=tmp_path / "people.parquet")


def test_narwhals_comes_out_as_narwhals() -> None:
    release = dc.anonymize(nw.from_native(make_relation("duckdb", people())), **JOBS["budget"])
    assert isinstance(release.frame, nw.LazyFrame)
    assert multiset(release.frame) == multiset(expected("budget").frame)


def test_what_a_broken_query_says_has_no_values() -> None:
    relation = duckdb().connect().sql("SELECT CAST('secret' || i AS INTEGER) AS age FROM range(3) AS t(i)")
    with pytest.raises(DataError, match="The DuckDB relation cannot be run") as error:
        dc.anonymize(relation, quasi_identifiers="age", privacy="k(2)")
    assert "secret" not in str(error.value)
    assert error.value.__cause__ is None
    connection = duckdb().connect(config={"python_enable_replacements": "false"})
    closed = connection.sql("SELECT i % 6 AS age FROM range(12) AS t(i)")
    with pytest.raises(UsageError, match="python_enable_replacements"):
        dc.anonymize(closed, quasi_identifiers={"age": "intervals(2)"}, privacy="k(4)")


def test_a_missing_column_is_named() -> None:
    with pytest.raises(MissingColumnError, match="'aeg'"):
        dc.audit(make_relation("duckdb", people()), quasi_identifiers="aeg", privacy="k(1)")


@pytest.mark.parametrize("kind", QUICK)
@pytest.mark.parametrize("job", ["budget", "violating-records", "local, diverse"])
def test_no_row_comes_to_python(kind: str, job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is fetched are counts and a sample, what is sent says what becomes of values: both stay small."""
    from discreet.engines.column_profile import FETCHED
    from discreet.engines.relation.relation import Relation

    moved: list[int] = []
    collect, upload = nw.LazyFrame.collect, Relation.upload

    def fetched(self: Any, *arguments: Any) -> Any:
        found = collect(self, *arguments)
        moved.append(found.shape[0])
        return found

    def sent(self: Any, table: pl.DataFrame) -> Any:
        moved.append(table.height)
        return upload(self, table)

    table = pl.concat([people()] * 30)
    data = make_relation(kind, table)
    monkeypatch.setattr(nw.LazyFrame, "collect", fetched)
    monkeypatch.setattr(Relation, "upload", sent)
    release = dc.anonymize(data, **{**JOBS[job], "time_limit": 5})
    assert release.n == 4500
    assert table.select(*QUASI, "disease", "income").n_unique() < 150
    assert max(moved) <= FETCHED + 1
    assert sum(number > 150 for number in moved) <= 1


@pytest.mark.parametrize("kind", QUICK)
def test_columns_without_any_value(kind: str) -> None:
    none = pl.lit(None, dtype=pl.String)
    table = people().with_columns(zip=none, disease=none).sort(pl.all())
    for job, privacy in {"budget": "k(4)", "violating-values": "l+(1.0, disease)", "local": "k(4)"}.items():
        settings = {**JOBS[job], "privacy": privacy}
        release, wanted = dc.anonymize(make_relation(kind, table), **settings), dc.anonymize(table, **settings)
        assert figures(release) == figures(wanted)
        assert multiset(release.frame) == multiset(wanted.frame)
