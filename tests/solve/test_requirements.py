"""The compiled form of the privacy models says the same as the models themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.counts import CodedAttribute, CountTable, Histogram
from discreet.problem import Classes, Problem
from discreet.problem.privacy import PRIVACY
from discreet.problem.privacy.l_diversity import LDiversity
from discreet.solve._requirements import make_requirement
from discreet.solve.kernels.requirements import holds, tally

HISTOGRAMS = 250


def random_table(rng, columns):
    """A table with a tuple for each row, and sensitive columns of which some have values that never occur."""
    rows = int(rng.integers(30, 60))
    attribute = CodedAttribute(
        "q", np.array([np.arange(rows), np.zeros(rows)], dtype=np.int32), np.ones(rows, np.int64)
    )
    sensitive = {}
    for c in range(columns):
        size = int(rng.integers(3, 9))
        levels = [np.arange(size)]
        while levels[-1].max() > 0 and len(levels) < 4:
            below = levels[-1]
            parent = rng.integers(0, max(below.max(), 1), below.max() + 1)
            levels.append(np.unique(parent[below], return_inverse=True)[1])
        levels.append(np.zeros(size, dtype=np.int64))
        values = np.concatenate([np.arange(size - 1), rng.integers(0, size, rows - size + 1)])
        labels = tuple(f"v{v}" for v in range(size))
        sensitive[f"s{c}"] = Histogram(
            f"s{c}", size, np.arange(rows + 1), values, np.ones(rows, np.int64), np.array(levels), labels
        )
    return CountTable((attribute,), np.arange(rows, dtype=np.int32)[None], np.ones(rows, np.int64), sensitive)


def random_model(rng, column):
    """The text of a random model."""
    third, t = round(1 / 3, 15), rng.choice([0.0, 0.1, 0.25, 0.3, 0.5])
    return str(
        rng.choice(
            [
                f"distinct-l({rng.integers(1, 4)}, {column})",
                f"entropy-l({rng.choice([1, 1.5, 2, 3])}, {column})",
                f"recursive-cl({rng.choice([0.5, 1, 2, 3])}, {rng.integers(1, 4)}, {column})",
                f"l+({rng.choice([0.25, third, 0.5, 0.8])}, {column})",
                f"l+({{v0: 0.2, v1: 0.5, v2: 0}}, {column})",
                f"l+(0.3, {column}, by=frequency)",
                *(f"t({t}, {column}, {distance})" for distance in ("equal", "ordered", "hierarchical")),
            ]
        )
    )


def problem_of(table, models):
    """A problem with these models, also if the table as a whole breaks them."""
    privacy = tuple(PRIVACY.make(model).resolve(list(table.sensitive)) for model in models)
    return replace(Problem.build(table, privacy="k(1)", scheme="local"), privacy=privacy)


@pytest.mark.parametrize("seed", range(30))
def test_holds_says_what_the_models_say(seed):
    rng = np.random.default_rng(seed)
    columns = int(rng.integers(1, 4))
    table = random_table(rng, columns)
    for _ in range(12):
        models = [random_model(rng, f"s{rng.integers(0, columns)}") for _ in range(rng.integers(1, 3))]
        if rng.random() < 0.5:
            models.append(f"k({rng.integers(1, 8)})")
        problem = problem_of(table, models)
        requirement = make_requirement(problem)
        assert requirement.complete
        counts = []
        for name in table.sensitive:
            width = table.sensitive[name].cardinality
            few = rng.integers(0, rng.integers(1, 7), (HISTOGRAMS, width)) * (rng.random((HISTOGRAMS, width)) < 0.8)
            like = np.rint(table.sensitive[name].totals * rng.integers(1, 4, (HISTOGRAMS, 1)) / 2)
            counts.append(np.where(rng.random((HISTOGRAMS, 1)) < 0.7, few, like).astype(np.int64))
        # One column fills what the rows of the others leave open, so that all speak of the same rows.
        sizes = np.max([count.sum(axis=1) for count in counts], axis=0, initial=1)
        for count in counts:
            count[np.arange(HISTOGRAMS), rng.integers(0, count.shape[1], HISTOGRAMS)] += sizes - count.sum(axis=1)
        want = problem.ok(Classes(table, sizes, sensitive=dict(zip(table.sensitive, counts, strict=True))))
        seen = {model.attribute for model in problem.privacy if model.looks_at_sensitive}
        order = sorted(seen, key=lambda name: min(i for i, m in enumerate(models) if f" {name}" in m))
        whole = np.concatenate([counts[list(table.sensitive).index(name)] for name in order], axis=1)
        assert requirement.cells == whole.shape[1]
        got = [holds(requirement, int(size), histogram) for size, histogram in zip(sizes, whole, strict=True)]
        assert got == want.tolist(), models


def test_thresholds_are_met_exactly_and_both_answers_occur():
    table = random_table(np.random.default_rng(3), 1)
    width = table.sensitive["s0"].cardinality
    for model, counts, fine in (
        ("entropy-l(3)", [4, 4, 4], True),
        ("entropy-l(3)", [4, 4, 5], False),
        ("l+(0.3333333333333333)", [5, 5, 5], True),
        ("recursive-cl(2, 2)", [4, 1, 1], False),
        ("recursive-cl(2, 2)", [4, 2, 1], True),
        ("recursive-cl(1, 3)", [2, 2, 3], False),
        ("distinct-l(3)", [1, 0, 7], False),
    ):
        requirement = make_requirement(problem_of(table, [model]))
        histogram = np.array(counts + [0] * (width - 3), dtype=np.int64)
        assert bool(holds(requirement, int(histogram.sum()), histogram)) is fine, (model, counts)


def test_the_whole_table_is_close_to_itself_and_points_are_tallied():
    rng = np.random.default_rng(5)
    table = random_table(rng, 2)
    problem = Problem.build(
        table, privacy=["t(0, s0, hierarchical)", "t(0, s1)", "t(0, s1, ordered)", "k(3)"], scheme="local"
    )
    requirement = make_requirement(problem)
    histogram = np.zeros(requirement.cells, dtype=np.int64)
    for j in range(table.tuples):
        assert not holds(requirement, j, histogram)
        tally(requirement, j, int(table.weights[j]), histogram)
    assert histogram.tolist() == [*table.sensitive["s0"].totals, *table.sensitive["s1"].totals]
    assert holds(requirement, table.n, histogram)


def test_k_alone_needs_no_histogram():
    table = random_table(np.random.default_rng(0), 1)
    requirement = make_requirement(Problem.build(table, privacy=["k(3)", "k(5)"], scheme="local"))
    nothing = np.zeros(0, dtype=np.int64)
    assert requirement.cells == 0
    assert requirement.complete
    assert requirement.values.shape == (table.tuples, 0)
    assert [holds(requirement, size, nothing) for size in (4, 5)] == [False, True]


class _Stricter(LDiversity):
    """A user's own model, which needs another row."""

    def ok(self, classes):
        return super().ok(classes) & (classes.sizes > 4)


def test_what_has_no_compiled_form_is_said():
    table = random_table(np.random.default_rng(0), 1)
    problem = Problem.build(table, privacy=[_Stricter(2, "s0"), "distinct-l(2, s0)"], scheme="local")
    requirement = make_requirement(problem)
    assert not requirement.complete
    assert requirement.model.size == 1


def test_a_tuple_with_two_values_is_refused():
    table = random_table(np.random.default_rng(0), 1)
    secret = table.sensitive["s0"]
    offsets = secret.offsets[[0, *range(2, table.tuples + 1)]]
    merged = Histogram("s0", secret.cardinality, offsets, secret.values, secret.counts)
    shorter = CountTable(table.attributes, table.codes[:, 1:], table.weights[1:], {"s0": merged})
    with pytest.raises(AssertionError, match="one sensitive value"):
        make_requirement(Problem.build(shorter, privacy="distinct-l(2)", scheme="local"))
