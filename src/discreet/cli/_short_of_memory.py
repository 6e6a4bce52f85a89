"""An end in good order before the kernel kills a job that took all the memory of its container."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from discreet._limits import MemoryLimit, memory_limits, swap_left
from discreet.errors import DiscreetError

__all__ = ["ending_in_time"]

_LOOK = 0.02
"""Seconds between two looks at how much is left."""
_LEFT_OVER, _AT_LEAST = 25, 16 << 20
"""One part in so many of the memory is left untouched, and at least so much: no job takes it between two looks."""


@contextmanager
def ending_in_time(tell: Callable[[BaseException], int]) -> Iterator[None]:
    """Watch how much of a container's memory is left; where hardly any is, ``tell`` so and end, leaving nothing.

    Somebody who waits for memory that is not there cannot be interrupted, so that the process ends on the spot. Where
    there is a limit of another kind or none nothing is watched, nor where memory may go to disk first.
    """
    if not _limits() or swap_left():
        yield
        return
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(done, tell), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()


def _limits() -> list[MemoryLimit]:
    return [limit for limit in memory_limits() if limit.kind == "container"]


def _watch(done: threading.Event, tell: Callable[[BaseException], int]) -> None:
    while not done.wait(_LOOK):
        for limit in _limits():
            if limit.left < max(limit.size // _LEFT_OVER, _AT_LEAST):
                _end(limit, tell)


def _end(limit: MemoryLimit, tell: Callable[[BaseException], int]) -> None:
    from discreet._replacing import abandon
    from discreet._temporary import leave

    code = 1
    with suppress(Exception):
        code = tell(
            DiscreetError(
                f"The {limit.size >> 20:,} MB of memory of this container do not suffice for this job; give it more, "
                "or give fewer or coarser quasi-identifiers.",
                topic="out-of-memory",
            )
        )
        sys.stdout.flush()
    with suppress(Exception):
        abandon()
        leave()
    os._exit(code)
