"""Promises that count people: one person may have several rows, in several classes and with several values."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import NamedTuple

from naive.costs import COSTS, common_ancestor
from naive.privacy import beta_like, delta_disclosure, distinct_l, entropy_l, recursive_cl, t_close, thetas
from naive.recoding import TOLERANCE, classes, released
from naive.schemes import nodes, set_partitions, valid_partitions
from naive.searches import Point, level_vectors


class Crowd(NamedTuple):
    """Some rows as promises see them."""

    people: set
    counts: dict  # value -> number of people who have it
    known: set  # people with a known value


def crowd(table, rows, person, column):
    """The people of some rows, and how many of them have each value of a column."""
    having = {}
    for row in rows:
        value = table.rows[row].get(column)
        if value is not None:
            having.setdefault(value, set()).add(table.rows[row][person])
    people = {table.rows[row][person] for row in rows}
    return Crowd(people, {value: len(who) for value, who in having.items()}, set().union(*having.values()))


def crowd_ok(text, hierarchy, whole):
    """A condition on a crowd for a privacy model given as text; ``whole`` is the crowd of the table."""
    name, listed = text.rstrip(")").split("(", 1)
    args = [part.strip() for part in listed.split(",")]
    in_order = {row[0]: whole.counts.get(row[0], 0) for row in hierarchy}
    if name == "k":
        return lambda found: len(found.people) >= int(args[0])
    if name == "distinct-l":
        return lambda found: distinct_l(found.counts, int(args[0]))
    if name == "entropy-l":
        return lambda found: entropy_l(found.counts, float(args[0]))
    if name == "recursive-cl":
        return lambda found: recursive_cl(found.counts, float(args[0]), int(args[1]))
    if name == "beta":
        return lambda found: beta_like(found.counts, whole.counts, float(args[0]), "enhanced" in args)
    if name == "delta-disclosure":
        return lambda found: delta_disclosure(found.counts, whole.counts, float(args[0]))
    if name == "t":
        return lambda found: t_close(found.counts, in_order, float(args[0]), args[2], hierarchy)
    limits = thetas(whole.counts, float(args[0]), "frequency" if "by=frequency" in args else None)
    least = int(args[1]) if name == "alpha-k" else 0

    def within(found):
        shares = {value: n / len(found.known) for value, n in found.counts.items()}
        fine = all(share <= limits[value] * (1 + TOLERANCE) for value, share in shares.items())
        return fine and len(found.people) >= least

    return within


def alike(table, levels, person, rows):
    """The people whose released rows are equal as multisets, profile by profile; each as a set of people."""
    shown = {}
    for row in rows:
        values = tuple(
            released(table, name, table.rows[row][name], level)
            for name, level in zip(table.hierarchies, levels, strict=True)
        )
        shown.setdefault(table.rows[row][person], []).append(values)
    profiles = {}
    for who, values in shown.items():
        profiles.setdefault(tuple(sorted(Counter(values).items(), key=str)), set()).add(who)
    return list(profiles.values())


def suppress_classes(table, levels, ok):
    """The published classes and the suppressed rows if just the rows of classes that are not ok go."""
    found = classes(table, levels)
    return [rows for rows in found if ok(rows)], [row for rows in found if not ok(rows) for row in rows]


def suppress_people(table, levels, ok, person, profile=0):
    """The same if everybody in a class that is not ok goes with all rows, until nothing changes.

    With a profile of k, so does everybody whose profile fewer than k people have.
    """
    gone = set()
    while True:
        left = [[row for row in rows if table.rows[row][person] not in gone] for rows in classes(table, levels)]
        left = [rows for rows in left if rows]
        more = {table.rows[row][person] for rows in left if not ok(rows) for row in rows}
        for who in alike(table, levels, person, [row for rows in left for row in rows]):
            more |= who if len(who) < profile else set()
        if not more:
            return left, [row for row in range(len(table.rows)) if table.rows[row][person] in gone]
        gone |= more


def too_few(table, levels, key_sets, person, rows):
    """The rows that lie in a class of a key set with too few people; key sets are pairs of names and k."""
    found = set()
    for names, k in key_sets:
        shown = {}
        for row in rows:
            values = tuple(
                released(table, name, table.rows[row][name], level)
                for name, level in zip(table.hierarchies, levels, strict=True)
                if name in names
            )
            shown.setdefault(values, []).append(row)
        for members in shown.values():
            if len({table.rows[row][person] for row in members}) < k:
                found.update(members)
    return found


def suppress_by_key_sets(table, levels, ok, person, key_sets, *, whole_people, profile=0):
    """The published classes and the suppressed rows with key sets, until nothing changes.

    Of a class that is not ok, or lies in a class of a key set that is too small, the rows go, or its people with all
    of their rows. With a profile of k, so does everybody whose profile fewer than k people have.
    """
    gone = set()
    while True:
        left = [[row for row in rows if row not in gone] for rows in classes(table, levels)]
        left = [rows for rows in left if rows]
        more = {row for rows in left if not ok(rows) for row in rows}
        more |= too_few(table, levels, key_sets, person, [row for rows in left for row in rows])
        for who in alike(table, levels, person, [row for rows in left for row in rows]) if profile else []:
            more |= {row for rows in left for row in rows if len(who) < profile and table.rows[row][person] in who}
        if whole_people:
            people = {table.rows[row][person] for row in more}
            more = {row for rows in left for row in rows if table.rows[row][person] in people}
        if not more:
            return left, sorted(gone)
        gone |= more


class PeopleSearch(NamedTuple):
    feasible: bool
    cost: float | None
    best: list  # every vector, or cut, that reaches the cost
    fewest: int  # suppressed rows or people of any


def search_people(table, ok, person, cost, limit, *, unit, profile=0, scheme=None, **options):
    """The best recoding within a limit of rows or people, by trying all level vectors, or all cuts of a scheme."""
    vectors = level_vectors(table)
    if scheme is not None:
        vectors = itertools.product(*(valid_partitions(scheme, rows) for rows in table.hierarchies.values()))
    tried = []
    for levels in vectors:
        if unit == "people":
            published, gone = suppress_people(table, levels, ok, person, profile)
        else:
            published, gone = suppress_classes(table, levels, ok)
            if any(len(who) < profile for who in alike(table, levels, person, [r for rows in published for r in rows])):
                continue
        tried.append((levels, published, gone))
    return cheapest_of_people(table, person, cost, limit, tried, unit=unit, **options)


def search_key_sets_of_people(table, ok, person, cost, limit, key_sets, *, unit, scheme=None, profile=0, **options):
    """The best recoding within a limit of rows or people that keeps key sets of people, by trying all of a scheme."""
    whole, vectors = unit == "people", level_vectors(table)
    if scheme is not None:
        vectors = itertools.product(*(valid_partitions(scheme, rows) for rows in table.hierarchies.values()))
    tried = [
        (levels, *suppress_by_key_sets(table, levels, ok, person, key_sets, whole_people=whole, profile=profile))
        for levels in vectors
    ]
    return cheapest_of_people(table, person, cost, limit, tried, unit=unit, **options)


def cheapest_of_people(table, person, cost, limit, tried, *, unit, **options):
    """The best of recodings with what each publishes and suppresses, within a limit of rows or people."""
    best, found, fewest = None, [], len(table.rows)
    for levels, published, gone in tried:
        lost = len({table.rows[row][person] for row in gone}) if unit == "people" else len(gone)
        fewest = min(fewest, lost)
        if lost > limit:
            continue
        total = COSTS[cost](table, levels, published, gone, **options)
        if best is None or total < best - TOLERANCE * max(1, abs(best)):
            best, found = total, [levels]
        elif total <= best + TOLERANCE * max(1, abs(best)):
            found.append(levels)
    return PeopleSearch(best is not None, best, found, fewest)


def nodes_of_people(table, person, cost, budget, *, unit, vectors=None, **options):
    """Every node as a point, by the size of its classes in people, within a budget of rows or people.

    Classes go from the smallest up, all of one size together, and something always stays. If people go with all their
    rows, a node has the largest k for which no more than the budget must go.
    """
    found = []
    for levels in vectors or level_vectors(table):
        size = {tuple(rows): len({table.rows[row][person] for row in rows}) for rows in classes(table, levels)}
        best = None
        for k in range(1, max(size.values()) + 1):
            if unit == "people":
                left, gone = suppress_people(
                    table, levels, lambda rows, k=k: len({table.rows[row][person] for row in rows}) >= k, person
                )
                lost = len({table.rows[row][person] for row in gone})
            else:
                left = [list(rows) for rows in size if size[rows] >= k]
                gone = [row for rows in size if size[rows] < k for row in rows]
                lost = len(gone)
            if left and lost <= budget:
                best = (min(len({table.rows[row][person] for row in rows}) for rows in left), left, gone, lost)
        k, left, gone, lost = best
        loss = COSTS[cost](table, levels, left, gone, **options)
        found.append(Point((k,), loss, tuple(levels), 0, lost, len(left)))
    return found


def best_groups_of_people(table, ok, person, cost, limit):
    """The least cost of groups of people, who are in one group with all rows or suppressed; None if there are none.

    Everything is tried. Columns are text with hierarchies; the cost is LM or NCP.
    """
    people, best = sorted({row[person] for row in table.rows}), None
    rows_of = {who: [i for i, row in enumerate(table.rows) if row[person] == who] for who in people}
    for gone in (set(some) for n in range(limit + 1) for some in itertools.combinations(people, n)):
        left = [who for who in people if who not in gone]
        for groups in set_partitions(left) if left else [[]]:
            members = [[row for who in group for row in rows_of[who]] for group in groups]
            if all(ok(rows) for rows in members):
                total = groups_cost(table, members, sum(len(rows_of[who]) for who in gone), cost)
                best = total if best is None else min(best, total)
    return best


def best_covers_of_people(table, person, key_sets, limit, *, together, unit):
    """The least LM of showing any node above each value, so that every class of a key set has k people.

    With ``together`` all rows of a person show the same. Everything is tried: what each person, or each row, shows, or
    that it is suppressed. Key sets are pairs of names and k.
    """
    names, rows = list(table.hierarchies), range(len(table.rows))
    whose = [table.rows[row][person] for row in rows]
    parts = [[row] for row in rows]
    if together:
        parts = [[row for row in rows if whose[row] == who] for who in sorted(set(whose))]
    choices = []
    for part in parts:
        each = []
        for name, tree in table.hierarchies.items():
            inside = {table.rows[row][name] for row in part}
            each.append([(node, (len(node) - 1) / max(len(tree) - 1, 1)) for node in nodes(tree) if inside <= node])
        shown = [(len(part) * sum(r for _, r in some), [node for node, _ in some]) for some in itertools.product(*each)]
        choices.append([(len(part) * float(len(names)), None), *shown])
    best = None
    for chosen in itertools.product(*choices):
        total = sum(cost for cost, _ in chosen)
        gone = [part for part, (_, shown) in zip(parts, chosen, strict=True) if shown is None]
        lost = len({whose[row] for part in gone for row in part}) if unit == "people" else sum(map(len, gone))
        if lost > limit or (best is not None and total >= best):
            continue
        held = True
        for columns, k in key_sets:
            crowds = {}
            for part, (_, shown) in zip(parts, chosen, strict=True):
                if shown is not None:
                    key = tuple(node for name, node in zip(names, shown, strict=True) if name in columns)
                    crowds.setdefault(key, set()).update(whose[row] for row in part)
            held = held and all(len(crowd) >= k for crowd in crowds.values())
        if held:
            best = total
    return best


def groups_cost(table, groups, suppressed, cost):
    """LM or NCP of groups of rows, each of which shows the lowest common ancestors of its values."""
    total = suppressed * float(len(table.hierarchies))
    for rows in groups:
        for name, hierarchy in table.hierarchies.items():
            inside, leaves = {table.rows[row][name] for row in rows}, len(hierarchy)
            under = 1 if len(inside) == 1 else common_ancestor(hierarchy, inside)[1]
            if cost == "LM":
                total += len(rows) * (under - 1) / max(leaves - 1, 1)
            elif len(inside) > 1:
                total += len(rows) * under / leaves
    return total
