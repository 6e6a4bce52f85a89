"""Small random tables and classes for the contracts, in plain numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, CountTable, FloatArray, Histogram, IntArray, Population
from discreet.problem.classes import Classes, Members, leaf_columns
from discreet.problem.costs import Cost
from discreet.problem.privacy import Groups

__all__ = [
    "SENSITIVE",
    "all_histograms",
    "as_classes",
    "as_groups",
    "by_class",
    "classes_by_blocks",
    "classes_of",
    "random_table",
]

SENSITIVE = "secret"
PEOPLE = np.array([1.0, 2.5, 6.0, 1.25])
"""The survey weight of a row with each sensitive value: how many people of the population it represents."""
NUMBERS = np.array([0.0, 10.0, 40.0, 55.0])
"""The number of each sensitive value."""


def random_attribute(rng: np.random.Generator, name: str, column: NDArray[np.int64], leaves: int) -> CodedAttribute:
    """Return an attribute with a random hierarchy over its leaves; about half of them are numeric."""
    levels = [np.arange(leaves)]
    for _ in range(int(rng.integers(0, 3))):
        below = levels[-1]
        starts = np.concatenate([[0], rng.integers(0, 2, max(int(below.max()), 0))])
        levels.append(np.cumsum(starts)[below])
    levels.append(np.zeros(leaves, dtype=np.int64))
    positions = np.sort(rng.choice(50, leaves, replace=False)).astype(np.float64) if rng.random() < 0.5 else None
    rows = np.bincount(column, minlength=leaves)
    return CodedAttribute(name, np.array(levels, dtype=np.int32), rows, positions)


def random_table(
    rng: np.random.Generator,
    *,
    rows: int = 30,
    attributes: int = 2,
    leaves: int = 4,
    split_by_sensitive: bool = False,
    missing: float = 0.0,
) -> CountTable:
    """Return a table with quasi-identifiers q0, q1, …, a numeric sensitive attribute, class labels and survey weights.

    With ``split_by_sensitive`` rows with different sensitive values are different tuples, as local recoding needs it.
    About a share of ``missing`` rows have no known sensitive value.
    """
    columns = rng.integers(0, leaves, (attributes, rows))
    shape = random_attribute(rng, SENSITIVE, np.zeros(0, dtype=np.int64), 4)
    secret, label = rng.integers(0, 4, rows), rng.integers(0, 3, rows)
    known = rng.random(rows) >= missing if missing else np.ones(rows, dtype=np.bool_)
    keys = np.vstack([columns, np.where(known, secret, 4)]) if split_by_sensitive else columns
    codes, where, weights = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    where = where.reshape(-1)
    people = np.bincount(where, weights=PEOPLE[secret]).astype(np.float64)
    return CountTable(
        tuple(random_attribute(rng, f"q{i}", column, leaves) for i, column in enumerate(columns)),
        codes[:attributes].astype(np.int32),
        weights.astype(np.int64),
        {SENSITIVE: _histogram(SENSITIVE, where, secret, 4, shape.ancestors, known)},
        _histogram("label", where, label, 3, None),
        {SENSITIVE: _histogram(SENSITIVE, where, secret * 3 + label, 12, None, known)},
        Population(codes[:attributes].astype(np.int32), people, np.arange(weights.size), estimated=True),
    )


def _histogram(
    name: str,
    tuples: NDArray[np.int64],
    values: NDArray[np.int64],
    cardinality: int,
    ancestors: IntArray | None,
    known: NDArray[np.bool_] | None = None,
) -> Histogram:
    counted = np.ones(tuples.size, dtype=np.bool_) if known is None else known
    dense = np.zeros((int(tuples.max()) + 1, cardinality), dtype=np.int64)
    np.add.at(dense, (tuples[counted], values[counted]), 1)
    rows, columns = np.nonzero(dense)
    offsets = np.searchsorted(rows, np.arange(dense.shape[0] + 1))
    labels = tuple(f"v{value}" for value in range(cardinality))
    counts = dense[rows, columns]
    return Histogram(
        name,
        cardinality,
        offsets,
        columns,
        counts,
        ancestors,
        labels,
        missing=int((~counted).sum()),
        positions=NUMBERS if cardinality == NUMBERS.size else None,
    )


def classes_of(table: CountTable, levels: Sequence[int], cost: Cost | None = None) -> Classes:
    """Return the classes of a full-domain recoding with every array; moments are those of the cost."""
    each = list(zip(table.attributes, levels, strict=True))
    found = _classes(
        table,
        [a.ancestors[level] for a, level in each],
        [a.block_leaves[level] for a, level in each],
        [a.block_rows[level] for a, level in each],
        cost,
    )
    return replace(found, block_levels=np.tile(np.array(levels, dtype=np.int64), (len(found), 1)))


def classes_by_blocks(table: CountTable, blocks: Sequence[IntArray], cost: Cost | None = None) -> Classes:
    """Return the classes of a global recoding with every array; ``blocks[i][leaf]`` is the block of each leaf."""
    rows = [
        np.bincount(block, weights=attribute.rows).astype(np.int64)
        for attribute, block in zip(table.attributes, blocks, strict=True)
    ]
    return _classes(table, blocks, [np.bincount(block) for block in blocks], rows, cost)


def _classes(
    table: CountTable,
    blocks: Sequence[IntArray],
    block_leaves: Sequence[IntArray],
    block_rows: Sequence[IntArray],
    cost: Cost | None,
) -> Classes:
    released = np.array([block[codes] for block, codes in zip(blocks, table.codes, strict=True)])
    keys, where = np.unique(released, axis=1, return_inverse=True)
    where = where.reshape(-1)
    count, columns = keys.shape[1], len(table.attributes)
    sizes = np.zeros(count, dtype=np.int64)
    np.add.at(sizes, where, table.weights)
    low = np.full((count, columns), np.iinfo(np.int32).max)
    high = np.full((count, columns), -1)
    set_sizes = np.zeros((count, columns), dtype=np.int64)
    moments: list[FloatArray] = []
    offsets: list[FloatArray] = []
    for column, (attribute, codes) in enumerate(zip(table.attributes, table.codes, strict=True)):
        np.minimum.at(low[:, column], where, codes)
        np.maximum.at(high[:, column], where, codes)
        if not attribute.tree and attribute.positions is None:
            pairs = {(int(one), int(leaf)) for one, leaf in zip(where, codes, strict=True)}
            np.add.at(set_sizes[:, column], [one for one, _ in pairs], 1)
        for sums, leaf in ((moments, "leaf_moment"), (offsets, "leaf_offset")):
            numbers = None if cost is None else getattr(cost, leaf)(attribute, table)
            each = leaf_columns(np.zeros(attribute.leaves) if numbers is None else numbers, codes)
            sums.append(np.zeros((count, each.shape[1])))
            np.add.at(sums[-1], where, table.weights[:, np.newaxis] * each)
    return Classes(
        table,
        sizes,
        population=None if table.population is None else _people_of(table.population, blocks, keys),
        sensitive={name: by_class(histogram, where, count) for name, histogram in table.sensitive.items()},
        labels=None if table.labels is None else by_class(table.labels, where, count),
        joint={
            name: by_class(histogram, where, count).reshape(count, table.sensitive[name].cardinality, -1)
            for name, histogram in table.joint.items()
        },
        blocks=keys.T,
        block_leaves=np.array([leaves[key] for leaves, key in zip(block_leaves, keys, strict=True)]).T,
        block_rows=np.array([rows[key] for rows, key in zip(block_rows, keys, strict=True)]).T,
        low=low,
        high=high,
        set_sizes=set_sizes,
        moments=np.concatenate(moments, axis=1),
        offsets=np.concatenate(offsets, axis=1),
        members=None if SENSITIVE not in table.sensitive else _members(table.sensitive[SENSITIVE], where),
    )


def _members(histogram: Histogram, where: NDArray[np.int64]) -> Members:
    """Return the rows of classes by tuple and sensitive value, given the class of each tuple."""
    tuples = np.repeat(np.arange(where.size), np.diff(histogram.offsets))
    return Members(where[tuples], tuples, histogram.values, histogram.counts)


def _people_of(population: Population, blocks: Sequence[IntArray], keys: IntArray) -> NDArray[np.float64]:
    """Count the people who have the blocks of each class."""
    released = np.array([block[codes] for block, codes in zip(blocks, population.codes, strict=True)])
    alike = (released[:, np.newaxis, :] == keys[:, :, np.newaxis]).all(axis=0)
    return np.asarray((alike * population.people).sum(axis=1))


def by_class(histogram: Histogram, where: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return a histogram by class, given the class of each tuple."""
    tuples = np.repeat(np.arange(where.size), np.diff(histogram.offsets))
    dense = np.zeros((count, histogram.cardinality), dtype=np.int64)
    np.add.at(dense, (where[tuples], histogram.values), histogram.counts)
    return dense


def all_histograms(values: int, most: int) -> NDArray[np.int64]:
    """Return every histogram of this many values with up to ``most`` rows of each, except the empty one.

    >>> all_histograms(2, 1).tolist()
    [[0, 1], [1, 0], [1, 1]]
    """
    return np.indices((most + 1,) * values).reshape(values, -1).T[1:].astype(np.int64)


def as_classes(table: CountTable, histograms: NDArray[np.int64]) -> Classes:
    """Return classes with these counts of sensitive values; a fifth column counts rows without a known value."""
    return Classes(
        table,
        histograms.sum(axis=1),
        population=histograms @ _people(histograms),
        sensitive={SENSITIVE: histograms[:, : PEOPLE.size]},
    )


def _people(histograms: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the survey weight of a row by its sensitive value, the last of rows without a known one."""
    return np.append(PEOPLE, 1.0)[: histograms.shape[1]]


def as_groups(table: CountTable, histograms: NDArray[np.int64]) -> Groups:
    """Return the same classes in the form the audit counts them."""
    known = histograms[:, : PEOPLE.size]
    group, value = np.nonzero(known)
    secret = table.sensitive[SENSITIVE]
    ancestors = None if secret.ancestors is None else secret.ancestors.astype(np.int32)
    return Groups(
        sizes=histograms.sum(axis=1),
        group=group,
        value=value,
        count=histograms[group, value],
        whole=secret.totals.astype(np.int64),
        ancestors=ancestors,
        names=secret.labels,
        population=histograms @ _people(histograms),
        known=known.sum(axis=1),
        positions=secret.positions,
    )
