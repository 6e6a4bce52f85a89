"""Incumbents by annealing: allowed, priced as they are, and better than what they start from."""

from __future__ import annotations

import numpy as np
import pytest

from cases import evaluate_blocks
from depth import DEEP
from discreet.problem import Problem
from discreet.runtime.integer_codes import by_appearance
from discreet.solve import Budget
from discreet.solve.partitions.search import PartitionSearch
from discreet.solve.partitions.solver import PartitionsSolver
from tables import random_sample

SCHEMES = ("subtree", "guided-ordered", "guided-set", "ordered", "set")


def problem_of(seed, rows=(30, 60), leaves=(3, 8), **parts):
    sample = random_sample(seed, rows=rows, attributes=(2, 4), leaves=leaves, height=(2, 2), values=(2, 3), spare=0)
    return Problem.build(sample.counts, **{"privacy": "k(3)", "suppression": "class-records", **parts})


@pytest.mark.scaled
@pytest.mark.parametrize("kind", ["class-records", "none", "budget(0.1)"])
@pytest.mark.parametrize("cost", ["DM", "HDM", "LM"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_it_finds_is_allowed_and_costs_what_it_says(scheme, cost, kind):
    for seed in range(5 if DEEP else 1):
        problem = problem_of(seed, leaves=(3, 8 if DEEP else 6), scheme=scheme, cost=cost, suppression=kind)
        search = PartitionSearch(problem, Budget(), None)
        start = [own.most_general() for own in search.root]
        before = search._try(tuple(own.fixed(blocks) for own, blocks in zip(search.root, start, strict=True)))
        found = search.annealing.run(start, before, Budget(), evaluations=1000)
        if found is None:
            continue
        blocks = [own.leaf_blocks(each) for own, each in zip(search.root, map(by_appearance, found), strict=True)]
        again = evaluate_blocks(problem, blocks)
        assert again.suppressed_rows <= problem.limit
        assert again.cost <= before * (1 + 1e-9)
        for own, each, attribute in zip(problem.schemes, blocks, problem.table.attributes, strict=True):
            sets = tuple(tuple(np.flatnonzero(each == b).tolist()) for b in dict.fromkeys(each.tolist()))
            assert own.allows(attribute, sets)
        assert again.cost >= PartitionsSolver().solve(problem, Budget()).cost * (1 - 1e-9)


def test_the_optimum_of_a_small_table():
    """Long enough, it finds what the search proves to be the best."""
    for seed in range(4):
        problem = problem_of(seed, scheme="ordered", cost="HDM")
        best = PartitionsSolver().solve(problem, Budget())
        search = PartitionSearch(problem, Budget(), None)
        start = [own.most_general() for own in search.root]
        before = search._try(tuple(own.fixed(blocks) for own, blocks in zip(search.root, start, strict=True)))
        found = search.annealing.run(start, before, Budget(), evaluations=20_000)
        cost = (
            before
            if found is None
            else search._try(tuple(own.fixed(each) for own, each in zip(search.root, found, strict=True)))
        )
        assert cost == pytest.approx(best.cost, rel=1e-9)


def test_sets_of_many_values_are_better_than_runs():
    """Attributes of more than 16 values are searched by annealing, not only by runs."""
    sample = random_sample(1, rows=(200, 200), attributes=(2, 2), leaves=(18, 18), height=(1, 1), spare=0)
    costs = {}
    for scheme in ("ordered", "set"):
        problem = Problem.build(sample.counts, privacy="k(5)", cost="HDM", suppression="class-records", scheme=scheme)
        found = PartitionsSolver().solve(problem, Budget())
        costs[scheme] = found.cost
        assert found.lower_bound <= found.cost
    assert costs["set"] < costs["ordered"]
