"""Splitting top-down (utility paper, 4.2): two points far from each other draw all others to one side or the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.covers import SET, Points, rate_of
from discreet.kernels.groups import FAR, GONE, point_rate, widen

__all__ = ["Splitting", "draw", "split_groups"]


class Splitting(NamedTuple):
    """The points, group after group, and where groups begin. The last ``open[0]`` groups wait, the others are done.

    Groups that are done stand at the end, so that the whole is in the order of the splits, from the last to the first.
    """

    point: NDArray[np.int64]
    first: NDArray[np.int64]
    """Where each waiting group begins, and where the last one ends."""
    open: NDArray[np.int64]
    done: NDArray[np.int64]
    """(points,) 1 where a group that is done begins."""
    random: NDArray[np.uint64]
    """The state of the random numbers."""


@inner_kernel
def draw(state: NDArray[np.uint64], below: int) -> int:  # state OUT
    """A random whole number below another (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    x = state[0]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return np.int64(x >> np.uint64(1)) % below


@kernel
def split_groups(points: Points, small: int, rounds: int, splitting: Splitting, most: int) -> None:  # splitting OUT
    """Split waiting groups of more than ``small`` rows until none waits or ``most`` points have been looked at."""
    cover = np.empty((2, points.kind.size, 2), dtype=np.int64)
    looked_at = 0
    while splitting.open[0] > 0 and looked_at < most:
        last = splitting.open[0] - 1
        begin, end = splitting.first[last], splitting.first[last + 1]
        looked_at += end - begin
        split = False
        if _rows(points, splitting.point, begin, end) > small:
            split = _seeds(points, splitting, begin, end, rounds)
        if split:
            splitting.first[last + 2] = end
            splitting.first[last + 1] = _draw_to_seeds(points, splitting, begin, end, cover)
            splitting.open[0] += 1
        else:
            splitting.done[begin] = 1
            splitting.open[0] -= 1


@inner_kernel
def _rows(points: Points, point: NDArray[np.int64], begin: int, end: int) -> int:
    rows = 0
    for e in range(begin, end):
        rows += points.weights[point[e]]
    return rows


@inner_kernel
def _seeds(points: Points, splitting: Splitting, begin: int, end: int, rounds: int) -> bool:  # splitting OUT
    """Move two points that are far from each other to both ends of a group; not if all are alike.

    From a random point to the farthest one, from there to the farthest one, and so on while that gets any farther.
    """
    point = splitting.point
    first, second, reached = begin, begin + draw(splitting.random, end - begin), 0.0
    for _ in range(rounds):
        other, distance = _farthest(points, point, begin, end, second, reached)
        if other == GONE:
            break
        first, second, reached = second, other, distance
    if reached <= 0.0:
        return False
    point[begin], point[first] = point[first], point[begin]
    if second == begin:
        second = first
    point[end - 1], point[second] = point[second], point[end - 1]
    return True


@inner_kernel
def _farthest(
    points: Points, point: NDArray[np.int64], begin: int, end: int, seed: int, reached: float
) -> tuple[int, float]:
    """The point with which a seed costs most, and how much; GONE if no more than what was reached before."""
    far = GONE
    j = point[seed]
    for e in range(begin, end):
        other, rate = point[e], 0.0
        for i in range(points.kind.size):
            a, b = points.codes[j, i], points.codes[other, i]
            if points.kind[i] == SET:
                rate += rate_of(points, i, a | b, 0)
            else:
                rate += rate_of(points, i, min(a, b), max(a, b))
        if rate > reached:
            far, reached = e, rate
    return far, reached


@inner_kernel
def _draw_to_seeds(points: Points, splitting: Splitting, begin: int, end: int, cover: NDArray[np.int64]) -> int:
    """Let the other points, in random order, join the seed at either end where the total cost grows less."""
    point, random = splitting.point, splitting.random  # splitting, cover OUT
    for e in range(end - 2, begin + 1, -1):
        other = begin + 1 + draw(random, e - begin)
        point[e], point[other] = point[other], point[e]
    for i in range(points.kind.size):
        cover[0, i, 0] = cover[0, i, 1] = points.codes[point[begin], i]
        cover[1, i, 0] = cover[1, i, 1] = points.codes[point[end - 1], i]
    left, right = begin + 1, end - 1
    left_rows, right_rows = points.weights[point[begin]], points.weights[point[end - 1]]
    left_cost, right_cost = 0.0, 0.0
    while left < right:
        j = point[left]
        rows = points.weights[j]
        left_after = (left_rows + rows) * point_rate(points, cover, 0, j, FAR)
        right_after = (right_rows + rows) * point_rate(points, cover, 1, j, FAR)
        growth = left_after - left_cost - (right_after - right_cost)
        if growth < 0.0 or (growth == 0.0 and left_rows <= right_rows):
            widen(points, cover, 0, j)
            left_rows += rows
            left_cost = left_after
            left += 1
        else:
            widen(points, cover, 1, j)
            right_rows += rows
            right_cost = right_after
            right -= 1
            point[left], point[right] = point[right], j
    return left
