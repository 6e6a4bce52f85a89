"""Neighbours of a release in the lattice: classes are as large as they have people, where promises count people."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from discreet.engines import open_source
from discreet.schema import make_domain
from discreet.studio._lattice import steps


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_count_people(seed: int) -> None:
    rng = np.random.default_rng(seed)
    person = rng.integers(0, 12, 60)
    table = pl.DataFrame({"pid": person, "age": rng.integers(20, 30, 12)[person] + rng.integers(0, 4, 60)})
    domains = {"age": make_domain("age", table["age"].unique().sort(), "intervals(2, 4)")}
    counted = open_source(table).count(["age", "pid"])
    found = {step["change"]: step for step in steps(counted, domains, {"age": 1}, 5, "pid")}
    for change, width in ((-1, 1), (1, 4)):
        classes: dict[int, list[int]] = {}
        for pid, age in table.iter_rows():
            classes.setdefault(age // width, []).append(pid)
        people = [len(set(pids)) for pids in classes.values()]
        assert found[change]["classes"] == len(classes)
        assert found[change]["smallest"] == min(people)
        assert found[change]["small_rows"] == sum(len(pids) for pids in classes.values() if len(set(pids)) < 5)
    by_row = {step["change"]: step for step in steps(open_source(table).count(["age"]), domains, {"age": 1}, 5)}
    assert by_row[1]["smallest"] == min(len(pids) for pids in classes.values())
