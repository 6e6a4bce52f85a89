"""Parts of a search in parallel, on as many threads as the budget allows; all stop together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Self, TypeVar

from discreet.solve._base import Budget

__all__ = ["Workers", "in_parallel"]

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
    with ThreadPoolExecutor(min(budget.cores, max(len(items), 1))) as pool:
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


class Workers:
    """Threads that a search starts once it is long enough to be worth it."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._started = False
        self._executor: ThreadPoolExecutor | None = None

    def start(self) -> ThreadPoolExecutor | None:
        """Return the threads, which are started the first time; None if there is to be only one."""
        if not self._started:
            self._started = True
            cores = self._budget.cores
            self._executor = ThreadPoolExecutor(cores) if cores > 1 else None
        return self._executor

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
