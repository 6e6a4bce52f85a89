"""Groups by layers: the finest recoding first, then ever coarser ones, each over the rows that are still without group.

A layer takes one level of every attribute. Layers come in order of what a row costs in them on average; each fixes all
classes of at least k rows among those left over. Classes are told apart by sums of random numbers, one for each block.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.requirements import Requirement, holds, tally

__all__ = ["layer_groups"]


@inner_kernel
def _push(heap: NDArray[np.int64], size: int, cost: NDArray[np.float64], node: int) -> None:
    p = size
    heap[p] = node
    while p > 0:
        parent = (p - 1) >> 1
        if cost[heap[parent]] <= cost[heap[p]]:
            break
        heap[parent], heap[p] = heap[p], heap[parent]
        p = parent


@inner_kernel
def _pop(heap: NDArray[np.int64], size: int, cost: NDArray[np.float64]) -> int:
    top = heap[0]
    heap[0] = heap[size - 1]
    p, size = 0, size - 1
    while True:
        child = 2 * p + 1
        if child >= size:
            break
        if child + 1 < size and cost[heap[child + 1]] < cost[heap[child]]:
            child += 1
        if cost[heap[p]] <= cost[heap[child]]:
            break
        heap[p], heap[child] = heap[child], heap[p]
        p = child
    return top


@inner_kernel
def _refuse(
    requirement: Requirement,
    weights: NDArray[np.int64],
    rest: NDArray[np.int64],
    left: int,
    slot_of: NDArray[np.int64],
    table_rows: NDArray[np.int64],  # IN OUT
    table_last: NDArray[np.int64],  # room
    link: NDArray[np.int64],  # room
    histogram: NDArray[np.int64],  # room, all 0
) -> None:
    """Make classes that do not keep the models look too small."""
    k = requirement.smallest
    for p in range(left):
        table_last[slot_of[p]] = -1
    for p in range(left):
        link[p] = table_last[slot_of[p]]
        table_last[slot_of[p]] = p
    for p in range(left):
        slot = slot_of[p]
        if table_last[slot] != p or table_rows[slot] < k:
            continue
        q = p
        while q >= 0:
            tally(requirement, rest[q], weights[rest[q]], histogram)
            q = link[q]
        if not holds(requirement, table_rows[slot], histogram):
            table_rows[slot] = 0
        q = p
        while q >= 0:
            tally(requirement, rest[q], -weights[rest[q]], histogram)
            q = link[q]


@kernel
def layer_groups(
    leaves: NDArray[np.int32],  # (points, m)
    weights: NDArray[np.int64],
    first: NDArray[np.int64],  # (m + 1,) where the levels of each attribute begin
    price: NDArray[np.float64],  # (levels,) what a row costs there
    number: NDArray[np.uint64],  # (levels, leaves) a random number for each block
    joins: NDArray[np.int64],  # (levels,) at most so many blocks of the level before are in one block
    requirement: Requirement,
    visits: int,
    first_visits: int,
) -> tuple[NDArray[np.int64], int]:
    """The group of each point, -1 for those left over, and the number of groups; at most so many points are visited.

    After a quarter of the visits without a new group it stops too, and after ``first_visits`` without any.
    """
    (n, m), k = leaves.shape, requirement.smallest
    models, histogram = requirement.kind.size > 0, np.zeros(requirement.cells, np.int64)
    link = np.empty(n if models else 0, np.int64)
    group = np.full(n, -1, np.int64)
    rest = np.arange(n)
    key = np.zeros(n, np.uint64)
    slot_of = np.empty(n, np.int64)
    room = 1024
    level, cost, heap = np.zeros((room, m), np.int8), np.zeros(room), np.empty(room, np.int64)
    largest = np.full(room, k)
    now = np.zeros(m, np.int64)
    for i in range(m):
        for p in range(n):
            key[p] += number[first[i], leaves[p, i]]
    nodes, heaped = np.int64(1), np.int64(1)
    heap[0] = 0
    for i in range(m):
        cost[0] += price[first[i]]
    bits = 4
    while (1 << bits) < 2 * n:
        bits += 1
    table_key, table_rows = np.zeros(1 << bits, np.uint64), np.zeros(1 << bits, np.int64)
    table_last = np.empty(table_rows.size if models else 0, np.int64)
    left, groups = n, 0
    patience = visits // 4
    idle = min(patience, first_visits)
    while heaped > 0 and visits > 0 and idle > 0 and left > 0:
        node = _pop(heap, heaped, cost)
        heaped -= 1
        if largest[node] >= k:
            visits -= left
            idle -= left
            while (1 << bits) > 4 * left and bits > 4:
                bits -= 1
            mask = np.uint64((1 << bits) - 1)
            table_rows[: 1 << bits] = 0
            for i in range(m):
                if level[node, i] != now[i]:
                    old, new = first[i] + now[i], first[i] + level[node, i]
                    for p in range(left):
                        key[p] += number[new, leaves[rest[p], i]] - number[old, leaves[rest[p], i]]
                    now[i] = level[node, i]
            most = 0
            for p in range(left):
                mine = key[p]
                slot = np.int64((mine ^ (mine >> np.uint64(29))) & mask)
                while table_rows[slot] != 0 and table_key[slot] != mine:
                    slot = np.int64(np.uint64(slot + 1) & mask)
                table_key[slot] = mine
                table_rows[slot] += weights[rest[p]]
                slot_of[p] = slot
                most = max(most, table_rows[slot])
            if most >= k:
                kept = 0
                if models:
                    _refuse(requirement, weights, rest, left, slot_of, table_rows, table_last, link, histogram)
                for p in range(left):
                    slot = slot_of[p]
                    if table_rows[slot] >= k:
                        table_rows[slot] = -1 - groups
                        groups += 1
                    if table_rows[slot] < 0:
                        group[rest[p]] = -1 - table_rows[slot]
                    else:
                        rest[kept], key[kept] = rest[p], key[p]
                        kept += 1
                idle = patience if kept < left else idle
                left = kept
                most = k if models else k - 1
            largest[node] = most
        last = 0
        for i in range(m):
            if level[node, i] > 0:
                last = i
        for i in range(last, m):
            up = first[i] + level[node, i] + 1
            if up < first[i + 1]:
                if nodes == room:
                    level = np.concatenate((level, np.zeros((room, m), np.int8)))
                    cost = np.concatenate((cost, np.zeros(room)))
                    heap = np.concatenate((heap, np.empty(room, np.int64)))
                    largest = np.concatenate((largest, np.full(room, k)))
                    room *= 2
                level[nodes] = level[node]
                level[nodes, i] += 1
                cost[nodes] = cost[node] + price[up] - price[up - 1]
                largest[nodes] = min(largest[node] * joins[up], k)
                _push(heap, heaped, cost, nodes)
                heaped += 1
                nodes += 1
    return group, groups
