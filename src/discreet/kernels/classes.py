"""Grouping the tuples of a count table into equivalence classes of a lattice node, by rolling up smaller class lists.

A class list holds, class by class, one representative tuple, the number of rows and further sums. Lists of earlier
nodes are kept in one pool, and a node's classes are made from the shortest kept list of a node below it. Where even
that one is long, lists in between are made first: they serve the next nodes too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel

__all__ = [
    "ClassLists",
    "Lattice",
    "Workspace",
    "group",
    "keep_list",
    "learn_reduction",
    "source_of",
    "step_between",
]

_SPAN = 1 << 62
_LAST_STAMP = (1 << 31) - 1
_SHORTER = 1.1
"""How much shorter a list in between should be, as the logarithm of the ratio."""
_LONG = 2000
"""Lists shorter than this need no list in between."""


class Lattice(NamedTuple):
    """The tuples and the hierarchies of their attributes, flat.

    Attributes with few leaves are coded together in packs, so that one look-up serves several of them.
    """

    codes: NDArray[np.int32]
    """(tuples, m) leaf codes."""
    ancestors: NDArray[np.int32]
    """All ancestor rows one after the other; row (i, l) begins at start[i, l]."""
    start: NDArray[np.int64]
    """(m, levels)"""
    blocks: NDArray[np.int64]
    """(m, levels) number of blocks of attribute i at level l."""
    lowest: NDArray[np.int64]
    highest: NDArray[np.int64]
    entropy: NDArray[np.float64]
    """(m, levels) entropy of attribute i at level l."""
    pack_start: NDArray[np.int64]
    """The codes of pack p are pack_start[p] .. pack_start[p + 1] - 1."""
    member: NDArray[np.int64]
    """The packed attributes, pack by pack."""
    first: NDArray[np.int64]
    """Pack p holds attributes member[first[p]] .. member[first[p + 1] - 1]."""
    digit: NDArray[np.uint32]
    """(packed attributes, all codes) leaf code of the attribute in each code of its pack."""
    wide: NDArray[np.int64]
    """The attributes with too many leaves to be packed."""


class ClassLists(NamedTuple):
    """The pool of class lists; list q is first[q] .. first[q] + count[q] of the entry arrays."""

    columns: NDArray[np.uint32]
    """(packs and wide attributes, entries) codes of the packs, and leaf codes of the wide attributes, of ``rep``."""
    rep: NDArray[np.int32]
    """Some tuple of the class."""
    size: NDArray[np.int64]
    sums: NDArray[np.float64]
    """(entries, a) further additive numbers of each class; a may be 0."""
    node: NDArray[np.int64]
    first: NDArray[np.int64]
    count: NDArray[np.int64]
    used: NDArray[np.int64]
    """used[0] lists and used[1] entries are in use; list 0 is the tuples themselves."""


class Workspace(NamedTuple):
    """Scratch space, allocated once."""

    key: NDArray[np.int64]
    ids: NDArray[np.int32]
    opener: NDArray[np.int32]
    """The entry that opened each class."""
    direct: NDArray[np.int32]
    """Stamped id by key, where keys are small."""
    table: NDArray[np.int32]
    """The hash table: stamped id by slot."""
    class_key: NDArray[np.int64]
    """The key of each id."""
    stamp: NDArray[np.int64]
    """stamp[0]: stamped ids below it belong to earlier calls."""
    pack_key: NDArray[np.int64]
    """What each code of each pack adds to the key."""
    reduction: NDArray[np.float64]
    """[0] how much of a fall in entropy shows as a fall in the logarithm of the number of classes, so far."""


@kernel
def _number(
    keys: NDArray[np.int64],
    ids: NDArray[np.int32],
    opener: NDArray[np.int32],
    direct: NDArray[np.int32],
    table: NDArray[np.int32],
    class_key: NDArray[np.int64],
    stamp: NDArray[np.int64],
    span: int,
) -> int:  # ids, opener OUT
    """Number the distinct keys 0, 1, … by first appearance, at ``opener``; keys lie in 0 .. span-1.

    There are no branches on whether a key is new: they would be guessed wrong half of the time.
    """
    if stamp[0] > _LAST_STAMP - keys.size:
        stamp[0] = 0
        direct[:] = -1
        table[:] = -1
    base = stamp[0]
    found = 0
    if span <= direct.size:
        for j in range(keys.size):
            known = direct[keys[j]] - base
            new = known < 0
            known = found if new else known
            direct[keys[j]] = base + known
            opener[found] = j
            found += new
            ids[j] = known
    else:
        size = 64
        while size < 2 * keys.size:
            size *= 2
        mask = size - 1
        for j in range(keys.size):
            key = keys[j]
            mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64(mixed >> np.uint64(32)) & mask
            known = table[slot] - base
            while known >= 0 and class_key[known] != key:
                slot = (slot + 1) & mask
                known = table[slot] - base
            new = known < 0
            known = found if new else known
            table[slot] = base + known
            class_key[known] = key
            opener[found] = j
            found += new
            ids[j] = known
    stamp[0] = base + found
    return found


@kernel
def source_of(lists: ClassLists, node: NDArray[np.int64]) -> int:
    """The shortest kept list of a node at or below the given one."""
    best = 0
    for q in range(1, lists.used[0]):
        if lists.count[q] < lists.count[best]:
            below = True
            for i in range(node.size):
                if lists.node[q, i] > node[i]:
                    below = False
                    break
            if below:
                best = q
    return best


@kernel
def step_between(
    lattice: Lattice, lists: ClassLists, ws: Workspace, node: NDArray[np.int64], between: NDArray[np.int64]
) -> bool:  # between OUT
    """Name a node between the best source and the given one whose list is worth making first; say whether there is one.

    It is the source with as few attributes raised as are expected to make its list a third as long.
    """
    source = source_of(lists, node)
    if lists.count[source] < _LONG:
        return False
    for i in range(node.size):
        between[i] = max(lists.node[source, i], lattice.lowest[i])
    wanted = _SHORTER / ws.reduction[0]
    while wanted > 0.0:
        pick, most, raises = -1, 0.0, 0
        for i in range(node.size):
            if node[i] > between[i]:
                raises += 1
                drop = lattice.entropy[i, between[i]] - lattice.entropy[i, node[i]]
                if drop > most:
                    pick, most = i, drop
        if pick < 0 or raises < 2:
            return False
        between[pick] = node[pick]
        wanted -= most
    return True


@kernel
def learn_reduction(lattice: Lattice, lists: ClassLists, ws: Workspace, node: NDArray[np.int64], count: int) -> None:
    """Remember how much shorter the list of a node turned out than its source."""
    source = source_of(lists, node)
    drop = 0.0
    for i in range(node.size):
        drop += lattice.entropy[i, lists.node[source, i]] - lattice.entropy[i, node[i]]
    if drop > 0.1:
        seen = np.log(lists.count[source] / count) / drop
        ws.reduction[0] = max(0.05, 0.9 * ws.reduction[0] + 0.1 * seen)


@kernel
def _add_scaled(
    target: NDArray[np.int64], scale: int, ancestors: NDArray[np.int32], codes: NDArray[np.uint32]
) -> None:  # target OUT
    """Add to each target the block its code belongs to, scaled."""
    for j in range(target.size):
        target[j] += scale * ancestors[codes[j]]


@kernel
def _add_looked_up(
    target: NDArray[np.int64], table: NDArray[np.int64], codes: NDArray[np.uint32]
) -> None:  # target OUT
    """Add to each target what the table holds for its code."""
    for j in range(target.size):
        target[j] += table[codes[j]]


@kernel
def _pack_keys(lattice: Lattice, ws: Workspace, node: NDArray[np.int64], p: int, span: int) -> int:
    """Make ready what each code of pack p adds to keys that so far lie below ``span``; return the new span."""
    begin, end = lattice.pack_start[p], lattice.pack_start[p + 1]
    ws.pack_key[begin:end] = 0
    for a in range(lattice.first[p], lattice.first[p + 1]):
        i = lattice.member[a]
        blocks = lattice.blocks[i, node[i]]
        if blocks > 1:
            row = lattice.ancestors[lattice.start[i, node[i]] :]
            _add_scaled(ws.pack_key[begin:end], span, row, lattice.digit[a, begin:end])
            span *= blocks
    return span


@kernel
def _renumber(ws: Workspace, items: int, span: int) -> int:
    """Make keys small again, so that more can be added to them."""
    found = _number(ws.key[:items], ws.ids, ws.opener, ws.direct, ws.table, ws.class_key, ws.stamp, span)
    for j in range(items):
        ws.key[j] = ws.ids[j]
    return found


@kernel
def group(lattice: Lattice, lists: ClassLists, ws: Workspace, node: NDArray[np.int64]) -> tuple[int, int]:
    """Write the classes of a node at the free end of the pool; return how many there are and from how many entries.

    They stay there until the next call, or for good if :func:`keep_list` is called next. ``ws.ids`` then holds, entry
    by entry of the list they were made from (see :func:`source_of`), the class it went to.
    """
    source = source_of(lists, node)
    begin, items = lists.first[source], lists.count[source]
    end = begin + items
    keys = ws.key[:items]
    keys[:] = 0
    span = 1
    packs = lattice.first.size - 1
    for p in range(packs):
        if span > _SPAN // (lattice.pack_start[p + 1] - lattice.pack_start[p]):
            span = _renumber(ws, items, span)
        wider = _pack_keys(lattice, ws, node, p, span)
        if wider > span:
            _add_looked_up(keys, ws.pack_key, lists.columns[p, begin:end])
            span = wider
    for w in range(lattice.wide.size):
        i = lattice.wide[w]
        blocks = lattice.blocks[i, node[i]]
        if blocks > 1:
            if span > _SPAN // blocks:
                span = _renumber(ws, items, span)
            row = lattice.ancestors[lattice.start[i, node[i]] :]
            _add_scaled(keys, span, row, lists.columns[packs + w, begin:end])
            span *= blocks
    found = _number(keys, ws.ids, ws.opener, ws.direct, ws.table, ws.class_key, ws.stamp, span)
    _open_classes(lists.columns, lists.rep, ws.opener[:found], begin, lists.used[1])
    _add_up(lists.size, lists.sums, ws.ids[:items], found, begin, lists.used[1])
    return found, items


@kernel
def _open_classes(
    columns: NDArray[np.uint32], rep: NDArray[np.int32], opener: NDArray[np.int32], begin: int, end: int
) -> None:
    """Give each class, beginning at ``end``, the codes of the entry that opened it."""
    for a in range(columns.shape[0]):
        for c in range(opener.size):
            columns[a, end + c] = columns[a, begin + opener[c]]
    for c in range(opener.size):
        rep[end + c] = rep[begin + opener[c]]


@kernel
def _add_up(
    size: NDArray[np.int64],
    sums: NDArray[np.float64],
    ids: NDArray[np.int32],
    found: int,
    begin: int,
    end: int,
) -> None:
    """Add the entries up to the classes they went to, which begin at ``end``."""
    more = sums.shape[1]
    size[end : end + found] = 0
    for j in range(ids.size):
        size[end + ids[j]] += size[begin + j]
    if more > 0:
        sums[end : end + found] = 0.0
        for j in range(ids.size):
            for a in range(more):
                sums[end + ids[j], a] += sums[begin + j, a]


@kernel
def keep_list(lists: ClassLists, node: NDArray[np.int64], count: int, room: int) -> int:
    """Keep the classes just grouped if they are few enough to be worth it; return the number of the list, or -1.

    ``room`` entries at the end of the pool must stay free for the next grouping. When the pool is full it starts
    afresh with this list, which then is number 1.
    """
    source = source_of(lists, node)
    if 4 * count > 3 * lists.count[source]:
        return -1
    end = lists.used[1]
    if lists.used[0] == lists.first.size or end + count + room > lists.rep.size:
        fresh = lists.first[0] + lists.count[0]
        for j in range(count):
            lists.rep[fresh + j] = lists.rep[end + j]
            lists.size[fresh + j] = lists.size[end + j]
            for a in range(lists.columns.shape[0]):
                lists.columns[a, fresh + j] = lists.columns[a, end + j]
            for a in range(lists.sums.shape[1]):
                lists.sums[fresh + j, a] = lists.sums[end + j, a]
        lists.used[0] = 1
        end = fresh
    q = lists.used[0]
    for i in range(node.size):
        lists.node[q, i] = node[i]
    lists.first[q] = end
    lists.count[q] = count
    lists.used[0] = q + 1
    lists.used[1] = end + count
    return q
