"""``discreet info``, ``hierarchy`` and ``sample``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import Result

from discreet.samples import COLUMNS, sample

Run = Callable[..., Result]


def test_info(run: Run) -> None:
    result = run("info", "people.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("600 rows, 12 columns")
    for column in COLUMNS:
        assert f"\n{column} " in result.stdout


@pytest.mark.parametrize("odd", [False, True], ids=["plain", "odd names"])
def test_info_ends_with_a_command_that_runs(odd: bool, run: Run, folder: Path) -> None:
    table, reading = "people.csv", []
    if odd:
        table, reading = "my people.csv", ["--na", "?", "--na=n/a"]
        people = pl.read_csv(folder / "people.csv").rename({"sex": "sex, at birth", "zip": "zip 'code'"})
        people.write_csv(folder / table)
    lines = run("info", table, *reading).stdout.split("\nCheck the roles, then make a release:\n")[1]
    command = shlex.split(lines.replace("\\\n", ""))
    assert command[:5] == ["discreet", "anonymize", table, "-o", table.replace(".csv", "-safe.csv")]
    assert [part for part in command if part.startswith("--na=")] == ["--na=?", "--na=n/a"] * odd
    assert command[-4:] == ["--suppression", "budget(5%)", "--scheme", "best"]
    planned = run(*command[1:], "--dry-run")
    assert planned.exit_code == 0, planned.output


def test_info_names_the_release_of_a_compressed_table(run: Run, folder: Path) -> None:
    pl.read_csv(folder / "people.csv").write_csv(folder / "people.csv.gz", compression="gzip")
    assert " -o people-safe.csv " in run("info", "people.csv.gz").stdout


def test_info_has_no_command_without_quasi_identifiers(run: Run, folder: Path) -> None:
    pl.DataFrame({"colour": ["red", "blue"] * 30}).write_csv(folder / "paint.csv")
    assert "discreet anonymize" not in run("info", "paint.csv").stdout


def test_info_as_json(run: Run) -> None:
    people = sample(600, seed=2)
    data = json.loads(run("info", "people.csv", "--json").stdout)
    assert data["rows"] == 600
    columns = {column["name"]: column for column in data["columns"]}
    for name in COLUMNS:
        assert columns[name]["missing"] == people[name].null_count()
        assert columns[name]["distinct"] == people[name].drop_nulls().n_unique()
        assert columns[name]["unique"] == pytest.approx(people[name].is_unique().sum() / 600, abs=1e-6)
    roles = {name: column["suggested_role"] for name, column in columns.items()}
    assert (roles["name"], roles["zip"], roles["diagnosis"]) == (
        "identifier",
        "quasi-identifier",
        "sensitive",
    )
    together = data["quasi_identifiers"]
    sizes = people.group_by(together["columns"]).len()["len"]
    assert together["classes"] == len(sizes)
    assert together["unique_rows"] == (sizes == 1).sum()


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_info_takes_as_long_for_each_of_many_columns(
    kind: str, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is looked at grows with the columns, and not with their square: plans see one column each."""
    looked_at = {}
    lazy, scan = pl.DataFrame.lazy, pl.scan_parquet
    monkeypatch.setattr("discreet.engines.polars.source.WIDE", 20)
    for columns in (25, 200):
        table = pl.DataFrame({f"c{i}": ["a", "b", None] for i in range(columns)})
        getattr(table, {"csv": "write_csv", "jsonl": "write_ndjson"}.get(kind, "write_parquet"))(folder / f"t.{kind}")
        seen: list[int] = []
        with monkeypatch.context() as patch:
            patch.setattr(pl.DataFrame, "lazy", lambda frame, seen=seen: (seen.append(frame.width), lazy(frame))[1])
            patch.setattr(pl, "scan_parquet", lambda *a, seen=seen, n=columns, **b: (seen.append(n), scan(*a, **b))[1])
            data = json.loads(run("info", f"t.{kind}", "--json").stdout)
        assert [column["distinct"] for column in data["columns"]] == [2] * columns
        assert [column["missing"] for column in data["columns"]] == [1] * columns
        looked_at[columns] = sum(seen)
    assert looked_at[200] <= 12 * looked_at[25]


def test_info_never_shows_a_value(run: Run) -> None:
    shown = run("info", "people.csv").stdout + run("info", "people.csv", "--json").stdout
    assert not any(name in shown for name in sample(600, seed=2)["name"])


@pytest.mark.parametrize("column", COLUMNS)
def test_make_check_and_show_a_hierarchy(column: str, run: Run, folder: Path) -> None:
    assert run("hierarchy", "make", "people.csv", "--column", column, "-o", "h.csv").exit_code == 0
    result = run("hierarchy", "check", "h.csv", "--data", "people.csv", "--column", column)
    assert result.exit_code == 0, result.output
    assert "0 leaves do not occur" in result.stdout
    assert run("hierarchy", "show", "h.csv").stdout.startswith("* (")


def test_make_a_hierarchy_with_a_builder(run: Run) -> None:
    made = run("hierarchy", "make", "people.csv", "--column", "zip", "--with", "mask(digits=5)", "-o", "zip.csv")
    assert "5 levels above them to zip.csv" in made.stdout
    drawn = run("hierarchy", "show", "zip.csv", "--depth", "1").stdout.splitlines()
    assert len(drawn) == 7
    assert len(run("hierarchy", "show", "zip.csv", "--depth", "1", "--limit", "2").stdout.splitlines()) == 4


def test_check_finds_what_is_lacking(run: Run, folder: Path) -> None:
    (folder / "h.csv").write_text("male;*\nother;*\n", encoding="utf-8")
    assert run("hierarchy", "check", "h.csv").exit_code == 0
    result = run("hierarchy", "check", "h.csv", "--data", "people.csv", "--column", "sex")
    assert result.exit_code == 3
    assert "Column 'sex': 1 of its 2 distinct values" in result.stderr


def test_sample(run: Run, folder: Path) -> None:
    result = run("sample", "-n", "20", "--seed", "4", "-o", "p.parquet", "--hierarchies", "trees")
    assert "wrote 20 made-up people to p.parquet" in result.stdout
    assert pl.read_parquet("p.parquet").equals(sample(20, seed=4))
    assert (folder / "trees" / "education.csv").exists()
    assert run("sample", "-n", "20", "-o", "p.csv", "-q").output == ""
