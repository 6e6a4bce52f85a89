"""``discreet pareto``: fronts on the screen and in files, the release of a point, and what goes wrong."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import Result

import discreet as dc

Run = Callable[..., Result]

TABLE = ("pareto", "people.csv")
QI = ("--qi", "sex,education,marital_status")
IDENTIFIERS = ("--identifiers", "person_id,name,birth_date,zip,income")
ASK = (*TABLE, *QI, "--sensitive", "diagnosis")


def front_of(folder: Path, **options: Any) -> Any:
    return dc.pareto(
        folder / "people.csv",
        quasi_identifiers=["sex", "education", "marital_status"],
        sensitive="diagnosis",
        **options,
    )


def test_on_the_screen(run: Run, folder: Path) -> None:
    result = run(*ASK, "--suppression", "budget(2%)")
    front = front_of(folder, suppression="budget(2%)")
    assert result.exit_code == 0
    assert (result.stdout, result.stderr) == (front.summary() + "\n", "")
    assert {file.name for file in folder.iterdir()} == {"people.csv"}


def test_promises_beside_the_axis(run: Run, folder: Path) -> None:
    """-k, -l and --privacy are kept by every point and by the release of one."""
    asked = (*ASK, "--suppression", "budget(5%)", "-l", "3", "--privacy", "k(4)")
    data = json.loads(run(*asked, "--json").stdout)
    front = front_of(folder, suppression="budget(5%)", privacy=["k(4)", "distinct-l(3, diagnosis)"])
    assert data["axes"] == ["k"]
    assert sorted(data["promises"]) == ["distinct-l(3, diagnosis)", "k(4)"]
    assert data["points"] == front.to_dict()["points"]
    assert min(point["values"]["k"] for point in data["points"]) >= 4
    result = run(*asked, *IDENTIFIERS, "--release", "5", "--release-to", "safe.csv")
    assert result.exit_code == 0, result.output
    check = ("audit", "safe.csv", "--qi", "sex,education,marital_status", "--sensitive", "diagnosis")
    assert run(*check, "-k", "5", "-l", "3").exit_code == 0
    refused = run(*asked, "--method", "poka")
    assert refused.exit_code == 2
    assert "promises beside the axis" in refused.stderr


def test_explained(run: Run, folder: Path) -> None:
    result = run(*ASK, "--explain")
    assert result.stdout.endswith(front_of(folder).explain() + "\n")


def test_files(run: Run, folder: Path) -> None:
    result = run(*ASK, "-o", "front.html", "-o", "front.svg", "-o", "front.json", "-o", "front.csv")
    assert result.exit_code == 0, result.output
    assert "The front is in front.html.\n" in result.stdout
    front = front_of(folder)
    assert json.loads((folder / "front.json").read_text())["points"] == front.to_dict()["points"]
    assert pl.read_csv(folder / "front.csv")["k"].to_list() == [point.k for point in front]
    assert (folder / "front.svg").read_text().startswith("<svg")
    assert (folder / "front.html").read_text().startswith("<!doctype html>")


def test_json(run: Run, folder: Path) -> None:
    data = json.loads(run(*ASK, "--json").stdout)
    expected = {"format": 1, **front_of(folder).to_dict()}
    assert {key: data[key] for key in data if key != "seconds"} == {
        key: expected[key] for key in expected if key != "seconds"
    }


def test_quiet(run: Run) -> None:
    result = run(*ASK, "-q", "-o", "front.json")
    assert (result.exit_code, result.output) == (0, "")


@pytest.mark.parametrize("wanted", ["5", "knee"])
def test_release(wanted: str, run: Run, folder: Path) -> None:
    result = run(*ASK, *IDENTIFIERS, "--suppression", "budget(2%)", "--release", wanted, "--release-to", "safe.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("The release is in safe.csv.\n")
    front = front_of(folder, suppression="budget(2%)")
    point = front.knee().point if wanted == "knee" else front.point(5)
    safe = pl.read_csv(folder / "safe.csv")
    assert safe.height == 600 - point.suppressed
    again = run("audit", "safe.csv", *QI, "-k", str(point.k))
    assert again.exit_code == 0, again.output


def test_axes(run: Run) -> None:
    data = json.loads(run(*ASK, "--axis", "k", "--axis", "theta(diagnosis)", "--json").stdout)
    assert data["axes"] == ["k", "theta(diagnosis)"]
    data = json.loads(run(*ASK, "--axis", "average-risk", "--json").stdout)
    assert data["axes"] == ["average-risk"]
    assert 0 < data["points"][-1]["values"]["average-risk"] < 0.01


def test_poka(run: Run) -> None:
    data = json.loads(run(*ASK, "--method", "poka", "--depth", "1", "--json").stdout)
    assert (data["method"], data["depth"], data["compared"]) == ("poka", 1, True)
    assert "POkA missed" in run(*ASK, "--method", "poka").stdout
    told = json.loads(run(*ASK, "--method", "poka", "--start", "sex=0", "--json").stdout)
    assert told["start"]["sex"] == 0 < told["start"]["education"]
    same = json.loads(run(*ASK, "--method", "poka(start={sex: 0})", "--json").stdout)
    assert same["points"] == told["points"]
    assert same["points"][-1]["levels"] == told["start"]
    assert all(point["values"]["k"] < same["points"][-1]["values"]["k"] for point in same["missed"])


def test_other_schemes(run: Run, folder: Path) -> None:
    data = json.loads(run(*ASK, "--scheme", "subtree", "--json").stdout)
    assert data["points"][0]["levels"] == {}
    assert data["points"][0]["lower_bound"] == 0
    assert data["space"] == 0
    cuts = {point["values"]["k"]: point["loss"] for point in data["points"]}
    for point in front_of(folder):
        assert min(loss for k, loss in cuts.items() if k >= point.k) <= point.loss + 1e-9


def test_costs_levels_and_weights(run: Run) -> None:
    data = json.loads(
        run(*ASK, "--weight", "sex=3", "--min-level", "sex=1", "--max-level", "education=0", "--json").stdout
    )
    assert data["cost"] == "LM(weights={sex: 3})"
    assert {(point["levels"]["sex"], point["levels"]["education"]) for point in data["points"]} == {(1, 0)}


def test_time_limit(run: Run) -> None:
    result = run(*ASK, "--axis", "t", "--suppression", "budget(5%)", "--time-limit", "0.000001", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["complete"] is False


def test_ctrl_c_keeps_the_front_so_far(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.cli._watch import Watch

    def press(watch: Watch, progress: Any) -> None:
        if not watch.interrupted:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Watch, "__call__", press)
    result = run(*ASK, "--axis", "t", "--suppression", "budget(5%)", "-o", "front.json")
    assert result.exit_code == 130
    assert result.stderr.endswith("discreet: stopped early; the front so far was kept.\n")
    data = json.loads((folder / "front.json").read_text())
    assert data["complete"] is False
    assert data["points"]


CASES: dict[str, tuple[tuple[str, ...], int, str]] = {
    "no qi": (TABLE, 2, "Name them with --qi"),
    "no input": (("pareto",), 2, "Missing argument 'INPUT'"),
    "no such file": (("pareto", "no.csv", *QI), 3, "There is no file 'no.csv'"),
    "no such column": ((*TABLE, "--qi", "sexx"), 3, "did you mean 'sex'?"),
    "unknown axis": ((*ASK, "--axis", "kk"), 2, "There is no axis 'kk'"),
    "axis twice": ((*ASK, "--axis", "k", "--axis", "k"), 2, "The axis k is given twice"),
    "axis without column": ((*TABLE, *QI, "--axis", "t"), 2, "needs a sensitive column"),
    "class-records": ((*ASK, "--suppression", "class-records"), 2, "choose none or a budget"),
    "local": ((*ASK, "--scheme", "local"), 2, "does not go with the scheme local"),
    "poka over cuts": ((*ASK, "--scheme", "subtree", "--method", "poka"), 2, "make k the axis"),
    "unknown method": ((*ASK, "--method", "magic"), 2, "The method of a front is exact"),
    "depth of zero": ((*ASK, "--method", "poka", "--depth", "0"), 2, "--depth"),
    "depth without poka": ((*ASK, "--depth", "2"), 2, "The depth is one of the method poka"),
    "start without poka": ((*ASK, "--start", "sex=0"), 2, "The start is one of the method poka"),
    "start twice": ((*ASK, "--method", "poka(start={sex: 0})", "--start", "sex=0"), 2, "given twice"),
    "unknown option of poka": ((*ASK, "--method", "poka(height=2)"), 2, "no option 'height'"),
    "start off the lattice": ((*ASK, "--method", "poka", "--start", "sex=9"), 2, "a level of 'sex'"),
    "unknown suffix": ((*ASK, "-o", "front.pdf"), 2, "'front.pdf' says none of these"),
    "no folder": ((*ASK, "-o", "no/front.html"), 6, "There is no folder"),
    "a folder": ((*ASK, "-o", "sub.csv"), 6, "is a folder"),
    "over the input": ((*ASK, "-o", "people.csv"), 6, "would overwrite a file that is read"),
    "over a hierarchy": ((*ASK, "--hierarchy", "sex=sex.csv", "-o", "sex.csv"), 6, "overwrite a file that is read"),
    "release over a hierarchy": (
        (*ASK, "--hierarchy", "sex=sex.csv", "--release", "5", "--release-to", "sex.csv"),
        6,
        "overwrite a file that is read",
    ),
    "one file for two": (
        (*ASK, "-o", "a.csv", "--release", "knee", "--release-to", "a.csv"),
        6,
        "Two things would be written to 'a.csv'",
    ),
    "release without a place": ((*ASK, "--release", "5"), 2, "--release and --release-to go together"),
    "place without a release": ((*ASK, "--release-to", "safe.csv"), 2, "--release and --release-to go together"),
    "release of words": ((*ASK, "--release", "five", "--release-to", "safe.csv"), 2, "a number, as 5"),
    "release of nothing": ((*ASK, "--release", "nan", "--release-to", "safe.csv"), 2, "a number, as 5"),
    "release over the input": ((*ASK, "--release", "5", "--release-to", "people.csv"), 6, "is the input itself"),
    "release as a picture": ((*ASK, "--release", "5", "--release-to", "safe.svg"), 2, "which format"),
    "k beyond the table": (
        (*ASK, "--release", "601", "--release-to", "safe.csv"),
        2,
        "reaches k = 601; the best has 600",
    ),
    "no time": ((*ASK, "--time-limit", "0"), 2, "--time-limit"),
}


@pytest.mark.parametrize("case", CASES)
def test_one_line_and_an_exit_code(case: str, run: Run, folder: Path) -> None:
    arguments, code, sentence = CASES[case]
    (folder / "sub.csv").mkdir()
    tree = "male;*\nfemale;*\n"
    (folder / "sex.csv").write_text(tree)
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert sentence in result.stderr
    assert result.stderr.startswith("discreet: ")
    assert result.stderr.count("\n") == 1
    assert {file.name for file in folder.iterdir()} == {"people.csv", "sub.csv", "sex.csv"}
    assert (folder / "sex.csv").read_text() == tree


def test_no_rows(run: Run, folder: Path) -> None:
    (folder / "empty.csv").write_text("sex,education\n")
    result = run("pareto", "empty.csv", "--qi", "sex")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "has no rows" in result.stderr
