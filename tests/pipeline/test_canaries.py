"""Values that must not get out are in no report, certificate or job file and not on the screen, nor are few people."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program

NAMES = [f"CANARY-{number:04d}" for number in range(400)]
RARE_TOWN = "Qaanaaq"
RARE_ILLNESS = "Kuru"
_CHECKSUM = re.compile(r"\b(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b")
OUTLIER = 987_654_321
RARE_DATE = "1899-03-17"
SECRET = "Zyklop"


@pytest.fixture
def table() -> pl.DataFrame:
    """Four hundred people, of whom three live where nobody else does, one is rich and one is very old."""
    towns = ["Ulm", "Bonn", "Kiel", "Trier"]
    return pl.DataFrame(
        {
            "name": NAMES,
            "town": [RARE_TOWN if n in (5, 6, 7) else towns[n % 4] for n in range(400)],
            "income": [OUTLIER if n == 5 else 20_000 + 100 * (n * 7 % 300) for n in range(400)],
            "born": [RARE_DATE if n == 5 else f"{1950 + n % 50}-{1 + n % 12:02d}-{1 + n % 27:02d}" for n in range(400)],
            "job": [SECRET if n == 5 else ["cook", "nurse"][n % 2] for n in range(400)],
            "illness": [RARE_ILLNESS if n == 5 else ["flu", "ache", "cold"][n % 3] for n in range(400)],
        }
    ).with_columns(pl.col("born").str.to_date())


WAYS: dict[str, dict[str, Any]] = {
    "full-domain": {"suppression": "budget(10%)"},
    "subtree": {"scheme": "subtree", "suppression": "budget(10%)"},
    "class-records": {"suppression": "class-records"},
    "violating-records": {
        "suppression": "violating-records",
        "privacy": ["l+(0.7, illness)"],
        "scheme": "subtree",
        "quasi_identifiers": ["town", "job"],
        "identifiers": ["name", "income", "born"],
    },
    "local": {"scheme": "local", "cost": "NCP", "suppression": "budget(10%)"},
}
CANARIES = [RARE_TOWN, str(OUTLIER), f"{OUTLIER:,}", RARE_DATE, "1899", SECRET]


def holds(text: str, canary: str) -> bool:
    """Whether a text holds a canary.

    A canary that is a number must not be part of a longer number: seconds and checksums may have any digits.
    """
    if canary.replace(",", "").isdigit():
        return re.search(rf"(?<!\d)(?<!\d\.){canary}(?!\d)", _CHECKSUM.sub("", text)) is not None
    return canary in text


def test_canaries_are_found_but_not_by_chance() -> None:
    found = ["born in 1899", "1899-03-17", "[1899.0, 1950)", "x=1899;", '"1899"', "1899", "year1899er"]
    assert [text for text in found if not holds(text, "1899")] == []
    chance = ["0.1899 s", "11899 rows", "18990", "3a1899bc0f", "12.1899034"]
    assert [text for text in chance if holds(text, "1899")] == []
    assert holds("at most 987,654,321.", f"{OUTLIER:,}")


@pytest.mark.parametrize("way", WAYS)
def test_nothing_gets_out(way: str, table: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table.write_csv("people.csv")
    settings: dict[str, Any] = {
        "identifiers": ["name"],
        "quasi_identifiers": ["town", "income", "born", "job"],
        "privacy": ["k(5)"],
        **WAYS[way],
    }
    command = ["anonymize", "people.csv", "-o", "safe.csv", "--sensitive", "illness", "--save-job", "job.yaml"]
    command += ["--identifiers", ",".join(settings["identifiers"]), "--qi", ",".join(settings["quasi_identifiers"])]
    for key in ("privacy", "suppression", "scheme", "cost"):
        for value in [settings[key]] if isinstance(settings.get(key), str) else settings.get(key, []):
            command += [f"--{key}", value]
    reports = [f"report.{suffix}" for suffix in ("html", "md", "txt", "json")]
    for name in reports:
        command += ["--report", name]
    result = CliRunner().invoke(program, [*command, "--certificate", "certificate.json"])
    assert result.exit_code == 0, result.output
    released = set(pl.read_csv("safe.csv", infer_schema=False)["town"]) | {None}
    written = {name: Path(name).read_text() for name in (*reports, "certificate.json", "job.yaml")}
    written["screen"] = result.output
    for name, text in written.items():
        assert not re.search(r"CANARY", text), name
        for canary in CANARIES:
            if way == "local" and any(canary in str(value) for value in released):
                continue
            assert not holds(text, canary), f"{canary} in {name}"
        assert RARE_ILLNESS not in text, name


def test_no_small_cell_is_drawn(table: pl.DataFrame, tmp_path: Path) -> None:
    """Every number of people in the data of the charts is of enough people, also with a promise of large classes."""
    for k in (2, 5, 12):
        release = dc.anonymize(
            table,
            identifiers=["name"],
            quasi_identifiers={"town": None, "income": None, "born": "dates(decade)", "job": None},
            sensitive=["illness"],
            privacy=f"k({k})",
            suppression="budget(20%)",
        )
        assert release.least == max(k, 5)
        for column in release.columns:
            counts = [bar.rows for bar in column.bars] + [part for bar in column.bars for part in bar.parts]
            for steps in (column.before, column.after):
                counts += [] if steps is None else [int(rows) for rows in steps.rows]
            counts += [box.rows for row in column.tree if not isinstance(row, int) for box in row]
            counts += [rows for _, rows in column.detail]
            assert all(count == 0 or count >= release.least for count in counts), (k, column)


def test_left_out_cannot_be_found_by_subtraction(table: pl.DataFrame) -> None:
    release = dc.anonymize(
        table,
        identifiers=["name", "income", "born", "job"],
        quasi_identifiers={"town": "flat"},
        privacy="k(5)",
        suppression="budget(10%)",
    )
    assert release.suppressed == 3
    (column,) = release.columns
    assert RARE_TOWN not in str(column)
    assert sum(bar.rows for bar in column.bars) == release.audit.rows
    assert column.of == table.filter(pl.col("town") != RARE_TOWN)["town"].n_unique()
    data = release.to_dict()
    assert [data[key] for key in ("rows", "suppressed", "cost", "normalized_cost", "lower_bound")] == [None] * 5
    assert data["left_out"] == "fewer than 5"


def test_errors_of_mappings_and_certificates_hold_no_value(table: pl.DataFrame, tmp_path: Path) -> None:
    common = table.filter(pl.col("job") != SECRET).drop("born", "income")
    release = dc.anonymize(common, identifiers=["name"], quasi_identifiers=["town", "job"], privacy="k(3)")
    with pytest.raises(dc.DataError) as error:
        dc.apply_mapping(release.to_mapping(), table.drop("born", "income"))
    assert SECRET not in str(error.value)
    assert "fewer than 5 rows" in str(error.value)


def test_notes_count_no_few_people(table: pl.DataFrame) -> None:
    with_gaps = table.with_columns(town=pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise("town"))
    release = dc.anonymize(
        with_gaps,
        identifiers=["name", "income", "born"],
        quasi_identifiers=["town", "job"],
        privacy="k(2)",
        suppression="budget(10%)",
    )
    assert any("fewer than 5 rows" in note for note in release.notes) == (release.frame["town"].null_count() > 0)
    assert "in 3 rows" not in json.dumps(release.to_dict())


def leaks(text: str, released: str) -> list[str]:
    """Return what a text holds that must not get out: names, and rare values that were not released."""
    found = ["a name"] if "CANARY" in text else []
    rare = [*CANARIES, RARE_ILLNESS]
    return found + [canary for canary in rare if holds(text, canary) and canary not in released]


def test_evaluations_comparisons_and_notebooks_hold_no_value(table: pl.DataFrame, tmp_path: Path) -> None:
    """What is measured against the original, in every form it can be shown or written."""
    common = {
        "identifiers": ["name"],
        "quasi_identifiers": {"town": "flat", "income": "intervals(10000)", "born": "dates(decade)", "job": "flat"},
        "sensitive": ["illness"],
        "suppression": "budget(20%)",
    }
    releases = {f"k={k}": dc.anonymize(table, privacy=f"k({k})", **common) for k in (3, 10)}
    release = releases["k=3"]
    assert release.suppressed > 0
    released = " ".join(str(value) for column in release.frame.drop("illness") for value in column.unique())
    comparison = dc.compare(releases, queries=20)
    data = {
        "notebook": release._repr_html_() + release.audit._repr_html_() + comparison._repr_html_(),
        "repr": f"{release!r} {release} {comparison!r} {comparison} {release.neighbours!r}",
        "risk": f"{release.risk()} {json.dumps(release.risk().to_dict())}",
        "utility": f"{release.utility()} {json.dumps(release.utility().to_dict())}",
        "attacks": f"{release.attacks()} {json.dumps(release.attacks().to_dict())}",
        "comparison": json.dumps(comparison.to_dict()),
    }
    for suffix in ("html", "md", "txt", "json", "csv"):
        data[f"comparison.{suffix}"] = comparison.save(tmp_path / f"c.{suffix}").read_text("utf-8")
    for suffix in ("html", "md"):
        file = release.report(tmp_path / f"r.{suffix}", [release.attacks()], evaluate=True)
        data[f"report.{suffix}"] = file.read_text("utf-8")
        assert "Utility before and after" in data[f"report.{suffix}"]
        assert "A little more, a little less" not in data[f"report.{suffix}"]
    assert {name: leaks(text, released) for name, text in data.items() if leaks(text, released)} == {}


def test_a_release_that_is_pickled_leaves_the_table_behind(table: pl.DataFrame) -> None:
    release = dc.anonymize(
        table.drop("income", "born", "illness"),
        identifiers=["name"],
        quasi_identifiers=["town", "job"],
        privacy="k(5)",
        suppression="budget(5%)",
    )
    assert release.provenance is not None
    assert b"CANARY" not in pickle.dumps(release.provenance)
    again = pickle.loads(pickle.dumps(release.provenance))
    assert again is None
    with pytest.raises(dc.UsageError, match="original="):
        replace(release, provenance=again).utility()


def test_a_mapping_says_what_it_holds(table: pl.DataFrame, tmp_path: Path) -> None:
    """A mapping is made of values of the data; it is the one file that has them, and it says so first."""
    release = dc.anonymize(
        table.drop("income", "born", "illness"),
        identifiers=["name"],
        quasi_identifiers=["town", "job"],
        privacy="k(5)",
        suppression="budget(5%)",
    )
    data = json.loads(release.mapping(tmp_path / "mapping.json").read_text())
    assert "values of the original data" in data["warning"]
    assert "CANARY" not in json.dumps(data)


@pytest.mark.parametrize(
    "asked",
    [
        {"privacy": "k(500)"},
        {"privacy": "k(300)", "max_levels": {"town": 0}},
        {"privacy": "distinct-l(9, illness)"},
        {"privacy": "k(2)", "quasi_identifiers": {"town": {"South": ["Ulm"], "West": ["Bonn"]}}},
        {"privacy": "k(2)", "types": {"town": "integer"}},
        {"privacy": "k(2)", "quasi_identifiers": {"town": "intervals(10)"}},
    ],
)
def test_error_messages_hold_no_value(asked: dict[str, Any], table: pl.DataFrame) -> None:
    settings: dict[str, Any] = {
        "identifiers": ["name"],
        "quasi_identifiers": {"town": "flat"},
        "sensitive": ["illness"],
        **asked,
    }
    with pytest.raises(dc.DiscreetError) as error:
        dc.anonymize(table.drop("income", "born", "job"), **settings)
    assert leaks(str(error.value), "") == []
