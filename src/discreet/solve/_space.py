"""The memory that one search of a table after the other works in.

Memory is slow where it is touched for the first time: on a small table that takes as long as half of a search. What a
search has worked in therefore stays with its table, unless there is much of it, and the next search goes on there.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from discreet.counts import CountTable, FloatArray
from discreet.kernels.classes import CODES, ClassLists, Lattice, Workspace, pack_tuples

__all__ = ["borrow", "give_back", "make_lists", "make_workspace"]

_KEPT_LISTS = 4096
_DIRECT = 1 << 16
"""Keys below this are not hashed: a table of so many cells stays in the cache of one core."""
_REDUCTION, _AT_TOP = 0.5, 0.3
"""See :class:`Workspace`: how fast lists get shorter, and the share of nodes at the highest level, before anything was
learned."""
_MOST_KEPT = 1 << 25
"""Bytes that stay with a table when a search is over."""

Space = tuple[ClassLists, Workspace]
_spare: WeakKeyDictionary[CountTable, list[tuple[Lattice, Space]]] = WeakKeyDictionary()


def borrow(table: CountTable, lattice: Lattice, sums: FloatArray) -> Space:
    """Return a pool of class lists with the tuples as list 0, and scratch space; as good as new."""
    try:
        packed_for, (lists, ws) = _spare.get(table, []).pop()
    except IndexError:
        return make_lists(table, lattice, sums), make_workspace(lattice)
    if packed_for.member is not lattice.member or lists.sums.shape[1] != sums.shape[1]:
        return make_lists(table, lattice, sums), make_workspace(lattice)
    lists.sums[: table.tuples] = sums
    lists.used[:] = 1, table.tuples
    _forget(ws, lattice)
    return lists, ws


def give_back(table: CountTable, lattice: Lattice, lists: ClassLists, ws: Workspace) -> None:
    """Let the next search of the table have this memory, of which nothing may be in use any more.

    After an error it must not be given back: scratch space has to be left the way a kernel leaves it.
    """
    if sum(array.nbytes for array in (*lists, *ws)) <= _MOST_KEPT:
        _spare.setdefault(table, [])[:] = [(lattice, (lists, ws))]


def make_lists(table: CountTable, lattice: Lattice, sums: FloatArray) -> ClassLists:
    """Make the pool of class lists with the tuples as list 0 and ``sums`` as their further additive numbers."""
    tuples, m = table.tuples, len(table.attributes)
    entries = 2 * tuples + max(1 << 16, min(64 * tuples, (1 << 28) // (16 + 8 * sums.shape[1])))
    lists = ClassLists(
        packed=np.empty((-(-lattice.size.size // 8), entries), dtype=np.uint64),
        wide=np.empty((lattice.wide.size, entries), dtype=np.uint32),
        rep=np.empty(entries, dtype=np.int32),
        size=np.empty(entries, dtype=np.int64),
        sums=np.empty((entries, sums.shape[1])),
        node=np.zeros((_KEPT_LISTS, m), dtype=np.int64),
        first=np.zeros(_KEPT_LISTS, dtype=np.int64),
        count=np.zeros(_KEPT_LISTS, dtype=np.int64),
        used=np.array([1, tuples], dtype=np.int64),
    )
    pack_tuples(lattice, lists.packed[:, :tuples])
    lists.rep[:tuples] = np.arange(tuples, dtype=np.int32)
    lists.size[:tuples] = table.weights
    lists.wide[:, :tuples] = table.codes[lattice.wide]
    lists.sums[:tuples] = sums
    lists.count[0] = tuples
    return lists


def make_workspace(lattice: Lattice) -> Workspace:
    """Allocate scratch space for grouping all tuples."""
    tuples = lattice.codes.shape[1]
    cells = 64
    while cells < 2 * tuples:
        cells *= 2
    direct = min(4 * cells, _DIRECT)
    ws = Workspace(
        key=np.empty(tuples, dtype=np.int64),
        ids=np.empty(tuples, dtype=np.int32),
        opener=np.empty(tuples + 1, dtype=np.int32),
        opened=np.empty(tuples + 1, dtype=np.int32),
        direct=np.zeros(direct, dtype=np.int64),
        hashed=np.zeros(2 * cells, dtype=np.int64),
        number=np.empty(max(direct, cells), dtype=np.int32),
        small=np.empty(tuples + 1, dtype=np.int32),
        pack_key=np.zeros(lattice.size.size * CODES, dtype=np.int64),
        reduction=np.empty(1),
        shared=np.empty(lattice.start.shape),
    )
    _forget(ws, lattice)
    return ws


def _forget(ws: Workspace, lattice: Lattice) -> None:
    """Set what is learned on the way to what is believed before: high levels are less likely."""
    steps = np.maximum(lattice.highest - lattice.lowest, 1)[:, None]
    above = np.arange(ws.shared.shape[1]) - lattice.lowest[:, None]
    np.clip(1.0 - (1.0 - _AT_TOP) * above / steps, 0.0, 1.0, out=ws.shared)
    ws.reduction[0] = _REDUCTION
