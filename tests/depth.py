"""How deep tests go: ``make test`` takes minutes, ``make test-all`` does everything (``DISCREET_DEEP=1``)."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

import pytest

__all__ = ["DEEP", "beyond_a_sample", "cases", "enough", "every"]

DEEP = os.environ.get("DISCREET_DEEP") == "1"
_FEW, _TIMES, _SHARE = 12, 1, 4
"""Tests of so many combinations run all of them; in others each value runs so often at least, and this part of the
seeds."""


def cases(most: int) -> int:
    """Return how many random cases to try: all in deep tests, otherwise an eighth."""
    return most if DEEP else min(most, max(most // 8, 10))


def enough(least: int) -> int:
    """Return how many of all :func:`cases` must have been of the kind that a test is about."""
    return least if DEEP else least // 16


def every(step: int, values: Iterable[Any]) -> list[Any]:
    """Return the values as parameters; only every ``step``-th runs outside deep tests."""
    return [
        pytest.param(*value, marks=marks) if isinstance(value, tuple) else pytest.param(value, marks=marks)
        for number, value in enumerate(values)
        for marks in [() if number % step == 0 else (pytest.mark.deep,)]
    ]


def beyond_a_sample(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that only deep runs need: combinations of parameters whose values others try already.

    Of a test with many combinations, enough are kept that each value of each parameter occurs; of random seeds, a
    quarter. Which ones is drawn by their names, so that neighbouring tests try different combinations.
    """
    by_function: dict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            by_function[item.nodeid.partition("[")[0]].append(item)
    many = [own for own in by_function.values() if len(own) > _FEW]
    return {item for own in many for item in own} - {item for own in many for item in _sample(own)}


def _sample(own: Sequence[pytest.Function]) -> list[pytest.Function]:
    """Return combinations in which each value of each parameter occurs often enough."""
    values = [{name: repr(value) for name, value in item.callspec.params.items()} for item in own]
    seeds = len({each.get("seed") for each in values})
    often = max(_TIMES, seeds // _SHARE)
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for number in sorted(range(len(own)), key=lambda number: sha256(own[number].nodeid.encode()).digest()):
        parameters = [each for each in values[number].items() if each[0] != "seed"]
        if any(seen[each] < often for each in parameters or [("", "")]):
            kept.append(own[number])
            seen.update(parameters or [("", "")])
    return kept
