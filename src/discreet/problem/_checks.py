"""Checks of the arguments of parts: each returns the plain value or says in one sentence what is wanted."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from numbers import Real
from typing import Any

from discreet.errors import UsageError, did_you_mean

__all__ = ["column_name", "levels_by_column", "node_weights", "number", "one_of", "switch", "weights", "whole_number"]


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
    """Refuse limits of levels that are no mapping.

    >>> levels_by_column({"age": 2})
    """
    if not isinstance(value, Mapping):
        raise UsageError("Limits of levels must map column names to levels, as in {age: 2}.", topic="level-limits")


def _is_finite(value: Any) -> bool:
    """Whether a number is finite, and no larger than the largest float."""
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
    """Return the value if it is one of the known words; else the nearest of them is proposed.

    >>> one_of("equal", "distance", ("equal", "ordered"))
    'equal'
    """
    if not isinstance(value, str) or value not in known:
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        end = f"; {hint}" if hint else "."
        raise UsageError(f"{what} must be one of {', '.join(known)}, not {value!r}{end}", topic="parameter")
    return value


def switch(value: Any, what: str) -> bool:
    """Return true or false as it is.

    >>> switch(True, "formal")
    True
    """
    if not isinstance(value, bool):
        raise UsageError(f"{what} is true or false, not {value!r}.", topic="parameter")
    return value


def column_name(value: Any, what: str) -> str | None:
    """Return the value if it can be the name of a column; None means that it is not named yet."""
    if value is not None and not (isinstance(value, str) and value):
        raise UsageError(f"{what} must be the name of a column, not {value!r}.", topic="parameter")
    return value


def weights(value: Any, what: str) -> dict[str, float]:
    """Return a copy of a mapping from column to positive weight.

    >>> weights({"age": 2}, "LM")
    {'age': 2}
    """
    if not isinstance(value, Mapping) or not all(isinstance(column, str) for column in value):
        raise UsageError(f"The weights of {what} must map column names to numbers, as in {{age: 2}}.")
    return {column: number(weight, f"The weight of '{column}'", above=0, most=1e12) for column, weight in value.items()}


def node_weights(value: Any, what: str) -> dict[str, dict[str, float]]:
    """Return a copy of a mapping from column to nodes of its hierarchy and their positive weights.

    >>> node_weights({"work": {"Government": 2}, "sex": {}}, "NCP")
    {'work': {'Government': 2}}
    """
    names = [value, *value.values()] if isinstance(value, Mapping) else [value]
    if not all(isinstance(each, Mapping) and all(isinstance(name, str) for name in each) for each in names):
        raise UsageError(
            f"The node weights of {what} must map column names to nodes and numbers, as in {{work: {{Government: 2}}}}."
        )
    return {
        column: {
            node: number(weight, f"The weight of '{node}' of '{column}'", above=0, most=1e12)
            for node, weight in nodes.items()
        }
        for column, nodes in value.items()
        if nodes
    }
