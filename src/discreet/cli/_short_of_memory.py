"""An orderly exit before the kernel kills a job that used up the memory of its container."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from discreet.errors import DiscreetError
from discreet.runtime.machine_limits import MemoryLimit, memory_limits, swap_left

__all__ = ["ending_in_time"]

_INTERVAL = 0.02
"""Seconds between two checks."""
_RESERVED_SHARE, _RESERVED_BYTES = 25, 16 << 20
"""The reserve: 1/25 of the memory, but at least 16 MB; no job uses it up between two checks."""


@contextmanager
def ending_in_time(report: Callable[[BaseException], int]) -> Iterator[None]:
    """Watch the free memory of a container; when hardly any is left, ``report`` it, clean up and exit.

    A thread that waits for memory cannot be interrupted, so the process exits on the spot. Without a container limit,
    or with swap space, nothing is watched.
    """
    if not _limits() or swap_left():
        yield
        return
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(done, report), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()


def _limits() -> list[MemoryLimit]:
    return [limit for limit in memory_limits() if limit.kind == "container"]


def _watch(done: threading.Event, report: Callable[[BaseException], int]) -> None:
    while not done.wait(_INTERVAL):
        for limit in _limits():
            if limit.left < max(limit.size // _RESERVED_SHARE, _RESERVED_BYTES):
                _exit(limit, report)


def _exit(limit: MemoryLimit, report: Callable[[BaseException], int]) -> None:
    from discreet.runtime.atomic_write import abandon
    from discreet.runtime.private_folders import remove_private_folders

    code = 1
    with suppress(Exception):
        code = report(
            DiscreetError(
                f"The {limit.size >> 20:,} MB of memory of this container do not suffice for this job; give it more, "
                "or give fewer or coarser quasi-identifiers.",
                topic="out-of-memory",
            )
        )
        sys.stdout.flush()
    with suppress(Exception):
        abandon()
        remove_private_folders()
    os._exit(code)
