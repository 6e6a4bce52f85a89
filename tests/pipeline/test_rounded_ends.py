"""``local(ends=rounded)``: ranges end at round numbers or dates, cover their people, and cost what they show."""

from __future__ import annotations

import datetime
import re

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.evaluate import attacks
from discreet.schema import make_domain, rounding_grid

RANGE = re.compile(r"^\[(.+), (.+)\)$")


def table(seed: int, rows: int = 120) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    day = datetime.date(1950, 1, 1)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "pay": rng.normal(30, 9, rows).round(2),
            "born": [day + datetime.timedelta(days=int(each)) for each in rng.integers(0, 20_000, rows)],
            "town": rng.choice(list("abcd"), rows),
        }
    )


def covers(shown: str, value: object) -> bool:
    found = RANGE.match(shown)
    if found is None:
        return shown == str(value)
    if isinstance(value, datetime.date):
        return found[1] <= value.isoformat() < found[2]
    return float(found[1]) <= float(str(value)) < float(found[2])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("columns", [["age", "town"], ["pay", "town"], ["born", "age"]])
def test_ranges_cover_their_people_and_cost_what_they_show(seed: int, columns: list[str]) -> None:
    people = table(seed).select(columns)
    release = dc.anonymize(people, quasi_identifiers=columns, privacy="k(4)", scheme="local(ends=rounded)", seed=seed)
    exact = dc.anonymize(people, quasi_identifiers=columns, privacy="k(4)", scheme="local", seed=seed)
    assert release.audit.passed
    assert release.audit.smallest_class >= 4
    assert release.lower_bound <= release.cost
    assert exact.lower_bound <= release.cost + 1e-9, "rounded ranges are also local recodings"
    total = 0.0
    for name in columns:
        known = people[name].unique().to_list()
        for shown, value in zip(release.frame[name].cast(pl.String), people[name], strict=True):
            if name == "town":
                inside = [each for each in known if each in shown.strip("{}").split(", ")]
            else:
                assert covers(shown, value), name
                inside = [each for each in known if covers(shown, each)]
            total += (len(inside) - 1) / (len(known) - 1)
    assert release.cost == pytest.approx(total)


@pytest.mark.parametrize("column", ["age", "pay", "born"])
def test_no_single_row_decides_the_grid(column: str) -> None:
    """Whoever is added, even far away, the lines between which the others are stay where they are."""
    people = table(3, 400)[column]

    def lines(values: pl.Series) -> dict[str, tuple[str, str]]:
        counted = values.value_counts().sort(column)
        domain = make_domain(column, counted[column], None, needed=False)
        rows = np.bincount(domain.codes, weights=counted["count"].to_numpy()).astype(np.int64)
        grid = rounding_grid(domain, rows)
        assert grid is not None
        return {str(label): (grid.low[c], grid.high[c]) for label, c in zip(domain.labels[0], grid.cell, strict=True)}

    usual = lines(people)
    for extreme in (people.max(), people.min(), people[0]):
        far = extreme + datetime.timedelta(days=9_000) if column == "born" else extreme + 1_000
        more = lines(pl.concat([people, pl.Series(column, [far], dtype=people.dtype)]))
        assert {label: more[label] for label in usual} == usual


def test_missing_values_and_single_values() -> None:
    people = pl.DataFrame({"age": [30, 30, 30, None, None, None, 71, 77, 88, 90]})
    release = dc.anonymize(people, quasi_identifiers=["age"], privacy="k(3)", scheme="local(ends=rounded)")
    shown = release.frame["age"].to_list()
    assert shown[:3] == ["30"] * 3
    assert shown[3:6] == [None] * 3
    assert all(RANGE.match(each) for each in shown[6:])


def test_refinement_learns_little() -> None:
    """Ends say nothing; what is left is that nobody of a coarse class would have fitted into a finer one."""
    people = table(5, 1500).select("age", "born", "town")
    known = {"quasi_identifiers": ["age", "born", "town"], "privacy": "k(5)", "seed": 1}
    exact = attacks(people, dc.anonymize(people, scheme="local", **known), only="refinement")["refinement"]
    rounded = dc.anonymize(people, scheme="local(ends=rounded)", **known)
    safe = attacks(people, rounded, only="refinement")["refinement"]
    assert exact.better
    assert exact.gain is not None
    assert safe.gain is not None
    assert safe.gain < exact.gain / 5


def test_what_does_not_fit() -> None:
    people = pl.DataFrame({"age": [1, 2, 3, 4]})
    with pytest.raises(UnsupportedCombinationError, match="Rounded ends"):
        dc.anonymize(people, quasi_identifiers=["age"], privacy="k(2)", scheme="local(show=mean, ends=rounded)")
    with pytest.raises(UsageError, match="ends"):
        dc.anonymize(people, quasi_identifiers=["age"], privacy="k(2)", scheme="local(ends=round)")
