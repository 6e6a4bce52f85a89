"""Tables of databases are counted, recoded and audited where they are, and give the release files give."""

from __future__ import annotations

import datetime
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from databases import BUDGET, DATABASES, GLOBAL, QUASI, Server, fill, people
from discreet.engines import open_source
from discreet.engines.sql import postgres as _postgres
from discreet.engines.sql import sqlite as _sqlite
from discreet.engines.sql.connect import connect
from discreet.engines.sql.session import Session
from discreet.errors import DataError, OutputError
from discreet.runtime.locations import TableUrl

pytestmark = pytest.mark.usefixtures("columns_kept")

Place = Callable[[str, str], str]

L_PLUS = {**GLOBAL, "privacy": "l+(0.5, disease)", "scheme": "subtree"}
LOCAL = {"quasi_identifiers": [*QUASI], "sensitive": "disease", "scheme": "local", "cost": "NCP", "seed": 1}

JOBS: dict[str, dict[str, Any]] = {
    "budget": BUDGET,
    "missing": {
        **GLOBAL,
        "identifiers": "name",
        "privacy": "k(3)",
        "suppression": "budget(0.5)",
        "missing": "suppress",
        "max_levels": {"age": 1, "zip": 1},
    },
    "everything": {**GLOBAL, "privacy": "k(90)", "suppression": "budget(1.0)", "max_levels": dict.fromkeys(QUASI, 0)},
    "partitions": {**GLOBAL, "privacy": "k(8)", "scheme": {"age": "ordered", "sex": "set"}, "solver": "partitions"},
    "violating-records": {**L_PLUS, "suppression": "violating-records", "cost": "CM"},
    "violating-records, dearest": {**L_PLUS, "suppression": "violating-records", "cost": "HDM"},
    "class-values": {**L_PLUS, "suppression": "class-values"},
    "violating-values": {**L_PLUS, "suppression": "violating-values"},
    "local": {**LOCAL, "privacy": "k(4)"},
    "local, diverse": {**LOCAL, "privacy": ["k(3)", "distinct-l(2, disease)"]},
    "local, middle": {**LOCAL, "privacy": "k(4)", "scheme": "local(show=mean)"},
}


def multiset(frame: pl.DataFrame) -> Counter[tuple[Any, ...]]:
    return Counter(frame.select(pl.all().cast(pl.String)).rows())


def figures(release: dc.Release) -> dict[str, Any]:
    facts = release.to_dict()
    return {key: facts[key] for key in ("status", "cost", "lower_bound", "suppressed", "classes", "audit")}


_expected: dict[str, dc.Release] = {}


def expected(job: str) -> dc.Release:
    if job not in _expected:
        _expected[job] = dc.anonymize(people(), **JOBS[job])
    return _expected[job]


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize("job", JOBS)
def test_same_release_from_and_in_every_database(kind: str, job: str, place: Place) -> None:
    source = fill(place(kind, "people"), people())
    fetched = dc.anonymize(source, **JOBS[job])
    assert figures(fetched) == figures(expected(job))
    assert multiset(fetched.frame) == multiset(expected(job).frame)
    assert fetched.frame.columns == expected(job).frame.columns
    inside = dc.anonymize(source, **JOBS[job], output=place(kind, "safe"))
    assert figures(inside) == figures(expected(job))
    assert multiset(inside.frame) == multiset(expected(job).frame)


def test_the_jobs_do_what_they_should_show() -> None:
    """Every way to leave something out is used."""
    assert all(expected(job).suppressed for job in ("budget", "missing", "everything", "violating-records"))
    assert expected("violating-records, dearest").suppressed
    assert all(expected(job).suppressed_values for job in ("class-values", "violating-values"))
    assert expected("missing").dropped_missing


@pytest.mark.parametrize("kind", DATABASES)
def test_from_anywhere_to_anywhere(kind: str, place: Place, tmp_path: Path) -> None:
    source = fill(place(kind, "people"), people())
    wanted = multiset(expected("budget").frame)
    people().write_parquet(tmp_path / "people.parquet")
    for data in (people(), people().lazy(), people().to_pandas(), people().to_arrow(), tmp_path / "people.parquet"):
        dc.anonymize(data, **JOBS["budget"], output=place(kind, "safe"))
        assert multiset(open_source(place(kind, "safe")).scan().collect()) == wanted  # type: ignore[attr-defined]
    for output in (
        *(place(other, "from_other") for other in DATABASES),
        tmp_path / "safe.parquet",
        f"{tmp_path}/safe/",
    ):
        assert multiset(dc.anonymize(source, **JOBS["budget"], output=output).frame) == wanted
    again = dc.anonymize(source, **JOBS["budget"])
    again.write(place(kind, "again"))
    assert multiset(pl.DataFrame(open_source(place(kind, "again")).scan().collect())) == wanted  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", DATABASES)
def test_rows_do_not_leave_the_database(kind: str, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.engines.column_profile import FETCHED

    source = fill(place(kind, "people"), pl.concat([people()] * 20))
    fetched = []
    with connect(TableUrl.parse(source)) as session:
        kinds = type(session)
    stream = kinds.stream

    def watched(self: Session, query: str, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        for batch in stream(self, query, schema):  # type: ignore[arg-type]
            fetched.append(batch.height)
            yield batch

    monkeypatch.setattr(kinds, "stream", watched)
    release = dc.anonymize(source, **JOBS["budget"], output=place(kind, "safe"))
    tuples = people().select(*QUASI, "disease", "income").n_unique()
    sample = FETCHED + 1 + len(release.kept)
    assert sum(fetched) <= 2 * tuples + 1 + sample
    assert tuples < release.n == 1800


TYPES = pl.DataFrame(
    {
        "small": pl.Series([1, 2, None], dtype=pl.Int8),
        "big": [2**62, -(2**62) - 1, None],
        "real": pl.Series([0.5, float("inf"), None], dtype=pl.Float32),
        "double": [0.1, 1e300, None],
        "truth": [True, False, None],
        "day": [datetime.date(1970, 1, 1), datetime.date(2024, 2, 29), None],
        "moment": [datetime.datetime(2024, 2, 29, 12, 30, 15, 123456), datetime.datetime(1, 1, 1), None],
        "clock": [datetime.time(23, 59, 59), datetime.time(0), None],
        "money": pl.Series([Decimal("12.50"), Decimal("-0.01"), None], dtype=pl.Decimal(20, 2)),
        "kind": pl.Series(["a", "b", None], dtype=pl.Categorical),
        "text": ["", "näïve 'quoted' \"text\" \\N", None],
    }
)


@pytest.mark.parametrize("kind", DATABASES)
def test_values_come_back_as_they_were(kind: str, place: Place) -> None:
    source = open_source(fill(place(kind, "types"), TYPES))
    back = source.scan().collect()  # type: ignore[attr-defined]
    texts = TYPES.cast({pl.Categorical: pl.String})
    if kind == "sqlite":
        assert back["big"].to_list() == TYPES["big"].to_list()
        assert back["money"].to_list() == ["12.50", "-0.01", None]
        assert back["day"].to_list() == ["1970-01-01", "2024-02-29", None]
    else:
        assert back.cast(texts.schema).equals(texts)
    for column in TYPES.columns:
        assert source.count([column]).to_series(0).to_list().count(None) == 1
        assert source.count([column]).height == 3


@pytest.mark.parametrize("kind", DATABASES)
def test_odd_names(kind: str, place: Place) -> None:
    table = pl.DataFrame({"select": ["a", "a", "b"], 'the "Age"': [1, 1, 2], "rows": ["x", "y", "z"], "c0": [1, 2, 3]})
    url = fill(place(kind, '"group.by"'), table)
    assert sorted(open_source(url).count(["select", 'the "Age"', "rows"]).rows()) == [
        ("a", 1, "x", 1),
        ("a", 1, "y", 1),
        ("b", 2, "z", 1),
    ]
    release = dc.anonymize(url, quasi_identifiers=["select", 'the "Age"'], privacy="k(3)", output=place(kind, "order"))
    assert release.frame.columns == table.columns


@pytest.mark.parametrize("kind", DATABASES)
def test_names_a_database_takes_for_one(kind: str, place: Place) -> None:
    table = pl.DataFrame({"age": [1, 1], "Age": [2, 2]})
    if kind == "postgresql":
        assert open_source(fill(place(kind, "people"), table)).columns == ["age", "Age"]
        with pytest.raises(OutputError, match="longer than 63 bytes"):
            fill(place(kind, "people"), pl.DataFrame({"a" * 64: [1]}))
    else:
        with pytest.raises(OutputError, match="'age' and 'Age' are the same name"):
            fill(place(kind, "people"), table)
    with pytest.raises(OutputError, match="has no name"):
        fill(place(kind, "people"), pl.DataFrame({"": [1]}))
    with pytest.raises(OutputError, match="'list' holds lists"):
        fill(place(kind, "people"), pl.DataFrame({"list": [[1]]}))


def test_sqlite_values_of_several_types(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "odd.db") as connection:
        connection.execute("CREATE TABLE odd (name TEXT COLLATE NOCASE, any, number, none)")
        rows = [("a", 1, 1, None), ("A", "x", 1.0, None), ("b", b"\x01", 2.5, None), (None, 2.5, None, None)]
        connection.executemany("INSERT INTO odd VALUES (?, ?, ?, ?)", rows)
    connection.close()
    source = open_source(f"sqlite:///{tmp_path}/odd.db?table=odd")
    assert {value for value, _ in source.count(["name"]).rows()} == {"a", "A", "b", None}
    assert sorted(value for value, _ in source.count(["any"]).rows()) == ["01", "1", "2.5", "x"]
    assert dict(source.count(["number"]).rows()) == {1.0: 2, 2.5: 1, None: 1}
    assert source.count(["none"]).rows() == [(None, 4)]


def test_sqlite_tables_without_row_numbers_and_views(tmp_path: Path) -> None:
    url = fill(f"sqlite:///{tmp_path}/a.db?table=people", people())
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE VIEW seen AS SELECT * FROM people")
    connection.close()
    view = url.replace("=people", "=seen")
    for job in ("violating-records", "local"):
        one, other = dc.anonymize(view, **JOBS[job]).frame, dc.anonymize(view, **JOBS[job]).frame
        assert one.equals(other)
    with pytest.raises(OutputError, match="'seen' is a view"):
        dc.anonymize(url, **JOBS["budget"], output=view)


def test_postgresql_types_of_its_own(postgres: Server) -> None:
    postgres.run(
        "DROP TABLE IF EXISTS own; DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('sad', 'happy');"
        "CREATE TABLE own (fixed char(3), free numeric, exact numeric(6, 2), mood mood, id uuid, doc jsonb, "
        "days int[]);"
        "INSERT INTO own VALUES ('x', 1.50, 1.50, 'sad', gen_random_uuid(), '{\"a\": 1}', '{1,2}'),"
        "('x', 1.5, 'NaN', 'sad', NULL, NULL, NULL); GRANT SELECT ON own TO ann"
    )
    source = open_source(postgres.url("own"))
    assert source.count(["fixed", "free", "mood"]).rows() == [("x", "1.5", "sad", 2)]
    assert set(source.count(["exact"]).rows()) == {(Decimal("1.50"), 1), (None, 1)}
    assert ('{"a": 1}', "{1,2}", 1) in source.count(["doc", "days"]).rows()
    release = dc.anonymize(postgres.url("own"), quasi_identifiers=["fixed"], privacy="k(2)", output=postgres.url("o2"))
    kinds = dict(
        postgres.run("SELECT attname, format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = 'o2'::regclass")
    )
    assert (kinds["mood"], kinds["days"], kinds["free"]) == ("text", "integer[]", "numeric")
    assert {*release.frame["exact"]} == {Decimal("1.50"), None}


def test_classes_look_as_they_are_compared(postgres: Server, tmp_path: Path) -> None:
    """If values counted as equal looked different in the table, classes would be smaller than they seem."""
    postgres.run(
        "DROP TABLE IF EXISTS looks; CREATE TABLE looks (free numeric, exact numeric(6, 2), real real);"
        "INSERT INTO looks VALUES (1.5, 1.5, '-0'), (1.50, 1.5, 0), (NULL, 'NaN', 'NaN'), ('NaN', NULL, NULL);"
        "GRANT SELECT ON looks TO ann"
    )
    job: dict[str, Any] = {"quasi_identifiers": ["free", "exact", "real"], "privacy": "k(2)"}
    assert set(dc.anonymize(postgres.url("looks"), **job, output=postgres.url("seen")).levels.values()) == {0}
    assert dict(postgres.run("SELECT free::text || exact || real, count(*) FROM seen GROUP BY 1")) == {
        "1.51.500": 2,
        None: 2,
    }
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE looks (any, number)")
        connection.executemany("INSERT INTO looks VALUES (?, ?)", [(1, 1), ("1", 1.0), ("x", 2), ("x", 2.0)])
    connection.close()
    url = f"sqlite:///{tmp_path}/a.db?table="
    job = {"quasi_identifiers": ["any", "number"], "privacy": "k(2)"}
    assert set(dc.anonymize(f"{url}looks", **job, output=f"{url}seen").levels.values()) == {0}
    with sqlite3.connect(tmp_path / "a.db") as connection:
        seen = connection.execute('SELECT DISTINCT typeof("any"), "any", typeof(number), number FROM seen').fetchall()
    connection.close()
    assert sorted(seen) == [("text", "1", "real", 1.0), ("text", "x", "real", 2.0)]


def test_postgresql_dates_that_are_none(postgres: Server) -> None:
    postgres.run(
        "DROP TABLE IF EXISTS ends; CREATE TABLE ends (day date);"
        "INSERT INTO ends VALUES ('infinity'), ('0044-03-15 BC'); GRANT SELECT ON ends TO ann"
    )
    with pytest.raises(DataError, match="infinite or lies before the year 1"):
        open_source(postgres.url("ends")).count(["day"])


def test_partitions_of_postgresql(postgres: Server) -> None:
    postgres.run(
        "DROP TABLE IF EXISTS years; CREATE TABLE years (year int, sex text) PARTITION BY LIST (year);"
        "CREATE TABLE y1 PARTITION OF years FOR VALUES IN (1); CREATE TABLE y2 PARTITION OF years FOR VALUES IN (2);"
        "INSERT INTO years SELECT 1 + i % 2, 'f' FROM generate_series(1, 10) i; GRANT SELECT ON years TO ann"
    )
    release = dc.anonymize(postgres.url("years"), quasi_identifiers=["year", "sex"], privacy="k(3)")
    assert release.frame.rows() == [("1", "f")] * 5 + [("2", "f")] * 5 or release.frame.height == 10


def test_postgresql_settings_do_not_matter(postgres: Server) -> None:
    """A server may write dates and numbers in its own way; a session says how."""
    url = fill(postgres.url("dates"), TYPES.select("day", "moment", "double"))
    postgres.run("ALTER ROLE ann SET datestyle = 'German'; ALTER ROLE ann SET extra_float_digits = -10")
    try:
        assert open_source(url).count(["day", "moment", "double"]).height == 3
        with _postgres.connect(TableUrl.parse(url)) as session:
            back = session.fetch('SELECT "double" FROM dates', {"double": pl.Float64()})
        assert back["double"].to_list() == TYPES["double"].to_list()
    finally:
        postgres.run("ALTER ROLE ann RESET ALL")


def test_sqlite_looks_values_up_by_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever type a column is said to have: of numbers and text SQLite would compare each with each."""
    url = f"sqlite:///{tmp_path}/data.db?table="
    with sqlite3.connect(tmp_path / "data.db") as file:
        file.execute("CREATE TABLE people (born DATE, sex, age)")
        file.executemany(
            "INSERT INTO people VALUES (?, ?, ?)", [(f"19{i % 90 + 10}-01-01", "m", i) for i in range(400)]
        )
    plans: list[str] = []
    execute = _sqlite.SqliteSession.execute

    def explained(session: Any, query: str) -> Any:
        if " discreet_lookup_0 " in query and "SELECT" in query:
            plan = session.connection.execute("EXPLAIN QUERY PLAN " + query[query.index("SELECT") :])
            plans.extend(step[3] for step in plan)
        return execute(session, query)

    monkeypatch.setattr(_sqlite.SqliteSession, "execute", explained)
    dc.anonymize(
        f"{url}people", quasi_identifiers=["born", "sex"], privacy="k(40)", output=f"{url}safe", scheme="subtree"
    )
    lookups = [plan for plan in plans if "discreet_lookup" in plan]
    assert lookups
    assert all(plan.startswith("SEARCH") for plan in lookups), lookups
