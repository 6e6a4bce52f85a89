"""What every solver must keep."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray
from discreet.errors import DiscreetError, InfeasibleError, InterruptedRun, NothingFoundError, UsageError
from discreet.problem import COSTS as COST_FAMILY
from discreet.problem import SCHEMES, SUPPRESSION, Classes, Cost, PrivacyModel, Problem, Suppression
from discreet.runtime.text_form import parse_text
from discreet.solve import SOLVERS, Budget, Solution, Solver, choose_solver
from discreet.testing._samples import SENSITIVE, classes_by_blocks, classes_of, random_table
from discreet.testing._unlisted import UnlistedCost, UnlistedModel, UnlistedSuppression

__all__ = ["SolverContract"]

TRIALS = 150
SLACK = 1e-9
COSTS = ("LM", "DM", "CM", "NCP", "HDM", "score")
PRIVACY = (
    "k(2)",
    "k(3)",
    "distinct-l(2)",
    "l+(0.6)",
    "alpha-k(0.7, 2)",
    "entropy-l(1.5)",
    "recursive-cl(3, 2)",
    "t(0.45)",
    "t(0.4, secret, ordered)",
    "beta(1.5)",
    "delta-disclosure(1.2)",
    "average-risk(0.6)",
    "sample-uniqueness(0.4)",
    "k-map(4)",
    "delta-presence(0, 0.6)",
)
SUPPRESSIONS = ("none", "budget(0.25)", "class-records", "violating-records", "class-values", "violating-values")

_SOLVED: dict[tuple[type[SolverContract], Solver], Iterator[tuple[Problem, Solution]]] = {}
"""What the tests of a contract have solved so far, and how it goes on."""


@dataclass(frozen=True, eq=False)
class PricedRecoding:
    """Cost and suppressed rows of a recoding; the cost is infinite if it is not allowed."""

    cost: float
    suppressed: NDArray[np.bool_]
    rows: int
    values: int


class SolverContract:
    """Tests of a solver; give it in a fixture ``solver``.

    Random combinations of privacy model, cost, suppression and scheme that the solver takes are tried on tables so
    small that all recodings can be tried too. Parts that no solver knows are among them. The result is priced again
    here, by code that no solver uses. Change ``costs``, ``privacy``, ``suppressions`` or ``trials`` in the subclass to
    try others.
    """

    costs: Sequence[str | Cost] = (*COSTS, UnlistedCost())
    privacy: Sequence[str | PrivacyModel] = (*PRIVACY, UnlistedModel())
    suppressions: Sequence[str | Suppression] = (*SUPPRESSIONS, UnlistedSuppression())
    trials: int = TRIALS

    def problems(self, solver: Solver) -> Iterator[Problem]:
        """Yield the problems that are tried, which the solver takes.

        A solver that is made for a cost gets problems of that cost, under all examples of its schemes.
        """
        kinds = [kind for kind in self.suppressions if solver.applies(SUPPRESSION.make(kind))]
        schemes, own = sorted(solver.schemes), [c for c in COST_FAMILY.members().values() if c.solver == solver.name]
        if own:
            schemes = [form for name in schemes for form in SCHEMES.members()[name].examples]
        costs = [cost.name for cost in own] or self.costs
        combinations = list(itertools.product(self.privacy, costs, kinds, schemes))
        found = 0
        for seed in range(10 * self.trials):
            rng = np.random.default_rng(seed)
            model, cost, kind, scheme = combinations[int(rng.integers(len(combinations)))]
            rows, leaves = int(rng.integers(2, 9)), int(rng.integers(2, 4))
            split_by_sensitive = not SCHEMES.make(scheme).is_global
            table = random_table(
                rng,
                rows=rows,
                attributes=int(rng.integers(1, 3)),
                leaves=leaves,
                split_by_sensitive=split_by_sensitive,
                missing=0.4 * (seed % 2),
            )
            try:
                problem = Problem.build(table, privacy=model, cost=cost, suppression=kind, scheme=scheme)
                choose_solver(problem, solver)
            except (UsageError, InfeasibleError):
                continue
            found += 1
            yield problem
            if found == self.trials:
                return

    def solved(self, solver: Solver) -> Iterator[tuple[Problem, Solution]]:
        """Return the problems the solver takes, with its solutions; each is solved once for all tests."""
        key = (type(self), solver)
        _SOLVED[key], solved = itertools.tee(_SOLVED.get(key) or self._solve(solver))
        return solved

    def _solve(self, solver: Solver) -> Iterator[tuple[Problem, Solution]]:
        found = 0
        for problem in self.problems(solver):
            try:
                solution = solver.solve(problem, Budget(seed=1))
            except (UsageError, InterruptedRun, NothingFoundError):
                continue  # some reasons to refuse depend on the whole problem, and a heuristic may find nothing
            found += 1
            yield problem, solution
        assert found, "the solver takes none of the problems"

    @staticmethod
    def every_recoding(problem: Problem) -> Iterator[Classes]:
        """Yield the classes of every recoding of a problem; under local ones of every full-domain one."""
        table = problem.table
        if all(scheme.name == "full-domain" or not scheme.is_global for scheme in problem.schemes):
            ranges = [range(low, high + 1) for low, high in zip(problem.lowest, problem.highest, strict=True)]
            for levels in itertools.product(*ranges):
                yield classes_of(table, levels, problem.cost)
            return
        each = [
            [_blocks(partition) for partition in scheme.partitions(attribute)]
            for attribute, scheme in zip(table.attributes, problem.schemes, strict=True)
        ]
        for blocks in itertools.product(*each):
            yield classes_by_blocks(table, blocks, problem.cost)

    @staticmethod
    def priced(problem: Problem, classes: Classes) -> PricedRecoding:
        """Return what a recoding costs and suppresses, from the definitions."""
        cost, kind, table = problem.cost, problem.suppression, problem.table
        done = kind.apply(classes, problem.privacy)
        suppressed = done.records == classes.sizes
        if not cost.additive:
            total = cost.total(replace(classes, sizes=classes.sizes - done.records), ~suppressed)
        elif kind.hides_values:
            penalty = cost.value_penalty(table) or 0.0
            total = float(cost.published(classes).sum() + penalty * done.values.sum())
        elif problem.divided is not None and done.removed is not None:
            total = float(
                np.where(
                    suppressed, cost.suppressed(classes), cost.partly(classes, problem.divided, done.removed)
                ).sum()
            )
        else:
            total = cost.total(classes, done.records == 0)
        rows = int(done.records.sum())
        allowed = bool(done.feasible.all()) and rows <= problem.limit and problem.holds(classes.sizes[~suppressed])
        return PricedRecoding(total if allowed else np.inf, suppressed, rows, int(done.values.sum()))

    @staticmethod
    def comparable(problem: Problem) -> bool:
        """Return whether a bound holds for every full-domain recoding; NCP means something else under ``local``."""
        return problem.cost.name != "NCP" or all(scheme.is_global for scheme in problem.schemes)

    def best(self, problem: Problem) -> float:
        """Return the lowest cost of all recodings, or infinity."""
        return min((self.priced(problem, classes).cost for classes in self.every_recoding(problem)), default=np.inf)

    def test_text_form_reads_back(self, solver: Solver) -> None:
        """The text form makes an equal solver, and all options have defaults."""
        if solver.name in SOLVERS.members():
            assert SOLVERS.make(solver.text) == solver, solver.text
        name, args, kwargs = parse_text(solver.text)
        assert name == solver.name, solver.text
        assert type(solver)(*args, **kwargs) == solver, solver.text
        assert type(solver)().name == solver.name

    def test_what_it_returns_is_valid(self, solver: Solver) -> None:
        """The recoding keeps the promises, is allowed by its scheme, and costs and suppresses what it says."""
        for problem, solution in self.solved(solver):
            if solution.status == "infeasible":
                continue
            if solution.groups is not None:
                self._check_groups(problem, solution)
            else:
                self._check_blocks(problem, solution)

    def _check_blocks(self, problem: Problem, solution: Solution) -> None:
        table = problem.table
        assert len(solution.blocks) == len(table.attributes), "every attribute needs its blocks"
        for attribute, scheme, block in zip(table.attributes, problem.schemes, solution.blocks, strict=True):
            assert scheme.allows(attribute, _partition(block)), f"the scheme {scheme.name} does not allow the blocks"
        if solution.levels is not None:
            classes = classes_of(table, solution.levels, problem.cost)
            for attribute, level, block in zip(table.attributes, solution.levels, solution.blocks, strict=True):
                assert np.array_equal(attribute.ancestors[level], block), "levels and blocks differ"
        else:
            classes = classes_by_blocks(table, solution.blocks, problem.cost)
        priced = self.priced(problem, classes)
        assert np.isfinite(priced.cost), "the recoding is not allowed"
        assert np.isclose(priced.cost, solution.cost, rtol=SLACK, atol=SLACK), "the cost is not that of the recoding"
        assert priced.rows == solution.suppressed_rows <= problem.limit, "the suppressed rows are off"
        assert priced.values == solution.suppressed_values, "the suppressed values are off"
        assert np.array_equal(solution.suppressed, priced.suppressed[_class_of(table, solution.blocks)]), (
            "suppressed is off"
        )
        assert solution.classes == int((~priced.suppressed).sum()), "the number of classes is off"

    def _check_groups(self, problem: Problem, solution: Solution) -> None:
        table, groups = problem.table, solution.groups
        assert groups is not None
        assert (groups.count > 0).all(), "a share of no rows"
        rows = np.bincount(groups.tuple, weights=groups.count, minlength=table.tuples)
        assert np.array_equal(rows, table.weights), "not every row is in one group"
        kept = groups.group >= 0
        removed = int(groups.count[~kept].sum())
        assert removed == solution.suppressed_rows <= problem.limit, "the suppressed rows are off"
        if not kept.any():
            return
        count = int(groups.group.max()) + 1
        sizes = np.bincount(groups.group[kept], weights=groups.count[kept], minlength=count).astype(np.int64)
        secret = table.sensitive[SENSITIVE]
        alone = np.diff(secret.offsets) == 1  # tuples are split by it; rows without a known value have none
        value = np.full(table.tuples, secret.cardinality)
        value[alone] = secret.values
        counts = np.zeros((count, secret.cardinality + 1), dtype=np.int64)
        np.add.at(counts, (groups.group[kept], value[groups.tuple[kept]]), groups.count[kept])
        counts = counts[:, :-1]
        classes = Classes(table, sizes, sensitive={SENSITIVE: counts})
        if problem.suppression.hides_values:
            done = problem.suppression.apply(classes, problem.privacy)
            assert done.feasible.all(), "a group cannot be mended"
            assert int(done.values.sum()) == solution.suppressed_values, "the hidden values are off"
        else:
            assert problem.ok(classes).all(), "a group is not ok"
        assert problem.holds(sizes), "the whole table is not ok"
        assert np.isfinite(solution.cost), "a release has a cost"

    def test_the_bound_holds(self, solver: Solver) -> None:
        """No recoding costs less than the lower bound, and what is called optimal or infeasible is."""
        for problem, solution in self.solved(solver):
            best = self.best(problem)
            slack = SLACK * (1 + abs(best)) if np.isfinite(best) else 0.0
            assert solution.lower_bound <= solution.cost + slack or solution.status == "infeasible", "bound above cost"
            if self.comparable(problem):
                assert solution.lower_bound <= best + slack, "a recoding costs less than the lower bound"
            if solution.status == "infeasible":
                assert not np.isfinite(best), "there is a recoding after all"
            elif all(scheme.is_global for scheme in problem.schemes):
                assert solution.cost >= best - slack, "the cost is below the best there is"
                if solution.status == "optimal":
                    assert solution.cost <= best + slack, "there is a better recoding"
                    assert solution.gap <= SLACK, "an optimal solution has no gap"

    def test_an_exact_solver_finishes(self, solver: Solver) -> None:
        """Given time, a solver that says it is exact proves what it returns."""
        if solver.exact:
            for _, solution in self.solved(solver):
                assert solution.status in ("optimal", "infeasible"), "it did not prove its solution"

    def test_stopped_at_once(self, solver: Solver) -> None:
        """Stopped before it begins, it returns a valid solution with a valid bound, or raises NothingFoundError."""
        for problem in itertools.islice(self.problems(solver), 0, None, 7):
            budget = Budget(seed=1)
            budget.stop.set()
            try:
                solution = solver.solve(problem, budget)
            except (InterruptedRun, NothingFoundError, UsageError):
                continue
            best = self.best(problem)
            if self.comparable(problem) and np.isfinite(best):
                assert solution.lower_bound <= best + SLACK * (1 + abs(best)), "the bound is off"
            if solution.status != "infeasible" and solution.groups is None:
                self._check_blocks(problem, solution)

    def test_same_seed_same_solution(self, solver: Solver) -> None:
        """The same problem and seed give the same solution, and nothing given is changed."""
        for problem in itertools.islice(self.problems(solver), 0, None, 5):
            before = problem.table.codes.copy(), problem.table.weights.copy()
            try:
                first, second = (solver.solve(replace(problem), Budget(seed=3)) for _ in range(2))
            except DiscreetError:
                continue
            assert (first.status, first.cost, first.lower_bound) == (second.status, second.cost, second.lower_bound)
            assert all(np.array_equal(a, b) for a, b in zip(first.blocks, second.blocks, strict=True))
            assert np.array_equal(first.suppressed, second.suppressed), "the same seed suppresses other rows"
            assert np.array_equal(before[0], problem.table.codes), "the solver changed its input"
            assert np.array_equal(before[1], problem.table.weights), "the solver changed its input"


def _blocks(partition: Sequence[Sequence[int]]) -> IntArray:
    blocks = np.zeros(sum(map(len, partition)), dtype=np.int64)
    for number, leaves in enumerate(partition):
        blocks[list(leaves)] = number
    return blocks


def _partition(blocks: IntArray) -> tuple[tuple[int, ...], ...]:
    """The blocks as sets of leaves, in the order of their first leaves."""
    found: dict[int, list[int]] = {}
    for leaf, block in enumerate(blocks.tolist()):
        found.setdefault(block, []).append(leaf)
    return tuple(tuple(leaves) for leaves in found.values())


def _class_of(table: CountTable, blocks: Sequence[IntArray]) -> IntArray:
    released = np.array([block[codes] for block, codes in zip(blocks, table.codes, strict=True)])
    return np.asarray(np.unique(released, axis=1, return_inverse=True)[1].reshape(-1))
