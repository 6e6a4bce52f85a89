"""The one flavour of compiled function used everywhere, so that switching it switches all kernels.

Set ``DISCREET_PLAIN_KERNELS=1`` to run every kernel as plain Python (for debugging, coverage and checks), or
``DISCREET_CHECK_BOUNDS=1`` to compile with bounds checks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["PLAIN", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])

PLAIN = os.environ.get("DISCREET_PLAIN_KERNELS") == "1"
"""Whether kernels run as plain Python."""


def kernel(function: F) -> F:
    """Compile a kernel: no GIL, cached on disk, no objects."""
    if PLAIN:
        return function
    from numba import njit

    checks = os.environ.get("DISCREET_CHECK_BOUNDS") == "1"
    compiled: F = njit(cache=not checks, nogil=True, boundscheck=checks)(function)
    return compiled
