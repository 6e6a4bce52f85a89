"""Any global recoding against its plain definition: every model, cost and suppression kind."""

from __future__ import annotations

import dataclasses
import itertools
import random

import numpy as np
import pytest

import naive
from cases import COSTS, KINDS, MODELS, built, evaluate_blocks, plain_cost, plain_kind, plain_models
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem import Problem
from discreet.runtime import integer_codes as _numbers
from discreet.solve import _class_arrays as class_arrays
from discreet.solve._class_arrays import Released
from discreet.solve._recoding import Recoder
from tables import count_table, random_sample

CASES = list(itertools.product(KINDS, COSTS))
WITHIN = {
    "violating-records": ["LM", "LM(penalty=l+)", "DM", "CM", "ambiguity"],
    "class-values": ["LM", "LM(penalty=l+)"],
    "violating-values": ["LM", "LM(penalty=l+)"],
}
"""Where classes lose a part, and must in many of the tables."""


def random_partition(rng, leaves):
    """A partition of the leaves into any sets, as the plain form has it and as block numbers."""
    numbers = [rng.randrange(rng.randint(1, len(leaves))) for _ in leaves]
    numbers = [sorted(set(numbers)).index(number) for number in numbers]
    blocks = {frozenset(x for x, n in zip(leaves, numbers, strict=True) if n == number) for number in numbers}
    return blocks, np.array(numbers)


def random_recoding(seed, sample):
    rng = random.Random(seed)
    pairs = [random_partition(rng, [row[0] for row in rows]) for rows in sample.naive.hierarchies.values()]
    return tuple(blocks for blocks, _ in pairs), [numbers for _, numbers in pairs]


def left_over(sample, found):
    """What the solution publishes, tuple by tuple: rows that stay, and their values and labels as far as known."""
    table = sample.counts
    keys = list(zip(*(block[codes] for block, codes in zip(found.blocks, table.codes, strict=True)), strict=True))
    joint = table.joint["s0"]
    classes = {}
    for j, key in enumerate(keys):
        if not found.suppressed[j]:
            cell = classes.setdefault(key, np.zeros((table.sensitive["s0"].cardinality, table.labels.cardinality), int))
            span = slice(joint.offsets[j], joint.offsets[j + 1])
            cell.reshape(-1)[joint.values[span]] += joint.counts[span]
    inside = found.inside
    if inside is not None:
        for e, j in enumerate(inside.example):
            cell, value, count = classes[keys[j]], inside.value[e], inside.count[e]
            assert 0 < count <= cell[value].sum()
            if inside.label is not None:
                cell[value, inside.label[e]] -= count
                assert cell[value, inside.label[e]] >= 0
            else:
                for _ in range(count):
                    cell[value, int(cell[value].argmax())] -= 1
    return list(classes.values())


@pytest.mark.parametrize(("kind", "cost"), CASES)
def test_equals_the_definition(kind, cost):
    rng = np.random.default_rng([CASES.index((kind, cost)), 5])
    torn = 0
    for seed in rng.integers(0, 1 << 30, size=250 if "v" in kind else 60):
        sample = random_sample(int(seed), rows=(1, 12), attributes=(1, 3), values=(2, 4))
        privacy = MODELS[str(rng.choice(list(MODELS)))](rng)
        problem = built(sample, privacy=privacy, cost=cost, suppression=kind, scheme="set")
        if problem is None:
            continue
        levels, blocks = random_recoding(int(seed), sample)
        models = plain_models(privacy, sample)
        name, options = plain_cost(cost, privacy)
        want = naive.suppress(sample.naive, levels, models, plain_kind(kind), problem.limit, name, "s0", **options)
        found = evaluate_blocks(problem, blocks)
        context = (int(seed), privacy, cost, kind)
        assert Recoder(problem).cost(Released.by_blocks(sample.counts, blocks)) == found.cost, context
        if want.cost is None:
            assert found.cost == np.inf, context
            continue
        assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), context
        assert (found.suppressed_rows, found.suppressed_values) == (want.rows, want.values), context
        torn += found.inside is not None
        left = left_over(sample, found)
        assert found.classes == len(left), context
        assert sum(cell.sum() for cell in left) == sample.counts.n - want.rows - want.values, context
        if kind == "violating-records":
            for cell in left:
                counts = {row[0]: n for row, n in zip(sample.sensitive["s0"], cell.sum(axis=1), strict=True) if n}
                assert naive.all_ok(models, counts), context
        if kind == "violating-records" and cost == "CM":
            wrong = sum(cell.sum() - cell.sum(axis=0).max() for cell in left)
            assert wrong + found.suppressed_rows == found.cost, context
    assert torn > 8 or kind not in WITHIN or cost not in WITHIN[kind]


def test_levels_are_the_recoding_of_their_blocks():
    for seed in range(40):
        sample = random_sample(seed, rows=(4, 12))
        rng = np.random.default_rng(seed)
        levels = [int(rng.integers(0, a.height + 1)) for a in sample.counts.attributes]
        for cost in ("LM", "precision", "HDM", "NCP"):
            problem = Problem.build(sample.counts, privacy="k(2)", cost=cost, suppression="class-records")
            found = Recoder(problem).evaluate(Released.by_levels(sample.counts, levels))
            model = naive.Model(lambda counts: naive.k_anonymous(counts, 2), False)
            want = naive.suppress(sample.naive, tuple(levels), [model], "class-records", problem.limit, cost, "s0")
            assert found.cost == pytest.approx(want.cost)
            assert found.levels == tuple(levels)


@pytest.mark.parametrize("cost", ["LM", "CM", "C_AVG"])
@pytest.mark.parametrize("kind", ["budget(0.5)", "violating-records", "class-values"])
def test_portions_and_sorting_change_nothing(monkeypatch, kind, cost):
    for seed in range(30):
        sample = random_sample(seed, rows=(6, 30), attributes=(2, 4))
        problem = built(sample, privacy=["k(2)", "l+(0.5, s0)"], cost=cost, suppression=kind, scheme="set")
        if problem is None:
            continue
        _, blocks = random_recoding(seed, sample)
        want = evaluate_blocks(problem, blocks)
        with monkeypatch.context() as patch:
            patch.setattr(class_arrays, "_DENSE_CELLS", 20)
            patch.setattr(_numbers, "_DIRECT", -1)
            found = evaluate_blocks(problem, blocks)
        assert found.cost == pytest.approx(want.cost)
        assert np.array_equal(found.suppressed, want.suppressed)
        assert (found.inside is None) == (want.inside is None)
        if found.inside is not None:
            for field in ("example", "value", "count", "label"):
                assert np.array_equal(getattr(found.inside, field), getattr(want.inside, field))


def test_wide_keys():
    """More attributes and blocks than fit in one number."""
    rng = np.random.default_rng(0)
    sample = random_sample(1, rows=(10, 10), attributes=(3, 3))
    attribute = dataclasses.replace(sample.counts.attributes[0], ancestors=np.arange(5000)[np.newaxis])
    attribute = dataclasses.replace(attribute, rows=np.ones(5000, dtype=np.int64), positions=None)
    codes = rng.integers(0, 5000, (9, 400)).astype(np.int32)
    codes[:, 200:] = codes[:, :200]
    codes[8, 200:] += codes[8, 200:] % 2
    table = dataclasses.replace(
        sample.counts,
        attributes=(attribute,) * 9,
        codes=np.minimum(codes, 4999),
        weights=np.ones(400, dtype=np.int64),
        sensitive={},
        labels=None,
        joint={},
    )
    problem = Problem.build(table, privacy="k(2)", cost="DM", suppression="class-records", scheme="set")
    found = evaluate_blocks(problem, [np.arange(5000)] * 9)
    _, sizes = np.unique(table.codes, axis=1, return_counts=True)
    assert found.suppressed_rows == sizes[sizes < 2].sum()
    assert found.classes == np.count_nonzero(sizes >= 2)


@pytest.mark.parametrize(
    ("cost", "kind"),
    [
        *((cost, "class-values") for cost in ("C_AVG", "precision", "entropy", "ambiguity", "score")),
        ("C_AVG", "violating-values"),
    ],
)
def test_costs_that_do_not_define_a_part_of_a_class_are_refused(cost, kind):
    table = random_sample(1, rows=(10, 10), values=(4, 4)).counts
    with pytest.raises(UnsupportedCombinationError) as caught:
        Problem.build(table, privacy="l+(0.5)", cost=cost, suppression=kind)
    assert cost in caught.value.parts[0]
    assert kind in caught.value.parts[1]
    Problem.build(table, privacy="k(1)", cost=cost, suppression=kind)  # never touches the inside of a class


def test_classification_needs_values_with_labels():
    table = dataclasses.replace(random_sample(1, rows=(10, 10), values=(4, 4)).counts, joint={})
    with pytest.raises(UsageError, match="class label") as caught:
        Problem.build(table, privacy="l+(0.5)", cost="CM", suppression="violating-records")
    assert caught.value.column == "s0"
    Problem.build(table, privacy="l+(0.5)", cost="CM", suppression="class-records")


def test_a_recoding_becomes_a_solution():
    sample = random_sample(3, rows=(8, 8))
    problem = Problem.build(sample.counts, privacy="k(2)", suppression="class-records", scheme="subtree")
    found = evaluate_blocks(problem, [attribute.ancestors[-1] for attribute in sample.counts.attributes])
    solution = found.solution("feasible", 0.0, {"examined": 1})
    assert (solution.status, solution.cost, solution.lower_bound) == ("feasible", found.cost, 0.0)
    assert solution.blocks == found.blocks
    assert solution.levels is None


def test_the_table_of_the_correction_to_the_papers_bound():
    """Ten rows, one class, one value six times, a threshold of one half: two rows go and DM is 84."""
    rows = [{"q0": "a", "s0": "x" if i < 6 else f"y{i}", "y": "a"} for i in range(10)]
    plain = naive.Table(rows, {"q0": [("a",)]})
    secret = {"s0": [(value,) for value in sorted({row["s0"] for row in rows})]}
    problem = Problem.build(
        count_table(plain, secret, "y"), privacy="l+(0.5)", cost="DM", suppression="violating-records", scheme="subtree"
    )
    found = evaluate_blocks(problem, [np.zeros(1, dtype=np.int64)])
    assert (found.cost, found.suppressed_rows, found.inside.count.tolist()) == (84.0, 2, [2])
