"""Hierarchical discernibility: how many more rows share each released value than shared the original."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.counts import CodedAttribute, CountTable, FloatArray
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS, Cost, Separable
from discreet.problem.costs._shared import required

__all__ = ["HierarchicalDiscernibility"]


@COSTS.register
@dataclass(frozen=True)
class HierarchicalDiscernibility(Cost):
    """Each row costs the mean over the attributes of (N_e - N_v) / (N - N_v), or 1 if it is suppressed (HDM).

    A suppressed sensitive value adds 1 to the cost of its row.

    Of all N rows of the table, including suppressed ones, N_v have the row's value and N_e a value in its block. An
    attribute with a single value costs a published row nothing. The cost of a row is linear in N_e, so that two sums
    per class give it exactly.

    >>> HierarchicalDiscernibility().text
    'HDM'
    """

    name = "HDM"
    aliases = ("hierarchical-discernibility",)
    examples = ("HDM",)
    title = "Harder to tell apart"
    summary = "How many people became harder to tell apart in each column."
    rank = 40
    sentence = "How many people became harder to tell apart in each column, as a share of all."
    needs = frozenset({"block_rows", "moments"})
    local = True
    superadditive = True

    def published(self, classes: Classes) -> FloatArray:
        """Return the sum over rows and attributes."""
        cost = required(classes.block_rows) * required(classes.moments) + required(classes.offsets)
        return np.asarray(cost.sum(axis=1))

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return 1 for each row."""
        return classes.sizes.astype(np.float64)

    def worst(self, table: CountTable) -> float:
        """Return the number of rows."""
        return float(table.n)

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return the mean of (N - N_e) / (N - N_v), with N_v of the rarest value of each attribute."""
        n, rows = classes.table.n, required(classes.block_rows)
        left = np.zeros(len(classes))
        for column, attribute in enumerate(classes.table.attributes):
            rarest = int(attribute.rows[attribute.rows > 0].min(initial=n))
            left += 1.0 if rarest == n else (n - rows[:, column]) / (n - rarest)
        return left / len(classes.table.attributes)

    def value_penalty(self, table: CountTable) -> float:
        """Return 1."""
        return 1.0

    def leaf_moment(self, attribute: CodedAttribute, table: CountTable) -> FloatArray:
        """Return by how much one more row in the block of a leaf raises the cost."""
        others = (table.n - attribute.rows).astype(np.float64)
        share = len(table.attributes) * others
        return np.divide(1.0, share, out=np.zeros(attribute.leaves), where=others > 0)

    def leaf_offset(self, attribute: CodedAttribute, table: CountTable) -> FloatArray:
        """Return what makes the cost of an ungeneralized leaf 0."""
        return -attribute.rows * self.leaf_moment(attribute, table)

    def separable(self, table: CountTable) -> Separable:
        """Return N_e as the rate."""
        attributes = table.attributes
        return Separable(
            rate=[[rows.astype(np.float64) for rows in attribute.block_rows] for attribute in attributes],
            moment=[self.leaf_moment(attribute, table) for attribute in attributes],
            offset=[self.leaf_offset(attribute, table) for attribute in attributes],
            penalty=[np.full(attribute.leaves, 1.0 / len(attributes)) for attribute in attributes],
            block_rate=lambda i, leaves, rows: rows.astype(np.float64),
        )
