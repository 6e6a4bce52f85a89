"""Gaps chosen by what deciding them did before."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.problem import Problem
from discreet.solve import Budget
from discreet.solve.partitions.gap_history import GapDecision, GapHistory
from discreet.solve.partitions.kernels.runs import CLOSED, CUT
from discreet.solve.partitions.search import PartitionSearch, all_partitions
from tables import random_sample


def priced_runs():
    """Two attributes of five items whose runs all cost the same, so that prices say nothing about gaps."""
    sample = random_sample(4, rows=(40, 40), attributes=(2, 2), leaves=(5, 5), spare=0)
    problem = Problem.build(sample.counts, privacy="k(2)", cost="DM", suppression="class-records", scheme="ordered")
    found = []
    for a, runs in enumerate(all_partitions(problem, None)):
        zeros = np.zeros(runs.walk().rates.size)
        found.append((a, runs.priced(zeros, zeros)))
    return found


def made(attribute, gap, decision, bound=10.0):
    return GapDecision(attribute, gap, decision, bound)


def test_the_gap_where_both_decisions_close_most_is_chosen():
    runs, history = priced_runs(), GapHistory([5, 5])
    for gap, cut, closed in ((1, 19.0, 10.0), (2, 14.0, 14.0), (3, 10.0, 20.0)):
        history.learn(made(1, gap, CUT), cut, 20.0)
        history.learn(made(1, gap, CLOSED), closed, 20.0)
    for attribute, gap in ((0, 1), (0, 2), (0, 3), (0, 4), (1, 4)):
        history.learn(made(attribute, gap, CUT), 10.0, 20.0)
        history.learn(made(attribute, gap, CLOSED), 10.0, 20.0)
    a, own, piece = history.best_gap(runs, 10.0)
    assert (a, int(own.partitions.first[piece])) == (1, 2)


def test_shares_are_between_nothing_and_all():
    history = GapHistory([3])
    history.learn(made(0, 1, CUT), np.inf, 20.0)
    history.learn(made(0, 1, CUT), 5.0, 20.0)
    history.learn(made(0, 1, CLOSED), 15.0, 20.0)
    history.learn(made(0, 2, CUT, bound=20.0), 25.0, 20.0)
    history.learn(made(0, 2, CUT), 25.0, np.inf)
    assert history.closed[0].tolist() == [[0, 1, 0], [0, 0.5, 0]]
    assert history.seen[0].tolist() == [[0, 2, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("cost", "kind", "learns"),
    [
        ("DM", "class-records", True),
        ("DM", "none", False),
        ("HDM", "class-records", False),
        ("CM", "budget(0.2)", True),
    ],
)
def test_where_it_is_used(cost, kind, learns):
    sample = random_sample(4, rows=(40, 40), attributes=(3, 3), leaves=(5, 5), spare=0)
    problem = Problem.build(sample.counts, privacy="k(2)", cost=cost, suppression=kind, scheme="ordered")
    assert PartitionSearch(problem, Budget(), None).learns is learns
