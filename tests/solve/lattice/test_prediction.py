"""The prediction that orders the search stays sound however long the search goes on."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from discreet.counts import CodedAttribute, CountTable
from discreet.problem import Problem
from discreet.solve.lattice.kernels.prediction import learn, predict, rarity
from discreet.solve.lattice.kernels.state import DOWN, UP
from discreet.solve.lattice.layout import lay_out
from discreet.solve.lattice.set_up import make_search


def search(rows=1000):
    flat = np.array([[0, 1, 2], [0, 1, 1], [0, 0, 0]], dtype=np.int32)
    codes = np.array([[0, 0, 1, 2], [0, 1, 2, 2], [0, 1, 1, 2]], dtype=np.int32)
    weights = np.full(4, rows // 4)
    attributes = tuple(CodedAttribute(f"a{i}", flat, np.bincount(codes[i], weights)) for i in range(3))
    problem = Problem.build(CountTable(attributes, codes, weights), privacy="k(5)", cost="DM")
    return make_search(problem, lay_out(problem), None, [])


def test_rarity_rises_with_the_rows_removed():
    scale = [rarity(search(), float(removed)) for removed in range(1001)]
    assert all(less < more for less, more in pairwise(scale[:1000]))
    assert scale[1000] == 0.0


def test_what_is_observed_again_and_again_is_predicted():
    state, node = search(), np.array([1, 0, 2])
    for _ in range(50):
        learn(state, node, 40.0, 5000.0)
    assert np.isclose(predict(state, node, UP), rarity(state, 40.0), atol=1e-2)
    assert np.isclose(predict(state, node, DOWN), np.log(5001.0), atol=1e-2)


def test_observations_of_one_kind_do_not_wear_out_the_regression():
    state = search()
    for observation in range(20_000):
        learn(state, np.array([observation % 3, 1, 1]), 10.0 + observation % 3, 1000.0)
    for numbers in (state.covariance, state.weights):
        assert np.isfinite(numbers).all()
        assert np.abs(numbers).max() < 1e4
