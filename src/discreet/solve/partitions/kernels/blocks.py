"""What each block of one attribute costs while the other attributes are only partly decided.

*Cells* are the tuples that no open combination of partitions separates. From the point of view of one attribute they
fall into *groups*, by the most general blocks the other attributes may still get, and within those into *cores*, by the
most specific ones. In every reachable recoding the classes of a block are unions of cores within one group. So:

* if all rows of a block in one group are too few, they are suppressed whatever is decided later;
* what the rows of one core have in common they keep.

Blocks are visited by a *walk*: pieces (the cells with one value of the finest partition) go in and out one at a time,
and sums are updated instead of computed anew. Neighbouring blocks differ in one piece, so a walk through all blocks
costs about one pass over the cells of one piece per block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records, records

__all__ = [
    "MINORITY",
    "RECORD",
    "SEPARABLE",
    "SQUARES",
    "BlockCells",
    "BlockSums",
    "BlockWalk",
    "GroupLinks",
    "GroupSums",
    "ListedClasses",
    "WalkCursor",
    "add_keys",
    "add_up",
    "block_sums",
    "class_list",
    "link_groups",
    "list_classes",
    "most_published",
    "number",
    "price_blocks",
    "sort_by_piece",
    "split_squares",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SEPARABLE, SQUARES, MINORITY = range(3)
"""Price of a class: rates times moments plus offsets, size squared, or rows outside the majority label."""
RECORD = 0
"""The step of a walk that asks for the price of the block; step p + 1 adds piece p, step -(p + 1) removes it."""
_MIX = -7046029254386353131
"""2^64 divided by the golden ratio, as a signed number: multiplying by it spreads keys over the high bits."""


class GroupSums:
    """Sums over the rows of a group in the block."""

    rows: float
    share: float
    """Their cost if suppressed."""
    fixed: float
    """Published they cost this, plus ``moment`` times the rate of the block."""
    moment: float


class WalkCursor:
    """Where to go on with a walk: the step, the number of the next block, and how many groups are live."""

    step: int
    block: int
    live: int


class BlockWalk(NamedTuple):
    """A walk through blocks, and the rate of each block it asks for."""

    steps: Ints
    rates: Floats


class BlockCells(NamedTuple):
    """The cells from the point of view of one attribute."""

    starts: Ints
    """(pieces + 1,) the cells of piece p are ``entries[starts[p]:starts[p + 1]]``."""
    entries: Ints
    group: Ints
    core: Ints
    weight: Floats
    """Rows of each cell."""
    share: Floats
    """Cost if suppressed: what this attribute may count of it."""
    moment: Floats
    offset: Floats
    labels: Floats
    """(cells, labels) rows by class label."""
    histogram: Ints
    """(cells, values) sensitive values; no columns where only sizes matter."""


class GroupLinks(NamedTuple):
    """For each group g, the groups whose rows may share a class with it: ``links[starts[g]:starts[g + 1]]``."""

    starts: Ints
    links: Ints


class BlockSums(NamedTuple):
    """Sums over the current block. All are 0 before a walk, and again after it."""

    within: Floats
    """(cores, labels) rows of each core by label; with squares only the first column is used, for all rows."""
    group: Records[GroupSums]
    reach: Floats
    """(groups,) rows in all groups linked to each; only for :func:`price_blocks`."""
    histogram: Ints
    """(groups, values) sensitive values; only for :func:`list_classes`, as is the next."""
    live: Ints
    """(groups,) groups with rows in the block."""


class ListedClasses(NamedTuple):
    """Classes of blocks, listed for evaluation outside the kernels."""

    block: Ints
    """The block each belongs to, by its number in the walk."""
    sums: Records[GroupSums]
    histogram: Ints

    def first(self, count: int) -> ListedClasses:
        """Return the first classes."""
        return ListedClasses(self.block[:count], self.sums[:count], self.histogram[:count])


def block_sums(within: Floats, groups: int, values: int = 0) -> BlockSums:
    """Return zeroed sums for so many groups and sensitive values."""
    histogram, live = np.zeros((groups, values), dtype=np.int64), np.empty(groups, dtype=np.int64)
    return BlockSums(within, records(GroupSums, groups), np.zeros(groups), histogram, live)


def class_list(room: int, values: int) -> ListedClasses:
    """Return room for so many classes."""
    return ListedClasses(
        np.empty(room, dtype=np.int64), records(GroupSums, room), np.empty((room, values), dtype=np.int64)
    )


@kernel
def add_keys(codes: Ints, ids: Ints, radix: Ints, keys: Ints) -> None:
    """Combine the block numbers of all attributes of each tuple into one key.

    IN: codes (attributes, tuples), items; ids (attributes, items), the block of each item; radix
    OUT: keys
    """
    for j in range(keys.size):
        keys[j] = 0
    for a in range(codes.shape[0]):
        if radix[a] == 0:
            continue
        for j in range(keys.size):
            keys[j] += ids[a, codes[a, j]] * radix[a]


@kernel
def number(keys: Ints, items: Ints, own: Ints, radix: int, span: int, table: Ints, found: Ints, numbers: Ints) -> int:
    """Number the keys of tuples by first appearance, without the part of one attribute; returns how many there are.

    Leaving out an attribute is one subtraction, as keys are sums: no second pass over all attributes. Keys below
    ``span`` are looked up directly, others by hashing with linear probing.

    IN: own[items[j]] * radix, the part to leave out; span, 0 if keys are unbounded
    OUT: numbers; table and found are scratch, a power of two in size
    """
    count = 0
    if 0 < span <= found.size:
        for h in range(span):
            found[h] = -1
        for j in range(keys.size):
            key = keys[j] - own[items[j]] * radix
            if found[key] < 0:
                found[key] = count
                count += 1
            numbers[j] = found[key]
        return count
    mask = found.size - 1
    for h in range(found.size):
        found[h] = -1
    for j in range(keys.size):
        key = keys[j] - own[items[j]] * radix
        h = ((key * _MIX) >> 20) & mask
        while found[h] >= 0 and table[h] != key:
            h = (h + 1) & mask
        if found[h] < 0:
            found[h] = count
            table[h] = key
            count += 1
        numbers[j] = found[h]
    return count


@kernel
def add_up(numbers: Ints, source: Floats, target: Floats) -> None:
    """Add up columns of tuples to the cells (or merged cells) they belong to.

    IN: source (columns, tuples); OUT: target (columns, cells)
    """
    for row in range(source.shape[0]):
        for j in range(numbers.size):
            target[row, numbers[j]] += source[row, j]


@kernel
def sort_by_piece(items: Ints, piece: Ints, pieces: int, entries: Ints, starts: Ints) -> None:
    """Sort cells by the piece of their item, by counting.

    OUT: the cells of piece p are entries[starts[p]:starts[p + 1]]
    """
    for p in range(pieces + 1):
        starts[p] = 0
    for j in range(items.size):
        starts[piece[items[j]] + 1] += 1
    for p in range(pieces):
        starts[p + 1] += starts[p]
    for j in range(items.size):
        p = piece[items[j]]
        entries[starts[p]] = j
        starts[p] += 1
    for p in range(pieces, 0, -1):
        starts[p] = starts[p - 1]
    starts[0] = 0


@kernel
def split_squares(
    items: Ints, entries: Ints, coarse: Ints, core: Ints, weight: Floats, within: Floats, most: Floats
) -> None:
    """Find the largest share of the squares that each cell can owe to one attribute alone.

    The square of a class size counts ordered pairs of rows. A pair within one core differs in this attribute only, so
    no other attribute counts it. At most, a cell pairs with all rows of its core in the same coarse block.

    IN: entries, the cells by piece; coarse, whose blocks hold contiguous pieces; within, 0 and left so
    OUT: most
    """
    begin = 0
    while begin < entries.size:
        block = coarse[items[entries[begin]]]
        end = begin
        while end < entries.size and coarse[items[entries[end]]] == block:
            within[core[entries[end]], 0] += weight[entries[end]]
            end += 1
        for x in range(begin, end):
            j = entries[x]
            most[j] = weight[j] * (within[core[j], 0] - weight[j])
        for x in range(begin, end):
            within[core[entries[x]], 0] = 0.0
        begin = end


@kernel
def most_published(items: Ints, rate: Floats, moment: Floats, offset: Floats, most: Floats) -> None:
    """Find what each cell costs at most for one attribute if published: at the highest rate its item may still get.

    OUT: most
    """
    for j in range(items.size):
        most[j] = rate[items[j]] * moment[j] + offset[j]


@inner_kernel
def _add_labels(within: Floats, core: int, labels: Floats, cell: int, sign: int) -> float:
    """Add a cell's labels to its core; returns by how much the rows outside the majority label grow."""
    rows, largest, rows_then, largest_then = 0.0, 0.0, 0.0, 0.0
    for c in range(labels.shape[1]):
        old = within[core, c]
        new = old + sign * labels[cell, c]
        within[core, c] = new
        rows += old
        rows_then += new
        largest = max(largest, old)
        largest_then = max(largest_then, new)
    return (rows_then - largest_then) - (rows - largest)


@inner_kernel
def _shift_core(begin: int, end: int, sign: int, cells: BlockCells, within: Floats) -> None:
    """Add the rows of a range of cells to their cores, or take them off."""
    for x in range(begin, end):
        j = cells.entries[x]
        within[cells.core[j], 0] += sign * cells.weight[j]


@inner_kernel
def _fixed(kind: int, j: int, sign: int, cells: BlockCells, within: Floats) -> float:
    """Return what a cell adds to the fixed cost of its group when it is added (or removed).

    With squares each new pair of rows within a core counts twice; pairs within a cell are counted once elsewhere.
    """
    if kind == SEPARABLE:
        return sign * cells.offset[j]
    if kind == SQUARES:
        return sign * 2.0 * cells.weight[j] * within[cells.core[j], 0]
    return _add_labels(within, cells.core[j], cells.labels, j, sign)


@kernel
def link_groups(
    wide: Ints, piece: Ints, example: Ints, compatible: NDArray[np.bool_], group_at: Ints, links: GroupLinks
) -> None:
    """List for each group the groups whose rows may share a class with its own.

    A group is a wide group (all other attributes at their coarsest) and one piece of one more attribute. Two groups of
    one wide group are linked if their pieces are compatible: some open block of that attribute holds both.

    IN: wide, piece of each cell; example, a cell of each group; group_at[w * pieces + u], the group of piece u in wide
        group w, or -1
    OUT: links
    """
    pieces, length = compatible.shape[0], 0
    for g in range(example.size):
        links.starts[g] = length
        w, u = wide[example[g]], piece[example[g]]
        for v in range(pieces):
            other = group_at[w * pieces + v]
            if compatible[v, u] and other >= 0:
                links.links[length] = other
                length += 1
    links.starts[example.size] = length


@kernel
def price_blocks(
    kind: int,
    least: float,
    walk: BlockWalk,
    cells: BlockCells,
    links: GroupLinks,
    sums: BlockSums,
    cost: Floats,
    gone: Floats,
) -> None:
    """Follow a walk; for each block find what it costs at least, and how many of its rows must be suppressed.

    The rows of a group are suppressed in a block if the groups linked to it have fewer than ``least`` rows there. The
    four running totals change by what one piece adds, and by groups whose reach crosses ``least``; so a block costs as
    much as its difference to the one before.

    IN: least, the size of the smallest valid class
    OUT: cost, gone, by block in the order of the walk; sums, 0 again
    """
    # Taken out of the named tuples once: what follows is the innermost loop of the search.
    entries, group, weight, share, moment = cells.entries, cells.group, cells.weight, cells.share, cells.moment
    within, total, reach = sums.within, sums.group, sums.reach
    published, moments, suppressed, rows = 0.0, 0.0, 0.0, 0.0
    asked = 0
    for step in walk.steps:
        if step == RECORD:
            cost[asked] = published + walk.rates[asked] * moments + suppressed
            gone[asked] = rows
            asked += 1
            continue
        sign = 1 if step > 0 else -1
        piece = sign * step - 1
        begin, end = cells.starts[piece], cells.starts[piece + 1]
        for x in range(begin, end):
            g = group[entries[x]]
            more = sign * weight[entries[x]]
            for y in range(links.starts[g], links.starts[g + 1]):
                other = links.links[y]
                before = reach[other]
                reach[other] = before + more
                if (before >= least) == (before + more >= least) or total[other].rows == 0:
                    continue
                # The group as it is now turns from suppressed to published, or back.
                turn = 1.0 if before + more >= least else -1.0
                published += turn * total[other].fixed
                moments += turn * total[other].moment
                suppressed -= turn * total[other].share
                rows -= turn * total[other].rows
        if kind == SQUARES and sign < 0:
            _shift_core(begin, end, sign, cells, within)
        for x in range(begin, end):
            j = entries[x]
            own = total[group[j]]
            fixed = _fixed(kind, j, sign, cells, within)
            moved = sign * moment[j] if kind == SEPARABLE else 0.0
            own.fixed += fixed
            own.moment += moved
            own.share += sign * share[j]
            own.rows += sign * weight[j]
            if reach[group[j]] >= least:
                published += fixed
                moments += moved
            else:
                suppressed += sign * share[j]
                rows += sign * weight[j]
            if own.rows == 0:
                own.share, own.fixed, own.moment = 0.0, 0.0, 0.0  # drops what rounding left
        if kind == SQUARES and sign > 0:
            _shift_core(begin, end, sign, cells, within)


@kernel
def list_classes(
    kind: int, walk: BlockWalk, cells: BlockCells, sums: BlockSums, cursor: WalkCursor, found: ListedClasses
) -> int:
    """Follow a walk and list every class of every block, to be evaluated outside; returns how many were listed.

    Where the list is full, ``cursor`` says where to go on. There must be room for the classes of one block.

    IN/OUT: cursor, at the start to begin with; sums
    OUT: found
    """
    total, live = sums.group, sums.live
    listed = 0
    for s in range(cursor.step, walk.steps.size):
        step = walk.steps[s]
        if step == RECORD:
            if listed + cursor.live > found.block.size:
                cursor.step = s
                return listed
            for x in range(cursor.live):
                own, out = total[live[x]], found.sums[listed]
                found.block[listed] = cursor.block
                out.rows, out.share, out.fixed, out.moment = own.rows, own.share, own.fixed, own.moment
                for v in range(sums.histogram.shape[1]):
                    found.histogram[listed, v] = sums.histogram[live[x], v]
                listed += 1
            cursor.block += 1
            continue
        sign = 1 if step > 0 else -1
        piece = sign * step - 1
        begin, end = cells.starts[piece], cells.starts[piece + 1]
        if sign > 0:
            cursor.live = _revive(begin, end, cursor.live, cells, sums)
        _move_piece(kind, begin, end, sign, cells, sums)
        if sign < 0:
            kept = 0
            for x in range(cursor.live):
                own = total[live[x]]
                if own.rows > 0:
                    live[kept] = live[x]
                    kept += 1
                else:
                    own.rows, own.share, own.fixed, own.moment = 0.0, 0.0, 0.0, 0.0
            cursor.live = kept
    cursor.step = walk.steps.size
    return listed


@inner_kernel
def _revive(begin: int, end: int, live: int, cells: BlockCells, sums: BlockSums) -> int:
    """List the groups that get their first rows from a piece; returns how many are live.

    Rows of -1 mark a group as listed, as several cells of a piece may be in one group.
    """
    for x in range(begin, end):
        g = cells.group[cells.entries[x]]
        if sums.group[g].rows == 0:
            sums.live[live] = g
            live += 1
            sums.group[g].rows = -1.0
    for x in range(begin, end):
        own = sums.group[cells.group[cells.entries[x]]]
        if own.rows == -1.0:
            own.rows = 0.0
    return live


@inner_kernel
def _move_piece(kind: int, begin: int, end: int, sign: int, cells: BlockCells, sums: BlockSums) -> None:
    """Add the cells of one piece to the sums of their groups, or take them off."""
    if kind == SQUARES and sign < 0:
        _shift_core(begin, end, sign, cells, sums.within)
    for x in range(begin, end):
        j = cells.entries[x]
        g = cells.group[j]
        own = sums.group[g]
        own.rows += sign * cells.weight[j]
        own.share += sign * cells.share[j]
        own.fixed += _fixed(kind, j, sign, cells, sums.within)
        if kind == SEPARABLE:
            own.moment += sign * cells.moment[j]
        for v in range(sums.histogram.shape[1]):
            sums.histogram[g, v] += sign * cells.histogram[j, v]
    if kind == SQUARES and sign > 0:
        _shift_core(begin, end, sign, cells, sums.within)
