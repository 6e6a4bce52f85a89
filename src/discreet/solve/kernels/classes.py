"""Grouping the tuples of a count table into the equivalence classes of a lattice node.

A *class list* holds, class by class, one representative tuple, the number of rows and further sums. The classes of a
node are unions of the classes of any node below it, so that they are made from a list instead of from the tuples. The
lists of earlier nodes stay in one pool, and a node starts from the shortest list of a node below it. Where even that
one is long, an intermediate list is made first: it serves the next nodes too.

Grouping a list of n entries takes O(n · packs) time: one key per entry, one table look-up per key. Nothing here
allocates, so that all functions do without reference counting, which would take up to a tenth of a search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.kernels.records import Records

__all__ = [
    "CODES",
    "PACKS",
    "AttributeLevel",
    "AttributePack",
    "ClassList",
    "ClassLists",
    "ClassPool",
    "GroupingScratch",
    "Lattice",
    "LevelRange",
    "ListUse",
    "class_ids",
    "drop_lists",
    "group",
    "intermediate_node",
    "keep_list",
    "learn_levels",
    "learn_reduction",
    "pack_tuples",
    "register_list",
    "shortest_source",
    "source_of",
]

PACKS = 4
"""Packs are looked up so many at a time."""
CODES = 256
"""The most codes a pack may have: a code is one byte of a word."""
_SPAN = 1 << 62
"""Keys stay below this, within 63 bits."""
_SHORTER = 0.7
"""How much shorter an intermediate list should be than its source, as the logarithm of the ratio."""
_LONG = 1500
"""Shorter lists need no intermediate list."""
_NEAR = 0.6
"""No intermediate list is made this close below a node, in entropy."""
_FREE = 0.1
"""What a raise costs that all nodes so far would have shared, in logarithms of the chance that the next one does."""
_NEWS = 0.05
"""The weight of the latest node in the running averages of levels."""
_FEWEST = 1e-3
"""Added to averages, so that their ratios are defined."""


class AttributeLevel:
    """One level of one attribute."""

    start: int
    """Where its row of ancestors begins."""
    blocks: int
    """The number of blocks."""
    entropy: float
    """The entropy of the blocks, in nats."""


class LevelRange:
    """The levels an attribute may have."""

    lowest: int
    highest: int


class AttributePack:
    """Attributes that are coded together: ``member[first:end]`` of the lattice, as one of so many codes."""

    first: int
    end: int
    codes: int


class ClassList:
    """Where a class list lies in the pool: ``count`` entries from ``first`` on."""

    first: int
    count: int
    served: int
    """How many groupings began with it since lists were dropped last."""


class ListUse:
    """How many lists and entries of the pool are in use."""

    lists: int
    entries: int


class Lattice(NamedTuple):
    """The tuples and the hierarchies of their attributes, flat.

    Attributes with few leaves are coded together in packs, so that one look-up serves several of them.
    """

    codes: NDArray[np.int32]
    """(m, tuples) leaf codes."""
    ancestors: NDArray[np.int32]
    """The block of each leaf, level by level; the row of attribute i at level l begins at level[i, l].start."""
    level: Records[AttributeLevel]
    """(m, levels)"""
    limits: Records[LevelRange]
    """(m,)"""
    pack: Records[AttributePack]
    """(packs,) a multiple of PACKS; the last ones may be empty."""
    member: NDArray[np.int64]
    """The packed attributes, pack by pack."""
    digit: NDArray[np.uint8]
    """(packed attributes, CODES) leaf code of the attribute in each code of its pack."""
    wide: NDArray[np.int64]
    """The attributes with too many leaves to be packed."""


class ClassLists(NamedTuple):
    """The pool of class lists. List 0 is the tuples themselves; what is grouped next goes to the free end."""

    packed: NDArray[np.uint64]
    """(words, entries) codes of the packs of ``rep``, a byte each."""
    wide: NDArray[np.uint32]
    """(wide attributes, entries) leaf codes of ``rep``."""
    rep: NDArray[np.int32]
    """(entries,) some tuple of the class."""
    size: NDArray[np.int64]
    """(entries,) rows of the class; what else they may hold is defined by :class:`SizeUnits` of the prices."""
    sums: NDArray[np.float64]
    """(entries, a) further additive numbers of each class; a may be 0."""
    node: NDArray[np.int64]
    """(lists, m) the node that each list belongs to."""
    span: Records[ClassList]
    """(lists,)"""
    used: ListUse


class GroupingScratch(NamedTuple):
    """Scratch space, allocated once. Each class has a cell: its position in a table by key, or its number."""

    key: NDArray[np.int64]
    """The key of each entry, then its cell."""
    ids: NDArray[np.int32]
    """The class of each entry, once :func:`class_ids` was called."""
    opener: NDArray[np.int32]
    """The first entry of each class."""
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
    between: NDArray[np.int64]
    """(m,) an intermediate node."""
    reduction: NDArray[np.float64]
    """(1,) learned: by how much the logarithm of the number of classes falls when the entropy falls by 1."""
    shared: NDArray[np.float64]
    """(m, levels) learned: the share of recent nodes at this level of the attribute or above it."""


class ClassPool(NamedTuple):
    """All that grouping works on."""

    lattice: Lattice
    lists: ClassLists
    scratch: GroupingScratch


@inner_kernel
def _tally_direct(
    keys: NDArray[np.int64],
    size: NDArray[np.int64],
    table: NDArray[np.int64],
    opened: NDArray[np.int32],
    opener: NDArray[np.int32],
) -> int:  # table, opened, opener OUT
    """Add up the rows of equal keys in a table by key; return the number of distinct keys."""
    found = 0
    for j in range(keys.size):
        cell = keys[j]
        rows = table[cell]
        table[cell] = rows + size[j]
        # Always written, and kept only if the cell was empty: a branch would be mispredicted half of the time.
        opened[found] = cell
        opener[found] = j
        found += rows == 0
    return found


@inner_kernel
def _tally_hashed(
    keys: NDArray[np.int64],
    size: NDArray[np.int64],
    table: NDArray[np.int64],
    opened: NDArray[np.int32],
    opener: NDArray[np.int32],
) -> int:  # keys, table, opened, opener OUT
    """Add up the rows of equal keys in a hash table and write their cells over the keys; return how many differ.

    Linear probing at a load of at most one half. Key and rows of a cell are neighbours in memory, so that an entry
    waits for one cache line and not for two.
    """
    cells, shift = 64, 58
    while cells < 2 * keys.size:
        cells *= 2
        shift -= 1
    found = 0
    for j in range(keys.size):
        key = keys[j] + 1  # 0 is an empty cell
        # Fibonacci hashing: the top bits of the product with 2^64 divided by the golden ratio.
        cell = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(shift))
        known = table[2 * cell]
        # One branch for both, rarely taken: apart, each is mispredicted as often as an entry opens a class.
        while (known != key) & (known != 0):
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


@inner_kernel
def _tally(scratch: GroupingScratch, span: int, size: NDArray[np.int64], total: NDArray[np.int64]) -> int:  # total OUT
    """Number the distinct keys 0, 1, … by first appearance and add up their rows; keys lie in 0 .. span-1."""
    keys, opened = scratch.key[: size.size], scratch.opened
    direct, hashed = scratch.direct, scratch.hashed
    # Only the cells that were used are cleared: a table is much longer than most lists.
    if span <= direct.size:
        found = _tally_direct(keys, size, direct, opened, scratch.opener)
        for c in range(found):
            total[c] = direct[opened[c]]
            direct[opened[c]] = 0
        return found
    found = _tally_hashed(keys, size, hashed, opened, scratch.opener)
    for c in range(found):
        total[c] = hashed[2 * opened[c] + 1]
        hashed[2 * opened[c]] = 0
        hashed[2 * opened[c] + 1] = 0
    return found


@inner_kernel
def class_ids(scratch: GroupingScratch, entries: int, classes: int) -> None:
    """Write the class of each entry just grouped into ``scratch.ids``; few callers of :func:`group` need it."""
    for c in range(classes):
        scratch.number[scratch.opened[c]] = c
    for j in range(entries):
        scratch.ids[j] = scratch.number[scratch.key[j]]


@inner_kernel
def pack_tuples(lattice: Lattice, packed: NDArray[np.uint64]) -> None:  # packed OUT
    """Write the codes of the packs of all tuples, a byte each: numbers in mixed radix, first attribute lowest."""
    packed[:] = 0
    for p in range(lattice.pack.size):
        word, scale = packed[p // 8], 1 << 8 * (p % 8)
        for a in range(lattice.pack[p].first, lattice.pack[p].end):
            codes = lattice.codes[lattice.member[a]]
            for j in range(word.size):
                word[j] += np.uint64(scale * np.int64(codes[j]))
            scale *= lattice.level[lattice.member[a], 0].blocks


@inner_kernel
def source_of(lists: ClassLists, node: NDArray[np.int64]) -> int:
    """The shortest kept list of a node at or below the given one."""
    # A few thousand short nodes at most: a scan is cheaper than any index.
    best = 0
    for q in range(1, lists.used.lists):
        if lists.span[q].count < lists.span[best].count:
            below = True
            for i in range(node.size):
                if lists.node[q, i] > node[i]:
                    below = False
                    break
            if below:
                best = q
    lists.span[best].served += 1
    return best


@inner_kernel
def intermediate_node(
    pool: ClassPool, source: int, node: NDArray[np.int64], between: NDArray[np.int64]
) -> bool:  # between OUT
    """Name a node between a source and the given one whose list is worth making first; say whether there is one.

    It is the source with as few raises as are expected to halve its list. Raises are taken greedily by entropy lost
    per cost, where the cost is -log of the estimated chance that the next nodes share the raise, so that the list
    serves these too.
    """
    lattice, lists, scratch = pool.lattice, pool.lists, pool.scratch
    if lists.span[source].count < _LONG:
        return False
    level, shared, m = lattice.level, scratch.shared, node.size
    left = 0.0
    for i in range(m):
        between[i] = max(lists.node[source, i], lattice.limits[i].lowest)
        left += level[i, between[i]].entropy - level[i, node[i]].entropy
    # The entropy to lose so that the list becomes about half as long, as learned so far.
    wanted = _SHORTER / scratch.reduction[0]
    while wanted > 0.0:
        pick, height, best, most = -1, 0, 0.0, 0.0
        for i in range(m):
            for raised in range(between[i] + 1, node[i] + 1):
                drop = level[i, between[i]].entropy - level[i, raised].entropy
                chance = (shared[i, raised] + _FEWEST) / (shared[i, between[i]] + _FEWEST)
                gain = drop / (_FREE - np.log(chance))
                if gain > best:
                    pick, height, best, most = i, raised, gain, drop
        if pick < 0:
            return False
        between[pick] = height
        wanted -= most
        left -= most
        if left < _NEAR:
            return False
    return True


@inner_kernel
def learn_levels(scratch: GroupingScratch, node: NDArray[np.int64]) -> None:
    """Update the running shares of levels with a node: the next nodes are likely to be close to it."""
    for i in range(node.size):
        for level in range(scratch.shared.shape[1]):
            scratch.shared[i, level] += _NEWS * ((node[i] >= level) - scratch.shared[i, level])


@inner_kernel
def learn_reduction(pool: ClassPool, source: int, node: NDArray[np.int64], count: int) -> None:
    """Learn from how much shorter the list of a node turned out than its source."""
    lattice, lists, reduction = pool.lattice, pool.lists, pool.scratch.reduction
    drop = 0.0
    for i in range(node.size):
        drop += lattice.level[i, lists.node[source, i]].entropy - lattice.level[i, node[i]].entropy
    if drop > 0.1:
        seen = np.log(lists.span[source].count / count) / drop
        reduction[0] = max(0.05, 0.9 * reduction[0] + 0.1 * seen)


@inner_kernel
def shortest_source(pool: ClassPool, node: NDArray[np.int64]) -> tuple[int, int]:
    """The list to group a node from, after making intermediate ones that pay; and the entries that were read for it."""
    source, work, between = source_of(pool.lists, node), 0, pool.scratch.between
    while intermediate_node(pool, source, node, between):
        work += pool.lists.span[source].count
        classes = group(pool, source, between)
        learn_reduction(pool, source, between, classes)
        shorter = keep_list(pool, source, between, classes, False)
        if shorter < 0:
            break
        source = shorter
    return source, work


@inner_kernel
def _add_scaled(
    target: NDArray[np.int64], scale: int, ancestors: NDArray[np.int32], codes: NDArray[np.unsignedinteger]
) -> None:  # target OUT
    """Add to each target the block its code belongs to, scaled."""
    for j in range(target.size):
        target[j] += scale * ancestors[codes[j]]


@inner_kernel
def _add_looked_up(
    target: NDArray[np.int64], table: NDArray[np.int64], words: NDArray[np.uint64], shift: int
) -> None:  # target OUT
    """Add to each target what the tables of four packs hold for the bytes of its word from ``shift`` on.

    Four at a time: the look-ups do not wait for each other, and a target is read and written once for all of them.
    """
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


@inner_kernel
def _pack_keys(lattice: Lattice, scratch: GroupingScratch, node: NDArray[np.int64], p: int, span: int) -> int:
    """Tabulate what each code of pack p adds to keys that so far lie below ``span``; return the new span."""
    pack = lattice.pack[p]
    table = scratch.pack_key[p * CODES : p * CODES + pack.codes]
    table[:] = 0
    for a in range(pack.first, pack.end):
        i = lattice.member[a]
        level = lattice.level[i, node[i]]
        if level.blocks > 1:  # at its root an attribute has a single block
            _add_scaled(table, span, lattice.ancestors[level.start :], lattice.digit[a])
            span *= level.blocks
    return span


@inner_kernel
def _renumber(scratch: GroupingScratch, size: NDArray[np.int64], span: int, total: NDArray[np.int64]) -> int:
    """Replace keys by their numbers, so that more digits fit in; ``total`` is overwritten."""
    found = _tally(scratch, span, size, total)
    class_ids(scratch, size.size, found)
    for j in range(size.size):
        scratch.key[j] = scratch.ids[j]
    return found


@inner_kernel
def group(pool: ClassPool, source: int, node: NDArray[np.int64]) -> int:
    """Write the classes of a node, made from a list of a node below, at the free end of the pool; return their number.

    They stay there until the next call, or for good if :func:`keep_list` is called next. :func:`class_ids` then says,
    entry by entry of the source, the class it went to. The key of an entry is the mixed-radix number of its blocks,
    one digit per attribute that is not at its root.
    """
    lattice, lists, scratch = pool.lattice, pool.lists, pool.scratch
    begin, items = lists.span[source].first, lists.span[source].count
    end = begin + items
    if _same_node(lists.node[source], node):
        return _repeat(lists, scratch, begin, items)
    keys, size, total = scratch.key[:items], lists.size[begin:end], lists.size[lists.used.entries :]
    keys[:] = 0
    span = 1
    for four in range(0, lattice.pack.size, PACKS):
        # Four packs add four bytes to a key at most.
        if span > _SPAN // CODES**PACKS:
            span = _renumber(scratch, size, span, total)
        wider = span
        for p in range(four, four + PACKS):
            wider = _pack_keys(lattice, scratch, node, p, wider)
        if wider > span:
            word, shift = four // 8, 8 * (four % 8)
            _add_looked_up(keys, scratch.pack_key[four * CODES :], lists.packed[word, begin:end], shift)
            span = wider
    for w in range(lattice.wide.size):
        i = lattice.wide[w]
        blocks = lattice.level[i, node[i]].blocks
        if blocks > 1:
            if span > _SPAN // blocks:
                span = _renumber(scratch, size, span, total)
            row = lattice.ancestors[lattice.level[i, node[i]].start :]
            _add_scaled(keys, span, row, lists.wide[w, begin:end])
            span *= blocks
    found = _tally(scratch, span, size, total)
    # The codes of any entry will do: they differ only below the levels of this node, and lists serve nodes above it.
    _open_classes(lists, scratch.opener[:found], begin)
    if lists.sums.shape[1] > 0:
        class_ids(scratch, items, found)
        _add_sums(lists.sums, scratch.ids[:items], found, begin, lists.used.entries)
    return found


@inner_kernel
def _same_node(first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    i = 0
    while i < first.size and first[i] == second[i]:
        i += 1
    return i == first.size


@inner_kernel
def _repeat(lists: ClassLists, scratch: GroupingScratch, begin: int, items: int) -> int:
    """Copy the classes of a list to the free end, as :func:`group` would: each entry is a class of its own."""
    end = lists.used.entries
    for j in range(items):
        scratch.key[j] = j
        scratch.opened[j] = j
        scratch.opener[j] = j
        lists.size[end + j] = lists.size[begin + j]
    _open_classes(lists, scratch.opener[:items], begin)
    for j in range(items):
        for a in range(lists.sums.shape[1]):
            lists.sums[end + j, a] = lists.sums[begin + j, a]
    return items


@inner_kernel
def _open_classes(lists: ClassLists, opener: NDArray[np.int32], begin: int) -> None:
    """Give each class, at the free end of the pool, the codes of the entry that opened it."""
    packed, wide, rep, end = lists.packed, lists.wide, lists.rep, lists.used.entries
    for a in range(packed.shape[0]):
        for c in range(opener.size):
            packed[a, end + c] = packed[a, begin + opener[c]]
    for a in range(wide.shape[0]):
        for c in range(opener.size):
            wide[a, end + c] = wide[a, begin + opener[c]]
    for c in range(opener.size):
        rep[end + c] = rep[begin + opener[c]]


@inner_kernel
def _add_sums(sums: NDArray[np.float64], ids: NDArray[np.int32], found: int, begin: int, end: int) -> None:
    """Add the sums of the entries up to the classes they went to, which begin at ``end``."""
    sums[end : end + found] = 0.0
    for j in range(ids.size):
        for a in range(sums.shape[1]):
            sums[end + ids[j], a] += sums[begin + j, a]


@inner_kernel
def keep_list(pool: ClassPool, source: int, node: NDArray[np.int64], count: int, afresh: bool) -> int:
    """Keep the classes just grouped if there are few enough to be worth it; return the number of the list, or -1.

    When the pool is full lists are dropped, and others get their numbers: see :func:`drop_lists`, or all of them if it
    is to start ``afresh`` with this list, which then is number 1. Room for one list as long as the tuples always stays
    free, for the next grouping.
    """
    lists, room = pool.lists, pool.lattice.codes.shape[1]
    # A list that is not a quarter shorter than its source saves too little for the memory it takes.
    if 4 * count > 3 * lists.span[source].count:
        return -1
    end = lists.used.entries
    if lists.used.lists == lists.span.size or end + count + room > lists.rep.size:
        if lists.span[0].count + count + room > lists.rep.size:
            return -1  # too long even for a pool without other lists
        drop_lists(lists, 0 if afresh else lists.rep.size - count - room)
        _copy_entries(lists, end, lists.used.entries, count)
        end = lists.used.entries
    return register_list(lists, node, end, count)


@inner_kernel
def drop_lists(lists: ClassLists, most: int) -> None:
    """Drop the lists that served least since this was called last, until half of ``most`` entries is free.

    Most lists never serve, those of a few nodes between serve all the time. What is kept moves down.
    """
    end = lists.span[0].first + lists.span[0].count
    least, kept, total = 0, lists.span.size, most
    while total > most // 2 or 2 * kept > lists.span.size:
        least, kept, total = 2 * least + 1, 1, end
        for q in range(1, lists.used.lists):
            if lists.span[q].served >= least:
                kept += 1
                total += lists.span[q].count
        if kept == 1:
            break
    number, lists.used.lists, lists.used.entries = lists.used.lists, 1, end
    for q in range(1, number):
        if lists.span[q].served >= least:
            count, to = lists.span[q].count, lists.used.entries
            _copy_entries(lists, lists.span[q].first, to, count)
            register_list(lists, lists.node[q], to, count)


@inner_kernel
def _copy_entries(lists: ClassLists, begin: int, to: int, count: int) -> None:
    """Copy classes to entries of the pool further down."""
    for j in range(count):
        lists.rep[to + j] = lists.rep[begin + j]
        lists.size[to + j] = lists.size[begin + j]
        for a in range(lists.packed.shape[0]):
            lists.packed[a, to + j] = lists.packed[a, begin + j]
        for a in range(lists.wide.shape[0]):
            lists.wide[a, to + j] = lists.wide[a, begin + j]
        for a in range(lists.sums.shape[1]):
            lists.sums[to + j, a] = lists.sums[begin + j, a]


@inner_kernel
def register_list(lists: ClassLists, node: NDArray[np.int64], begin: int, count: int) -> int:
    """Make entries of the pool a list, the last one; return its number."""
    q = lists.used.lists
    for i in range(node.size):
        lists.node[q, i] = node[i]
    lists.span[q].first = begin
    lists.span[q].count = count
    lists.span[q].served = 0
    lists.used.lists = q + 1
    lists.used.entries = begin + count
    return q
