"""The published search over partitions against trying all of them: every scheme, both directions, any switches."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import naive
from cases import INCLUSIONS, MODELS, built, evaluate_blocks, plain_cost, plain_models
from depth import cases, enough
from discreet.counts import CodedAttribute, CountTable
from discreet.errors import UnsupportedCombinationError
from discreet.problem import SCHEMES, Problem
from discreet.solve import Budget
from discreet.solve.published.li_li import search as paper
from discreet.solve.published.li_li.catalogue import Catalogue
from discreet.solve.published.li_li.evaluation import ArrayEvaluator, evaluator_for
from discreet.solve.published.li_li.search import LiLiTechniques, li_li_search
from tables import random_sample

NAMES = ("full-domain", "subtree", "guided-ordered", "guided-set", "ordered", "set")
DIRECTIONS = ("bottom-up", "top-down")
COSTS = ["DM", "HDM", "LM", "LM(weights={q0: 2.5})", "LM(penalty=l+)", "CM", "NCP", "entropy", "ambiguity", "C_AVG"]
KINDS = ["none", "class-records", "budget(0.2)", "budget(2)"]
TECHNIQUES = ("node_pruning", "useless", "useful", "seeding", "modified_bfs", "node_order", "applicator_order")


@pytest.fixture(autouse=True)
def few_seeds(monkeypatch):
    monkeypatch.setattr(paper, "_SEEDS", 5)


def some_switches(rng, direction):
    """All techniques, or each as a coin falls."""
    if rng.random() < 0.3:
        return LiLiTechniques(direction)
    return LiLiTechniques(direction, **{name: bool(rng.random() < 0.6) for name in TECHNIQUES})


def some_schemes(rng, sample, scheme):
    """The scheme for all attributes, or at times another for the first."""
    if rng.random() < 0.7:
        return scheme
    return {name: scheme if i else str(rng.choice(NAMES)) for i, name in enumerate(sample.counts.names)}


def tried(sample, schemes, models, kind, limit, cost, options):
    """The least cost of any combination of valid partitions, in plain Python; infinite if none is allowed."""
    ways = [
        naive.valid_partitions(scheme.name, rows)
        for scheme, rows in zip(schemes, sample.naive.hierarchies.values(), strict=True)
    ]
    found = [
        naive.suppress(sample.naive, levels, models, kind, limit, cost, "s0", **options).cost
        for levels in itertools.product(*ways)
    ]
    return min((cost for cost in found if cost is not None), default=math.inf), len(found)


def space_of(problem):
    return math.prod(s.count(a) for s, a in zip(problem.schemes, problem.table.attributes, strict=True))


def instance(rng, scheme, kind, **shape):
    """A random problem and the same in plain form; None if its parts do not go together."""
    sizes = {"rows": (3, 12), "attributes": (1, 2), "leaves": (1, 4), "values": (2, 4)} | shape
    seed = int(rng.integers(0, 1 << 30))
    sample = random_sample(seed, **sizes)
    privacy = MODELS["k" if rng.random() < 0.4 else str(rng.choice(list(MODELS)))](rng)
    cost = str(rng.choice(COSTS[:6] if rng.random() < 0.7 else COSTS))
    schemes = some_schemes(rng, sample, scheme)
    problem = built(sample, privacy=privacy, cost=cost, suppression=kind, scheme=schemes)
    return None if problem is None else (sample, problem, privacy, cost, (seed, schemes, privacy, cost, kind))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("scheme", NAMES)
def test_against_all_partitions(scheme, direction):
    rng = np.random.default_rng([NAMES.index(scheme), DIRECTIONS.index(direction)])
    solved = 0
    for number in range(cases(60)):
        kind = KINDS[number % len(KINDS)]
        made = instance(rng, scheme, kind)
        if made is None or space_of(made[1]) > 400:
            continue
        sample, problem, privacy, cost, context = made
        switches = some_switches(rng, direction)
        name, options = plain_cost(cost, privacy)
        models = plain_models(privacy, sample)
        want, space = tried(sample, problem.schemes, models, kind.split("(")[0], problem.limit, name, options)
        found = li_li_search(problem, switches, Budget(seed=1), None)
        assert found.complete, (context, switches)
        assert found.cost == pytest.approx(want, rel=1e-9, abs=1e-9), (context, switches)
        assert found.lower_bound == found.cost, (context, switches)
        assert (found.blocks is None) == math.isinf(want)
        if found.blocks is not None:
            assert evaluate_blocks(problem, found.blocks).cost == found.cost
            for blocks, allowed, attribute in zip(found.blocks, problem.schemes, problem.table.attributes, strict=True):
                assert allowed.allows(attribute, sets_of(blocks)), (context, switches)
        if not switches.node_pruning and not switches.useless and not (switches.useful and problem.limit == 0):
            assert found.counters["visited"] == space, (context, switches)
        solved += math.isfinite(want)
    assert solved > enough(20)


def sets_of(blocks):
    return tuple(tuple(np.flatnonzero(blocks == number).tolist()) for number in dict.fromkeys(blocks.tolist()))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_bound_holds_for_all_below(kind, direction):
    """Nodes reached by any applicators cost what they cost, and none below them costs less than their bound."""
    rng = np.random.default_rng([7, KINDS.index(kind), DIRECTIONS.index(direction)])
    compared = 0
    for _ in range(cases(60)):
        made = instance(rng, str(rng.choice(NAMES)), kind)
        if made is None:
            continue
        problem, context = made[1], made[-1]
        catalogue = Catalogue(problem, direction)
        evaluator = evaluator_for(problem, catalogue)
        plain = ArrayEvaluator(problem, catalogue)
        node = list(catalogue.root)
        for _ in range(4):
            evaluated = evaluator.evaluate(np.array([node], dtype=np.int32))
            again = plain.evaluate(np.array([node], dtype=np.int32))
            assert evaluated.cost[0] == pytest.approx(again.cost[0], rel=1e-9, abs=1e-9), context
            if direction == "bottom-up" and problem.cost.compiled != "squares":
                # As published: rows that are suppressed here may cost nothing below.
                assert evaluated.bound[0] <= again.bound[0] + 1e-9, context
            else:
                assert evaluated.bound[0] == pytest.approx(again.bound[0], rel=1e-9, abs=1e-9), context
            below = [every_state(catalogue, i, state) for i, state in enumerate(node)]
            costs = [evaluate_blocks(problem, catalogue.blocks(each)).cost for each in itertools.product(*below)]
            assert evaluated.bound[0] <= min(costs) * (1 + 1e-9) + 1e-9, context
            assert evaluated.cost[0] == pytest.approx(costs[0], rel=1e-9, abs=1e-9), context
            compared += 1
            i = int(rng.integers(0, len(node)))
            ways = catalogue.applicators(i, node[i])
            if ways:
                step = catalogue.apply if rng.random() < 0.5 else catalogue.without
                node[i] = step(i, node[i], ways[int(rng.integers(0, len(ways)))])
    assert compared > enough(100)


def every_state(catalogue, i, state):
    found = [state]
    for each in found:
        found.extend(catalogue.children(i, each))
    return found


def after(looks):
    """A budget that is exhausted at the next look but so many."""
    left = iter([False] * looks)
    return property(lambda self: next(left, True))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_bounds_of_a_search_that_was_stopped(direction, monkeypatch):
    rng = np.random.default_rng([9, DIRECTIONS.index(direction)])
    stopped = 0
    for _ in range(cases(90)):
        made = instance(rng, str(rng.choice(NAMES)), str(rng.choice(KINDS)), leaves=(3, 5))
        if made is None or space_of(made[1]) > 2000:
            continue
        problem, context = made[1], made[-1]
        best = li_li_search(problem, LiLiTechniques(), Budget(seed=1), None)
        if math.isinf(best.cost):
            continue
        switches = some_switches(rng, direction)
        with monkeypatch.context() as patch:
            patch.setattr(Budget, "exhausted", after(int(rng.integers(0, 8))))
            patch.setattr(paper, "_AT_ONCE", 3)
            patch.setattr(paper, "_REPORT", 0.0)
            found = li_li_search(problem, switches, Budget(seed=2), None)
        assert found.lower_bound <= best.cost * (1 + 1e-9) + 1e-9, (context, switches)
        assert found.cost >= best.cost * (1 - 1e-9) - 1e-9, (context, switches)
        assert found.cost == evaluate_blocks(problem, found.blocks).cost
        stopped += not found.complete
        for earlier, later in itertools.pairwise(found.trace):
            assert later.best <= earlier.best * (1 + 1e-9) + 1e-9
            assert later.bound <= best.cost * (1 + 1e-9) + 1e-9, (context, switches)
            assert later.bound >= earlier.bound - 1e-9 * abs(earlier.bound), (context, switches)
    assert stopped > enough(20)


def example(**parts):
    sample = random_sample(4, rows=(12, 12), attributes=(2, 2), leaves=(4, 4), height=(2, 2), spare=0)
    return Problem.build(sample.counts, **{"privacy": "k(3)", "cost": "HDM", "suppression": "none", **parts})


def test_every_technique_counts_what_it_does():
    counted = dict.fromkeys(("bound", "reconsidered", "infeasible", "useless", "useful", "seeds"), 0)
    for seed in range(cases(30)):
        sample = random_sample(seed, rows=(20, 40), attributes=(2, 3), leaves=(3, 5), spare=0)
        for kind in ("none", "class-records"):
            problem = Problem.build(sample.counts, privacy="k(3)", cost="DM", suppression=kind, scheme="ordered")
            full = li_li_search(problem, LiLiTechniques(), Budget(seed=1), None).counters
            bare = li_li_search(
                problem, LiLiTechniques(**dict.fromkeys(TECHNIQUES, False)), Budget(seed=1), None
            ).counters
            assert bare["visited"] == bare["evaluated"] - 1 or bare["visited"] == bare["evaluated"]
            assert bare["visited"] == math.prod(1 << a.leaves - 1 for a in sample.counts.attributes)
            assert not any(bare[name] for name in counted)
            assert full["visited"] <= bare["visited"]
            assert full["left"] == bare["left"] == 0
            for name in counted:
                counted[name] += full[name]
            assert kind == "none" or full["useful"] == full["infeasible"] == 0
    assert all(counted.values()), counted


def test_stopped_before_anything_was_found():
    """There is the most general recoding to fall back on, if it is allowed."""
    budget = Budget(seed=1)
    budget.stop.set()
    for more, allowed in (({}, True), ({"max_levels": {"q0": 0}}, False)):
        problem = example(privacy="k(12)", scheme="set", **more)
        found = li_li_search(problem, LiLiTechniques(seeding=False), budget, None)
        assert found.complete != allowed  # that nothing is allowed is seen at once
        assert (found.blocks is not None) == math.isfinite(found.cost) == allowed
        assert found.lower_bound <= found.cost
        if allowed:
            assert [blocks.max() for blocks in found.blocks] == [0, 0]


@pytest.mark.parametrize("node_order", [True, False])
def test_a_search_that_may_keep_little_is_stopped(node_order, monkeypatch):
    monkeypatch.setattr(paper, "_MOST_KEPT", 10)
    monkeypatch.setattr(paper, "_AT_ONCE", 2)
    problem = example(scheme="set", suppression="class-records")
    found = li_li_search(problem, LiLiTechniques(seeding=False, node_order=node_order), Budget(), None)
    monkeypatch.undo()
    best = li_li_search(problem, LiLiTechniques(), Budget(seed=1), None)
    assert best.complete
    assert not found.complete
    assert found.lower_bound <= best.cost <= found.cost


def test_progress_is_told():
    seen = []
    li_li_search(example(scheme="ordered"), LiLiTechniques("top-down"), Budget(seed=1), seen.append)
    assert seen
    assert seen[-1].best <= seen[0].best


def test_the_same_seed_leads_the_same_way():
    problem = example(scheme="set", suppression="class-records")
    runs = [li_li_search(problem, LiLiTechniques(), Budget(seed=3), None) for _ in range(2)]
    assert runs[0].counters == runs[1].counters
    assert all(np.array_equal(a, b) for a, b in zip(runs[0].blocks, runs[1].blocks, strict=True))


def test_more_attributes_than_there_are_slots_for():
    """Classes are found by hashing where their keys are too many; where they do not fit a number, in another way."""
    rng = np.random.default_rng(1)
    for leaves, name in ((300, "CompiledEvaluator"), (3000, "ArrayEvaluator")):
        attribute = CodedAttribute(
            "a", np.array([range(leaves), [0] * leaves], dtype=np.int32), np.ones(leaves, dtype=np.int64)
        )
        codes = np.repeat(rng.integers(0, leaves, (7, 100)), 2, axis=1).astype(np.int32)
        codes[6, ::4] = 0
        names = [CodedAttribute(f"q{i}", attribute.ancestors, attribute.rows) for i in range(7)]
        table = CountTable(tuple(names), codes, np.ones(200, dtype=np.int64))
        problem = Problem.build(table, privacy="k(2)", cost="DM", suppression="class-records", scheme="subtree")
        catalogue = Catalogue(problem, "bottom-up")
        evaluator = evaluator_for(problem, catalogue)
        assert type(evaluator).__name__ == name
        node = np.array([catalogue.root], dtype=np.int32)
        found, want = evaluator.evaluate(node), ArrayEvaluator(problem, catalogue).evaluate(node)
        assert (found.cost[0], found.bound[0]) == (want.cost[0], want.bound[0])


@pytest.mark.parametrize(("cost", "suppression"), [("precision", "none"), ("LM", "violating-records")])
def test_what_it_cannot_search_is_refused(cost, suppression):
    table = random_sample(1, rows=(10, 10), values=(4, 4)).counts
    problem = Problem.build(table, privacy="l+(0.5)", cost=cost, suppression=suppression)
    with pytest.raises(UnsupportedCombinationError):
        li_li_search(problem, LiLiTechniques(), Budget(), None)


def test_inclusions():
    """A scheme that allows more never costs more."""
    rng = np.random.default_rng(3)
    for seed in range(cases(25)):
        sample = random_sample(seed, rows=(6, 14), attributes=(1, 2), leaves=(2, 5), numeric=0)
        cost, kind = str(rng.choice(["DM", "HDM", "LM", "CM"])), str(rng.choice(KINDS[:2]))
        best = {}
        for name in NAMES:
            problem = Problem.build(sample.counts, privacy="k(2)", cost=cost, suppression=kind, scheme=name)
            best[name] = li_li_search(problem, LiLiTechniques(), Budget(seed=1), None).cost
        for smaller, larger in INCLUSIONS:
            assert best[smaller] >= best[larger] * (1 - 1e-12), (seed, smaller, larger)
    assert SCHEMES.make("OPS").name == "ordered"
