"""Mondrian (LeFevre, DeWitt and Ramakrishnan), the baseline of the utility paper, which calls it MultiDim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import CodedAttribute, FloatArray
from discreet.kernels.mondrian import Cutting, Space, cut_groups
from discreet.kernels.requirements import Requirement
from discreet.problem._checks import one_of
from discreet.problem.costs import Cost
from discreet.problem.costs.certainty import Certainty
from discreet.solve._base import SOLVERS, Budget
from discreet.solve._local_solver import LocalSolver
from discreet.solve._local_task import Shares, Task, positions_of

__all__ = ["MondrianSolver"]

_AT_ONCE = 1 << 20
"""Shares looked at between two looks at the clock."""


@SOLVERS.register
@dataclass(frozen=True)
class MondrianSolver(LocalSolver):
    """Cuts groups in two as long as both parts keep the privacy models, along the widest attribute that can be cut.

    A ``strict`` cut lies between two values, the boundary nearest the median; a ``relaxed`` one goes through the median
    itself, so that each part has half the rows and equal tuples may end in different groups. Where a cut of the widest
    attribute will not do, the next one is tried. How wide an attribute is, is its range in the group over the range of
    all values, times the weight the cost gives the attribute.

    With categories ``ordered``, as the utility paper has it, the values of an attribute that is no number are numbered
    in their order and cut like numbers, whatever their hierarchy. With ``tree``, a group whose values lie under one
    node of their hierarchy is cut into the values of one child of that node, the one nearest half of the rows, and the
    others; the attribute is as wide as the share of all leaves under the node, times the weight of the node.

    >>> MondrianSolver(cut="relaxed").text
    'mondrian(cut=relaxed)'
    """

    name: ClassVar[str] = "mondrian"

    cut: str = "strict"
    categories: str = "ordered"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.cut, "The cut of mondrian", ("strict", "relaxed"))
        one_of(self.categories, "The categories of mondrian", ("ordered", "tree"))

    def groups(self, task: Task, requirement: Requirement, budget: Budget) -> Shares:
        """Cut until nothing can be cut, or until the time is over."""
        points = task.points.weights.size
        space = _space(task, trees=self.categories == "tree")
        # A cut shares at most one point, and there is at most one group for each smallest number of rows.
        most = points + task.problem.table.n // requirement.smallest + 1
        cutting = Cutting(
            point=np.concatenate([np.arange(points), np.zeros(most - points, dtype=np.int64)]),
            rows=np.concatenate([task.points.weights, np.zeros(most - points, dtype=np.int64)]),
            first=np.zeros(most + 1, dtype=np.int64),
            open=np.array([1]),
            done_point=np.zeros(most, dtype=np.int64),
            done_rows=np.zeros(most, dtype=np.int64),
            done_group=np.zeros(most, dtype=np.int64),
            done=np.zeros(2, dtype=np.int64),
        )
        cutting.first[1] = points
        while cutting.open[0] and not budget.exhausted:
            cut_groups(space, requirement, self.cut == "relaxed", cutting, _AT_ONCE)
        waiting, done = int(cutting.open[0]), int(cutting.done[0])
        left = int(cutting.first[waiting])
        uncut = np.repeat(np.arange(waiting), np.diff(cutting.first[: waiting + 1])) + cutting.done[1]
        return Shares(
            np.concatenate([cutting.done_point[:done], cutting.point[:left]]),
            np.concatenate([cutting.done_group[:done], uncut]),
            np.concatenate([cutting.done_rows[:done], cutting.rows[:left]]),
        )


def _space(task: Task, *, trees: bool) -> Space:
    """The space that is cut."""
    table, cost = task.problem.table, task.problem.cost
    no_nodes = np.zeros(0, dtype=np.int32)
    places, nodes, levels = [], [], []
    for attribute in table.attributes:
        weight = float(cost.weights.get(attribute.name, 1.0))  # type: ignore[attr-defined]
        tree = trees and attribute.tree
        levels.append(attribute.height + 1 if tree else 0)
        place = weight * _node_widths(attribute, cost) if tree else positions_of(attribute, weight, by_value=True)
        places.append(place)
        nodes.append(attribute.ancestors.astype(np.int32).ravel() if tree else no_nodes)
    sizes, node_sizes = [place.size for place in places], [node.size for node in nodes]
    return Space(
        codes=table.codes,
        weights=table.weights,
        levels=np.array(levels, dtype=np.int64),
        leaves=np.array([attribute.leaves for attribute in table.attributes], dtype=np.int64),
        start=np.cumsum([0, *sizes[:-1]], dtype=np.int64),
        place=np.concatenate(places),
        node_start=np.cumsum([0, *node_sizes[:-1]], dtype=np.int64),
        node=np.concatenate(nodes),
    )


def _node_widths(attribute: CodedAttribute, cost: Cost) -> FloatArray:
    """The share of all leaves that lie under each node, level by level, and 1 for leaves with no node in common.

    Nodes that weigh more in the cost are wider.
    """
    spreads = (cost if isinstance(cost, Certainty) else Certainty()).node_spreads(attribute)
    each = zip(spreads, attribute.ancestors, strict=True)
    return np.append(np.stack([spread[nodes] for spread, nodes in each]).ravel(), 1.0)
