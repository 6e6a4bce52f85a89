"""Pieces of a search side by side, on as many threads as there are cores to use, and stopped together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

from discreet._limits import usable_cores
from discreet.solve._base import Budget

__all__ = ["side_by_side"]

Item = TypeVar("Item")
Found = TypeVar("Found")

_LOOK = 0.2
"""Seconds between two looks at whether Ctrl-C was pressed: without them a signal may wait until all is done."""


def side_by_side(work: Callable[[Item], Found], items: Sequence[Item], budget: Budget) -> list[Found]:
    """Do some work for each item, and return what came of it in their order.

    Ctrl-C throws the switch of the budget, wherever it comes: all threads see it, and what is left to do is then only
    completed, as the work itself knows how. Pressed again, nothing more is begun.
    """
    futures: list[Future[Found]] = []
    with ThreadPoolExecutor(min(usable_cores(), max(len(items), 1))) as pool:
        try:
            done = False
            while not done:
                try:
                    while len(futures) < len(items):
                        futures.append(pool.submit(work, items[len(futures)]))
                    done = not wait(futures, _LOOK).not_done
                except KeyboardInterrupt:
                    if budget.stop.is_set():  # it was pressed twice
                        raise
                    budget.stop.set()
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
