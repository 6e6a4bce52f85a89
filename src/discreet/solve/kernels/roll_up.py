"""Rows of arrays combined by class: sums, minima and maxima."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import kernel

__all__ = ["add_rows", "max_rows", "min_rows"]


@kernel
def add_rows(ids: NDArray[np.integer], source: NDArray[np.int64], target: NDArray[np.int64]) -> None:  # target OUT
    """Add each row of source to the row of target that its id names."""
    for j in range(source.shape[0]):
        for a in range(source.shape[1]):
            target[ids[j], a] += source[j, a]


@kernel
def min_rows(ids: NDArray[np.integer], source: NDArray[np.int32], target: NDArray[np.int32]) -> None:  # target OUT
    """Lower each row of target to the rows of source whose id names it."""
    for j in range(source.shape[0]):
        for a in range(source.shape[1]):
            target[ids[j], a] = min(target[ids[j], a], source[j, a])


@kernel
def max_rows(ids: NDArray[np.integer], source: NDArray[np.int32], target: NDArray[np.int32]) -> None:  # target OUT
    """Raise each row of target to the rows of source whose id names it."""
    for j in range(source.shape[0]):
        for a in range(source.shape[1]):
            target[ids[j], a] = max(target[ids[j], a], source[j, a])
