"""Cell suppression against brute force: all subsets of cells of tiny tables, in both meanings of a hidden cell."""

import random
from collections import Counter

import numpy as np
import polars as pl
import pytest

from discreet.counts import CodedAttribute, CountTable
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem import SCHEMES, Problem
from discreet.solve import Budget, solve
from discreet.solve.cells.cover import CoverProgram, solve_cover
from discreet.solve.cells.greedy import cover_greedily
from discreet.solve.cells.matching import CellTable, cell_sets, shortfalls
from discreet.solve.cells.start import hide_everything, mend_each
from naive.cells import fewest_cells, hide_cells, matches, strict_sizes

OVEREDUCATED = [(0, 0), (0, 1), (0, 1), (0, 1), (0, 2), (0, 2)]
"""The table of sdcMicro's issue 354: gender and education of six people."""


def table_of(rows):
    """Return rows of small codes as a count table."""
    tuples, index = np.unique(np.array(rows), axis=0, return_inverse=True)
    weights = np.bincount(index.reshape(-1))
    attributes = []
    for i, column in enumerate(tuples.T):
        leaf = np.arange(int(column.max()) + 1)
        counts = np.bincount(column, weights, leaf.size).astype(np.int64)
        attributes.append(CodedAttribute(f"q{i}", np.stack([leaf, 0 * leaf]), counts))
    return CountTable(tuple(attributes), tuples.T.astype(np.int32), weights.astype(np.int64))


def released(problem, solution):
    """Return the rows that a solution shows; what is shown must be the original value."""
    found = []
    for t, group, count in zip(solution.groups.tuple, solution.groups.group, solution.groups.count, strict=True):
        row = []
        for i, cover in enumerate(solution.groups.covers):
            hidden = cover.first[group] > 0
            assert hidden or cover.second[group] == problem.table.codes[i, t]
            row.append("*" if hidden else int(cover.second[group]))
        found += [tuple(row)] * int(count)
    return found


def random_rows(seed):
    """Return a tiny table, k and the price of each column."""
    draw = random.Random(seed)
    columns = draw.randint(1, 3)
    rows = draw.randint(2, min(6, 12 // columns))
    table = [tuple(draw.randrange(draw.choice([2, 3])) for _ in range(columns)) for _ in range(rows)]
    prices = [draw.choice([1, 1, 2, 3, 0.7]) for _ in range(columns)] if seed % 3 == 0 else [1] * columns
    return table, draw.randint(2, min(rows, 4)), prices


def build(rows, k, prices, meaning, scheme="cells", **options):
    weights = ", ".join(f"q{i}: {price}" for i, price in enumerate(prices))
    return Problem.build(
        table_of(rows), privacy=f"k({k}{meaning})", cost=f"LM(weights={{{weights}}})", scheme=scheme, **options
    )


@pytest.mark.parametrize(("meaning", "count"), [("", strict_sizes), (", unknown=matches", matches)])
@pytest.mark.parametrize("seed", range(12))
def test_cost_and_bound_against_all_subsets_of_cells(seed, meaning, count):
    rows, k, prices = random_rows(seed)
    problem = build(rows, k, prices, meaning)
    solution = solve(problem, budget=Budget(seed=1))
    shown = released(problem, solution)
    assert min(count(shown)) >= k
    paid = sum(prices[j] for row in shown for j, value in enumerate(row) if value == "*")
    assert solution.cost == pytest.approx(paid)
    assert solution.stats["hidden_cells"] == sum(row.count("*") for row in shown)
    best = fewest_cells(rows, k, prices, count)
    assert solution.lower_bound <= best + 1e-9 <= solution.cost + 2e-9
    if meaning:
        assert solution.status == "optimal"
        assert solution.cost == pytest.approx(best)


@pytest.mark.parametrize("seed", range(6))
def test_most_cells_of_a_row(seed):
    rows, k, prices = random_rows(seed)
    problem = build(rows, k, prices, ", unknown=matches", "cells(most=1)")
    solution = solve(problem, budget=Budget(seed=1))

    def limited(shown):
        return [0] if any(row.count("*") > 1 for row in shown) else matches(shown)

    best = fewest_cells(rows, k, prices, limited)
    if best == float("inf"):
        assert solution.status == "infeasible"
    else:
        assert solution.status == "optimal"
        assert solution.cost == pytest.approx(best)
        assert max(row.count("*") for row in released(problem, solution)) <= 1


def test_one_cell_where_sdcmicro_hides_three():
    solution = solve(build(OVEREDUCATED, 3, [1, 1], ", unknown=matches"))
    assert (solution.status, solution.cost, solution.lower_bound) == ("optimal", 1, 1)
    assert fewest_cells(OVEREDUCATED, 3, [1, 1], strict_sizes) == solve(build(OVEREDUCATED, 3, [1, 1], "")).cost == 3


def test_a_few_rows_that_hide_everything_match_all():
    """However many people are unique: (k - 1) rows are enough, and no fewer cells if the people are far apart."""
    rows = [(i, i, i) for i in range(40)]
    solution = solve(build(rows, 3, [1, 1, 1], ", unknown=matches"))
    assert (solution.status, solution.cost) == ("optimal", 6)


def test_columns_with_one_value_are_never_hidden():
    rows = [(0, i, i) for i in range(9)]
    problem = build(rows, 3, [1, 1, 1], ", unknown=matches")
    solution = solve(problem, budget=Budget(0.0))
    assert all(row[0] == 0 for row in released(problem, solution))
    alike = build([(0, 0)] * 3, 3, [1, 1], ", unknown=matches")
    assert solve(alike).cost == 0


def test_large_tables_are_solved_by_a_few_demands():
    draw = np.random.default_rng(1)
    rows = list(map(tuple, draw.integers(0, 12, (6000, 5)).tolist()))
    solution = solve(build(rows, 3, [1] * 5, ", unknown=matches"), budget=Budget(seed=1))
    assert 0 < solution.lower_bound <= solution.cost <= 10
    assert solution.status == "optimal"
    assert solution.stats["demands"] < 500


def test_many_columns_have_a_bound():
    draw = np.random.default_rng(2)
    rows = list(map(tuple, draw.integers(0, 3, (60, 14)).tolist()))
    solution = solve(build(rows, 2, [1] * 14, ", unknown=matches"), budget=Budget(seed=1))
    assert 0 < solution.lower_bound <= solution.cost <= 14


@pytest.mark.parametrize("seed", range(8))
def test_starts_are_valid_and_nobody_who_lacks_matches_is_overlooked(seed):
    rows, k, _ = random_rows(seed)
    counts = Counter(rows)
    tuples = sorted(counts)
    table = CellTable(np.array(tuples), np.array([counts[t] for t in tuples]), np.ones(len(tuples[0])), k)
    sets = cell_sets(table)
    for hidden in (
        hide_everything(table),
        mend_each(table, sets, np.inf, Budget()),
        cover_greedily(table, sets, Budget()),
    ):
        if hidden is not None:
            assert not any(map(len, shortfalls(table, hidden)))
            assert min(matches(shown(tuples, counts, hidden))) >= k
    draw = random.Random(seed)
    some = Counter({(draw.randrange(len(tuples)), int(draw.choice(sets.masks))): 1})
    lacking = min(matches(shown(tuples, counts, some))) < k
    assert lacking == any(map(len, shortfalls(table, some)))


def shown(tuples, counts, hidden):
    """Return the released rows."""
    rows, cells = [], set()
    for t, values in enumerate(tuples):
        first = len(rows)
        rows += [values] * counts[values]
        for (u, mask), number in hidden.items():
            for _ in range(number if u == t else 0):
                cells |= {(first, j) for j in range(len(values)) if mask >> j & 1}
                first += 1
    return hide_cells(rows, cells)


def test_bounds_of_programs_rise_with_their_demands():
    draw = np.random.default_rng(3)
    codes = np.unique(draw.integers(0, 4, (40, 3)), axis=0)
    table = CellTable(codes, np.ones(len(codes), dtype=np.int64), np.ones(3), 2)
    bounds = []
    for number in (2, 5, 10, len(codes)):
        demands = [(t, 0) for t in range(number)]
        bounds.append(solve_cover(CoverProgram(table, cell_sets(table), demands, range(number), True), Budget()).bound)
    assert bounds == sorted(bounds)
    assert bounds[-1] <= 3


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"scheme": "local"}, "choose the scheme cells"),
        ({"cost": "NCP"}, "choose LM"),
        ({"privacy": ["k(2, unknown=matches)", "k(2)"]}, "leave one of the two out"),
        ({"privacy": "k(2, unknown=missing)"}, "it is for audits"),
        ({"suppression": "class-values"}, "choose none"),
        ({"max_levels": {"q0": 0}}, "large weight"),
        ({"privacy": "k(2)", "scheme": "cells(most=1)"}, "leave most out"),
        ({"suppression": "class-records", "scheme": "cells(most=1)"}, "choose none"),
    ],
)
def test_what_does_not_go_with_matches_is_refused_in_one_sentence(options, says):
    with pytest.raises(UnsupportedCombinationError, match=says) as caught:
        Problem.build(table_of(OVEREDUCATED), **{"privacy": "k(2, unknown=matches)", "scheme": "cells", **options})
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(("text", "says"), [("cells(most=0)", "most of cells"), ("cells(2)", "")])
def test_text_forms_of_the_scheme(text, says):
    if says:
        with pytest.raises(UsageError, match=says):
            SCHEMES.make(text)
    else:
        assert SCHEMES.make(text).text == "cells(most=2)"


def test_budgets_suppress_no_record_where_cells_match():
    """A row that hides everything costs as much as a suppressed one, and helps others."""
    solution = solve(build(OVEREDUCATED, 3, [1, 1], ", unknown=matches", suppression="class-records"))
    assert (solution.cost, solution.suppressed_rows) == (1, 0)


def test_the_figures_of_testdata(data_folder):
    """The tables and keys of sdcMicro: 381 and 353 in classes were known before; 14 cells match everybody."""
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    codes = pl.read_csv(data_folder / "sdcmicro" / "testdata.csv").select(pl.col(keys).rank("dense") - 1).rows()
    strict = solve(build(codes, 3, [1] * 7, ""), budget=Budget(seed=1))
    assert 353 <= strict.lower_bound <= strict.cost <= 381
    matching = solve(build(codes, 3, [1] * 7, ", unknown=matches"), budget=Budget(seed=1))
    assert (matching.status, matching.cost, matching.lower_bound) == ("optimal", 14, 14)
    counts = Counter(codes)
    tuples = sorted(counts)
    table = CellTable(np.array(tuples), np.array([counts[t] for t in tuples]), np.ones(7), 3, most=2)
    hidden = cover_greedily(table, cell_sets(table), Budget())
    assert table.cost(hidden) <= 155
    assert min(matches_of_classes(shown(tuples, counts, hidden))) >= 3


@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_rounded_up_to_a_cost_there_can_be(seed):
    """With weights of 0.5 and 1.5 every cost is a multiple of a half, and so is the bound; none is too high."""
    rows, k, prices = random_rows(seed)
    halves = [0.5, 1.5, 1][: len(prices)]
    solution = solve(build(rows, k, halves, ""), budget=Budget(seed=1))
    assert (2 * solution.lower_bound).is_integer()
    assert (solution.status == "optimal") == (solution.lower_bound == solution.cost)
    assert solution.lower_bound <= fewest_cells(rows, k, halves, strict_sizes) + 1e-9


def matches_of_classes(rows):
    """Return how many rows match each distinct row."""
    counts = Counter(rows)
    return [
        sum(n for other, n in counts.items() if all("*" in (a, b) or a == b for a, b in zip(row, other, strict=True)))
        for row in counts
    ]
