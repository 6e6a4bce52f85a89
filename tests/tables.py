"""Small random tables, seeded, in the plain form of ``naive`` and as a CountTable with the same meaning.

``random_sample(seed, …)`` makes both; ``classes_of(table, levels)`` groups a CountTable in plain numpy,
independently of the solvers.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

import naive
from discreet.counts import CodedAttribute, CountTable, Histogram, People, PersonValues
from discreet.testing import classes_of

__all__ = [
    "Sample",
    "add_people",
    "classes_of",
    "coded",
    "count_table",
    "labelled_rows",
    "people_of",
    "random_hierarchy",
    "random_node_weights",
    "random_sample",
]


@dataclass(frozen=True)
class Sample:
    """A table in both forms. ``sensitive`` maps sensitive columns to hierarchies, ``label`` is the class attribute."""

    naive: naive.Table
    counts: CountTable
    sensitive: dict
    label: str | None


def random_hierarchy(rng, leaves, height, *, prefix, ragged=False, rooted=True):
    """Rows (leaf, level 1, …, top): each level joins neighbours of the level below; ragged trees repeat labels."""
    columns = [list(leaves)]
    for level in range(1, height + 1):
        below = columns[-1]
        new, block = [], 0
        for i, label in enumerate(below):
            if i and label != below[i - 1] and rng.random() < 0.5:
                block += 1
            new.append(f"{prefix}{level}.{block}")
        if level == height and rooted:
            new = ["*"] * len(leaves)
        elif ragged:
            alone = [len({b for b, n in zip(below, new, strict=True) if n == label}) == 1 for label in new]
            new = [str(b) if one and rng.random() < 0.7 else n for b, n, one in zip(below, new, alone, strict=True)]
            new = [new[next(j for j, b in enumerate(below) if b == below[i])] for i in range(len(new))]
        columns.append(new)
    return [tuple(column[i] for column in columns) for i in range(len(leaves))]


def random_node_weights(rng, hierarchy, named=0.6):
    """Weights of some inner nodes such that no node costs less than a descendant; some cost the same."""
    weights, price = {}, {}
    for level in range(1, len(hierarchy[0])):
        for label in dict.fromkeys(row[level] for row in hierarchy):
            leaves = [row for row in hierarchy if row[level] == label]
            if len(leaves) > 1 and label not in price:
                least = max(price.get(row[level - 1], 0.0) for row in leaves)
                weight = 1.0
                if least > len(leaves) or rng.random() < named:
                    some = rng.choice((0.25, 1.0, 3.0)) * rng.uniform(0.5, 1.5)
                    weight = weights[label] = max(least / len(leaves), rng.choice((0.0, some)) or 0.125)
                price[label] = weight * len(leaves)
    return weights


def labelled_rows(attribute):
    """The hierarchy of a CodedAttribute as rows of labels, leaf first."""
    return [
        tuple(labels[block] for labels, block in zip(attribute.labels, blocks, strict=True))
        for blocks in attribute.ancestors.T.tolist()
    ]


def coded(name, hierarchy, column, numeric=False, tree=True):
    """A CodedAttribute from the rows of a hierarchy and a column of values."""
    levels, labels = [list(range(len(hierarchy)))], [[None if row[0] is None else str(row[0]) for row in hierarchy]]
    for level in range(1, len(hierarchy[0])):
        numbers = {}
        levels.append([numbers.setdefault(row[level], len(numbers)) for row in hierarchy])
        labels.append(list(numbers))
    rows = np.array([column.count(row[0]) for row in hierarchy], dtype=np.int64)
    positions = None
    if numeric:
        positions = np.array([np.nan if row[0] is None else float(row[0]) for row in hierarchy])
    return CodedAttribute(name, np.array(levels, dtype=np.int32), rows, positions, tree=tree, labels=labels)


def count_table(table, sensitive=None, label=None):
    """A CountTable from a naive table, its sensitive columns (column -> hierarchy) and its class column."""
    attributes = tuple(
        coded(name, hierarchy, [row[name] for row in table.rows], name in table.numeric, name not in table.sets)
        for name, hierarchy in table.hierarchies.items()
    )
    codes = {name: {row[0]: i for i, row in enumerate(rows)} for name, rows in table.hierarchies.items()}
    keys = [tuple(codes[name][row[name]] for name in table.hierarchies) for row in table.rows]
    tuples = sorted(set(keys))
    where = [tuples.index(key) for key in keys]

    def sparse(column, cardinality, code, ancestors=None, names=()):
        dense = np.zeros((len(tuples), cardinality), dtype=np.int64)
        known = [(j, row) for j, row in zip(where, table.rows, strict=True) if row[column] is not None]
        for j, row in known:
            dense[j, code(row)] += 1
        j, v = np.nonzero(dense)
        offsets = np.searchsorted(j, np.arange(len(tuples) + 1))
        missing = len(where) - len(known)
        return Histogram(column, cardinality, offsets, v, dense[j, v], ancestors, names, missing=missing)

    def histogram(column, hierarchy):
        found = {value: i for i, value in enumerate(row[0] for row in hierarchy)}
        ancestors = coded(column, hierarchy, []).ancestors if len(hierarchy[0]) > 1 else None
        return sparse(column, len(found), lambda row: found[row[column]], ancestors, tuple(map(str, found)))

    labels, joint = None, {}
    if label is not None:
        classes = sorted({row[label] for row in table.rows})
        labels = histogram(label, [(value,) for value in classes])
        for column, hierarchy in (sensitive or {}).items():
            pairs = list(itertools.product((row[0] for row in hierarchy), classes))
            joint[column] = sparse(
                column, len(pairs), lambda row, column=column, pairs=pairs: pairs.index((row[column], row[label]))
            )
    return CountTable(
        attributes,
        np.array(tuples, dtype=np.int32).reshape(len(tuples), len(attributes)).T.copy(),
        np.array([where.count(j) for j in range(len(tuples))], dtype=np.int64),
        {column: histogram(column, hierarchy) for column, hierarchy in (sensitive or {}).items()},
        labels,
        joint,
    )


def add_people(sample, rng, *, constant=False, missing=0.0, most=6):
    """The sample with a column ``person``, whose numbers are those of its people.

    Each person has up to ``most`` rows; with ``constant`` all of them have the same quasi-identifiers. Sensitive values
    are ``missing`` with this probability.
    """
    size, rows, first = rng.integers(1, most + 1), [], {}
    for row in sample.naive.rows:
        who = int(rng.integers(0, max(1, 2 * len(sample.naive.rows) // int(size))))
        new = dict(row, person=who)
        if constant:
            same = first.setdefault(who, new)
            new |= {name: same[name] for name in sample.naive.hierarchies}
        new |= {column: None for column in sample.sensitive if rng.random() < missing}
        rows.append(new)
    number = {who: i for i, who in enumerate(sorted({row["person"] for row in rows}))}
    rows = [dict(row, person=number[row["person"]]) for row in rows]
    plain = sample.naive._replace(rows=rows)
    counts = count_table(plain, sample.sensitive, sample.label)
    return Sample(
        plain, replace(counts, people=people_of(plain, counts, sample.sensitive)), sample.sensitive, sample.label
    )


def tuples_of(table, counts):
    """The tuple of each row."""
    codes = [{row[0]: i for i, row in enumerate(rows)} for rows in table.hierarchies.values()]
    tuples = {tuple(key): j for j, key in enumerate(counts.codes.T.tolist())}
    return [
        tuples[tuple(code[row[name]] for code, name in zip(codes, table.hierarchies, strict=True))]
        for row in table.rows
    ]


def people_of(table, counts, sensitive):
    """Who has rows with each tuple, given rows with a column ``person``."""
    where = tuples_of(table, counts)
    pairs = Counter((j, row["person"]) for j, row in zip(where, table.rows, strict=True))
    by_value = {}
    for column, hierarchy in sensitive.items():
        value = {row[0]: i for i, row in enumerate(hierarchy)}
        known = [(j, row) for j, row in zip(where, table.rows, strict=True) if row[column] is not None]
        triples = sorted({(j, row["person"], value[row[column]]) for j, row in known})
        totals = Counter(v for _, v in {(row["person"], value[row[column]]) for _, row in known})
        by_value[column] = PersonValues(
            np.searchsorted([j for j, _, _ in triples], np.arange(counts.tuples + 1)),
            np.array([p for _, p, _ in triples], dtype=np.int64),
            np.array([v for _, _, v in triples], dtype=np.int64),
            np.array([totals[v] for v in range(len(value))], dtype=np.int64),
        )
    owner = [j for j, _ in sorted(pairs)]
    return People(
        len({row["person"] for row in table.rows}),
        np.searchsorted(owner, np.arange(counts.tuples + 1)),
        np.array([p for _, p in sorted(pairs)], dtype=np.int64),
        np.array([pairs[pair] for pair in sorted(pairs)], dtype=np.int64),
        by_value,
    )


def random_sample(
    seed,
    *,
    rows=(1, 12),
    attributes=(1, 3),
    leaves=(1, 5),
    height=(0, 3),
    numeric=0.4,
    missing=0.3,
    ragged=0.5,
    spare=0.3,
    values=(1, 4),
    sensitive=1,
    label=True,
):
    """One random table.

    Ranges are inclusive. ``numeric``, ``missing`` (a missing leaf, for numbers only), ``ragged`` and
    ``spare`` (leaves that no row has) are probabilities per attribute; ``sensitive`` is the number of
    sensitive columns s0, s1, … with ``values`` values each and a hierarchy; the class column is y.
    """
    rng = random.Random(seed)
    hierarchies, numbers, pools = {}, set(), {}
    for i in range(rng.randint(*attributes)):
        name = f"q{i}"
        size = rng.randint(*leaves)
        tall = rng.randint(*height)
        if rng.random() < numeric:
            numbers.add(name)
            domain = sorted(rng.sample(range(-5, 20), size))
            tree = random_hierarchy(rng, domain, tall, prefix=f"{name}.", ragged=rng.random() < ragged)
            if rng.random() < missing:
                alone = [f"{name}.missing"] * max(tall - 1, 0)
                tree.append((None, *alone, *(["*"] if tall else [])))
        else:
            domain = [f"{name}-{chr(97 + j)}" for j in range(size)]
            tree = random_hierarchy(rng, domain, tall, prefix=f"{name}.", ragged=rng.random() < ragged)
        hierarchies[name] = tree
        pool = [row[0] for row in tree]
        pools[name] = rng.sample(pool, rng.randint(1, len(pool))) if rng.random() < spare else pool
    secret = {}
    for i in range(sensitive):
        domain = [f"s{i}-{j}" for j in range(rng.randint(*values))]
        secret[f"s{i}"] = random_hierarchy(rng, domain, rng.randint(1, 2), prefix=f"s{i}.")
    table = []
    for _ in range(rng.randint(*rows)):
        row = {name: rng.choice(pool) for name, pool in pools.items()}
        row |= {column: rng.choice(hierarchy)[0] for column, hierarchy in secret.items()}
        if label:
            row["y"] = rng.choice("abc")
        table.append(row)
    plain = naive.Table(table, hierarchies, frozenset(numbers))
    return Sample(plain, count_table(plain, secret, "y" if label else None), secret, "y" if label else None)
