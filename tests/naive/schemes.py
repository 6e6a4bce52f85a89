"""Schemes: sets of frozensets of leaves."""

from __future__ import annotations

import itertools
import math


def set_partitions(items):
    """Every partition of some items."""
    items = list(items)
    if not items:
        yield []
        return
    for smaller in set_partitions(items[1:]):
        yield [[items[0]], *smaller]
        for i, block in enumerate(smaller):
            yield [*smaller[:i], [items[0], *block], *smaller[i + 1 :]]


def nodes(hierarchy):
    """Every node as the set of its leaves."""
    found = {frozenset([row[0]]) for row in hierarchy}
    for level in range(1, len(hierarchy[0])):
        for row in hierarchy:
            found.add(frozenset(other[0] for other in hierarchy if other[level] == row[level]))
    return found


def keeps_rule_g(hierarchy, block):
    """Two values under different children of their lowest common ancestor come with all values of both children."""
    known = nodes(hierarchy) | {frozenset(row[0] for row in hierarchy)}
    for x, y in itertools.combinations(block, 2):
        ancestor = min((node for node in known if x in node and y in node), key=len)
        for value in (x, y):
            below = [node for node in known if value in node and node < ancestor]
            if not max(below, key=len) <= block:
                return False
    return True


def valid_partitions(scheme, hierarchy):
    """Every valid partition, by trying all partitions of the leaves."""
    leaves = [row[0] for row in hierarchy]
    place = {leaf: i for i, leaf in enumerate(leaves)}
    known = nodes(hierarchy)
    whole_levels = [{frozenset([leaf]) for leaf in leaves}] + [
        {frozenset(o[0] for o in hierarchy if o[level] == row[level]) for row in hierarchy}
        for level in range(1, len(hierarchy[0]))
    ]

    def consecutive(block):
        places = sorted(place[leaf] for leaf in block)
        return places == list(range(places[0], places[-1] + 1))

    rules = {
        "full-domain": lambda blocks: set(blocks) in whole_levels,
        "subtree": lambda blocks: all(block in known for block in blocks),
        "ordered": lambda blocks: all(consecutive(block) for block in blocks),
        "guided-ordered": lambda blocks: all(consecutive(block) and keeps_rule_g(hierarchy, block) for block in blocks),
        "set": lambda blocks: True,
        "guided-set": lambda blocks: all(keeps_rule_g(hierarchy, block) for block in blocks),
    }
    found = set()
    for partition in set_partitions(leaves):
        blocks = frozenset(frozenset(block) for block in partition)
        if rules[scheme](blocks):
            found.add(blocks)
    return found


def formal_cuts(hierarchy):
    """The cuts of a tree in which every value of every column is a node of its own."""

    def cuts(rows, level):
        if level == 0:
            return 1
        children = {}
        for row in rows:
            children.setdefault(row[level - 1], []).append(row)
        return 1 + math.prod(cuts(below, level - 1) for below in children.values())

    top = {}
    for row in hierarchy:
        top.setdefault(row[-1], []).append(row)
    return math.prod(cuts(rows, len(hierarchy[0]) - 1) for rows in top.values())
