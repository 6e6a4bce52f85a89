"""``--keep`` on the command line, and warnings where errors go."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Run = Callable[..., Result]
BASIC = (
    "anonymize",
    "people.csv",
    "--identifiers",
    "person_id,name,birth_date,zip",
    "--qi",
    "sex,education",
    "-k",
    "5",
)


def test_a_column_nobody_decided_about(run: Run, folder: Path) -> None:
    result = run(*BASIC, "-o", "safe.csv")
    assert result.exit_code == 3
    assert "'income'" in result.stderr
    assert "--keep income" in result.stderr
    assert "undecided-column" in result.stderr
    assert not (folder / "safe.csv").exists()
    assert run("explain", "undecided-column").exit_code == 0


def test_it_can_be_confirmed(run: Run, folder: Path) -> None:
    result = run(*BASIC, "-o", "safe.csv", "--keep", "income,city", "--keep", "children", "--save-job", "job.yaml")
    assert result.exit_code == 0, result.output
    assert "warning: Kept as confirmed" in result.stderr
    assert "warning:" not in result.stdout
    assert "keep:" in (folder / "job.yaml").read_text()
    assert run("run", "job.yaml", "--quiet").stderr == ""
    data = json.loads(run("run", "job.yaml", "--json").stdout)
    assert data["kept"][0]["name"] == "city"
    assert any("income" in warning for warning in data["warnings"])


def test_info_says_what_needs_a_decision(run: Run) -> None:
    columns = {column["name"]: column for column in json.loads(run("info", "people.csv", "--json").stdout)["columns"]}
    assert columns["income"]["needs_decision"]
    assert columns["income"]["reasons"]
    assert not columns["sex"]["needs_decision"]
    assert "--keep" in run("info", "people.csv").stdout


def test_info_sees_people_who_have_several_rows(run: Run, folder: Path) -> None:
    names = [
        f"{first} {last}"
        for first in ("Ann", "Bea", "Cora", "Dora", "Eva")
        for last in ("Lee", "Cruz", "Weiss", "Okafor")
    ]
    rows = [f"{names[n % 20]},{1000 + n % 20},{n % 2}" for n in range(600)]
    (folder / "visits.csv").write_text("\n".join(["Name,Pat_ID,sex", *rows]))
    found = {column["name"]: column for column in json.loads(run("info", "visits.csv", "--json").stdout)["columns"]}
    for name in ("Name", "Pat_ID"):
        assert found[name]["needs_decision"], name
        assert "identifier" in found[name].values(), name
