"""What Java processes take that a measured process starts and does not wait for, as Spark does (Linux)."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Java", "watched"]

_MARK = "DISCREET_MEASURED"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Java:
    """CPU seconds and peak megabytes, by process."""

    seconds: dict[str, float] = field(default_factory=dict)
    peak: dict[str, float] = field(default_factory=dict)

    @property
    def cpu(self) -> float:
        """The CPU seconds of all of them."""
        return sum(self.seconds.values())

    @property
    def megabytes(self) -> float:
        """The peak memory of all of them together, at most."""
        return sum(self.peak.values())


@contextmanager
def watched() -> Iterator[Java]:
    """Look at the Java processes that are started inside, every now and then."""
    found, done, mark = Java(), threading.Event(), secrets.token_hex(8)
    os.environ[_MARK] = mark
    thread = threading.Thread(target=_watch, args=(found, done, f"{_MARK}={mark}".encode()))
    thread.start()
    try:
        yield found
    finally:
        del os.environ[_MARK]
        done.set()
        thread.join()


def _watch(found: Java, done: threading.Event, mark: bytes) -> None:
    while not done.wait(0.25):
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, ValueError, StopIteration):
                if (process / "comm").read_text().strip() == "java" and mark in (process / "environ").read_bytes():
                    times = (process / "stat").read_text().rpartition(")")[2].split()
                    found.seconds[process.name] = (int(times[11]) + int(times[12])) / _TICKS
                    lines = (process / "status").read_text().splitlines()
                    found.peak[process.name] = next(int(x.split()[1]) / 1024 for x in lines if x.startswith("VmHWM"))
