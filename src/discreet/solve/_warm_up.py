"""Kernels loaded before a search, or compiled the first time ever, on a table of two rows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from pickle import PickleError
from typing import Any

import numpy as np

from discreet.counts import CodedAttribute, CountTable, Histogram

__all__ = ["five_rows", "two_rows", "warm_up"]

_DAMAGED = (
    AttributeError,
    EOFError,
    ImportError,
    IndexError,
    PickleError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What loading damaged kernels may end in."""


def warm_up(job: Callable[[], object]) -> None:
    """Do a job that needs the kernels; if what was kept of them on disk is damaged, once more without it.

    Where they cannot be kept, as on a full disk, they are compiled for this run alone. What is there stays: it is
    whole, and others may be using it.
    """
    try:
        job()
    except OSError:
        _keep_nothing()
        job()
    except _DAMAGED:
        _forget_own()
        job()


def _forget_own() -> None:
    """Throw away what was kept of the kernels of this installation; others beside it keep theirs."""
    for folder in {compiled._cache.cache_path for compiled in _kernels()} - {None}:
        for file in Path(folder).glob("*.nb[ci]"):
            with suppress(OSError):
                file.unlink()


def _keep_nothing() -> None:
    """Have no kernel read from disk or written there from now on."""
    from numba.core.caching import NullCache

    for compiled in _kernels():
        compiled._cache = NullCache()


def _kernels() -> Iterator[Any]:
    """Return every kernel that was imported."""
    for name, module in list(sys.modules.items()):
        if name.startswith("discreet.kernels."):
            yield from (item for item in vars(module).values() if hasattr(item, "enable_caching"))


def two_rows(attributes: int = 1) -> CountTable:
    """Return a table of two rows that differ in everything, in each attribute and in the sensitive ``s``."""
    return _table([[0, 1]] * attributes, [[0, 1], [0, 0]])


def five_rows() -> CountTable:
    """Return a table of two attributes so small, and yet such that searches for partitions have to branch."""
    return _table([[0, 0, 1, 3, 3], [0, 1, 2, 1, 3]], [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])


def _table(codes: list[list[int]], levels: list[list[int]]) -> CountTable:
    """Return a table of rows that all differ, whose attributes have the same hierarchy."""
    rows, ancestors = len(codes[0]), np.array(levels, dtype=np.int32)
    values = np.arange(rows, dtype=np.int32) % 2
    sensitive = Histogram("s", 2, np.arange(rows + 1), values, np.ones(rows, dtype=np.int64), labels=("x", "y"))
    attributes = (
        CodedAttribute(f"q{i}", ancestors, np.bincount(column, minlength=ancestors.shape[1]))
        for i, column in enumerate(codes)
    )
    return CountTable(
        tuple(attributes), np.array(codes, dtype=np.int32), np.ones(rows, dtype=np.int64), {"s": sensitive}
    )
