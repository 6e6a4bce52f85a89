"""Privacy models: conditions on the counts of one class.

Counts may have None: the rows whose sensitive value is missing. They count in the size of the class, and nowhere else.
"""

from __future__ import annotations

import math

from naive.recoding import TOLERANCE


def known(counts):
    """The counts without the rows whose value is missing."""
    return {value: n for value, n in counts.items() if value is not None and n > 0}


def k_anonymous(counts, k):
    return sum(counts.values()) >= k


def distinct_l(counts, l):  # noqa: E741
    return len(known(counts)) >= l


def entropy(counts):
    size = sum(known(counts).values())
    return -sum(n / size * math.log(n / size) for n in known(counts).values())


def entropy_l(counts, l):  # noqa: E741
    return entropy(counts) >= math.log(l) - TOLERANCE


def recursive_cl(counts, c, l):  # noqa: E741
    n = sorted(known(counts).values(), reverse=True)
    return bool(n) and n[0] < c * sum(n[l - 1 :]) * (1 - TOLERANCE)


def thetas(whole, theta, by=None):
    """The threshold of each value: one for all, given value by value (others 1), or raised for frequent values."""
    if isinstance(theta, dict):
        return {value: theta.get(value, 1) for value in whole}
    if by is None:
        return dict.fromkeys(whole, theta)
    occurring = [n for n in whole.values() if n > 0]
    average = sum(occurring) / max(len(occurring), 1)
    return {value: theta if n <= average else min(1, theta * n / average) for value, n in whole.items()}


def l_plus(counts, thetas):
    size = sum(known(counts).values())
    return all(n / size <= thetas[value] * (1 + TOLERANCE) for value, n in known(counts).items())


def alpha_k(counts, alpha, k):
    size = sum(known(counts).values())
    return sum(counts.values()) >= k and all(count / size <= alpha + TOLERANCE for count in known(counts).values())


def beta_like(counts, whole, beta, enhanced=False):
    size, n = sum(known(counts).values()), sum(known(whole).values())
    for value, count in known(counts).items():
        p, q = whole[value] / n, count / size
        most = min(beta, -math.log(p)) if enhanced else beta
        if q > p * (1 + most) + TOLERANCE:
            return False
    return True


def delta_disclosure(counts, whole, delta):
    size, n = sum(known(counts).values()), sum(known(whole).values())
    return all(
        abs(math.log(count / size) - math.log(whole[value] / n)) < delta - TOLERANCE
        for value, count in known(counts).items()
    )


def emd(counts, whole, distance, hierarchy=None):
    """Earth mover's distance to the whole table. ``whole`` is in the column's order; hierarchy rows are leaf first."""
    size, total = sum(known(counts).values()), sum(known(whole).values())
    if size == 0:
        return 0.0
    extra = {value: counts.get(value, 0) / size - n / total for value, n in whole.items() if value is not None}
    if distance == "equal":
        return sum(abs(e) for e in extra.values()) / 2
    if distance == "ordered":
        moved, carried = 0.0, 0.0
        for e in extra.values():
            carried += e
            moved += abs(carried)
        return moved / (len(extra) - 1) if len(extra) > 1 else 0.0
    paths = {row[0]: row for row in hierarchy}
    height = len(hierarchy[0]) - 1
    cost = 0.0
    for level in range(1, height + 1):  # what a node's children exchange travels up to the node and down again
        for node in {path[level] for path in paths.values()}:
            children = {path[level - 1] for path in paths.values() if path[level] == node}
            sums = [sum(e for value, e in extra.items() if paths[value][level - 1] == child) for child in children]
            exchanged = min(sum(s for s in sums if s > 0), -sum(s for s in sums if s < 0))
            cost += level / height * exchanged
    return cost


def t_close(counts, whole, t, distance="equal", hierarchy=None):
    return emd(counts, whole, distance, hierarchy) <= t + TOLERANCE
