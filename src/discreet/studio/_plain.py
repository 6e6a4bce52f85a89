"""Conversion of values to JSON types."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from typing import Any

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Convert a value to JSON types; infinity and NaN become null.

    >>> plain({"best": float("inf"), "levels": (1, 2)})
    {'best': None, 'levels': [1, 2]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)
