"""The search over partitions against trying all of them: every scheme and mix of schemes, model, cost and budget."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import naive
from cases import INCLUSIONS, MODELS, built, evaluate_blocks, exhausted_after, plain_cost, plain_models
from depth import cases, enough
from discreet.problem import Problem
from discreet.solve import Budget
from discreet.solve.cuts.solver import CutsSolver
from discreet.solve.lattice.solver import LatticeSolver
from discreet.solve.partitions import bounds as _partition_bounds
from discreet.solve.partitions import search as _partition_search
from discreet.solve.partitions import sets as _sets
from discreet.solve.partitions.gap_history import GapHistory
from discreet.solve.partitions.solver import PartitionsSolver
from discreet.solve.published.li_li import search as _li_li_search
from tables import Sample, count_table, random_sample

NAMES = ("full-domain", "subtree", "guided-ordered", "guided-set", "ordered", "set")
DIRECTIONS = ("auto", "bottom-up", "top-down")
COSTS = ["DM", "HDM", "LM", "LM(weights={q0: 2.5})", "LM(penalty=l+)", "CM", "entropy"]
KINDS = ["none", "class-records", "budget(0.2)", "budget(2)", "budget(0.5)", "budget(5)"]
SMALL = {"rows": (1, 14), "attributes": (1, 3), "leaves": (1, 4), "values": (2, 4)}


def some_models(rng):
    """Models of one kind, or of two kinds together."""
    chosen = rng.choice(list(MODELS), size=2, replace=False) if rng.random() < 0.3 else [rng.choice(list(MODELS))]
    if rng.random() < 0.3:
        chosen = ["k"]
    return list(dict.fromkeys(text for name in chosen for text in MODELS[str(name)](rng)))


def some_schemes(rng, sample, scheme):
    """The scheme for all attributes, or at times others for some."""
    names = sample.counts.names
    if rng.random() < 0.6:
        return dict.fromkeys(names, scheme)
    return {name: scheme if rng.random() < 0.5 else str(rng.choice(NAMES)) for name in names}


def varied(rng, sample):
    """The sample as it is, with its rows several times, or with trees whose nodes are no runs of values."""
    plain, chance = sample.naive, rng.random()
    if chance < 0.2:
        plain = plain._replace(rows=plain.rows * int(rng.integers(2, 4)))
    elif chance < 0.5:
        crossed = {name: shuffled(rng, rows) for name, rows in plain.hierarchies.items()}
        plain = plain._replace(hierarchies=crossed)
    else:
        return sample
    return Sample(plain, count_table(plain, sample.sensitive, sample.label), sample.sensitive, sample.label)


def shuffled(rng, hierarchy):
    """The leaves in the same order, each with what stands above another leaf."""
    return [
        (row[0], *hierarchy[other][1:]) for row, other in zip(hierarchy, rng.permutation(len(hierarchy)), strict=True)
    ]


def is_ordered(sample, name):
    """Whether every node of the tree is a run of values."""
    rows = sample.naive.hierarchies[name]
    place = {row[0]: i for i, row in enumerate(rows)}
    places = [sorted(place[leaf] for leaf in node) for node in naive.nodes(rows)]
    return all(each[-1] - each[0] == len(each) - 1 for each in places)


def instance(rng, scheme, kind, **shape):
    """A random problem and the same in plain form; None if its parts do not go together."""
    seed = int(rng.integers(0, 1 << 30))
    sample = varied(rng, random_sample(seed, **SMALL | shape))
    schemes = some_schemes(rng, sample, scheme)
    privacy, cost = some_models(rng), str(rng.choice(COSTS))
    if any(s == "guided-ordered" and not is_ordered(sample, name) for name, s in schemes.items()):
        return None
    problem = built(sample, privacy=privacy, cost=cost, suppression=kind, scheme=schemes)
    return None if problem is None else (sample, problem, schemes, privacy, cost, (seed, schemes, privacy, cost, kind))


def space_of(problem):
    return math.prod(s.count(a) for s, a in zip(problem.schemes, problem.table.attributes, strict=True))


def sets_of(blocks):
    return tuple(tuple(np.flatnonzero(blocks == number).tolist()) for number in dict.fromkeys(blocks.tolist()))


def check_against_all(rng, scheme, kind, direction, *, most=400, **shape):
    """Compare one random instance with brute force; says whether it was compared and whether it has a solution."""
    made = instance(rng, scheme, kind, **shape)
    if made is None or space_of(made[1]) > most:
        return False, False
    sample, problem, schemes, privacy, cost, context = made
    context = (*context, direction)
    name, options = plain_cost(cost, privacy)
    models = plain_models(privacy, sample)
    want = naive.search_cuts(
        sample.naive, models, kind.split("(")[0], problem.limit, name, "s0", scheme=schemes, **options
    )
    found = PartitionsSolver(direction=direction).solve(problem, Budget())
    assert found.stats["space"] == want.considered, context
    if not want.feasible:
        assert found.status == "infeasible", context
        assert found.smallest_budget in (None, want.smallest_budget), context
        assert (found.smallest_budget is None) == (not problem.superset_closed), context
        return True, False
    assert found.status == "optimal", context
    assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), context
    check_consistent(problem, found, context)
    assert found.lower_bound == found.cost, context
    assert found.gap == 0, context
    assert found.trace[-1].best == pytest.approx(found.cost, rel=1e-9, abs=1e-9), context
    assert found.trace[-1].bound == pytest.approx(found.cost, rel=1e-9, abs=1e-9), context
    return True, True


def check_recoding(problem, found, context):
    """The recoding is allowed by the schemes and suppresses what is said; returns it evaluated again."""
    again = evaluate_blocks(problem, found.blocks)
    assert found.suppressed_rows == again.suppressed_rows <= problem.limit, context
    assert (found.suppressed == again.suppressed).all(), context
    for blocks, scheme, attribute in zip(found.blocks, problem.schemes, problem.table.attributes, strict=True):
        assert scheme.allows(attribute, sets_of(blocks)), context
    return again


def check_consistent(problem, found, context):
    """What is released is valid, allowed by the schemes and costs what is said."""
    again = check_recoding(problem, found, context)
    assert found.cost == pytest.approx(again.cost, rel=1e-12, abs=1e-12), context
    full = all(scheme.name == "full-domain" for scheme in problem.schemes)
    assert (found.levels is not None) == full, context


def search_in_small_portions(monkeypatch):
    monkeypatch.setattr(_partition_search, "_DIVE", 2)
    monkeypatch.setattr(_partition_search, "_ROUNDS", 1)
    monkeypatch.setattr(_sets, "_AT_ONCE", 3)


@pytest.fixture(params=["as it is", "in small portions"])
def portions(request, monkeypatch):
    """Let the search look at few nodes, sets and classes at a time, so that small tables exercise all of it."""
    if request.param == "in small portions":
        search_in_small_portions(monkeypatch)
        monkeypatch.setattr(_partition_search, "_ANNEALED", ((0, 50), (3, 100)))
        monkeypatch.setattr(_partition_bounds, "_WORTH_MERGING", 0)
        monkeypatch.setattr(_partition_bounds, "_CLASSES", 2)
    return request.param


@pytest.mark.parametrize("scheme", NAMES)
def test_against_all_partitions(scheme, portions):
    rng = np.random.default_rng([NAMES.index(scheme), portions == "as it is"])
    solved = 0
    for number in range(cases(60)):
        kind, direction = KINDS[number % len(KINDS)], DIRECTIONS[number % len(DIRECTIONS)]
        solved += check_against_all(rng, scheme, kind, direction)[1]
    assert solved > enough(20)


def test_inclusions():
    """A scheme that allows more never costs more."""
    rng = np.random.default_rng(3)
    compared = 0
    for seed in range(cases(40)):
        sample = random_sample(seed, rows=(4, 30), attributes=(1, 3), leaves=(2, 6), values=(2, 4))
        privacy, cost, kind = some_models(rng), str(rng.choice(COSTS)), str(rng.choice(KINDS))
        best = {}
        for name in NAMES:
            problem = built(sample, privacy=privacy, cost=cost, suppression=kind, scheme=name)
            if problem is not None:
                best[name] = PartitionsSolver(direction=str(rng.choice(DIRECTIONS))).solve(problem, Budget()).cost
        for smaller, larger in INCLUSIONS if best else ():
            assert best[smaller] >= best[larger] * (1 - 1e-9) - 1e-9, (seed, privacy, cost, kind, smaller, larger)
            compared += best[smaller] > best[larger] * (1 + 1e-9) + 1e-9
    assert compared > enough(20)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_a_search_that_was_stopped(kind, portions, monkeypatch):
    """However little was looked at, what is released is valid and the bound is true."""
    rng = np.random.default_rng([200, KINDS.index(kind)])
    stopped = 0
    for _ in range(cases(30)):
        made = instance(rng, str(rng.choice(NAMES)), kind, leaves=(3, 5), attributes=(2, 3))
        if made is None:
            continue
        problem, context = made[1], made[-1]
        best = PartitionsSolver().solve(problem, Budget())
        if best.status == "infeasible":
            continue
        with monkeypatch.context() as patch:
            patch.setattr(Budget, "exhausted", exhausted_after(int(rng.integers(0, 12))))
            found = PartitionsSolver(direction=str(rng.choice(DIRECTIONS))).solve(problem, Budget())
        check_consistent(problem, found, context)
        assert -1e-9 <= found.lower_bound <= best.cost * (1 + 1e-9) + 1e-9, context
        assert found.cost >= best.cost * (1 - 1e-9) - 1e-9, context
        assert found.status in ("optimal", "feasible"), context
        assert found.gap == pytest.approx((found.cost - found.lower_bound) / max(found.cost, 1e-12)), context
        assert found.status == "feasible" or found.cost == pytest.approx(best.cost, rel=1e-9, abs=1e-9), context
        stopped += found.status == "feasible"
        for earlier, later in itertools.pairwise(found.trace):
            assert later.best <= earlier.best, context
            assert later.bound >= earlier.bound - 1e-9, context
            assert later.bound <= best.cost * (1 + 1e-9) + 1e-9, context
    assert stopped > 3


def test_the_same_as_other_solvers(monkeypatch):
    """Levels as the lattice has them, cuts as the search over cuts, anything as the published search."""
    monkeypatch.setattr(_li_li_search, "_SEEDS", 5)
    rng = np.random.default_rng(11)
    compared = dict.fromkeys(("lattice", "cuts", "paper"), 0)
    for number in range(cases(100)):
        name = ("full-domain", "subtree", *NAMES)[number % 8]
        made = instance(rng, name, str(rng.choice(KINDS)), rows=(5, 40), leaves=(2, 6))
        if made is None or space_of(made[1]) > 1000:
            continue
        problem, context = made[1], made[-1]
        found = PartitionsSolver().solve(problem, Budget())
        used = {scheme.name for scheme in problem.schemes}
        others = {"paper": PartitionsSolver(bounds="paper", direction=str(rng.choice(DIRECTIONS)))}
        if used == {"full-domain"}:
            others["lattice"] = LatticeSolver()
        if used == {"subtree"}:
            others["cuts"] = CutsSolver()
        for other, solver in others.items():
            again = solver.solve(problem, Budget(seed=1))
            assert again.status == found.status, (context, other)
            assert again.cost == pytest.approx(found.cost, rel=1e-9, abs=1e-9), (context, other)
            assert len({again.smallest_budget, found.smallest_budget} - {None}) <= 1, (context, other)
            compared[other] += 1
    assert all(n > enough(8) for n in compared.values()), compared


@pytest.mark.parametrize("scheme", [name for name in NAMES if "set" not in name])
def test_limits_of_levels(scheme):
    """Blocks hold whole values of the lowest level and lie inside one of the highest."""
    rng = np.random.default_rng([12, NAMES.index(scheme)])
    compared = 0
    for seed in range(cases(25)):
        sample = random_sample(seed, rows=(4, 12), attributes=(1, 2), leaves=(2, 4), height=(1, 3), spare=0)
        lowest, highest = {}, {}
        for attribute in sample.counts.attributes:
            lowest[attribute.name] = int(rng.integers(0, attribute.height + 1))
            highest[attribute.name] = int(rng.integers(lowest[attribute.name], attribute.height + 1))
        parts = {"cost": str(rng.choice(COSTS)), "suppression": str(rng.choice(KINDS)), "scheme": scheme}
        problem = Problem.build(
            sample.counts, privacy=f"k({rng.integers(1, 4)})", min_levels=lowest, max_levels=highest, **parts
        )
        context = (seed, parts, lowest, highest)
        ways = [
            [
                partition
                for partition in naive.valid_partitions(scheme, rows)
                if keeps_limits(partition, rows, lowest[name], highest[name])
            ]
            for name, rows in sample.naive.hierarchies.items()
        ]
        models = plain_models([problem.privacy[0].text], sample)
        cost, options = plain_cost(parts["cost"], [])
        kind = parts["suppression"].split("(")[0]
        costs = [
            naive.suppress(sample.naive, levels, models, kind, problem.limit, cost, "s0", **options).cost
            for levels in itertools.product(*ways)
        ]
        want = min((cost for cost in costs if cost is not None), default=math.inf)
        found = PartitionsSolver().solve(problem, Budget())
        assert found.cost == pytest.approx(want, rel=1e-9, abs=1e-9), context
        assert (found.status == "infeasible") == math.isinf(want), context
        compared += math.isfinite(want)
    assert compared > enough(10)


def keeps_limits(partition, hierarchy, lowest, highest):
    """Whether every block is made of values of the lowest level and lies in one of the highest, if that is no root."""

    def at(level):
        return [frozenset(o[0] for o in hierarchy if o[level] == row[level]) for row in hierarchy]

    below, above = at(lowest) if lowest else [], at(highest) if highest < len(hierarchy[0]) - 1 else []
    return all(
        all(value <= block or not value & block for value in below)
        and all(block <= value or not value & block for value in above)
        for block in partition
    )


@pytest.mark.parametrize("hasty", [True, False], ids=["many pairs", "few pairs"])
def test_what_scarce_cells_need_is_a_bound(hasty, monkeypatch):
    """It is often the larger bound where only k is promised, and the optimum is still that of brute force."""
    raised = 0
    by_mates = _partition_bounds.PartitionBounds._by_mates

    def counting(self, cells, priced, total, enough):
        nonlocal raised
        found = by_mates(self, cells, priced, total, enough)
        raised += found is not None and found.total > total
        return found

    monkeypatch.setattr(_partition_bounds.PartitionBounds, "_by_mates", counting)
    monkeypatch.setattr(_partition_bounds, "HASTY_PAIRS", 0 if hasty else 500_000)
    monkeypatch.setitem(globals(), "some_models", lambda rng: [f"k({rng.integers(2, 5)})"])
    rng = np.random.default_rng([400, hasty])
    for number in range(cases(30)):
        scheme = str(rng.choice(["ordered", "set", "guided-set", "subtree", "full-domain"]))
        shape = {"rows": (8, 40), "attributes": (2, 3), "leaves": (2, 5)}
        check_against_all(rng, scheme, KINDS[number % len(KINDS)], "auto", most=1000, **shape)
    assert raised > enough(20)


@pytest.mark.parametrize("cost", ["DM", "LM"])
def test_gaps_chosen_by_what_was_learnt(cost, monkeypatch):
    """Whatever gap is divided on, the optimum is that of brute force; also where the choice is not used by itself."""
    chosen = 0
    best_gap = GapHistory.best_gap
    started = _partition_search.PartitionSearch.__init__

    def counting(self, priced, room):
        nonlocal chosen
        chosen += any(each.any() for each in self.seen)
        return best_gap(self, priced, room)

    def learning(self, *arguments, **options):
        started(self, *arguments, **options)
        self.learns = True

    monkeypatch.setattr(GapHistory, "best_gap", counting)
    monkeypatch.setattr(_partition_search.PartitionSearch, "__init__", learning)
    monkeypatch.setattr(_partition_search, "_ROUNDS", 1)
    monkeypatch.setitem(globals(), "COSTS", [cost])
    monkeypatch.setitem(globals(), "some_models", lambda rng: [f"k({rng.integers(2, 5)})"])
    rng = np.random.default_rng([500, ["DM", "HDM", "LM"].index(cost)])
    compared = 0
    for number in range(cases(80)):
        scheme, kind = ("ordered", "subtree")[number % 2], KINDS[number % len(KINDS)]
        shape = {"rows": (8, 40), "attributes": (2, 3), "leaves": (3, 5)}
        compared += check_against_all(rng, scheme, kind, "auto", most=1000, **shape)[0]
    assert compared > enough(40)
    assert chosen > enough(20)
