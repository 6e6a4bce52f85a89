"""A solver for tests that tries every partition of the schemes in plain loops, with any kind of suppression.

Its cost is the number of other leaves each released row could be, plus a penalty for suppressed rows and values.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from discreet.problem import Classes
from discreet.solve import PartialSuppression, Solution, Solver

__all__ = ["Exhaustive", "solution_of"]


@dataclass(frozen=True)
class Exhaustive(Solver):
    """Use it as ``anonymize(..., scheme="subtree", solver=Exhaustive())``."""

    name = "exhaustive"
    schemes = frozenset({"full-domain", "subtree", "ordered", "guided-ordered", "set", "guided-set"})
    suppressions = frozenset({"none", "class-records", "violating-records", "class-values", "violating-values"})

    def solve(self, problem, budget, progress=None):
        choices = [
            [as_blocks(partition) for partition in scheme.partitions(attribute)]
            for attribute, scheme in zip(problem.table.attributes, problem.schemes, strict=True)
        ]
        found = [solution_of(problem, blocks) for blocks in itertools.product(*choices)]
        return min(found, key=lambda solution: solution.cost)


def as_blocks(partition):
    blocks = np.zeros(sum(map(len, partition)), dtype=np.int64)
    for number, leaves in enumerate(partition):
        blocks[list(leaves)] = number
    return blocks


def solution_of(problem, blocks):
    """The solution that recodes by ``blocks`` and suppresses what is necessary."""
    table = problem.table
    released = np.array([block[codes] for block, codes in zip(blocks, table.codes, strict=True)])
    _, example, member = np.unique(released, axis=1, return_index=True, return_inverse=True)
    member = member.ravel()
    sizes = np.bincount(member, weights=table.weights).astype(np.int64)
    counts = {name: per_class(histogram, member, example.size) for name, histogram in table.sensitive.items()}
    result = problem.suppression.apply(Classes(table, sizes, counts), problem.privacy)
    if not result.feasible.all():
        return Solution("infeasible", np.inf, np.inf)
    gone = result.records == sizes
    inside = None
    if result.removed is not None:
        inside = parts_of(problem, member, example, result.removed, gone)
    leaves = sum(np.bincount(block)[block[codes]] - 1 for block, codes in zip(blocks, table.codes, strict=True))
    cost = float(
        (table.weights[~gone[member]] * leaves[~gone[member]]).sum() + 2 * result.records.sum() + result.values.sum()
    )
    return Solution(
        "optimal",
        cost,
        cost,
        blocks=tuple(blocks),
        suppressed=gone[member],
        inside=inside,
        suppressed_rows=int(result.records.sum()),
        suppressed_values=int(result.values.sum()),
        classes=int((~gone).sum()),
    )


def per_class(histogram, member, classes):
    counts = np.zeros((classes, histogram.cardinality), dtype=np.int64)
    tuples = np.repeat(member, np.diff(histogram.offsets))
    np.add.at(counts, (tuples, histogram.values), histogram.counts)
    return counts


def parts_of(problem, member, example, removed, gone):
    """Partial suppression of classes that are not suppressed as a whole; with labels, from the last label on."""
    (name,) = problem.table.sensitive
    records = not problem.suppression.hides_values
    removed = np.where(gone[:, np.newaxis] & records, 0, removed)
    labels = problem.table.labels
    if labels is None or not records:
        where, value = np.nonzero(removed)
        return PartialSuppression(name, records, example[where], value, removed[where, value])
    joint = per_class(problem.table.joint[name], member, example.size).reshape(*removed.shape, labels.cardinality)
    entries = []
    for where, value in zip(*np.nonzero(removed), strict=True):
        left = removed[where, value]
        for label in reversed(range(labels.cardinality)):
            taken = min(left, joint[where, value, label])
            if taken:
                entries.append((example[where], value, taken, label))
            left -= taken
    columns = np.array(entries, dtype=np.int64).reshape(-1, 4).T
    return PartialSuppression(name, records, *columns)
