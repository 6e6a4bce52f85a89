"""Measuring work inside this process: CPU seconds of all its threads, and memory."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.memory import megabytes_for

__all__ = ["Timing", "in_turn", "measure"]

_PATIENCE = 10.0
"""Seconds after which slow work is not repeated any more."""


@dataclass
class Timing:
    """CPU and wall seconds of each repetition, the megabytes needed on top, and the last result."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    megabytes: float | None = None
    result: Any = None

    @property
    def best(self) -> float:
        """The least CPU seconds: other work on the machine only ever adds to them."""
        return min(self.cpu)

    @property
    def median(self) -> float:
        """The median CPU seconds."""
        return statistics.median(self.cpu)

    def add(self, work: Callable[[], Any]) -> None:
        """Do the work once more and take the time."""
        self.result = None
        wall, cpu = time.perf_counter(), time.process_time()
        self.result = work()
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)


def measure(work: Callable[[], Any], repeat: int) -> Timing:
    """Measure some work: once for nothing (compiled code is loaded then), some times for time, once for memory."""
    return in_turn({"": work}, repeat)[""]


def in_turn(works: Mapping[str, Callable[[], Any]], repeat: int) -> dict[str, Timing]:
    """Measure several works in turn, so that a busy moment of the machine does not hit one of them only."""
    for work in works.values():
        work()
    timings = {name: Timing() for name in works}
    began = time.monotonic()
    for _ in range(repeat):
        for name, work in works.items():
            timings[name].add(work)
        if time.monotonic() - began > _PATIENCE:
            break
    for name, work in works.items():
        _, timings[name].megabytes = megabytes_for(work)
    return timings
