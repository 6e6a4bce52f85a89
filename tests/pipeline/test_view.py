"""Live views: they show what applying the mapping shows, and keep k and distinct l whatever rows come and go."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from databases import PASSWORD, Server, fill
from depth import cases
from discreet.cli import program
from discreet.errors import OutputError, UsageError

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
Sql = Callable[[str], list[tuple[Any, ...]]]
QUASI = {"age": "intervals(10, 20, 40)", "town": "flat", "born": "dates(year, decade)"}
PROMISES = ["k(3)", "distinct-l(2, ill)"]


@pytest.fixture(params=["duckdb", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Callable[[str], str], Sql]]:
    """Return URLs of tables in a database, and a function that runs SQL as its owner."""
    if request.param == "duckdb":
        path = tmp_path / "clinic.duckdb"

        def ask(statement: str) -> list[tuple[Any, ...]]:
            with closing(duckdb.connect(str(path))) as connection:
                return list(connection.execute(statement).fetchall())

        yield (lambda table: f"duckdb:///{path}?table={table}"), ask
        return
    server: Server = request.getfixturevalue("postgres")
    yield server.url, server.run
    server.run("DROP VIEW IF EXISTS shown")
    for name in ("people", *(f"shown_values_{end}" for end in (0, 1, 2, "left_out"))):
        server.run(f"DROP TABLE IF EXISTS {name}")


def people(n: int, seed: int, *, new: bool = False) -> pl.DataFrame:
    """Return people with missing values; ``new`` ones may have values that others do not have."""
    rng = np.random.default_rng(seed)
    towns: list[str | None] = ["Ulm", "Köln", "O'Brien's", None, *(["Bonn"] if new else [])]
    ages: list[int | None] = [21, 24, 33, 57, None, *([44, 90] if new else [])]
    ills: list[str | None] = ["flu", "hiv", "flu ", None]
    days = [date(1980, 1, 2), date(1984, 5, 6), date(1991, 7, 8), *([date(1999, 1, 1)] if new else [])]

    def pick(values: list[Any]) -> list[Any]:
        return [values[at] for at in rng.integers(0, len(values), n)]

    return pl.DataFrame(
        {"name": pick(["Ann", "Bob"]), "age": pick(ages), "town": pick(towns), "born": pick(days), "ill": pick(ills)},
        schema={"name": pl.String, "age": pl.Int64, "town": pl.String, "born": pl.Date, "ill": pl.String},
    )


def naive(mapping: dict[str, Any], table: pl.DataFrame, least: int, distinct: int) -> Counter[tuple[Any, ...]]:
    """Recode row by row by what the mapping lists, and keep the classes that are large and diverse enough."""
    classes: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for row in table.iter_rows(named=True):
        labels = []
        for name, column in mapping["columns"].items():
            value = row[name]
            if value is None:
                if column["missing"] is None or None in column["left_out"]:
                    break
                labels.append(column["missing"]["released"])
            elif str(value) in column["values"]:
                shown = column["values"] if column["released"] is None else column["released"]
                labels.append(shown[column["values"].index(str(value))])
            else:
                break
        if len(labels) == len(mapping["columns"]) and labels not in mapping["suppressed"]:
            classes[tuple(labels)].append(row["ill"])
    kept = {key: ill for key, ill in classes.items() if len(ill) >= least and len({*ill} - {None}) >= distinct}
    return Counter((*key, value) for key, ill in kept.items() for value in ill)


def in_quotes(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def literals(row: tuple[Any, ...]) -> str:
    return f"({', '.join('NULL' if value is None else in_quotes(value) for value in row)})"


def as_text(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(None if value is None else str(value) for value in row) for row in rows)


@pytest.mark.parametrize("seed", range(cases(40)))
def test_views_show_what_a_naive_recoding_shows(database: tuple[Callable[[str], str], Sql], seed: int) -> None:
    url, ask = database
    rng = np.random.default_rng(seed)
    table = people(int(rng.integers(10, 60)), seed)
    scheme = ["full-domain", "subtree", "set"][seed % 3]
    release = dc.anonymize(
        table,
        identifiers="name",
        quasi_identifiers=QUASI if scheme != "set" else dict.fromkeys(QUASI, None),
        sensitive="ill",
        privacy=PROMISES,
        suppression="budget(40%)",
        scheme=scheme,
        time_limit=2,
    )
    mapping = {**release.to_mapping()}
    for column in mapping["columns"].values():
        column["rule"] = None
    fill(url("people"), table)
    view = dc.create_view(mapping, url("people"), "shown")
    shown = "SELECT age, town, born, ill FROM shown"
    assert (
        as_text(ask(shown)) == naive(mapping, table, 3, 2) == as_text(release.frame.drop("name", strict=False).rows())
    )
    assert view.audit.passed
    more = people(int(rng.integers(1, 60)), seed + 1000, new=True)
    ask(f"INSERT INTO people VALUES {', '.join(map(literals, more.rows()))}")
    table = pl.concat([table, more])
    assert as_text(ask(shown)) == naive(mapping, table, 3, 2)
    ask("DELETE FROM people WHERE age = 24 OR ill = 'flu'")
    table = table.filter(~((pl.col("age") == 24) | (pl.col("ill") == "flu")).fill_null(False))
    assert as_text(ask(shown)) == naive(mapping, table, 3, 2)
    ask("DELETE FROM people")
    assert ask(shown) == []


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, dict[str, Any]]:
    """A DuckDB table, and a mapping for it."""
    monkeypatch.chdir(tmp_path)
    table = people(80, 1)
    release = dc.anonymize(
        table, identifiers="name", quasi_identifiers=QUASI, sensitive="ill", privacy=PROMISES, suppression="budget(30%)"
    )
    release.mapping("mapping.json")
    return fill("duckdb:///clinic.duckdb?table=people", table), release.to_mapping()


def in_clinic(statement: str) -> list[tuple[Any, ...]]:
    with closing(duckdb.connect("clinic.duckdb")) as connection:
        return list(connection.execute(statement).fetchall())


def test_unknown_values_become_the_most_general(clinic: tuple[str, dict[str, Any]]) -> None:
    url, mapping = clinic
    dc.create_view(mapping, url, "shown", unknown="top")
    before = len(in_clinic("SELECT * FROM shown"))
    for ill in ("flu", "hiv", "cold"):
        in_clinic(f"INSERT INTO people VALUES ('Cy', 300, 'Rom', DATE '2020-02-02', '{ill}')")
    new = [row for row in in_clinic("SELECT age, town, born, ill FROM shown") if row[3] == "cold"]
    tops = tuple(column["top"] for column in mapping["columns"].values())
    assert new == [(*tops, "cold")]
    assert len(in_clinic("SELECT * FROM shown")) == before + 3


def test_new_values_that_a_rule_recodes_are_stored_when_the_view_is_made(clinic: tuple[str, dict[str, Any]]) -> None:
    url, mapping = clinic
    if mapping["columns"]["born"]["rule"] is None and mapping["columns"]["age"]["rule"] is None:
        pytest.skip("no column has a rule")
    in_clinic("INSERT INTO people SELECT 'Cy', 22, 'Ulm', DATE '1983-03-03', 'flu' FROM range(4)")
    view = dc.create_view(mapping, url, "shown")
    assert view.now.by_rule


def test_columns_that_are_added_later_stay_hidden(clinic: tuple[str, dict[str, Any]]) -> None:
    url, mapping = clinic
    dc.create_view(mapping, url, "shown")
    in_clinic("ALTER TABLE people ADD COLUMN email VARCHAR DEFAULT 'a@b.c'")
    assert [name for name, *_ in in_clinic("DESCRIBE shown")] == ["age", "town", "born", "ill"]


def test_rows_are_in_another_order_each_time(clinic: tuple[str, dict[str, Any]]) -> None:
    url, mapping = clinic
    dc.create_view(mapping, url, "shown")
    seen = {tuple(in_clinic("SELECT * FROM shown")) for _ in range(5)}
    assert len(seen) > 1
    assert "random" not in dc.create_view(mapping, url, "shown", order="keep").query


@pytest.mark.parametrize("promise", ["t(0.9, ill)", "entropy-l(1.1, ill)", "l+(0.9, ill)", "k(2, unknown=matches)"])
def test_promises_that_a_view_cannot_keep(clinic: tuple[str, dict[str, Any]], promise: str) -> None:
    url, mapping = clinic
    with pytest.raises(UsageError, match="only k and distinct-l"):
        dc.create_view({**mapping, "privacy": ["k(3)", promise]}, url, "shown")
    assert in_clinic("SELECT table_name FROM duckdb_tables()") == [("people",)]


def test_wrong_places(clinic: tuple[str, dict[str, Any]]) -> None:
    url, mapping = clinic
    with pytest.raises(UsageError, match="a table in DuckDB or PostgreSQL"):
        dc.create_view(mapping, fill("sqlite:///clinic.db?table=people", people(20, 1)), "shown")
    people(20, 1).write_csv("people.csv")
    with pytest.raises(UsageError, match="a table in DuckDB or PostgreSQL"):
        dc.create_view(mapping, "people.csv", "shown")
    with pytest.raises(OutputError, match="would replace the table it reads"):
        dc.create_view(mapping, url, "people")
    in_clinic("CREATE TABLE another AS SELECT 1 AS one")
    with pytest.raises(OutputError, match="There is a table 'another'"):
        dc.create_view(mapping, url, "another")
    with pytest.raises(OutputError, match="no schema 'nowhere'"):
        dc.create_view(mapping, url, "nowhere.shown")
    in_clinic("CREATE VIEW own AS SELECT 1 AS one")
    with pytest.raises(OutputError, match="a view of your own"):
        dc.create_view(mapping, url, "own")
    with pytest.raises(OutputError, match="shorter"):
        dc.create_view(mapping, url, "v" * 50)
    with pytest.raises(UsageError, match="one of suppress, top for a view"):
        dc.create_view(mapping, url, "shown", unknown="error")  # type: ignore[arg-type]
    dc.create_view(mapping, url, "shown")
    dc.create_view(mapping, url, "shown")
    with pytest.raises(OutputError, match="already"):
        dc.create_view(mapping, url, "shown", overwrite=False)
    in_clinic("DROP VIEW shown")  # by hand, which leaves the tables of values
    in_clinic("DROP TABLE shown_values_1")
    in_clinic("CREATE TABLE shown_values_1 AS SELECT 1 AS one")
    with pytest.raises(OutputError, match="There is a table 'shown_values_1'"):
        dc.create_view(mapping, url, "shown")
    in_clinic("DROP TABLE shown_values_1")
    dc.create_view(mapping, url, "shown")
    with pytest.raises(UsageError, match="gave 'ill' a type"):
        dc.create_view({**mapping, "types": {"ill": "text"}}, url, "shown")


def test_a_column_that_singles_people_out_stops_it(clinic: tuple[str, dict[str, Any]]) -> None:
    url, mapping = clinic
    in_clinic("ALTER TABLE people ADD COLUMN email VARCHAR")
    with pytest.raises(dc.DataError, match="'email' was not in the table"):
        dc.create_view(mapping, url, "shown")
    dc.create_view(mapping, url, "shown", identifiers="email")


def test_command_line(clinic: tuple[str, dict[str, Any]]) -> None:
    url, _ = clinic

    def run(*words: str) -> Any:
        return CliRunner().invoke(program, ["apply", "mapping.json", url, *words])

    made = run("--view", "shown")
    assert made.exit_code == 0, made.output
    assert "The view is shown." in made.stdout
    assert "Whoever watches the view" in made.stdout
    assert in_clinic("SELECT count(*) FROM shown")[0][0] > 0
    assert run().exit_code == 2
    assert run("--view", "shown", "-o", "x.csv").exit_code == 2
    refused = run("--view", "shown", "--unknown", "error")
    assert refused.exit_code == 2
    assert "suppress, top" in refused.stderr
    assert run("--view", "shown", "--broken", "error").exit_code == 2


def test_readers_of_postgresql_see_the_view_alone(postgres: Server) -> None:
    import psycopg

    postgres.run("DROP ROLE IF EXISTS reader")
    postgres.run(f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'")
    postgres.run("ALTER DEFAULT PRIVILEGES FOR ROLE ann IN SCHEMA public GRANT SELECT ON TABLES TO reader")
    table = people(80, 1)
    release = dc.anonymize(
        table, identifiers="name", quasi_identifiers=QUASI, sensitive="ill", privacy=PROMISES, suppression="budget(30%)"
    )
    postgres.run("GRANT ALL ON SCHEMA public TO ann")
    url = fill(postgres.url("watched"), table)
    postgres.run("REVOKE ALL ON watched FROM reader")
    dc.create_view(release.to_mapping(), url, "seen_by_reader")
    (definition,) = postgres.run("SELECT definition FROM pg_views WHERE viewname = 'seen_by_reader'")[0]
    assert not any(word in str(definition) for word in ("Ulm", "Köln", "1980", "Brien"))
    with psycopg.connect(host=postgres.host, port=postgres.port, user="reader", password=PASSWORD, dbname="ann") as own:
        assert own.execute("SELECT count(*) FROM seen_by_reader").fetchone() == (release.frame.height,)
    tables = ["watched", *(f"seen_by_reader_values_{end}" for end in (0, 1, 2, "left_out"))]
    with psycopg.connect(
        host=postgres.host, port=postgres.port, user="reader", password=PASSWORD, dbname="ann", autocommit=True
    ) as own:
        for name in tables:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                own.execute(f"SELECT * FROM {name}")  # type: ignore[arg-type]
    postgres.run("DROP VIEW seen_by_reader")
    for name in tables:
        postgres.run(f"DROP TABLE {name}")
    postgres.run("ALTER DEFAULT PRIVILEGES FOR ROLE ann IN SCHEMA public REVOKE ALL ON TABLES FROM reader")
    postgres.run("REVOKE ALL ON SCHEMA public FROM reader")
    postgres.run("DROP ROLE reader")
