"""Parts of a search in parallel, on as many threads as there are usable cores; all stop together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

from discreet.runtime.machine_limits import usable_cores
from discreet.solve._base import Budget

__all__ = ["in_parallel"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_POLL = 0.2
"""Seconds between two checks for Ctrl-C: without them a signal may wait until all work is done."""


def in_parallel(work: Callable[[Item], Result], items: Sequence[Item], budget: Budget) -> list[Result]:
    """Return the results of some work for each item, in the order of the items.

    Ctrl-C sets ``budget.stop``, whichever thread it reaches: the work should then return what it has. The second time
    no more work is started.
    """
    futures: list[Future[Result]] = []
    with ThreadPoolExecutor(min(usable_cores(), max(len(items), 1))) as pool:
        try:
            done = False
            while not done:
                try:
                    while len(futures) < len(items):
                        futures.append(pool.submit(work, items[len(futures)]))
                    done = not wait(futures, _POLL).not_done
                except KeyboardInterrupt:
                    if budget.stop.is_set():  # pressed twice
                        raise
                    budget.stop.set()
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
