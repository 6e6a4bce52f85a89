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
