"""Cell suppression: rows are tuples of released values, and ``*`` is a hidden cell."""

from collections import Counter
from itertools import combinations

__all__ = ["fewest_cells", "hide_cells", "matches", "strict_sizes"]


def matches(released):
    """Return how many rows match each row: those that agree wherever neither is hidden, itself included."""
    return [sum(all("*" in (a, b) or a == b for a, b in zip(r, s, strict=True)) for s in released) for r in released]


def strict_sizes(released):
    """Return the size of the class of each row, where ``*`` is a value of its own."""
    sizes = Counter(released)
    return [sizes[row] for row in released]


def hide_cells(rows, cells):
    """Return rows with some cells hidden, given as pairs of row and column."""
    return [tuple("*" if (i, j) in cells else value for j, value in enumerate(row)) for i, row in enumerate(rows)]


def fewest_cells(rows, k, prices, count):
    """Return the least that hiding cells costs so that ``count`` (of the above) is at least k for each row."""
    columns = [j for j in range(len(prices)) if len({row[j] for row in rows}) > 1]
    cells = [(i, j) for i in range(len(rows)) for j in columns]
    best = float("inf")
    for size in range(len(cells) + 1):
        if size * min(prices) >= best:
            break
        for chosen in combinations(cells, size):
            cost = sum(prices[j] for _, j in chosen)
            if cost < best and min(count(hide_cells(rows, set(chosen)))) >= k:
                best = cost
    return best
