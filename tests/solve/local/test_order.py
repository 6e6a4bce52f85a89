"""Orders by splits, and nearest neighbours by boxes, against the plainest way to find them."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.problem import Problem
from discreet.solve.local.bound_cells import make_cells, merge_equal
from discreet.solve.local.kernels.nearest import build_boxes, nearest_rates
from discreet.solve.local.kernels.order import SplitRule, split_order, split_regions
from discreet.solve.local.solver import _leaves
from discreet.solve.local.task import make_task
from local_tables import random_local_table


def random_task(seed, rows=(40, 300)):
    table = random_local_table(seed, sensitive=0, rows=rows, attributes=(1, 4), leaves=(2, 12))
    return make_task(Problem.build(table, privacy="k(3)", cost="NCP", scheme="local"))


def arguments(task, k=3):
    return _leaves(task), task.points.weights, SplitRule(task.points.rates, k, 2.0)


@pytest.mark.parametrize("seed", range(20))
def test_an_order_has_every_point_once_and_regions_are_no_larger_than_asked(seed):
    task = random_task(seed)
    n = task.points.weights.size
    for largest in (n, 16, 3):
        order = np.arange(n)
        starts = split_regions(*arguments(task), order, largest)
        assert sorted(order) == list(range(n))
        assert starts[0] == 0
        assert starts[-1] == n
        assert 0 < np.diff(starts).min() <= np.diff(starts).max() <= largest
    order = np.arange(n)
    split_order(*arguments(task), order)
    assert sorted(order) == list(range(n))


def test_rows_of_one_value_stand_together_where_a_node_is_all_there_is():
    task = random_task(1)
    leaves = _leaves(task)[:, :1].copy()
    order = np.arange(leaves.shape[0])
    _, weights, rule = arguments(task, k=1)
    rates = rule.rates._replace(attribute=rule.rates.attribute[:1])
    split_order(leaves, weights, rule._replace(rates=rates), order)
    runs = np.count_nonzero(np.diff(leaves[order, 0])) + 1
    assert runs == np.unique(leaves).size


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("merged", [False, True])
def test_nearest_neighbours_are_those_found_by_comparing_all(seed, merged):
    task = random_task(seed)
    cells = make_cells(task)
    if merged:
        cells, of = merge_equal(cells)
        np.testing.assert_array_equal(cells.codes[of], make_cells(task).codes)
    tree = build_boxes(cells)
    np.testing.assert_array_equal(tree.codes, cells.codes[tree.order])
    size, code = cells.cells, cells.codes[tree.order].astype(np.int64)
    apart = sum(
        cells.rate[cells.start[i] + code[:, None, i] * size[i] + code[None, :, i]] for i in range(code.shape[1])
    )
    weights = tree.weights
    np.testing.assert_array_equal(weights, cells.weights[tree.order])
    for k in (1, 2, 5, 40):
        found, rough, again = (np.full(weights.size, -1.0) for _ in range(3))
        nothing = np.full(weights.size, np.inf)
        nearest_rates(cells, tree, k, 1_000_000, nothing, 0, tree.box.size, found)
        nearest_rates(cells, tree, k, 3, nothing, 0, tree.box.size, rough)
        known = found + np.random.default_rng(seed).choice([0.0, 0.1, np.inf], size=found.size)
        nearest_rates(cells, tree, k, 1_000_000, known, 0, tree.box.size, again)
        order = np.argsort(apart, axis=1, kind="stable")
        rows = np.cumsum(weights[order], axis=1)
        rank = np.argmax(rows >= k, axis=1)
        expected = np.take_along_axis(apart, order, axis=1)[np.arange(weights.size), rank]
        np.testing.assert_allclose(found, np.where(rows[:, -1] >= k, expected, np.inf))
        assert (rough <= found + 1e-12).all()
        np.testing.assert_array_equal(again, found)
