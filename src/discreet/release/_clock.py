"""How long each stage takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Clock", "told_of_stages"]

_TOLD: ContextVar[Callable[[str], None] | None] = ContextVar("told", default=None)


@contextmanager
def told_of_stages(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell somebody of every stage that begins: read, count, solve, recode and audit; for user interfaces.

    >>> with told_of_stages(print), Clock()("count"):
    ...     pass
    count
    """
    before = _TOLD.set(tell)
    try:
        yield
    finally:
        _TOLD.reset(before)


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

    def part(self, stage: str, of: str, seconds: float) -> None:
        """Tell some seconds of a stage that has not ended yet as those of another.

        >>> clock = Clock()
        >>> with clock("solve"):
        ...     clock.part("compile", "solve", 0.0)
        >>> list(clock.seconds)
        ['compile', 'solve']
        """
        for name, spent in ((stage, seconds), (of, -seconds)):
            self.seconds[name] = self.seconds.get(name, 0.0) + spent

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Add the time spent inside to a stage."""
        tell = _TOLD.get()
        if tell is not None:
            tell(stage)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
