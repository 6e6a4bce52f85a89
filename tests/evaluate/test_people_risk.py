"""The risk of people and households, against plain Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.errors import MissingColumnError, UsageError
from discreet.evaluate import risk


def visits(seed: int, rows: int = 60, people: int = 20) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    person = rng.integers(0, people, rows)
    born, home = rng.integers(0, 4, people), rng.integers(0, people // 2, people)
    return pl.DataFrame(
        {
            "pid": person,
            "hid": home[person],
            "age": born[person] + rng.integers(0, 2, rows),
            "ill": pl.Series(["a", "b", "c"]).gather(rng.integers(0, 3, rows)),
        }
    )


def by_hand(rows: list[dict[str, Any]], person: str) -> tuple[dict[Any, float], dict[Any, float]]:
    """The risk of each person, and that of each household."""
    classes: dict[Any, set[Any]] = {}
    for row in rows:
        classes.setdefault(row["age"], set()).add(row[person])
    people: dict[Any, float] = {}
    home = {}
    for row in rows:
        people[row[person]] = max(people.get(row[person], 0.0), 1 / len(classes[row["age"]]))
        home[row[person]] = row["hid"]
    missed: dict[Any, float] = {}
    for who, chance in people.items():
        missed[home[who]] = missed.get(home[who], 1.0) * (1 - chance)
    return people, {house: 1 - chance for house, chance in missed.items()}


@pytest.mark.parametrize("seed", range(8))
def test_people_and_households(seed: int) -> None:
    table = visits(seed)
    people, houses = by_hand(table.to_dicts(), "pid")
    report = risk(table, quasi_identifiers=["age"], sensitive=["ill"], person="pid", household="hid", threshold=0.1)
    assert report.people == len(people)
    assert report.rows == table.height
    assert report.prosecutor.highest == pytest.approx(max(people.values()))
    assert report.prosecutor.average == pytest.approx(sum(people.values()) / len(people))
    assert report.prosecutor.at_risk == sum(chance > 0.1 for chance in people.values())
    assert report.uniques == sum(chance == 1 for chance in people.values())
    assert report.household is not None
    assert report.household.highest == pytest.approx(max(houses.values()))
    assert report.household.average == pytest.approx(sum(houses.values()) / len(houses))
    assert f"of {len(people)} people" in report.summary()
    assert report.to_dict()["household"]["highest"] == report.household.highest
    having = {v: {r["pid"] for r in table.to_dicts() if r["ill"] == v} for v in "abc"}
    found = report.disclosure["ill"]
    assert found.distinct_l <= 3
    assert len(having) == 3


@pytest.mark.parametrize("seed", range(4))
def test_every_row_is_a_member_without_people(seed: int) -> None:
    table = visits(seed).with_row_index("row")
    _, houses = by_hand(table.to_dicts(), "row")
    report = risk(table, quasi_identifiers=["age"], household="hid")
    assert report.people is None
    assert report.household is not None
    assert report.household.average == pytest.approx(sum(houses.values()) / len(houses))


def test_the_risk_of_a_release_is_one_of_people(tmp_path: Path) -> None:
    table = visits(1, 400, 120)
    job: dict[str, Any] = {"quasi_identifiers": {"age": "intervals(2, 4)"}, "privacy": "k(5)", "person": "pid"}
    for output in (None, tmp_path / "safe.csv"):
        release = dc.anonymize(table, **job, household="hid", sensitive="ill", suppression="budget(0.2)", output=output)
        rows = table[release.rows_of(table).to_numpy()].with_columns(age=release.frame["age"]).to_dicts()
        people, houses = by_hand(rows, "pid")
        report = release.risk()
        assert report.people == len(people)
        assert report.prosecutor.average == pytest.approx(sum(people.values()) / len(people))
        assert report.household is not None
        assert report.household.highest == pytest.approx(max(houses.values()))
        assert report.before is not None
        assert release.risk(only_released=True).people == len(people)
        assert dc.evaluate.risk(release).people is None


def test_errors() -> None:
    table = visits(1)
    with pytest.raises(MissingColumnError):
        risk(table, quasi_identifiers=["age"], person="nobody")
    with pytest.raises(UsageError, match="weights"):
        risk(table, quasi_identifiers=["age"], person="pid", weights="hid")
