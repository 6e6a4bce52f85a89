"""The lattice solver against exhaustive search in plain Python, over every model, cost and suppression it takes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from discreet.errors import UsageError
from discreet.problem import Problem
from discreet.solve import Budget
from discreet.solve.lattice import LatticeSolver
from tables import random_sample

MODELS = {
    "k": (lambda rng: [f"k({rng.integers(1, 6)})"]),
    "distinct-l": (lambda rng: [f"distinct-l({rng.integers(1, 4)}, s0)"]),
    "entropy-l": (lambda rng: [f"entropy-l({rng.choice([1.0, 1.5, 2.0, 2.5])}, s0)"]),
    "recursive-cl": (lambda rng: [f"recursive-cl({rng.choice([0.5, 1.0, 2.0, 3.5])}, {rng.integers(1, 4)}, s0)"]),
    "l+": (lambda rng: [f"l+({rng.choice([0.25, 0.34, 0.5, 0.75])}, s0)"]),
    "l+ by frequency": (lambda rng: [f"l+({rng.choice([0.25, 0.34, 0.5])}, s0, by=frequency)"]),
    "t": (
        lambda rng: [f"t({rng.choice([0.1, 0.2, 0.35, 0.5])}, s0, {rng.choice(['equal', 'ordered', 'hierarchical'])})"]
    ),
    "two": (lambda rng: [f"k({rng.integers(2, 5)})", f"l+({rng.choice([0.34, 0.5])}, s0)"]),
    "three": (lambda rng: ["k(2)", f"distinct-l({rng.integers(1, 3)}, s0)", f"t({rng.choice([0.3, 0.5])}, s0, equal)"]),
}
COSTS = [
    "LM",
    "LM(weights={q0: 2.5})",
    "LM(penalty=l+)",
    "DM",
    "HDM",
    "CM",
    "NCP",
    "C_AVG",
    "precision",
    "entropy",
    "ambiguity",
]
SUPPRESSIONS = ["none", "class-records", "budget(0.2)", "budget(2)"]
CASES = list(itertools.product(MODELS, COSTS))


def plain_model(text, sample):
    """A privacy model given as text, as a condition on counts."""
    name, inside = text.rstrip(")").split("(", 1)
    args = [part.strip() for part in inside.split(",")]
    whole = naive.counts(sample.naive, range(len(sample.naive.rows)), "s0")
    hierarchy = sample.sensitive["s0"]
    if name == "k":
        return lambda counts: naive.k_anonymous(counts, int(args[0]))
    if name == "distinct-l":
        return lambda counts: naive.distinct_l(counts, int(args[0]))
    if name == "entropy-l":
        return lambda counts: naive.entropy_l(counts, float(args[0]))
    if name == "recursive-cl":
        return lambda counts: naive.recursive_cl(counts, float(args[0]), int(args[1]))
    if name == "l+":
        by = "frequency" if "by=frequency" in args else None
        thetas = naive.thetas(whole, float(args[0]), by)
        return lambda counts: naive.l_plus(counts, thetas)
    in_order = {row[0]: whole.get(row[0], 0) for row in hierarchy}
    return lambda counts: naive.t_close(counts, in_order, float(args[0]), args[2], hierarchy)


def plain_cost(text):
    """A cost given as text, as its name and options."""
    options = {}
    if "weights" in text:
        options["weights"] = {"q0": 2.5}
    if "penalty" in text:
        options["penalty"] = "l+"
    return text.split("(")[0], options


def built(sample, **parts):
    """The problem, or None where a model can never hold on so small a table (a refusal that is tested elsewhere)."""
    try:
        return Problem.build(sample.counts, **parts)
    except UsageError:
        return None


def expected(sample, privacy, cost, suppression):
    models = [plain_model(text, sample) for text in privacy]
    n = len(sample.naive.rows)
    limits = {"none": 0, "class-records": n, "budget(0.2)": naive.budget(0.2, n), "budget(2)": naive.budget(2, n)}
    limit = limits[suppression]

    def ok(rows):
        counts = naive.counts(sample.naive, rows, "s0")
        return all(model(counts) for model in models)

    name, options = plain_cost(cost)
    if name == "C_AVG":
        options["k"] = max((int(text[2:-1]) for text in privacy if text.startswith("k(")), default=1)
    return naive.search(sample.naive, ok, name, limit, **options)


@pytest.mark.parametrize(("model", "cost"), CASES)
def test_equals_exhaustive_search(model, cost):
    rng = np.random.default_rng([CASES.index((model, cost)), 7])
    for seed in rng.integers(0, 1 << 30, size=40):
        sample = random_sample(int(seed), rows=(1, 14), attributes=(1, 4), height=(0, 3))
        privacy = MODELS[model](rng)
        suppression = str(rng.choice(SUPPRESSIONS))
        problem = built(sample, privacy=privacy, cost=cost, suppression=suppression)
        if problem is None:
            continue
        want = expected(sample, privacy, cost, suppression)
        found = LatticeSolver().solve(problem, Budget())
        context = (int(seed), privacy, cost, suppression)
        if not want.feasible:
            assert found.status == "infeasible", context
            assert found.smallest_budget == want.smallest_budget, context
            continue
        assert found.status == "optimal", context
        assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), context
        assert found.levels in [tuple(levels) for levels in want.levels], context
        assert found.gap == 0
        assert found.suppressed_rows == sample.counts.weights[found.suppressed].sum() <= problem.limit


@pytest.mark.parametrize("cost", ["LM", "DM", "HDM", "CM", "NCP", "entropy"])
@pytest.mark.parametrize("model", ["k", "l+", "t"])
def test_stopped_at_any_moment_the_bound_is_true(model, cost):
    rng = np.random.default_rng([len(model), len(cost), 3])
    for seed in rng.integers(0, 1 << 30, size=6):
        sample = random_sample(int(seed), rows=(6, 16), attributes=(2, 4), height=(1, 3))
        privacy = MODELS[model](rng)
        problem = built(sample, privacy=privacy, cost=cost, suppression="class-records")
        if problem is None:
            continue
        optimum = LatticeSolver().solve(problem, Budget()).cost
        seen = []

        def watch(progress, seen=seen):
            seen.append(progress)
            assert progress.bound <= progress.best

        LatticeSolver().solve(problem, Budget(), watch)
        for progress in seen:
            assert progress.bound <= optimum * (1 + 1e-9) + 1e-9
            assert progress.best >= optimum * (1 - 1e-9) - 1e-9


def test_levels_stay_within_limits():
    for seed in range(60):
        sample = random_sample(seed, rows=(4, 14), attributes=(2, 3), height=(2, 3))
        heights = {a.name: a.height for a in sample.counts.attributes}
        lowest = {name: min(1, height) for name, height in heights.items()}
        highest = {name: max(height - 1, lowest[name]) for name, height in heights.items()}
        problem = Problem.build(
            sample.counts, privacy="k(2)", cost="LM", suppression="budget(0.5)", min_levels=lowest, max_levels=highest
        )
        vectors = itertools.product(*(range(lowest[name], highest[name] + 1) for name in heights))
        want = naive.search(sample.naive, lambda rows: len(rows) >= 2, "LM", problem.limit, vectors=list(vectors))
        found = LatticeSolver().solve(problem, Budget())
        assert (found.status == "infeasible") == (not want.feasible)
        if want.feasible:
            assert found.cost == pytest.approx(want.cost)
            assert all(lowest[n] <= level <= highest[n] for n, level in zip(heights, found.levels, strict=True))
