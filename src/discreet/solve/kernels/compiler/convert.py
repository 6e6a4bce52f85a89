"""Arguments of types that no program has, brought into those of one that is there.

An array that is not contiguous, or only to be read, and an integer where a float is expected make other types for a
compiler, but not for what a kernel computes. Where nothing can be compiled such arguments are converted: arrays are
copied, and copied back after the call, as kernels write into some of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet.solve.kernels.compiler.arguments import item_texts

__all__ = ["Plan", "convert", "matching", "write_back"]

Plan = tuple[bool, ...]
"""For each argument, those of tuples one by one, whether it is converted."""


def matching(key: list[Any], known: Iterable[str]) -> Plan | None:
    """Return which arguments to convert so that all are of types that a program has; None if there is no such program.

    ``key`` has the types of the arguments, as :func:`~discreet.solve.kernels.compiler.arguments.pack` makes it.
    """
    plans = (_plan(key, text) for text in known)
    return next((plan for plan in plans if plan is not None), None)


def _plan(key: list[Any], text: str) -> Plan | None:
    """Return which arguments must be converted to be of types given as text; None if that is impossible."""
    plan: list[bool] = []
    rest = f"{text} "
    for own, other in item_texts(key):
        for spelled in (own, other):
            if spelled is not None and rest.startswith(f"{spelled} "):
                rest = rest[len(spelled) + 1 :]
                plan.append(spelled is not own)
                break
        else:
            return None
    return None if rest else tuple(plan)


def convert(arguments: tuple[Any, ...], plan: Plan) -> tuple[Any, ...]:
    """Return the arguments with some converted, according to a plan; an array given twice stays one."""
    steps = iter(plan)
    arrays: dict[int, np.ndarray[Any, Any]] = {}

    def each(value: Any) -> Any:
        changed = next(steps)
        if isinstance(value, tuple):
            items = [each(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if not changed:
            return value
        if not isinstance(value, np.ndarray):
            return float(value)
        if id(value) not in arrays:
            arrays[id(value)] = np.array(value, order="C")
        return arrays[id(value)]

    return tuple(each(value) for value in arguments)


def write_back(arguments: tuple[Any, ...], converted: tuple[Any, ...]) -> None:
    """Copy what a kernel wrote into converted arrays to the original ones."""
    for value, copy in zip(arguments, converted, strict=True):
        if isinstance(value, tuple):
            write_back(value, copy)
        elif isinstance(value, np.ndarray) and value is not copy and value.flags.writeable:
            value[...] = copy
