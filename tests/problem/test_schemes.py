"""Schemes against trying all partitions, and against the numbers the papers print."""

from __future__ import annotations

import csv
import itertools
import os
import random
from pathlib import Path

import numpy as np
import pytest

import naive
from cases import INCLUSIONS
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem.schemes import SCHEMES
from tables import coded, random_hierarchy

DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[3] / "shared" / "data"))
GLOBAL = ["full-domain", "subtree", "ordered", "guided-ordered", "set", "guided-set"]
WORK = [
    ("State-gov", "Government", "*"),
    ("Local-gov", "Government", "*"),
    ("Federal-gov", "Government", "*"),
    ("Private", "Private", "*"),
    ("Inc", "Self-employed", "*"),
    ("Not-inc", "Self-employed", "*"),
    ("Without-pay", "Unemployed", "*"),
    ("Never-worked", "Unemployed", "*"),
]
COUNTS = {
    "full-domain": 3,
    "subtree": 9,
    "ordered": 128,
    "guided-ordered": 40,
    "set": 4140,
    "guided-set": 67,
}


@pytest.mark.parametrize(("scheme", "count"), COUNTS.items())
def test_the_work_class_tree(scheme, count):
    attribute = coded("workclass", WORK, [])
    part = SCHEMES.make(scheme)
    assert part.count(attribute) == count
    assert sum(1 for _ in part.partitions(attribute)) == count
    assert part.formal_count(attribute) == (17 if scheme == "subtree" else count)


def test_the_brute_force_agrees_on_the_work_class_tree():
    for scheme, count in COUNTS.items():
        assert len(naive.valid_partitions(scheme, WORK)) == count
    assert naive.formal_cuts(WORK) == 17


def trees():
    for seed in range(150):
        rng = random.Random(seed)
        leaves = [f"leaf{i}" for i in range(rng.randint(1, 6))]
        height = rng.randint(0, 4)
        yield random_hierarchy(
            rng, leaves, height, prefix="b", ragged=rng.random() < 0.5, rooted=height > 0 and rng.random() < 0.8
        )


@pytest.mark.parametrize("scheme", GLOBAL)
def test_partitions_are_the_definition(scheme):
    part = SCHEMES.make(scheme)
    for tree in trees():
        attribute = coded("q", tree, [])
        found = [
            frozenset(frozenset(tree[leaf][0] for leaf in block) for block in partition)
            for partition in part.partitions(attribute)
        ]
        assert len(found) == len(set(found)) == part.count(attribute)
        assert set(found) == naive.valid_partitions(scheme, tree)


def test_formal_cuts():
    for tree in trees():
        assert SCHEMES.make("subtree").formal_count(coded("q", tree, [])) == naive.formal_cuts(tree)
        assert SCHEMES.make("full-domain").formal_count(coded("q", tree, [])) == len(tree[0])


def test_inclusions():
    for tree in trees():
        attribute = coded("q", tree, [])
        for smaller, larger in INCLUSIONS:
            for partition in SCHEMES.make(smaller).partitions(attribute):
                assert SCHEMES.make(larger).allows(attribute, partition)


def test_large_trees_are_counted():
    leaf = np.arange(100)
    rows = [(i, i // 5, i // 20, "*") for i in leaf.tolist()]
    attribute = coded("q", rows, [])
    five, twenty = 2, 2**4 + 1
    assert SCHEMES.make("subtree").count(attribute) == twenty**5 + 1
    assert SCHEMES.make("ordered").count(attribute) == 2**99
    assert SCHEMES.make("set").count(attribute) > 10**100
    assert five < SCHEMES.make("guided-set").count(attribute) < SCHEMES.make("set").count(attribute)
    assert SCHEMES.make("guided-ordered").count(attribute) < SCHEMES.make("ordered").count(attribute)
    flat = coded("q", [(i, "*") for i in range(2500)], [])
    for scheme in ("subtree", "guided-set", "guided-ordered", "ordered", "set"):
        for partition in itertools.islice(SCHEMES.make(scheme).partitions(flat), 2):
            assert sum(len(block) for block in partition) == 2500


def test_an_order_against_the_tree_is_refused():
    crossed = coded("q", [("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*")], [])
    with pytest.raises(UsageError, match="order") as caught:
        SCHEMES.make("guided-ordered").count(crossed)
    assert caught.value.column == "q"
    assert SCHEMES.make("guided-set").count(crossed) == 3
    assert SCHEMES.make("subtree").count(crossed) == 3
    assert list(SCHEMES.make("subtree").partitions(crossed)) == [((0, 1, 2),), ((0, 2), (1,)), ((0,), (1,), (2,))]


def test_local_has_no_partitions_to_search():
    attribute = coded("q", WORK, [])
    assert SCHEMES.make("local").count(attribute) == 4140
    assert not SCHEMES.make("local").is_global
    with pytest.raises(UnsupportedCombinationError, match="local"):
        SCHEMES.make("local").partitions(attribute)


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("BHS", "full-domain"),
        ("GHS", "subtree"),
        ("cut", "subtree"),
        ("OPS", "ordered"),
        ("GOPS", "guided-ordered"),
        ("SPS", "set"),
        ("gsps", "guided-set"),
    ],
)
def test_aliases(alias, name):
    assert SCHEMES.make(alias).name == name


@pytest.mark.parametrize(
    ("path", "distinct"),
    [
        ("arx/age", 11_881_377),
        ("arx/education", 37),
        ("arx/native-country", 17),
        ("fung-tds/education", 78),
        ("fung-tds/native-country", 1351),
        ("kassemal-difftesting/native-country", 1054),
        ("liu-wang-base/age", 677),
        ("liu-wang-base/native-country", 25),
        ("li-li-2008/age", 32_769),
        ("qiyuangong/marital-status", 9),
    ],
)
def test_published_taxonomies(path, distinct):
    file = DATA / "taxonomies" / "adult" / f"{path}.csv"
    if not file.exists():
        pytest.skip("the taxonomies are not here; set DISCREET_DATA to the folder that holds them")
    with file.open(newline="") as lines:
        rows = [tuple(row) for row in csv.reader(lines)][1:]
    assert SCHEMES.make("subtree").count(coded("q", rows, [])) == distinct
