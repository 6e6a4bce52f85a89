"""What the search is compared with: looking at every node of the lattice.

Nodes are visited from the bottom up. ``group_all`` only groups the rows at each node, compiled, with the grouping the
search uses and rolling up from nodes below as it does; it prices nothing, so that it does less than any exhaustive
search must. ``evaluate_some`` does all the work, in the way nodes are evaluated for costs and models without compiled
form.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.classes import ClassLists, Lattice, Workspace, group, keep_list, source_of
from discreet.problem import Problem
from discreet.solve._evaluate import NodeEvaluator, lay_out, make_lists, make_workspace

__all__ = ["all_nodes", "evaluate_some", "group_all"]


def all_nodes(problem: Problem) -> NDArray[np.int64]:
    """Return all level vectors, from the bottom of the lattice to its top."""
    sizes = [high - low + 1 for low, high in zip(problem.lowest, problem.highest, strict=True)]
    nodes = np.stack([axis.ravel() for axis in np.indices(sizes)], axis=1) + np.array(problem.lowest)
    return np.ascontiguousarray(nodes[np.argsort(nodes.sum(axis=1), kind="stable")], dtype=np.int64)


@kernel
def _visit(lattice: Lattice, lists: ClassLists, ws: Workspace, nodes: NDArray[np.int64], room: int) -> int:
    """Group at every node; return the number of classes of them all."""
    total = 0
    for q in range(nodes.shape[0]):
        source = source_of(lists, nodes[q])
        classes = group(lattice, lists, ws, source, nodes[q])
        keep_list(lists, source, nodes[q], classes, room)
        total += classes
    return total


def group_all(problem: Problem, nodes: NDArray[np.int64]) -> int:
    """Group the rows at every node; return the number of classes of them all."""
    lattice, table = lay_out(problem), problem.table
    lists = make_lists(table, lattice, np.zeros((table.tuples, 0)))
    return int(_visit(lattice, lists, make_workspace(lattice), nodes, table.tuples))


def evaluate_some(problem: Problem, nodes: NDArray[np.int64]) -> float:
    """Evaluate nodes one by one; return the least cost."""
    evaluator = NodeEvaluator(problem, lay_out(problem))
    return min(evaluator.evaluate(node).cost for node in nodes)
