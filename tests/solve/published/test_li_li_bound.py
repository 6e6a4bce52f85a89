"""The lower bounds of the Li-Li search at its root, against their text in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from discreet.problem import Problem
from discreet.solve import Budget, solve
from discreet.solve.published.li_li.catalogue import Catalogue
from discreet.solve.published.li_li.evaluation import CompiledEvaluator, evaluator_for
from tables import random_sample


def root_of(problem):
    catalogue = Catalogue(problem, "bottom-up")
    evaluator = evaluator_for(problem, catalogue)
    assert isinstance(evaluator, CompiledEvaluator)
    return evaluator.evaluate(np.array([catalogue.root], dtype=np.int32))


@pytest.mark.parametrize("scheme", ["ordered", "guided-ordered", "set"])
def test_from_below_rows_that_are_suppressed_may_cost_nothing_under_hdm(scheme):
    """Section 4.3.1: "penalty(N, r2) can be as small as 0"; at the root nothing is generalized, and all others too."""
    for seed in range(20):
        sample = random_sample(seed, rows=(6, 14), leaves=(2, 4), height=(1, 2), missing=0.0)
        limits = {"min_levels": {"q0": 1}}
        problem = Problem.build(
            sample.counts, privacy="k(2)", cost="HDM", scheme=scheme, suppression="class-records", **limits
        )
        levels = [1, *([0] * (len(sample.naive.hierarchies) - 1))]
        published = [members for members in naive.classes(sample.naive, levels) if len(members) > 1]
        want = naive.hierarchical_discernibility(sample.naive, levels, published, [])
        assert root_of(problem).bound[0] == pytest.approx(want), seed


def test_dm_is_bounded_as_in_k_optimize():
    """A row costs the table if its most general class is too small, else its own class or k, whichever is larger."""
    for seed in range(20):
        sample = random_sample(seed, rows=(6, 14), leaves=(2, 4), height=(1, 2))
        n = len(sample.naive.rows)
        problem = Problem.build(sample.counts, privacy="k(3)", cost="DM", scheme="set", suppression="class-records")
        own = naive.classes(sample.naive, [0] * len(sample.naive.hierarchies))
        assert root_of(problem).bound[0] == sum(len(each) * max(len(each), 3) for each in own), n


def test_without_a_direction_it_goes_from_below():
    problem = Problem.build(random_sample(3).counts, privacy="k(2)", scheme="ordered")
    for text, direction in (
        ("partitions(bounds=paper)", "bottom-up"),
        ("partitions(bounds=paper, direction=bottom-up)", "bottom-up"),
        ("partitions(bounds=paper, direction=top-down)", "top-down"),
    ):
        assert solve(problem, text, Budget()).stats["direction"] == direction
