"""Which original row each released row is, whatever was suppressed."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import discreet as dc

pytestmark = pytest.mark.usefixtures("columns_kept")

RANDOM = Random(3)
PEOPLE = pl.DataFrame(
    {
        "number": range(200),
        "age": [RANDOM.choice([*range(20, 80), None]) for _ in range(200)],
        "sex": [RANDOM.choice("fm") for _ in range(200)],
        "ill": [RANDOM.choice("abc") for _ in range(200)],
    }
)


@pytest.mark.parametrize(
    "asked",
    [
        {"suppression": "budget(20%)"},
        {"suppression": "none", "missing": "suppress"},
        {"suppression": "budget(10%)", "scheme": "local", "seed": 1},
        {"suppression": "violating-records", "scheme": "subtree", "privacy": ["l+(0.4, ill)"], "sensitive": "ill"},
        {"suppression": "class-records", "scheme": "subtree", "sensitive": "ill"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_rows(asked: dict[str, Any], kind: str, tmp_path: Path) -> None:
    data: Any = PEOPLE
    if kind == "csv":
        data = tmp_path / "people.csv"
        PEOPLE.write_csv(data)
    told = {"privacy": "k(4)", "quasi_identifiers": {"age": "intervals(5, 10, 20)", "sex": "flat"}, **asked}
    release = dc.anonymize(data, **told)
    expected = release.frame["number"].cast(pl.Int64).to_list()
    assert release.rows_of(data).to_list() == expected
    assert expected == sorted(expected)


def test_nothing_is_changed_by_asking() -> None:
    release = dc.anonymize(PEOPLE, quasi_identifiers={"age": "intervals(20)"}, privacy="k(3)", suppression="budget(5%)")
    before = release.frame.clone()
    release.rows_of(PEOPLE)
    assert release.frame.equals(before)
