"""Microaggregation by squared error: the parts of the search, and releases from end to end."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.solve import Budget
from discreet.solve.microaggregation.kernels.starts import cut_order, mdav_groups
from discreet.solve.microaggregation.kernels.tree import outside_in_groups
from discreet.solve.microaggregation.rows import find_near, group_errors, make_tree
from discreet.solve.microaggregation.search import univariate_groups
from plain_kernels import plainly

MEANS = {"cost": "SSE", "scheme": "local(show=mean)", "seed": 1}


def numbers(n, m, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({f"x{i}": (rng.gamma(1, 100, n) * 10).round() for i in range(m)})


def errors(x, group):
    return sum(float(((x[group == g] - x[group == g].mean(axis=0)) ** 2).sum()) for g in np.unique(group))


@pytest.mark.parametrize(("n", "m", "wide"), [(5, 2, 4), (200, 1, 7), (300, 3, 12), (90, 9, 30)])
def test_nearest_rows(n, m, wide):
    x = np.random.default_rng(n).integers(0, 9, (n, m)).astype(float)
    away = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    np.fill_diagonal(away, np.inf)
    found = find_near(x, wide)
    assert np.allclose(found.away, np.sort(away, axis=1)[:, :wide])
    assert np.allclose(np.take_along_axis(away, found.row, axis=1), found.away)
    few = find_near(x, wide, Budget(), visits=2)
    for row in range(n):
        listed = few.row[row][few.row[row] >= 0]
        others = np.delete(away[row], listed)
        assert others.min(initial=np.inf) >= few.beyond[row], "a row that is not listed is nearer than promised"


@pytest.mark.parametrize("n", [0, 1])
def test_nobody_is_near_a_row_that_is_alone(n):
    found = find_near(np.zeros((n, 2)), 3, Budget())
    assert found.row.shape == (n, 0)
    assert found.beyond.tolist() == [np.inf] * n


def test_trees_hold_every_row_once():
    x = np.random.default_rng(1).normal(size=(1000, 3))
    for jitter in (0.0, 0.5):
        tree = make_tree(x, 64, jitter, np.array([7], dtype=np.uint64))
        assert sorted(tree.order.tolist()) == list(range(1000))
        leaves = range(tree.begin.size // 2, tree.begin.size)
        assert sum(int(tree.end[v] - tree.begin[v]) for v in leaves) == 1000


@pytest.mark.parametrize("gamma", [0.0, 0.2, 1.1])
@pytest.mark.parametrize(("n", "k"), [(2, 2), (3, 2), (7, 2), (29, 3), (60, 10), (64, 7)])
def test_sizes_of_starts(n, k, gamma):
    x = np.random.default_rng(n).normal(size=(n, 2))
    group = np.full(n, -1)
    count = mdav_groups(x, k, gamma, group)
    sizes = np.bincount(group)
    assert sizes.size == count
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    begins = np.zeros(n, dtype=np.int64)
    runs = np.diff([*begins[: cut_order(x, np.arange(n), k, begins)], n])
    assert runs.min() >= k
    assert runs.max() < 2 * k


def by_tree(x, k, visits=1 << 40):
    tree, group = make_tree(x), np.zeros(x.shape[0], dtype=np.int64)
    far = np.argsort(-(x**2).sum(axis=1), kind="stable")
    return outside_in_groups(x[tree.order], tree, far, k, visits, group), group


@pytest.mark.parametrize("visits", [1, 3, 1 << 40])
@pytest.mark.parametrize(("n", "k"), [(2, 2), (5, 2), (29, 3), (64, 7), (500, 4)])
def test_groups_from_the_outside_in(n, k, visits):
    for x in (np.random.default_rng(n).normal(size=(n, 3)), np.random.default_rng(k).integers(0, 2, (n, 2)) - 0.5):
        count, group = by_tree(x, k, visits)
        sizes = np.bincount(group)
        assert sizes.size == count
        assert sizes.min() >= k
        assert sizes.max() < 2 * k
        assert (sizes > k).sum() <= 1


def test_from_the_outside_in_is_the_plain_rule():
    for seed in range(20):
        x, k = np.random.default_rng(seed).normal(size=(70, 2)), 2 + seed % 4
        left, plain = list(np.argsort(-(x**2).sum(axis=1))), []
        while len(left) >= 2 * k:
            nearest = sorted(left, key=lambda row: ((x[row] - x[left[0]]) ** 2).sum())[:k]
            plain.append(set(nearest))
            left = [row for row in left if row not in nearest]
        group = by_tree(x, k)[1]
        assert [set(np.flatnonzero(group == g)) for g in range(group.max() + 1)] == [*plain, set(left)]


def test_many_rows_are_grouped_better_than_by_mdav():
    """Regions are searched one by one; borders between them, and rows far out, cost nothing."""
    n, k = 6000, 5
    for x in (
        np.exp(np.random.default_rng(1).normal(size=(n, 3))),
        np.random.default_rng(2).integers(0, 9, (n, 3)) * 1.0,
    ):
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        least = np.inf
        for gamma in (0.0, 0.2, 1.1):
            group = np.zeros(n, dtype=np.int64)
            mdav_groups(x, k, gamma, group)
            least = min(least, group_errors(x, group, np.ones(n, dtype=np.int64)).sum())
        frame = pl.DataFrame(x, schema=["a", "b", "c"])
        options = {**MEANS, "quasi_identifiers": frame.columns, "privacy": f"k({k})"}
        best = dc.anonymize(frame, solver="microaggregation(effort=low, bound=none)", **options)
        assert best.cost < least


def test_one_number_is_cut_where_it_has_gaps():
    x = np.array([[9.0], [1.0], [2.0], [1.5], [10.0], [30.0], [31.0]])
    assert len(set(univariate_groups(x, 2)[[1, 2, 3]])) == 1
    assert errors(x, univariate_groups(x, 2)) == pytest.approx(0.5 + 0.5 + 0.5)


def test_a_release_is_better_than_mdav_and_has_a_bound():
    frame = numbers(300, 4)
    options = {**MEANS, "quasi_identifiers": frame.columns, "privacy": "k(4)"}
    best, mdav = dc.anonymize(frame, **options), dc.anonymize(frame, solver="mdav", **options)
    assert best.cost < 0.95 * mdav.cost
    assert 0.5 * best.cost < best.lower_bound == pytest.approx(mdav.lower_bound)
    assert best.audit.passed
    assert best.normalized_cost == pytest.approx(best.stats["squared_error"])
    assert best.stats["sse_percent"] == pytest.approx(100 * best.normalized_cost)
    assert best.frame.group_by(frame.columns).len()["len"].min() >= 4


def test_the_cost_is_that_of_the_released_means():
    frame = numbers(60, 3)
    release = dc.anonymize(frame, quasi_identifiers=frame.columns, privacy="k(3)", order="keep", **MEANS)
    before, after = frame.to_numpy(), release.frame.select(frame.columns).to_numpy()
    assert release.cost == pytest.approx((((before - after) / before.std(axis=0)) ** 2).sum())


def test_dates_text_and_missing_values():
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "born": [dt.date(1950, 1, 1) + dt.timedelta(int(day)) for day in rng.integers(0, 20_000, 50)],
            "pay": [None if i % 9 == 0 else int(pay) for i, pay in enumerate(rng.integers(10, 99, 50))],
            "sex": ["f" if i % 3 else "m" for i in range(50)],
        }
    )
    release = dc.anonymize(frame, quasi_identifiers=frame.columns, privacy="k(5)", **MEANS)
    assert release.audit.passed
    assert release.frame["born"].dtype == pl.Date
    assert release.frame["pay"].dtype == pl.Float64
    assert set(release.frame["sex"]) <= {"f", "m"}


def test_many_equal_rows():
    frame = pl.DataFrame({"a": [1] * 500 + [5, 6, 7, 9], "b": [1] * 500 + [2, 2, 3, 9]})
    release = dc.anonymize(frame, quasi_identifiers=["a", "b"], privacy="k(3)", **MEANS)
    assert release.audit.passed
    assert release.frame.height == 504


def test_one_number_with_many_equal_rows_is_optimal():
    rng = np.random.default_rng(2)
    for k in (2, 3, 5):
        for _ in range(20):
            values = np.concatenate([np.repeat(rng.integers(0, 9, 3), 6 * k), rng.integers(0, 9, k + 3)]).astype(float)
            frame = pl.DataFrame({"a": values})
            release = dc.anonymize(frame, quasi_identifiers=["a"], privacy=f"k({k})", **MEANS)
            assert release.status == "optimal"
            x = (values - values.mean())[:, np.newaxis] / values.std()
            assert release.cost == pytest.approx(errors(x, univariate_groups(x, k)), abs=1e-9)


def test_what_does_not_fit():
    frame = numbers(20, 2)
    options = {"quasi_identifiers": frame.columns, "privacy": "k(2)", "cost": "SSE"}
    for scheme in ("local", "full-domain", "local(show=median)"):
        with pytest.raises(UnsupportedCombinationError, match=r"choose local\(show=mean\)"):
            dc.anonymize(frame, scheme=scheme, **options)
    names = pl.DataFrame({"name": [f"n{i}" for i in range(120)]})
    with pytest.raises(UsageError, match="'name' has more than 100 different ones"):
        dc.anonymize(names, **{**options, "quasi_identifiers": ["name"]}, scheme="local(show=mean)")


def test_stopped_at_once():
    frame = numbers(400, 3)
    release = dc.anonymize(frame, quasi_identifiers=frame.columns, privacy=["k(3)"], time_limit=1e-6, **MEANS)
    assert release.audit.passed
    assert 0 <= release.lower_bound <= release.cost


def test_groups_are_divided_anew_where_closeness_forbids_single_moves():
    """Moves and swaps of single rows alone end above 11 %."""
    ill = np.random.default_rng(4).choice(list("abcdef"), p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05], size=400)
    frame = numbers(400, 3).with_columns(s=pl.Series(ill))
    roles = {"quasi_identifiers": ["x0", "x1", "x2"], "sensitive": "s"}
    release = dc.anonymize(frame, privacy=["k(3)", "t(0.3, s, equal)"], **roles, **MEANS)
    assert release.audit.passed
    assert release.stats["sse_percent"] < 9


@pytest.mark.parametrize(
    ("k", "model", "x0", "x1", "s", "optimum"),
    [
        (3, "distinct-l(2, s)", [47, 3, 2, 0, 9, 9, 4, 2], [88, 1, 36, 7, 1, 89, 0, 70], "yzzzyyyy", 8.177939005),
        (3, "t(0.5, s, equal)", [68, 9, 0, 96, 97, 9, 71, 10], [2, 2, 2, 11, 4, 63, 3, 13], "yxzxyzzy", 7.336256842),
        (3, "distinct-l(2, s)", [4, 0, 1, 88, 8, 55, 0], [2, 0, 83, 63, 1, 1, 0], "xxzxzzy", 7.052383391),
    ],
)
def test_a_single_group_becomes_two(k, model, x0, x1, s, optimum):
    """No row alone can leave the group of all; the optima are those of all partitions."""
    frame = pl.DataFrame({"x0": x0, "x1": x1, "s": list(s)})
    roles = {"quasi_identifiers": ["x0", "x1"], "sensitive": "s", "suppression": "none"}
    release = dc.anonymize(frame, privacy=[f"k({k})", model], **roles, **MEANS)
    assert release.cost == pytest.approx(optimum)
    assert 0 <= release.lower_bound <= release.cost


def test_published_figures(data_folder):
    """MDAV on Tarragona is that of the literature, and annealing is well below it."""
    frame = pl.read_csv(data_folder / "sdcmicro" / "Tarragona.csv")
    options = {**MEANS, "quasi_identifiers": frame.columns, "privacy": "k(5)"}
    assert dc.anonymize(frame, solver="mdav", **options).stats["sse_percent"] == pytest.approx(22.46, abs=0.005)
    best = dc.anonymize(frame, **options)
    assert best.stats["sse_percent"] < 20.53
    assert best.gap < 0.13


def results():
    frame = numbers(20, 2).with_columns(s=pl.Series([str(i % 3) for i in range(20)]))
    roles = {
        "quasi_identifiers": ["x0", "x1"],
        "sensitive": "s",
        "solver": "microaggregation(effort=low, bound=nearest)",
    }
    found = [dc.anonymize(frame, privacy=models, **roles, **MEANS) for models in ("k(3)", ["k(2)", "distinct-l(2)"])]
    return [[release.cost, release.lower_bound] for release in found]


def test_kernels_as_plain_python_agree():
    assert np.allclose(plainly(__file__, "results"), results())
