"""The exact front against exhaustive evaluation in plain Python, over every axis, cost and budget."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from cases import plain_cost
from discreet.problem import Problem
from discreet.problem.axes import AXES
from discreet.solve import Budget
from discreet.solve.front.evaluate import CompiledFrontEvaluator, FrontEvaluator, has_compiled_front
from discreet.solve.front.search import exact_front
from fronts import EVERY, FORMS, SUPPRESSIONS, Clock, drawn, expected, rounded, whole, worth
from tables import count_table


@pytest.mark.parametrize("cost", EVERY)
@pytest.mark.parametrize("form", FORMS)
def test_equals_exhaustive_evaluation(form, cost):
    rng = np.random.default_rng([FORMS.index(form), EVERY.index(cost), 5])
    axis = AXES.make(form)
    for round_ in range(9):
        suppression = SUPPRESSIONS[round_ % 6]
        ranges = {"rows": (1, 14), "attributes": (1, 3), "height": (0, 3)}
        sample, problem, vectors = drawn(rng, cost, suppression, limits=round_ % 3 == 2, **ranges)
        want = expected(sample, problem, vectors, cost, form)
        found = exact_front(problem, [axis.resolve(problem.table)], Budget())
        assert found.complete
        assert found.space == len(vectors)
        assert found.examined == len(found.cloud) <= found.space
        assert [whole(point) for point in found.points] == [whole(point) for point in want], suppression
        assert all(point.proven for point in found.points)


@pytest.mark.parametrize("cost", ["LM", "DM", "CM", "HDM", "NCP"])
@pytest.mark.parametrize("suppression", ["none", "budget(0.1)", "budget(0.4)"])
def test_larger_lattices(cost, suppression):
    """Lattices of hundreds of nodes, of which some are never evaluated."""
    rng = np.random.default_rng([len(cost), len(suppression), 9])
    shares = []
    for _ in range(4):
        ranges = {"rows": (20, 40), "attributes": (4, 4), "leaves": (3, 5), "height": (2, 3)}
        sample, problem, vectors = drawn(rng, cost, suppression, **ranges)
        want = expected(sample, problem, vectors, cost, "k")
        found = exact_front(problem, [AXES.make("k")], Budget())
        assert [whole(point) for point in found.points] == [whole(point) for point in want]
        shares.append(found.examined / found.space)
    assert min(shares) < 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cost", ["LM", "DM", "CM", "NCP", "C_AVG"])
def test_stopped_at_any_moment_what_is_proven_is_true(form, cost, monkeypatch):
    monkeypatch.setattr("discreet.solve.front.search._AT_ONCE", 8)
    rng = np.random.default_rng([FORMS.index(form), len(cost), 11])
    stopped = 0
    for round_ in range(6):
        suppression = SUPPRESSIONS[round_]
        ranges = {"rows": (6, 16), "attributes": (3, 3), "height": (1, 3)}
        sample, problem, vectors = drawn(rng, cost, suppression, **ranges)
        name, options = plain_cost(cost, ["k(1)"])
        value, measure = worth(form, sample)
        nodes = naive.evaluated(sample.naive, problem.limit, name, value, [measure], vectors, **options)
        known = {point.levels: (*rounded(point), point.suppressed) for point in nodes}
        true = {rounded(point) for point in expected(sample, problem, vectors, cost, form)}
        for looks in (0, 1, 2, 4):
            found = exact_front(problem, [AXES.make(form).resolve(problem.table)], Clock(looks))
            stopped += not found.complete
            assert found.points
            for point in found.points:
                assert known[point.levels] == (*rounded(point), point.suppressed)
                assert not point.proven or rounded(point) in true
            for a, b in itertools.pairwise(found.points):
                assert a.values > b.values
                assert a.loss > b.loss
            if found.complete:
                assert {rounded(point) for point in found.points} == true
    assert stopped


def test_a_time_limit_of_nothing_still_finds_something():
    _, problem, _ = drawn(np.random.default_rng(4), "LM", "budget(2)", rows=(30, 30), attributes=(4, 4), height=(3, 3))
    found = exact_front(problem, [AXES.make("k")], Budget(time_limit=0.0))
    assert not found.complete
    assert found.points[0].values == (30.0,)
    halted = Budget()
    halted.stop.set()
    assert exact_front(problem, [AXES.make("k")], halted).points


def test_progress_is_reported():
    _, problem, _ = drawn(np.random.default_rng(4), "DM", "budget(2)", rows=(30, 30), attributes=(4, 4), height=(3, 3))
    seen = []
    found = exact_front(problem, [AXES.make("k")], Budget(), seen.append)
    assert [now.evaluated for now in seen] == sorted(now.evaluated for now in seen)
    assert (seen[-1].evaluated, seen[-1].open, seen[-1].points) == (found.examined, 0, len(found.points))


@pytest.mark.parametrize("cost", ["LM", "NCP"])
def test_room_is_made_for_more(cost, monkeypatch):
    """Of evaluated nodes, and of points: one more of 100 values is put together with the others on each level."""
    monkeypatch.setattr("discreet.solve.front.set_up._FIRST", 2)
    tree = [(str(i), *("*" if i <= level else str(i) for level in range(1, 100))) for i in range(100)]
    rows = [{"q": str(i)} for i in range(100) for _ in range(i + 1)]
    problem = Problem.build(count_table(naive.Table(rows, {"q": tree})), privacy="k(1)", cost=cost)
    found = exact_front(problem, [AXES.make("k")], Budget())
    evaluator = FrontEvaluator(problem, [AXES.make("k")])
    every = [evaluator.evaluate(np.array([level])) for level in range(100)]
    best = {node.values[0]: node.loss for node in sorted(every, key=lambda node: -node.loss)}
    assert len(found.points) > 64
    assert found.examined > 64
    assert [(point.values[0], point.loss) for point in found.points] == [
        (k, pytest.approx(best[k])) for k in sorted(best, reverse=True)
    ]


@pytest.mark.parametrize("cost", EVERY)
def test_both_evaluators_agree(cost):
    rng = np.random.default_rng([EVERY.index(cost), 17])
    grid = np.array([1.0, 2.0, 3.0, 5.0, 8.0])
    for round_ in range(12):
        _, problem, vectors = drawn(rng, cost, SUPPRESSIONS[round_ % 6], rows=(1, 20), attributes=(1, 4))
        axes = [AXES.make("k")]
        if not has_compiled_front(problem, axes):
            assert cost in ("NCP", "C_AVG", "ambiguity")
            return
        compiled, plain = CompiledFrontEvaluator(problem, grid), FrontEvaluator(problem, axes, grid)
        for levels in vectors[:: max(1, len(vectors) // 12)]:
            a, b = (evaluator.evaluate(np.array(levels)) for evaluator in (compiled, plain))
            assert (a.values, a.lost, a.classes) == (b.values, b.lost, b.classes)
            assert a.loss == pytest.approx(b.loss, rel=1e-9, abs=1e-9)
            assert a.total == pytest.approx(b.total, rel=1e-9, abs=1e-9)
            for field in ("value", "extra"):
                np.testing.assert_allclose(a.profile[field], b.profile[field], rtol=1e-9, atol=1e-9)
            np.testing.assert_array_equal(a.worse, b.worse)


@pytest.mark.parametrize("cost", ["LM", "DM", "CM", "HDM", "entropy", "C_AVG"])
def test_what_an_approximate_front_calls_proven_is_true(cost, monkeypatch):
    monkeypatch.setattr("discreet.solve.front.set_up._MOST_NODES", 0)
    rng = np.random.default_rng([len(cost), 17])
    proven = 0
    for round_ in range(12):
        suppression = SUPPRESSIONS[round_ % 6]
        sample, problem, vectors = drawn(rng, cost, suppression, rows=(4, 14), attributes=(1, 3), height=(0, 3))
        want = [(point[0], point[1]) for point in map(whole, expected(sample, problem, vectors, cost, "k"))]
        found = exact_front(problem, [AXES.make("k")], Budget(threads=1 + round_ % 2))
        assert not found.complete
        for point in map(whole, found.points):
            assert any(value >= point[0] and loss <= point[1] + 1e-9 for value, loss in want), suppression
        for point in found.points:
            if point.proven:
                proven += 1
                assert whole(point)[:2] in want, suppression
    assert proven or cost == "C_AVG"
