"""Local recoding: what groups of rows show, what a grouping costs, and the best of all groupings of few rows."""

from __future__ import annotations

import math

from naive.recoding import counts
from naive.schemes import set_partitions


def cover(table, name, members, lowest=0):
    """The level and the leaves of what a group shows; the level is None for ranges and sets.

    A hierarchy is a list of rows from the leaf to the root; None if the column has none.
    """
    inside = {table.rows[row][name] for row in members}
    rows = table.hierarchies[name]
    if rows is not None:
        for level in range(lowest, len(rows[0])):
            nodes = {row[level] for row in rows if row[0] in inside}
            if len(nodes) == 1:
                return level, frozenset(row[0] for row in rows if row[level] in nodes)
    everywhere = {row[name] for row in table.rows}
    if name not in table.numeric:
        return None, frozenset(inside)
    if None in inside and len(inside) > 1:
        return None, frozenset(everywhere)
    if None in inside:
        return None, frozenset(inside)
    return None, frozenset(v for v in everywhere if v is not None and min(inside) <= v <= max(inside))


def domain(table, name):
    """The values of a column, those of its hierarchy if it has one."""
    rows = table.hierarchies[name]
    return {row[name] for row in table.rows} if rows is None else {row[0] for row in rows}


def as_classes(table, groups, lowest):
    """Groups that show the same are one class: (what it shows, its rows)."""
    found = {}
    for members in groups:
        shown = tuple(cover(table, name, members, lowest.get(name, 0)) for name in table.hierarchies)
        found.setdefault(shown, []).extend(members)
    return list(found.items())


def row_cost(table, cost, row, members, shown):
    """What a published row costs in a class."""
    n, total = len(table.rows), 0.0
    if cost == "DM":
        return len(members)
    if cost == "ambiguity":
        return math.prod(len(leaves) for _, leaves in shown)
    for name, (level, leaves) in zip(table.hierarchies, shown, strict=True):
        values = len(domain(table, name))
        own = len([r for r in table.rows if r[name] == table.rows[row][name]])
        block = len([r for r in table.rows if r[name] in leaves])
        if cost == "HDM":
            total += ((block - own) / (n - own) if n > own else 0) / len(shown)
        elif cost == "entropy":
            total += math.log2(block / own)
        elif cost == "LM":
            total += (len(leaves) - 1) / (values - 1) if values > 1 else 0
        elif cost == "precision":
            height = len(table.hierarchies[name][0]) - 1
            total += (level / height if height else 0) / len(shown)
        elif cost == "NCP":
            total += certainty(table, name, members, leaves)
    return total


def certainty(table, name, members, leaves):
    inside = {table.rows[row][name] for row in members}
    if table.hierarchies[name] is None and name in table.numeric:
        if len(inside) == 1:
            return 0.0
        if None in inside:
            return 1.0
        known = [row[name] for row in table.rows if row[name] is not None]
        return (max(inside) - min(inside)) / (max(known) - min(known))
    return 0.0 if len(leaves) == 1 else len(leaves) / len(domain(table, name))


def suppressed_row(table, cost, row):
    n, m = len(table.rows), len(table.hierarchies)
    if cost == "entropy":
        own = [len([r for r in table.rows if r[name] == table.rows[row][name]]) for name in table.hierarchies]
        return sum(math.log2(n / each) for each in own)
    product = math.prod(len(domain(table, name)) for name in table.hierarchies)
    return {"DM": n, "HDM": 1, "LM": m, "CM": 1, "NCP": m, "C_AVG": 0, "precision": 1, "ambiguity": product}[cost]


def suppressed_value(table, cost):
    n, m = len(table.rows), len(table.hierarchies)
    return {"DM": n, "HDM": 1, "LM": 1, "CM": 1, "NCP": m}[cost]


def hidden_values(table, members, column, ok, kind, thetas):
    """How many values of a class become unknown."""
    own = counts(table, members, column)
    known = {value: n for value, n in own.items() if value is not None}
    if kind == "class-values":
        return 0 if ok(own) else sum(known.values())
    size = sum(known.values())
    return sum(n for value, n in known.items() if n > thetas * size * (1 + 1e-9))


def cost_of(table, groups, suppressed, cost, k=1, lowest=None, label="y"):
    """What a grouping costs, without hidden values."""
    found = as_classes(table, groups, lowest or {})
    if cost == "C_AVG":
        return (sum(len(members) for _, members in found) / len(found) if found else len(table.rows)) / k
    total = sum(suppressed_row(table, cost, row) for row in suppressed)
    for shown, members in found:
        if cost == "CM":
            total += len(members) - max(counts(table, members, label).values())
        else:
            total += sum(row_cost(table, cost, row, members, shown) for row in members)
    return total


def groupings(rows, limit):
    """Every grouping of rows with at most so many suppressed: the groups, and who is suppressed."""
    for chosen in range(1 << len(rows)):
        out = [row for number, row in enumerate(rows) if chosen >> number & 1]
        if len(out) > limit:
            continue
        for groups in set_partitions([row for row in rows if row not in out]):
            yield [list(group) for group in groups], out
