"""What a release is good for, in plain Python. Slow, and imports nothing from the package.

A cell is the set of original values it may be, None being a missing one. A column is a list of cells, row by row; the
original column has cells of one value each. ``domain`` lists all values of a column in order, None last.

costs:         ``COSTS[name](rows)`` for a ``Rows``: the original values of each row by column, what is released of each
               row as text and as cells (None if it was left out), the domain and the hierarchy of each column, and the
               class labels
distributions: ``marginal(column, domain)``, ``total_variation(p, q)``, ``jensen_shannon(p, q)``,
               ``earth_movers(p, q, domain)``
associations:  ``pearson(a, b)``, ``spearman(a, b, domains)``, ``correlation_ratio(a, b)``, ``cramers_v(a, b)``
classifiers:   ``auc(scores, positive)``
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import NamedTuple

# --- costs ------------------------------------------------------------------------------------------------------------


class Rows(NamedTuple):
    originals: list
    shown: list
    released: list
    domains: dict
    hierarchies: dict
    numeric: frozenset
    labels: list


def classes(rows):
    """The released rows that look alike, as lists of row numbers."""
    found = {}
    for number, released in enumerate(rows.released):
        if released is not None:
            found.setdefault(tuple(rows.shown[number][name] for name in rows.domains), []).append(number)
    return list(found.values())


def gone(rows):
    return [number for number, released in enumerate(rows.released) if released is None]


def stayed(rows):
    return [number for number, released in enumerate(rows.released) if released is not None]


def having(rows, name, values):
    return len([original for original in rows.originals if original[name] in values])


def discernibility(rows):
    return sum(len(members) ** 2 for members in classes(rows)) + len(gone(rows)) * len(rows.originals)


def average_class_size(rows):
    return len(stayed(rows)) / len(classes(rows))


def classification(rows):
    wrong = len(gone(rows))
    for members in classes(rows):
        wrong += len(members) - max(Counter(rows.labels[row] for row in members).values())
    return wrong


def loss_of(rows, name):
    """What the rows lose of one column."""
    domain, total = len(rows.domains[name]), float(len(gone(rows)))
    for row in stayed(rows):
        total += (len(rows.released[row][name]) - 1) / (domain - 1) if domain > 1 else 0
    return total


def loss(rows):
    return sum(loss_of(rows, name) for name in rows.domains)


def ambiguity(rows):
    total = sum(math.prod(len(cell) for cell in rows.released[row].values()) for row in stayed(rows))
    return total + len(gone(rows)) * math.prod(map(len, rows.domains.values()))


def hierarchical_discernibility(rows):
    n, total = len(rows.originals), 0.0
    for row in stayed(rows):
        for name in rows.domains:
            own = having(rows, name, {rows.originals[row][name]})
            total += (having(rows, name, rows.released[row][name]) - own) / (n - own) if n > own else 0
    return total / len(rows.domains) + len(gone(rows))


def non_uniform_entropy(rows):
    total = 0.0
    for row, original in enumerate(rows.originals):
        for name in rows.domains:
            block = rows.domains[name] if rows.released[row] is None else rows.released[row][name]
            total += math.log2(having(rows, name, block) / having(rows, name, {original[name]}))
    return total


def is_local(rows):
    """Whether equal values are released differently."""
    shown = {(name, rows.originals[row][name]): set() for row in stayed(rows) for name in rows.domains}
    for row in stayed(rows):
        for name in rows.domains:
            shown[name, rows.originals[row][name]].add(rows.shown[row][name])
    return any(len(cells) > 1 for cells in shown.values())


def spread_of(rows, name, members, local):
    """How far a class spreads in one column, as a share."""
    inside, domain = {rows.originals[row][name] for row in members}, rows.domains[name]
    tree = rows.hierarchies.get(name)
    if name in rows.numeric and not (local and tree):
        if len(inside) == 1:
            return 0.0
        known = [value for value in domain if value is not None]
        return 1.0 if None in inside else (max(inside) - min(inside)) / (max(known) - min(known))
    if tree and not local:
        return 0.0 if len(inside) == 1 else common_ancestor_leaves(tree, inside) / len(domain)
    covered = len(rows.released[members[0]][name] if tree else inside)
    return 0.0 if covered == 1 else covered / len(domain)


def common_ancestor_leaves(hierarchy, values):
    for level in range(1, len(hierarchy[0])):
        nodes = {row[level] for row in hierarchy if row[0] in values}
        if len(nodes) == 1:
            return len([row for row in hierarchy if row[level] in nodes])
    return len(hierarchy)


def certainty_of(rows, name):
    """What the rows lose of one column."""
    local = is_local(rows)
    return len(gone(rows)) + sum(len(each) * spread_of(rows, name, each, local) for each in classes(rows))


def certainty(rows):
    return sum(certainty_of(rows, name) for name in rows.domains)


def score(rows):
    before = sum(len({original[name] for original in rows.originals}) for name in rows.domains)
    after = sum(len({rows.shown[row][name] for row in stayed(rows)}) for name in rows.domains)
    return max(0, before - after)


COSTS = {
    "DM": discernibility,
    "C_AVG": average_class_size,
    "CM": classification,
    "LM": loss,
    "ambiguity": ambiguity,
    "HDM": hierarchical_discernibility,
    "entropy": non_uniform_entropy,
    "NCP": certainty,
    "score": score,
}

# --- distributions ----------------------------------------------------------------------------------------------------


def marginal(column, domain):
    """The share of the rows that has each value, if every cell is spread evenly."""
    return [sum((value in cell) / len(cell) for cell in column) / len(column) for value in domain]


def total_variation(p, q):
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def jensen_shannon(p, q):
    total = 0.0
    for a, b in zip(p, q, strict=True):
        middle = (a + b) / 2
        total += sum(x * math.log2(x / middle) for x in (a, b) if x > 0) / 2
    return total


def earth_movers(p, q, domain):
    """What it takes to make one distribution the other, moving from the least value up, as a share of the range."""
    known = [i for i, value in enumerate(domain) if value is not None]
    whole_p, whole_q = sum(p[i] for i in known), sum(q[i] for i in known)
    if not whole_p or not whole_q or len(known) < 2:
        return None
    carried = total = 0.0
    for here, there in itertools.pairwise(known):
        carried += p[here] / whole_p - q[here] / whole_q
        total += abs(carried) * (domain[there] - domain[here])
    return total / (domain[known[-1]] - domain[known[0]])


# --- associations -----------------------------------------------------------------------------------------------------


def pairs(a, b):
    """Every pair of values two columns may have in a row, with its weight."""
    for one, two in zip(a, b, strict=True):
        for x in one:
            for y in two:
                yield x, y, 1 / len(one) / len(two)


def pearson(a, b):
    known = [(x, y, w) for x, y, w in pairs(a, b) if x is not None and y is not None]
    n = sum(w for *_, w in known)
    if not n:
        return 0.0
    mean_x, mean_y = sum(x * w for x, _, w in known) / n, sum(y * w for _, y, w in known) / n
    var_x = sum((x - mean_x) ** 2 * w for x, _, w in known)
    var_y = sum((y - mean_y) ** 2 * w for _, y, w in known)
    if var_x < 1e-9 or var_y < 1e-9:
        return 0.0
    return sum((x - mean_x) * (y - mean_y) * w for x, y, w in known) / math.sqrt(var_x * var_y)


def spearman(a, b, domains):
    ranked = []
    for column, domain in zip((a, b), domains, strict=True):
        share = dict(zip(domain, marginal(column, domain), strict=True))
        rank = {
            value: 1e4 * (sum(share[other] for other in domain[:place]) + share[value] / 2)
            for place, value in enumerate(domain)
            if value is not None
        }
        # A list, as two values of the release that have no share in it have the same rank.
        ranked.append([[None if value is None else rank[value] for value in cell] for cell in column])
    return pearson(*ranked)


def correlation_ratio(numbers, texts):
    known = [(x, y, w) for x, y, w in pairs(numbers, texts) if x is not None]
    n = sum(w for *_, w in known)
    if not n:
        return 0.0
    mean = sum(x * w for x, _, w in known) / n
    variance = sum((x - mean) ** 2 * w for x, _, w in known)
    between = 0.0
    for text in {y for _, y, _ in known}:
        own = [(x, w) for x, y, w in known if y == text]
        size = sum(w for _, w in own)
        between += size * (sum(x * w for x, w in own) / size - mean) ** 2
    return math.sqrt(between / variance) if variance > 1e-9 else 0.0


def cramers_v(a, b):
    both, first, second = Counter(), Counter(), Counter()
    for x, y, w in pairs(a, b):
        both[x, y] += w
        first[x] += w
        second[y] += w
    least = min(len(first), len(second)) - 1
    if least < 1:
        return 0.0
    n = len(a)
    expected = {(x, y): first[x] * second[y] / n for x in first for y in second}
    squares = sum((both[pair] - count) ** 2 / count for pair, count in expected.items())
    return math.sqrt(squares / n / least)


# --- classifiers ------------------------------------------------------------------------------------------------------


def auc(scores, positive):
    """The share of pairs of a positive and a negative row in which the positive one has the higher score."""
    ours = [score for score, yes in zip(scores, positive, strict=True) if yes]
    theirs = [score for score, yes in zip(scores, positive, strict=True) if not yes]
    won = sum((a > b) + (a == b) / 2 for a in ours for b in theirs)
    return won / len(ours) / len(theirs)
