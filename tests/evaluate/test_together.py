"""Several releases together: promises by the intersections of classes, compared with plain loops."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program
from discreet.errors import UsageError
from discreet.evaluate import together

COLUMNS = {"age": "intervals(10, 50)", "town": dc.groups({"x": ["a", "b"], "y": ["c", "d"]})}


def shown(row: dict[str, object], levels: tuple[int, int]) -> tuple[str, str]:
    age, town = int(str(row["age"])), str(row["town"])
    width = (1, 10, 50)[levels[0]]
    text = str(age) if width == 1 else f"[{age // width * width}, {age // width * width + width})"
    return text, (town, "x" if town in "ab" else "y", "*")[levels[1]]


@pytest.mark.parametrize("seed", range(30))
def test_by_plain_loops(seed: int) -> None:
    rng = random.Random(seed)
    rows = [{"age": rng.randrange(100), "town": rng.choice("abcd"), "ill": rng.choice("uvw")} for _ in range(60)]
    levels = [(rng.randrange(3), rng.randrange(3)) for _ in range(rng.randrange(2, 4))]
    tables = [
        pl.DataFrame([{"age": a, "town": t, "ill": row["ill"]} for row in rows for a, t in [shown(row, each)]])
        for each in levels
    ]
    found = together(
        pl.DataFrame(rows), tables, quasi_identifiers=COLUMNS, sensitive=["ill"], privacy=["k(2)", "distinct-l(2, ill)"]
    )
    joint = [tuple(shown(row, each) for each in levels) for row in rows]
    sizes = Counter(joint)
    values: dict[object, set[object]] = {}
    for key, row in zip(joint, rows, strict=True):
        values.setdefault(key, set()).add(row["ill"])
    assert (found.people, found.classes, found.smallest) == (60, len(sizes), min(sizes.values()))
    reached = [min(sizes.values()), min(map(len, values.values()))]
    assert [check.reached for check in found.checks] == reached
    assert [check.passed for check in found.checks] == [each >= 2 for each in reached]


def test_local_recodings_are_refused() -> None:
    people = pl.DataFrame({"age": [1, 2, 3, 4]})
    local = people.with_columns(age=pl.Series(["[1, 3]", "[2, 4]", "[1, 3]", "[2, 4]"]))
    with pytest.raises(UsageError, match="recoded alike"):
        together(people, [local, local], quasi_identifiers=["age"], privacy="k(2)")


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    people = pl.DataFrame({"age": [21, 24, 51, 52], "town": ["a", "b", "a", "b"]})
    people.write_csv("people.csv")
    people.with_columns(age=pl.Series(["[20, 30)"] * 2 + ["[50, 60)"] * 2), town=pl.lit("*")).write_csv("by_age.csv")
    people.with_columns(age=pl.lit("*")).write_csv("by_town.csv")
    command = ["audit", "by_age.csv", "--qi", "age,town", "-k", "2", "--hierarchy", "age=intervals(10)"]
    alone = CliRunner().invoke(program, command)
    assert alone.exit_code == 0, alone.output
    both = CliRunner().invoke(program, [*command, "--reference", "people.csv", "--with", "by_town.csv"])
    assert both.exit_code == 5, both.output
    assert "BROKEN" in both.stdout
    same = CliRunner().invoke(program, [*command, "--reference", "people.csv", "--with", "by_age.csv", "--json"])
    assert same.exit_code == 0, same.output
    assert json.loads(same.stdout)["together"]["passed"]
    lacking = CliRunner().invoke(program, [*command, "--with", "by_town.csv"])
    assert lacking.exit_code == 2
