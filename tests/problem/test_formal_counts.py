"""The sizes of the cut spaces as the papers print them, from the taxonomy files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.counts import CodedAttribute
from discreet.problem.schemes.subtree import Subtree
from discreet.schema import Hierarchy, make_domain

DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[3] / "shared" / "data")) / "taxonomies" / "adult"


def attribute(hierarchy):
    domain = make_domain("a", pl.Series(hierarchy.leaves), hierarchy, type="text")
    rows = np.ones(domain.ancestors.shape[1], dtype=np.int64)
    return CodedAttribute("a", domain.ancestors, rows, domain.positions, domain.repeats)


@pytest.mark.skipif(not DATA.is_dir(), reason="the taxonomy files are not here; set DISCREET_DATA")
@pytest.mark.parametrize(
    ("name", "formal", "distinct"),
    [
        ("fung-tds/education", 78, 78),
        ("fung-tds/native-country", 30_295, 1_351),
        ("arx/education", 82, 37),
        ("arx/native-country", 33, 17),
        ("arx/age", 11_881_377, 11_881_377),
        ("kassemal-difftesting/native-country", 1_054, 1_054),
        ("qiyuangong/marital-status", 9, 9),
        ("liu-wang-base/age", 677, 677),
        ("liu-wang-base/workclass", 9, 5),
        ("liu-wang-medium/native-country", 487, 487),
    ],
)
def test_published_counts(name, formal, distinct):
    found = attribute(Hierarchy.from_csv(DATA / f"{name}.csv"))
    assert Subtree().formal_count(found) == formal
    assert Subtree().count(found) == distinct


def test_a_leaf_carried_up_is_no_node_of_its_own():
    padded = Hierarchy.from_rows([("a", "g", "*"), ("b", "g", "*"), ("c", "c", "*")])
    named = Hierarchy.from_rows([("a", "g", "*"), ("b", "g", "*"), ("c", "h", "*")])
    assert [Subtree().formal_count(attribute(h)) for h in (padded, named)] == [3, 5]
    assert [Subtree().count(attribute(h)) for h in (padded, named)] == [3, 3]
