"""What attacks say of tables that give nothing away: intervals, control groups, and false alarms."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.evaluate import attacks
from discreet.evaluate.attacks import ATTACKS, AttackResult
from discreet.evaluate.attacks._cells import ReleasedCells
from discreet.evaluate.attacks._remaining import RemainingCells
from discreet.evaluate.attacks._statistics import independent_attempts, interval, least_difference
from discreet.evaluate.attacks._target import AttackTarget
from discreet.evaluate.attacks.refinement import RefinementAttack

TREES: dict[str, Any] = {
    "age": dc.intervals(10, 50, 100),
    "sex": None,
    "town": dc.groups({"N": ["a", "b"], "S": ["c", "d"]}),
}
TABLES = 100
FALSE = 6
"""At most so many of a hundred: 2.5 % are expected of an interval that covers 95 %, one-sided."""


def people(count: int, seed: int) -> pl.DataFrame:
    """The illness depends on the sex, which any study would show, and on nothing else."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], count)
    usual = np.where(sex == "f", "x", "y")
    ill = np.where(rng.random(count) < 0.7, usual, rng.choice(list("uvwxyz"), count))
    return pl.DataFrame(
        {"age": rng.integers(0, 100, count), "sex": sex, "town": rng.choice(list("abcd"), count), "ill": ill}
    )


def shown(table: pl.DataFrame, *hidden: str) -> pl.DataFrame:
    return table.with_columns(pl.lit("*").alias(name) for name in hidden)


def fixed(table: pl.DataFrame) -> pl.DataFrame:
    """A recoding that was fixed without looking at the data."""
    low = pl.col("age") // 50 * 50
    towns = {"a": "N", "b": "N", "c": "S", "d": "S"}
    return table.with_columns(age=pl.format("[{}, {})", low, low + 50), town=pl.col("town").replace_strict(towns))


def overlapping(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """A local recoding whose ranges and nodes were drawn for each row, whoever it is."""
    rng = np.random.default_rng(1000 + seed)
    width = rng.choice([10, 50, 100], table.height)
    low = table["age"].to_numpy() // width * width
    above = fixed(table)["town"]
    return table.with_columns(
        age=pl.Series([f"[{start}, {start + wide})" for start, wide in zip(low, width, strict=True)]),
        town=pl.Series(np.where(rng.random(table.height) < 0.5, above.to_numpy(), table["town"].to_numpy())),
    )


def tried(name: str, table: pl.DataFrame, released: Any, **more: Any) -> AttackResult:
    known = {"quasi_identifiers": TREES, "sensitive": ["ill"], "only": name}
    return attacks(table, released, **{**known, **more})[name]


SAFE: dict[str, Callable[[str, int], AttackResult]] = {
    "linkage": lambda name, seed: tried(name, t := people(300, seed), fixed(t), control=people(60, 500 + seed)),
    "homogeneity": lambda name, seed: tried(
        name, t := people(800, seed), shown(t, "age", "town"), control=people(60, 500 + seed)
    ),
    "order": lambda name, seed: tried(
        name, t := people(300, seed), fixed(t).filter(pl.col("ill") != "u").sample(fraction=1, shuffle=True, seed=seed)
    ),
    "minimality": lambda name, seed: tried(name, t := people(200, seed), fixed(t), privacy="distinct-l(2, ill)"),
    "downcoding": lambda name, seed: tried(name, t := people(300, seed), overlapping(t, seed)),
    "refinement": lambda name, seed: tried(name, t := people(300, seed), overlapping(t, seed)),
    "singling-out": lambda name, seed: tried(name, t := people(300, seed), shown(t, "age", "town")),
    "composition": lambda name, seed: tried(
        name, t := people(400, seed), fixed(t), earlier=fixed(t), control=people(60, 500 + seed)
    ),
    "definetti": lambda name, seed: tried(
        name, t := people(400, seed).with_columns(pl.col("ill").shuffle(seed)), fixed(t), control=people(60, 500 + seed)
    ),
    "membership": lambda name, seed: tried(
        name, t := people(300, seed), shown(t, "age", "sex", "town"), population=pl.concat([t, people(600, 500 + seed)])
    ),
    "inference": lambda name, seed: tried(
        name, t := people(800, seed), shown(t, "age", "town"), control=people(60, 500 + seed)
    ),
    "distance": lambda name, seed: tried(name, t := people(300, seed), shown(t, "age")),
}


@pytest.mark.parametrize("name", ATTACKS.members())
def test_false_alarms(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On tables that give nothing away, an attack is at the level of its baseline, and is hardly ever called better."""
    monkeypatch.setattr(sys.modules["discreet.evaluate.attacks.minimality"], "_DRAWS", 60)
    found = [SAFE[name](name, seed) for seed in range(TABLES)]
    assert all(each.ran for each in found)
    assert sum(each.better for each in found) <= FALSE
    gains = [each.success - each.baseline for each in found]
    assert np.mean(gains) < 0.01


@pytest.mark.parametrize("others", [30, 100, 400])
@pytest.mark.parametrize("name", ["homogeneity", "inference"])
def test_small_control_groups_raise_no_alarm(name: str, others: int) -> None:
    """How often a few people of a control group are guessed right is not exact; taken as exact, it raises alarms."""
    tables = [people(800, seed) for seed in range(TABLES)]
    found = [
        tried(name, table, shown(table, "age", "town"), control=people(others, 500 + seed))
        for seed, table in enumerate(tables)
    ]
    assert sum(each.better for each in found) <= FALSE
    assert sum(each.exceeds_baseline for each in found) > FALSE
    assert all(each.control_attempts == others for each in found)
    assert all(f"{interval(each.control, others)[0]:.1%} to" in each.sentence for each in found)


@pytest.mark.parametrize("truth", [0.1, 0.3])
def test_intervals_cover(truth: float) -> None:
    """Of many samples, about 95 % of the intervals hold the true share, and 97.5 % of the ends are below it."""
    rng = np.random.default_rng(1)
    hits = rng.binomial(400, truth, 2000) / 400
    inside = [low <= truth <= high for low, high in (interval(each, 400) for each in hits)]
    assert 0.93 < np.mean(inside) < 0.975
    others = rng.binomial(60, truth, 2000) / 60
    above = [least_difference(a, 400, b, 60) > 0 for a, b in zip(hits, others, strict=True)]
    assert np.mean(above) < 0.04


def test_attempts_within_clusters() -> None:
    """Classes that are guessed right as a whole count as one attempt; people who are independent as one each."""
    rng = np.random.default_rng(2)
    sizes = np.full(400, 10.0)
    whole = independent_attempts(np.where(rng.random(400) < 0.4, 10.0, 0.0), sizes)
    assert whole == pytest.approx(400, rel=0.1)
    alone = independent_attempts(rng.binomial(10, 0.4, 400).astype(float), sizes)
    assert alone == pytest.approx(4000, rel=0.15)
    assert independent_attempts(np.zeros(4), np.array([1.0, 1.0, 1.0, 7.0])) == pytest.approx(100 / 52)
    assert independent_attempts(np.zeros(0), np.zeros(0)) == 0


@pytest.mark.parametrize("truth", [0.2, 0.5])
def test_intervals_of_drawn_classes_cover(truth: float) -> None:
    """Where classes are drawn whose people share a guess, the interval still holds the share of all classes."""
    rng = np.random.default_rng(3)
    inside = narrow = 0
    for _ in range(500):
        size = rng.integers(5, 15, 200).astype(float)
        right = np.where(rng.random(200) < truth, size, 0.0)
        share, attempts = right.sum() / size.sum(), independent_attempts(right, size)
        low, high = interval(share, attempts)
        inside += low <= truth <= high
        low, high = interval(share, size.sum())
        narrow += low <= truth <= high
    assert inside / 500 > 0.92
    assert narrow / 500 < 0.6, "as if all were independent"


def target_of(table: pl.DataFrame, released: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> AttackTarget:
    seen: list[AttackTarget] = []
    run = RefinementAttack.run
    monkeypatch.setattr(RefinementAttack, "run", lambda self, target: (seen.append(target), run(self, target))[1])
    attacks(table, released, quasi_identifiers=TREES, only="refinement")
    return seen[0]


@pytest.mark.parametrize("seed", range(6))
def test_what_finer_classes_leave_by_trying_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shares of a class are those of the tuples that no class with less loss covers."""
    table = people(60, seed).with_columns(pl.col("age") % 20)
    target = target_of(table, overlapping(table, seed), monkeypatch)
    columns = [ReleasedCells(match, target.released_rows(i)) for i, match in enumerate(target.candidates.matches)]
    cells = RemainingCells.of(target, columns)
    assert cells is not None
    covered = [[set(each.covered[value].tolist()) for value in each.match.value] for each in columns]
    widths = [each.match.domain.ancestors.shape[1] for each in columns]
    classes = range(target.after.sizes.size)
    loss = [sum((len(own[c]) - 1) / max(w - 1, 1) for own, w in zip(covered, widths, strict=True)) for c in classes]
    refined = 0
    for c in classes:
        weight: dict[tuple[int, ...], float] = {}
        for leaves in product(*(sorted(own[c]) for own in covered)):
            weight[leaves] = float(np.prod([each.weights[leaf] for each, leaf in zip(columns, leaves, strict=True)]))
        finer = [f for f in classes if loss[f] < loss[c] - 1e-12]
        left = {
            leaves: each
            for leaves, each in weight.items()
            if not any(all(leaf in own[f] for leaf, own in zip(leaves, covered, strict=True)) for f in finer)
        }
        found = cells.of_class(c)
        if found is None:
            assert len(left) == len(weight) or not sum(left.values())
            continue
        refined += 1
        assert found.excluded == pytest.approx(1 - sum(left.values()) / sum(weight.values()))
        for column, share in enumerate(found.shares):
            for leaf in range(widths[column]):
                want = sum(each for leaves, each in left.items() if leaves[column] == leaf) / sum(left.values())
                assert share[leaf] == pytest.approx(want, abs=1e-9)
    assert refined


def rounds(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A recoding in rounds, as by ARX: who fits into a class of one job and town is in it, the rest is coarse."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[str, str, str, str]] = []
    for number in range(20):
        town, jobs = f"t{number}", rng.permutation(6)
        rows += [(town, f"j{jobs[0]}", town, f"j{jobs[0]}")] * 12
        rows += [(town, f"j{jobs[1]}", town, f"j{jobs[1]}")] * 8
        rows += [(town, f"j{rng.choice(jobs[2:])}", town, "*") for _ in range(6)]
    every = pl.DataFrame(rows, ["town", "job", "shown town", "shown job"], orient="row")
    return every.select("town", "job"), every.select(town="shown town", job="shown job")


@pytest.mark.parametrize("name", ["refinement", "downcoding"])
def test_a_release_made_in_rounds(name: str) -> None:
    """The jobs that a town shows by themselves are not those of the rest: one of four, where there seem to be six."""
    for seed in range(3):
        table, released = rounds(seed)
        trees = {"town": None, "job": dc.flat()}
        found = attacks(table, released, quasi_identifiers=trees, privacy="k(5)", only=name)[name]
        assert found.better, found.sentence
        assert found.success > found.naive + 0.05
        if name == "refinement":
            assert "rule out" in found.sentence


def test_means_are_attacked_by_the_nearest_numbers() -> None:
    """Means cover nobody, which is no safety: what looks for rows that cover people says that it cannot."""
    rng = np.random.default_rng(5)
    table = pl.DataFrame({"age": rng.permutation(400) / 7, "ill": rng.choice(list("xyz"), 400)})
    rank = table["age"].rank("ordinal") - 1
    means = table.with_columns(age=pl.col("age").mean().over((rank // 4).cast(pl.Int64)) + 0.01)
    known = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "control": table.with_columns(pl.col("age") + 0.001)}
    report = attacks(table, means, **known)
    for name in ("linkage", "singling-out", "inference", "membership"):
        assert report[name].sentence.startswith("Not run: most released rows cover nobody"), name
    assert report["order"].success > 0.9
    assert report["order"].better
    shuffled = attacks(table, means.sample(fraction=1, shuffle=True, seed=1), **known, only="order")["order"]
    assert not shuffled.better
    figures = report.evidence("ema-0070").to_frame().filter(attacker="motivated intruder")
    assert figures["value"].to_list() == [report["distance"].success]


def test_a_few_people_of_a_control_group_do_not_pass_a_gate() -> None:
    table = people(800, 1)
    report = attacks(table, table, quasi_identifiers=TREES, sensitive=["ill"], control=people(5, 2))
    gain = report.evidence("public-use-file").to_frame().filter(attacker="homogeneity")["value"].item()
    assert gain == pytest.approx(report["homogeneity"].gain)
    assert report["homogeneity"].gain > 0


@pytest.mark.parametrize("seed", range(3))
def test_releases_of_drawn_rows(seed: int) -> None:
    """All attacks run on a release by ``dp``, which knows which rows of the whole table were drawn."""
    table = people(600, seed)
    release = dc.anonymize(
        table,
        quasi_identifiers={"sex": "flat", "town": TREES["town"]},
        sensitive=["ill"],
        keep=["age"],
        privacy="dp(2, 1e-2)",
        suppression="class-records",
        seed=seed,
    )
    numbers = release.rows_of(table)
    assert len(numbers) == len(set(numbers.to_list())) == release.frame.height < 600
    drawn = table[numbers.to_numpy()]
    assert drawn["age"].to_list() == release.frame["age"].to_list()
    assert drawn["ill"].to_list() == release.frame["ill"].to_list()
    report = attacks(table, release, control=people(200, 900 + seed))
    assert report.to_frame()["attack"].to_list() == list(ATTACKS.members())
    assert not report["refinement"].better
    assert report["distance"].sentence.startswith("Not run: no quasi-identifier is a number")
