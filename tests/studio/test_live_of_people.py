"""The first rows at every point of a front: groups and those left out are people, where promises count people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.pipeline.front import FrontPoint
from discreet.studio._live import live_table
from discreet.studio._results import front_result

STEPS = (1, 2, 4, 8)
TREES = {"age": "intervals(2, 4, 8)", "sex": "flat"}


def visits(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    person = rng.integers(0, 14, 40)
    table = pl.DataFrame(
        {
            "pid": [f"p{each * 37 % 100:02d}" for each in person.tolist()],
            "age": (rng.integers(0, 6, 14)[person] + rng.integers(0, 3, 40)) % 8,
            "sex": pl.Series(["f", "m"]).gather(rng.integers(0, 2, 40)),
        }
    )
    return table.with_columns(hid=pl.col("pid").str.tail(1))


def shown(row: dict[str, Any], point: FrontPoint) -> tuple[Any, ...]:
    age, sex = point.levels["age"], point.levels["sex"]
    return (row["age"] // STEPS[age] if age < len(STEPS) else "*", "*" if sex else row["sex"])


def left(rows: list[dict[str, Any]], point: FrontPoint, unit: str, of_people: bool) -> list[int]:
    """The rows that stay if classes of fewer than k people go, with all rows of their people if these are counted."""
    stay = list(range(len(rows)))
    while True:
        classes: dict[tuple[Any, ...], set[str]] = {}
        for row in stay:
            classes.setdefault(shown(rows[row], point), set()).add(rows[row][unit])
        small = {row for row in stay if len(classes[shown(rows[row], point)]) < point.k}
        gone = {rows[row][unit] for row in small}
        fewer = [row for row in stay if (rows[row][unit] not in gone if of_people else row not in small)]
        if fewer == stay or not of_people:
            return fewer
        stay = fewer


@pytest.mark.parametrize("suppression", ["none", "budget(40%)", "budget(40%, of=rows)"])
@pytest.mark.parametrize("unit", ["person", "household"])
def test_groups_and_who_is_left_out_are_those_of_people(unit: str, suppression: str, tmp_path: Path) -> None:
    column, other = ("pid", "hid") if unit == "person" else ("hid", "pid")
    partly = 0
    for seed in range(6):
        table, path = visits(seed), tmp_path / f"{seed}.parquet"
        table.write_parquet(path)
        options = {"quasi_identifiers": TREES, "suppression": suppression, "identifiers": other, unit: column}
        front = dc.pareto(path, **options)
        live, rows = live_table(front, path), table.to_dicts()
        assert live["total"] == table[column].n_unique()
        assert front_result(front)["values_of"] == "rows"
        for point, now in zip(front.points, live["points"], strict=True):
            stay = left(rows, point, column, suppression == "budget(40%)")
            crowds: dict[tuple[Any, ...], set[str]] = {}
            for row in stay:
                crowds.setdefault(shown(rows[row], point), set()).add(rows[row][column])
            wanted = [len(crowds[shown(rows[row], point)]) if row in stay else None for row in range(live["rows"])]
            assert now["groups"] == wanted, (seed, point)
            assert now["left_out"] == live["total"] - len({rows[row][column] for row in stay})
            assert now["smallest"] == min(map(len, crowds.values()))
            values = {shown(rows[row], point) for row in stay}
            partly += any(row not in stay and shown(rows[row], point) in values for row in range(live["rows"]))
    assert partly > 0 or suppression != "budget(40%)", "somebody should be left out whose values stay"


def test_rows_are_counted_without_people(tmp_path: Path) -> None:
    table, path = visits(1), tmp_path / "rows.parquet"
    table.write_parquet(path)
    front = dc.pareto(path, quasi_identifiers=TREES, suppression="budget(40%)", identifiers=["pid", "hid"])
    live = live_table(front, path)
    assert live["total"] == table.height
    assert front_result(front)["values_of"] == "people"
    assert [now["left_out"] for now in live["points"]] == [point.suppressed for point in front.points]
