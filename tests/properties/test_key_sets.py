"""Key sets against exhaustive search in plain Python: every scheme, and every suppression kind that fits."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import naive
from cases import built, plain_cost, plain_models
from depth import cases, enough
from discreet.solve import Budget
from discreet.solve.general.solver import GeneralSolver
from discreet.solve.lattice.solver import LatticeSolver
from discreet.solve.local.solver import LocalSearchSolver
from local_tables import covers_values
from tables import random_sample

KINDS = ["none", "class-records", "budget(0.2)", "budget(2)", "budget(0.5)", "class-values"]
COSTS = ["LM", "DM", "HDM", "CM", "NCP", "C_AVG", "entropy", "score", "LM(weights={q0: 2.5})"]
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
    best, _, fewest = want
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


def shown_of(recoding):
    """How many published rows show each vector of covers."""
    shown = []
    for cover in recoding.covers:
        pairs = zip(cover.first.tolist(), cover.second.tolist(), strict=True)
        shown.append([tuple(cover.leaves[a:b].tolist()) if cover.form == "set" else (a, b) for a, b in pairs])
    found = {}
    for group, count in zip(recoding.group.tolist(), recoding.count.tolist(), strict=True):
        if group >= 0:
            key = tuple(column[group] for column in shown)
            found[key] = found.get(key, 0) + count
    return found


def without_some_trees(rng, sample):
    """The sample with some attributes that have no hierarchy: ranges of numbers and sets of texts."""
    attributes = [replace(a, tree=bool(rng.random() < 0.6)) for a in sample.counts.attributes]
    return replace(sample, counts=replace(sample.counts, attributes=tuple(attributes)))


@pytest.mark.parametrize("trees", [True, False])
def test_local_recoding_keeps_key_sets_and_its_bound_is_true(trees):
    kept = 0
    for seed in range(cases(160)):
        rng = np.random.default_rng([seed, 3])
        sample = random_sample(
            int(rng.integers(1 << 30)), rows=(4, 14), attributes=(2, 3), leaves=(1, 4), height=(1, 3)
        )
        sample = sample if trees else without_some_trees(rng, sample)
        names = list(sample.naive.hierarchies)
        texts, pairs = drawn_key_sets(rng, names)
        texts += ["k(2)"] if rng.random() < 0.3 else []
        pairs += [(tuple(names), 2)] if texts[-1] == "k(2)" else []
        kind = str(rng.choice(KINDS[:5]))
        cost = str(
            rng.choice(["LM", "NCP", "LM(penalty=l+)", "LM(weights={q0: 2.5})", *(["precision"] if trees else [])])
        )
        problem = built(sample, privacy=texts, cost=cost, suppression=kind, scheme="local")
        if problem is None or not problem.key_sets:
            continue
        kept += 1
        context = (seed, texts, kind, cost)
        found = LocalSearchSolver().solve(problem, Budget(seed=1))
        shown = shown_of(found.groups)
        assert covers_values(problem, found.groups), context
        assert found.suppressed_rows == problem.table.n - sum(shown.values()) <= problem.limit, context
        for members, k in pairs:
            sizes = {}
            for values, count in shown.items():
                key = tuple(values[names.index(name)] for name in members)
                sizes[key] = sizes.get(key, 0) + count
            assert min(sizes.values(), default=k) >= k, context
        assert found.lower_bound <= found.cost, context
        if cost.startswith("LM") and trees:  # global recodings are local ones, and LM prices what is shown
            name, options = plain_cost(cost, texts)
            each = (naive.valid_partitions("subtree", tree) for tree in sample.naive.hierarchies.values())
            arguments = (pairs, [], kind.split("(")[0], problem.limit, name, "s0")
            best, _, _ = naive.search_key_sets(sample.naive, itertools.product(*each), *arguments, **options)
            assert best is None or found.lower_bound <= best + 1e-9, context
    assert kept > enough(60)
