"""Solvers: one module per algorithm, each returning its best recoding and a proven lower bound."""

from discreet.solve._base import (
    SOLVERS,
    Budget,
    Cover,
    Groups,
    Inside,
    Progress,
    ProgressCallback,
    Solution,
    Solver,
    Status,
    gap,
)
from discreet.solve._choose import choose_solver, prepare, solve
from discreet.solve._left_out import in_whole_table

__all__ = [
    "SOLVERS",
    "Budget",
    "Cover",
    "Groups",
    "Inside",
    "Progress",
    "ProgressCallback",
    "Solution",
    "Solver",
    "Status",
    "choose_solver",
    "gap",
    "in_whole_table",
    "prepare",
    "solve",
]
