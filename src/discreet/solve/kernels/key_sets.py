"""Which classes stay if every key set must keep enough rows: the largest set of classes that does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import kernel

__all__ = ["settle"]


@kernel
def settle(
    keys: NDArray[np.int64],
    least: NDArray[np.int64],
    sizes: NDArray[np.int64],
    rows: NDArray[np.int64],
    stays: NDArray[np.bool_],
) -> None:  # rows, stays OUT
    """Take away classes that lie in a key class of too few rows, until none does.

    ``keys[s, c]`` is the key class of class c by key set s, numbered through over all sets; ``rows`` is 0 for each of
    them at first, and has the rows that stay in the end. Taking a class away only makes key classes smaller, so the
    order does not matter.
    """
    for s in range(keys.shape[0]):
        for c in range(keys.shape[1]):
            if stays[c]:
                rows[keys[s, c]] += sizes[c]
    changed = True
    while changed:
        changed = False
        for s in range(keys.shape[0]):
            for c in range(keys.shape[1]):
                if stays[c] and rows[keys[s, c]] < least[s]:
                    stays[c] = False
                    changed = True
                    for t in range(keys.shape[0]):
                        rows[keys[t, c]] -= sizes[c]
