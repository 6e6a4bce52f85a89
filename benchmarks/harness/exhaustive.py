"""What the search is compared with: looking at every node of the lattice.

Nodes are visited from the bottom up. ``group_all`` only groups the rows at each node, compiled, with the grouping the
search uses and rolling up from nodes below as it does; it prices nothing, so that it does less than any exhaustive
search must. ``evaluate_some`` does all the work, in the way nodes are evaluated for costs and models without compiled
form.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.problem import Problem
from discreet.solve.kernels.classes import ClassPool, group, keep_list, source_of
from discreet.solve.kernels.jit import kernel
from discreet.solve.lattice.evaluate import NodeEvaluator
from discreet.solve.lattice.layout import lay_out
from discreet.solve.lattice.pool import make_pool

__all__ = ["all_nodes", "evaluate_some", "group_all"]


def all_nodes(problem: Problem) -> NDArray[np.int64]:
    """Return all level vectors, from the bottom of the lattice to its top."""
    sizes = [high - low + 1 for low, high in zip(problem.lowest, problem.highest, strict=True)]
    nodes = np.stack([axis.ravel() for axis in np.indices(sizes)], axis=1) + np.array(problem.lowest)
    return np.ascontiguousarray(nodes[np.argsort(nodes.sum(axis=1), kind="stable")], dtype=np.int64)


@kernel
def _visit(pool: ClassPool, nodes: NDArray[np.int64]) -> int:
    """Group at every node; return the number of classes of them all."""
    total = 0
    for q in range(nodes.shape[0]):
        source = source_of(pool.lists, nodes[q])
        classes = group(pool, source, nodes[q])
        keep_list(pool, source, nodes[q], classes, True)
        total += classes
    return total


def group_all(problem: Problem, nodes: NDArray[np.int64]) -> int:
    """Group the rows at every node; return the number of classes of them all."""
    return int(_visit(make_pool(problem.table, lay_out(problem)), nodes))


def evaluate_some(problem: Problem, nodes: NDArray[np.int64]) -> float:
    """Evaluate nodes one by one; return the least cost."""
    evaluator = NodeEvaluator(problem)
    return min(evaluator.evaluate(node).cost for node in nodes)
