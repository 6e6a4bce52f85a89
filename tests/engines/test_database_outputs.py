"""Writing to databases: nothing is left by a release that fails, no input is replaced, errors name the way out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from databases import BUDGET, DATABASES, PASSWORD, Server, fill, people, tables
from discreet.engines import open_source
from discreet.engines.sql import sqlite as _sqlite
from discreet.engines.sql.connect import connect
from discreet.engines.sql.session import quoted
from discreet.errors import AuditError, DataError, DiscreetError, MissingColumnError, OutputError, UsageError
from discreet.pipeline.publish import Promises
from discreet.runtime.locations import TableUrl, is_url, without_password

pytestmark = pytest.mark.usefixtures("columns_kept")

Place = Callable[[str, str], str]


@pytest.mark.parametrize("kind", DATABASES)
def test_a_release_that_fails_its_audit_leaves_nothing(
    kind: str, place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source, target = fill(place(kind, "people"), people()), place(kind, "safe")
    old = fill(place(kind, "old"), pl.DataFrame({"a": [1]}))
    before = tables(source)

    def refuse(self: Promises, data: Any, *rest: Any) -> None:
        assert data.groups({"age": "age"}).height
        raise AuditError("The audit found k(4) broken.")

    monkeypatch.setattr(Promises, "check", refuse)
    for data in (source, people()):
        for output in (target, old):
            with pytest.raises(AuditError):
                dc.anonymize(data, **BUDGET, output=output)
    assert tables(source) == before
    assert open_source(old).count(["a"]).rows() == [(1, 1)]
    new = f"sqlite:///{tmp_path}/new.db?table=safe"
    with pytest.raises(AuditError):
        dc.anonymize(people(), **BUDGET, output=new)
    assert not list(tmp_path.glob("new*")) + list(tmp_path.glob(".*"))


@pytest.mark.parametrize("kind", DATABASES)
def test_an_older_table_is_replaced(kind: str, place: Place) -> None:
    source, target = fill(place(kind, "people"), people()), fill(place(kind, "safe"), pl.DataFrame({"a": [1]}))
    before = tables(source)
    dc.anonymize(source, **BUDGET, output=target)
    assert open_source(target).columns == people().columns
    assert tables(source) == before


@pytest.mark.parametrize("kind", DATABASES)
def test_a_table_that_changes_while_it_is_read(kind: str, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    source = fill(place(kind, "people"), people())
    import discreet.pipeline.search as flow

    solve = flow._solve

    def meanwhile(*arguments: Any) -> Any:
        fill(source, people(80))
        return solve(*arguments)

    monkeypatch.setattr(flow, "_solve", meanwhile)
    for output in (None, place(kind, "safe")):
        fill(source, people())
        with pytest.raises(DataError, match="changed while it was being read"):
            dc.anonymize(source, **BUDGET, output=output)


@pytest.mark.parametrize("kind", DATABASES)
def test_output_must_not_be_the_input(kind: str, place: Place) -> None:
    source = fill(place(kind, "people"), people())
    with pytest.raises(OutputError, match="is the input itself"):
        dc.anonymize(source, **BUDGET, output=source)


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    ("read", "written"),
    [
        ("people", "PEOPLE"),
        ("People", "people"),
        ("people", "main.people"),
        ("main.people", "people"),
        ("people", "MAIN.People"),
        ("people", '"main"."PEOPLE"'),
    ],
)
def test_the_input_under_another_name_is_not_replaced(kind: str, read: str, written: str, place: Place) -> None:
    original = fill(place(kind, "people"), people())
    source, output = place(kind, read), place(kind, written)
    before = open_source(original).count(people().columns).height
    other = fill(place(kind, "others"), people(40))
    release = dc.anonymize(other, **BUDGET)
    with pytest.raises(OutputError, match="is the input itself"):
        dc.anonymize(source, **BUDGET, output=output)
    with pytest.raises(OutputError, match="is the input itself"):
        dc.apply_mapping(release.to_mapping(), source, output=output)
    with pytest.raises(OutputError, match="is the input itself"):
        dc.anonymize(other, **BUDGET, population=source, output=output)
    assert open_source(original).count(people().columns).height == before


@pytest.mark.parametrize("kind", DATABASES)
def test_the_table_of_a_view_is_not_replaced(kind: str, place: Place) -> None:
    source = fill(place(kind, "people"), people())
    names = {name: quoted(TableUrl.parse(place(kind, name)).table.name) for name in ("people", "young", "named")}
    with connect(TableUrl.parse(source), write=True) as session, session.transaction():
        session.execute(f"CREATE VIEW {names['young']} AS SELECT * FROM {names['people']} WHERE age < 99")
        session.execute(f"CREATE VIEW {names['named']} AS SELECT * FROM {names['young']}")
    for view in ("young", "named"):
        with pytest.raises(OutputError, match="is the input itself"):
            dc.anonymize(place(kind, view), **BUDGET, output=source)
    assert dc.anonymize(place(kind, "named"), **BUDGET, output=place(kind, "safe")).audit.passed


def test_partitions_are_not_replaced(postgres: Server) -> None:
    postgres.run(
        "CREATE TABLE whole (age int, sex text) PARTITION BY LIST (sex); GRANT ALL ON SCHEMA public TO ann;"
        "CREATE TABLE part PARTITION OF whole FOR VALUES IN ('f'); INSERT INTO whole VALUES (1, 'f'), (1, 'f');"
        "ALTER TABLE whole OWNER TO ann; ALTER TABLE part OWNER TO ann"
    )
    for read, written in (("part", "whole"), ("whole", "part")):
        with pytest.raises(OutputError, match="is the input itself"):
            dc.anonymize(postgres.url(read), quasi_identifiers=["age"], privacy="k(2)", output=postgres.url(written))


def test_the_input_under_another_name_on_a_server(postgres: Server) -> None:
    source = fill(postgres.url("people"), people())
    before = open_source(source).count(people().columns).height
    local = postgres.url("people").replace("127.0.0.1", "localhost")
    for read, written in (
        (source, postgres.url("public.people")),
        (postgres.url("public.people"), source),
        (source, local),
        (source, f"{source}&application_name=other"),
        (source, postgres.url("people", user="postgres")),
    ):
        with pytest.raises(OutputError, match="is the input itself"):
            dc.anonymize(read, **BUDGET, output=written)
    assert open_source(source).count(people().columns).height == before
    dc.anonymize(source, **BUDGET, output=postgres.url("PEOPLE"))
    assert {"PEOPLE", "people"} <= {*tables(source)}


@pytest.mark.parametrize("kind", DATABASES)
def test_no_such_table_or_column(kind: str, place: Place) -> None:
    source = fill(place(kind, "people"), people())
    with pytest.raises(DataError, match=r"There is no table 'peopel.*did you mean 'people"):
        open_source(place(kind, "peopel"))
    with pytest.raises(MissingColumnError, match="'agee'; did you mean 'age'"):
        open_source(source).count(["agee"])
    with pytest.raises(MissingColumnError):
        dc.anonymize(source, quasi_identifiers=["agee"], privacy="k(2)")
    with pytest.raises(DataError, match=r"There is no table 'nowhere.people"):
        open_source(place(kind, "nowhere.people"))
    with pytest.raises(OutputError, match=r"schema|permission"):
        dc.anonymize(people(), **BUDGET, output=place(kind, "nowhere.people"))


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_files_that_are_no_database(kind: str, place: Place, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"There is no database '.*data\."):
        open_source(place(kind, "people"))
    (tmp_path / f"data.{kind}").write_text("this is no database, but long enough to be looked at" * 100)
    with pytest.raises(DataError, match=r"'data\.\w+' is damaged or no"):
        open_source(place(kind, "people"))
    with pytest.raises(OutputError, match=r"'data\.\w+' is damaged or no"):
        dc.anonymize(people(), **BUDGET, output=place(kind, "safe"))
    with pytest.raises(OutputError, match="There is no folder"):
        dc.anonymize(people(), **BUDGET, output=f"{kind}:///{tmp_path}/no/data.db?table=safe")


def test_sqlite_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sqlite, "_PATIENCE", 0.05)
    url = fill(f"sqlite:///{tmp_path}/a.db?table=people", people())
    connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(OutputError, match=r"'a.db' is in use by another program"):
        dc.anonymize(people(), **BUDGET, output=url.replace("=people", "=safe"))
    connection.close()


def test_postgresql_refusals(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGPASSWORD", "PGUSER", "PGHOST", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGPASSFILE", "/nowhere")
    wrong = {
        postgres.url("people", password="wrong-secret"): "refused the password of 'ann'",
        postgres.url("people", password=""): "wants a password; set PGPASSWORD",
        postgres.url("people", database="nowhere"): "There is no database 'nowhere'",
        postgres.url("people", user="bob"): "refused the password of 'bob'",
        f"postgresql://ann:{PASSWORD}@127.0.0.1:1/ann?table=people": r"server at '127.0.0.1:1' cannot be reached",
    }
    for url, message in wrong.items():
        with pytest.raises(DataError, match=message) as caught:
            open_source(url)
        check_secret(caught.value)
        with pytest.raises(OutputError, match=message) as caught:
            dc.anonymize(people(), **BUDGET, output=url)
        check_secret(caught.value)
    postgres.run("DROP SCHEMA IF EXISTS closed CASCADE; CREATE SCHEMA closed; CREATE TABLE closed.people (age int)")
    with pytest.raises(DataError, match=r"'ann' may not read 'closed.people'"):
        open_source(postgres.url("closed.people")).count(["age"])
    with pytest.raises(OutputError, match=r"'ann' may not make tables in the schema of 'closed.safe'"):
        dc.anonymize(people(), **BUDGET, output=postgres.url("closed.safe"))
    fill(postgres.url("needed"), pl.DataFrame({"a": [1]}))
    postgres.run("CREATE OR REPLACE VIEW needs AS SELECT * FROM needed")
    with pytest.raises(OutputError, match="cannot be replaced, because others depend on it"):
        dc.anonymize(people(), **BUDGET, output=postgres.url("needed"))
    postgres.run("DROP VIEW needs")
    with pytest.raises(OutputError, match="zero byte"):
        fill(postgres.url("zero"), pl.DataFrame({"a": ["x\x00y"]}))


def check_secret(error: DiscreetError) -> None:
    text = str(error) + repr(error)
    assert PASSWORD not in text
    assert "wrong-secret" not in text
    assert error.__cause__ is None
    assert "\n" not in str(error)


def test_the_password_may_come_from_the_environment(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = fill(postgres.url("people"), people())
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert open_source(without_password(url)).columns == people().columns


def test_a_connection_that_is_lost(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = fill(postgres.url("people"), people())
    check = Promises.check

    def cut(self: Promises, *arguments: Any) -> Any:
        verdict = check(self, *arguments)
        postgres.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet'")
        return verdict

    monkeypatch.setattr(Promises, "check", cut)
    with pytest.raises(OutputError, match="was lost"):
        dc.anonymize(url, **BUDGET, output=postgres.url("lost"))
    assert "lost" not in tables(url)


def test_packages_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install 'discreet\[postgres\]'"):
        open_source("postgresql://host/database?table=people")
    with pytest.raises(UsageError, match=r"pip install 'discreet\[duckdb\]'"):
        open_source("duckdb:///a.duckdb?table=people")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://host/a?table=b", "no way to open 'mysql://"),
        ("sqlite:///a.db", "does not say which table"),
        ("sqlite:///a.db?table=", "does not say which table"),
        ("sqlite:///a.db?table=a.b.c", "names no table"),
        ("sqlite:///?table=a", "names no file"),
        ("sqlite://a.db?table=a", "names no file"),
        ("sqlite:///a.db?table=a&mode=ro", "takes nothing but table, and not 'mode'"),
        ("postgresql://host:port/a?table=b", "not well formed"),
        ("postgresql://[host/a?table=b", "not well formed"),
        ("postgresql://host/a?table=b&sslmood=require", "does not know one of these settings of the URL: sslmood"),
    ],
)
def test_urls_that_make_no_sense(url: str, message: str) -> None:
    if "sslmood" in url:
        pytest.importorskip("psycopg", reason="psycopg is not here; it comes with the extra postgres")
    with pytest.raises(UsageError, match=message):
        open_source(url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:p%40ss@db.example:5433/clinic?table=people",
        "postgresql://ann@/clinic?host=/run/Postgres&password=p@ss&table=people",
        "postgresql:///clinic?sslmode=require&sslpassword=p@ss&table=a.b",
        "postgres://[::1]/clinic?table=%22odd%20name%22",
    ],
)
def test_a_password_is_never_shown(url: str) -> None:
    text = without_password(url)
    parsed, again = TableUrl.parse(url), TableUrl.parse(text)
    assert "p@ss" not in text + repr(parsed)
    assert "p%40ss" not in text
    assert (parsed.host, parsed.port, parsed.user, parsed.name) == (again.host, again.port, again.user, again.name)
    assert parsed.table == again.table
    assert without_password(text) == text
    assert is_url(url)


def test_broken_urls_are_not_shown_whole() -> None:
    assert without_password("postgresql://ann:secret@host:port/a?table=b") == "postgresql://…"
