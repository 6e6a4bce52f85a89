"""Figures about people count a person once, however many classes the person is in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.report.class_sizes import ClassSizes


def ages(seed: int, people: int = 60) -> pl.DataFrame:
    """Visits at different ages: most people are in several classes, and alone in many."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), rng.integers(1, 6, people))
    return pl.DataFrame({"pid": person, "age": rng.integers(20, 60, people)[person] + rng.integers(0, 9, person.size)})


def by_hand(table: pl.DataFrame) -> dict[int, int]:
    """The smallest class of each person, in plain Python."""
    classes: dict[int, set[int]] = {}
    for pid, age in table.iter_rows():
        classes.setdefault(age, set()).add(pid)
    smallest: dict[int, int] = {}
    for pid, age in table.iter_rows():
        smallest[pid] = min(smallest.get(pid, 10**9), len(classes[age]))
    return smallest


@pytest.mark.parametrize("seed", range(10))
def test_a_person_in_several_classes_counts_once(seed: int) -> None:
    table = ages(seed)
    smallest = list(by_hand(table).values())
    found = dc.audit(table, quasi_identifiers=["age"], privacy="k(1)", person="pid").sizes
    risk = dc.evaluate.risk(table, quasi_identifiers=["age"], person="pid")
    assert found.rows == len(smallest)
    assert found.unique == smallest.count(1) == risk.uniques
    assert found.below(3) == sum(size < 3 for size in smallest)
    assert found.average_risk == pytest.approx(sum(1 / size for size in smallest) / len(smallest))
    assert found.average_risk == pytest.approx(risk.prosecutor.average)
    assert sum(found.ranges((1, 2, 3))) == len(smallest)
    assert int(risk.sizes["rows"].sum()) == len(smallest)
    assert risk.sizes.filter(pl.col("size") == 1)["rows"].sum() == smallest.count(1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scheme", ["full-domain", "local(people=apart)", "local"])
def test_reports_of_releases(seed: int, scheme: str, tmp_path: Path) -> None:
    table = ages(seed)
    local = scheme != "full-domain"
    release = dc.anonymize(
        table,
        quasi_identifiers={"age": None if local else "intervals(5, 10, 20)"},
        privacy="k(3)",
        suppression="none" if local else "budget(30%)",
        person="pid",
        scheme=scheme,
        seed=seed,
    )
    rows = table[release.rows_of(table).to_numpy()]
    smallest = list(by_hand(rows).values())
    before, after = release.released_before, release.audit.sizes
    assert before is not None
    assert (before.rows, before.unique) == (len(smallest), smallest.count(1))
    assert after.rows == release.audit.people
    assert release.before.unique == list(by_hand(table).values()).count(1)
    page = release.protection_page(tmp_path / "page.md", internal=True).read_text()
    assert f"{release.before.unique:,} people alone with their values" in page
    assert "people alone with what others may know of any of their rows" in page
    assert "trial attack: right about a person " in page
    report = release.report(tmp_path / "report.md").read_text()
    assert "each counts once" in report
    assert "the chance of picking the right person is 1 in" in report


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, "discreet audit FILE with the promises above checks the promises on the file itself"),
        (
            {"person": "pid"},
            "the file does not say whose rows they are, so that only the owner can count people in it",
        ),
        (
            {"person": "pid", "household": "hid"},
            "the file does not say whose rows they are, so that only the owner can count households in it",
        ),
        (
            {"person": "pid", "pseudonyms": True},
            "discreet audit FILE --person pid with the promises above checks the promises on the file itself",
        ),
    ],
)
def test_a_recipient_is_told_whether_people_can_be_counted(
    options: dict[str, Any], wanted: str, tmp_path: Path
) -> None:
    table = ages(1).with_columns(hid=pl.col("pid") % 9)
    unused = [column for column in ("pid", "hid") if column not in options.values()]
    given = {"quasi_identifiers": {"age": "intervals(5, 10, 20)"}, "privacy": "k(2)", "identifiers": unused}
    release = dc.anonymize(table, **given, suppression="budget(30%)", **options)
    page = release.protection_page(tmp_path / "page.html").read_text()
    assert wanted in page


def test_rows_that_are_in_one_class_are_counted_as_ever() -> None:
    sizes = ClassSizes.of(np.array([3, 1, 1]), np.array([0, 0, 0, 1, 2]), np.arange(5))
    assert sizes == ClassSizes.of(np.array([3, 1, 1]))
    assert ClassSizes.of(np.array([], dtype=np.int64)).rows == 0
