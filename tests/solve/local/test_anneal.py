"""Annealing of groups: whatever it does, the groups stay what their shares say, and keep the promises."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from discreet.problem import Problem
from discreet.solve._requirements import make_requirement
from discreet.solve.kernels.requirements import holds, tally
from discreet.solve.local.kernels.anneal import anneal
from discreet.solve.local.kernels.descent import dissolve_groups, move_shares
from discreet.solve.local.kernels.group_covers import joined, left, price_of_exchange, swapped
from discreet.solve.local.kernels.groups import add, make_groups, new_group
from discreet.solve.local.task import make_task
from local_tables import local_task, random_local_table

MODELS = [["k(3)"], ["k(5)"], ["k(3)", "distinct-l(2, s0)"], ["k(2)", "entropy-l(1.5, s0)"]]


def random_problem(seed, privacy):
    ranges = {"rows": (80, 250), "attributes": (1, 4), "leaves": (2, 9), "values": (3, 5)}
    table = random_local_table(seed, sensitive=1, no_tree=0.5, **ranges)
    return Problem.build(table, privacy=privacy, cost="NCP", scheme="local")


def started(task, requirement, seed):
    """Groups to begin with, and for each point some others in the place of near ones."""
    points, n = task.points, task.points.weights.size
    rng = np.random.default_rng(seed)
    near = np.stack([rng.choice(n, size=min(n, 12), replace=False) for _ in range(n)]).astype(np.int64)
    near[near == np.arange(n)[:, None]] = -1
    near = np.take_along_axis(near, np.argsort(near < 0, axis=1, kind="stable"), axis=1)  # what is missing comes last
    group, histogram, size = np.zeros(n, dtype=np.int64), np.zeros(requirement.cells, dtype=np.int64), 0
    for j in rng.permutation(n):  # as soon as a group keeps the promises the next begins
        if size and holds(requirement, size, histogram):
            histogram[:], size = 0, 0
            group += 1
        group[j] = 0
        tally(requirement, j, points.weights[j], histogram)
        size += points.weights[j]
    if not holds(requirement, size, histogram):
        group[group == 0] = 1
    groups = make_groups(points, np.unique(group, return_inverse=True)[1], requirement.smallest, requirement.cells)
    return groups, near


def cost_of(groups):
    return float((groups.group["rate"] * groups.group["rows"]).sum())


def checked(task, requirement, groups):
    """Compare all that is known of the groups with their shares; return how many shares and groups there are."""
    points, members, rows = task.points, defaultdict(list), np.zeros(task.points.weights.size, dtype=np.int64)
    for e in np.flatnonzero(groups.share["point"] >= 0):
        members[int(groups.share[e].group)].append(int(e))
        rows[groups.share[e].point] += groups.share[e].rows
    assert rows.tolist() == points.weights.tolist()
    assert sorted(members) == np.flatnonzero(groups.group["rows"]).tolist()
    again = make_groups(points, np.full(rows.size, -1), requirement.smallest, requirement.cells)
    for b, inside in members.items():
        points_inside = [int(groups.share[e].point) for e in inside]
        assert len(set(points_inside)) == len(inside)
        listed, e = [], groups.group[b].head
        while e >= 0:
            listed.append(int(e))
            e = groups.share[e].next
        assert sorted(listed) == inside
        other = new_group(again)
        for e in inside:
            add(again, groups.share[e].point, groups.share[e].rows, other)
        assert again.group[other].rows == groups.group[b].rows
        np.testing.assert_allclose(again.group[other].rate, groups.group[b].rate, atol=1e-12)
        np.testing.assert_array_equal(again.covers.cover[other], groups.covers.cover[b])
        assert groups.group[b].rows >= requirement.smallest
        if requirement.cells:
            assert len({int(requirement.values[j, 0]) for j in points_inside}) > 1
    assert not groups.histogram.any()
    return sum(map(len, members.values())), len(members)


@pytest.mark.parametrize("privacy", MODELS, ids=lambda models: models[-1])
@pytest.mark.parametrize("heat", [0.0, 0.02, 1.0])
def test_groups_stay_what_their_shares_say(privacy, heat):
    changed = 0
    for seed in range(12):
        problem = random_problem(seed, privacy)
        task, requirement = make_task(problem), make_requirement(problem)
        groups, near = started(task, requirement, seed)
        checked(task, requirement, groups)
        before = cost_of(groups)
        saved = anneal(groups, requirement, near, 6000, heat + 1e-9, heat / 2 + 1e-9, np.array([seed + 1], np.uint64))
        checked(task, requirement, groups)
        np.testing.assert_allclose(before - cost_of(groups), saved, atol=1e-6)
        if heat == 0.0:
            assert saved > -1e-3
        changed += saved != 0.0
    assert changed > 6


def test_the_same_state_makes_the_same_groups():
    problem = random_problem(3, ["k(3)"])
    task, requirement = make_task(problem), make_requirement(problem)
    found = []
    for _ in range(2):
        groups, near = started(task, requirement, 3)
        state = np.array([77], np.uint64)
        anneal(groups, requirement, near, 5000, 0.5, 0.1, state)
        found.append((groups.share.tolist(), state.tolist()))
    assert found[0] == found[1]


def test_prices_of_moves_and_swaps_are_those_of_the_groups_one_by_one():
    rng = np.random.default_rng(1)
    for seed in range(15):
        problem = random_problem(seed, ["k(3)"])
        task, requirement = make_task(problem), make_requirement(problem)
        g, _ = started(task, requirement, seed)
        covers, inside, group = g.covers, np.flatnonzero(g.share["point"] >= 0), g.share["group"]
        for e, f in rng.choice(inside, size=(40, 2)):
            j, a, q, b = g.share[e].point, g.share[e].group, g.share[f].point, g.share[f].group
            if a == b or min((group == a).sum(), (group == b).sum()) < 2:
                continue
            moved = 4 * left(covers, a, j) + 7 * joined(covers, b, j)
            np.testing.assert_allclose(price_of_exchange(covers, a, b, j, -1, 4, 7, np.inf), moved)
            swap = 4 * swapped(covers, a, j, q) + 7 * swapped(covers, b, q, j)
            np.testing.assert_allclose(price_of_exchange(covers, a, b, j, q, 4, 7, np.inf), swap)
            for whole, limited in (
                (moved, price_of_exchange(covers, a, b, j, -1, 4, 7, moved / 2)),
                (swap, price_of_exchange(covers, a, b, j, q, 4, 7, swap / 2)),
            ):
                assert whole / 2 <= limited <= whole + 1e-9


def test_rows_of_one_tuple_come_together_again_though_no_other_point_is_near():
    task = local_task({"x": [1, 1, 1, 1, 1, 5, 5, 5, 5]}, 3)
    requirement = make_requirement(task.problem)
    points = task.points
    one, five = np.argsort(points.codes[:, 0])
    nobody = np.full((2, 1), -1)
    for kernel in (move_shares, dissolve_groups):
        groups = make_groups(points, np.full(2, -1), 3, 0)
        first, second = new_group(groups), new_group(groups)
        add(groups, one, 4, first)
        add(groups, one, 1, second)
        add(groups, five, 4, second)
        assert cost_of(groups) > 0
        kernel(groups, requirement, nobody, 0, 2)
        if kernel is move_shares:
            assert cost_of(groups) == 0
        checked(task, requirement, groups)


@pytest.mark.parametrize("rows", [1, 3])
def test_a_third_group_gives_a_row_in_the_place_of_one_that_fits_elsewhere(rows):
    task = local_task({"x": [10] * (rows + 1) + [9] * rows + [1] + [2] * (2 * rows + 1)}, rows + 1)
    requirement, points = make_requirement(task.problem), task.points
    one, two, nine, ten = np.argsort(points.codes[:, 0])
    groups = make_groups(points, np.full(4, -1), rows + 1, 0)
    torn, high, low = (new_group(groups) for _ in range(3))
    for j, b in ((nine, torn), (one, torn), (ten, high), (two, low)):
        add(groups, j, points.weights[j], b)
    near = np.full((4, 1), -1)
    near[[one, two, nine, ten], 0] = two, one, ten, nine
    before = cost_of(groups)
    saved = anneal(groups, requirement, near, 4000, 1e-6, 1e-7, np.array([5], np.uint64))
    checked(task, requirement, groups)
    np.testing.assert_allclose(before - saved, cost_of(groups))
    assert groups.share[groups.first[nine]].group == groups.share[groups.first[ten]].group
    assert cost_of(groups) < before / 2
