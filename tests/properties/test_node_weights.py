"""Weights on nodes of hierarchies: every solver that takes NCP against its plain definition, on random trees."""

from __future__ import annotations

import itertools
import random

import numpy as np
import polars as pl
import pytest

import discreet as dc
import naive
from cases import KINDS, MODELS, built, evaluate_blocks, plain_models
from depth import cases, enough
from discreet.problem import SCHEMES, Problem
from discreet.problem.costs.certainty import Certainty
from discreet.solve import SOLVERS, Budget
from discreet.solve.local.task import make_task
from discreet.solve.published.li_li.search import LiLiTechniques, li_li_search
from local_tables import audited, random_local_table
from tables import classes_of, labelled_rows, random_node_weights, random_sample

LOCAL = ["local(effort=low)", "local", "mondrian(categories=tree)", "mondrian(cut=relaxed)", "top-down", "bottom-up"]


def weighted(sample, seed):
    """NCP with weights on nodes of the attributes that are no numbers, and the options that say so in plain form."""
    rng = random.Random(seed)
    trees = {name: rows for name, rows in sample.naive.hierarchies.items() if name not in sample.naive.numeric}
    nodes = {name: random_node_weights(rng, rows) for name, rows in trees.items()}
    options = {"weights": {"q0": 2.5} if rng.random() < 0.3 else {}, "node_weights": nodes}
    return Certainty(**options), options


def test_total_is_the_definition():
    moved = 0
    for seed in range(cases(250)):
        sample = random_sample(seed, numeric=0.2, leaves=(2, 6), height=(1, 3))
        cost, options = weighted(sample, seed)
        Problem.build(sample.counts, privacy="k(1)", cost=cost)
        vectors = naive.level_vectors(sample.naive)
        for levels in {vectors[0], vectors[-1], vectors[seed % len(vectors)]}:
            k = 1 + seed % 3
            recoding = naive.recode(sample.naive, levels, lambda rows, k=k: len(rows) >= k)
            expected = naive.certainty(sample.naive, levels, *recoding, **options)
            classes = classes_of(sample.counts, levels, cost)
            assert cost.total(classes, classes.sizes >= k) == pytest.approx(expected, rel=1e-9, abs=1e-9), seed
            moved += expected != naive.certainty(sample.naive, levels, *recoding, weights=options["weights"])
        assert cost.worst(sample.counts) == pytest.approx(
            naive.certainty(sample.naive, vectors[0], [], list(range(len(sample.naive.rows))), **options)
        )
    assert moved > enough(100)


def test_a_more_general_value_never_costs_less():
    """What pruning relies on: along any path to the root the spread never falls, and suppressing costs most."""
    for seed in range(cases(200)):
        sample = random_sample(seed, numeric=0.0, leaves=(2, 8), height=(1, 4))
        cost, _ = weighted(sample, seed)
        for attribute in sample.counts.attributes:
            spreads = cost.node_spreads(attribute)
            path = np.stack([each[blocks] for each, blocks in zip(spreads, attribute.ancestors, strict=True)])
            assert (np.diff(path, axis=0) >= -1e-12 * path[1:]).all(), seed
        top = classes_of(sample.counts, [a.height for a in sample.counts.attributes], cost)
        assert (cost.published(top) <= cost.suppressed(top) * (1 + 1e-12)).all(), seed


def test_all_nodes_alike_is_a_weight_of_the_attribute():
    for seed in range(cases(60)):
        sample = random_sample(seed, numeric=0.0, attributes=(2, 2), leaves=(2, 6), height=(1, 3))
        alike = Certainty(node_weights={a.name: dict.fromkeys(a.nodes, 3) for a in sample.counts.attributes})
        classes = classes_of(sample.counts, [1, 1], alike)
        for form in ("published", "suppressed"):
            each = [getattr(cost, form)(classes) for cost in (alike, Certainty(weights={"q0": 3, "q1": 3}))]
            np.testing.assert_allclose(*each)


GLOBAL = [
    *itertools.product(["lattice", "cuts"], KINDS[:4]),
    ("incognito", "none"),
    ("annealing", "class-records"),
]


@pytest.mark.parametrize(("solver", "kind"), GLOBAL)
def test_global_schemes(solver, kind):
    rng = np.random.default_rng([KINDS.index(kind), len(solver)])
    solved = 0
    for seed in rng.integers(0, 1 << 30, size=cases(60)).tolist():
        sample = random_sample(seed, rows=(3, 12), numeric=0.2, leaves=(2, 5), height=(1, 3), values=(2, 4))
        cost, options = weighted(sample, seed)
        privacy = MODELS[str(rng.choice(list(MODELS)))](rng)
        scheme = "full-domain" if solver in ("lattice", "incognito") else "subtree"
        problem = built(sample, privacy=privacy, cost=cost, suppression=kind, scheme=scheme)
        if problem is None:
            continue
        found = SOLVERS.make(solver).solve(problem, Budget(seed=1))
        models = plain_models(privacy, sample)
        plain = (models, kind.split("(")[0], problem.limit, "NCP", "s0")
        want = naive.search_cuts(sample.naive, *plain, scheme=scheme, **options)
        if not want.feasible:
            assert found.status == "infeasible", seed
            continue
        solved += 1
        if solver == "annealing":
            assert found.cost >= want.cost * (1 - 1e-9), seed
            assert found.cost == pytest.approx(evaluate_blocks(problem, found.blocks).cost), seed
        else:
            assert found.status == "optimal", seed
            assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), seed
    assert solved > enough(15)


@pytest.mark.parametrize("scheme", ["guided-ordered", "guided-set", "set"])
def test_the_published_search_over_partitions(scheme):
    solved = 0
    for seed in range(cases(60)):
        sample = random_sample(seed, rows=(3, 10), attributes=(1, 2), numeric=0.2, leaves=(2, 4), height=(1, 3))
        cost, options = weighted(sample, seed)
        kind = ("none", "class-records")[seed % 2]
        problem = built(sample, privacy="k(2)", cost=cost, suppression=kind, scheme=scheme)
        if problem is None:
            continue
        models = plain_models(["k(2)"], sample)
        want = naive.search_cuts(sample.naive, models, kind, problem.limit, "NCP", "s0", scheme=scheme, **options)
        found = li_li_search(problem, LiLiTechniques("bottom-up"), Budget(seed=1), None)
        assert found.cost == pytest.approx(want.cost if want.feasible else np.inf, rel=1e-9, abs=1e-9), seed
        solved += want.feasible
    assert solved > enough(30)


def test_fronts():
    for seed in range(cases(40)):
        sample = random_sample(seed, rows=(3, 12), numeric=0.2, leaves=(2, 5), height=(1, 3))
        cost, options = weighted(sample, seed)
        rows, trees = sample.naive.rows, sample.naive.hierarchies
        hierarchies = {name: dc.Hierarchy.from_rows(tree) for name, tree in trees.items()}
        if any(None in row.values() for row in rows) or any(None in row for tree in trees.values() for row in tree):
            continue
        frame = pl.DataFrame([{name: row[name] for name in trees} for row in rows])
        front = dc.pareto(frame, quasi_identifiers=hierarchies, cost=cost)
        want = naive.front(sample.naive, 0, "NCP", **options)[::-1]
        assert [p.k for p in front.points] == [p.values[0] for p in want], seed
        assert [p.loss for p in front.points] == pytest.approx([p.loss for p in want], abs=1e-9), seed


@pytest.mark.parametrize("text", LOCAL)
def test_local_solvers_keep_their_promises(text):
    """The cost is that of the groups, from the definition, and nothing is below the bound."""
    rng = np.random.default_rng(LOCAL.index(text))
    solved = 0
    for seed in rng.integers(0, 1 << 30, size=cases(120)).tolist():
        ranges = {"rows": (2, 50), "attributes": (1, 4), "leaves": (2, 8), "height": (1, 3), "values": (2, 4)}
        table = random_local_table(seed, sensitive=1, **ranges)
        tree = random.Random(seed)
        nodes = {a.name: random_node_weights(tree, labelled_rows(a)) for a in table.attributes if a.tree}
        try:
            problem = Problem.build(
                table,
                privacy=MODELS[str(rng.choice(list(MODELS)))](rng),
                cost=Certainty(weights={"q0": 2}, node_weights=nodes),
                suppression=str(rng.choice(["none", "budget(0.2)", "class-records"])),
                scheme="local",
            )
        except (dc.InfeasibleError, dc.UsageError):
            continue
        found = SOLVERS.make(text).solve(problem, Budget(seed=1))
        if found.status != "infeasible":
            solved += 1
            audited(make_task(problem), found.groups)
            assert found.lower_bound <= found.cost
    assert solved > enough(40)


@pytest.mark.parametrize("text", LOCAL)
def test_the_cost_of_a_local_release_is_that_of_what_it_shows(text):
    for seed in range(12):
        sample = random_sample(seed, rows=(6, 40), numeric=0.4, missing=0, ragged=0.3, leaves=(3, 8), height=(2, 3))
        trees, rng = sample.naive.hierarchies, random.Random(seed)
        nodes = {name: random_node_weights(rng, rows) for name, rows in trees.items()}
        kind = ("none", "budget(0.2)")[seed % 2]
        frame = pl.DataFrame([{name: row[name] for name in trees} for row in sample.naive.rows]).with_row_index("row")
        release = dc.anonymize(
            frame,
            quasi_identifiers={name: dc.Hierarchy.from_rows(rows) for name, rows in trees.items()},
            privacy="k(3)",
            cost=dc.Certainty(node_weights=nodes),
            suppression=kind,
            scheme="local",
            solver=text,
            seed=1,
            keep="row",
        )
        kept = {row["row"]: row for row in release.frame.to_dicts()}
        shown = [kept.get(i) for i in range(len(frame))]
        texts = {name: [tuple(map(str, row)) for row in rows] for name, rows in trees.items()}
        plain = naive.Table(sample.naive.rows, texts, frozenset())
        as_text = [row and {name: str(row[name]) for name in trees} for row in shown]
        assert release.cost == pytest.approx(naive.released_certainty(plain, as_text, node_weights=nodes)), seed
        assert 0 <= release.lower_bound <= release.cost


def test_schemes_without_exact_solvers_for_it_say_so():
    sample = random_sample(3, attributes=(1, 1), numeric=0.0, leaves=(3, 3), height=(1, 1))
    problem = Problem.build(sample.counts, privacy="k(1)", cost=weighted(sample, 3)[0], scheme=SCHEMES.make("set"))
    with pytest.raises(dc.UsageError, match="partitions"):
        SOLVERS.make("partitions").solve(problem, Budget())
