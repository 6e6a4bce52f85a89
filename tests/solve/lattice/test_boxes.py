"""What evaluated nodes say about others, read from sets of 64 nodes at a time, against plain comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.counts import CodedAttribute, CountTable
from discreet.problem import Problem
from discreet.solve.lattice.kernels.boxes import index_of, update_bound
from discreet.solve.lattice.kernels.search import add_result
from discreet.solve.lattice.layout import lay_out
from discreet.solve.lattice.set_up import grow, make_search

HEIGHTS = (3, 1, 2, 4, 2, 60)


def search():
    codes = np.arange(4, dtype=np.int32) * np.ones((len(HEIGHTS), 1), dtype=np.int32)
    attributes = tuple(
        CodedAttribute(f"a{i}", np.tile(np.arange(4, dtype=np.int32), (height + 1, 1)), np.full(4, 5))
        for i, height in enumerate(HEIGHTS)
    )
    problem = Problem.build(CountTable(attributes, codes, np.full(4, 5)), privacy="k(5)", cost="DM")
    return make_search(problem, lay_out(problem), None, [])


@pytest.mark.parametrize("number", [1, 63, 64, 65, 200, 1500])
def test_evaluated_nodes_are_found_and_bound_boxes(number):
    rng = np.random.default_rng(number)
    state, highest = search(), np.array(HEIGHTS)
    state.facts.limit = 20
    nodes, results = rng.integers(0, highest + 1, (number, highest.size)), rng.integers(0, 20, (number, 3)) + 0.5
    for node, (removed, lower, upper) in zip(nodes, results, strict=True):
        if state.state.evaluated + 8 > state.node.shape[0]:
            state = grow(state)
        add_result(state, 0, node, removed, lower, upper, 1e300)
    for node in np.concatenate([nodes[:50], rng.integers(0, highest + 1, (50, highest.size))]):
        same = np.flatnonzero((nodes == node).all(axis=1))
        assert index_of(state, node) == (same[0] if same.size else -1)
    for _ in range(100):
        low, high = np.sort(rng.integers(0, highest + 1, (2, highest.size)), axis=0)
        seen = int(rng.integers(0, number + 1))
        state.corner[0, 0], state.corner[0, 1] = low, high
        box = state.box[0]
        box.bound = box.low = box.up = box.removed = 0.0
        box.margin, box.seen = 0.25, seen
        update_bound(state, 0)
        above = (nodes[seen:] >= high).all(axis=1)
        below = (nodes[seen:] <= low).all(axis=1)
        removed, _, upper = results[seen:][above].max(axis=0, initial=0.0)
        lower = results[seen:, 1][below].max(initial=0.0)
        assert (box.removed, box.up, box.low, box.seen) == (removed, upper, lower, number)
        assert box.bound == lower + max(upper, 0.25 * removed)
