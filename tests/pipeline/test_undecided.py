"""Columns nobody decided about: those that could tell who somebody is stop the job, all are named in what comes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.errors import MissingColumnError, UndecidedColumnError, UsageError
from discreet.job import Job
from discreet.report.numbers import rounded_percent

ROLES: dict[str, Any] = {
    "identifiers": "name",
    "quasi_identifiers": {"age": "intervals(10, 40)", "sex": "flat"},
    "sensitive": "illness",
    "privacy": ["k(3)", "distinct-l(2, illness)"],
    "suppression": "budget(20%)",
}


def table(rows: int = 400, **columns: Any) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    people = {
        "name": [f"Ada{number} Lov{number}" for number in range(rows)],
        "age": rng.integers(20, 60, rows),
        "sex": rng.choice(["f", "m"], rows),
        "illness": rng.choice(["flu", "cold", "ache"], rows),
    }
    return pl.DataFrame({**people, **columns})


def weights(rows: int = 400) -> list[int]:
    return np.random.default_rng(1).integers(10_000, 10_000_000, rows).tolist()


class TestStops:
    @pytest.mark.parametrize(
        ("column", "reason"),
        [
            ({"fnlwgt": weights()}, "In 100% of the rows"),
            (
                {"remark": [f"saw Ada{n} again" if n % 10 == 0 else "came late" for n in range(400)]},
                "of the identifier 'name'",
            ),
            ({"contact": [f"p{n % 40}@example.org" for n in range(400)]}, "e-mail addresses"),
            ({"Geburtsdatum": [f"{1950 + n % 4}-01-0{1 + n % 9}" for n in range(400)]}, "birth dates"),
            ({"patient_nbr": [1000 + n % 90 for n in range(400)]}, "medical record numbers"),
        ],
    )
    def test_before_any_search(self, column: dict[str, list[Any]], reason: str) -> None:
        seen: list[Any] = []
        with pytest.raises(UndecidedColumnError, match=reason) as error:
            dc.anonymize(table(**column), **ROLES, progress=seen.append)
        assert not seen
        assert error.value.columns == list(column) == [error.value.column]
        assert error.value.exit_code == 3
        assert error.value.topic == "undecided-column"
        assert "keep=" in error.value.message

    def test_all_are_named_at_once(self) -> None:
        both = table(fnlwgt=weights(), code=[f"{n:04}" for n in range(400)])
        with pytest.raises(UndecidedColumnError) as error:
            dc.anonymize(both, **ROLES)
        assert error.value.columns == ["fnlwgt", "code"]

    def test_what_does_not(self) -> None:
        hours = np.random.default_rng(2).integers(1, 80, 400)
        gain = [0] * 380 + list(range(20))
        release = dc.anonymize(table(**{"hours": hours, "capital-gain": gain, "recid": [0, 1] * 200}), **ROLES)
        assert [column.name for column in release.kept] == ["hours", "capital-gain", "recid"]

    def test_few_rows_say_little_about_counts_and_nothing_less_about_values(self) -> None:
        roles = {**ROLES, "privacy": "k(2)"}
        assert dc.anonymize(table(15, size=range(15)), **roles).kept[0].unique == 1
        with pytest.raises(UndecidedColumnError):
            dc.anonymize(table(15, contact=[f"p{n}@example.org" for n in range(15)]), **roles)
        with pytest.raises(UndecidedColumnError):
            dc.anonymize(table(60, size=range(60)), **roles)

    def test_a_role_is_a_way_out(self) -> None:
        people = table(fnlwgt=weights())
        assert not dc.anonymize(people, **ROLES, weights="fnlwgt").kept
        assert not dc.anonymize(people, **ROLES, class_attribute="fnlwgt").kept
        assert not dc.anonymize(people, **{**ROLES, "identifiers": ["name", "fnlwgt"]}).kept

    @pytest.mark.parametrize(
        "kind", ["pandas", "pyarrow", "lazy", "csv", "parquet", "jsonl", "sqlite", "duckdb", "relation"]
    )
    def test_every_kind_of_table(self, kind: str, tmp_path: Path) -> None:
        people = table(12_000, fnlwgt=weights(12_000), group=["a", "b", "c"] * 4_000)
        options: dict[str, Any] = {}
        data: Any = tmp_path / f"people.{kind}"
        if kind in ("pandas", "pyarrow", "lazy"):
            data = {"pandas": people.to_pandas, "pyarrow": people.to_arrow, "lazy": people.lazy}[kind]()
        elif kind in ("csv", "parquet", "jsonl"):
            {"csv": people.write_csv, "parquet": people.write_parquet, "jsonl": people.write_ndjson}[kind](data)
        elif kind == "duckdb":
            data = tmp_path / "people.parquet"
            people.write_parquet(data)
            options["engine"] = "duckdb"
        elif kind == "relation":
            duckdb = pytest.importorskip("duckdb")
            data = duckdb.connect().from_arrow(people.to_arrow())
        else:
            import sqlite3

            with sqlite3.connect(tmp_path / "clinic.db") as database:
                database.execute(
                    "CREATE TABLE people (name TEXT, age INT, sex TEXT, illness TEXT, fnlwgt INT, 'group' TEXT)"
                )
                database.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", people.rows())
            data = f"sqlite:///{tmp_path}/clinic.db?table=people"
        with pytest.raises(UndecidedColumnError) as error:
            dc.anonymize(data, **ROLES, **options)
        assert error.value.columns == ["fnlwgt"]
        release = dc.anonymize(data, **ROLES, **options, keep=["fnlwgt"])
        shares = {column.name: column.unique for column in release.kept}
        assert shares == {"fnlwgt": pytest.approx(1, abs=0.02), "group": 0}

    def test_a_large_table_is_estimated(self) -> None:
        rows = 600_000
        people = table(rows, score=np.random.default_rng(5).integers(0, 400_000, rows))
        release = dc.anonymize(people, **ROLES, keep="score")
        exact = people["score"].is_unique().mean()
        assert release.kept[0].unique == pytest.approx(exact, abs=0.01)

    @pytest.mark.parametrize(
        "value", [["a", "b"], {"who": "Ann"}, b"Ann", [{"who": "Ann"}]], ids=["list", "record", "bytes", "records"]
    )
    @pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "parquet", "jsonl", "duckdb"])
    def test_columns_nobody_can_look_into(self, value: Any, kind: str, tmp_path: Path) -> None:
        people = table(extra=[value] * 400)
        path = tmp_path / f"people.{kind}"
        data: Any = path
        if kind == "pandas":
            data = people.drop("extra").to_pandas()
            data["extra"] = [value] * 400
        elif kind == "duckdb":
            path, data = tmp_path / "people.duckdb", f"duckdb:///{tmp_path}/people.duckdb?table=people"
            with pytest.importorskip("duckdb").connect(str(path)) as connection:
                connection.register("given", people.to_arrow())
                connection.execute("CREATE TABLE people AS SELECT * FROM given")
        elif kind in ("parquet", "jsonl"):
            if isinstance(value, bytes) and kind == "jsonl":
                pytest.skip("JSON has no bytes")
            people.write_parquet(path) if kind == "parquet" else people.write_ndjson(path)
        else:
            data = people if kind == "polars" else people.lazy()
        with pytest.raises(UndecidedColumnError, match="which cannot be inspected") as error:
            dc.anonymize(data, **ROLES)
        assert error.value.columns == ["extra"]
        release = dc.anonymize(data, **ROLES, keep="extra")
        assert release.kept[0].unique is None
        assert any("'extra'" in warning for warning in release.warnings)

    def test_objects_of_several_types(self) -> None:
        frame = table().to_pandas()
        frame["extra"] = [{"who": "Ann"}, "Bo", 3, object()] * 100
        with pytest.raises(UndecidedColumnError, match="which cannot be inspected"):
            dc.anonymize(frame, **ROLES)
        frame["extra"] = ["Bo", 3] * 200
        assert dc.anonymize(frame, **ROLES).kept[0].unique == 0

    def test_columns_without_text_names(self) -> None:
        frame = table().to_pandas()
        frame[7] = [f"p{n}@example.org" for n in range(400)]
        with pytest.raises(UndecidedColumnError, match="'7': It holds e-mail addresses"):
            dc.anonymize(frame, **ROLES)
        release = dc.anonymize(frame, **ROLES, keep="7")
        assert release.kept[0].confirmed
        assert dc.apply_mapping(release.to_mapping(), frame, keep="7", broken="suppress").audit.passed

    def test_bytes_in_a_database(self, tmp_path: Path) -> None:
        import sqlite3

        with sqlite3.connect(tmp_path / "clinic.db") as database:
            database.execute("CREATE TABLE people (name TEXT, age INT, sex TEXT, illness TEXT, extra BLOB)")
            database.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", table(extra=[b"Ann"] * 400).rows())
        with pytest.raises(UndecidedColumnError, match="which cannot be inspected"):
            dc.anonymize(f"sqlite:///{tmp_path}/clinic.db?table=people", **ROLES)

    def test_people_with_several_rows(self) -> None:
        names = [f"{first}a {last}er" for first in ("Ann", "Bert", "Car", "Dor") for last in ("Bak", "Carp", "Farm")]
        more = [f"{name}{end}" for name in names for end in ("", "son", "mann")]
        visits = table(3000, Name=(more * 100)[:3000], Pat_ID=[1000 + n % 200 for n in range(3000)])
        with pytest.raises(UndecidedColumnError) as error:
            dc.anonymize(visits, **ROLES)
        assert error.value.columns == ["Name", "Pat_ID"]


class TestSensitive:
    roles: dict[str, Any] = {**ROLES, "identifiers": [], "privacy": "k(3)"}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("column", "reason"),
        [
            ({"contact": [f"p{n % 40}@example.org" for n in range(400)]}, "e-mail addresses"),
            ({"phone": [f"+49 30 {10**6 + n % 60}" for n in range(400)]}, "telephone numbers"),
            ({"Pat_ID": [1000 + n % 90 for n in range(400)]}, "numbers or codes of a person"),
            ({"surname": [f"Lov{n % 90}" for n in range(400)]}, "names of people"),
            ({"Geburtsdatum": [f"{1950 + n % 4}-01-0{1 + n % 9}" for n in range(400)]}, "birth dates"),
        ],
    )
    def test_one_that_names_people_stops(self, column: dict[str, list[Any]], reason: str) -> None:
        people, (name,) = table(**column).drop("name"), column
        with pytest.raises(UndecidedColumnError, match=reason) as error:
            dc.anonymize(people, **{**self.roles, "sensitive": ["illness", name]})
        assert error.value.columns == [name]
        assert f"the sensitive column '{name}'" in error.value.message
        assert "or sensitive" not in error.value.message
        release = dc.anonymize(people, **{**self.roles, "sensitive": ["illness", name]}, keep=name)
        assert any(f"'{name}'" in warning and "confirmed" in warning for warning in release.warnings)
        assert release.job["keep"] == [name]
        assert name not in {kept.name for kept in release.kept}
        mapping = release.to_mapping()
        assert dc.apply_mapping(mapping, people, broken="suppress").audit.passed
        del mapping["keep"]
        with pytest.raises(UndecidedColumnError, match=reason):
            dc.apply_mapping(mapping, people)

    def test_one_that_is_merely_unique_is_named_loudly(self) -> None:
        costs = np.random.default_rng(4).uniform(1000, 9000, 400).round(2)
        people = table(costs=costs).drop("name")
        release = dc.anonymize(people, **{**self.roles, "sensitive": ["illness", "costs"]})
        assert any("'costs'" in warning and "find" in warning for warning in release.warnings)
        assert not any("'illness'" in warning and "find" in warning for warning in release.warnings)


class TestKeep:
    def test_a_confirmed_column_is_released_and_named_loudly(self, tmp_path: Path) -> None:
        release = dc.anonymize(table(fnlwgt=weights()), **ROLES, keep="fnlwgt", output=tmp_path / "safe.csv")
        assert release.kept[0].confirmed
        assert "'fnlwgt'" in release.warnings[0]
        assert release.notes[: len(release.warnings)] == release.warnings
        assert release.job["keep"] == ["fnlwgt"]
        assert "warning: " in release.summary()
        assert "warning: " not in release.summary(warnings=False)
        page = release.report(tmp_path / "report.md").read_text(encoding="utf-8")
        assert "Warning: " in page
        assert "fnlwgt" in page
        data = json.loads(release.certificate(tmp_path / "certificate.json").read_text(encoding="utf-8"))
        assert {"name": "fnlwgt", "unique": "100 %"} in data["unchanged"]
        assert json.loads(json.dumps(release.to_dict()))["kept"][0]["unique"] == "100 %"

    def test_it_must_be_there_and_have_no_role(self) -> None:
        with pytest.raises(MissingColumnError):
            dc.anonymize(table(), **ROLES, keep="fnlwgt")
        for column in ("name", "age"):
            with pytest.raises(UsageError, match="has a role"):
                dc.anonymize(table(), **ROLES, keep=column)

    def test_in_a_job_file(self, tmp_path: Path) -> None:
        table(fnlwgt=weights()).write_csv(tmp_path / "people.csv")
        job = Job(input=str(tmp_path / "people.csv"), **{**ROLES, "sensitive": ["illness"]}, keep="fnlwgt")
        saved = Job.load(job.save(tmp_path / "job.yaml"))
        assert saved.keep == ["fnlwgt"]
        assert saved.run().kept[0].confirmed
        with pytest.raises(UndecidedColumnError):
            job.model_copy(update={"keep": []}).plan()

    def test_a_front_is_found_and_its_releases_stop(self) -> None:
        roles = {key: ROLES[key] for key in ("identifiers", "quasi_identifiers", "sensitive")}
        people = table(fnlwgt=weights())
        with pytest.raises(UndecidedColumnError):
            dc.pareto(people, **roles).release(3)
        assert dc.pareto(people, **roles, keep="fnlwgt").release(3).kept[0].confirmed

    def test_a_mapping_remembers_what_was_confirmed(self) -> None:
        people = table(fnlwgt=weights())
        mapping = dc.anonymize(people, **ROLES, keep="fnlwgt").to_mapping()
        assert dc.apply_mapping(mapping, people, broken="suppress").audit.passed
        del mapping["keep"]
        with pytest.raises(UndecidedColumnError):
            dc.apply_mapping(mapping, people)
        assert dc.apply_mapping(mapping, people, keep="fnlwgt", broken="suppress").audit.passed

    def test_anonymizer(self) -> None:
        people = table(fnlwgt=weights())
        with pytest.raises(UndecidedColumnError):
            dc.Anonymizer(**ROLES).fit(people)
        assert dc.Anonymizer(**ROLES, keep="fnlwgt").fit_transform(people).height


class TestWarnings:
    def test_an_identifier_that_repeats(self) -> None:
        visits = table(patient_nbr=[1000 + n // 4 for n in range(400)])
        release = dc.anonymize(visits, **{**ROLES, "identifiers": ["name", "patient_nbr"]})
        assert "'patient_nbr' repeats" in release.warnings[0]
        assert "k counts rows" in release.warnings[0]

    def test_only_numbers_of_people_say_that_k_counts_rows(self) -> None:
        more = {
            "patient_nbr": [1000 + n // 4 for n in range(400)],
            "KundenNr": [f"K{n // 2:04}" for n in range(400)],
            "full_name": [f"Ada{n // 4} Lov{n // 4}" for n in range(400)],
            "income": [20_000 + 10 * (n // 3) for n in range(400)],
            "fnlwgt": [n // 3 + 0.5 for n in range(400)],
            "telephone": [f"+49 30 {10**6 + n // 4}" for n in range(400)],
        }
        release = dc.anonymize(table(**more), **{**ROLES, "identifiers": ["name", *more]})
        (warning,) = [warning for warning in release.warnings if "repeat" in warning]
        assert "'patient_nbr' and 'KundenNr' repeat, 4.0 and 2.0 rows" in warning
        assert not any(f"'{name}'" in warning for name in ("full_name", "income", "fnlwgt", "telephone"))

    def test_identifiers_that_several_people_share_do_not_count(self) -> None:
        shared = table(first_name=["Ann", "Bo", "Cy", "Di"] * 100, row=range(400))
        release = dc.anonymize(shared, **{**ROLES, "identifiers": ["name", "first_name", "row"]})
        assert not any("repeats" in warning for warning in release.warnings)

    def test_sensitive_without_a_promise(self) -> None:
        release = dc.anonymize(table(), **{**ROLES, "privacy": "k(3)"})
        assert "distinct-l(3, illness)" in release.warnings[0]
        assert not dc.anonymize(table(), **ROLES).warnings

    def test_sensitive_values_that_are_all_but_equal(self) -> None:
        spelled = table().with_columns(illness=pl.Series(["Flu", "flu", " FLU ", "cold"] * 100))
        notes = dc.anonymize(spelled, **ROLES).notes
        assert any("'illness' has values that differ only in case" in note for note in notes)
        assert not any("Flu" in note or "FLU" in note for note in notes)

    def test_a_quasi_identifier_nobody_named(self) -> None:
        release = dc.anonymize(table(city=["Ulm", "Bonn"] * 200), **ROLES)
        assert any("'city'" in warning for warning in release.warnings)


@pytest.mark.parametrize(
    ("share", "rows", "text"),
    [(0.5, 99, "not shown for so few rows"), (0.012, 400, "under 5 %"), (1.0, 10**6, "100 %")],
)
def test_shares_tell_nobody(share: float, rows: int, text: str) -> None:
    assert text in rounded_percent(share, rows)


def test_the_share_of_unique_values_is_that_of_the_released_rows(tmp_path: Path) -> None:
    """People who were left out do not count: 20 of them have notes of their own, and nobody else has."""
    table = pl.DataFrame(
        {
            "zip": ["1"] * 60 + ["2"] * 60 + [f"9{n}" for n in range(20)],
            "note": ["a", "b", "c"] * 40 + [f"own {n}" for n in range(20)],
        }
    )
    release = dc.anonymize(
        table,
        quasi_identifiers={"zip": None},
        max_levels={"zip": 0},
        keep="note",
        privacy="k(5)",
        suppression="budget(20%)",
    )
    assert release.suppressed == 20
    assert [column.unique for column in release.kept] == [0.0]
    assert release.to_dict()["kept"][0]["unique"] == "under 5 %"
    assert "| note | under 5 % |" in release.report(tmp_path / "report.md").read_text()
