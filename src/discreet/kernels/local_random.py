"""Random numbers for kernels: the same row of numbers for the same state, compiled or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel

__all__ = ["State", "random_below", "random_bits"]

State = NDArray[np.uint64]
"""One number, not 0."""


@inner_kernel
def random_bits(state: State) -> np.uint64:  # state IN OUT
    """The next of a row of random numbers (xorshift)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@inner_kernel
def random_below(state: State, n: int) -> np.int64:  # state IN OUT
    """A random whole number from 0 to n - 1."""
    return np.int64((random_bits(state) >> np.uint64(20)) % np.uint64(n))
