"""Every global scheme with every suppression kind, cost and model that go together, against trying all recodings.

``auto`` chooses the solver, so that whatever is chosen is compared; the solver ``general`` is compared as well.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import naive
from cases import COSTS as ADDITIVE_COSTS
from cases import KINDS, SCORES, built, evaluate_blocks, exhausted_after, plain_cost, plain_kind, plain_models
from discreet.errors import UnsupportedCombinationError
from discreet.problem import SCHEMES
from discreet.runtime.integer_codes import by_appearance
from discreet.solve import Budget, choose_solver
from discreet.solve.general import bounds as _bounds
from discreet.solve.general.solver import GeneralSolver
from discreet.solve.partitions import search as _search
from exhaustive import as_blocks
from properties.test_partitions import (
    NAMES,
    check_recoding,
    is_ordered,
    keeps_limits,
    search_in_small_portions,
    some_models,
    some_schemes,
    varied,
)
from tables import Sample, count_table, random_sample

COSTS = [*ADDITIVE_COSTS, "precision", *SCORES]
VALUE_COSTS = {"LM", "DM", "HDM", "CM", "NCP"}
"""Costs that define what a suppressed sensitive value costs."""
SMALL = {"rows": (1, 11), "attributes": (1, 3), "leaves": (1, 4), "values": (2, 4)}


def instance(rng, scheme, kind, cost, limits=False, **shape):
    """A random problem and the same in plain form; None if its parts do not go together."""
    seed = int(rng.integers(0, 1 << 30))
    sample = varied(rng, random_sample(seed, **SMALL | shape))
    schemes, privacy = some_schemes(rng, sample, scheme), some_models(rng)
    runs = {name: is_ordered(sample, name) for name in schemes}
    if any(schemes[name] == "guided-ordered" and not runs[name] for name in schemes):
        return None
    if cost == "NCP":
        sample = without_some_trees(rng, sample)
        known = sample.naive.numeric | sample.naive.sets
        if not all(runs[name] or name in known for name in schemes):
            return None  # the nodes of text are runs of its values
    low, high = {}, {}
    for attribute in sample.counts.attributes if limits else ():
        low[attribute.name] = int(rng.integers(0, attribute.height + 1))
        high[attribute.name] = int(rng.integers(low[attribute.name], attribute.height + 1))
    parts = {"privacy": privacy, "cost": cost, "suppression": kind, "scheme": schemes}
    problem = built(sample, **parts, min_levels=low, max_levels=high)
    return None if problem is None else (sample, problem, schemes, (seed, parts, low, high))


def without_some_trees(rng, sample):
    """The sample with some texts that were given no hierarchy, whose spread NCP counts by their own values."""
    plain = sample.naive
    texts = frozenset(name for name in plain.hierarchies if name not in plain.numeric and rng.random() < 0.5)
    plain = plain._replace(sets=texts)
    return Sample(plain, count_table(plain, sample.sensitive, sample.label), sample.sensitive, sample.label)


def recodings(problem, sample, schemes):
    """Every valid recoding in plain form: levels if all attributes are full-domain, else partitions."""
    each = list(zip(sample.naive.hierarchies.items(), problem.lowest, problem.highest, strict=True))
    if set(schemes.values()) == {"full-domain"}:
        return itertools.product(*(range(low, high + 1) for _, low, high in each))
    return itertools.product(
        *(
            [p for p in naive.valid_partitions(schemes[name], rows) if keeps_limits(p, rows, low, high)]
            for (name, rows), low, high in each
        )
    )


def least_cost(problem, sample, schemes, privacy, cost):
    name, options = plain_cost(cost, privacy)
    models, kind = plain_models(privacy, sample), plain_kind(problem.suppression.text)
    found = (
        naive.suppress(sample.naive, levels, models, kind, problem.limit, name, "s0", **options).cost
        for levels in recodings(problem, sample, schemes)
    )
    return min((cost for cost in found if cost is not None), default=math.inf)


def check(rng, scheme, kind, cost, *, most=300, **shape):
    """Compare one random instance with brute force; returns whether it has a solution, None if it was not compared."""
    made = instance(rng, scheme, kind, cost, **shape)
    if made is None:
        return None
    sample, problem, schemes, context = made
    if math.prod(s.count(a) for s, a in zip(problem.schemes, problem.table.attributes, strict=True)) > most:
        return None
    want = least_cost(problem, sample, schemes, context[1]["privacy"], cost)
    for solver in (choose_solver(problem), GeneralSolver()):
        if solver.name == "general" and (set(schemes.values()), cost) == ({"full-domain"}, "precision"):
            continue  # the lattice has levels that differ only in name
        where = (*context, solver.name)
        try:
            found = solver.solve(problem, Budget(seed=1))
        except UnsupportedCombinationError as error:
            assert math.isinf(want) and "limits of its level" in error.parts, where  # noqa: PT017, PT018
            continue
        if math.isinf(want):
            assert found.status == "infeasible", where
            continue
        assert found.status == "optimal", where
        assert found.cost == pytest.approx(want, rel=1e-9, abs=1e-9), where
        assert found.lower_bound == found.cost, where
        check_consistent(problem, found, where)
    return math.isfinite(want)


def check_consistent(problem, found, context):
    """What is released is valid, allowed by the schemes and costs what is said."""
    again = check_recoding(problem, found, context)
    if found.levels is None or problem.cost.name != "precision":
        assert found.cost == pytest.approx(again.cost, rel=1e-9, abs=1e-9), context
    assert found.suppressed_values == again.suppressed_values, context
    assert (found.inside is None) == (again.inside is None), context


@pytest.fixture(params=["as it is", "in small portions"])
def portions(request, monkeypatch):
    """Let the search look at few nodes, sets and blocks at a time, so that small tables exercise all of it."""
    if request.param == "in small portions":
        search_in_small_portions(monkeypatch)
        monkeypatch.setattr(_bounds, "_ENTRIES", 3)
    return request.param


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", NAMES)
def test_against_all_recodings(scheme, kind, portions):
    rng = np.random.default_rng([NAMES.index(scheme), KINDS.index(kind), portions == "as it is"])
    costs = [cost for cost in COSTS if "values" not in kind or cost.split("(")[0] in VALUE_COSTS]
    results = [check(rng, scheme, kind, str(rng.choice(costs)), most=60) for _ in range(14)]
    assert results.count(True) > 1


@pytest.mark.parametrize("scheme", NAMES)
def test_limits_of_levels(scheme):
    """Blocks hold whole values of the lowest level and lie inside one of the highest."""
    rng = np.random.default_rng([7, NAMES.index(scheme)])
    kinds = [str(rng.choice(KINDS)) for _ in range(24)]
    results = [check(rng, scheme, kind, str(rng.choice(COSTS)), most=60, limits=True, height=(1, 3)) for kind in kinds]
    assert results.count(True) > 3


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_a_search_that_was_stopped(kind, portions, monkeypatch):
    """However little was looked at, what is released is valid and the bound is true."""
    rng = np.random.default_rng([200, KINDS.index(kind)])
    stopped = 0
    for attempt in range(80):
        if stopped and attempt >= 10:
            break
        made = instance(rng, str(rng.choice(NAMES)), kind, str(rng.choice(COSTS)), leaves=(3, 4), attributes=(2, 3))
        if made is None:
            continue
        problem, context = made[1], made[-1]
        best = GeneralSolver().solve(problem, Budget())
        if best.status == "infeasible":
            continue
        with monkeypatch.context() as patch:
            patch.setattr(Budget, "exhausted", exhausted_after(int(rng.integers(0, 12))))
            found = GeneralSolver().solve(problem, Budget())
        check_consistent(problem, found, context)
        assert -1e-9 <= found.lower_bound <= best.cost * (1 + 1e-9) + 1e-9, context
        assert found.cost >= best.cost * (1 - 1e-9) - 1e-9, context
        stopped += found.status == "feasible"
        for point in found.trace:
            assert point.bound <= best.cost * (1 + 1e-9) + 1e-9, context
    assert stopped


def check_node(rng, scheme, kind, cost, most=60):
    """Compare the bound of a node, some attributes of which are decided, with the best of its recodings.

    Returns whether it was the sum of the attributes' bounds, None if it was not compared.
    """
    made = instance(rng, scheme, kind, cost, attributes=(2, 3))
    if made is None:
        return None
    problem, context = made[1], made[-1]
    parts = list(zip(problem.schemes, problem.table.attributes, strict=True))
    if math.prod(scheme.count(attribute) for scheme, attribute in parts) > most:
        return None
    try:
        root = _search.all_partitions(problem, _bounds.GeneralBounds.block_rates(problem))
    except UnsupportedCombinationError:
        return None
    bounds = _bounds.GeneralBounds(problem, [partitions.items for partitions in root])
    every = [[as_blocks(partition) for partition in scheme.partitions(attribute)] for scheme, attribute in parts]
    chosen = [each[rng.integers(len(each))] if rng.random() < 0.4 else None for each in every]
    node = tuple(
        partitions if blocks is None else partitions.fixed(by_appearance(blocks[partitions.items.leaves]))
        for partitions, blocks in zip(root, chosen, strict=True)
    )
    open_ = [each if blocks is None else [blocks] for each, blocks in zip(every, chosen, strict=True)]
    best = min(evaluate_blocks(problem, blocks).cost for blocks in itertools.product(*open_))
    found = bounds.bound(node)
    assert found.total <= best * (1 + 1e-9) + 1e-9, (context, chosen)
    return not found.takes_largest and sum(not partitions.decided for partitions in node) > 1


@pytest.mark.parametrize("cost", ["LM", "LM(penalty=l+)", "NCP", "HDM"])
def test_bounds_of_nodes(cost):
    """The bound of a node is never above the best of its recodings, also where it adds up attributes."""
    rng = np.random.default_rng([300, len(cost)])
    results = [check_node(rng, str(rng.choice(NAMES)), str(rng.choice(KINDS)), cost) for _ in range(90)]
    assert results.count(True) > 4


def test_every_scheme_is_here():
    assert {*NAMES, "local", "cells"} == set(SCHEMES.members())
