"""Key sets: classes formed by some of the quasi-identifiers alone, all of which must have k rows."""

from __future__ import annotations

import itertools

from naive.costs import COSTS
from naive.recoding import TOLERANCE, classes, counts, released
from naive.suppression import all_ok, suppress


def of_any(names, number):
    """Every combination of so many quasi-identifiers."""
    return list(itertools.combinations(names, number))


def key_classes(table, levels, key_set, rows):
    """Some rows by what they show of the quasi-identifiers in a key set."""
    level_of = dict(zip(table.hierarchies, levels, strict=True))
    found = {}
    for row in rows:
        key = tuple(released(table, name, table.rows[row][name], level_of[name]) for name in key_set)
        found.setdefault(key, []).append(row)
    return list(found.values())


def keeps(table, levels, key_sets, rows):
    """Whether some rows keep the promise on every key set, given as pairs of names and k."""
    return all(len(group) >= k for names, k in key_sets for group in key_classes(table, levels, names, rows))


def kept_rows(table, levels, key_sets, ok):
    """The rows that stay: classes that are not ok go, then rows in small key classes, until nothing changes."""
    left = [row for members in classes(table, levels) if ok(members) for row in members]
    while True:
        small = {
            row
            for names, k in key_sets
            for group in key_classes(table, levels, names, left)
            if len(group) < k
            for row in group
        }
        if not small:
            return sorted(left)
        left = [row for row in left if row not in small]


def cost_with_key_sets(table, levels, key_sets, models, kind, limit, cost, column, **options):
    """What a recoding costs, and how many records go; the cost is None if the recoding is not allowed."""
    if kind in ("class-values", "violating-values"):
        done = suppress(table, levels, models, kind, limit, cost, column, **options)
        fine = keeps(table, levels, key_sets, range(len(table.rows)))
        return (done.cost if fine else None), 0
    stay = set(kept_rows(table, levels, key_sets, lambda rows: all_ok(models, counts(table, rows, column))))
    gone = [row for row in range(len(table.rows)) if row not in stay]
    if len(gone) > limit:
        return None, len(gone)
    published = [members for members in classes(table, levels) if set(members) <= stay]
    return COSTS[cost](table, levels, published, gone, **options), len(gone)


def search_key_sets(table, recodings, key_sets, models, kind, limit, cost, column, **options):
    """The least cost of all recodings and those that reach it, and the fewest records that go in any."""
    best, found, fewest = None, [], len(table.rows)
    for levels in recodings:
        total, gone = cost_with_key_sets(table, levels, key_sets, models, kind, limit, cost, column, **options)
        fewest = min(fewest, gone)
        if total is None:
            continue
        if best is None or total < best - TOLERANCE * max(1, abs(best)):
            best, found = total, [levels]
        elif total <= best + TOLERANCE * max(1, abs(best)):
            found.append(levels)
    return best, found, fewest
