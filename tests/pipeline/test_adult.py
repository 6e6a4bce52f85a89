"""The whole job on Adult: nine quasi-identifiers, known optima."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.engines import to_lazy
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.audit import audit

COLUMNS = [
    *("sex", "age", "race", "marital-status", "education"),
    *("native-country", "workclass", "occupation", "salary-class"),
]


@pytest.fixture
def job(adult: Path) -> dict[str, Any]:
    trees = {column: adult / f"adult_hierarchy_{column}.csv" for column in COLUMNS}
    return {"quasi_identifiers": trees, "privacy": "k(5)", "cost": "DM"}


@pytest.mark.parametrize(
    ("suppression", "levels", "cost", "suppressed"),
    [
        ("none", [1, 1, 1, 2, 3, 2, 2, 1, 1], 33_627_534, 0),
        ("budget(0.05)", [0, 0, 1, 2, 3, 2, 2, 1, 1], 7_220_555, 105),
    ],
)
def test_known_optima(
    suppression: str, levels: list[int], cost: int, suppressed: int, job: dict[str, Any], adult: Path, tmp_path: Path
) -> None:
    release = anonymize(adult / "adult.csv", **job, suppression=suppression, output=tmp_path / "safe.csv", order="keep")
    assert list(release.levels.values()) == levels
    assert (release.cost, release.suppressed, release.status) == (cost, suppressed, "optimal")
    assert release.n == 30_162
    assert audit(tmp_path / "safe.csv", quasi_identifiers=COLUMNS, privacy="k(5)", rows=30_162 - suppressed).passed
    frame = pl.read_csv(adult / "adult.csv", separator=";", infer_schema=False)
    for data in (frame, frame.to_pandas()):
        again = anonymize(data, **job, suppression=suppression)
        assert (again.cost, again.levels, again.suppressed) == (cost, release.levels, suppressed)
        texts = to_lazy(again.frame).collect()  # the file has numbers where this frame has text
        assert texts.equals(release.frame.cast(pl.String))
