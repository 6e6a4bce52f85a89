"""What the solver `partitions` says and refuses, what a user may bring, and tables of unusual shape."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest

from cases import evaluate_blocks
from discreet.counts import CodedAttribute, CountTable, Histogram
from discreet.errors import InterruptedRun, UnsupportedCombinationError, UsageError
from discreet.problem import Problem, Separable
from discreet.problem.costs import Cost
from discreet.problem.privacy import PrivacyModel
from discreet.problem.schemes import Scheme
from discreet.solve import SOLVERS, Budget, choose_solver, solve
from discreet.solve.lattice.solver import LatticeSolver
from discreet.solve.partitions import runs as _runs
from discreet.solve.partitions.search import PartitionSearch
from discreet.solve.partitions.solver import PartitionsSolver
from discreet.solve.published.li_li import search as _li_li_search
from exhaustive import as_blocks
from tables import random_sample

NAMES = ("full-domain", "subtree", "guided-ordered", "guided-set", "ordered", "set")


def problem_of(seed, **parts):
    sample = random_sample(seed, rows=(40, 40), attributes=(3, 3), leaves=(5, 5), height=(2, 2), values=(4, 4), spare=0)
    return Problem.build(
        sample.counts, **{"privacy": "k(3)", "suppression": "class-records", "scheme": "ordered", **parts}
    )


def table_of(columns, leaves, weights=None, sensitive=None):
    """A table of attributes with flat hierarchies."""
    codes = np.asarray(columns, dtype=np.int32)
    rows = np.ones(codes.shape[1], dtype=np.int64) if weights is None else np.asarray(weights, dtype=np.int64)
    attributes = tuple(
        CodedAttribute(
            f"q{i}",
            np.array([range(count), [0] * count], dtype=np.int32),
            np.bincount(column, weights=rows, minlength=count).astype(np.int64),
        )
        for i, (column, count) in enumerate(zip(codes, leaves, strict=True))
    )
    histograms = {}
    if sensitive is not None:
        values = np.asarray(sensitive)
        names = tuple(f"s{v}" for v in range(values.max() + 1))
        histograms["s"] = Histogram("s", len(names), np.arange(values.size + 1), values, rows, None, names)
    return CountTable(attributes, codes, rows, histograms)


def check_valid(problem, found):
    again = evaluate_blocks(problem, found.blocks)
    assert np.isfinite(again.cost)
    assert found.cost == pytest.approx(again.cost, rel=1e-12)
    assert found.suppressed_rows == again.suppressed_rows <= problem.limit
    assert 0 <= found.lower_bound <= found.cost


@pytest.fixture(autouse=True)
def few_seeds(monkeypatch):
    monkeypatch.setattr(_li_li_search, "_SEEDS", 5)


# --- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "partitions(direction=sideways)",
        "partitions(direction=3)",
        "partitions(bounds=none)",
        "partitions(seeding=maybe)",
        "partitions(useful=2)",
        "partitions(bounds=paper, node_order=no)",
    ],
)
def test_options_that_make_no_sense(text):
    with pytest.raises(UsageError, match="of partitions") as caught:
        SOLVERS.make(text)
    assert caught.value.message.count(".") == 1


@pytest.mark.parametrize(
    "name", ["node_pruning", "useless", "useful", "seeding", "modified_bfs", "node_order", "applicator_order"]
)
def test_techniques_belong_to_the_published_search(name):
    with pytest.raises(UsageError, match=f"{name} is a technique .* bounds=paper"):
        SOLVERS.make(f"partitions({name}=false)")
    assert not getattr(SOLVERS.make(f"partitions(bounds=paper, {name}=false)"), name)


def test_it_is_chosen_where_no_other_fits():
    for scheme in ("ordered", "guided-ordered", "set", "guided-set", {"q0": "set", "q1": "subtree", "q2": "ordered"}):
        for kind in ("none", "class-records", "budget(0.1)"):
            assert choose_solver(problem_of(1, scheme=scheme, suppression=kind)).name == "partitions"


@pytest.mark.parametrize("kind", ["violating-records", "class-values", "violating-values"])
def test_suppression_it_cannot_apply(kind):
    problem = problem_of(1, privacy="l+(0.5, s0)", cost="LM", suppression=kind)
    with pytest.raises(UnsupportedCombinationError, match="class-records") as caught:
        choose_solver(problem, "partitions")
    assert kind in " ".join(caught.value.parts)
    assert choose_solver(problem).name == "general"


@pytest.mark.parametrize("cost", ["NCP", "ambiguity", "C_AVG"])
def test_costs_that_do_not_say_what_a_block_costs(cost):
    with pytest.raises(UnsupportedCombinationError, match="choose LM, DM, HDM, CM or entropy"):
        PartitionsSolver().solve(problem_of(1, cost=cost), Budget())


def test_more_values_than_runs_are_searched_for(monkeypatch):
    monkeypatch.setattr(_runs, "MOST_ITEMS", 4)
    with pytest.raises(UsageError, match="'q0' has 5; give it a hierarchy") as caught:
        PartitionsSolver().solve(problem_of(1), Budget())
    assert caught.value.column == "q0"


# --- what a user may bring --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EvenSize(PrivacyModel):
    """Classes of an even number of rows: neither more rows nor a union with other classes keep it for sure."""

    name = "even-size"

    def ok(self, classes):
        return classes.sizes % 2 == 0

    def reached(self, groups):
        return float((groups.sizes % 2).max())

    def satisfied_by(self, reached):
        return reached == 0


@dataclass(frozen=True)
class NotAlone(PrivacyModel):
    """The first sensitive value never makes up a whole class."""

    name = "not-alone"
    looks_at_sensitive = True
    attribute: str | None = None

    def ok(self, classes):
        return classes.sensitive[self.attribute][:, 0] < classes.sizes

    def reached(self, groups):
        return 0.0

    def satisfied_by(self, reached):
        return True


@dataclass(frozen=True)
class PerClass(Cost):
    """Each class costs the same."""

    name = "per-class"

    def published(self, classes):
        return np.ones(len(classes))

    def suppressed(self, classes):
        return classes.sizes.astype(np.float64)

    def worst(self, table):
        return float(table.n)


@dataclass(frozen=True)
class Joined(Cost):
    """What is not alone costs 1 for each attribute, what is suppressed 3 for each."""

    name = "joined"
    needs = frozenset({"block_leaves"})
    superadditive = True

    def published(self, classes):
        return classes.sizes * (classes.block_leaves > 1).sum(axis=1).astype(np.float64)

    def suppressed(self, classes):
        return 3.0 * len(classes.table.attributes) * classes.sizes

    def worst(self, table):
        return 3.0 * len(table.attributes) * table.n

    def separable(self, table):
        ones = [np.ones(a.leaves) for a in table.attributes]
        rate = [[(np.bincount(level) > 1).astype(float) for level in a.ancestors] for a in table.attributes]
        return Separable(
            rate,
            ones,
            [0 * each for each in ones],
            [3 * each for each in ones],
            lambda i, leaves, rows: 1.0 * (leaves > 1),
        )


@pytest.mark.parametrize("kind", ["none", "class-records", "budget(3)"])
@pytest.mark.parametrize("scheme", NAMES)
def test_own_models_and_costs(scheme, kind):
    """The published search judges by plain arrays, so that both must agree."""
    for seed in range(3):
        sample = random_sample(seed, rows=(8, 14), attributes=(1, 2), leaves=(2, 4), values=(2, 3), numeric=0)
        for model in (EvenSize(), NotAlone("s0")):
            for cost in ("DM", Joined()):
                problem = Problem.build(
                    sample.counts, privacy=[model, "k(2)"], cost=cost, suppression=kind, scheme=scheme
                )
                found = PartitionsSolver().solve(problem, Budget())
                again = PartitionsSolver(bounds="paper").solve(problem, Budget(seed=1))
                assert found.status == again.status, (seed, model, cost)
                assert found.cost == pytest.approx(again.cost), (seed, model, cost)


def test_an_own_cost_without_prices_of_blocks():
    with pytest.raises(UnsupportedCombinationError, match="the cost per-class"):
        PartitionsSolver().solve(problem_of(1, cost=PerClass()), Budget())


# --- limits, ties and shapes ------------------------------------------------------------------------------------------


def test_levels_between_limits():
    for seed in range(10):
        for kind in ("none", "class-records"):
            problem = problem_of(
                seed,
                scheme="full-domain",
                suppression=kind,
                min_levels={"q0": 1, "q2": 1},
                max_levels={"q1": 1, "q2": 1},
            )
            found = PartitionsSolver().solve(problem, Budget())
            again = LatticeSolver().solve(problem, Budget())
            assert (found.status, found.cost) == (again.status, pytest.approx(again.cost))
            if found.status == "optimal":
                assert found.levels is not None
                assert all(
                    low <= level <= high
                    for low, level, high in zip(problem.lowest, found.levels, problem.highest, strict=True)
                )


@pytest.mark.parametrize("scheme", NAMES)
@pytest.mark.parametrize("cost", ["DM", "HDM", "LM", "entropy"])
def test_nothing_to_do(scheme, cost):
    """With k of 1 the data stays as it is, and costs nothing beside what every row costs."""
    problem = problem_of(2, privacy="k(1)", cost=cost, scheme=scheme, suppression="none")
    found = PartitionsSolver().solve(problem, Budget())
    assert found.status == "optimal"
    assert found.gap == 0
    assert [int(block.max()) + 1 for block in found.blocks] == [5, 5, 5]
    assert found.cost == pytest.approx((problem.table.weights**2).sum() if cost == "DM" else 0.0, abs=1e-9)


@pytest.mark.parametrize("scheme", NAMES)
@pytest.mark.parametrize("kind", ["none", "class-records"])
def test_hardly_anything(scheme, kind):
    """One row, one value, one column, or a column of which only one value occurs."""
    for columns, leaves in (([[0]], [1]), ([[1]], [3]), ([[0, 1], [0, 0]], [2, 1]), ([[0, 1], [2, 2]], [2, 3])):
        problem = Problem.build(table_of(columns, leaves), privacy="k(1)", suppression=kind, scheme=scheme)
        found = PartitionsSolver().solve(problem, Budget())
        assert (found.status, found.cost, found.suppressed_rows) == ("optimal", 0.0, 0)


@pytest.mark.parametrize("cost", ["DM", "LM"])
def test_many_sets_that_cost_the_same(cost):
    """Nine values of two columns that always come together: more than two thousand ways to pair them cost the same."""
    table = table_of([range(9), range(9)], [9, 9])
    problem = Problem.build(table, privacy="k(2)", cost=cost, scheme="set")
    found = PartitionsSolver().solve(problem, Budget(time_limit=600))
    assert found.status == "optimal"
    assert found.cost == pytest.approx({"DM": 3 * 4 + 9, "LM": 2 * (6 * 1 + 3 * 2) / 8}[cost])


def test_rows_by_the_million():
    """A common row a million times changes what rare rows do to no digit that matters."""
    rng = np.random.default_rng(1)
    for scheme in ("ordered", "set"):
        for cost in ("LM", "HDM", "DM", "entropy"):
            columns = np.unique(rng.integers(0, 5, (2, 14)), axis=1)
            weights = np.where(rng.random(columns.shape[1]) < 0.4, 10**6 + rng.integers(0, 9, columns.shape[1]), 1)
            for kind in ("none", "class-records"):
                table = table_of(columns, [5, 5], weights)
                problem = Problem.build(table, privacy="k(3)", cost=cost, suppression=kind, scheme=scheme)
                found = PartitionsSolver().solve(problem, Budget())
                again = PartitionsSolver(bounds="paper").solve(problem, Budget(seed=1))
                assert (found.status, again.status) == ("optimal", "optimal")
                assert found.cost == pytest.approx(again.cost, rel=1e-9), (scheme, cost, kind)


@pytest.mark.parametrize(("leaves", "attributes"), [(10, 20), (8, 23), (2, 66)])
@pytest.mark.parametrize("scheme", ["ordered", "subtree"])
def test_more_combinations_than_numbers(leaves, attributes, scheme):
    """Rows that differ in the last column only stay apart, though all combinations are more than 2 to the 64."""
    columns = np.tile(np.repeat(np.arange(leaves), 2), (attributes, 1))
    columns[-1] = np.arange(2 * leaves) % leaves
    problem = Problem.build(table_of(columns, [leaves] * attributes), privacy="k(2)", cost="LM", scheme=scheme)
    found = PartitionsSolver().solve(problem, Budget(time_limit=3))
    check_valid(problem, found)
    assert found.cost >= 2.0


@pytest.mark.parametrize("kind", ["none", "class-records"])
@pytest.mark.parametrize("cost", ["DM", "HDM", "LM"])
def test_a_short_time_for_many_attributes(cost, kind):
    rng = np.random.default_rng(5)
    columns = np.unique((rng.beta(0.5, 3.0, (20, 400)) * 10).astype(int), axis=1)
    problem = Problem.build(table_of(columns, [10] * 20), privacy="k(3)", cost=cost, suppression=kind, scheme="ordered")
    found = PartitionsSolver().solve(problem, Budget(time_limit=0.2))
    check_valid(problem, found)
    general = evaluate_blocks(problem, [np.zeros(10, dtype=np.int64)] * 20)
    assert found.cost <= general.cost


# --- stopping ---------------------------------------------------------------------------------------------------------


def test_stopped_at_once():
    budget = Budget()
    budget.stop.set()
    problem = problem_of(3)
    found = PartitionsSolver().solve(problem, budget)
    check_valid(problem, found)
    assert found.status in ("feasible", "optimal")
    assert 0 <= found.gap <= 1


def test_stopped_before_anything_was_found(monkeypatch):
    """That nothing was found so far is no proof that there is nothing."""

    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(PartitionSearch, "_find_incumbent", interrupt)
    with pytest.raises(InterruptedRun, match="No release"):
        PartitionsSolver().solve(problem_of(3), Budget())


def test_interrupted():
    problem, told = problem_of(3, cost="DM", scheme="set"), []

    def interrupt(progress):
        told.append(progress)
        if len(told) == 1:
            raise KeyboardInterrupt

    found = PartitionsSolver().solve(problem, Budget(), interrupt)
    check_valid(problem, found)
    assert len(told) == 2


@pytest.mark.parametrize("scheme", NAMES)
def test_nothing_is_valid(scheme):
    """It is proven, and where more rows can only help it is said how many have to go."""
    table = table_of([range(5), [0, 0, 1, 1, 1]], [5, 2])
    found = PartitionsSolver().solve(Problem.build(table, privacy=EvenSize(), scheme=scheme), Budget())
    assert (found.status, found.cost, found.lower_bound) == ("infeasible", np.inf, np.inf)
    assert found.smallest_budget is None
    assert not found.blocks


@pytest.mark.parametrize(("kind", "fewest"), [("none", 3), ("budget(2)", 3), ("budget(3)", None)])
def test_rows_that_have_to_go(kind, fewest):
    table = table_of([[0, 1, 2, 3]], [4], [1, 1, 1, 3])
    problem = Problem.build(table, privacy="k(3)", scheme="full-domain", suppression=kind, max_levels={"q0": 0})
    found = PartitionsSolver().solve(problem, Budget())
    assert found.status == ("optimal" if fewest is None else "infeasible")
    assert found.smallest_budget == fewest


def test_progress_is_told():
    told = []
    found = PartitionsSolver().solve(problem_of(4, cost="DM", scheme="set"), Budget(), told.append)
    assert told[-1].best == pytest.approx(found.cost)
    assert told[-1].bound == pytest.approx(found.cost)
    assert told[-1].examined == found.stats["examined"]


def test_limits_that_no_runs_keep():
    """Where nodes are no ranges of values, a limit may leave no partition into ranges."""
    plain = table_of([[0, 1, 2], [0, 0, 0]], (3, 1))
    crossed = CodedAttribute("q0", np.array([[0, 1, 2], [0, 1, 0], [0, 0, 0]], dtype=np.int32), np.ones(3, np.int64))
    table = replace(plain, attributes=(crossed, plain.attributes[1]))
    parts = {"privacy": "k(1)", "min_levels": {"q0": 1}, "max_levels": {"q0": 1}}
    with pytest.raises(UnsupportedCombinationError, match="limits of its level"):
        solve(Problem.build(table, scheme="ordered", **parts))
    assert solve(Problem.build(table, scheme="set", **parts)).blocks[0].tolist() == [0, 1, 0]


@pytest.mark.parametrize("cost", ["HDM", "LM", "DM"])
@pytest.mark.parametrize("kind", ["none", "class-records"])
@pytest.mark.parametrize("scheme", ["set", "guided-set"])
def test_many_values_under_sets(cost, kind, scheme):
    """More than 16 values are not searched to the end: a release at least as good as runs, and a true bound."""
    rng = np.random.default_rng(5)
    codes = np.unique(np.stack([rng.integers(0, 20, 60), rng.integers(0, 3, 60)]), axis=1)
    table = table_of(codes, (20, 3), rng.integers(1, 4, codes.shape[1]))
    parts = {"privacy": "k(4)", "cost": cost, "suppression": kind}
    first = Problem.build(table, scheme={"q0": scheme, "q1": "set"}, **parts)
    found = PartitionsSolver().solve(first, Budget())
    check_valid(first, found)
    runs = PartitionsSolver().solve(Problem.build(table, scheme={"q0": "ordered", "q1": "set"}, **parts), Budget())
    assert runs.status == "optimal"
    assert found.cost <= runs.cost * (1 + 1e-12)
    again = PartitionsSolver().solve(first, Budget())
    assert (again.cost, again.lower_bound) == (found.cost, found.lower_bound)
    assert all((one == other).all() for one, other in zip(again.blocks, found.blocks, strict=True))
    few = Problem.build(table, scheme={"q0": "full-domain", "q1": "set"}, **parts)
    assert found.lower_bound <= PartitionsSolver().solve(few, Budget()).cost


def test_every_row_costs_at_least_a_class(monkeypatch):
    """Stopped at once, the bound is still what the smallest classes cost."""
    problem = problem_of(3, cost="DM", scheme="set")
    found = PartitionsSolver().solve(problem, Budget(time_limit=0))
    assert found.lower_bound >= 3 * problem.table.n * (1 - 1e-9)


@dataclass(frozen=True)
class Halves(Scheme):
    """A scheme of a user's own: the values as they are, in two halves, or all together."""

    name = "halves"
    uses_hierarchy = False

    def count(self, attribute):
        return len(set(self.partitions(attribute)))

    def partitions(self, attribute):
        every = tuple(range(attribute.leaves))
        middle = len(every) // 2
        yield from dict.fromkeys([tuple((leaf,) for leaf in every), (every[:middle], every[middle:]), (every,)])

    def allows(self, attribute, partition):
        return partition in set(self.partitions(attribute))


def test_a_scheme_of_ones_own():
    problem = problem_of(7, scheme={"q0": Halves(), "q1": "ordered", "q2": Halves()})
    found = solve(problem)
    check_valid(problem, found)
    choices = [
        [as_blocks(partition) for partition in scheme.partitions(attribute)]
        for scheme, attribute in zip(problem.schemes, problem.table.attributes, strict=True)
    ]
    costs = [evaluate_blocks(problem, blocks).cost for blocks in itertools.product(*choices)]
    assert (found.status, found.cost) == ("optimal", pytest.approx(min(costs), rel=1e-12))
