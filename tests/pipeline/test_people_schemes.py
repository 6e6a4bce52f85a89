"""People under other schemes, profiles and households."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.errors import UnsupportedCombinationError, UsageError
from people import QUASI, crowds, make, released_rows, visits


def test_profiles_are_counted_as_multisets() -> None:
    verdicts = set()
    for seed in range(80):
        rng = random.Random(seed)
        table = visits(seed, rng.randint(2, 14), rng.randint(1, 5)).with_columns(
            age=pl.col("age") // 30, sex=pl.lit("x")
        )
        rows: dict[str, list[int]] = {}
        for row in table.to_dicts():
            rows.setdefault(row["pid"], []).append(row["age"])
        profiles: dict[tuple[int, ...], int] = {}
        for ages in rows.values():
            profile = tuple(sorted(ages))
            profiles[profile] = profiles.get(profile, 0) + 1
        found = dc.audit(table, quasi_identifiers=["age", "sex"], privacy="k(2, profile=true)", person="pid")
        assert found.checks[0].reached == min(profiles.values())
        verdicts.add(found.passed)
    assert verdicts == {True, False}
    with pytest.raises(UsageError, match="person"):
        dc.audit(visits(1), quasi_identifiers=["age"], privacy="k(2, profile=true)")


def test_profiles_of_releases() -> None:
    table = visits(5, 60, 40)
    release = make(table, privacy=["k(3, profile=true)"], suppression="budget(1.0)")
    rows = released_rows(release, table)
    shown: dict[str, list[tuple[Any, Any]]] = {}
    for row in rows:
        shown.setdefault(row["person"], []).append((str(row["age"]), row["sex"]))
    profiles = [tuple(sorted(values)) for values in shown.values()]
    assert min(profiles.count(profile) for profile in profiles) >= 3


@pytest.mark.parametrize("scheme", ["local", "local(people=apart)", "subtree"])
@pytest.mark.parametrize("output", [None, "safe.csv"])
def test_other_schemes(scheme: str, output: str | None, tmp_path: Path) -> None:
    for seed in range(4):
        table = visits(seed, 60, 24, constant=seed == 0)
        quasi = QUASI if scheme == "subtree" else dict.fromkeys(QUASI)
        target = None if output is None else tmp_path / f"{seed}-{output}"
        release = make(
            table, quasi_identifiers=quasi, scheme=scheme, privacy=["k(3)"], suppression="none", output=target
        )
        rows = released_rows(release, table)
        assert len(rows) == table.height
        assert all(len(crowd.people) >= 3 for crowd in crowds(rows, "person"))
        if scheme == "local":
            classes: dict[str, set[tuple[Any, Any]]] = {}
            for row in rows:
                classes.setdefault(row["person"], set()).add((row["age"], row["sex"]))
            assert all(len(found) == 1 for found in classes.values()), "all rows of a person stay together"


@pytest.mark.parametrize("kind", ["polars", "pandas", "csv", "duckdb"])
def test_rows_of_a_person_may_be_in_several_groups(kind: str, tmp_path: Path) -> None:
    table, apart = visits(3, 200, 60), 0
    for privacy, suppression in (
        (["k(3)"], "none"),
        (["k(3)", "distinct-l(2, s)"], "budget(10%, of=rows)"),
        (["k(2)", "t(0.6, s)"], "class-records"),
    ):
        data: Any = table
        if kind == "pandas":
            data = table.to_pandas()
        elif kind != "polars":
            data = tmp_path / "visits.csv"
            table.write_csv(data)
        release = make(
            data,
            quasi_identifiers=dict.fromkeys(QUASI),
            types={"age": "integer"},
            scheme="local(people=apart)",
            privacy=privacy,
            suppression=suppression,
            engine="duckdb" if kind == "duckdb" else "auto",
        )
        assert release.audit.passed
        assert release.lower_bound <= release.cost
        if kind == "polars":
            rows = released_rows(release, table)
            assert all(len(crowd.people) >= 2 for crowd in crowds(rows, "person"))
            shown = {(row["person"], row["age"], row["sex"]) for row in rows}
            apart += len(shown) - len({row["person"] for row in rows})
    assert apart or kind != "polars"
    with pytest.raises(UnsupportedCombinationError, match="of=rows"):
        make(table, quasi_identifiers=dict.fromkeys(QUASI), scheme="local(people=apart)")


def test_the_schemes_that_were_tried_are_compared_in_people() -> None:
    release = make(visits(6, 200, 60), scheme="best", privacy=["k(3)"], suppression="none", time_limit=6)
    tried = {each["scheme"]: each for each in release.stats["schemes"]}
    taken = tried[str(release.job["scheme"]).partition("(")[0]]
    assert taken["smallest_class"] == release.audit.smallest_class
    assert taken["classes"] == release.audit.classes


@pytest.mark.parametrize("seed", range(12))
def test_profiles_of_people_with_the_same_values_and_different_numbers_of_rows(seed: int) -> None:
    rng = random.Random(seed)
    person = [f"p{rng.randrange(7)}" for _ in range(16)]
    home = {each: rng.choice("ab") for each in person}
    table = pl.DataFrame({"p": person, "a": [home[each] for each in person]})
    release = dc.anonymize(
        table,
        quasi_identifiers={"a": "flat"},
        person="p",
        privacy=["k(2, profile=true)", "k(3)"],
        suppression="budget(7)",
        pseudonyms=True,
    )
    rows = release.frame.group_by("p").agg(pl.col("a").sort())
    alike = rows.group_by("a").len()["len"].to_list()
    assert all(count >= 2 for count in alike)
    assert all(count >= 3 for count in release.frame.group_by("a").agg(pl.col("p").n_unique())["p"].to_list())


def test_households_of_a_survey(data_folder: Path) -> None:
    """The figures of docs/people.md on the testdata of sdcMicro."""
    keys = ["urbrur", "roof", "walls", "water", "sex", "age"]
    table = pl.read_csv(data_folder / "sdcmicro" / "testdata.csv").select(*keys, "ori_hid")
    trees = {**dict.fromkeys(keys, "flat"), "age": "intervals(5, 10, 20, 40)"}
    job: dict[str, Any] = {"privacy": "k(3)", "cost": "NCP", "seed": 1, "household": "ori_hid"}
    by_row = dc.anonymize(
        table, quasi_identifiers=trees, identifiers="ori_hid", privacy="k(3)", cost="NCP", suppression="budget(5%)"
    )
    owners = by_row.frame.with_columns(table["ori_hid"].gather(by_row.rows_of(table)))
    homes = owners.group_by(keys).agg(pl.col("ori_hid").n_unique())["ori_hid"]
    assert (by_row.suppressed, int(homes.min()), int((homes < 3).sum())) == (131, 1, 12)
    by_household = dc.anonymize(table, quasi_identifiers=trees, suppression="budget(5%)", **job)
    assert (by_household.suppressed_people, by_household.suppressed) == (49, 218)
    apart = dc.anonymize(table, quasi_identifiers=keys, scheme="local(people=apart)", **job)
    losses = [release.normalized_cost for release in (by_row, by_household, apart)]
    assert losses == pytest.approx([0.059, 0.109, 0.006], abs=0.001)
    assert all(release.audit.smallest_class == 3 for release in (by_row, by_household, apart))
    risk = dc.evaluate.risk(table, quasi_identifiers=keys, household="ori_hid")
    assert risk.household is not None
    assert (risk.prosecutor.average, risk.household.average) == pytest.approx((0.395, 0.793), abs=0.001)
