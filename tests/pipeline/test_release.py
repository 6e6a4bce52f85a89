"""The result of a job: figures, blocks, reports, and what must never be in them."""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import naive
from discreet.errors import OutputError, UsageError
from discreet.job import Job
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.audit import audit
from discreet.pipeline.release import Release
from discreet.schema import Hierarchy
from discreet.solve import SOLVERS, Budget, Progress

QI: dict[str, Any] = {"age": "intervals(5, 10, 20)", "zip": "mask(digits=5)", "sex": "flat()"}


@pytest.fixture
def release(people: pl.DataFrame) -> Release:
    return anonymize(
        people,
        identifiers=["name"],
        quasi_identifiers=QI,
        sensitive=["disease"],
        privacy=["k(4)", "distinct-l(2, disease)"],
        suppression="budget(0.2)",
        seed=3,
    )


def test_figures(release: Release, people: pl.DataFrame) -> None:
    assert release.status == "optimal"
    assert release.gap == 0
    assert release.cost == pytest.approx(release.lower_bound)
    assert 0 < release.normalized_cost < 1
    assert release.n == people.height == release.suppressed + release.frame.height
    assert list(release.levels) == list(QI)
    assert release.classes == release.frame.select(list(QI)).n_unique()
    assert set(release.stats["seconds"]) == {"read", "count", "compile", "solve", "recode", "audit"}
    assert release.audit.passed
    assert "name" not in release.frame.columns


def test_blocks_are_the_values_released_as_one(release: Release, people: pl.DataFrame) -> None:
    for column in QI:
        values = set(people[column].to_list())
        assert set().union(*release.blocks[column]) == values
        assert sum(map(len, release.blocks[column])) == len(values)
    by_level = anonymize(
        people, identifiers="name", quasi_identifiers=QI, privacy="k(1)", min_levels={"age": 2}, max_levels={"age": 2}
    )
    for block in by_level.blocks["age"]:
        assert len({value if value is None else value // 10 for value in block}) == 1


def test_job_says_what_was_asked(release: Release, people: pl.DataFrame, tmp_path: Path) -> None:
    job = release.job
    assert job["quasi_identifiers"] == {"age": "intervals(5, 10, 20)", "zip": "mask(digits=5)", "sex": "flat"}
    assert job["privacy"] == ["k(4)", "distinct-l(2, disease)"]
    assert job["suppression"] == "budget(0.2)"
    assert job["seed"] == 3
    people.write_csv(tmp_path / "people.csv")
    again = Job(**{**job, "input": str(tmp_path / "people.csv")}).run()
    assert (again.cost, again.levels, again.suppressed) == (release.cost, release.levels, release.suppressed)


def test_the_same_job_gives_the_same_release(release: Release, people: pl.DataFrame) -> None:
    again = anonymize(people, **{key: value for key, value in release.job.items() if key not in ("input", "output")})
    assert again.frame.equals(release.frame)
    for exact in (False, True):
        first, second = again.to_dict(exact=exact), release.to_dict(exact=exact)
        for facts in (first, second):
            del facts["seconds"]
            assert bool([moment.pop("seconds") for moment in facts["trace"]]) == exact
        assert first == second


def test_reports(release: Release, tmp_path: Path) -> None:
    facts = json.loads(release.report(tmp_path / "report.json").read_text())
    assert 0 < release.suppressed < 5
    assert facts["left_out"] == "fewer than 5"
    assert [facts[key] for key in ("cost", "normalized_cost", "lower_bound", "rows", "suppressed")] == [None] * 5
    assert release.to_dict(exact=True)["cost"] == release.cost
    for key in ("gap", "status", "levels", "classes", "seconds"):
        assert facts[key] is not None
    assert "seed" not in facts
    assert set(facts["versions"]) == {"python", "discreet", "polars", "numpy", "numba"}
    assert facts["audit"]["passed"] is True
    text = release.report(str(tmp_path / "report.txt")).read_text()
    assert text == release.summary() + "\n"
    assert "proven optimal" in text
    assert "```" in release.report(tmp_path / "report.md").read_text()
    with pytest.raises(UsageError, match=r"\.json, \.txt, \.md"):
        release.report(tmp_path / "report.doc")
    with pytest.raises(OutputError, match="no folder"):
        release.report(tmp_path / "nowhere" / "report.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "report.md", "report.txt"]


def test_no_value_of_the_data_is_in_a_report(people: pl.DataFrame, tmp_path: Path) -> None:
    secret = people.with_columns(
        name=pl.lit("SECRET-") + pl.col("name"),
        sex=pl.lit("SECRET-") + pl.col("sex"),
        disease=pl.lit("SECRET-") + pl.col("disease"),
        zip=pl.lit("SECRET-") + pl.col("zip"),
    )
    release = anonymize(
        secret,
        identifiers="name",
        quasi_identifiers={"age": None, "zip": None, "sex": None},
        sensitive="disease",
        privacy=["k(3)", "distinct-l(2, disease)", "t(0.9, disease)"],
        suppression="budget(0.5)",
    )
    for name in ("a.json", "a.txt", "a.md"):
        assert "SECRET" not in release.report(tmp_path / name).read_text()
    assert "SECRET" not in repr(release) + str(release) + repr(release.audit) + repr(release.notes)
    (automatic,) = (note for note in release.notes if "automatic" in note)
    assert all(f"'{column}'" in automatic for column in ("age", "zip", "sex"))


def test_write(release: Release, tmp_path: Path) -> None:
    written = release.write(tmp_path / "safe.parquet")
    names = release.frame.columns
    assert pl.read_parquet(written).sort(names).equals(release.frame.sort(names))
    assert audit(written, quasi_identifiers=list(QI), privacy="k(4)").passed
    with pytest.raises(UsageError):
        release.write(tmp_path / "safe.doc")


def test_a_written_release_is_read_from_its_file(people: pl.DataFrame, tmp_path: Path) -> None:
    people.write_csv(tmp_path / "people.csv")
    job: dict[str, Any] = {"identifiers": "name", "quasi_identifiers": QI, "privacy": "k(2)"}
    job["output"] = tmp_path / "safe.csv"
    release = anonymize(tmp_path / "people.csv", **job)
    written = pl.read_csv(tmp_path / "safe.csv", infer_schema=False)
    assert release.frame.cast(pl.String).equals(written)
    lazy = anonymize(people.lazy(), **job)
    assert isinstance(lazy.frame, pl.LazyFrame)
    with pytest.raises(OutputError, match="input itself"):
        release.write(tmp_path / "safe.csv")


def test_pickle(release: Release) -> None:
    again = pickle.loads(pickle.dumps(release))
    assert again.to_dict() == release.to_dict()
    assert again.frame.equals(release.frame)
    assert again.summary() == release.summary()


def test_repr(release: Release) -> None:
    assert repr(release) == f"Release(optimal, rows={release.frame.height}, classes={release.classes}, audit=passed)"
    assert str(release) == release.summary()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "xlsx"])
def test_everything_suppressed_is_valid_and_said(suffix: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"a": ["x", "y", "z"], "s": ["1", "2", "3"]})
    release = anonymize(
        table,
        quasi_identifiers={"a": "flat()"},
        sensitive="s",
        max_levels={"a": 0},
        privacy=["k(2)", "t(0.2, s)", "distinct-l(2, s)"],
        suppression="budget(1.0)",
        output=tmp_path / f"safe.{suffix}",
    )
    assert (release.suppressed, release.classes, release.frame.height) == (3, 0, 0)
    assert release.normalized_cost == 1
    assert any("empty" in note for note in release.notes)
    assert (tmp_path / f"safe.{suffix}").exists()
    json.dumps(release.to_dict(), allow_nan=False)


def test_all_classes_at_the_root() -> None:
    table = pl.DataFrame({"a": ["x", "y", None], "b": [1, 2, 3]})
    release = anonymize(table, quasi_identifiers={"a": "flat()", "b": "intervals(2)"}, privacy="k(3)")
    assert release.frame.rows() == [("*", "*")] * 3


def test_a_stopped_search_still_releases(people: pl.DataFrame, tmp_path: Path) -> None:
    budget = Budget(stop=threading.Event())
    budget.stop.set()
    release = anonymize(
        people,
        identifiers="name",
        quasi_identifiers=QI,
        privacy="k(4)",
        budget=budget,
        output=tmp_path / "safe.csv",
        suppression="budget(0.1)",
    )
    assert release.status in ("feasible", "optimal")
    assert release.lower_bound <= release.cost
    assert audit(tmp_path / "safe.csv", quasi_identifiers=list(QI), privacy="k(4)").passed
    if release.status == "feasible":
        assert any("stopped" in note for note in release.notes)
        assert "gap at most" in release.summary()


def test_progress_is_told(people: pl.DataFrame) -> None:
    seen: list[Progress] = []
    anonymize(people, identifiers="name", quasi_identifiers=QI, privacy="k(4)", progress=seen.append)
    assert seen
    assert seen[-1].best >= seen[-1].bound


def test_solver_may_be_named_or_given(people: pl.DataFrame) -> None:
    by_name = anonymize(people, identifiers="name", quasi_identifiers=QI, privacy="k(4)", solver="lattice")
    by_object = anonymize(
        people, identifiers="name", quasi_identifiers=QI, privacy="k(4)", solver=SOLVERS.make("lattice")
    )
    assert by_name.job["solver"] == by_object.job["solver"] == "lattice"


def hierarchy_rows(rng: np.random.Generator, prefix: str, leaves: int) -> list[tuple[str, str, str]]:
    return [(f"{prefix}{leaf}", f"{prefix}g{leaf // int(rng.integers(2, 4))}", "*") for leaf in range(leaves)]


@pytest.mark.parametrize("seed", range(60))
def test_whole_flow_against_trying_everything(seed: int) -> None:
    rng = np.random.default_rng(seed)
    step = int(rng.integers(2, 4))
    trees = {
        name: [(f"{name}{leaf}", f"{name}g{leaf // step}", "*") for leaf in range(int(rng.integers(2, 6)))]
        for name in "pq"
    }
    rows = [
        {**{name: tree[int(rng.integers(len(tree)))][0] for name, tree in trees.items()}, "s": f"s{rng.integers(3)}"}
        for _ in range(int(rng.integers(4, 25)))
    ]
    table = naive.Table(rows, trees)
    k, distinct = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    budget = int(rng.integers(0, len(rows) + 1))
    cost = str(rng.choice(["LM", "DM", "precision"]))
    if len({row["s"] for row in rows}) < distinct:
        distinct = 1

    def ok(members: list[int]) -> bool:
        counts = naive.counts(table, members, "s")
        return naive.k_anonymous(counts, k) and naive.distinct_l(counts, distinct)

    expected = naive.search(table, ok, cost, budget)
    job: dict[str, Any] = {
        "quasi_identifiers": {name: Hierarchy.from_rows(tree) for name, tree in trees.items()},
        "sensitive": "s",
        "privacy": [f"k({k})", f"distinct-l({distinct}, s)"],
        "cost": cost,
        "suppression": f"budget({budget})",
    }
    assert expected.feasible
    release = anonymize(pl.DataFrame(rows).with_row_index("row"), **job, keep="row")
    assert release.cost == pytest.approx(expected.cost)
    levels = tuple(release.levels.values())
    assert levels in expected.levels
    published, suppressed = naive.recode(table, levels, ok)
    assert release.suppressed == len(suppressed)
    assert release.classes == len(published)
    kept = sorted(row for members in published for row in members)
    assert release.frame["row"].to_list() == kept
    for name, level in release.levels.items():
        assert release.frame[name].to_list() == [naive.released(table, name, rows[row][name], level) for row in kept]


def test_seconds_of_compiling_are_told_apart(people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not count for the time limit is no search: it is the stage compile, of releases and of fronts."""
    import discreet.solve._base as solving
    from discreet import pareto
    from discreet.pipeline.clock import Clock

    now = [1000.0]
    monkeypatch.setattr(solving.time, "monotonic", lambda: now[0])

    @contextmanager
    def slow() -> Iterator[None]:
        yield
        now[0] += 60

    budget = Budget(started=now[0], while_paused=slow)
    with budget.paused():
        pass
    assert (budget.preparing, budget.seconds) == (60, 0)
    seen: list[tuple[str, str, float]] = []

    def reassign(clock: Clock, seconds: float, *, from_stage: str, to_stage: str) -> None:
        seen.append((to_stage, from_stage, seconds))

    monkeypatch.setattr(Clock, "reassign", reassign)
    anonymize(people, identifiers="name", quasi_identifiers=["age"], privacy="k(2)", budget=budget)
    pareto(people, quasi_identifiers=["age"], budget=budget)
    assert [(stage, of) for stage, of, _ in seen] == [("compile", "solve")] * 2
    assert all(seconds >= 60 and seconds % 60 == 0 for *_, seconds in seen)
    assert sum(seconds for *_, seconds in seen) == budget.preparing - 60


def test_the_trace_begins_with_the_search() -> None:
    """A budget opened before the table was read, as that of the command line, does not count what came before."""
    early = Budget(started=time.monotonic() - 1000)
    table = pl.DataFrame({"age": [20, 21, 30, 31, 45, 46] * 5})
    release = anonymize(table, quasi_identifiers={"age": "intervals(5, 10)"}, privacy="k(6)", budget=early)
    assert release.trace
    assert all(0 <= moment.seconds <= release.stats["seconds"]["solve"] for moment in release.trace)


@pytest.mark.parametrize(("different", "given", "expected"), [(60, None, True), (20, None, False), (60, "mask", False)])
def test_text_of_which_next_to_nothing_can_stay(different: int, given: str | None, expected: bool) -> None:
    table = pl.DataFrame({"remark": [f"person {i % different} came {i % different}" for i in range(100)]})
    release = anonymize(table, quasi_identifiers={"remark": given}, privacy="k(3)")
    sentence = "Column 'remark' has a different value in most rows, so an automatic hierarchy may keep"
    assert any(note.startswith(sentence) for note in release.notes) == expected
