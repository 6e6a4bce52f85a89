"""POkA on lattices worked out by hand from the pseudo-code, and against the exact front."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from discreet.errors import UsageError
from discreet.problem import Problem
from discreet.problem.axes import AXES
from discreet.solve import Budget
from discreet.solve.front.evaluate import FrontEvaluation
from discreet.solve.front.search import exact_front
from discreet.solve.published.poka import compare_fronts, default_depth, poka_front
from tables import count_table, random_sample

K = [AXES.make("k")]
SQUARE = {
    (2, 2): (20, 10.0),
    (1, 2): (9, 7.0),
    (2, 1): (7, 6.0),
    (0, 2): (6, 5.5),
    (1, 1): (4, 4.0),  # (2, 0) is better
    (2, 0): (5, 3.0),
    (0, 1): (3, 2.5),
    (1, 0): (2, 2.0),
    (0, 0): (1, 0.0),
}


@pytest.fixture
def lattice(monkeypatch):
    """A problem whose nodes have the k and the loss that are given, and the nodes in the order they are evaluated."""

    def make(nodes):
        order = []

        class Evaluator:
            def __init__(self, problem, grid):
                pass

            def evaluate(self, node):
                levels = tuple(int(level) for level in node)
                order.append(levels)
                k, loss = nodes[levels]
                return FrontEvaluation((float(k),), loss, loss, 0, 1, np.zeros((0, 2)), np.zeros(0))

        monkeypatch.setattr("discreet.solve.published.poka.CompiledFrontEvaluator", Evaluator)
        heights = np.array(list(nodes)).max(axis=0)
        trees = {f"q{i}": [("a", *"*" * height)] for i, height in enumerate(heights)}
        table = naive.Table([dict.fromkeys(trees, "a")], trees)
        return Problem.build(count_table(table), privacy="k(1)", cost="LM"), order

    return make


def test_by_hand_to_depth_2(lattice):
    problem, order = lattice(SQUARE)
    assert default_depth(problem) == 2
    found = poka_front(problem, K, Budget())
    assert [point.levels for point in found.points] == [(2, 2), (1, 2), (2, 1), (0, 2), (2, 0), (0, 1), (1, 0)]
    assert order[1:] == [(2, 2), (1, 2), (2, 1), (1, 1), (0, 2), (2, 0), (1, 0), (0, 1), (0, 0)]
    assert (found.examined, found.space, found.stats["depth"]) == (9, 9, 2)
    assert not found.complete
    assert not any(point.proven for point in found.points)


def test_by_hand_to_depth_1(lattice):
    problem, order = lattice(SQUARE)
    found = poka_front(problem, K, Budget(), depth=1)
    assert [point.values[0] for point in found.points] == [20, 9, 7, 5, 2]
    assert set(order) == set(SQUARE) - {(0, 1), (0, 0)}
    assert found.examined == len(found.cloud) == 7


def test_a_step_without_less_loss_ends_it(lattice):
    problem, order = lattice({**SQUARE, (1, 2): (9, 10.0), (2, 1): (7, 10.0)})
    found = poka_front(problem, K, Budget())
    assert [point.levels for point in found.points] == [(2, 2)]
    assert set(order) == {(2, 2), (1, 2), (2, 1)}


def test_nodes_below_are_not_looked_at(lattice):
    """(0, 2) has as much privacy as (1, 2), its neighbour above, and less loss; what is reported is worse."""
    problem, _ = lattice({**SQUARE, (0, 2): (9, 5.5)})
    found = poka_front(problem, K, Budget())
    assert (1, 2) in [point.levels for point in found.points]
    assert (0, 2) not in [point.levels for point in found.points]


def test_finds_all_down_to_2_where_everything_grows(lattice):
    rng = np.random.default_rng(3)
    for _ in range(25):
        spans = [range(size) for size in rng.integers(2, 5, size=rng.integers(2, 4))]
        nodes = list(itertools.product(*spans))
        known = {}
        for node in nodes:
            below = [known[(*node[:i], level - 1, *node[i + 1 :])] for i, level in enumerate(node) if level]
            k, loss = (max(each) for each in zip(*below, strict=True)) if below else (0, -1.0)
            known[node] = (k + int(rng.integers(1, 4)), loss + float(rng.integers(1, 9)))
        true = {
            (k, loss)
            for k, loss in known.values()
            if not any(a >= k and b <= loss and (a, b) != (k, loss) for a, b in known.values())
        }
        problem, order = lattice(known)
        found = poka_front(problem, K, Budget(), depth=sum(nodes[-1]))
        reported = [(point.values[0], point.loss) for point in found.points]
        assert set(reported) <= true
        assert {point for point in true if point[0] > 2} <= set(reported)
        assert len(order[1:]) == len(set(order[1:])) == found.examined


@pytest.mark.parametrize("cost", ["LM", "DM", "NCP"])
@pytest.mark.parametrize("suppression", ["none", "budget(2)"])
def test_on_tables(cost, suppression):
    for seed in range(12):
        sample = random_sample(seed, rows=(8, 20), attributes=(2, 3), height=(1, 3))
        problem = Problem.build(sample.counts, privacy="k(1)", cost=cost, suppression=suppression)
        true = exact_front(problem, K, Budget())
        nodes = naive.evaluated(sample.naive, problem.limit, cost)
        known = {node.levels: (node.values[0], pytest.approx(node.loss), node.suppressed) for node in nodes}
        for depth in (None, 1, 9):
            found = poka_front(problem, K, Budget(), depth=depth)
            assert found.stats["finished"]
            for point in found.points:
                assert known[point.levels] == (point.values[0], point.loss, point.suppressed)
            for a, b in itertools.pairwise(found.points):
                assert a.values > b.values
                assert a.loss > b.loss
            compared = compare_fronts(found, true)
            assert len(found.points) - len(compared.false) == len(true.points) - len(compared.missed)
        assert compare_fronts(true, true).missed == compare_fronts(true, true).false == ()


@pytest.mark.parametrize("cost", ["LM", "HDM"])
@pytest.mark.parametrize("suppression", ["none", "budget(2)"])
def test_every_hop_is_that_of_the_pseudo_code_with_exact_numbers(cost, suppression):
    """Losses as fractions: sums that are equal but for their last digit are equal here too, from any base node."""
    rng = np.random.default_rng([len(cost), len(suppression)])
    for seed in range(12):
        sample = random_sample(seed, rows=(20, 90), attributes=(2, 3), leaves=(3, 7), height=(1, 3), spare=0.5)
        problem = Problem.build(sample.counts, privacy="k(1)", cost=cost, suppression=suppression)
        nodes = naive.exact_nodes(sample.naive, problem.limit, cost)
        vectors = list(nodes)
        for depth, start in ((None, None), (1, None), (9, vectors[int(rng.integers(len(vectors)))])):
            named = None if start is None else dict(zip(problem.table.names, start, strict=True))
            found = poka_front(problem, K, Budget(), depth=depth, start=named)
            want = naive.poka(nodes, depth or default_depth(problem), start)
            assert [nodes[point.levels] for point in found.points] == [nodes[levels] for levels in want], seed
        true = exact_front(problem, K, Budget())
        best = {
            (k, loss)
            for k, loss in nodes.values()
            if not any(a >= k and b <= loss and (a, b) != (k, loss) for a, b in nodes.values())
        }
        assert sorted(nodes[point.levels] for point in true.points) == sorted(best), seed


def test_sums_that_differ_in_the_last_digit_are_no_gain():
    """Two thirds of 89 rows, added up in two ways: 59.33333333333334 and 59.333333333333336."""
    sample = random_sample(0, rows=(20, 90), attributes=(2, 4), leaves=(4, 8), height=(1, 3), spare=0.5)
    problem = Problem.build(sample.counts, privacy="k(1)", cost="HDM")
    found = poka_front(problem, K, Budget())
    assert [point.values[0] for point in found.points] == [89, 18, 2]
    losses = found.cloud[:, 1]
    assert len({loss for loss in losses if abs(loss - 178 / 3) < 1e-9}) > 1


def test_any_base_node_by_hand(lattice):
    """From (2, 1): its neighbours (1, 1) and (2, 0), and what is above them with less loss than 6."""
    problem, order = lattice(SQUARE)
    found = poka_front(problem, K, Budget(), start={"q1": 1})
    assert [point.levels for point in found.points] == [(2, 1), (0, 2), (2, 0), (0, 1), (1, 0)]
    assert (2, 2) not in order[1:]
    assert not any(point.proven for point in found.points)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ({"zip": 1}, "names 'zip', which is not a quasi-identifier"),
        ({"q0": 3}, "a level of 'q0' from 1 to 2"),
        ({"q0": 0}, "a level of 'q0' from 1 to 2"),
        ({"q0": True}, "a level of 'q0'"),
        ({"q0": "1"}, "a level of 'q0'"),
        ("q0", "must map column names to levels"),
    ],
)
def test_a_start_must_be_a_node(start, words):
    sample = random_sample(6, rows=(30, 30), attributes=(3, 3), height=(3, 3))
    limits = {"min_levels": {"q0": 1}, "max_levels": {"q0": 2}}
    problem = Problem.build(sample.counts, privacy="k(1)", cost="LM", **limits)
    with pytest.raises(UsageError, match=words):
        poka_front(problem, K, Budget(), start=start)


def test_level_limits_other_axes_and_an_early_stop():
    sample = random_sample(6, rows=(30, 30), attributes=(3, 3), height=(3, 3))
    limits = {"min_levels": {"q0": 1}, "max_levels": {"q1": 2}}
    problem = Problem.build(sample.counts, privacy="k(1)", cost="LM", suppression="budget(3)", **limits)
    assert default_depth(problem) == 3
    for form in ("k", "theta(s0)", "average-risk"):
        found = poka_front(problem, [AXES.make(form).resolve(problem.table)], Budget())
        assert found.space == 3 * 3 * 4
        assert all(point.levels[0] >= 1 and point.levels[1] <= 2 for point in found.points)
    stopped = Budget()
    stopped.stop.set()
    found = poka_front(problem, K, stopped)
    assert (len(found.points), found.examined, found.stats["finished"]) == (1, 1, False)


@pytest.mark.parametrize("depth", [0, -1, True, 1.5])
def test_a_depth_must_be_a_number_of_steps(depth):
    problem = Problem.build(random_sample(1).counts, privacy="k(1)", cost="LM")
    with pytest.raises(UsageError, match="depth of POkA"):
        poka_front(problem, K, Budget(), depth=depth)
