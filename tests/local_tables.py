"""Small random tasks for local recoding, and an audit of their solutions in plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace

import numpy as np

import naive
from discreet.counts import CountTable
from discreet.problem import Classes, Problem
from discreet.solve.local.pricing import price
from discreet.solve.local.task import LocalGrouping, make_task
from tables import count_table, random_sample

__all__ = [
    "EXAMPLE_1",
    "audited",
    "cost_of",
    "covers_values",
    "groups_of",
    "local_task",
    "random_local_table",
    "same_groups",
]

EXAMPLE_1 = {"x": [10, 20, 20, 50, 50, 60], "y": [60, 70, 50, 20, 10, 15]}
"""The six points a to f of example 1 of the utility paper, reconstructed from their ranges."""


def random_local_table(seed, *, sensitive=1, no_tree=0.3, **ranges):
    """A table each of whose tuples has one value of each sensitive column; some attributes have no hierarchy."""
    sample = random_sample(seed, sensitive=sensitive, label=False, **ranges)
    rng = random.Random(seed)
    plain = naive.Table(sample.naive.rows, {**sample.naive.hierarchies, **sample.sensitive}, sample.naive.numeric)
    table, m = count_table(plain, sample.sensitive), len(sample.naive.hierarchies)
    attributes = tuple(
        replace(
            attribute,
            tree=False,
            ancestors=np.stack([attribute.ancestors[0], 0 * attribute.ancestors[0]]),
            labels=[attribute.labels[0], ["*"]],
        )
        if rng.random() < no_tree
        else attribute
        for attribute in table.attributes[:m]
    )
    return CountTable(attributes, table.codes[:m].copy(), table.weights, table.sensitive)


def local_task(columns, k, hierarchies=None, suppression="none"):
    """A task with k-anonymity and NCP from columns of values; numbers have no hierarchy."""
    trees = {name: [(v,) for v in sorted(set(column))] for name, column in columns.items()} | (hierarchies or {})
    numbers = frozenset(columns) - frozenset(hierarchies or {})
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    table = count_table(naive.Table(rows, trees, numbers))
    table = replace(table, attributes=tuple(replace(a, tree=a.name not in numbers) for a in table.attributes))
    return make_task(Problem.build(table, privacy=f"k({k})", cost="NCP", scheme="local", suppression=suppression))


def groups_of(task, solution):
    """The groups found, after an audit, each as how often it has each tuple of codes; sorted."""
    grouping = solution.groups
    audited(task, grouping)
    found = defaultdict(dict)
    for j, g, count in zip(grouping.tuple.tolist(), grouping.group.tolist(), grouping.count.tolist(), strict=True):
        found[g][tuple(task.problem.table.codes[:, j].tolist())] = count
    return sorted(sorted(group.items()) for group in found.values())


def audited(task, grouping):
    """Check that every row is in one group, that every group is ok, and what all cost; return the groups' sizes."""
    problem, points = task.problem, task.points
    table = problem.table
    assert (grouping.count > 0).all()
    rows = np.bincount(grouping.tuple, weights=grouping.count, minlength=table.tuples)
    assert rows.tolist() == table.weights.tolist()
    members = defaultdict(list)
    for j, g, count in zip(grouping.tuple.tolist(), grouping.group.tolist(), grouping.count.tolist(), strict=True):
        members[g].append((j, count))
    lost = sum(count for _, count in members.pop(-1, []))
    assert lost <= problem.limit
    assert sorted(members) == list(range(len(members)))
    sizes = np.array([sum(count for _, count in members[g]) for g in range(len(members))], dtype=np.int64)
    histograms = {name: np.zeros((len(members), h.cardinality), dtype=np.int64) for name, h in table.sensitive.items()}
    for name, histogram in table.sensitive.items():
        for g, shares_of_group in members.items():
            for j, count in shares_of_group:
                histograms[name][g, histogram.values[j]] += count
    assert problem.ok(Classes(table, sizes, sensitive=histograms)).all()
    cost = sum(sizes[g] * sum(_rates(task, [j for j, _ in inside])) for g, inside in members.items())
    np.testing.assert_allclose(cost_of(task, grouping), cost + lost * points.penalty, rtol=1e-9, atol=1e-9)
    return sizes


def _rates(task, tuples):
    """Cost of a row of a group in each attribute, by the definitions."""
    table, cost = task.problem.table, task.problem.cost
    for i, attribute in enumerate(table.attributes):
        weight, leaves = cost.weights.get(attribute.name, 1.0), attribute.leaves
        codes = sorted({int(table.codes[i, j]) for j in tuples})
        if len(codes) == 1:
            yield 0.0
        elif attribute.positions is not None and not attribute.tree:
            missing, position, whole = np.isnan(attribute.positions), attribute.positions, 0.0
            if cost.name == "NCP":
                whole = np.ptp(position[(attribute.rows > 0) & ~missing])
            else:
                position, whole = np.where(missing, np.nan, np.arange(leaves)), leaves - 1
            spread = position[codes[-1]] - position[codes[0]]
            yield weight * (1.0 if np.isnan(spread) else spread / whole)
        else:
            under = len(codes)
            if attribute.tree:
                shared = [i for i, level in enumerate(attribute.ancestors) if len(set(level[codes].tolist())) == 1]
                block = attribute.ancestors[shared[0]][codes[0]] if shared else 0
                under = int((attribute.ancestors[shared[0]] == block).sum()) if shared else leaves
                if shared and attribute.name in getattr(cost, "node_weights", {}):
                    weight *= cost.node_weights[attribute.name].get(attribute.labels[shared[0]][block], 1)
            yield weight * (under / leaves if cost.name == "NCP" else (under - 1) / (leaves - 1))


def cost_of(task, groups):
    """What groups cost, of a solution or of a solver."""
    return price(task, LocalGrouping(groups.tuple, groups.group, groups.count)).cost


def same_groups(first, second):
    """Whether two solutions put the same rows into the same groups."""
    names = ("tuple", "group", "count")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


def covers_values(problem, recoding):
    """Whether every published row lies under what it shows."""
    for i, (attribute, cover) in enumerate(zip(problem.table.attributes, recoding.covers, strict=True)):
        for row, group in zip(recoding.tuple.tolist(), recoding.group.tolist(), strict=True):
            if group < 0:
                continue
            leaf, first, second = int(problem.table.codes[i, row]), int(cover.first[group]), int(cover.second[group])
            if cover.form == "node" and first <= attribute.height and attribute.ancestors[first, leaf] != second:
                return False
            if cover.form == "range" and not first <= leaf <= second:
                return False
            if cover.form == "set" and leaf not in cover.leaves[first:second]:
                return False
    return True
