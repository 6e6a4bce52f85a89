"""The user-oriented mechanism: worked by hand, against its pseudo-code in plain Python, and against the optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from cases import MODELS, SCORES, built, plain_cost, plain_models
from discreet.problem import Problem
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.solve import Budget, choose_solver
from discreet.solve._class_arrays import Gatherer
from discreet.solve.lattice.solver import LatticeSolver
from discreet.solve.published import _partial_domain
from discreet.solve.published._segments import step_down
from discreet.solve.published.user_oriented import UserOrientedSolver
from discreet.solve.score.solver import OptimalScoreSolver
from tables import Sample, count_table, random_sample

PLACE = [("a1", "a", "*"), ("a2", "a", "*"), ("b1", "b", "*"), ("b2", "b", "*")]
SEX = [("x", "*"), ("y", "*")]


def table_of(rows, **hierarchies):
    names = list(hierarchies)
    plain = naive.Table([dict(zip(names, row, strict=True)) for row in rows], hierarchies)
    return plain, count_table(plain)


def steps_of(problem, **options):
    solution = UserOrientedSolver(**options).solve(problem, Budget())
    found = [(step["step"], tuple(step["levels"].values()), step["score"]) for step in solution.stats["steps"]]
    return found, solution


def test_top_down_takes_the_attribute_of_the_highest_score_by_hand():
    # Alone, each value of place and of sex has 2 rows or more, but (b2, x) and (b2, y) have one: both go up a level.
    # Down: place gives 2·4 + 1 = 9 and keeps k = 2; sex could give 2·2 + 2 = 6 at most and is skipped.
    rows = [("a1", "x")] * 2 + [("a2", "x")] * 2 + [("b1", "y")] * 2 + [("b2", "x"), ("b2", "y")]
    _, table = table_of(rows, place=PLACE, sex=SEX)
    problem = Problem.build(table, privacy="k(2)", cost="score(weights={place: 2})")
    steps, solution = steps_of(problem)
    assert steps == [("pre-computation", (1, 1), 5.0), ("top-down", (0, 1), 9.0)]
    assert solution.stats["pruned"] == {"steps skipped by the bound of their score": 1}
    assert (solution.status, solution.cost, solution.lower_bound) == ("optimal", 1.0, 1.0)


def test_a_larger_p_begins_higher_by_hand():
    rows = [("a1", "x")] * 2 + [("a2", "x")] * 2 + [("b1", "y")] * 2 + [("b2", "y")] * 2
    _, table = table_of(rows, place=PLACE, sex=SEX)
    problem = Problem.build(table, privacy="k(2)", cost="score")
    assert steps_of(problem)[0] == [("pre-computation", (0, 0), 6.0)]
    # With p = 1 a value of place needs 3 rows: place begins a level higher and goes down from there.
    assert steps_of(problem, p=1)[0] == [("pre-computation", (1, 0), 4.0), ("top-down", (0, 0), 6.0)]


def test_pre_computation_asks_for_k_and_not_for_what_other_models_need_by_hand():
    """k = 2, l = 3: two rows of each place are enough, though no class of two rows can have three diseases.

    (0, 0) breaks l = 3 all the same, so that both attributes go up; had place needed three rows by itself, sex would
    have stayed.
    """
    rows = [("a1", "x", "s"), ("a1", "x", "t"), ("a2", "x", "u"), ("a2", "x", "s")]
    rows += [("b1", "y", "s"), ("b1", "y", "t"), ("b2", "y", "u"), ("b2", "y", "s")]
    plain = naive.Table(
        [dict(zip(("place", "sex", "s0"), row, strict=True)) for row in rows], {"place": PLACE, "sex": SEX}
    )
    table = count_table(plain, {"s0": [("s", "*"), ("t", "*"), ("u", "*")]})
    problem = Problem.build(table, privacy=["k(2)", "distinct-l(3, s0)"], cost="score")
    assert steps_of(problem)[0] == [("pre-computation", (1, 1), 3.0), ("top-down", (1, 0), 4.0)]
    assert steps_of(problem, p=1)[0] == [("pre-computation", (1, 0), 4.0)]


def test_bottom_up_mends_a_step_too_far_by_hand():
    # Each place has 2 rows, so that with p = 1 place begins a level higher and sex does not: 2·2 + 2 = 6. No step down
    # keeps k = 2. The second top-down step takes place down all the same, 2·4 + 2 = 10, and taking sex up, which has
    # the lowest priority, mends it: 2·4 + 1 = 9.
    rows = list(itertools.product(["a1", "a2", "b1", "b2"], ["x", "y"]))
    _, table = table_of(rows, place=PLACE, sex=SEX)
    problem = Problem.build(table, privacy="k(2)", cost="score(weights={place: 2})")
    assert steps_of(problem, p=1)[0] == [("pre-computation", (1, 0), 6.0), ("bottom-up", (0, 1), 9.0)]


def test_limits_are_never_passed_and_all_others_go_on_by_hand():
    # The appendix stops lifting when the first attribute has reached its limit; here place must still go up.
    rows = [("a1", "x"), ("a2", "x"), ("b1", "y"), ("b2", "y")]
    _, table = table_of(rows, place=PLACE, sex=SEX)
    problem = Problem.build(table, privacy="k(2)", cost="score", max_levels={"sex": 0})
    assert steps_of(problem)[0] == [("pre-computation", (1, 0), 4.0)]
    tight = Problem.build(table, privacy="k(2)", cost="score", max_levels={"sex": 0, "place": 0})
    assert UserOrientedSolver().solve(tight, Budget()).status == "infeasible"


class Mechanism:
    """The described mechanism in plain Python, step by step, from the appendix and its corrections."""

    def __init__(self, sample, models, k, options, low, high):
        self.table, self.models, self.options = sample.naive, models, options
        self.k, self.low, self.high = k, low, high
        v = [naive.weight_of(options.get("weights"), name) for name in self.table.hierarchies]
        self.order = sorted(range(len(v)), key=lambda i: v[i])

    def ok(self, levels):
        return all(
            naive.all_ok(self.models, naive.counts(self.table, members, "s0"))
            for members in naive.classes(self.table, levels)
        )

    def score(self, levels):
        shown = naive.shown_values(self.table, levels, naive.classes(self.table, levels))
        return naive.score_of(self.table, shown, **self.options)

    def smallest(self, i, level):
        name = list(self.table.hierarchies)[i]
        values = [naive.released(self.table, name, row[name], level) for row in self.table.rows]
        return min(values.count(value) for value in values)

    def step(self, levels, i, by):
        moved = list(levels)
        moved[i] += by
        return tuple(moved) if self.low[i] <= moved[i] <= self.high[i] else None

    def run(self, p):
        levels = []
        for i in range(len(self.low)):
            level = self.low[i]
            while level < self.high[i] and self.smallest(i, level) < self.k + p:
                level += 1
            levels.append(level)
        while not self.ok(levels):
            if levels == list(self.high):
                return None
            levels = [min(level + 1, high) for level, high in zip(levels, self.high, strict=True)]
        best = tuple(levels)
        trail = [best]
        while True:  # top-down
            found, highest = None, self.score(best)
            for i in reversed(self.order):
                finer = self.step(best, i, -1)
                if finer and self.score(finer) > highest and self.ok(finer):
                    found, highest = finer, self.score(finer)
            if found is None:
                break
            best = found
            trail.append(best)
        while True:  # second top-down and bottom-up
            s, broken, highest = self.score(best), None, self.score(best)
            for i in reversed(self.order):
                finer = self.step(best, i, -1)
                if finer and self.score(finer) > highest:
                    broken, highest = finer, self.score(finer)
            mended = None
            while broken is not None and mended is None:
                if self.ok(broken):
                    mended = broken
                    break
                highest = s
                for i in self.order:
                    coarser = self.step(broken, i, +1)
                    if coarser and self.score(coarser) > highest and self.ok(coarser):
                        mended, highest = coarser, self.score(coarser)
                if mended is None:
                    next_, highest = None, s
                    for i in self.order:
                        coarser = self.step(broken, i, +1)
                        if coarser and self.score(coarser) > highest:
                            next_, highest = coarser, self.score(coarser)
                    broken = next_
            if mended is None:
                return trail
            best = mended
            trail.append(best)


@pytest.mark.parametrize(
    ("model", "score"), list(itertools.product(["k", "distinct-l", "recursive-cl", "t", "two", "three"], SCORES))
)
def test_every_step_is_that_of_the_pseudo_code(model, score):
    rng = np.random.default_rng([len(model), len(score), 5])
    compared = 0
    for seed in rng.integers(0, 1 << 30, size=30):
        sample = random_sample(int(seed), rows=(4, 16), attributes=(2, 4), height=(1, 3))
        privacy = MODELS[model](rng)
        heights = [attribute.height for attribute in sample.counts.attributes]
        low = [int(rng.integers(0, min(height, 1) + 1)) for height in heights]
        high = [max(level, height - int(rng.random() < 0.2)) for level, height in zip(low, heights, strict=True)]
        names = sample.counts.names
        limits = {"min_levels": dict(zip(names, low, strict=True)), "max_levels": dict(zip(names, high, strict=True))}
        problem = built(sample, privacy=privacy, cost=score, **limits)
        if problem is None:
            continue
        p = int(rng.integers(0, 3))
        options = plain_cost(score, privacy)[1]
        k = max((int(text[2:-1]) for text in privacy if text.startswith("k(")), default=1)
        want = Mechanism(sample, plain_models(privacy, sample), k, options, low, high).run(p)
        found = UserOrientedSolver(p=p, skip=bool(rng.integers(0, 2))).solve(problem, Budget())
        if want is None:
            assert found.status == "infeasible" or not problem.union_closed, (int(seed), privacy)
            continue
        compared += 1
        assert [tuple(step["levels"].values()) for step in found.stats["steps"]] == want, (int(seed), privacy, p)
        assert found.levels == want[-1]
    assert compared > 3


@pytest.mark.parametrize("kind", ["none", "budget(2)", "pre-sampling(2, level=1)"])
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("model", ["k", "distinct-l", "t"])
def test_the_optimum_is_never_below_the_mechanism(model, score, kind):
    rng = np.random.default_rng([len(model), len(score), len(kind)])
    for seed in rng.integers(0, 1 << 30, size=12):
        sample = random_sample(int(seed), rows=(4, 16), attributes=(2, 4), height=(1, 3))
        problem = _feasible(sample, privacy=MODELS[model](rng), cost=score, suppression=kind)
        if problem is None:
            continue
        best = OptimalScoreSolver().solve(problem, Budget())
        mechanism = UserOrientedSolver().solve(problem, Budget())
        assert best.status in ("optimal", "infeasible")
        if best.status == "infeasible":
            assert mechanism.status == "infeasible"
            continue
        assert best.cost == LatticeSolver().solve(problem, Budget()).cost
        assert mechanism.cost >= best.cost - 1e-9
        assert mechanism.lower_bound == pytest.approx(best.cost)
        if kind == "none":
            assert _nothing_finer(problem, best)


def _feasible(sample: Sample, **parts):
    from discreet.errors import InfeasibleError

    try:
        return built(sample, **parts)
    except InfeasibleError:
        return None


def _nothing_finer(problem, solution):
    """No attribute can be taken a level down by itself."""
    for i, level in enumerate(solution.levels):
        if level == problem.lowest[i]:
            continue
        finer = [*solution.levels[:i], level - 1, *solution.levels[i + 1 :]]
        grouping = problem.table.group([a.ancestors[n] for a, n in zip(problem.table.attributes, finer, strict=True)])
        if problem.smallest_class <= grouping.sizes.min() and all(m.name == "k" for m in problem.privacy):
            return False
    return True


def shown_by(solution):
    """What each tuple shows, and how many of its rows."""
    groups = solution.groups
    levels = np.stack([cover.first for cover in groups.covers] + [cover.second for cover in groups.covers], axis=1)
    at = np.where(groups.group[:, None] < 0, -1, levels[groups.group] if len(levels) else -1)
    order = np.argsort(groups.tuple)
    return groups.tuple[order].tolist(), at[order].tolist(), groups.count[order].tolist()


@pytest.mark.parametrize("kind", ["none", "budget(3)", "pre-sampling(2, level=1)"])
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("model", list(MODELS))
def test_partial_domain_steps_are_the_same_compiled_and_in_numpy(model, score, kind, monkeypatch):
    rng = np.random.default_rng([len(model), len(score), len(kind), 3])
    for seed in rng.integers(0, 1 << 30, size=4):
        sample = random_sample(int(seed), rows=(6, 40), attributes=(2, 4), height=(1, 3))
        problem = _feasible(sample, privacy=MODELS[model](rng), cost=score, suppression=kind, scheme="local")
        if problem is None:
            continue
        compiled = UserOrientedSolver().solve(problem, Budget())
        if compiled.status == "infeasible":
            continue
        with monkeypatch.context() as patch:
            patch.setattr(_partial_domain, "_compiled", lambda nodes, groups, *_: step_down(nodes, groups, Budget()))
            plain = UserOrientedSolver().solve(problem, Budget())
        assert shown_by(compiled) == shown_by(plain), (int(seed), problem.privacy)
        assert compiled.stats["score"] == plain.stats["score"] >= compiled.stats["global_score"] - 1e-9
        assert _parts_keep_the_promises(problem, compiled)


def _parts_keep_the_promises(problem, solution):
    """Every group is ok, and no group could be taken further down by one attribute."""
    groups = solution.groups
    kept = groups.group >= 0
    classes = _classes(problem, groups.tuple[kept], groups.group[kept], solution.classes)
    assert problem.ok(classes).all()
    for i, cover in enumerate(groups.covers):
        for g in range(solution.classes):
            tuples = groups.tuple[groups.group == g]
            level = int(cover.first[g])
            if level == problem.lowest[i]:
                continue
            block = problem.table.attributes[i].ancestors[level - 1, problem.table.codes[i, tuples]]
            parts, owner = np.unique(block, return_inverse=True)
            assert parts.size > 1
            assert not problem.ok(_classes(problem, tuples, owner, parts.size)).all()
    return True


def _classes(problem, tuples, owner, count):
    gatherer = Gatherer(problem)
    sizes = np.bincount(owner, weights=problem.table.weights[tuples], minlength=count).astype(np.int64)
    return gatherer.as_classes(sizes, gatherer.added_up(tuples, owner, count), None, None)


def test_a_model_of_ones_own_goes_with_partial_domain_steps():
    class Even(KAnonymity):
        """Classes have an even number of rows."""

        def ok(self, classes):
            return super().ok(classes) & (classes.sizes % 2 == 0)

    rng = np.random.default_rng(8)
    rows = list(zip(rng.choice(["a1", "a2", "b1", "b2"], 40), rng.choice(["x", "y"], 40), strict=True))
    _, table = table_of(rows, place=PLACE, sex=SEX)
    problem = Problem.build(table, privacy=Even(2), cost="score", scheme="local")
    solution = UserOrientedSolver().solve(problem, Budget())
    assert _parts_keep_the_promises(problem, solution)
    sizes = np.bincount(solution.groups.group, weights=solution.groups.count)
    assert (sizes % 2 == 0).all()


def test_stopped_at_once_it_returns_what_it_has():
    sample = random_sample(5, rows=(20, 30), attributes=(3, 3), height=(2, 3))
    problem = Problem.build(sample.counts, privacy="k(2)", cost="score", scheme="local")
    stopped = UserOrientedSolver().solve(problem, Budget(time_limit=1e-9))
    whole = UserOrientedSolver().solve(problem, Budget())
    assert stopped.stats["score"] <= whole.stats["score"]
    assert stopped.groups.count.sum() == problem.table.n


def test_auto_takes_the_optimum():
    sample = random_sample(3, attributes=(2, 2))
    assert choose_solver(Problem.build(sample.counts, privacy="k(2)", cost="score")).name == "optimal-score"
    local = Problem.build(sample.counts, privacy="k(2)", cost="score", scheme="local")
    assert choose_solver(local).name == "user-oriented"


def test_pre_sampling_leaves_out_what_is_isolated():
    rng = np.random.default_rng(11)
    for seed in range(60):
        sample = random_sample(seed, rows=(4, 20), attributes=(1, 4), height=(0, 3))
        k, level = int(rng.integers(1, 5)), int(rng.integers(0, 3))
        heights = [attribute.height for attribute in sample.counts.attributes]
        levels = [min(level, height) for height in heights]
        isolated = {row for rows in naive.classes(sample.naive, levels) if len(rows) < k for row in rows}
        problem = _feasible(sample, privacy="k(1)", cost="score", suppression=f"pre-sampling({k}, level={level})")
        if problem is None:
            assert len(isolated) == len(sample.naive.rows)
            continue
        assert problem.table.n == len(sample.naive.rows) - len(isolated)
        assert problem.whole.n == len(sample.naive.rows)
        solution = OptimalScoreSolver().solve(problem, Budget())
        stay = [[row for row in rows if row not in isolated] for rows in naive.classes(sample.naive, [0] * len(levels))]
        shown = naive.shown_values(sample.naive, [0] * len(levels), [rows for rows in stay if rows])
        assert solution.levels == (0,) * len(levels) or solution.cost == 0
        before = {name: len({row[name] for row in sample.naive.rows}) for name in sample.naive.hierarchies}
        assert solution.cost == naive.score_of(sample.naive, before) - naive.score_of(sample.naive, shown)
