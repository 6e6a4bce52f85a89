"""Hierarchical discernibility: how many more rows share each released value than shared the original."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.counts import CodedAttribute, CountTable, FloatArray, IntArray
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS, AttributeCosts, Cost, Separable
from discreet.problem.costs._shared import required, required_members

__all__ = ["HierarchicalDiscernibility"]


@COSTS.register
@dataclass(frozen=True)
class HierarchicalDiscernibility(Cost):
    """Each row costs the mean over the attributes of (N_e - N_v) / (N - N_v), or 1 if it is suppressed (HDM).

    A suppressed sensitive value adds 1 to the cost of its row.

    Of all N rows of the table, including suppressed ones, N_v have the row's value and N_e a value in its block. An
    attribute with a single value costs a published row nothing. The cost of a row is linear in N_e, so that two sums
    per class give it exactly. If only some rows of each sensitive value are suppressed, those are that cost most if
    published.

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
    tells_suppressed = True
    needs = frozenset({"block_rows", "moments", "members"})
    local = True
    superadditive = True
    divisible = True
    removal_never_pays = True

    def published(self, classes: Classes) -> FloatArray:
        """Return the sum over rows and attributes."""
        cost = required(classes.block_rows) * required(classes.moments) + required(classes.offsets)
        return np.asarray(cost.sum(axis=1))

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return 1 for each row."""
        return classes.sizes.astype(np.float64)

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return the cost of the rows that stay, and 1 for each suppressed row."""
        members, taken = required_members(classes), self.members_removed(classes, attribute, removed)
        more = np.bincount(members.owner, weights=taken * (1.0 - self._row_costs(classes)), minlength=len(classes))
        return self.published(classes) + more

    def members_removed(self, classes: Classes, attribute: str, removed: IntArray) -> IntArray:
        """Return the rows of each sensitive value that cost most, of equally dear ones those of the first tuples."""
        members = required_members(classes)
        order = np.lexsort((members.tuples, -self._row_costs(classes), members.values, members.owner))
        rows = members.rows[order]
        cell = members.owner[order] * removed.shape[1] + members.values[order]
        before = np.cumsum(rows) - rows
        before -= before[np.searchsorted(cell, cell)]
        taken = np.zeros(rows.size, dtype=np.int64)
        taken[order] = np.clip(removed.reshape(-1)[cell] - before, 0, rows)
        return taken

    def _row_costs(self, classes: Classes) -> FloatArray:
        """Return what a row of each entry of ``classes.members`` costs if it is published."""
        table, members, rows = classes.table, required_members(classes), required(classes.block_rows)
        cost = np.zeros(members.owner.size)
        for column, (attribute, codes) in enumerate(zip(table.attributes, table.codes, strict=True)):
            leaf = codes[members.tuples]
            cost += rows[members.owner, column] * self.leaf_moment(attribute, table)[leaf]
            cost += self.leaf_offset(attribute, table)[leaf]
        return cost

    def worst(self, table: CountTable) -> float:
        """Return the number of rows."""
        return float(table.n)

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return the mean of (N - N_e) / (N - N_v), with N_v of the rarest value of each attribute."""
        left = np.zeros(len(classes))
        for each in self._margins(classes).T:
            left += each
        return left / len(classes.table.attributes)

    @staticmethod
    def _margins(classes: Classes) -> FloatArray:
        """Return (N - N_e) / (N - N_v) of each attribute, with N_v of its rarest value, (c, m)."""
        n, rows = classes.table.n, required(classes.block_rows)
        left = np.ones(rows.shape)
        for column, attribute in enumerate(classes.table.attributes):
            rarest = int(attribute.rows[attribute.rows > 0].min(initial=n))
            if rarest < n:
                left[:, column] = (n - rows[:, column]) / (n - rarest)
        return left

    def by_attribute(self, classes: Classes) -> AttributeCosts:
        """Return the terms of the mean."""
        count = len(classes.table.attributes)
        cost = required(classes.block_rows) * required(classes.moments) + required(classes.offsets)
        return AttributeCosts(cost, self._margins(classes) / count, np.full(count, 1.0 / count))

    def divided_margin(self, classes: Classes, largest: IntArray) -> FloatArray:
        """Return the same: what a row costs does not depend on the other rows that stay."""
        return self.margin(classes)

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
