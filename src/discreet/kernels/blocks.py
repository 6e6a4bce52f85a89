"""What each block of one attribute costs while the other attributes are as far as they are decided.

The rows fall into *groups* by the most general values that the other attributes may still get, and into finer *cores*
by the most specific ones. A block's rows of one group are a class, or the union of several: if even that union is too
small, its rows are suppressed whatever is decided later. What the rows of one core have in common they keep.

Tuples whose values are the same as far as they are decided are one *cell*. Blocks are walked through by a *script*,
which puts one piece, the cells with one value, in or takes one out at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel

__all__ = [
    "FIXED",
    "MINORITY",
    "MOMENT",
    "RECORD",
    "SEPARABLE",
    "SHARE",
    "SIZE",
    "SQUARES",
    "add_keys",
    "add_up",
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
SIZE, SHARE, FIXED, MOMENT = range(4)
"""What is added up for each group: rows, their cost if suppressed, their cost if published without and per rate."""
RECORD = 0
"""The operation of a script that asks for the block as it is; others put in item o - 1 or take out item -o - 1."""
_MIX = -7046029254386353131


@kernel
def add_keys(codes: Ints, ids: Ints, radix: Ints, keys: Ints) -> None:
    """Give each tuple a number made of the blocks ``ids[a, item]`` of its items, to the radix given."""
    for j in range(keys.size):
        keys[j] = 0
    for a in range(codes.shape[0]):
        if radix[a] == 0:
            continue
        for j in range(keys.size):
            keys[j] += ids[a, codes[a, j]] * radix[a]


@kernel
def number(keys: Ints, items: Ints, own: Ints, radix: int, span: int, table: Ints, found: Ints, numbers: Ints) -> int:
    """Number the keys of tuples without the part of one attribute; returns how many there are.

    ``own[items[j]] * radix`` is that part. Keys are below ``span``, or anything if that is 0.
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
    """Add up the columns of tuples to the cells they belong to."""
    for row in range(source.shape[0]):
        for j in range(numbers.size):
            target[row, numbers[j]] += source[row, j]


@kernel
def sort_by_piece(items: Ints, piece: Ints, pieces: int, entries: Ints, starts: Ints) -> None:
    """List cells by the piece of their item; those of piece ``p`` are ``entries[starts[p]:starts[p + 1]]``."""
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
    items: Ints, entries: Ints, top: Ints, core: Ints, weight: Floats, within: Floats, most: Floats
) -> None:
    """Find with how many rows each cell can come together at most through one attribute alone, times its own rows.

    ``entries`` lists the cells by piece, and ``core`` numbers what they have in common in the other attributes. Blocks
    of ``top`` hold their pieces in a row.
    """
    begin = 0
    while begin < entries.size:
        block = top[items[entries[begin]]]
        end = begin
        while end < entries.size and top[items[entries[end]]] == block:
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
    """Find what each tuple costs if its item gets the most general value it may get, of which ``rate`` is known."""
    for j in range(items.size):
        most[j] = rate[items[j]] * moment[j] + offset[j]


@kernel
def _put(
    kind: int,
    begin: int,
    end: int,
    sign: int,
    entries: Ints,
    group: Ints,
    core: Ints,
    weight: Floats,
    share: Floats,
    moment: Floats,
    offset: Floats,
    labels: Floats,
    within: Floats,
    sums: Floats,
) -> None:
    """Put the tuples of one item into the block, or take them out."""
    if kind == SQUARES and sign < 0:
        for x in range(begin, end):
            within[core[entries[x]], 0] -= weight[entries[x]]
    for x in range(begin, end):
        j = entries[x]
        g = group[j]
        sums[g, SIZE] += sign * weight[j]
        sums[g, SHARE] += sign * share[j]
        if kind == SEPARABLE:
            sums[g, FIXED] += sign * offset[j]
            sums[g, MOMENT] += sign * moment[j]
        elif kind == SQUARES:
            sums[g, FIXED] += sign * 2.0 * weight[j] * within[core[j], 0]
        else:
            before, after = _minority(within, core[j], labels, j, sign)
            sums[g, FIXED] += after - before
    if kind == SQUARES and sign > 0:
        for x in range(begin, end):
            within[core[entries[x]], 0] += weight[entries[x]]


@kernel
def _minority(within: Floats, core: int, labels: Floats, tuple_: int, sign: int) -> tuple[float, float]:
    """Add a tuple's labels to a core; returns how many rows were and are not of the most frequent label."""
    rows, largest, more, largest_then = 0.0, 0.0, 0.0, 0.0
    for c in range(labels.shape[1]):
        old = within[core, c]
        new = old + sign * labels[tuple_, c]
        within[core, c] = new
        rows += old
        more += new
        largest = max(largest, old)
        largest_then = max(largest_then, new)
    return rows - largest, more - largest_then


@kernel
def link_groups(
    wide: Ints, item: Ints, tuples: Ints, near: NDArray[np.bool_], place: Ints, starts: Ints, links: Ints
) -> int:
    """List for each group those groups whose classes its rows may come into; returns the length of the lists.

    A group is what is in wide group ``wide[j]`` and has piece ``item[j]`` of one more attribute, ``tuples[g]`` being
    one of its tuples; rows with piece ``u`` may be in one class with those of piece ``v`` if ``near[v, u]``.
    ``place[w * pieces + u]`` is the group of piece ``u`` in wide group ``w``, or -1. Returns -1 if there is no room.
    """
    pieces, length = near.shape[0], 0
    for g in range(tuples.size):
        starts[g] = length
        w, u = wide[tuples[g]], item[tuples[g]]
        for v in range(pieces):
            other = place[w * pieces + v]
            if near[v, u] and other >= 0:
                if length == links.size:
                    return -1
                links[length] = other
                length += 1
    starts[tuples.size] = length
    return length


@kernel
def price_blocks(
    kind: int,
    least: float,
    script: Ints,
    starts: Ints,
    entries: Ints,
    group: Ints,
    link_starts: Ints,
    links: Ints,
    core: Ints,
    weight: Floats,
    share: Floats,
    moment: Floats,
    offset: Floats,
    labels: Floats,
    rates: Floats,
    within: Floats,
    sums: Floats,
    reach: Floats,
    cost: Floats,
    gone: Floats,
) -> None:
    """Follow a script; for each block asked for find what it costs and how many of its rows are suppressed.

    The rows of a group are suppressed in a block if the groups linked to it have fewer than ``least`` rows there.
    ``starts[i]`` is where the tuples of item ``i`` begin in ``entries``. ``within``, ``sums`` and ``reach`` must be 0,
    and are left so.
    """
    published, moments, suppressed, rows = 0.0, 0.0, 0.0, 0.0
    asked = 0
    for step in range(script.size):
        operation = script[step]
        if operation == RECORD:
            cost[asked] = published + rates[asked] * moments + suppressed
            gone[asked] = rows
            asked += 1
            continue
        sign = 1 if operation > 0 else -1
        item = sign * operation - 1
        begin, end = starts[item], starts[item + 1]
        for x in range(begin, end):
            g = group[entries[x]]
            more = sign * weight[entries[x]]
            for y in range(link_starts[g], link_starts[g + 1]):
                other = links[y]
                before = reach[other]
                reach[other] = before + more
                if (before >= least) == (before + more >= least) or sums[other, SIZE] == 0:
                    continue
                turn = 1.0 if before + more >= least else -1.0
                published += turn * sums[other, FIXED]
                moments += turn * sums[other, MOMENT]
                suppressed -= turn * sums[other, SHARE]
                rows -= turn * sums[other, SIZE]
        if kind == SQUARES and sign < 0:
            for x in range(begin, end):
                within[core[entries[x]], 0] -= weight[entries[x]]
        for x in range(begin, end):
            j = entries[x]
            g = group[j]
            fixed, moved = 0.0, 0.0
            if kind == SEPARABLE:
                fixed, moved = sign * offset[j], sign * moment[j]
            elif kind == SQUARES:
                fixed = sign * 2.0 * weight[j] * within[core[j], 0]
            else:
                before, after = _minority(within, core[j], labels, j, sign)
                fixed = after - before
            sums[g, FIXED] += fixed
            sums[g, MOMENT] += moved
            sums[g, SHARE] += sign * share[j]
            sums[g, SIZE] += sign * weight[j]
            if reach[g] >= least:
                published += fixed
                moments += moved
            else:
                suppressed += sign * share[j]
                rows += sign * weight[j]
            if sums[g, SIZE] == 0:
                sums[g, SHARE] = sums[g, FIXED] = sums[g, MOMENT] = 0.0
        if kind == SQUARES and sign > 0:
            for x in range(begin, end):
                within[core[entries[x]], 0] += weight[entries[x]]


@kernel
def list_classes(
    kind: int,
    script: Ints,
    starts: Ints,
    entries: Ints,
    group: Ints,
    core: Ints,
    weight: Floats,
    share: Floats,
    moment: Floats,
    offset: Floats,
    labels: Floats,
    histogram: Ints,
    within: Floats,
    sums: Floats,
    counts: Ints,
    alive: Ints,
    place: Ints,
    asked: Ints,
    classes: Floats,
    counted: Ints,
) -> int:
    """Follow a script and list every class of every block asked for, to be judged from outside.

    Class ``c`` belongs to the block asked for as number ``asked[c]``; ``classes[c]`` are its sums and ``counted[c]``
    its histogram. ``histogram[j]`` is that of a cell. Returns the number of classes listed. Where there is no room for
    all, ``place`` tells where to go on: the step, the block asked for next and how many groups are alive; it is 0 to
    begin with. There must be room for the classes of one block.
    """
    found, block, live = 0, place[1], place[2]
    for step in range(place[0], script.size):
        operation = script[step]
        if operation == RECORD:
            if found + live > asked.size:
                place[0], place[1], place[2] = step, block, live
                return found
            for x in range(live):
                g = alive[x]
                asked[found] = block
                for c in range(4):
                    classes[found, c] = sums[g, c]
                for v in range(counts.shape[1]):
                    counted[found, v] = counts[g, v]
                found += 1
            block += 1
            continue
        sign = 1 if operation > 0 else -1
        item = sign * operation - 1
        begin, end = starts[item], starts[item + 1]
        if sign > 0:
            for x in range(begin, end):
                g = group[entries[x]]
                if sums[g, SIZE] == 0:
                    alive[live] = g
                    live += 1
                    sums[g, SIZE] = -1.0
            for x in range(begin, end):
                g = group[entries[x]]
                if sums[g, SIZE] == -1.0:
                    sums[g, SIZE] = 0.0
        _put(kind, begin, end, sign, entries, group, core, weight, share, moment, offset, labels, within, sums)
        for x in range(begin, end):
            for v in range(histogram.shape[1]):
                counts[group[entries[x]], v] += sign * histogram[entries[x], v]
        if sign < 0:
            kept = 0
            for x in range(live):
                g = alive[x]
                if sums[g, SIZE] > 0:
                    alive[kept] = g
                    kept += 1
                else:
                    for c in range(4):
                        sums[g, c] = 0.0
            live = kept
    place[0] = script.size
    return found
