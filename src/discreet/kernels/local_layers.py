"""Groups by layers: the finest recoding first, then ever coarser ones, each over the rows that are still without group.

A layer takes one level of every attribute. Layers come in order of what a row costs in them on average; each fixes all
classes of at least k rows among those left over. Classes are told apart by sums of random numbers, one for each block.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel

__all__ = ["layer_groups"]


@kernel
def _push(heap: NDArray[np.int64], size: int, cost: NDArray[np.float64], node: int) -> None:
    p = size
    heap[p] = node
    while p > 0:
        parent = (p - 1) >> 1
        if cost[heap[parent]] <= cost[heap[p]]:
            break
        heap[parent], heap[p] = heap[p], heap[parent]
        p = parent


@kernel
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


@kernel
def layer_groups(
    leaves: NDArray[np.int32],  # (points, m)
    weights: NDArray[np.int64],
    first: NDArray[np.int64],  # (m + 1,) where the levels of each attribute begin
    price: NDArray[np.float64],  # (levels,) what a row costs there
    number: NDArray[np.uint64],  # (levels, leaves) a random number for each block
    k: int,
    visits: int,
) -> tuple[NDArray[np.int64], int]:
    """The group of each point, -1 for those left over, and the number of groups; at most so many points are visited."""
    n, m = leaves.shape
    group = np.full(n, -1, np.int64)
    rest = np.arange(n)
    key = np.empty(n, np.uint64)
    slot_of = np.empty(n, np.int64)
    room = 1024
    level, cost, heap = np.zeros((room, m), np.int8), np.zeros(room), np.empty(room, np.int64)
    nodes, heaped = 1, 1
    heap[0] = 0
    for i in range(m):
        cost[0] += price[first[i]]
    bits = 4
    while (1 << bits) < 2 * n:
        bits += 1
    table_key, table_rows = np.zeros(1 << bits, np.uint64), np.zeros(1 << bits, np.int64)
    left, groups = n, 0
    while heaped > 0 and visits > 0 and left > 0:
        node = _pop(heap, heaped, cost)
        heaped -= 1
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
                    room *= 2
                level[nodes] = level[node]
                level[nodes, i] += 1
                cost[nodes] = cost[node] + price[up] - price[up - 1]
                _push(heap, heaped, cost, nodes)
                heaped += 1
                nodes += 1
        visits -= left
        while (1 << bits) > 4 * left and bits > 4:
            bits -= 1
        mask = np.uint64((1 << bits) - 1)
        table_rows[: 1 << bits] = 0
        key[:left] = 0
        for i in range(m):
            row = first[i] + level[node, i]
            for p in range(left):
                key[p] += number[row, leaves[rest[p], i]]
        found = False
        for p in range(left):
            mine = key[p]
            slot = np.int64((mine ^ (mine >> np.uint64(29))) & mask)
            while table_rows[slot] != 0 and table_key[slot] != mine:
                slot = np.int64(np.uint64(slot + 1) & mask)
            table_key[slot] = mine
            table_rows[slot] += weights[rest[p]]
            slot_of[p] = slot
            found |= table_rows[slot] >= k
        if not found:
            continue
        kept = 0
        for p in range(left):
            slot = slot_of[p]
            if table_rows[slot] >= k:
                table_rows[slot] = -1 - groups
                groups += 1
            if table_rows[slot] < 0:
                group[rest[p]] = -1 - table_rows[slot]
            else:
                rest[kept] = rest[p]
                kept += 1
        left = kept
    return group, groups
