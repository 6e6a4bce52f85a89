"""Mondrian (LeFevre, DeWitt and Ramakrishnan), the baseline of the utility paper, which calls it MultiDim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import CodedAttribute, FloatArray
from discreet.problem.costs import Cost
from discreet.problem.costs.certainty import Certainty
from discreet.runtime.arguments import one_of
from discreet.solve._base import SOLVERS, Budget
from discreet.solve.kernels.records import records
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.base import LocalSolver
from discreet.solve.local.task import LocalGrouping, LocalTask, range_rates
from discreet.solve.published.kernels.mondrian import CutCounters, Cutting, MondrianSpace, cut_groups

__all__ = ["MondrianSolver"]

_AT_ONCE = 1 << 20
"""Shares visited between two checks of the budget."""


@SOLVERS.register
@dataclass(frozen=True)
class MondrianSolver(LocalSolver):
    """Cuts groups in two as long as both parts keep the privacy models, along the widest attribute that can be cut.

    A ``strict`` cut lies between two values, at the boundary nearest the median; a ``relaxed`` one goes through the
    median itself, so that each part has half the rows and equal tuples may end up in different groups. If the widest
    attribute cannot be cut, the next one is tried. The width of an attribute is its range in the group over the range
    of all values, times its weight in the cost.

    With categories ``ordered``, as in the utility paper, the values of a categorical attribute are numbered in their
    order and cut like numbers, whatever their hierarchy. With ``tree``, a group whose values lie under one node of
    their hierarchy is cut into the values of one child of that node, the one nearest half of the rows, and the others;
    the width of the attribute is the share of all leaves under the node, times the weight of the node.

    >>> MondrianSolver(cut="relaxed").text
    'mondrian(cut=relaxed)'
    """

    name: ClassVar[str] = "mondrian"
    examples: ClassVar[tuple[str, ...]] = ("mondrian", "mondrian(cut=relaxed, categories=tree)")
    title: ClassVar[str] = "Mondrian"
    summary: ClassVar[str] = "Cuts at the median: quick, for comparison."
    rank: ClassVar[int] = 50

    cut: str = "strict"
    categories: str = "ordered"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.cut, "The cut of mondrian", ("strict", "relaxed"))
        one_of(self.categories, "The categories of mondrian", ("ordered", "tree"))

    def groups(self, task: LocalTask, requirement: Requirement, budget: Budget) -> LocalGrouping:
        """Cut until nothing can be cut, or until the time is over."""
        points = task.points.weights.size
        space = _space(task, trees=self.categories == "tree")
        # A cut divides at most one point, and there is at most one group for each smallest number of rows.
        most = points + task.problem.table.n // requirement.smallest + 1
        spare = np.zeros(most - points, dtype=np.int64)
        cutting = Cutting(
            point=np.concatenate([np.arange(points), spare]),
            rows=np.concatenate([task.points.weights, spare]),
            first=np.zeros(most + 1, dtype=np.int64),
            done_point=np.zeros(most, dtype=np.int64),
            done_rows=np.zeros(most, dtype=np.int64),
            done_group=np.zeros(most, dtype=np.int64),
            counters=records(CutCounters, 1),
        )
        counters = cutting.counters[0]
        cutting.first[1], counters.waiting = points, 1
        while counters.waiting and not budget.exhausted:
            cut_groups(space, requirement, self.cut == "relaxed", cutting, _AT_ONCE)
        waiting, done = int(counters.waiting), int(counters.done_shares)
        left = int(cutting.first[waiting])
        uncut = np.repeat(np.arange(waiting), np.diff(cutting.first[: waiting + 1])) + counters.done_groups
        return LocalGrouping(
            np.concatenate([cutting.done_point[:done], cutting.point[:left]]),
            np.concatenate([cutting.done_group[:done], uncut]),
            np.concatenate([cutting.done_rows[:done], cutting.rows[:left]]),
        )


def _space(task: LocalTask, *, trees: bool) -> MondrianSpace:
    """Return the space that is cut."""
    table, cost = task.problem.table, task.problem.cost
    no_nodes = np.zeros(0, dtype=np.int32)
    widths, nodes, levels = [], [], []
    for attribute in table.attributes:
        weight = float(cost.weights.get(attribute.name, 1.0))  # type: ignore[attr-defined]
        tree = trees and attribute.tree
        levels.append(attribute.height + 1 if tree else 0)
        width = weight * _node_widths(attribute, cost) if tree else range_rates(attribute, weight, by_value=True)
        widths.append(width)
        nodes.append(attribute.ancestors.astype(np.int32).ravel() if tree else no_nodes)
    sizes, node_sizes = [width.size for width in widths], [node.size for node in nodes]
    return MondrianSpace(
        codes=np.ascontiguousarray(table.codes),
        levels=np.array(levels, dtype=np.int64),
        leaves=np.array([attribute.leaves for attribute in table.attributes], dtype=np.int64),
        start=np.cumsum([0, *sizes[:-1]], dtype=np.int64),
        width=np.concatenate(widths),
        node_start=np.cumsum([0, *node_sizes[:-1]], dtype=np.int64),
        node=np.concatenate(nodes),
    )


def _node_widths(attribute: CodedAttribute, cost: Cost) -> FloatArray:
    """Return the share of all leaves under each node, level by level, then 1 for leaves without a common node.

    Nodes that weigh more in the cost are wider.
    """
    spreads = (cost if isinstance(cost, Certainty) else Certainty()).node_spreads(attribute)
    each = zip(spreads, attribute.ancestors, strict=True)
    return np.append(np.stack([spread[nodes] for spread, nodes in each]).ravel(), 1.0)
