"""What must hold for every domain and every hierarchy, whatever made it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.schema import Domain, Hierarchy


def blocks_are_sound(ancestors, labels, contiguous):
    levels, leaves = ancestors.shape
    assert len(labels) == levels >= 2
    assert ancestors.dtype == np.int32
    assert ancestors[0].tolist() == list(range(leaves))
    assert set(ancestors[-1].tolist()) <= {0}
    assert len(labels[-1]) == 1
    for level, row in enumerate(ancestors.tolist()):
        appearance = list(dict.fromkeys(row))
        assert appearance == list(range(len(appearance))), "blocks are numbered by first appearance"
        assert len(labels[level]) == max(len(appearance), 1)
        assert len(set(labels[level])) == len(labels[level]), "no two blocks of a level share a name"
        if contiguous:
            assert row == sorted(row), "every block is a run of leaves"
    for below, above in zip(ancestors[:-1].tolist(), ancestors[1:].tolist(), strict=True):
        assert len(set(zip(below, above, strict=True))) == len(set(below)), "every level nests in the next"


def domain_is_sound(domain: Domain) -> Domain:
    missing = domain.labels[0][-1] is None if domain.labels[0] else False
    blocks_are_sound(domain.ancestors, domain.labels, contiguous=domain.positions is None)
    assert domain.ancestors.flags.writeable
    assert domain.codes.dtype == np.int32
    assert len(domain.codes) == len(domain.values)
    assert ((domain.codes >= 0) & (domain.codes < domain.ancestors.shape[1])).all()
    if domain.positions is None:
        assert not domain.type.numeric
    else:
        assert domain.positions.dtype == np.float64
        known = domain.positions[:-1] if missing else domain.positions
        assert (known[:-1] <= known[1:]).all()
        assert not np.isnan(known).any()
        assert not missing or np.isnan(domain.positions[-1])
    for names in domain.labels[:-1]:
        assert [name for name in names if name is None] == [None] * missing
    for level in range(domain.height + 1):
        shown = domain.released(level)
        assert shown.dtype == (pl.String if level else domain.values.dtype)
        assert len(shown) == len(domain.values)
        blocks = domain.ancestors[level][domain.codes].tolist()
        assert len(set(zip(blocks, shown.to_list(), strict=True))) == len(set(blocks)), "a block has one text"
        assert shown.n_unique() == len(set(blocks)), "a text stands for one block"
    return domain


@pytest.fixture
def check_domain():
    """Assert what holds for every domain, and return it."""
    return domain_is_sound


@pytest.fixture
def check_tree():
    """Assert what holds for every hierarchy, and return it."""

    def check(tree: Hierarchy) -> Hierarchy:
        blocks_are_sound(tree.ancestors, tree.labels, contiguous=True)
        assert tree.rows() == [list(row) for row in zip(*tree.levels, strict=True)]
        return tree

    return check


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of benchmark data, where there is one."""
    folder = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not (folder / "taxonomies").is_dir():
        pytest.skip("no benchmark data here; set DISCREET_DATA to its folder")
    return folder
