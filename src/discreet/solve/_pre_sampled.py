"""Pre-sampling: a solution for the sampled records as a solution for the whole table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.problem import Problem
from discreet.solve._base import GroupCovers, LocalRecoding, Solution

__all__ = ["in_whole_table"]


def in_whole_table(problem: Problem, solution: Solution) -> Solution:
    """Return the solution with tuples numbered as in the whole table, and the records left out as suppressed.

    Records left out may have the same values as released ones, so that blocks cannot express it and groups can.
    """
    kept, whole = problem.kept, problem.whole
    if kept is None:
        return solution
    groups = solution.groups or _as_groups(problem, solution)
    gone = np.setdiff1d(np.arange(whole.tuples), kept, assume_unique=True)
    return replace(
        solution,
        suppressed=np.zeros(0, dtype=np.bool_),
        suppressed_rows=solution.suppressed_rows + int(whole.weights[gone].sum()),
        groups=replace(
            groups,
            tuple=np.concatenate([kept[groups.tuple], gone]),
            group=np.concatenate([groups.group, np.full(gone.size, -1)]),
            count=np.concatenate([groups.count, whole.weights[gone]]),
        ),
    )


def _as_groups(problem: Problem, solution: Solution) -> LocalRecoding:
    """Return the classes of a full-domain recoding as groups."""
    table, levels = problem.table, solution.levels or ()
    grouping = table.group(solution.blocks)
    covers = [
        GroupCovers("node", np.full(grouping.sizes.size, level), block[codes[grouping.first]].astype(np.int64))
        for level, block, codes in zip(levels, solution.blocks, table.codes, strict=True)
    ]
    return LocalRecoding(np.arange(table.tuples), grouping.ids.astype(np.int64), table.weights, covers)
