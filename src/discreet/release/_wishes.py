"""What matters to the user, as parts of the problem: priorities become a cost, and limits become levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from discreet.errors import UsageError, did_you_mean
from discreet.problem import COSTS, Cost
from discreet.problem._checks import levels_by_column, whole_number

__all__ = ["cost_by_priorities", "highest_levels"]


def cost_by_priorities(
    cost: str | Cost | None, priorities: Mapping[str, int] | None, columns: str | Iterable[str] = ()
) -> Cost:
    """Return the cost asked for, with priorities as its weights; priorities alone ask for a score.

    ``columns`` are the quasi-identifiers, where they are known.

    >>> cost_by_priorities(None, {"zip": 10, "age": 5}).text
    'score(weights={zip: 10, age: 5})'
    >>> cost_by_priorities("NCP", {"zip": 10}).text
    'NCP(weights={zip: 10})'
    """
    chosen = COSTS.make(cost if cost is not None else "score" if priorities else "LM")
    if not priorities:
        return chosen
    if not isinstance(priorities, Mapping) or not all(isinstance(column, str) for column in priorities):
        raise UsageError("The priorities must map column names to whole numbers, as in {zip: 10, age: 5}.")
    names = [columns] if isinstance(columns, str) else list(columns)
    for column in priorities:
        if names and column not in names:
            hint = did_you_mean(column, names) or f"the quasi-identifiers are {', '.join(names)}."
            raise UsageError(
                f"A priority is given for '{column}', which is not a quasi-identifier; {hint}",
                column=column,
                topic="not-a-quasi-identifier",
            )
    weights = {column: whole_number(v, f"The priority of '{column}'", least=1) for column, v in priorities.items()}
    if "weights" not in {item.name for item in fields(chosen)}:  # type: ignore[arg-type]
        raise UsageError(f"The cost {chosen.name} has no weights, so that it knows no priorities; choose score or LM.")
    if getattr(chosen, "weights", None):
        raise UsageError(f"The cost {chosen.text} has weights of its own; give either those or priorities.")
    return replace(chosen, weights=weights)  # type: ignore[type-var]


def highest_levels(max_levels: Mapping[str, int] | None, keep_at_least: Mapping[str, int] | None) -> dict[str, Any]:
    """Return the highest level of each column that has one; both ways to say it mean the same.

    >>> highest_levels({"age": 3}, {"zip": 1})
    {'age': 3, 'zip': 1}
    """
    for limits in (max_levels, keep_at_least):
        levels_by_column(limits or {})
    both = sorted(set(max_levels or {}) & set(keep_at_least or {}))
    if both:
        raise UsageError(
            f"'{both[0]}' is in keep_at_least and in max_levels, which mean the same; give one.", column=both[0]
        )
    return {**(max_levels or {}), **(keep_at_least or {})}
