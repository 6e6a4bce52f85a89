"""Kernels loaded before a search, or compiled the first time ever, on a table of two rows."""

from __future__ import annotations

from collections.abc import Callable
from pickle import PickleError

import numpy as np

from discreet.counts import CodedAttribute, CountTable, Histogram
from discreet.kernels._numba import forget_compiled

__all__ = ["two_rows", "warm_up"]

_DAMAGED = (
    AttributeError,
    EOFError,
    ImportError,
    IndexError,
    OSError,
    PickleError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What loading damaged kernels may end in."""


def warm_up(job: Callable[[], object]) -> None:
    """Do a job that needs the kernels; if what was kept of them on disk is damaged, once more without it."""
    try:
        job()
    except _DAMAGED:
        forget_compiled()
        job()


def two_rows(attributes: int = 1) -> CountTable:
    """Return a table of two rows that differ in everything, in each attribute and in the sensitive ``s``."""
    values = Histogram(
        "s", 2, np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32), np.array([1, 1]), labels=("x", "y")
    )
    leaves = np.array([[0, 1], [0, 0]], dtype=np.int32)
    return CountTable(
        tuple(CodedAttribute(f"q{i}", leaves, np.array([1, 1])) for i in range(attributes)),
        np.array([[0, 1]] * attributes, dtype=np.int32),
        np.array([1, 1]),
        {"s": values},
    )
