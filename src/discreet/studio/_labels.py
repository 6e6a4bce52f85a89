"""Labels of hierarchies as people read them: 20–24 instead of [20, 25)."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

from discreet.schema import Type

__all__ = ["plain_label"]

_INTERVAL = re.compile(r"^\[(?P<low>[^,\[\]]+), (?P<high>[^,\[\]]+)\)$")
_OPEN = re.compile(r"^(?P<sign><|>=) (?P<end>\S+)$")


def plain_label(label: Any, type: Type | str) -> Any:  # noqa: A002
    """Write an interval of numbers or dates without brackets; other labels stay as they are.

    >>> plain_label("[20, 25)", "integer"), plain_label("[0.5, 1)", "decimal"), plain_label("< 18", "integer")
    ('20–24', '0.5 to under 1', 'under 18')
    >>> plain_label("[2024-01-01, 2024-02-01)", "date"), plain_label("[7, 8)", "integer"), plain_label("[a, b)", "text")
    ('2024-01-01 to 2024-01-31', '7', '[a, b)')
    """
    if not isinstance(label, str) or not Type(type).numeric:
        return label
    if found := _INTERVAL.match(label):
        return _between(found["low"], found["high"], Type(type)) or label
    if found := _OPEN.match(label):
        return f"under {found['end']}" if found["sign"] == "<" else f"{found['end']} or more"
    return label


def _between(low: str, high: str, kind: Type) -> str | None:
    try:
        if kind is Type.DATE:
            last = date.fromisoformat(high) - timedelta(days=1)
            return low if last == date.fromisoformat(low) else f"{low} to {last}"
        if kind is Type.INTEGER:
            first, last_number = int(low), int(high) - 1
            dash = " to " if first < 0 or last_number < 0 else "–"
            return low if first == last_number else f"{low}{dash}{last_number}"
    except ValueError:  # an integer column with decimal ends
        pass
    return f"{low} to under {high}"
