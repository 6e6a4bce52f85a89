"""Attacks on releases that count people: everybody is attacked once, and success is finding the person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program
from discreet.errors import MissingColumnError
from discreet.evaluate import attacks

QUASI = {"age": "intervals(5, 10, 20, 40)", "sex": "flat"}


def visits(seed: int, people: int = 50, *, constant: bool = False) -> pl.DataFrame:
    """Visits of people, most of them by a few: classes have far more rows than people."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), np.where(rng.random(people) < 0.2, 12, 1) + rng.integers(0, 2, people))
    born = rng.integers(20, 60, people)
    return pl.DataFrame(
        {
            "pid": [f"p{number}" for number in person],
            "age": born[person] + (0 if constant else rng.integers(0, 6, person.size)),
            "sex": ["f" if number % 2 else "m" for number in born[person]],
            "ill": pl.Series(["a", "b", "c"]).gather(rng.integers(0, 3, person.size)),
        }
    )


def made(seed: int, **job: Any) -> tuple[pl.DataFrame, dc.Release]:
    table = visits(seed, constant=bool(seed % 2))
    choices = {"quasi_identifiers": QUASI, "sensitive": "ill", "privacy": "k(4)", "suppression": "budget(20%)"}
    return table, dc.anonymize(table, **{**choices, "person": "pid", "seed": seed, **job})


def by_hand(table: pl.DataFrame, release: dc.Release) -> tuple[dict[str, float], float]:
    """How likely each person is found on average over their rows, and the same in rows, in plain Python."""
    numbers = release.rows_of(table).to_list()
    shown = dict(zip(numbers, release.frame.select("age", "sex").rows(), strict=True))
    of_value = {table.row(number)[1:3]: row for number, row in shown.items()}
    crowd: dict[Any, set[str]] = {}
    rows: dict[Any, int] = {}
    for number, cell in shown.items():
        crowd.setdefault(cell, set()).add(table["pid"][number])
        rows[cell] = rows.get(cell, 0) + 1
    chance: dict[str, list[float]] = {}
    by_row = []
    for pid, age, sex, _ in table.iter_rows():
        cell = of_value.get((age, sex))
        chance.setdefault(pid, []).append(0.0 if cell is None else 1 / len(crowd[cell]))
        by_row.append(0.0 if cell is None else 1 / rows[cell])
    return {pid: float(np.mean(each)) for pid, each in chance.items()}, float(np.mean(by_row))


@pytest.mark.parametrize("seed", range(6))
def test_linkage_finds_people_and_not_rows(seed: int) -> None:
    table, release = made(seed)
    chance, by_row = by_hand(table, release)
    drawn = [attacks(table, release, only="linkage", seed=each) for each in range(40 if seed == 0 else 4)]
    for report in drawn:
        link = report.linkage
        assert (report.unit, link.records) == ("person", table["pid"].n_unique())
        assert link.success <= 1 / 4
        assert link.naive == 1 / release.audit.people
        assert report["linkage"].guessed == "person"
        assert "find" in report["linkage"].sentence or "pick a person by one row" in report["linkage"].sentence
        assert report.attackers["prosecutor"] == 1 / release.audit.smallest_class
    mean = float(np.mean([report.linkage.success for report in drawn]))
    exact = float(np.mean(list(chance.values())))
    assert mean == pytest.approx(exact, rel=0.02 if seed == 0 else 0.2)
    assert exact > 1.5 * by_row, "rows would give another figure"
    if seed % 2:  # whose values never change: whichever row is drawn
        assert mean == pytest.approx(exact)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", ["frame", "csv", "pseudonyms", "parquet"])
def test_however_the_release_is_given(seed: int, form: str, tmp_path: Path) -> None:
    table, release = made(seed, pseudonyms=form == "pseudonyms")
    given: Any = release.frame
    original: Any = table
    if form in ("csv", "parquet"):
        given = tmp_path / f"safe.{form}"
        release.write(given)
        original = tmp_path / f"visits.{form}"
        table.write_csv(original) if form == "csv" else table.write_parquet(original)
    roles: dict[str, Any] = {"quasi_identifiers": QUASI, "sensitive": ["ill"], "privacy": "k(4)"}
    want = attacks(table, release, seed=2)
    found = attacks(original, given, **roles, suppression="budget(20%)", person="pid", seed=2)
    assert found.unit == "person"
    for name in ("linkage", "homogeneity", "singling-out", "distance", "refinement"):
        assert found[name].success == pytest.approx(want[name].success), name
        assert found[name].attempts == want[name].attempts
    by_row = attacks(original, given, **roles, suppression="budget(20%)", seed=2)
    assert by_row["homogeneity"].success != found["homogeneity"].success
    assert by_row.linkage.success < found.linkage.success


@pytest.mark.parametrize("scheme", ["local", "local(people=apart)"])
@pytest.mark.parametrize("seed", range(3))
def test_local_recoding_and_all_attacks(scheme: str, seed: int) -> None:
    table, release = made(seed, scheme=scheme, suppression="none", quasi_identifiers=["age", "sex"], cost="NCP")
    _, earlier = made(seed, privacy="k(6)")
    others = visits(seed + 50)
    report = release.attacks(control=others, earlier=[earlier.frame.drop("ill")], population=pl.concat([table, others]))
    assert report.unit == "person"
    assert report.linkage.success <= 1 / 4 + 1e-9
    assert report.linkage.records == table["pid"].n_unique()
    ran = {name: report[name] for name in report.results if report[name].ran}
    assert {"linkage", "order", "singling-out", "homogeneity", "composition", "membership", "distance"} <= set(ran)
    assert all(0 <= each.success <= 1 for each in ran.values())
    assert not report["minimality"].ran
    assert {report[name].guessed for name in ("linkage", "distance", "composition")} == {"person"}
    assert report["singling-out"].success <= 1


@pytest.mark.parametrize("seed", range(5))
def test_predicates_fit_people(seed: int) -> None:
    """One person with many rows in a class is isolated by it, however many rows there are."""
    table = pl.DataFrame({"pid": ["a"] * 9 + ["b"] * 4, "age": [30] * 9 + [40] * 4, "ill": ["x"] * 13})
    shown = table.select("age", "ill")
    report = attacks(table, shown, quasi_identifiers=["age"], sensitive=["ill"], person="pid", seed=seed)
    assert report["singling-out"].success == 1.0
    assert report.linkage.success == report.linkage.singled_out == 1.0
    assert attacks(table, shown, quasi_identifiers=["age"], sensitive=["ill"]).linkage.success < 0.2


def test_households_are_found_where_they_are_counted() -> None:
    table = dc.sample_visits(600, seed=3).select("patient_id", "household_id", "sex", "age")
    job = {"person": "patient_id", "household": "household_id", "suppression": "budget(30%)"}
    release = dc.anonymize(table, quasi_identifiers={"age": "intervals(20, 40)", "sex": "flat"}, privacy="k(5)", **job)
    report = release.attacks(only=["linkage"])
    assert (report.unit, report["linkage"].guessed) == ("household", "household")
    assert report.linkage.records == table["household_id"].n_unique()
    assert report.linkage.success <= 0.2
    assert any("is a household, among all households" in note for note in report.notes)


def test_rows_are_attacked_if_nobody_knows_whose_they_are() -> None:
    table = pl.DataFrame({"pid": ["a", "a", "b", "c"], "age": [30, 31, 31, 40]})
    ambiguous = pl.DataFrame({"age": ["[30, 31]", "[31, 40]", "[31, 40]"]})
    report = attacks(table, ambiguous, quasi_identifiers=["age"], person="pid")
    assert report.unit == "row"
    assert any("tried on rows" in note for note in report.notes)
    with pytest.raises(MissingColumnError):
        attacks(table, ambiguous, quasi_identifiers=["age"], person="nobody")


def test_several_tables(tmp_path: Path) -> None:
    """Whoever was suppressed in part or in whole, the attack aims at people in both forms, and on the command line."""
    tables = dc.sample_tables(800, seed=2)
    job: dict[str, Any] = {
        "identifiers": ["household_id", "visit_date"],
        "quasi_identifiers": {"age": "intervals(5, 10, 20, 40)", "sex": "flat", "zip": "mask(digits=5)"},
        "keep": ["department", "diagnosis"],
        "person": "patient_id",
    }
    given = {name: tmp_path / f"{name}.csv" for name in tables}
    for name, table in tables.items():
        table.write_csv(given[name])
    release = dc.anonymize(given, **job, privacy="k(4)", suppression="budget(20%)", output=f"{tmp_path}/safe/")
    files = {name: tmp_path / "safe" / f"{name}.csv" for name in tables}
    quasi = job["quasi_identifiers"]
    want = release.attacks(only="linkage")
    found = attacks(given, files, quasi_identifiers=quasi, person="patient_id", only="linkage")
    assert (found.unit, found.linkage) == ("person", want.linkage)
    assert found.linkage.success <= 0.25
    risk = dc.evaluate.risk(files, quasi_identifiers=list(quasi), person="patient_id")
    assert (risk.people, risk.prosecutor.highest) == (release.audit.people, 1 / release.audit.smallest_class)
    person = dc.find(files, {"sex": "female"}, original=given, quasi_identifiers=quasi, person="patient_id")
    assert (person.unit_after, person.before, person.after) == (
        "person",
        int((tables["people"]["sex"] == "female").sum()),
        release.frames["people"].filter(pl.col("sex") == "female").height,
    )
    named = [f"--hierarchy={name}={form}" for name, form in quasi.items()]
    safe, original = f"{tmp_path}/safe/people.csv", f"{tmp_path}/people.csv"
    both = ["--table", f"visits={tmp_path}/safe/visits.csv", "--person", "patient_id"]
    before = ["--original-table", f"visits={tmp_path}/visits.csv"]
    for words, text in (
        (["attack", original, safe, *both, *before, "--qi", "age,sex,zip", *named, "--only", "linkage"], "people"),
        (["risk", safe, *both, "--qi", "age,sex,zip"], f"of {release.audit.people} people"),
        (["find", safe, "sex=female", *both, "--original", original, *before], f"{person.after} people can be"),
    ):
        result = CliRunner().invoke(program, words)
        assert result.exit_code == 0, result.output
        assert text in result.output
