"""The search over cuts against trying all cuts, for every model, cost and suppression that go together."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from cases import COSTS, KINDS, MODELS, built, evaluate_blocks, plain_cost, plain_kind, plain_models
from depth import cases, enough
from discreet.problem import SCHEMES
from discreet.solve import Budget
from discreet.solve.cuts.solver import CutSearch, CutsSolver
from tables import random_sample

SWITCHES = [
    {},
    {"incumbent": False},
    {"order": "descending"},
    {"order": "ascending", "incumbent": False},
    {"bounds": "paper", "order": "descending", "incumbent": False},
    {"bounds": "paper", "update": False, "incumbent": False},
    {"formal": True},
]


def instance(rng, seed, kind, **shape):
    """A random problem of one suppression kind, and the same in plain form; None if its parts do not go together."""
    sizes = {"rows": (3, 14), "attributes": (1, 3), "leaves": (1, 5), "values": (2, 4)} | shape
    sample = random_sample(int(seed), **sizes)
    privacy, cost = MODELS[str(rng.choice(list(MODELS)))](rng), str(rng.choice([c for c in COSTS if c != "C_AVG"]))
    problem = built(sample, privacy=privacy, cost=cost, suppression=kind, scheme="subtree")
    if problem is None or not problem.cost.additive:
        return None
    models, (name, options) = plain_models(privacy, sample), plain_cost(cost, privacy)
    return sample, problem, (models, plain_kind(kind), problem.limit, name, "s0"), options, (int(seed), privacy, cost)


@pytest.mark.parametrize("kind", KINDS)
def test_against_all_cuts(kind):
    rng = np.random.default_rng(100 + KINDS.index(kind))
    solved = 0
    for number, seed in enumerate(rng.integers(0, 1 << 30, size=cases(500))):
        made = instance(rng, seed, kind)
        if made is None:
            continue
        sample, problem, arguments, options, context = made
        want = naive.search_cuts(sample.naive, *arguments, **options)
        solver = CutsSolver(**SWITCHES[number % len(SWITCHES)])
        context = (*context, kind, solver.text)
        found = solver.solve(problem, Budget(seed=1))
        if not want.feasible:
            assert found.status == "infeasible", context
            assert found.smallest_budget in (None, want.smallest_budget), context
            continue
        solved += 1
        assert found.status == "optimal", context
        assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), context
        assert found.lower_bound == found.cost, context
        if not solver.formal:
            assert found.stats["space"] == want.considered, context
    assert solved > enough(60)


def after(looks):
    """A budget that is exhausted at the next look but so many."""
    left = iter([False] * looks)
    return property(lambda self: next(left, True))


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_a_search_that_was_stopped(kind, monkeypatch):
    """However little was looked at, the best cut costs what is said and the bound is true."""
    rng = np.random.default_rng(200 + KINDS.index(kind))
    stopped = 0
    for seed in rng.integers(0, 1 << 30, size=cases(150)):
        made = instance(rng, seed, kind, leaves=(3, 6))
        if made is None:
            continue
        _, problem, _, _, context = made
        best = CutsSolver().solve(problem, Budget())
        if best.status == "infeasible":
            continue
        looks = int(rng.integers(1, 6))
        monkeypatch.setattr(Budget, "exhausted", after(looks))
        monkeypatch.setattr("discreet.solve.cuts.solver._AT_A_TIME", 1e-9)
        found = CutsSolver(incumbent=bool(rng.integers(0, 2))).solve(problem, Budget())
        monkeypatch.undo()
        assert found.lower_bound <= best.cost * (1 + 1e-9) + 1e-9, context
        assert found.cost >= best.cost * (1 - 1e-9) - 1e-9, context
        assert found.cost == pytest.approx(evaluate_blocks(problem, found.blocks).cost), context
        stopped += found.status == "feasible"
        for earlier, later in zip(found.trace, found.trace[1:], strict=False):
            assert later.best <= earlier.best
            assert later.bound <= best.cost * (1 + 1e-9) + 1e-9, context
    assert stopped >= enough(5)


def test_the_best_cuts_are_kept():
    """The h best cuts are those brute force finds, and one of them is released."""
    rng = np.random.default_rng(5)
    compared = 0
    for seed in rng.integers(0, 1 << 30, size=cases(200)):
        made = instance(rng, seed, str(rng.choice(KINDS)), leaves=(2, 4))
        if made is None:
            continue
        _, problem, _, _, context = made
        every = []
        for cut in itertools.product(*(SCHEMES.make("subtree").partitions(a) for a in problem.table.attributes)):
            blocks = [np.empty(a.leaves, dtype=np.int64) for a in problem.table.attributes]
            for block, partition in zip(blocks, cut, strict=True):
                for number, leaves in enumerate(partition):
                    block[list(leaves)] = number
            every.append(evaluate_blocks(problem, blocks).cost)
        finite = sorted(cost for cost in every if np.isfinite(cost))
        if len(finite) < 3:
            continue
        top = int(rng.integers(2, 5))
        costs = {CutsSolver(top=top).solve(problem, Budget(seed=s)).cost for s in range(12)}
        compared += 1
        for cost in costs:
            assert cost <= finite[:top][-1] * (1 + 1e-9) + 1e-9, context
        assert len(costs) > 1 or finite[:top][-1] <= finite[0] * (1 + 1e-9) + 1e-9 or len(finite[:top]) == 1, context
    assert compared > enough(25)


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_may_begin_with_a_recoding_and_never_ends_worse(kind):
    """A full-domain recoding is a cut: found again as such, never lost, and no hindrance to the proof."""
    rng = np.random.default_rng(300 + KINDS.index(kind))
    begun = 0
    for seed in rng.integers(0, 1 << 30, size=cases(120)):
        made = instance(rng, seed, kind, leaves=(2, 6))
        if made is None:
            continue
        _, problem, _, _, context = made
        attributes = problem.table.attributes
        levels = [int(rng.integers(lo, hi + 1)) for lo, hi in zip(problem.lowest, problem.highest, strict=True)]
        start = [attribute.ancestors[level] for attribute, level in zip(attributes, levels, strict=True)]
        given = evaluate_blocks(problem, start).cost
        if not np.isfinite(given):
            continue
        begun += 1
        tree = CutSearch(CutsSolver(), problem, Budget(), None).state.cut_tree
        same = tree.blocks(tree.mark(start))
        for wanted, found in zip(start, same, strict=True):
            assert len(set(zip(wanted.tolist(), found.tolist(), strict=True))) == len(set(found.tolist())), context
        hurried = CutsSolver().solve(problem, Budget(0.0, start=start))
        assert hurried.cost <= given * (1 + 1e-9) + 1e-9, context
        assert hurried.cost == pytest.approx(evaluate_blocks(problem, hurried.blocks).cost), context
        proven = CutsSolver().solve(problem, Budget(start=start))
        assert proven.status == "optimal", context
        assert proven.cost == pytest.approx(CutsSolver().solve(problem, Budget()).cost), context
    assert begun >= enough(20)
