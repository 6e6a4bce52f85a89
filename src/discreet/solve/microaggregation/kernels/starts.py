"""Groups to start from: MDAV and V-MDAV, and the best cut of rows in a given order."""

from __future__ import annotations

import numpy as np

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.jit import inner_kernel, kernel

__all__ = ["cut_order", "mdav_groups"]


@kernel
def cut_order(x: Floats, order: Ints, k: int, begins: Ints) -> int:  # begins OUT
    """Cut rows in an order into runs of k to 2k - 1 rows with the least squared error; return how many there are.

    Hansen and Mukherjee (2003): a shortest path over the ends of runs. Sums run from one end, so that a run of s rows
    costs O(m) given that of s - 1 rows: O(n k m) together. The rows of run r begin at ``begins[r]``.

    For one coordinate and ascending rows, the optimum over all groupings is such a cut.
    """
    n, m = order.size, x.shape[1]
    least, length = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=np.int64)
    least[0] = 0.0
    mean = np.zeros(m)
    for end in range(k, n + 1):
        error = 0.0
        mean[:] = 0.0
        for rows in range(1, min(2 * k - 1, end) + 1):
            row = order[end - rows]
            for i in range(m):  # Welford's update: no difference of large sums
                away = x[row, i] - mean[i]
                mean[i] += away / rows
                error += away * (x[row, i] - mean[i])
            if rows >= k and least[end - rows] + error < least[end]:
                least[end], length[end] = least[end - rows] + error, rows
    end, runs = n, 0
    while end > 0:
        end -= length[end]
        begins[runs] = end
        runs += 1
    for r in range(runs // 2):
        begins[r], begins[runs - 1 - r] = begins[runs - 1 - r], begins[r]
    return runs


@kernel
def mdav_groups(x: Floats, k: int, gamma: float, group: Ints) -> int:  # group OUT
    """Group rows by MDAV; return the number of groups, of k to 2k - 1 rows each. O(n^2 m / k).

    While 3k rows are left, the row farthest from their mean makes a group with its k - 1 nearest, and so does the row
    farthest from that one; then the rest is divided. With ``gamma`` above 0 it is V-MDAV (Solanas and Martinez-Balleste
    2006): a group is extended by the row nearest to it, up to 2k - 1 rows, as long as that is nearer than gamma times
    its distance from the nearest other row that is left.
    """
    n, m = x.shape
    left, away, picked = np.arange(n), np.zeros(n), np.zeros(n, dtype=np.int64)
    count, groups = n, 0
    mean = np.zeros(m)
    while count >= 2 * k:
        mean[:] = 0.0
        for position in range(count):
            for i in range(m):
                mean[i] += x[left[position], i]
        mean /= count
        seed = _farthest(x, left, count, mean)
        for _ in range(2 if count >= 3 * k else 1):
            mean[:] = x[seed]
            count = _take_nearest(x, left, count, mean, k, away, picked)
            taken = k
            while gamma > 0.0 and taken < 2 * k - 1 and count > max(k, 2):
                found = _extension(x, left, count, picked, taken, gamma)
                if found < 0:
                    break
                picked[taken] = left[found]
                taken += 1
                count -= 1
                left[found] = left[count]
            for position in range(taken):
                group[picked[position]] = groups
            groups += 1
            if count < 2 * k:
                break
            seed = _farthest(x, left, count, mean)
    for position in range(count):
        group[left[position]] = groups
    return groups + (count > 0)


@inner_kernel
def _distance(x: Floats, row: int, middle: Floats) -> float:
    total = 0.0
    for i in range(x.shape[1]):
        total += (x[row, i] - middle[i]) ** 2
    return total


@inner_kernel
def _farthest(x: Floats, left: Ints, count: int, middle: Floats) -> int:
    most, found = -1.0, left[0]
    for position in range(count):
        distance = _distance(x, left[position], middle)
        if distance > most:
            most, found = distance, left[position]
    return found


@inner_kernel
def _take_nearest(
    x: Floats, left: Ints, count: int, middle: Floats, k: int, away: Floats, picked: Ints
) -> int:  # left, away, picked OUT
    """Take out the k rows nearest to a point, which become ``picked[:k]``; return how many are left."""
    found = 0
    for position in range(count):
        distance = _distance(x, left[position], middle)
        if found == k and distance >= away[k - 1]:
            continue
        r = min(found, k - 1)
        while r > 0 and away[r - 1] > distance:
            away[r], picked[r] = away[r - 1], picked[r - 1]
            r -= 1
        away[r], picked[r] = distance, position
        found = min(found + 1, k)
    for r in range(k):  # positions become rows, and are marked
        position = picked[r]
        picked[r] = left[position]
        left[position] = -1
    kept = 0
    for position in range(count):
        if left[position] >= 0:
            left[kept] = left[position]
            kept += 1
    return kept


@inner_kernel
def _extension(x: Floats, left: Ints, count: int, picked: Ints, taken: int, gamma: float) -> int:
    """The position of the row that extends a group, or -1 if it is nearer to others."""
    inside, found = np.inf, 0
    for position in range(count):
        for member in range(taken):
            distance = _distance(x, left[position], x[picked[member]])
            if distance < inside:
                inside, found = distance, position
    outside = np.inf
    for position in range(count):
        if position != found:
            outside = min(outside, _distance(x, left[position], x[left[found]]))
    return found if np.sqrt(inside) < gamma * np.sqrt(outside) else -1
