"""Fronts of several axes against exhaustive evaluation in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from cases import plain_cost
from discreet.problem.axes import AXES
from discreet.solve import Budget
from discreet.solve.front.several_axes import front_of_many
from fronts import EVERY, SUPPRESSIONS, Clock, drawn, expected, rounded, whole, worth

FORMS = [
    ("k", "distinct-l(s0)"),
    ("distinct-l(s0)", "k"),
    ("k", "entropy-l(s0)"),
    ("theta(s0)", "k"),
    ("k", "t(s0)", "average-risk"),
    ("average-risk", "distinct-l(s0)"),
]


def resolved(problem, forms):
    return [AXES.make(form).resolve(problem.table) for form in forms]


@pytest.mark.parametrize("cost", EVERY)
@pytest.mark.parametrize("forms", FORMS, ids=" ".join)
def test_equals_exhaustive_evaluation(forms, cost, monkeypatch):
    monkeypatch.setattr("discreet.solve.front.several_axes._AT_ONCE", 2)
    rng = np.random.default_rng([FORMS.index(forms), EVERY.index(cost), 23])
    for round_ in range(9):
        suppression = SUPPRESSIONS[round_ % 6]
        ranges = {"rows": (1, 14), "attributes": (1, 3), "height": (0, 3)}
        sample, problem, vectors = drawn(rng, cost, suppression, limits=round_ % 3 == 2, **ranges)
        want = expected(sample, problem, vectors, cost, *forms)
        found = front_of_many(problem, resolved(problem, forms), Budget())
        assert found.complete
        assert (found.space, found.examined) == (len(vectors), len(found.cloud))
        assert [whole(point) for point in found.points] == [whole(point) for point in want], suppression
        assert all(point.proven for point in found.points)


@pytest.mark.parametrize("suppression", ["none", "budget(1)", "budget(0.2)"])
def test_nodes_are_left_out(suppression):
    rng = np.random.default_rng([len(suppression), 29])
    examined = space = 0
    for _ in range(4):
        ranges = {"rows": (20, 40), "attributes": (4, 4), "leaves": (3, 5), "height": (2, 3)}
        sample, problem, vectors = drawn(rng, "LM", suppression, **ranges)
        want = expected(sample, problem, vectors, "LM", "k", "distinct-l(s0)")
        found = front_of_many(problem, resolved(problem, ("k", "distinct-l(s0)")), Budget())
        assert [whole(point) for point in found.points] == [whole(point) for point in want]
        examined, space = examined + found.examined, space + found.space
    assert examined < space


@pytest.mark.parametrize("forms", FORMS, ids=" ".join)
@pytest.mark.parametrize("cost", ["LM", "DM", "C_AVG"])
def test_stopped_at_any_moment_what_is_proven_is_true(forms, cost, monkeypatch):
    monkeypatch.setattr("discreet.solve.front.several_axes._AT_ONCE", 3)
    rng = np.random.default_rng([FORMS.index(forms), len(cost), 31])
    stopped = 0
    for suppression in SUPPRESSIONS:
        ranges = {"rows": (6, 16), "attributes": (3, 3), "height": (1, 3)}
        sample, problem, vectors = drawn(rng, cost, suppression, **ranges)
        name, options = plain_cost(cost, ["k(1)"])
        each = [worth(form, sample) for form in forms]
        measures = [measure for _, measure in each]
        nodes = naive.evaluated(sample.naive, problem.limit, name, each[0][0], measures, vectors, **options)
        known = {point.levels: (*rounded(point), point.suppressed) for point in nodes}
        true = {rounded(point) for point in expected(sample, problem, vectors, cost, *forms)}
        for looks in (0, 1, 3, 7):
            seen = []
            found = front_of_many(problem, resolved(problem, forms), Clock(looks), seen.append)
            stopped += not found.complete
            assert seen[-1].evaluated == found.examined
            assert found.points
            for point in found.points:
                assert known[point.levels] == (*rounded(point), point.suppressed)
                assert not point.proven or rounded(point) in true
    assert stopped
