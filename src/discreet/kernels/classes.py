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
    "CODES",
    "PACKS",
    "ClassLists",
    "Lattice",
    "Workspace",
    "class_ids",
    "group",
    "keep_list",
    "learn_levels",
    "learn_reduction",
    "pack_tuples",
    "source_of",
    "step_between",
]

PACKS = 4
"""Packs are looked up so many at a time."""
CODES = 256
"""The most codes a pack may have: a code is one byte of a word."""
_SPAN = 1 << 62
_SHORTER = 0.7
"""How much shorter a list in between should be, as the logarithm of the ratio."""
_LONG = 1500
"""Lists shorter than this need no list in between."""
_NEAR = 0.6
"""Nodes need no list in between whose entropy is so close to that of their source."""
_FREE = 0.1
"""What a raise costs that all nodes so far would have shared, in logarithms of the chance that the next one does."""
_NEWS = 0.05
"""How much the latest node counts among those before."""
_FEWEST = 1e-3


class Lattice(NamedTuple):
    """The tuples and the hierarchies of their attributes, flat.

    Attributes with few leaves are coded together in packs, so that one look-up serves several of them.
    """

    codes: NDArray[np.int32]
    """(m, tuples) leaf codes."""
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
    member: NDArray[np.int64]
    """The packed attributes, pack by pack."""
    first: NDArray[np.int64]
    """Pack p holds attributes member[first[p]] .. member[first[p + 1] - 1]; the number of packs is a multiple of PACKS,
    and the last ones may be empty."""
    size: NDArray[np.int64]
    """The number of codes of each pack."""
    digit: NDArray[np.uint8]
    """(packed attributes, CODES) leaf code of the attribute in each code of its pack."""
    wide: NDArray[np.int64]
    """The attributes with too many leaves to be packed."""


class ClassLists(NamedTuple):
    """The pool of class lists; list q is first[q] .. first[q] + count[q] of the entry arrays."""

    packed: NDArray[np.uint64]
    """(words, entries) codes of the packs of ``rep``, a byte each."""
    wide: NDArray[np.uint32]
    """(wide attributes, entries) leaf codes of ``rep``."""
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
    """Scratch space, allocated once. Each class has a cell: its place in a table by key, or its number."""

    key: NDArray[np.int64]
    """The key of each entry, then its cell."""
    ids: NDArray[np.int32]
    opener: NDArray[np.int32]
    """The entry that opened each class."""
    opened: NDArray[np.int32]
    """The cell of each class."""
    direct: NDArray[np.int64]
    """Rows by key, where keys are small; all zeros between calls."""
    hashed: NDArray[np.int64]
    """(cells, 2), flat: key plus one and rows by hashed key, where they are not; all zeros between calls."""
    number: NDArray[np.int32]
    """Class by cell."""
    small: NDArray[np.int32]
    """The classes that are too small."""
    pack_key: NDArray[np.int64]
    """(packs, CODES), flat: what each code of each pack adds to the key."""
    reduction: NDArray[np.float64]
    """[0] how much of a fall in entropy shows as a fall in the logarithm of the number of classes, so far."""
    shared: NDArray[np.float64]
    """(m, levels) the share of nodes so far at this level of the attribute or above it, the latest counting most."""


@kernel
def _tally_direct(
    keys: NDArray[np.int64],
    size: NDArray[np.int64],
    table: NDArray[np.int64],
    opened: NDArray[np.int32],
    opener: NDArray[np.int32],
) -> int:  # table, opened, opener OUT
    """Add up the rows of equal keys; there are no branches, which would be guessed wrong half of the time."""
    found = 0
    for j in range(keys.size):
        cell = keys[j]
        rows = table[cell]
        table[cell] = rows + size[j]
        opened[found] = cell
        opener[found] = j
        found += rows == 0
    return found


@kernel
def _tally_hashed(
    keys: NDArray[np.int64],
    size: NDArray[np.int64],
    table: NDArray[np.int64],
    opened: NDArray[np.int32],
    opener: NDArray[np.int32],
) -> int:  # keys, table, opened, opener OUT
    """Add up the rows of equal keys and write their cells over the keys; the only branch is a collision.

    Key and rows of a cell lie side by side, so that an entry waits for one line of memory and not for two.
    """
    cells, shift = 64, 58
    while cells < 2 * keys.size:
        cells *= 2
        shift -= 1
    found = 0
    for j in range(keys.size):
        key = keys[j] + 1
        cell = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(shift))
        known = table[2 * cell]
        while known != key and known != 0:
            cell = (cell + 1) & (cells - 1)
            known = table[2 * cell]
        rows = table[2 * cell + 1]
        table[2 * cell] = key
        table[2 * cell + 1] = rows + size[j]
        opened[found] = cell
        opener[found] = j
        found += rows == 0
        keys[j] = cell
    return found


@kernel
def _tally(ws: Workspace, span: int, size: NDArray[np.int64], total: NDArray[np.int64]) -> int:  # total OUT
    """Number the distinct keys 0, 1, … by first appearance and add up their rows; keys lie in 0 .. span-1."""
    keys, opened = ws.key[: size.size], ws.opened
    direct, hashed = ws.direct, ws.hashed
    if span <= direct.size:
        found = _tally_direct(keys, size, direct, opened, ws.opener)
        for c in range(found):
            total[c] = direct[opened[c]]
            direct[opened[c]] = 0
        return found
    found = _tally_hashed(keys, size, hashed, opened, ws.opener)
    for c in range(found):
        total[c] = hashed[2 * opened[c] + 1]
        hashed[2 * opened[c]] = 0
        hashed[2 * opened[c] + 1] = 0
    return found


@kernel
def class_ids(ws: Workspace, entries: int, classes: int) -> None:
    """Write the class that each entry just grouped went to into ``ws.ids``."""
    for c in range(classes):
        ws.number[ws.opened[c]] = c
    for j in range(entries):
        ws.ids[j] = ws.number[ws.key[j]]


@kernel
def pack_tuples(lattice: Lattice, packed: NDArray[np.uint64]) -> None:  # packed OUT
    """Write the codes of the packs of all tuples, a byte each."""
    packed[:] = 0
    for p in range(lattice.size.size):
        word, scale = packed[p // 8], 1 << 8 * (p % 8)
        for a in range(lattice.first[p], lattice.first[p + 1]):
            codes = lattice.codes[lattice.member[a]]
            for j in range(word.size):
                word[j] += np.uint64(scale * codes[j])
            scale *= lattice.blocks[lattice.member[a], 0]


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
    lattice: Lattice, lists: ClassLists, ws: Workspace, source: int, node: NDArray[np.int64], between: NDArray[np.int64]
) -> bool:  # between OUT
    """Name a node between a source and the given one whose list is worth making first; say whether there is one.

    It is the source with as few raises as are expected to make its list half as long. They are those that most of the
    next nodes will share, going by the nodes so far, so that the list serves these too.
    """
    if lists.count[source] < _LONG:
        return False
    entropy, shared, m = lattice.entropy, ws.shared, node.size
    left = 0.0
    for i in range(m):
        between[i] = max(lists.node[source, i], lattice.lowest[i])
        left += entropy[i, between[i]] - entropy[i, node[i]]
    wanted = _SHORTER / ws.reduction[0]
    while wanted > 0.0:
        pick, level, best, most = -1, 0, 0.0, 0.0
        for i in range(m):
            for raised in range(between[i] + 1, node[i] + 1):
                drop = entropy[i, between[i]] - entropy[i, raised]
                chance = (shared[i, raised] + _FEWEST) / (shared[i, between[i]] + _FEWEST)
                gain = drop / (_FREE - np.log(chance))
                if gain > best:
                    pick, level, best, most = i, raised, gain, drop
        if pick < 0:
            return False
        between[pick] = level
        wanted -= most
        left -= most
        if left < _NEAR:
            return False
    return True


@kernel
def learn_levels(ws: Workspace, node: NDArray[np.int64]) -> None:
    """Remember the levels of a node, for which the next ones are likely to be close to."""
    for i in range(node.size):
        for level in range(ws.shared.shape[1]):
            ws.shared[i, level] += _NEWS * ((node[i] >= level) - ws.shared[i, level])


@kernel
def learn_reduction(
    lattice: Lattice, lists: ClassLists, ws: Workspace, source: int, node: NDArray[np.int64], count: int
) -> None:
    """Remember how much shorter the list of a node turned out than its source."""
    drop = 0.0
    for i in range(node.size):
        drop += lattice.entropy[i, lists.node[source, i]] - lattice.entropy[i, node[i]]
    if drop > 0.1:
        seen = np.log(lists.count[source] / count) / drop
        ws.reduction[0] = max(0.05, 0.9 * ws.reduction[0] + 0.1 * seen)


@kernel
def _add_scaled(
    target: NDArray[np.int64], scale: int, ancestors: NDArray[np.int32], codes: NDArray[np.unsignedinteger]
) -> None:  # target OUT
    """Add to each target the block its code belongs to, scaled."""
    for j in range(target.size):
        target[j] += scale * ancestors[codes[j]]


@kernel
def _add_looked_up(
    target: NDArray[np.int64], table: NDArray[np.int64], words: NDArray[np.uint64], shift: int
) -> None:  # target OUT
    """Add to each target what the tables of four packs hold for the bytes of its word from ``shift`` on."""
    first, second, third, fourth = table[:CODES], table[CODES:], table[2 * CODES :], table[3 * CODES :]
    byte = np.uint64(CODES - 1)
    for j in range(target.size):
        word = words[j] >> np.uint64(shift)
        target[j] += (
            first[word & byte]
            + second[(word >> np.uint64(8)) & byte]
            + third[(word >> np.uint64(16)) & byte]
            + fourth[(word >> np.uint64(24)) & byte]
        )


@kernel
def _pack_keys(lattice: Lattice, ws: Workspace, node: NDArray[np.int64], p: int, span: int) -> int:
    """Make ready what each code of pack p adds to keys that so far lie below ``span``; return the new span."""
    table = ws.pack_key[p * CODES : p * CODES + lattice.size[p]]
    table[:] = 0
    for a in range(lattice.first[p], lattice.first[p + 1]):
        i = lattice.member[a]
        blocks = lattice.blocks[i, node[i]]
        if blocks > 1:
            _add_scaled(table, span, lattice.ancestors[lattice.start[i, node[i]] :], lattice.digit[a])
            span *= blocks
    return span


@kernel
def _renumber(ws: Workspace, size: NDArray[np.int64], span: int, total: NDArray[np.int64]) -> int:
    """Make keys small again, so that more can be added to them."""
    found = _tally(ws, span, size, total)
    class_ids(ws, size.size, found)
    for j in range(size.size):
        ws.key[j] = ws.ids[j]
    return found


@kernel
def group(lattice: Lattice, lists: ClassLists, ws: Workspace, source: int, node: NDArray[np.int64]) -> int:
    """Write the classes of a node, made from a list of a node below, at the free end of the pool; return their number.

    They stay there until the next call, or for good if :func:`keep_list` is called next. :func:`class_ids` then says,
    entry by entry of the source, the class it went to.
    """
    begin, items = lists.first[source], lists.count[source]
    end = begin + items
    if _same_node(lists.node[source], node):
        return _repeat(lists, ws, begin, items)
    keys, size, total = ws.key[:items], lists.size[begin:end], lists.size[lists.used[1] :]
    keys[:] = 0
    span = 1
    for four in range(0, lattice.size.size, PACKS):
        if span > _SPAN // CODES**PACKS:
            span = _renumber(ws, size, span, total)
        wider = span
        for p in range(four, four + PACKS):
            wider = _pack_keys(lattice, ws, node, p, wider)
        if wider > span:
            word, shift = four // 8, 8 * (four % 8)
            _add_looked_up(keys, ws.pack_key[four * CODES :], lists.packed[word, begin:end], shift)
            span = wider
    for w in range(lattice.wide.size):
        i = lattice.wide[w]
        blocks = lattice.blocks[i, node[i]]
        if blocks > 1:
            if span > _SPAN // blocks:
                span = _renumber(ws, size, span, total)
            row = lattice.ancestors[lattice.start[i, node[i]] :]
            _add_scaled(keys, span, row, lists.wide[w, begin:end])
            span *= blocks
    found = _tally(ws, span, size, total)
    _open_classes(lists, ws.opener[:found], begin)
    if lists.sums.shape[1] > 0:
        class_ids(ws, items, found)
        _add_sums(lists.sums, ws.ids[:items], found, begin, lists.used[1])
    return found


@kernel
def _same_node(first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    i = 0
    while i < first.size and first[i] == second[i]:
        i += 1
    return i == first.size


@kernel
def _repeat(lists: ClassLists, ws: Workspace, begin: int, items: int) -> int:
    """Write the classes of a list once more, as :func:`group` does: each is a class of its own."""
    end = lists.used[1]
    for j in range(items):
        ws.key[j] = j
        ws.opened[j] = j
        ws.opener[j] = j
        lists.size[end + j] = lists.size[begin + j]
    _open_classes(lists, ws.opener[:items], begin)
    for j in range(items):
        for a in range(lists.sums.shape[1]):
            lists.sums[end + j, a] = lists.sums[begin + j, a]
    return items


@kernel
def _open_classes(lists: ClassLists, opener: NDArray[np.int32], begin: int) -> None:
    """Give each class, at the free end of the pool, the codes of the entry that opened it."""
    packed, wide, rep, end = lists.packed, lists.wide, lists.rep, lists.used[1]
    for a in range(packed.shape[0]):
        for c in range(opener.size):
            packed[a, end + c] = packed[a, begin + opener[c]]
    for a in range(wide.shape[0]):
        for c in range(opener.size):
            wide[a, end + c] = wide[a, begin + opener[c]]
    for c in range(opener.size):
        rep[end + c] = rep[begin + opener[c]]


@kernel
def _add_sums(sums: NDArray[np.float64], ids: NDArray[np.int32], found: int, begin: int, end: int) -> None:
    """Add the sums of the entries up to the classes they went to, which begin at ``end``."""
    sums[end : end + found] = 0.0
    for j in range(ids.size):
        for a in range(sums.shape[1]):
            sums[end + ids[j], a] += sums[begin + j, a]


@kernel
def keep_list(lists: ClassLists, source: int, node: NDArray[np.int64], count: int, room: int) -> int:
    """Keep the classes just grouped if there are few enough to be worth it; return the number of the list, or -1.

    ``room`` entries at the end of the pool must stay free for the next grouping. When the pool is full it starts
    afresh with this list, which then is number 1.
    """
    if 4 * count > 3 * lists.count[source]:
        return -1
    end = lists.used[1]
    if lists.used[0] == lists.first.size or end + count + room > lists.rep.size:
        fresh = lists.first[0] + lists.count[0]
        for j in range(count):
            lists.rep[fresh + j] = lists.rep[end + j]
            lists.size[fresh + j] = lists.size[end + j]
            for a in range(lists.packed.shape[0]):
                lists.packed[a, fresh + j] = lists.packed[a, end + j]
            for a in range(lists.wide.shape[0]):
                lists.wide[a, fresh + j] = lists.wide[a, end + j]
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
