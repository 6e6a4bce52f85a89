"""Loading kernels before a search, or compiling them the first time ever, on a table of a few rows."""

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
"""What loading a truncated or overwritten cache file may raise."""


def warm_up(job: Callable[[], object]) -> None:
    """Run a small job that needs the kernels, so that they are loaded or compiled.

    If cached kernels are damaged they are deleted and compiled again. If they cannot be written, as on a full disk,
    they are compiled for this process alone; what is on disk stays, as it is intact and others may be using it.
    """
    try:
        job()
    except OSError:
        _disable_cache()
        job()
    except _DAMAGED:
        _delete_cached()
        job()


def _delete_cached() -> None:
    """Delete the cached form of all imported kernels; versions of other content stay."""
    for folder in {compiled._cache.cache_path for compiled in _imported_kernels()} - {None}:
        for file in Path(folder).glob("*.nb[ci]"):
            with suppress(OSError):
                file.unlink()


def _disable_cache() -> None:
    """Neither read kernels from disk nor write them there from now on."""
    from numba.core.caching import NullCache

    for compiled in _imported_kernels():
        compiled._cache = NullCache()


def _imported_kernels() -> Iterator[Any]:
    for name, module in list(sys.modules.items()):
        if name.startswith("discreet.solve.") and ".kernels." in name:
            yield from (item for item in vars(module).values() if hasattr(item, "enable_caching"))


def two_rows(attributes: int = 1) -> CountTable:
    """Return a table of two rows that differ in every attribute and in the sensitive column ``s``."""
    return _table([[0, 1]] * attributes, [[0, 1], [0, 0]])


def five_rows() -> CountTable:
    """Return a table of two attributes that is just large enough for searches for partitions to branch."""
    return _table([[0, 0, 1, 3, 3], [0, 1, 2, 1, 3]], [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])


def _table(codes: list[list[int]], levels: list[list[int]]) -> CountTable:
    """Return a table of distinct rows whose attributes all have the same hierarchy."""
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
