"""Released values as charts and the studio show them: 20–24 instead of [20, 25). Released tables are not affected."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

from discreet.schema import Type

__all__ = ["plain_label"]

_INTERVAL = re.compile(r"^\[(?P<low>[^,\[\]]+), (?P<high>[^,\[\]]+)(?P<end>[)\]])$")
_OPEN = re.compile(r"^(?P<sign><|>=) (?P<end>\S+)$")


def plain_label(label: Any, type: Type | str) -> Any:  # noqa: A002
    """Write an interval of numbers or dates without brackets; other labels stay as they are.

    >>> plain_label("[20, 25)", "integer"), plain_label("[0.5, 1)", "decimal"), plain_label("< 18", "integer")
    ('20–24', '0.5 to under 1', 'under 18')
    >>> plain_label("[2024-01-01, 2024-02-01)", "date"), plain_label("[7, 8)", "integer"), plain_label("[a, b)", "text")
    ('2024-01-01 to 2024-01-31', '7', '[a, b)')
    >>> plain_label("[20, 24]", "integer")
    '20–24'
    """
    if not isinstance(label, str) or not Type(type).numeric:
        return label
    if found := _INTERVAL.match(label):
        if found["end"] == "]":
            return _from_to(found["low"], found["high"])
        return _between(found["low"], found["high"], Type(type))
    if found := _OPEN.match(label):
        return f"under {found['end']}" if found["sign"] == "<" else f"{found['end']} or more"
    return label


def _from_to(low: str, high: str) -> str:
    """Both ends, joined by a dash where it cannot be taken for a minus or a part of a date."""
    if low == high:
        return low
    return f"{low}–{high}" if low.isdecimal() and high.isdecimal() else f"{low} to {high}"


def _between(low: str, high: str, kind: Type) -> str:
    """A half-open interval by its first and last member, where there is a last one."""
    try:
        if kind is Type.DATE:
            return _from_to(low, str(date.fromisoformat(high) - timedelta(days=1)))
        if kind is Type.INTEGER:
            return _from_to(str(int(low)), str(int(high) - 1))
    except ValueError:  # an integer column with decimal ends
        pass
    return f"{low} to under {high}"
