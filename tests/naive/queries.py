"""Queries about released rows."""

from __future__ import annotations

import math


def share_inside(block, asked):
    """The share of a released value that is in what is asked for, if it is spread evenly.

    A block is the set of values it may be, None being a missing one, or the ends of a range of decimals.
    """
    if isinstance(block, tuple):
        low, high = block
        if low == high:
            return float(asked[0] <= low <= asked[1])
        return max(min(high, asked[1]) - max(low, asked[0]), 0) / (high - low)
    inside = (lambda v: asked[0] <= v <= asked[1]) if isinstance(asked, tuple) else (lambda v: v in asked)
    return sum(inside(value) for value in block) / len(block)


def count_query(rows, query):
    """How many rows there are where each column is in what the query asks for; rows are dicts of blocks."""
    return sum(math.prod(share_inside(row[name], asked) for name, asked in query.items()) for row in rows)


def sum_query(rows, query, column):
    """The sum of a column over those rows; a missing number counts 0."""
    total = 0.0
    for row in rows:
        mean = sum(value or 0 for value in row[column]) / len(row[column])
        total += mean * math.prod(share_inside(row[name], asked) for name, asked in query.items())
    return total
