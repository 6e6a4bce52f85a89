"""The bounds of local recoding on tables of some size: Adult where it is there, and generated rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.counts import CodedAttribute, CountTable
from discreet.engines import count, open_source
from discreet.problem import Problem
from discreet.schema import Schema
from discreet.solve._base import SOLVERS, Budget
from discreet.solve.local import bounds as _bounds
from discreet.solve.local.bounds import nearest_bound, price_bound
from discreet.solve.local.pricing import price
from discreet.solve.local.task import LocalGrouping, LocalTask, make_task


def generated(rows: int, *, values: int = 40, attributes: int = 3, k: int = 5, **options: str) -> LocalTask:
    """Rows in a few clouds, with numbers and one tree."""
    rng = np.random.default_rng(7)
    center = rng.integers(0, values, (6, attributes))
    drawn = center[rng.integers(0, 6, rows)] + np.rint(rng.normal(0, values / 10, (rows, attributes))).astype(int)
    codes, weights = np.unique(np.clip(drawn, 0, values - 1).T, axis=1, return_counts=True)
    leaf = np.arange(values)
    tree = np.stack([leaf, leaf // 5, leaf // 20, 0 * leaf]).astype(np.int32)
    columns = [
        CodedAttribute(
            f"q{i}",
            tree if i == 0 else tree[[0, -1]],
            np.bincount(codes[i], weights=weights, minlength=values).astype(np.int64),
            None if i == 0 else leaf.astype(np.float64),
            tree=i == 0,
        )
        for i in range(attributes)
    ]
    table = CountTable(tuple(columns), codes.astype(np.int32), weights.astype(np.int64))
    return make_task(
        Problem.build(table, privacy=f"k({k})", cost=options.pop("cost", "NCP"), scheme="local", **options)
    )


def in_order(task: LocalTask) -> LocalGrouping:
    """Whole tuples in the table's order, in groups of at least k rows."""
    weights = task.problem.table.weights
    group, rows, number = np.zeros(weights.size, dtype=np.int64), 0, 0
    for j, weight in enumerate(weights):
        group[j] = number
        rows += weight
        if rows >= task.k and weights[j + 1 :].sum() >= task.k:
            number, rows = number + 1, 0
    return LocalGrouping(np.arange(weights.size), group, weights)


def test_prices_prove_more_than_neighbours():
    task = generated(400)
    near, (bound, prices) = nearest_bound(task, Budget()), price_bound(task, Budget())
    cost = price(task, in_order(task)).cost
    assert 0 < near < bound < cost
    assert prices.shape == task.points.weights.shape
    assert bound == pytest.approx(float(prices @ task.points.weights))
    assert (prices[task.points.weights >= task.k] <= 0).all()


def test_a_search_that_may_visit_few_boxes_proves_less(monkeypatch):
    task = generated(2000)
    exact = nearest_bound(task, Budget())
    monkeypatch.setattr(_bounds, "_VISITS", 8)
    assert 0 < nearest_bound(task, Budget()) < exact


def test_bounds_are_the_same_every_time():
    task = generated(300)
    first, again = price_bound(task, Budget()), price_bound(task, Budget())
    assert first[0] == again[0]
    np.testing.assert_array_equal(first[1], again[1])


def test_a_stopped_search_returns_what_is_proven():
    task, stopped = generated(300), Budget(time_limit=0.0)
    assert nearest_bound(task, stopped) == 0
    bound, prices = price_bound(task, stopped)
    assert bound == 0
    assert prices.shape == task.points.weights.shape


def test_a_walk_that_takes_too_long_is_given_up(monkeypatch):
    task = generated(300)
    monkeypatch.setattr(_bounds, "_WALK", -1)
    monkeypatch.setattr(_bounds, "pair_prices", lambda task, cells, budget: None)
    assert price_bound(task, Budget())[0] == pytest.approx(nearest_bound(task, Budget()))


def test_pairs_prove_more_than_neighbours_where_there_are_many_attributes():
    task = generated(400, values=9, attributes=16)
    near, (bound, prices) = nearest_bound(task, Budget()), price_bound(task, Budget())
    assert bound > 1.3 * near
    assert bound == pytest.approx(float((task.points.weights * prices).sum()))
    assert bound <= SOLVERS.make("local(bound=none)").solve(task.problem, Budget(seed=1)).cost


def test_few_remembered_cuts_prove_less_but_nothing_wrong(monkeypatch):
    task = generated(300)
    full = price_bound(task, Budget())[0]
    monkeypatch.setattr(_bounds, "_CUTS", 10)
    monkeypatch.setattr(_bounds, "_ENTRIES", 30)
    assert nearest_bound(task, Budget()) <= price_bound(task, Budget())[0] <= full * 1.01


def test_suppression_can_only_lower_the_bound():
    bounds = [
        price_bound(generated(60, k=20, suppression=suppression), Budget())[0]
        for suppression in ("none", "budget(2)", "budget(10)", "class-records")
    ]
    assert bounds[0] > bounds[-1] > 0
    assert bounds == sorted(bounds, reverse=True)


def test_nothing_to_prove_where_all_rows_are_alike():
    task = generated(50, values=1)
    assert nearest_bound(task, Budget()) == 0
    assert price_bound(task, Budget())[0] == 0


def test_the_search_ends_when_a_release_is_proven_best():
    task = generated(12, k=12)
    everything = LocalGrouping(
        np.arange(task.points.weights.size), np.zeros(task.points.weights.size, dtype=np.int64), task.points.weights
    )
    bound, _ = price_bound(task, Budget(), everything)
    assert bound == pytest.approx(price(task, everything).cost)


def test_adult(adult):
    frame = pl.read_csv(adult / "adult.csv", separator=";")
    trees = {name: dc.Hierarchy.from_csv(adult / f"adult_hierarchy_{name}.csv") for name in frame.columns}
    source = open_source(frame)
    table = count(source, Schema.make(source.columns, (), trees, [], None, None)).table
    task = make_task(Problem.build(table, privacy="k(2)", cost="LM", scheme="local"))
    values = table.n * len(trees)
    assert nearest_bound(task, Budget()) / values == pytest.approx(0.01415, abs=1e-5)
    assert price_bound(task, Budget())[0] / values > 0.0178
