"""Random tables for tests of grouping, and the classes of their nodes by numpy's unique."""

from __future__ import annotations

import numpy as np

from discreet.counts import CodedAttribute, CountTable


def table(leaves, rows, seed):
    """Random tuples over hierarchies of three levels: leaves, thirds of them, the root."""
    rng = np.random.default_rng(seed)
    columns = np.stack([(rng.beta(0.6, 2.0, rows) * count).astype(np.int64) for count in leaves])
    tuples, weights = np.unique(columns, axis=1, return_counts=True)
    attributes = tuple(
        CodedAttribute(
            f"a{i}",
            np.stack([np.arange(n), np.arange(n) * 3 // n, np.zeros(n, dtype=np.int64)]).astype(np.int32),
            np.bincount(columns[i], minlength=n),
        )
        for i, n in enumerate(leaves)
    )
    return CountTable(attributes, tuples.astype(np.int32), weights)


def expected(counts, node):
    """Class of each tuple and rows of each class, numbered by first appearance."""
    blocks = np.stack([a.ancestors[node[i]][counts.codes[i]] for i, a in enumerate(counts.attributes)])
    _, first, ids = np.unique(blocks, axis=1, return_index=True, return_inverse=True)
    number = np.empty(first.size, dtype=np.int64)
    number[np.argsort(first)] = np.arange(first.size)
    return number[ids.ravel()], np.bincount(number[ids.ravel()], weights=counts.weights)
