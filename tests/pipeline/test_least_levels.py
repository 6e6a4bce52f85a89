"""Limits on levels hold for what is released, under every scheme, also where a node stands for a single value."""

from __future__ import annotations

import datetime
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.errors import UnsupportedCombinationError
from discreet.problem import SCHEMES

GLOBAL = [name for name, scheme in SCHEMES.members().items() if scheme.is_global]
ZIPS = ["94110"] * 4 + ["50000"] * 4 + ["10001", "10002", "10003", "10003"]
BORN = [datetime.date(1970, 5, 5)] * 4 + [datetime.date(1990, 1, year) for year in (1, 1, 2, 2, 3, 3, 4, 4)]


@pytest.mark.parametrize("scheme", [*GLOBAL, "local"])
@pytest.mark.parametrize(
    ("values", "tree", "finest"),
    [
        (ZIPS, dc.mask(digits=3), {"94110", "50000", "10001", "10002", "10003", "9411*", "5000*", "1000*"}),
        (BORN, dc.age(5, 10, on="2026-01-01"), {str(day) for day in BORN}),
        ([95] * 4 + [91, 92, 93, 94] + [30] * 4, dc.top(90), {"95", "91", "92", "93", "94"}),
    ],
)
def test_no_value_below_the_lowest_level_is_released(
    values: list[Any], tree: Any, finest: set[str], scheme: str
) -> None:
    least = 2 if values is ZIPS else 1
    table = pl.DataFrame({"x": values})
    release = dc.anonymize(table, quasi_identifiers={"x": tree}, privacy="k(4)", scheme=scheme, min_levels={"x": least})
    shown = release.frame["x"].cast(pl.String).to_list()
    assert not any(value in text for text in shown for value in finest)
    assert release.audit.passed


@pytest.mark.parametrize("show", ["mean", "median", "mode"])
def test_a_single_value_has_no_level(show: str) -> None:
    table = pl.DataFrame({"x": [1, 2, 3, 4]})
    with pytest.raises(UnsupportedCombinationError, match="has no level"):
        dc.anonymize(
            table,
            quasi_identifiers={"x": "intervals(2)"},
            privacy="k(2)",
            scheme=f"local(show={show})",
            min_levels={"x": 1},
        )
