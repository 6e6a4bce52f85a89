"""A table, and what a recoding makes of it."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

TOLERANCE = 1e-9


class Table(NamedTuple):
    rows: list
    hierarchies: dict
    numeric: frozenset = frozenset()
    sets: frozenset = frozenset()


def released(table, name, value, level):
    """The value that stands at a level for an original value; with a partition, the block it is in."""
    if not isinstance(level, int):
        return next(block for block in level if value in block)
    for row in table.hierarchies[name]:
        if row[0] == value:
            return row[level]
    raise KeyError(value)


def classes(table, levels):
    """The classes of a recoding, as lists of row numbers."""
    found = {}
    for number, row in enumerate(table.rows):
        key = tuple(
            released(table, name, row[name], level) for name, level in zip(table.hierarchies, levels, strict=True)
        )
        found.setdefault(key, []).append(number)
    return list(found.values())


def counts(table, rows, column):
    """How often each value of a column occurs in some rows."""
    return dict(Counter(table.rows[row][column] for row in rows))
