"""The bounds of local recoding against the best grouping of all, found by going through every one of few rows."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from depth import every
from discreet.counts import CodedAttribute, CountTable
from discreet.problem import Problem
from discreet.problem.costs.certainty import Certainty
from discreet.solve._base import Budget
from discreet.solve.local import bound_cells as _bound_cells
from discreet.solve.local import bounds as _bounds
from discreet.solve.local import task as _task
from discreet.solve.local.bound_cells import make_cells, merge_equal
from discreet.solve.local.bounds import nearest_bound, price_bound
from discreet.solve.local.pair_bound import pair_prices
from discreet.solve.local.pricing import price
from discreet.solve.local.task import LocalGrouping, LocalTask, make_task
from tables import labelled_rows, random_node_weights

KINDS = ("range", "range with missing", "tree", "numbers in a tree", "set")


def random_attribute(rng: random.Random, name: str, kind: str, values: int) -> CodedAttribute:
    """Leaves 0..values-1, in a random tree of two levels under the root, or in none."""
    leaf = list(range(values))
    if kind in ("tree", "numbers in a tree"):
        middle = [0]
        for _ in leaf[1:]:
            middle.append(middle[-1] + (rng.random() < 0.5))
        levels = [leaf, middle, [0] * values]
    else:
        levels = [leaf, [0] * values]
    positions = None
    if kind != "set" and kind != "tree":
        positions = np.sort(np.array([rng.uniform(0, 9) for _ in leaf]))
        if kind == "range with missing":
            positions[-1] = np.nan
    return CodedAttribute(
        name,
        np.array(levels, dtype=np.int32),
        np.zeros(values, dtype=np.int64),
        positions,
        tree="tree" in kind,
        labels=[[f"{level}.{block}" for block in range(max(blocks) + 1)] for level, blocks in enumerate(levels)],
    )


def random_task(seed: int, *, most_rows: int = 8, node_weights: bool = False) -> LocalTask:
    rng = random.Random(seed)
    m = rng.randint(1, 4)
    kinds = [rng.choice(KINDS) for _ in range(m)]
    attributes = [random_attribute(rng, f"q{i}", kind, rng.randint(1, 6)) for i, kind in enumerate(kinds)]
    near = rng.random() < 0.5
    first = [rng.randrange(a.leaves) for a in attributes]
    rows = [
        tuple(
            first[i] if near and rng.random() < 0.5 else rng.randrange(attribute.leaves)
            for i, attribute in enumerate(attributes)
        )
        for _ in range(rng.randint(2, most_rows))
    ]
    tuples = sorted(set(rows))
    attributes = [
        replace(a, rows=np.bincount([row[i] for row in rows], minlength=a.leaves)) for i, a in enumerate(attributes)
    ]
    table = CountTable(
        tuple(attributes),
        np.array(tuples, dtype=np.int32).T.copy(),
        np.array([rows.count(row) for row in tuples], dtype=np.int64),
    )
    weights = ", ".join(f"q{i}: {rng.choice((0.25, 0.5, 1, 2))}" for i in range(m))
    cost = rng.choice(("LM", "NCP"))
    k = min(rng.choice((2, 2, 3, 4)), len(rows))
    cost = f"{cost}(weights={{{weights}}})" if rng.random() < 0.3 else cost
    if node_weights:
        nodes = {a.name: random_node_weights(random.Random(seed), labelled_rows(a)) for a in attributes if a.tree}
        cost = Certainty(node_weights=nodes)
    return make_task(
        Problem.build(
            table,
            privacy=f"k({k})",
            cost=cost,
            suppression=rng.choice(("none", "none", "class-records", "budget(1)", "budget(3)")),
            scheme="local",
        )
    )


def all_groups(task: LocalTask) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The tuple of each row; for each set of rows, a number with a bit for each row, its cost and its size."""
    table = task.problem.table
    row = np.repeat(np.arange(table.tuples), table.weights)
    member = (np.arange(1, 2**row.size)[:, None] >> np.arange(row.size)) & 1
    group, where = np.nonzero(member)
    classes = price(task, LocalGrouping(row[where], group, np.ones(group.size, dtype=np.int64))).classes
    return row, np.append(0.0, task.problem.cost.published(classes)), np.append(0, classes.sizes)


def least_cost(task: LocalTask) -> float:
    """The cheapest of all groupings; infinite if there is none."""
    row, cost, size = all_groups(task)
    penalty, limit, everything = task.points.penalty, task.problem.limit, 2**row.size
    best = np.full((limit + 1, everything), np.inf)
    best[:, 0] = 0.0
    for rows in range(1, everything):
        lowest = rows & -rows
        rest = rows ^ lowest
        for lost in range(limit + 1):
            found = best[lost - 1, rest] + penalty if lost else np.inf
            others = rest
            while True:
                if size[others | lowest] >= task.k:
                    found = min(found, cost[others | lowest] + best[lost, rest ^ others])
                if others == 0:
                    break
                others = (others - 1) & rest
            best[lost, rows] = found
    return float(best[limit, everything - 1])


def check(task: LocalTask, seed: int) -> tuple[float, float, float]:
    """Check both bounds and the prices; returns the bounds and the best cost."""
    best, near = least_cost(task), nearest_bound(task, Budget())
    bound, prices = price_bound(task, Budget())
    assert near <= best, seed
    assert near - 1e-12 <= bound <= best, seed
    row, cost, size = all_groups(task)
    member = (np.arange(cost.size)[:, None] >> np.arange(row.size)) & 1
    assert (member @ prices[row] <= cost)[size >= task.k].all(), seed
    cells, of = merge_equal(make_cells(task))
    by_pairs = pair_prices(task, cells, Budget())
    if by_pairs is not None:
        assert (member @ by_pairs[of][row] <= cost + 1e-9)[size >= task.k].all(), seed
    if not task.problem.limit:
        assert bound == pytest.approx(max(float(prices[row].sum()), 0.0), abs=1e-8), seed
    return near, bound, best


@pytest.mark.parametrize("part", every(3, range(6)))
def test_no_grouping_is_below_the_bounds(part):
    seeds = range(part * 250, part * 250 + 250)
    found = [check(random_task(seed, most_rows=8 if seed % 4 == 0 else 6), seed) for seed in seeds]
    near, bound, best = np.array(found).T
    assert 0 < near.sum() < bound.sum() < best.sum()
    assert bound.sum() > 0.8 * best.sum()
    assert np.isclose(bound, best).mean() > 0.5  # where no fraction of a group helps, prices prove the optimum


@pytest.mark.parametrize("part", range(2))
def test_no_grouping_is_below_the_bounds_with_node_weights(part):
    tasks = [(random_task(seed, most_rows=6, node_weights=True), seed) for seed in range(part * 250, part * 250 + 250)]
    near, bound, best = np.array([check(task, seed) for task, seed in tasks if task.problem.cost.node_weights]).T
    assert near.size > 100
    assert 0 < near.sum() < bound.sum() < best.sum()
    assert bound.sum() > 0.8 * best.sum()


@pytest.mark.parametrize("part", every(2, range(4)))
def test_bounds_hold_where_values_share_cells(part, monkeypatch):
    for module, name, value in (
        (_task, "_TABLE_LEAVES", 0),  # ranges and trees as of many values
        (_task, "BITS", 2),
        (_bound_cells, "BITS", 2),
        (_bound_cells, "_CELLS", (1, 2, 3)[part % 3]),
        (_bounds, "_WIDTHS", (2, 3)),
        (_bounds, "_VISITS", 2),
    ):
        monkeypatch.setattr(module, name, value)
    seeds = range(part * 200, part * 200 + 200)
    found = [check(random_task(seed, most_rows=6, node_weights=seed % 4 == 0), seed) for seed in seeds]
    assert sum(bound for _, bound, _ in found) > 0
