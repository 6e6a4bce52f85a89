"""Tables of Spark by URL: read where they are, written complete or not at all, and never fetched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import polars as pl
import pytest

import discreet as dc
from discreet.engines.relation import write as _spark_table
from discreet.errors import AuditError, DataError, OutputError, UsageError
from discreet.pipeline.publish import Promises
from discreet.runtime.locations import TableUrl, is_url, without_password
from lazy import arrow_for_spark, rows_of, spark

QUASI: dict[str, Any] = {"age": "intervals(10, 20)", "sex": "flat"}
JOB: dict[str, Any] = {"identifiers": "name", "quasi_identifiers": QUASI, "sensitive": "disease", "privacy": "k(4)"}


def test_urls() -> None:
    assert str(TableUrl.parse("spark:///?table=clinic.people")) == "spark:///?table=clinic.people"
    assert without_password("spark://host:7077/?table=people") == "spark://host:7077/?table=people"
    assert is_url("spark:///?table=people")
    for wrong in ("spark:///", "spark:///folder?table=people", "spark:///?table=people&user=ann"):
        with pytest.raises(UsageError, match="spark:///"):
            TableUrl.parse(wrong)


@pytest.fixture
def table() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": [f"Person {number}" for number in range(60)],
            "age": [None if number % 20 == 7 else 20 + number * 7 % 40 for number in range(60)],
            "sex": [None if number % 15 == 3 else "mf"[number % 2] for number in range(60)],
            "disease": [["flu", "hiv", "ache", None][number % 4] for number in range(60)],
        }
    )


@pytest.fixture
def session(table: pl.DataFrame) -> Any:
    made = spark()
    made.sql("CREATE DATABASE IF NOT EXISTS clinic")
    made.createDataFrame(arrow_for_spark(table)).write.mode("overwrite").saveAsTable("clinic.people")
    yield made
    made.sql("DROP DATABASE clinic CASCADE")


def names(session: Any) -> list[str]:
    return sorted(found["tableName"] for found in session.sql("SHOW TABLES IN clinic").collect())


def test_from_table_to_table(session: Any, table: pl.DataFrame, tmp_path: Path) -> None:
    source, target = "spark:///?table=clinic.people", "spark:///?table=clinic.safe"
    wanted = dc.anonymize(table, **JOB)
    for data in (source, session.table("clinic.people"), table, table.lazy(), table.to_pandas()):
        release = dc.anonymize(data, **JOB, output=target)
        assert release.to_dict()["audit"] == wanted.to_dict()["audit"]
        written = rows_of(session.table("clinic.safe"))
        assert sorted(written.rows(), key=str) == sorted(wanted.frame.rows(), key=str)
        assert names(session) == ["people", "safe"]
    assert dc.audit(target, quasi_identifiers=[*QUASI], privacy="k(4)").passed
    assert not dc.audit(target, quasi_identifiers=[*QUASI], privacy="k(40)").passed
    release = dc.anonymize(source, **JOB, output=tmp_path / "safe.parquet", engine="spark", spark=session)
    assert sorted(pl.read_parquet(tmp_path / "safe.parquet").rows(), key=str) == sorted(wanted.frame.rows(), key=str)
    assert dc.evaluate.risk(target, quasi_identifiers=[*QUASI]).rows == 60


def test_all_or_nothing(session: Any, table: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that fails its audit, or cannot get its name, leaves the table that has the name as it was."""
    target = "spark:///?table=clinic.safe"
    dc.anonymize("spark:///?table=clinic.people", **JOB, output=target)
    before = sorted(rows_of(session.table("clinic.safe")).rows(), key=str)

    def fail(self: Promises, *_: Any) -> None:
        raise AuditError("broken")

    def stuck(session: Any, old: Any, new: Any) -> None:
        if str(new) == "clinic.safe" and not old.name.endswith("_old"):
            raise OutputError("stuck")
        renamed(session, old, new)

    renamed = _spark_table._rename
    for place, name, instead in ((Promises, "check", fail), (_spark_table, "_rename", stuck)):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, instead)
            with pytest.raises((AuditError, OutputError)):
                dc.anonymize(table, **{**JOB, "privacy": "k(9)"}, output=target)
        assert names(session) == ["people", "safe"]
        assert sorted(rows_of(session.table("clinic.safe")).rows(), key=str) == before


def test_files_are_where_renaming_does_not_move_them_and_go_with_the_table(session: Any, table: pl.DataFrame) -> None:
    home = Path(unquote(urlparse(session.catalog.getDatabase("clinic").locationUri).path))
    folders = []
    for _ in range(2):
        dc.anonymize(table, **JOB, output="spark:///?table=clinic.safe")
        folders.append([path.name for path in home.iterdir() if path.name.startswith("safe")])
    (first,), (second,) = folders
    assert first != second
    assert re.fullmatch("safe__discreet_[0-9a-f]{12}", second)
    assert session.catalog.getTable("clinic.safe").tableType == "EXTERNAL"


def test_what_was_put_aside_comes_back(session: Any, table: pl.DataFrame) -> None:
    """A process killed while two tables change places leaves none under the name; the next job mends that."""
    url = TableUrl.parse("spark:///?table=clinic.safe")
    dc.anonymize(table, **JOB, output=str(url))
    aside = "clinic.safe__discreet_0123456789ab_old"
    session.sql(f"ALTER TABLE clinic.safe RENAME TO {aside}")
    _spark_table.check_spark_table(url)
    assert names(session) == ["people", "safe"]
    session.sql(f"CREATE TABLE {aside} AS SELECT * FROM clinic.safe")
    session.sql("CREATE TABLE clinic.other__discreet_0123456789ab_old AS SELECT * FROM clinic.safe")
    _spark_table.check_spark_table(url)
    assert names(session) == ["other__discreet_0123456789ab_old", "people", "safe"]


def test_what_is_refused(session: Any, table: pl.DataFrame) -> None:
    session.sql("CREATE OR REPLACE VIEW clinic.seen AS SELECT * FROM clinic.people")
    with pytest.raises(DataError, match=r"no table 'clinic\.peopel' in Spark; did you mean 'clinic\.people'"):
        dc.anonymize("spark:///?table=clinic.peopel", **JOB)
    with pytest.raises(OutputError, match="is a view"):
        dc.anonymize(table, **JOB, output="spark:///?table=clinic.seen")
    with pytest.raises(OutputError, match="no database 'clinique'"):
        dc.anonymize(table, **JOB, output="spark:///?table=clinique.safe")
    with pytest.raises(OutputError, match="the input itself"):
        dc.anonymize("spark:///?table=clinic.people", **JOB, output="spark:///?table=clinic.people")
    with pytest.raises(UsageError, match="worked on by the database itself"):
        dc.anonymize("spark:///?table=clinic.people", **JOB, engine="duckdb")
    assert dc.anonymize("spark:///?table=clinic.seen", **JOB).n == 60


@pytest.mark.parametrize(("scheme", "rows_made"), [("full-domain", 300_000), ("local", 30_000)])
def test_a_table_larger_than_the_driver(session: Any, scheme: str, rows_made: int) -> None:
    """More rows than the 512 MB of the driver, which refuses results of more than one: only counts come to it."""
    rows = session.range(0, rows_made, numPartitions=8).selectExpr(
        "20 + id % 9 AS age",
        "CASE id % 3 WHEN 0 THEN 'm' WHEN 1 THEN 'f' END AS sex",
        "CASE WHEN id % 5 = 0 THEN 'flu' ELSE 'ache' END AS disease",
        "repeat(CAST(id % 97 AS STRING), 1000) AS letter",
    )
    settings: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "sensitive": "disease", "privacy": "k(2000)"}
    settings["keep"] = "letter"  # its digits look like codes of people
    settings |= {"scheme": scheme, "cost": "NCP", "seed": 1} if scheme == "local" else {}
    with pytest.raises(Exception, match="maxResultSize"):
        rows.toArrow()
    release = dc.anonymize(rows, **settings, output="spark:///?table=clinic.large")
    assert release.audit.rows == rows_made
    assert release.audit.smallest_class >= 2_000
    size = session.table("clinic.large").selectExpr("sum(length(letter)) AS n").collect()[0]["n"]
    assert size > (512 << 20 if rows_made == 300_000 else 50 << 20)
