"""Evidence for a decision: figures beside the limits of a profile, as a gate."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program
from discreet.errors import UsageError
from discreet.evaluate import PROFILES, Evidence, attacks


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": rng.integers(0, 100, rows), "ill": rng.choice(list("abcd"), rows)})


def evidence(shown: pl.DataFrame, profile: str, **more: object) -> Evidence:
    table = people(1000, 1)
    known = {"quasi_identifiers": {"age": dc.intervals(10, 50)}, "sensitive": ["ill"], **more}
    return attacks(table, shown, control=people(1000, 2), **known).evidence(profile)


def coarse() -> pl.DataFrame:
    low = pl.col("age") // 50 * 50
    return (
        people(1000, 1).with_columns(age=pl.format("[{}, {})", low, low + 50)).sample(fraction=1, shuffle=True, seed=1)
    )


def test_a_coarse_release_is_within_the_limits() -> None:
    for profile in PROFILES:
        found = evidence(coarse(), profile)
        assert found.passed, found
        assert {each.criterion for each in found.figures} == {"singling out", "linkability", "inference"}
        assert not found.failed
    frame = found.to_frame()
    assert frame.filter(attacker="prosecutor")["value"].to_list() == [
        pytest.approx(1 / coarse()["age"].value_counts()["count"].min())
    ]
    assert frame.filter(attacker="journalist")["passed"].to_list() == [None]
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_original_is_not() -> None:
    found = evidence(people(1000, 1), "ema-0070")
    assert not found.passed
    assert "prosecutor" in {each.attacker for each in found.failed}
    assert "NOT within all limits" in str(found)


def test_a_criterion_that_was_not_measured_is_not_passed() -> None:
    found = evidence(coarse(), "public-use-file", only=["linkage"])
    assert not found.passed
    assert not found.failed


def test_journalist() -> None:
    shown, table = coarse(), people(1000, 1)
    everybody = pl.concat([table, people(9000, 3)])
    found = evidence(shown, "public-use-file", population=everybody).to_frame()
    fewest = everybody.group_by(pl.col("age") // 50).len()["len"].min()
    assert found.filter(attacker="journalist")["value"].to_list() == [pytest.approx(1 / fewest)]


def test_limits_can_be_changed() -> None:
    table = people(1000, 1)
    report = attacks(table, coarse(), quasi_identifiers={"age": dc.intervals(10, 50)}, sensitive=["ill"])
    strict = PROFILES["ema-0070"].changed(highest=0.001)
    assert not report.evidence(strict).passed
    with pytest.raises(UsageError, match="each a share"):
        PROFILES["ema-0070"].changed(highest=2)
    with pytest.raises(UsageError, match="did you mean 'ema-0070'"):
        report.evidence("ema-007")


def test_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    people(1000, 1).write_csv("people.csv")
    people(1000, 2).write_csv("others.csv")
    coarse().write_csv("safe.csv")
    command = ["attack", "people.csv", "--qi", "age", "--sensitive", "ill", "--hierarchy", "age=intervals(10, 50)"]
    command += ["--control", "others.csv", "--profile", "public-use-file"]
    passed = CliRunner().invoke(program, [*command, "safe.csv"])
    assert passed.exit_code == 0, passed.output
    assert "within all limits" in passed.stdout
    failed = CliRunner().invoke(program, [*command, "people.csv", "--json"])
    assert failed.exit_code == 5
    assert json.loads(failed.stdout)["evidence"]["passed"] is False
