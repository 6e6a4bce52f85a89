"""Microaggregation."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from naive.costs import common_ancestor, weight_of


def spread(table, name):
    """The variance and the range of the numbers of a column, without the missing ones."""
    known = [Fraction(row[name]) for row in table.rows if row[name] is not None]
    mean = sum(known) / max(len(known), 1)
    variance = sum((value - mean) ** 2 for value in known) / max(len(known), 1)
    return variance, max(known, default=0) - min(known, default=0)


def mdav(table, k, flat=(), weights=None):
    """The groups of MDAV as lists of row numbers, in the order in which they are made; ``flat`` have no hierarchy.

    Rows stand in the order of their values, and of rows as far away as each other the first counts. Rows with the
    same values as the one a group is made around come first.
    """
    places = {name: [row[0] for row in tree] for name, tree in table.hierarchies.items()}
    spreads = {name: spread(table, name) for name in table.numeric}

    def key(row):
        return tuple(places[name].index(row[name]) for name in places)

    def apart(name, first, second):
        """The squared distance of two values."""
        weight = Fraction(weight_of(weights, name))
        if name in table.numeric:
            variance, whole = spreads[name]
            if first is None or second is None:
                far = max(whole**2 / variance, 1) if variance else 1
                return 0 if first is second else weight**2 * far
            return weight**2 * (first - second) ** 2 / variance if variance else 0
        leaves = len(places[name])
        if first == second:
            return 0
        under = leaves if name in flat else common_ancestor(table.hierarchies[name], {first, second})[1]
        return (weight * Fraction(under - 1, leaves - 1)) ** 2

    def away(first, second):
        total = float(sum(apart(name, first[name], second[name]) for name in places))
        return struct.unpack("f", struct.pack("f", total))[0]  # what differs by less is as far away

    def average(left):
        found = {}
        for name, domain in places.items():
            values = [table.rows[row][name] for row in left]
            if name in table.numeric:
                known = [Fraction(value) for value in values if value is not None]
                found[name] = sum(known) / len(known) if 2 * len(known) >= len(left) else None
            else:
                totals = [sum(apart(name, middle, value) for value in values) for middle in domain]
                found[name] = domain[totals.index(min(totals))]
        return found

    def group(left, seed):
        middle = table.rows[seed]
        nearest = sorted(left, key=lambda row: (away(table.rows[row], middle), key(table.rows[row]) != key(middle)))
        return nearest[:k]

    left, groups = sorted(range(len(table.rows)), key=lambda row: key(table.rows[row])), []
    while len(left) >= 2 * k:
        middle = average(left)
        for _ in range(2 if len(left) >= 3 * k else 1):
            seed = max(left, key=lambda row: away(table.rows[row], middle))
            groups.append(group(left, seed))
            left = [row for row in left if row not in groups[-1]]
            middle = table.rows[seed]
    return [*groups, left] if left else groups


def squared_error(table, groups):
    """The squared distances of standardized numbers from the means of their groups, as a share of those from 0.

    None where there are no numbers that differ.
    """
    within = total = 0.0
    published = [row for group in groups for row in group]
    for name in table.numeric:
        known = [table.rows[row][name] for row in published if table.rows[row][name] is not None]
        mean = math.fsum(known) / max(len(known), 1)
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / max(len(known), 1))
        if deviation == 0:
            continue
        for group in groups:
            z = [(table.rows[row][name] - mean) / deviation for row in group if table.rows[row][name] is not None]
            within += sum((value - sum(z) / len(z)) ** 2 for value in z)
            total += sum(value**2 for value in z)
    return within / total if total else None


def row_vectors(table, weights=None):
    """Each row as standardized coordinates, by column; the mean of all rows is 0."""
    vectors = [[] for _ in table.rows]
    n = len(table.rows)
    for name in table.hierarchies:
        weight = math.sqrt(weight_of(weights, name))
        values = [row[name] for row in table.rows]
        if name in table.numeric:
            known = [value for value in values if value is not None]
            mean = math.fsum(known) / max(len(known), 1)
            deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / max(len(known), 1)) or 1.0
            absent = (n - len(known)) / n
            for vector, value in zip(vectors, values, strict=True):
                vector.append(0.0 if value is None else weight * (value - mean) / deviation)
                vector.append(weight * ((value is None) - absent) if known else 0.0)
        else:
            shares = {value: values.count(value) / n for value in values}
            deviation = math.sqrt(1 - math.fsum(share**2 for share in shares.values())) or 1.0
            for vector, value in zip(vectors, values, strict=True):
                vector += [weight * ((value == other) - share) / deviation for other, share in sorted(shares.items())]
    return vectors


def sse(vectors, groups, suppressed=()):
    """The squared distances of rows from the means of their groups, and of suppressed ones from 0."""
    total = sum(x**2 for row in suppressed for x in vectors[row])
    for group in groups:
        for column in zip(*(vectors[row] for row in group), strict=True):
            mean = math.fsum(column) / len(group)
            total += math.fsum((x - mean) ** 2 for x in column)
    return total


def least_sse(vectors, ok, limit=0):
    """The least squared error of all groupings whose groups are ok, with at most so many rows suppressed; or None."""
    n, known, best = len(vectors), {}, {0: 0.0}
    for members in range(1, 1 << n):
        rows = [row for row in range(n) if members >> row & 1]
        if ok(rows):
            known[members] = sse(vectors, [rows])
    for members in range(1, 1 << n):  # the group of the first row, and the best of the rest
        first = members & -members
        part, found = members, []
        while part:
            if part & first and part in known and members ^ part in best:
                found.append(known[part] + best[members ^ part])
            part = (part - 1) & members
        if found:
            best[members] = min(found)
    everyone, totals = (1 << n) - 1, []
    for gone in range(1 << n):
        rows = [row for row in range(n) if gone >> row & 1]
        if len(rows) <= limit and everyone ^ gone in best:
            totals.append(best[everyone ^ gone] + sse(vectors, [], rows))
    return min(totals, default=None)
