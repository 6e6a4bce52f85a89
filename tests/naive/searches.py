"""Searches that try everything."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from naive.costs import COSTS
from naive.recoding import TOLERANCE, classes, counts
from naive.schemes import valid_partitions
from naive.suppression import all_ok, suppress


class Search(NamedTuple):
    feasible: bool
    cost: float | None
    levels: list  # every vector that reaches the cost
    smallest_budget: int  # fewest suppressed rows of any vector


def level_vectors(table):
    """Every vector of levels."""
    return list(itertools.product(*(range(len(rows[0])) for rows in table.hierarchies.values())))


def recode(table, levels, ok):
    """The published classes and the suppressed rows if exactly the classes that are ok are published."""
    found = classes(table, levels)
    published = [members for members in found if ok(members)]
    return published, [row for members in found if not ok(members) for row in members]


def search(table, ok, cost, budget, vectors=None, **options):
    """The best full-domain recoding within a budget of rows, by trying all; ``ok`` gets the rows of a class."""
    best, levels, fewest = None, [], len(table.rows)
    for vector in vectors if vectors is not None else level_vectors(table):
        published, suppressed = recode(table, vector, ok)
        fewest = min(fewest, len(suppressed))
        if len(suppressed) > budget:
            continue
        total = COSTS[cost](table, vector, published, suppressed, **options)
        if best is None or total < best - TOLERANCE * max(1, abs(best)):
            best, levels = total, [vector]
        elif total <= best + TOLERANCE * max(1, abs(best)):
            levels.append(vector)
    return Search(best is not None, best, levels, fewest)


class CutSearch(NamedTuple):
    feasible: bool
    cost: float | None
    cuts: list  # every tuple of partitions that reaches the cost
    considered: int
    smallest_budget: int  # fewest rows in classes that are not ok, of any cut


def search_cuts(table, models, kind, limit, cost, column, scheme="subtree", **options):
    """The best recoding by a valid partition of each attribute, by trying all; ``scheme`` may be a dict."""
    best, cuts, fewest, considered = None, [], len(table.rows), 0
    schemes = scheme if isinstance(scheme, dict) else dict.fromkeys(table.hierarchies, scheme)
    for levels in itertools.product(*(valid_partitions(schemes[a], rows) for a, rows in table.hierarchies.items())):
        considered += 1
        bad = [m for m in classes(table, levels) if not all_ok(models, counts(table, m, column))]
        fewest = min(fewest, sum(len(members) for members in bad))
        total = suppress(table, levels, models, kind, limit, cost, column, **options).cost
        if total is None:
            continue
        if best is None or total < best - TOLERANCE * max(1, abs(best)):
            best, cuts = total, [levels]
        elif total <= best + TOLERANCE * max(1, abs(best)):
            cuts.append(levels)
    return CutSearch(best is not None, best, cuts, considered, fewest)


def k_of_node(table, levels, budget):
    """The k of a node and the rows it costs: the smallest classes go, all of one size together, within the budget.

    k is None if that leaves nothing.
    """
    left = sorted(classes(table, levels), key=len)
    gone = []
    while left:
        smallest = [members for members in left if len(members) == len(left[0])]
        rows = [row for members in smallest for row in members]
        if len(gone) + len(rows) > budget:
            break
        gone += rows
        left = left[len(smallest) :]
    return (len(left[0]) if left else None), sorted(gone)


class Point(NamedTuple):
    values: tuple  # what is measured on the published classes; more is better
    loss: float
    levels: tuple  # the first vector that has these values and this loss
    also: int  # how many others have them
    suppressed: int
    classes: int  # published


def stay_and_go(table, levels, budget, value, ok=None):
    """The classes that stay and the rows that go: the worst classes go, all equally bad ones together.

    Something always stays: the best classes, even where the budget would let them go. With promises, the classes that
    are not ok go before all others; if they have too many rows, or nothing else is there, nothing stays.
    """
    every = classes(table, levels)
    fine = [members for members in every if ok is None or ok(members)]
    gone = [row for members in every if members not in fine for row in members]
    if len(gone) > budget or not fine:
        return [], list(range(len(table.rows)))
    found = [(value(members), members) for members in fine]
    each = sorted({worth for worth, _ in found})
    for worth in each[:-1]:
        rows = [row for own, members in found for row in members if own == worth]
        if len(gone) + len(rows) > budget:
            break
        gone += rows
    return [members for _, members in found if not set(members) & set(gone)], sorted(gone)


def evaluated(table, budget, cost, value=len, measures=None, vectors=None, ok=None, **options):
    """Every node as a point of its own: vector, values, loss, suppressed rows and published classes.

    Those that cannot keep the promises are left out; ``ok`` says whether a class does.
    ``value`` says how good a class is, given its rows: classes are suppressed by it. Each of ``measures`` gets the
    published classes and returns a number; by default there is one, the worst value.
    """
    measures = measures or [lambda published: min(map(value, published))]
    found = []
    for levels in vectors if vectors is not None else level_vectors(table):
        published, gone = stay_and_go(table, levels, budget, value, ok)
        if not published:
            continue
        loss = COSTS[cost](table, levels, published, gone, **options)
        values = tuple(measure(published) for measure in measures)
        found.append(Point(values, loss, tuple(levels), 0, len(gone), len(published)))
    return found


def nearly(a, b):
    return abs(a - b) <= TOLERANCE * max(1, abs(a), abs(b))


def front(table, budget, cost, value=len, measures=None, vectors=None, ok=None, **options):
    """The points that no node is better than, by evaluating all nodes; the first value falls along it."""
    return best_points(evaluated(table, budget, cost, value, measures, vectors, ok, **options))


def best_points(found):
    """The points that no other is better than."""

    def better(a, b):
        """a is as good as b in everything, and better in something."""
        near = [nearly(x, y) for x, y in zip((*a.values, a.loss), (*b.values, b.loss), strict=True)]
        more = [x > y for x, y in zip((*a.values, -a.loss), (*b.values, -b.loss), strict=True)]
        return all(n or m for n, m in zip(near, more, strict=True)) and not all(near)

    best = [point for point in found if not any(better(other, point) for other in found)]
    points = []
    for point in sorted(best, key=lambda point: point.levels):
        same = [
            i
            for i, other in enumerate(points)
            if all(map(nearly, (*other.values, other.loss), (*point.values, point.loss)))
        ]
        if same:
            points[same[0]] = points[same[0]]._replace(also=points[same[0]].also + 1)
        else:
            points.append(point)
    return sorted(points, key=lambda point: (tuple(-value for value in point.values), point.loss))
