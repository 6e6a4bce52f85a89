"""The bounds of local recoding against the best grouping of all, found by going through every one of few rows."""

from __future__ import annotations

import random

import numpy as np
import pytest

from discreet.counts import CodedAttribute, CountTable
from discreet.problem import Problem
from discreet.solve._base import Budget
from discreet.solve._local_bound import nearest_bound
from discreet.solve._local_task import Shares, Task, classes_of, make_task

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
        name, np.array(levels, dtype=np.int32), np.zeros(values, dtype=np.int64), positions, tree="tree" in kind
    )


def random_task(seed: int, *, most_rows: int = 8) -> Task:
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
        CodedAttribute(
            a.name, a.ancestors, np.bincount([row[i] for row in rows], minlength=a.leaves), a.positions, tree=a.tree
        )
        for i, a in enumerate(attributes)
    ]
    table = CountTable(
        tuple(attributes),
        np.array(tuples, dtype=np.int32).T.copy(),
        np.array([rows.count(row) for row in tuples], dtype=np.int64),
    )
    weights = ", ".join(f"q{i}: {rng.choice((0.25, 0.5, 1, 2))}" for i in range(m))
    cost = rng.choice(("LM", "NCP"))
    return make_task(
        Problem.build(
            table,
            privacy=f"k({min(rng.choice((2, 2, 3, 4)), len(rows))})",
            cost=f"{cost}(weights={{{weights}}})" if rng.random() < 0.3 else cost,
            suppression=rng.choice(("none", "none", "class-records", "budget(1)", "budget(3)")),
            scheme="local",
        )
    )


def least_cost(task: Task) -> float:
    """The cheapest of all groupings; infinite if there is none. Sets of rows are numbers, a bit for each row."""
    table, penalty, limit = task.problem.table, task.points.penalty, task.problem.limit
    row = np.repeat(np.arange(table.tuples), table.weights)
    n = row.size
    member = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1
    group, where = np.nonzero(member)
    classes = classes_of(task, Shares(row[where], group, np.ones(group.size, dtype=np.int64)))
    cost = np.append(0.0, task.problem.cost.published(classes))
    size = np.append(0, classes.sizes)
    best = np.full((limit + 1, 2**n), np.inf)
    best[:, 0] = 0.0
    for rows in range(1, 2**n):
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
    return float(best[limit, 2**n - 1])


@pytest.mark.parametrize("part", range(10))
def test_no_grouping_is_below_the_bound(part):
    for seed in range(part * 60, part * 60 + 60):
        task = random_task(seed, most_rows=8 if seed % 4 == 0 else 6)
        best = least_cost(task)
        assert nearest_bound(task, Budget()) <= best, seed
