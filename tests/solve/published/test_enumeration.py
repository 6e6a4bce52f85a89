"""Each partition of every scheme is met exactly once, in both directions, and bounds of a state hold all below it."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from discreet.counts import CodedAttribute
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem import SCHEMES, Problem
from discreet.solve.published.li_li.catalogue import enumeration, enumerations
from tables import coded, random_hierarchy, random_sample


def descendants(partitions, state=None):
    """Yield a state, by default the root, and all states below it, one for each partition."""
    open_ = [partitions.root if state is None else state]
    while open_:
        found = open_.pop()
        yield found
        open_.extend(partitions.children(found))


NAMES = ("full-domain", "subtree", "guided-ordered", "guided-set", "ordered", "set")
DIRECTIONS = ("bottom-up", "top-down")


def attribute_of(*levels):
    leaves = len(levels[0]) if levels else 0
    return CodedAttribute("a", np.array([range(leaves), *levels], dtype=np.int32), np.ones(leaves, dtype=np.int64))


def flat(leaves):
    return attribute_of([0] * leaves)


WORK_CLASS = attribute_of([0, 0, 0, 1, 2, 2, 3, 3], [0] * 8)


def numbers(blocks):
    """Blocks numbered by first appearance."""
    seen = {}
    return tuple(seen.setdefault(int(block), len(seen)) for block in blocks)


def as_numbers(partition):
    return numbers([i for _, i in sorted((leaf, i) for i, block in enumerate(partition) for leaf in block)])


def as_sets(blocks):
    """Blocks as the paper writes them: lists of values from 1, by their first."""
    return [[leaf + 1 for leaf, block in enumerate(blocks) if block == number] for number in dict.fromkeys(blocks)]


def refines(fine, coarse):
    return len(set(zip(fine, coarse, strict=True))) == len(set(fine))


def met(partitions):
    return [numbers(partitions.own(state)) for state in descendants(partitions)]


def make(scheme, attribute, direction, *levels):
    return enumeration(SCHEMES.make(scheme), attribute, direction, *levels)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_work_class_tree(direction):
    found = {name: met(make(name, WORK_CLASS, direction)) for name in NAMES}
    assert [len(found[name]) for name in NAMES] == [3, 9, 40, 67, 128, 4140]
    for name in NAMES:
        assert sorted(found[name]) == sorted(map(as_numbers, SCHEMES.make(name).partitions(WORK_CLASS)))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("scheme", ["set", "guided-set", "ordered"])
def test_all_partitions_of_small_sets(scheme, direction):
    for leaves in range(1, 10):
        found = met(make(scheme, flat(leaves), direction))
        want = set(map(as_numbers, SCHEMES.make(scheme).partitions(flat(leaves))))
        assert len(found) == len(want)
        assert set(found) == want


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("scheme", NAMES)
def test_random_hierarchies_between_any_levels(scheme, direction):
    for seed in range(120):
        rng = random.Random(seed)
        rows = random_hierarchy(
            rng,
            list(range(rng.randint(1, 6))),
            rng.randint(0, 3),
            prefix="x",
            ragged=rng.random() < 0.5,
            rooted=rng.random() < 0.7,
        )
        attribute = coded("a", rows, [])
        low = rng.choice([0, rng.randint(0, attribute.height)])
        high = rng.choice([attribute.height, rng.randint(low, attribute.height)])
        bottom, top = numbers(attribute.ancestors[low]), numbers(attribute.ancestors[high])
        want = [as_numbers(partition) for partition in SCHEMES.make(scheme).partitions(attribute)]
        want = [p for p in want if refines(bottom, p) and (high == attribute.height or refines(p, top))]
        partitions = make(scheme, attribute, direction, low, high)
        assert sorted(met(partitions)) == sorted(want), seed
        check_states(partitions, direction)


def check_states(partitions, direction):
    """Below every state: partitions that differ from it, between it and its extreme, whichever way it is divided."""
    for state in list(descendants(partitions)):
        own, extreme = numbers(partitions.own(state)), numbers(partitions.extreme(state))
        below = {numbers(partitions.own(found)) for found in descendants(partitions, state)}
        for found in below:
            general, special = (found, own) if direction == "bottom-up" else (own, found)
            assert refines(special, general)
            general, special = (extreme, found) if direction == "bottom-up" else (found, extreme)
            assert refines(special, general)
        assert {numbers(partitions.own(s)) for s in descendants(partitions, partitions.frozen(state))} == {own}
        for applicator in list(partitions.applicators(state))[:3]:
            ways = [partitions.apply(state, applicator), partitions.without(state, applicator)]
            with_, without = ({numbers(partitions.own(s)) for s in descendants(partitions, way)} for way in ways)
            assert own not in with_
            assert not with_ & without
            assert with_ | without == below


def by_the_three_conditions(sets):
    """The children of a partition as section 3.1 has them, from the text of its conditions.

    S_i merges with S_j before it if S_i has one element, no set after S_j but S_i may have several, and all elements
    of S_j are smaller than that of S_i.
    """
    for j, i in itertools.combinations(range(len(sets)), 2):
        alone = len(sets[i]) == 1 and all(len(each) == 1 for each in sets[j + 1 :])
        if alone and max(sets[j]) < sets[i][0]:
            rest = [each for n, each in enumerate(sets) if n not in (i, j)]
            yield sorted([*rest, sets[j] + sets[i]])


def state_with(partitions, sets):
    for state in descendants(partitions):
        if as_sets(numbers(partitions.own(state))) == sets:
            return state
    raise KeyError(sets)


def children(partitions, state):
    return sorted(as_sets(numbers(partitions.own(child))) for child in partitions.children(state))


@pytest.mark.parametrize("leaves", range(1, 8))
def test_set_is_the_tree_of_the_paper(leaves):
    partitions = make("set", flat(leaves), "bottom-up")
    for state in descendants(partitions):
        sets = as_sets(numbers(partitions.own(state)))
        assert children(partitions, state) == sorted(by_the_three_conditions(sets))


@pytest.mark.parametrize(
    ("sets", "want"),
    [
        (
            [[1], [2, 3], [4], [5]],
            [[[1], [2, 3, 4], [5]], [[1], [2, 3], [4, 5]], [[1], [2, 3, 5], [4]]],
        ),
        (
            [[1, 4], [2], [3], [5]],
            [[[1, 4], [2, 3], [5]], [[1, 4], [2], [3, 5]], [[1, 4], [2, 5], [3]], [[1, 4, 5], [2], [3]]],
        ),
    ],
)
def test_examples_1_and_2_of_the_paper(sets, want):
    partitions = make("set", flat(5), "bottom-up")
    assert children(partitions, state_with(partitions, sets)) == sorted(want)


def test_example_3_of_the_paper():
    """Two attributes of four and two values, the first two of the first merged: three children and one."""
    problem = problem_of([flat(4), flat(2)], "set")
    first, second = enumerations(problem, "bottom-up")
    assert children(first, state_with(first, [[1, 2], [3], [4]])) == [
        [[1, 2], [3, 4]],
        [[1, 2, 3], [4]],
        [[1, 2, 4], [3]],
    ]
    assert children(second, second.root) == [[[1, 2]]]


EXAMPLE = [[1], [2, 3], [4], [5, 6], [7], [8]]
"""The partition of the work classes in Examples 4 and 5."""


def test_example_5_of_the_paper():
    """In OPS {7} may join {5, 6}, or {8} may join {7}; under the hierarchy only the latter, which leaves one child."""
    ordered = make("ordered", WORK_CLASS, "bottom-up")
    assert children(ordered, state_with(ordered, EXAMPLE)) == [
        [[1], [2, 3], [4], [5, 6], [7, 8]],
        [[1], [2, 3], [4], [5, 6, 7], [8]],
    ]
    guided = make("guided-ordered", WORK_CLASS, "bottom-up")
    assert children(guided, state_with(guided, EXAMPLE)) == [[[1], [2, 3], [4], [5, 6], [7, 8]]]


def test_the_order_of_steps_under_a_hierarchy():
    """Steps that join whole groups come first: government and private, self-employed and unemployed, private and self.

    What they would take along is open only where they are ruled out. Without a hierarchy, steps come by position, which
    is the set enumeration of k-Optimize.
    """
    borders = [(left + 1, left + 2) for left in make("guided-ordered", WORK_CLASS, "bottom-up").applicators((0, 0))]
    assert borders == [(3, 4), (6, 7), (4, 5), (1, 2), (2, 3), (5, 6), (7, 8)]
    assert list(make("ordered", WORK_CLASS, "bottom-up").applicators((0, 0))) == list(range(7))


def test_example_4_of_the_paper_as_far_as_it_can_be_read():
    """The children under GSPS are lost in the text at hand; by section 3.3, {7} joins {5, 6} if {8} does so too."""
    sets = make("set", WORK_CLASS, "bottom-up")
    assert len(children(sets, state_with(sets, EXAMPLE))) == 3
    guided = make("guided-set", WORK_CLASS, "bottom-up")
    assert children(guided, state_with(guided, EXAMPLE)) == [
        [[1], [2, 3], [4], [5, 6], [7, 8]],
        [[1], [2, 3], [4], [5, 6, 7, 8]],
    ]


def problem_of(attributes, scheme, **parts):
    sample = random_sample(1, attributes=(len(attributes), len(attributes)), rows=(5, 5)).counts
    named = [CodedAttribute(f"q{i}", a.ancestors, a.rows) for i, a in enumerate(attributes)]
    table = type(sample)(tuple(named), np.zeros((len(named), 1), dtype=np.int32), np.array([5]))
    return Problem.build(table, privacy="k(1)", scheme=scheme, **parts)


def test_schemes_of_several_attributes():
    problem = problem_of(
        [flat(4), WORK_CLASS, flat(3)],
        {"q0": "set", "q1": "subtree", "q2": "ordered"},
        min_levels={"q1": 1},
    )
    assert [len(met(each)) for each in enumerations(problem, "bottom-up")] == [15, 2, 4]
    assert [len(met(each)) for each in enumerations(problem, "top-down")] == [15, 2, 4]


def test_an_order_that_does_not_agree_with_the_hierarchy():
    crossed = attribute_of([0, 1, 0, 1], [0, 0, 0, 0])
    with pytest.raises(UsageError, match="agree with its hierarchy"):
        make("guided-ordered", crossed, "bottom-up")
    with pytest.raises(UsageError, match="between its levels") as caught:
        make("ordered", attribute_of([0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 0, 0]), "bottom-up", 1, 2)
    assert caught.value.column == "a"


def test_local_recoding_has_no_partitions():
    with pytest.raises(UnsupportedCombinationError, match="local"):
        make("local", flat(3), "bottom-up")
