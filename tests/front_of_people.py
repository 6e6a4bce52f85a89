"""A small table of people, and the search for its front."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.pipeline.front import Front, FrontPoint
from discreet.pipeline.release import Release

__all__ = ["QI", "check_release", "find", "people"]

QI: dict[str, Any] = {"age": "intervals(5, 20)", "zip": "mask(digits=4)", "sex": "flat"}


def people() -> pl.DataFrame:
    n = 120
    return pl.DataFrame(
        {
            "name": [f"Person {number}" for number in range(n)],
            "age": [20 + number * 7 % 40 for number in range(n)],
            "zip": [f"0{100 + number * number % 23}" for number in range(n)],
            "sex": ["mfm"[number % 3] for number in range(n)],
            "disease": [["flu", "ache", "gout", "flu", "mumps"][number * number % 5] for number in range(n)],
            "label": ["yn"[number % 7 > 2] for number in range(n)],
        }
    )


def find(data: Any, **options: Any) -> Front:
    settings = {"identifiers": "name", "quasi_identifiers": QI, "sensitive": "disease", "class_attribute": "label"}
    return dc.pareto(data, **{**settings, **options})


def check_release(release: Release, point: FrontPoint) -> None:
    assert release.audit.passed
    assert release.cost == pytest.approx(point.loss)
    assert release.normalized_cost == pytest.approx(point.normalized_loss)
    assert (release.suppressed, release.levels, release.classes) == (point.suppressed, point.levels, point.classes)
    assert release.lower_bound <= release.cost * (1 + 1e-9)
