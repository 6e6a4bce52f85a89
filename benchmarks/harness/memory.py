"""The peak memory of this process during a piece of work, where the system tells (Linux)."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["megabytes_for"]

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def megabytes_for(work: Callable[[], Any]) -> tuple[Any, float | None]:
    """Do some work; return its result and the megabytes it took on top of what the process held."""
    _give_back()
    before = _megabytes("VmRSS")
    try:
        _CLEAR.write_text("5")
    except OSError:
        return work(), None
    result = work()
    after = _megabytes("VmHWM")
    return result, None if before is None or after is None else max(0.0, after - before)


def _give_back() -> None:
    """Return freed memory to the system, or work would find it there and seem to need none."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _megabytes(name: str) -> float | None:
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:")), None)
