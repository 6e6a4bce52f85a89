"""Checks of arguments: each returns the plain value or raises a UsageError that says what is wanted."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from numbers import Real
from typing import Any

from discreet.errors import UsageError, did_you_mean

__all__ = ["column_name", "levels_by_column", "number", "one_of", "switch", "whole_number"]


def whole_number(value: Any, what: str, *, least: int) -> int:
    """Return the value as an int if it is a whole number of at least ``least``.

    >>> whole_number(5, "k", least=1)
    5
    """
    try:
        whole = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        whole = None
    if whole is None or whole < least:
        raise UsageError(f"{what} must be a whole number of at least {least}, not {value!r}.", topic="parameter")
    return whole


def levels_by_column(value: Any) -> None:
    """Raise a UsageError if limits of levels are not a mapping.

    >>> levels_by_column({"age": 2})
    """
    if not isinstance(value, Mapping):
        raise UsageError("Limits of levels must map column names to levels, as in {age: 2}.", topic="level-limits")


def _is_finite(value: Any) -> bool:
    """Return whether a number is finite and fits into a float."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def number(
    value: Any, what: str, *, least: float = -math.inf, above: float = -math.inf, most: float = math.inf
) -> float:
    """Return the value if it is a finite number of at least ``least``, above ``above`` and at most ``most``.

    >>> number(0.25, "theta", above=0, most=1)
    0.25
    """
    real = not isinstance(value, bool) and isinstance(value, Real) and _is_finite(value)
    if not (real and value >= least and value > above and value <= most):
        bounds = [
            f"{words} {bound:g}"
            for words, bound in (("of at least", least), ("above", above), ("of at most", most))
            if math.isfinite(bound)
        ]
        raise UsageError(f"{what} must be a number {' and '.join(bounds)}, not {value!r}.", topic="parameter")
    return value if isinstance(value, int | float) else float(value)


def one_of(value: Any, what: str, known: tuple[str, ...]) -> str:
    """Return the value if it is one of the known words; the error suggests the nearest.

    >>> one_of("equal", "distance", ("equal", "ordered"))
    'equal'
    """
    if not isinstance(value, str) or value not in known:
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        end = f"; {hint}" if hint else "."
        raise UsageError(f"{what} must be one of {', '.join(known)}, not {value!r}{end}", topic="parameter")
    return value


def switch(value: Any, what: str) -> bool:
    """Return the value if it is true or false.

    >>> switch(True, "formal")
    True
    """
    if not isinstance(value, bool):
        raise UsageError(f"{what} is true or false, not {value!r}.", topic="parameter")
    return value


def column_name(value: Any, what: str) -> str | None:
    """Return the value if it can be the name of a column, or None if none is named yet."""
    if value is not None and not (isinstance(value, str) and value):
        raise UsageError(f"{what} must be the name of a column, not {value!r}.", topic="parameter")
    return value
