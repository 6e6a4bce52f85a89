"""Every kernel that jobs call, compiled and as plain Python, with the same arguments: what both return and write.

A wrong program shows here even if the job does not depend on what it got wrong.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from discreet.solve.kernels.jit import Kernel
from fuzz.jobs import make_case
from fuzz.outcome import run

__all__ = ["Twice", "differences"]

NEAR = 1e-9


class Twice:
    """Kernels that run twice; ``calls`` counts them, ``wrong`` has a sentence for each that differs."""

    def __init__(self, compiled: Any = Kernel.__call__) -> None:
        self.calls: Counter[str] = Counter()
        self.wrong: dict[str, str] = {}
        self._plain = threading.local()
        self._compiled = compiled

    def call(self, kernel: Kernel, *arguments: Any, **named: Any) -> Any:
        """Run a kernel on a copy of its arguments as plain Python, with all it calls, and then compiled."""
        if getattr(self._plain, "on", False):
            return kernel.function(*arguments, **named)
        if named or len(arguments) != kernel._arguments:
            arguments = kernel._bind(arguments, named)
        copied = _copy(arguments, {})
        self._plain.on = True
        try:
            expected = kernel.run_plainly(*copied)
        finally:
            self._plain.on = False
        found = self._compiled(kernel, *arguments)
        self.calls[kernel.name] += 1
        for what, one, other in (("returns", found, expected), ("writes", arguments, copied)):
            if not _same(one, other):
                self.wrong.setdefault(kernel.name, f"{kernel.name} {what} something else than as plain Python")
        return found


@contextmanager
def _twice() -> Iterator[Twice]:
    made, whole, affinity = Twice(), Kernel.__call__, os.sched_getaffinity
    Kernel.__call__ = lambda kernel, *arguments, **named: made.call(kernel, *arguments, **named)
    os.sched_getaffinity = lambda process: {0}  # threads that share arrays would write into copies
    try:
        yield made
    finally:
        Kernel.__call__, os.sched_getaffinity = whole, affinity


def differences(seeds: Iterable[int]) -> Twice:
    """Do the jobs of some seeds on small tables, and compare each call."""
    with _twice() as made:
        for seed in seeds:
            run(make_case(seed, large=False))
    return made


def _copy(value: Any, copies: dict[int, Any]) -> Any:
    """A copy, in which what occurred twice occurs twice."""
    if isinstance(value, tuple):
        items = [_copy(item, copies) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if not isinstance(value, np.ndarray | np.void):
        return value
    if id(value) not in copies:
        copies[id(value)] = value.copy()
    return copies[id(value)]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.fields is not None:
        return all(_same(one[name], other[name]) for name in one.dtype.fields)
    if one.dtype.kind == "f" or other.dtype.kind == "f":
        return bool(np.allclose(one, other, rtol=NEAR, atol=NEAR, equal_nan=True))
    return bool(np.array_equal(one, other))
