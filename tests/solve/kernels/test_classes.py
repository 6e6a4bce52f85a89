"""Grouping tuples into classes, in every way keys can be made and looked up, against numpy's unique."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.problem import Problem
from discreet.solve.kernels.classes import class_ids, group, intermediate_node, keep_list, learn_levels, source_of
from discreet.solve.kernels.jit import prepared
from discreet.solve.lattice import pool as pools
from discreet.solve.lattice.layout import lay_out
from grouped import expected, table

SHAPES = {
    "one pack": [4, 3, 5],
    "several packs": [100, 20, 30, 7, 9],
    "packs of more than one word": [6] * 40,
    "wide": [700, 4, 900],
    "wide alone": [300, 400],
    "keys that do not fit": [2000] * 9,
}


@pytest.mark.parametrize("direct", [1, 1 << 16])
@pytest.mark.parametrize("leaves", SHAPES.values(), ids=SHAPES)
def test_classes_are_those_of_the_generalized_tuples(monkeypatch, leaves, direct):
    monkeypatch.setattr(pools, "_DIRECT", direct)
    counts = table(leaves, 300, seed=len(leaves))
    problem = Problem.build(counts, privacy="k(2)", cost="DM")
    sums = np.stack([counts.weights, counts.codes[0]], axis=1).astype(np.float64)
    pool = pools.make_pool(counts, lay_out(problem), sums)
    lists, scratch = pool.lists, pool.scratch
    rng = np.random.default_rng(0)
    nodes = np.sort(rng.integers(0, 3, (25, len(leaves))), axis=0)
    ids_of_list = [np.arange(counts.tuples)]
    for node in nodes:
        source = source_of(lists, node)
        classes = group(pool, source, node)
        class_ids(scratch, lists.span[source].count, classes)
        ids = scratch.ids[: lists.span[source].count][ids_of_list[source]]
        want, rows = expected(counts, node)
        assert classes == rows.size
        assert (np.unique(np.stack([ids, want]), axis=1).shape[1]) == classes
        end = int(lists.used.entries)
        assert (np.bincount(ids, weights=counts.weights) == lists.size[end : end + classes]).all()
        assert (lists.size[end : end + classes] == lists.sums[end : end + classes, 0]).all()
        assert np.allclose(np.bincount(ids, weights=sums[:, 1]), lists.sums[end : end + classes, 1])
        assert (ids[lists.rep[end : end + classes]] == np.arange(classes)).all()
        if keep_list(pool, source, node, classes, True) >= 0:
            ids_of_list.append(ids.copy())
        assert not scratch.direct.any()
        assert not scratch.hashed.any()
    assert len(ids_of_list) > 1


def test_lists_that_serve_stay_when_others_are_dropped(monkeypatch):
    monkeypatch.setattr(pools, "_KEPT_LISTS", 8)
    counts = table([9, 9, 9, 9], 3000, seed=4)
    pool = pools.make_pool(counts, lay_out(Problem.build(counts, privacy="k(2)", cost="DM")))
    lists, stayed, before = pool.lists, 0, 1
    rng = np.random.default_rng(0)
    for node in np.minimum(rng.integers(0, 3, (80, 4)) + rng.integers(0, 2, 4), 2):
        source = source_of(lists, node)
        keep_list(pool, source, node, group(pool, source, node), False)
        kept = int(lists.used.lists)
        stayed += 2 < kept < before  # more than the tuples and the latest one
        before = kept
        for q in range(kept):
            span = slice(lists.span[q].first, lists.span[q].first + lists.span[q].count)
            assert sorted(lists.size[span]) == sorted(expected(counts, lists.node[q])[1])
        ends = [int(lists.span[q].first + lists.span[q].count) for q in range(kept)]
        assert ends == sorted(ends)
        assert ends[-1] == lists.used.entries
    assert stayed


def test_the_classes_of_the_source_itself_are_its_entries():
    counts = table([6, 5, 4], 200, seed=2)
    problem = Problem.build(counts, privacy="k(2)", cost="DM")
    sums = counts.weights[:, None] * 2.0
    pool = pools.make_pool(counts, lay_out(problem), sums)
    lists, scratch = pool.lists, pool.scratch
    bottom = np.zeros(3, dtype=np.int64)
    assert group(pool, 0, bottom) == counts.tuples
    class_ids(scratch, counts.tuples, counts.tuples)
    assert (scratch.ids[: counts.tuples] == np.arange(counts.tuples)).all()
    made = slice(counts.tuples, 2 * counts.tuples)
    assert (lists.size[made] == counts.weights).all()
    assert (lists.sums[made] == sums).all()
    assert (lists.rep[made] == np.arange(counts.tuples)).all()
    assert (lists.packed[:, made] == lists.packed[:, : counts.tuples]).all()


def test_a_node_between_lies_between_and_is_shared_by_the_nodes_so_far():
    counts = table([60, 60, 60], 8000, seed=3)
    problem = Problem.build(counts, privacy="k(2)", cost="DM")
    pool = pools.make_pool(counts, lay_out(problem))
    for _ in range(50):
        learn_levels(pool.scratch, np.array([0, 2, 1]))
    node, between = np.array([2, 2, 2]), np.zeros(3, dtype=np.int64)
    assert counts.tuples > 2000
    assert intermediate_node(pool, 0, node, between)
    assert (between <= node).all()
    assert between[0] == 0
    assert 0 < between.sum() < node.sum()
    assert not intermediate_node(pool, 0, np.array([0, 0, 0]), between)


def test_a_prepared_call_reads_arrays_as_they_are_then():
    counts = table([6, 5, 4], 200, seed=2)
    layout = lay_out(Problem.build(counts, privacy="k(2)", cost="DM"))
    called, prepared_once = pools.make_pool(counts, layout).scratch, pools.make_pool(counts, layout).scratch
    node = np.zeros(3, dtype=np.int64)
    learn = prepared(learn_levels, prepared_once, node)
    for levels in ([0, 1, 2], [2, 2, 0], [1, 1, 1]):
        node[:] = levels
        learn()
        learn_levels(called, node.copy())
        assert (prepared_once.shared == called.shared).all()
