"""How long each stage of the pipeline takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Clock", "on_stage"]

_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def on_stage(listener: Callable[[str], None]) -> Iterator[None]:
    """Call a function whenever a stage begins: read, count, solve, recode or audit. For user interfaces.

    >>> with on_stage(print), Clock()("count"):
    ...     pass
    count
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


class Clock:
    """Measures the seconds of each stage.

    >>> clock = Clock()
    >>> with clock("count"):
    ...     pass
    >>> list(clock.seconds)
    ['count']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def reassign(self, seconds: float, *, from_stage: str, to_stage: str) -> None:
        """Count seconds of a running stage as those of another.

        >>> clock = Clock()
        >>> with clock("solve"):
        ...     clock.reassign(0.0, from_stage="solve", to_stage="compile")
        >>> list(clock.seconds)
        ['compile', 'solve']
        """
        for name, spent in ((to_stage, seconds), (from_stage, -seconds)):
            self.seconds[name] = self.seconds.get(name, 0.0) + spent

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Add the time spent in the block to a stage."""
        listener = _LISTENER.get()
        if listener is not None:
            listener(stage)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
