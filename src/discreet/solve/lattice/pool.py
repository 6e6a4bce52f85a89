"""The memory that grouping works in: the pool of class lists, and scratch space.

Touching memory for the first time is slow: on a small table that takes as long as half of a search. So the pool of a
finished search stays with its table, unless it is large, and the next search of the table starts with it.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from discreet.counts import CountTable, FloatArray
from discreet.solve.kernels.classes import (
    CODES,
    ClassList,
    ClassLists,
    ClassPool,
    GroupingScratch,
    Lattice,
    ListUse,
    pack_tuples,
)
from discreet.solve.kernels.records import record, records

__all__ = ["borrow_pool", "make_pool", "make_scratch", "people_shift", "return_pool"]

_KEPT_LISTS = 4096
_LEAST_ROOM, _MOST_BYTES = 1 << 16, 1 << 28
"""Entries for the lists of nodes at least, and what all entries may take, roughly."""
_DIRECT = 1 << 16
"""Keys below this are not hashed: a table of so many cells stays in the cache of one core."""
_REDUCTION, _AT_TOP = 0.5, 0.3
"""Before anything was learned: how fast lists get shorter, and the share of nodes at the highest level."""
_SIZE_BITS = 62
"""Sizes stay below 2 to this power."""
_MOST_KEPT = 1 << 25
"""Bytes that stay with a table when a search is over."""

_spare: WeakKeyDictionary[CountTable, list[ClassPool]] = WeakKeyDictionary()


def borrow_pool(table: CountTable, lattice: Lattice, sums: FloatArray) -> ClassPool:
    """Return a pool as :func:`make_pool` does, in the memory of an earlier search where there is any."""
    try:
        spare = _spare.get(table, []).pop()
    except IndexError:
        return make_pool(table, lattice, sums)
    if spare.lattice.member is not lattice.member or spare.lists.sums.shape[1] != sums.shape[1]:
        return make_pool(table, lattice, sums)
    pool = spare._replace(lattice=lattice)
    pool.lists.sums[: table.tuples] = sums
    pool.lists.used.lists, pool.lists.used.entries = 1, table.tuples
    _unlearn(pool)
    return pool


def return_pool(table: CountTable, pool: ClassPool) -> None:
    """Let the next search of the table have this memory, which must not be in use any more.

    After an error it must not be returned: the next search relies on scratch space as kernels leave it.
    """
    arrays: tuple[Any, ...] = (*pool.lists, *pool.scratch)
    if sum(array.nbytes for array in arrays) <= _MOST_KEPT:
        _spare.setdefault(table, [])[:] = [pool]


def make_pool(table: CountTable, lattice: Lattice, sums: FloatArray | None = None) -> ClassPool:
    """Return a pool whose list 0 is the tuples, with ``sums`` as their further additive numbers."""
    if sums is None:
        sums = np.zeros((table.tuples, 0))
    pool = ClassPool(lattice, _make_lists(table, lattice, sums), make_scratch(lattice))
    _unlearn(pool)
    return pool


def people_shift(table: CountTable) -> int:
    """Return by how many bits people are shifted above rows in sizes; 0 if sizes hold rows alone.

    Only where everybody's quasi-identifiers are constant do people add up, and only if both numbers fit.
    """
    if table.people is None or not table.people.constant:
        return 0
    shift = table.n.bit_length()
    return shift if shift + table.people.count.bit_length() <= _SIZE_BITS else 0


def _make_lists(table: CountTable, lattice: Lattice, sums: FloatArray) -> ClassLists:
    tuples, m = table.tuples, len(table.attributes)
    entries = 2 * tuples + max(_LEAST_ROOM, min(128 * tuples, _MOST_BYTES // (16 + 8 * sums.shape[1])))
    lists = ClassLists(
        packed=np.empty((-(-lattice.pack.size // 8), entries), dtype=np.uint64),
        wide=np.empty((lattice.wide.size, entries), dtype=np.uint32),
        rep=np.empty(entries, dtype=np.int32),
        size=np.empty(entries, dtype=np.int64),
        sums=np.empty((entries, sums.shape[1])),
        node=np.zeros((_KEPT_LISTS, m), dtype=np.int64),
        span=records(ClassList, _KEPT_LISTS),
        used=record(ListUse, lists=1, entries=tuples),
    )
    packed = np.empty((lists.packed.shape[0], tuples), dtype=np.uint64)  # contiguous, however many attributes there are
    pack_tuples(lattice, packed)
    lists.packed[:, :tuples] = packed
    lists.rep[:tuples] = np.arange(tuples, dtype=np.int32)
    lists.size[:tuples] = table.weights
    if people_shift(table) and table.people is not None:
        lists.size[:tuples] += table.people.of_tuples.astype(np.int64) << people_shift(table)
    lists.wide[:, :tuples] = table.codes[lattice.wide]
    lists.sums[:tuples] = sums
    lists.span[0].count = tuples
    return lists


def make_scratch(lattice: Lattice) -> GroupingScratch:
    """Return scratch space for grouping any list of a lattice."""
    tuples = lattice.codes.shape[1]
    cells = 64
    while cells < 2 * tuples:
        cells *= 2
    direct = min(4 * cells, _DIRECT)
    return GroupingScratch(
        key=np.empty(tuples, dtype=np.int64),
        ids=np.empty(tuples, dtype=np.int32),
        opener=np.empty(tuples + 1, dtype=np.int32),
        opened=np.empty(tuples + 1, dtype=np.int32),
        direct=np.zeros(direct, dtype=np.int64),
        hashed=np.zeros(2 * cells, dtype=np.int64),
        number=np.empty(max(direct, cells), dtype=np.int32),
        small=np.empty(tuples + 1, dtype=np.int32),
        pack_key=np.zeros(lattice.pack.size * CODES, dtype=np.int64),
        between=np.empty(lattice.codes.shape[0], dtype=np.int64),
        reduction=np.empty(1),
        shared=np.empty(lattice.level.shape),
    )


def _unlearn(pool: ClassPool) -> None:
    """Reset what is learned from nodes to what is assumed before: high levels are less likely."""
    limits, shared = pool.lattice.limits, pool.scratch.shared
    steps = np.maximum(limits["highest"] - limits["lowest"], 1)[:, None]
    above = np.arange(shared.shape[1]) - limits["lowest"][:, None]
    np.clip(1.0 - (1.0 - _AT_TOP) * above / steps, 0.0, 1.0, out=shared)
    pool.scratch.reduction[0] = _REDUCTION
