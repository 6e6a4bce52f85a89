"""Loading kernels before a search, or compiling them the first time ever, on a table of a few rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from discreet.counts import CodedAttribute, CountTable, Histogram
from discreet.solve.kernels.compiler.programs import provide
from discreet.solve.kernels.jit import PLAIN

__all__ = ["five_rows", "stand_in", "two_rows", "warm_up"]

_MANY = 1 << 20
"""The rows of each tuple of a stand-in, and ..."""
_VALUES = 64
"""... the number of sensitive values they share: enough for the promises of most jobs."""


def warm_up(name: str, job: Callable[[], object], uses: Iterable[str] = ()) -> None:
    """Load the kernels that a small job needs, or compile them the first time ever.

    They are one program, which is kept under the ``name``: a search in the words of users, such as ``lattice search``.
    What the programs have that it ``uses`` is left out; they must be loaded by the same search.
    """
    if not PLAIN:
        provide(name, job, uses)


def two_rows(attributes: int = 1) -> CountTable:
    """Return a table of two rows that differ in every attribute and in the sensitive column ``s``."""
    return _table([[0, 1]] * attributes, [[0, 1], [0, 0]])


def five_rows() -> CountTable:
    """Return a table of two attributes that is just large enough for searches for partitions to branch."""
    return _table([[0, 0, 1, 3, 3], [0, 1, 2, 1, 3]], [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])


def stand_in(attributes: Sequence[str], sensitive: Sequence[str], label: str | None = None) -> CountTable:
    """Return a table of two tuples with the columns of another, for which the same searches are loaded."""
    codes = np.array([[0, 1]] * len(attributes), dtype=np.int32)
    ancestors, values = np.array([[0, 1], [0, 0]], dtype=np.int32), np.arange(_VALUES, dtype=np.int32)
    histograms = {
        name: Histogram(
            name,
            _VALUES,
            np.array([0, _VALUES, 2 * _VALUES]),
            np.tile(values, 2),
            np.full(2 * _VALUES, _MANY // _VALUES),
            labels=tuple(map(str, values)),
        )
        for name in (*sensitive, *([] if label is None else [label]))
    }
    return CountTable(
        tuple(CodedAttribute(name, ancestors, np.full(2, _MANY)) for name in attributes),
        codes,
        np.full(2, _MANY),
        {name: histograms[name] for name in sensitive},
        labels=None if label is None else histograms[label],
    )


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
