"""Solvers: one module per algorithm, each returning its best recoding and a proven lower bound.

``Recoder`` and ``Released`` are what a solver of your own needs to price recodings; they are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from discreet.solve._gather import Released
    from discreet.solve._recoded import Recoded, Recoder

__all__ = [
    "SOLVERS",
    "Budget",
    "Cover",
    "Groups",
    "Inside",
    "Progress",
    "ProgressCallback",
    "Recoded",
    "Recoder",
    "Released",
    "Solution",
    "Solver",
    "Status",
    "choose_solver",
    "gap",
    "in_whole_table",
    "prepare",
    "solve",
]

_LATER = {
    "Recoded": "discreet.solve._recoded",
    "Recoder": "discreet.solve._recoded",
    "Released": "discreet.solve._gather",
}


def __getattr__(name: str) -> Any:
    """Import what compiled kernels hang on when it is asked for."""
    if name not in _LATER:
        raise AttributeError(f"module 'discreet.solve' has no attribute '{name}'")
    return getattr(import_module(_LATER[name]), name)
