"""Random numbers for kernels: the same sequence for the same state, compiled or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel

__all__ = ["RandomState", "random_below", "random_bits"]

RandomState = NDArray[np.uint64]
"""One number, not 0."""


@inner_kernel
def random_bits(state: RandomState) -> np.uint64:  # state IN OUT
    """The next number of the sequence (Marsaglia's xorshift with period 2**64 - 1)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@inner_kernel
def random_below(state: RandomState, n: int) -> np.int64:  # state IN OUT
    """A random whole number from 0 to n - 1."""
    return np.int64((random_bits(state) >> np.uint64(20)) % np.uint64(n))
