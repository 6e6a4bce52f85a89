"""Several tables released together: what leaves, what is refused, and that all of them leave or none."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from canary import found_in
from discreet.cli import program
from discreet.errors import AuditError, DataError, OutputError, UndecidedColumnError, UsageError
from discreet.job import Job
from discreet.pipeline import publish_tables as publishing
from two_tables import OPTIONS, people_and_visits, with_people_without_visits


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    return people_and_visits()


@pytest.fixture(scope="module")
def some(tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    return with_people_without_visits(tables)


def test_it_is_the_release_of_the_joined_table(tables: dict[str, pl.DataFrame]) -> None:
    together = dc.anonymize(tables, **OPTIONS)
    alone = dc.anonymize(tables["people"].join(tables["visits"], on="patient_id"), **OPTIONS, pseudonyms=True)
    assert (together.cost, together.levels, together.suppressed) == (alone.cost, alone.levels, alone.suppressed)
    people, visits = together.frames["people"], together.frames["visits"]
    assert people.columns == ["patient_id", "sex", "zip"]
    assert visits.columns == ["patient_id", "age", "department", "diagnosis"]
    order = ["patient_id", "sex", "zip", "age", "department", "diagnosis"]
    joined = people.join(visits, on="patient_id").select(order)
    assert joined.sort(order).equals(together.frame.select(order).sort(order))
    assert people.height == together.audit.people == together.people - together.suppressed_people
    assert set(people["patient_id"].str.len_chars()) == {16}


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "set"])
def test_people_without_visits_are_crowds_of_their_own(scheme: str, some: dict[str, pl.DataFrame]) -> None:
    release = dc.anonymize(some, **{**OPTIONS, "scheme": scheme, "suppression": "budget(40%)", "time_limit": 2})
    people, visits = release.frames["people"], release.frames["visits"]
    absent = people.join(visits, on="patient_id", how="anti")
    assert absent.height > 0
    assert absent.group_by("sex", "zip").len()["len"].min() >= 4
    joined = people.join(visits, on="patient_id").group_by("sex", "zip", "age")
    assert joined.agg(pl.col("patient_id").n_unique())["patient_id"].min() >= 4
    assert "any visits" not in release.job["quasi_identifiers"]
    assert "any visits" not in release.job["max_levels"]
    assert any("'any visits' is a quasi-identifier" in note for note in release.notes)
    assert release.frame.filter(pl.col("any visits") == "no").select("age", "diagnosis").null_count().row(0) == (
        absent.height,
        absent.height,
    )


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "set"])
@pytest.mark.parametrize("privacy", ["k(3, on=[age, sex])", "k(3, any=1)", "k(2, any=2)", "k(2, any=3)"])
def test_whoever_knows_a_value_of_a_visit_knows_that_there_is_one(
    privacy: str, scheme: str, some: dict[str, pl.DataFrame]
) -> None:
    """The visits of people without any have no value in the release, however general that of others is."""
    few = some["people"].head(60)
    given = {"people": few, "visits": some["visits"].join(few.select("patient_id"), on="patient_id", how="semi")}
    changes = {"privacy": [privacy], "scheme": scheme, "suppression": "none", "time_limit": 2}
    release = dc.anonymize(given, **{**OPTIONS, **changes})
    people, visits = release.frames["people"], release.frames["visits"]
    assert people.join(visits, on="patient_id", how="anti").height > 0
    joined = people.join(visits, on="patient_id", how="left")
    by, least = (["age", "sex"], 3) if "on" in privacy else (["age"], 2)
    assert joined.group_by(by).agg(pl.col("patient_id").n_unique())["patient_id"].min() >= least
    assert release.job["privacy"] == [privacy]


@pytest.mark.parametrize("scheme", ["full-domain", "set"])
def test_nobody_hears_of_people_without_visits_who_were_all_left_out(
    scheme: str, tables: dict[str, pl.DataFrame], tmp_path: Path
) -> None:
    gone = tables["people"]["patient_id"].head(3).implode()
    without = {**tables, "visits": tables["visits"].filter(~pl.col("patient_id").is_in(gone))}
    job = {**OPTIONS, "scheme": scheme, "time_limit": 2}
    release = dc.anonymize(without, **job, output=f"{tmp_path}/safe/")
    for name in ("report.html", "report.md", "report.json", "report.txt"):
        release.report(tmp_path / name, sections=[release.attacks(only_released=True)])
    release.protection_page(tmp_path / "page.html")
    shown = [path.read_text() for path in tmp_path.glob("*.*")]
    shown += [str(release), str(release.to_dict()), str(release.verdict), release._repr_html_(), str(release.audit)]
    shown += [str(release.risk(only_released=True).to_dict()), str(release.columns), str(release.levels)]
    assert not any("any visits" in text for text in shown)
    assert "any visits" not in release.frame.columns
    assert release.job["scheme"] == scheme
    assert any("All people who have no row in 'visits' were left out" in note for note in release.notes)
    assert release.find(age=40).to_dict()
    worst = release.cost / release.normalized_cost  # every row costs as many quasi-identifiers as were named
    assert worst == pytest.approx(3 * release.n)
    pairs = dc.anonymize(without, **{**OPTIONS, "privacy": ["k(4)", "k(6, any=2)"]})
    assert len(pairs.audit.checks[1].key_sets) == 3
    with pytest.raises(UsageError, match="any=3"):
        dc.anonymize(
            without,
            **{**OPTIONS, "quasi_identifiers": ["age", "sex"], "keep": ["department", "zip"], "privacy": "k(2, any=3)"},
        )


@pytest.mark.parametrize("where", ["people", "visits"])
@pytest.mark.parametrize("output", [None, "csv", "parquet"])
def test_households_are_counted_and_do_not_leave(
    where: str, output: str | None, tables: dict[str, pl.DataFrame], tmp_path: Path
) -> None:
    """One household of eight people would be two classes of four people, and is none of four households."""
    given = dict(tables)
    if where == "visits":
        homes = given["people"].select("patient_id", "household_id")
        given = {
            "people": given["people"].drop("household_id"),
            "visits": given["visits"].join(homes, on="patient_id", maintain_order="left"),
        }
    if output is not None:
        for name, table in given.items():
            table.write_csv(tmp_path / f"{name}.csv") if output == "csv" else table.write_parquet(
                tmp_path / f"{name}.parquet"
            )
        given = {name: tmp_path / f"{name}.{output}" for name in given}
    job = {**OPTIONS, "household": "household_id", "identifiers": ["visit_date"]}
    target = {} if output is None else {"output": f"{tmp_path}/safe/"}
    release = dc.anonymize(given, **job, **target)
    assert (release.audit.unit, release.audit.smallest_class >= 4) == ("household", True)
    assert all("household_id" not in frame.columns for frame in release.frames.values())
    joined = tables["people"].join(tables["visits"], on="patient_id")
    whole = joined if where == "people" else joined.select(release.original.data.columns)
    rows = release.rows_of(release.original.data)
    owned = release.frame.with_columns(release.original.data["household_id"].gather(rows))
    homes_of_class = owned.group_by("age", "sex", "zip").agg(pl.col("household_id").n_unique())["household_id"]
    assert homes_of_class.min() == release.audit.smallest_class
    assert whole["household_id"].n_unique() == release.people
    assert release.risk().household is not None
    assert release.risk().people == release.frame["patient_id"].n_unique()
    page = release.protection_page(tmp_path / "page.md").read_text()
    named = next(line for line in page.splitlines() if "released as pseudonyms" in line)
    assert ("patient" in named, "household" in named) == (True, False)
    if output is None:
        release.write(f"{tmp_path}/later/")
        asked = dc.anonymize(given, **job, pseudonyms=True)
        assert "household_id" in asked.frames[where].columns
        assert asked.audit.unit == "household"


def test_a_wrong_number_of_households_is_noticed(
    tables: dict[str, pl.DataFrame], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(publishing, "_owners", lambda numbered, *others: owners(numbered, *others))
    plain = publishing.read_people

    def owners(numbered: pl.DataFrame, promises: Any, joined: pl.DataFrame, kept: Any) -> Any:
        return plain(joined.with_columns(household_id=1), promises.quasi_identifiers, ["diagnosis"], "household_id")

    with pytest.raises(AuditError):
        dc.anonymize(
            tables,
            **{**OPTIONS, "household": "household_id", "identifiers": ["visit_date"], "privacy": "k(4)"},
            output=f"{tmp_path}/safe/",
        )
    assert not (tmp_path / "safe").exists()


def test_every_kind_of_frame(tables: dict[str, pl.DataFrame]) -> None:
    pytest.importorskip("pandas")
    want = dc.anonymize(tables, **OPTIONS).frames
    kinds = {"people": tables["people"].to_pandas(), "visits": tables["visits"].to_arrow()}
    found = dc.anonymize(kinds, **OPTIONS).frames
    assert [type(found[name]) for name in kinds] == [type(kinds[name]) for name in kinds]
    assert pl.from_pandas(found["people"]).equals(want["people"])
    assert pl.DataFrame(pl.from_arrow(found["visits"])).equals(want["visits"])
    lazy = dc.anonymize({name: table.lazy() for name, table in tables.items()}, **OPTIONS).frames
    assert all(isinstance(frame, pl.LazyFrame) and frame.collect().equals(want[name]) for name, frame in lazy.items())


@pytest.mark.parametrize(
    ("ending", "written"), [("csv", "csv"), ("parquet", "parquet"), ("tsv", "tsv"), ("jsonl", "jsonl")]
)
def test_files(ending: str, written: str, some: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.{ending}" for name in some}
    for name, path in paths.items():
        table = some[name]
        if ending == "parquet":
            table.write_parquet(path)
        elif ending == "jsonl":
            table.write_ndjson(path)
        else:
            table.write_csv(path, separator="\t" if ending == "tsv" else ",")
    release = dc.anonymize(paths, **OPTIONS, output=f"{tmp_path}/safe/")
    assert sorted(path.name for path in (tmp_path / "safe").iterdir()) == [f"people.{written}", f"visits.{written}"]
    assert release.audit.passed
    people, visits = release.frames["people"], release.frames["visits"]
    assert people["patient_id"].is_unique().all()
    assert set(visits["patient_id"]) <= set(people["patient_id"])
    in_order = dc.anonymize(paths, **OPTIONS, order="keep", output=f"{tmp_path}/kept/")
    for name in paths:  # the same rows, shuffled in each table
        kept, shuffled = in_order.frames[name].drop("patient_id").rows(), release.frames[name].drop("patient_id").rows()
        assert sorted(map(str, kept)) == sorted(map(str, shuffled))
        assert kept != shuffled
    again = dc.audit(
        {name: tmp_path / "safe" / f"{name}.{written}" for name in paths},
        quasi_identifiers=["age", "sex", "zip"],
        privacy="k(4)",
        person="patient_id",
    )
    assert (again.passed, again.classes, again.people) == (True, release.audit.classes, release.audit.people)


def test_files_of_several_formats_become_parquet(tables: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    tables["people"].write_csv(tmp_path / "people.csv")
    given = {"people": tmp_path / "people.csv", "visits": tables["visits"]}
    dc.anonymize(given, **OPTIONS, output=f"{tmp_path}/safe/")
    assert sorted(path.name for path in (tmp_path / "safe").iterdir()) == ["people.parquet", "visits.parquet"]


def test_written_later(some: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    release = dc.anonymize(some, **OPTIONS)
    release.write(f"{tmp_path}/safe/")
    for name, frame in release.frames.items():
        found = pl.read_parquet(tmp_path / "safe" / f"{name}.parquet")
        assert found.sort(found.columns).equals(frame.sort(frame.columns))
    with pytest.raises(OutputError, match="end the output in /"):
        release.write(tmp_path / "safe.csv")
    with pytest.raises(OutputError, match="exists already"):
        release.write(f"{tmp_path}/safe/", overwrite=False)


def test_a_folder_with_other_things_is_not_replaced(tables: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    (tmp_path / "safe").mkdir()
    (tmp_path / "safe" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds other things"):
        dc.anonymize(tables, **OPTIONS, output=f"{tmp_path}/safe/")
    assert (tmp_path / "safe" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("fault", ["ungeneralized", "orphan", "twice", "rows"])
def test_all_tables_leave_or_none(
    fault: str, tables: dict[str, pl.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong in one table, the audit of all notices, and an earlier release stays as it was."""
    dc.anonymize(tables, **OPTIONS, output=f"{tmp_path}/safe/")
    before = {path.name: path.read_bytes() for path in (tmp_path / "safe").iterdir()}
    divided = publishing.divided

    def wrong(*arguments: Any) -> dict[str, pl.DataFrame]:
        found = divided(*arguments)
        people, visits = found["people"], found["visits"]
        if fault == "ungeneralized":
            people = people.with_columns(zip=pl.int_range(pl.len()).cast(pl.String))
        elif fault == "orphan":
            people = people.head(people.height - 20)
        elif fault == "twice":
            people = pl.concat([people, people.head(3)])
        else:
            visits = visits.head(visits.height - 40)
        return {"people": people, "visits": visits}

    monkeypatch.setattr(publishing, "divided", wrong)
    with pytest.raises((AuditError, DataError)):
        dc.anonymize(tables, **{**OPTIONS, "seed": 4}, output=f"{tmp_path}/safe/")
    assert {path.name: path.read_bytes() for path in (tmp_path / "safe").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["safe"]


def test_three_tables(tables: dict[str, pl.DataFrame]) -> None:
    rng = np.random.default_rng(1)
    who = rng.choice(tables["people"]["patient_id"].to_numpy(), 300)
    drugs = pl.DataFrame({"patient_id": who, "drug": rng.choice(["a", "b", "c"], 300)})
    three = {**tables, "drugs": drugs}
    quasi = {**OPTIONS["quasi_identifiers"], "drug": "flat"}
    release = dc.anonymize(three, **{**OPTIONS, "quasi_identifiers": quasi, "suppression": "budget(50%)"})
    people, visits, found = release.frames.values()
    joined = people.join(visits, on="patient_id").join(found, on="patient_id", how="left")
    sizes = joined.group_by("sex", "zip", "age", "drug").agg(pl.col("patient_id").n_unique())["patient_id"]
    assert sizes.min() >= 4
    kept = set(people["patient_id"])
    assert set(visits["patient_id"]) | set(found["patient_id"]) <= kept
    assert found.height <= 300
    with pytest.raises(UsageError, match="more than two tables"):
        dc.anonymize(three, **{**OPTIONS, "quasi_identifiers": quasi, "suppression": "class-records"})


def test_columns_of_the_same_name_are_named_with_their_table(tables: dict[str, pl.DataFrame]) -> None:
    both = {
        "people": tables["people"].with_columns(age=pl.lit(30) + pl.int_range(pl.len()) % 4),
        "visits": tables["visits"],
    }
    with pytest.raises(
        UsageError, match=r"is in the tables 'people' and 'visits'; say which is meant, as in 'visits.age'"
    ):
        dc.anonymize(both, **OPTIONS)
    quasi = {"people.age": "intervals(5)", "visits.age": "intervals(20, 40)", "sex": "flat"}
    release = dc.anonymize(
        both, **{**OPTIONS, "quasi_identifiers": quasi, "identifiers": ["household_id", "visit_date", "zip"]}
    )
    assert "age" in release.frames["people"].columns
    assert "age" in release.frames["visits"].columns
    assert {"people.age", "visits.age"} <= {*release.frame.columns}
    audited = dc.audit(release.frames, quasi_identifiers=list(quasi), privacy="k(4)", person="patient_id")
    assert audited.passed


def test_a_column_that_singles_people_out_in_their_table_is_noticed(tables: dict[str, pl.DataFrame]) -> None:
    """Joined with visits, most values occur several times."""
    often = pl.concat([tables["visits"]] * 4)
    people = tables["people"].with_columns(code=pl.int_range(pl.len()) * 7 + 1000)
    with pytest.raises(UndecidedColumnError, match="'code'"):
        dc.anonymize({"people": people, "visits": often}, **OPTIONS)
    release = dc.anonymize({"people": people, "visits": often}, **{**OPTIONS, "keep": ["department", "code"]})
    assert {column.name: column.unique for column in release.kept}["code"] == 1.0


def test_values_of_people_are_found_in_other_tables(tables: dict[str, pl.DataFrame]) -> None:
    visits = tables["visits"].with_columns(department=pl.format("asked by {}", "patient_id"))
    with pytest.raises(UndecidedColumnError, match="department"):
        dc.anonymize({**tables, "visits": visits}, **{**OPTIONS, "keep": []})


@pytest.mark.parametrize("kind", [str, int, float])
def test_keys_of_other_types_are_equal_if_they_are_written_alike(
    kind: type, tables: dict[str, pl.DataFrame], tmp_path: Path
) -> None:
    """A CSV file has no types, and a Parquet file or a frame does."""
    number = {name: i for i, name in enumerate(tables["people"]["patient_id"])}
    plain = {
        name: table.with_columns(pl.col("patient_id").replace_strict(number, return_dtype=pl.Int64))
        for name, table in tables.items()
    }
    plain["people"].write_csv(tmp_path / "people.csv")
    dtype = {str: pl.String, int: pl.Int32, float: pl.Float64}[kind]
    visits = plain["visits"].with_columns(pl.col("patient_id").cast(pl.Int64).cast(dtype))
    visits.write_parquet(tmp_path / "visits.parquet")
    mixed = {"people": tmp_path / "people.csv", "visits": tmp_path / "visits.parquet"}
    want, found = dc.anonymize(plain, **OPTIONS), dc.anonymize(mixed, **OPTIONS)
    assert (found.cost, found.people, found.audit.people) == (want.cost, want.people, want.audit.people)
    assert dc.evaluate.risk(mixed, quasi_identifiers=["age"], person="patient_id").people == want.people
    assert "Release report: people.csv and visits.parquet" in found.report(tmp_path / "report.md").read_text()
    assert "Data protection page: people and visits" in want.protection_page(tmp_path / "page.md").read_text()


def test_other_ways_out_are_of_one_table(tables: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    release = dc.anonymize(tables, **OPTIONS)
    for refused in (
        lambda: release.certificate(tmp_path / "certificate.json"),
        lambda: release.mapping(tmp_path / "mapping.json"),
        release.policy,
        lambda: dc.pareto(tables, quasi_identifiers=["age"]),
    ):
        with pytest.raises(UsageError):
            refused()
    assert not list(tmp_path.iterdir())
    with pytest.raises(UsageError, match="in a database or cluster"):
        dc.anonymize({**tables, "visits": "spark:///?table=visits"}, **OPTIONS)


def test_reports_and_evaluations_are_of_the_joined_table(some: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    release = dc.anonymize(some, **OPTIONS)
    assert release.risk().people == release.audit.people
    assert release.utility().to_dict()
    text = release.report(tmp_path / "report.html").read_text()
    assert "are linked by the pseudonyms in" in text
    assert not found_in(text.encode(), ["QZcanary"])
    loaded = pickle.loads(pickle.dumps(release))
    assert loaded.frames["people"].equals(release.frames["people"])
    assert not found_in(pickle.dumps(release), ["QZcanary"])
    assert not found_in(json.dumps(release.to_dict()).encode(), ["QZcanary"])


def test_jobs_and_commands(tables: dict[str, pl.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, table in tables.items():
        table.write_csv(f"{name}.csv")
    options = "--person patient_id --identifiers household_id,visit_date --keep department --qi age,sex,zip -k 4"
    options += " --suppression budget(20%) -o safe/ --save-job job.yaml"
    words = f"anonymize people.csv --table visits=visits.csv {options}"
    result = CliRunner().invoke(program, words.split())
    assert result.exit_code == 0, result.output
    first = {path.name: path.read_bytes() for path in Path("safe").iterdir()}
    job = Job.load("job.yaml")
    assert (job.tables, job.input) == ({"people": "people.csv", "visits": "visits.csv"}, "people.csv")
    assert "input" not in Path("job.yaml").read_text()
    assert job.run().frames.keys() == {"people", "visits"}
    assert {path.name: path.read_bytes() for path in Path("safe").iterdir()} == first
    Job(**{**job.model_dump(), "output": "other/"}).save("jobs.json")
    assert Job.load("jobs.json").tables == job.tables
    plan = CliRunner().invoke(program, ["run", "job.yaml", "--dry-run"])
    assert "420 people, not rows" in plan.output
    audit = "audit safe/people.csv --table visits=safe/visits.csv --person patient_id --qi age,sex,zip -k 4"
    assert CliRunner().invoke(program, audit.split()).exit_code == 0
    assert CliRunner().invoke(program, audit.replace("-k 4", "-k 400").split()).exit_code == 5
    for more, sentence in (
        ("--certificate c.json", "A certificate is of one table"),
        ("--mapping m.json", "A mapping is of one table"),
        ("-o safe.csv", "end the output in /"),
    ):
        text = words.replace("-o safe/", "") if more.startswith("-o") else words
        wrong = CliRunner().invoke(program, [*text.split(), *more.split()])
        assert wrong.exit_code != 0
        assert sentence in wrong.output


def test_reports_name_files_without_their_folders(tables: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.csv" for name in tables}
    for name, path in paths.items():
        tables[name].write_csv(path)
    release = dc.anonymize(paths, **OPTIONS, output=f"{tmp_path}/safe/")
    text = release.report(tmp_path / "report.md").read_text()
    assert "visits: visits.csv" in text
    assert str(tmp_path) not in text


def test_a_job_may_name_the_table_of_people_as_input() -> None:
    job = Job(input="people.csv", tables={"visits": "visits.csv"}, quasi_identifiers="age", privacy="k(2)", person="id")
    assert job.tables == {"people": "people.csv", "visits": "visits.csv"}
    with pytest.raises(UsageError, match="Two tables would be called 'people'"):
        Job(input="people.csv", tables={"people": "b.csv"}, quasi_identifiers="age", privacy="k(2)")
    with pytest.raises(UsageError, match="The key 'tables'"):
        Job(input="people.csv", tables=["b.csv"], quasi_identifiers="age", privacy="k(2)")


def test_input_that_changes_meanwhile_is_noticed(
    tables: dict[str, pl.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {name: tmp_path / f"{name}.csv" for name in tables}
    for name, path in paths.items():
        tables[name].write_csv(path)
    divided = publishing.divided

    def changing(*arguments: Any) -> dict[str, pl.DataFrame]:
        paths["visits"].write_text(paths["visits"].read_text() + "\n")
        return divided(*arguments)

    monkeypatch.setattr(publishing, "divided", changing)
    with pytest.raises(DataError, match="changed while it was being read"):
        dc.anonymize(paths, **OPTIONS, output=f"{tmp_path}/safe/")
    assert not (tmp_path / "safe").exists()
