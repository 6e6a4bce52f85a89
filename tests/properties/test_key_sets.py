"""Key sets against exhaustive search in plain Python: full-domain, subtree and runs, every suppression kind that fits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from cases import built, plain_cost, plain_models
from depth import cases, enough
from discreet.solve import Budget
from discreet.solve.general.solver import GeneralSolver
from discreet.solve.lattice.solver import LatticeSolver
from tables import random_sample

KINDS = ["none", "class-records", "budget(0.2)", "budget(2)", "budget(0.5)", "class-values"]
COSTS = ["LM", "DM", "HDM", "CM", "NCP", "C_AVG", "entropy", "LM(weights={q0: 2.5})"]
OTHERS = [
    [],
    ["k(2)"],
    ["distinct-l(2, s0)"],
    ["entropy-l(1.5, s0)"],
    ["l+(0.75, s0)"],
    ["t(0.5, s0, equal)"],
]


def drawn_key_sets(rng, names):
    """Key sets as text forms and as pairs of names and k."""
    texts, pairs = [], []
    for _ in range(rng.integers(1, 4)):
        k = int(rng.integers(1, 6))
        if rng.random() < 0.5:
            number = int(rng.integers(1, len(names) + 1))
            texts.append(f"k({k}, any={number})")
            pairs += [(some, k) for some in naive.of_any(names, number)]
        else:
            some = [str(name) for name in rng.permutation(names)[: rng.integers(1, len(names) + 1)]]
            texts.append(f"k({k}, on=[{', '.join(some)}])")
            pairs.append((tuple(some), k))
    return texts, pairs


def drawn_problem(seed, scheme="full-domain", **limits):
    """A random problem with key sets and what the best recoding costs; None if its parts do not fit."""
    rng = np.random.default_rng(seed)
    sample = random_sample(int(rng.integers(1 << 30)), **{"rows": (1, 14), "attributes": (2, 4), **limits})
    names = list(sample.naive.hierarchies)
    texts, pairs = drawn_key_sets(rng, names)
    others = OTHERS[rng.integers(len(OTHERS))]
    kind, cost = str(rng.choice(KINDS)), str(rng.choice(COSTS))
    problem = built(sample, privacy=[*texts, *others], cost=cost, suppression=kind, scheme=scheme)
    if problem is None:
        return None
    whole = [text for text in texts if problem.privacy[texts.index(text)].smallest(problem.table) > 1]
    name, options = plain_cost(cost, [text.split(",")[0] + ")" for text in whole] + others)
    schemes = dict.fromkeys(names, scheme) if isinstance(scheme, str) else scheme
    if scheme == "full-domain":
        recodings = naive.level_vectors(sample.naive)
    else:
        each = (naive.valid_partitions(schemes[a], rows) for a, rows in sample.naive.hierarchies.items())
        recodings = itertools.product(*each)
    want = naive.search_key_sets(
        sample.naive,
        recodings,
        pairs,
        plain_models(others, sample),
        kind.split("(")[0],
        problem.limit,
        name,
        "s0",
        **options,
    )
    return problem, want, (seed, texts, others, kind, cost)


def compare(problem, want, found, context):
    best, recodings, fewest = want
    if best is None:
        assert found.status == "infeasible", context
        if found.smallest_budget is not None:
            assert found.smallest_budget == fewest, context
        return
    assert found.status == "optimal", context
    assert found.cost == pytest.approx(best, rel=1e-9, abs=1e-9), context
    if not problem.suppression.hides_values:
        assert found.suppressed_rows == problem.table.weights[found.suppressed].sum() <= problem.limit, context


def test_full_domain_equals_exhaustive_search():
    beside = 0
    for seed in range(cases(1200)):
        drawn = drawn_problem([seed, 1])
        if drawn is not None:
            problem, want, context = drawn
            beside += bool(problem.key_sets)
            found = LatticeSolver().solve(problem, Budget())
            compare(problem, want, found, context)
            if want[0] is not None:
                assert found.levels in [tuple(levels) for levels in want[1]], context
    assert beside > enough(250)


@pytest.mark.parametrize("scheme", ["subtree", "ordered", "set", "full-domain"])
def test_global_recoding_equals_exhaustive_search(scheme):
    for seed in range(cases(240)):
        drawn = drawn_problem([seed, 2], scheme, rows=(1, 12), attributes=(2, 3), leaves=(1, 4))
        if drawn is not None:
            problem, want, context = drawn
            compare(problem, want, GeneralSolver().solve(problem, Budget()), context)
