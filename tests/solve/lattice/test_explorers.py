"""Explorers: nodes evaluated at the same time, each in its part of the pool, whose lists all share."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.problem import Problem
from discreet.solve import Budget
from discreet.solve.lattice import drive, incumbents, nodes
from discreet.solve.lattice import pool as pools
from discreet.solve.lattice.explorers import Explorers
from discreet.solve.lattice.solver import LatticeSolver
from grouped import expected, table


def searched(cost, threads):
    """A search of 4,000 rows, some thousand of them distinct, so that lists are made in between."""
    counts = table([12, 12, 12, 12, 9, 9], 4000, seed=3)
    problem = Problem.build(counts, privacy="k(3)", cost=cost, suppression="class-records")
    return LatticeSolver().solve(problem, Budget(threads=threads))


@pytest.mark.parametrize("room", ["plenty", "for few lists", "for few entries"])
@pytest.mark.parametrize("cost", ["LM", "DM", "LM(penalty=l+)"])
def test_searches_with_explorers_prove_the_optimum_of_one_without(monkeypatch, cost, room):
    want = searched(cost, 1)
    assert want.status == "optimal"
    monkeypatch.setattr(nodes, "ALONE", 0)
    monkeypatch.setattr(drive, "ALONE", 0)
    monkeypatch.setattr(nodes, "_WORK", 50_000)
    monkeypatch.setattr(incumbents, "LARGE", 0)
    if room == "for few lists":
        monkeypatch.setattr(pools, "_KEPT_LISTS", 72)
    elif room == "for few entries":
        monkeypatch.setattr(pools, "_LEAST_ROOM", 0)
        monkeypatch.setattr(pools, "_MOST_BYTES", 14 * 4000 * 24)
    settle, lengths = Explorers.settle, []

    def settle_and_check(explorers, search):
        settle(explorers, search)
        lists, counts = explorers.pool.lists, table([12, 12, 12, 12, 9, 9], 4000, seed=3)
        lengths.append(int(lists.used.lists))
        ends = [0]
        for q in range(lengths[-1]):
            span = slice(lists.span[q].first, lists.span[q].first + lists.span[q].count)
            assert span.start == ends[-1]
            assert sorted(lists.size[span]) == sorted(expected(counts, lists.node[q])[1])
            ends.append(span.stop)
        assert ends[-1] == lists.used.entries
        assert all(place.state.ready == 0 for place in explorers.places)

    monkeypatch.setattr(Explorers, "settle", settle_and_check)
    found = [searched(cost, threads) for threads in (1, 2, 4)]
    for each in found:
        assert each.status == "optimal"
        assert each.cost == pytest.approx(want.cost, rel=1e-12)
        assert each.levels == want.levels
        assert each.stats == found[0].stats
    if room != "plenty":
        assert len(lengths) >= len(found)
        assert max(lengths) > 1


def test_parts_of_explorers_are_apart_and_behind_all_lists(monkeypatch):
    made = []
    make = Explorers.make

    def remember(pool, prices, search):
        explorers = make(pool, prices, search)
        lists, places = pool.lists, [place.state for place in explorers.places]
        assert places[0].begin == lists.used.entries
        assert lists.used.lists > 1
        assert [place.end for place in places[:-1]] == [place.begin for place in places[1:]]
        assert places[-1].end <= lists.rep.size
        assert np.ptp([place.end - place.begin for place in places]) == 0
        made.append(explorers)
        return explorers

    monkeypatch.setattr(Explorers, "make", remember)
    monkeypatch.setattr(nodes, "ALONE", 50_000)
    monkeypatch.setattr(nodes, "_WORK", 50_000)
    assert searched("LM", 2).status == "optimal"
    assert len(made) == 1
