"""How deep tests go: ``make test`` takes minutes, ``make test-all`` does everything (``DISCREET_DEEP=1``)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["DEEP", "cases", "every"]

DEEP = os.environ.get("DISCREET_DEEP") == "1"


def cases(most: int) -> int:
    """Return how many random cases to try: all in deep tests, otherwise a quarter."""
    return most if DEEP else min(most, max(most // 4, 10))


def enough(least: int) -> int:
    """Return how many of all :func:`cases` must have been of the kind that a test is about."""
    return least if DEEP else least // 8


def every(step: int, values: Iterable[Any]) -> list[Any]:
    """Return the values as parameters; only every ``step``-th runs outside deep tests."""
    return [
        pytest.param(*value, marks=marks) if isinstance(value, tuple) else pytest.param(value, marks=marks)
        for number, value in enumerate(values)
        for marks in [() if number % step == 0 else (pytest.mark.deep,)]
    ]
