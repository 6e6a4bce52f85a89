"""Solvers: a folder for each search, which returns its best recoding and a proven lower bound.

``README.md`` says which search solves what. :class:`Recoder` and :class:`Released` help a solver of your own to price
recodings; they need compiled kernels and are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.solve._base import (
    SOLVERS,
    Budget,
    GroupCovers,
    LocalRecoding,
    PartialSuppression,
    Progress,
    ProgressCallback,
    SearchStats,
    Solution,
    Solver,
    Status,
    gap,
    nothing_found,
)
from discreet.solve._choose import choose_solver, solve
from discreet.solve._compile import compile_ahead, kinds
from discreet.solve._pre_sampled import in_whole_table
from discreet.solve.kernels.compiler.programs import Compiling, listening

if TYPE_CHECKING:
    from discreet.solve._class_arrays import Released
    from discreet.solve._kernel_loading import stand_in
    from discreet.solve._matrix import Combination, combinations
    from discreet.solve._recoding import EvaluatedRecoding, Recoder
    from discreet.solve._redrawn import redraw_hidden

__all__ = [
    "SOLVERS",
    "Budget",
    "Combination",
    "Compiling",
    "EvaluatedRecoding",
    "GroupCovers",
    "LocalRecoding",
    "PartialSuppression",
    "Progress",
    "ProgressCallback",
    "Recoder",
    "Released",
    "SearchStats",
    "Solution",
    "Solver",
    "Status",
    "choose_solver",
    "combinations",
    "compile_ahead",
    "gap",
    "in_whole_table",
    "kinds",
    "listening",
    "nothing_found",
    "redraw_hidden",
    "solve",
    "stand_in",
]

_LAZY = {
    "Combination": "discreet.solve._matrix",
    "EvaluatedRecoding": "discreet.solve._recoding",
    "Recoder": "discreet.solve._recoding",
    "Released": "discreet.solve._class_arrays",
    "combinations": "discreet.solve._matrix",
    "redraw_hidden": "discreet.solve._redrawn",
    "stand_in": "discreet.solve._kernel_loading",
}


def __getattr__(name: str) -> Any:
    """Import what loads kernels or all solvers when it is first used."""
    if name not in _LAZY:
        raise AttributeError(f"module 'discreet.solve' has no attribute '{name}'")
    return getattr(import_module(_LAZY[name]), name)
