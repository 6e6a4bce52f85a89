"""Steps of the search over cuts: specialize an open value, lock it, and go back."""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import kernel
from discreet.kernels.cut_bounds import look_at, price_cells
from discreet.kernels.cut_state import (
    ACTIVE,
    ALONE,
    BEGIN,
    CELLS,
    CLASS_VALUES,
    DEPTH,
    END,
    ENTRIES,
    EXACT_KEYS,
    HEAD,
    HIGH,
    KEPT,
    KEY,
    KIND,
    LOCKED,
    LOG,
    LOW,
    MARGIN,
    ONLY,
    OPEN,
    PLACE,
    PLACES,
    PRICE,
    SEPARABLE,
    SIZE,
    SLOTS,
    SPECIALIZED,
    STACKED,
    START,
    STEP,
    STOP,
    SUMMED,
    SUMS,
    TAIL,
    UPDATE,
    VALUE,
    Cells,
    Codes,
    Ints,
    Parts,
    Rules,
    Search,
    Space,
    Tree,
)

__all__ = ["go_up", "has_room", "settle", "step_down", "tuples_of"]


@kernel
def list_parts(v: int, tree: Tree, parts: Parts, ws: Space, search: Search) -> int:
    """List the active parts whose value is ``v``, and take them out of the totals; returns how many there are."""
    a, listed = tree.attribute[v], 0
    active, total, log, logged = search.active, search.total, search.log, search.count[LOG]
    code, number, which, place_of = parts.code, parts.number, ws.which, ws.place_of
    for j in range(search.count[ACTIVE]):
        s = active[j]
        if code[s, a] != v:
            continue
        which[listed], place_of[listed] = s, j
        listed += 1
        log[logged, 0], log[logged, 1] = j, s
        logged += 1
        for t in range(SUMMED):
            total[t] -= number[s, t]
    search.count[LOG] = logged
    return listed


@kernel
def split(listed: int, a: int, tree: Tree, cells: Cells, parts: Parts, ws: Space, search: Search) -> None:
    """Split each of the parts in ``ws.which`` by the children of its value in an attribute."""
    perm, span, part_code = search.perm, parts.span, parts.code
    code, tally, place, which, born = cells.code, ws.tally, ws.place, ws.which, ws.born
    slots = search.count[SLOTS]
    for k in range(listed):
        s = which[k]
        v = part_code[s, a]
        first = tree.first[v]
        children, child_of = tree.end[v] - first, tree.path[tree.depth[v] + 1]
        begin, end = span[s, BEGIN], span[s, END]
        for c in range(children + 1):
            tally[c] = 0
        for p in range(begin, end):
            e = perm[p]
            place[p - begin] = e
            tally[child_of[code[e, a]] - first + 1] += 1
        for c in range(children):
            tally[c + 1] += tally[c]
        low = 0
        for c in range(children):
            high = tally[c + 1]
            if high > low:
                for i in range(part_code.shape[1]):
                    part_code[slots, i] = part_code[s, i]
                part_code[slots, a] = first + c
                span[slots, BEGIN], span[slots, END] = begin + low, begin + high
                slots += 1
            low = high
        for p in range(end - begin):
            c = child_of[code[place[p], a]] - first
            perm[begin + tally[c]] = place[p]
            tally[c] += 1
        born[k] = slots
    search.count[SLOTS] = slots


@kernel
def specialize(v: int, tree: Tree, cells: Cells, parts: Parts, ws: Space, search: Search) -> None:
    """Split every part whose value is ``v`` by the children of ``v``."""
    count, active = search.count, search.active
    slot, many = count[SLOTS], count[ACTIVE]
    listed = list_parts(v, tree, parts, ws, search)
    split(listed, tree.attribute[v], tree, cells, parts, ws, search)
    for k in range(listed):
        active[ws.place_of[k]] = slot
        for s in range(slot + 1, ws.born[k]):
            active[many] = s
            many += 1
        slot = ws.born[k]
    count[ACTIVE] = many


@kernel
def same_codes(code: Codes, e: int, f: int, but: int) -> bool:
    """Whether two cells have the same codes in all attributes but one."""
    same = True
    for i in range(code.shape[1]):
        same = same and (i == but or code[e, i] == code[f, i])
    return same


@kernel
def merge(listed: int, a: int, tree: Tree, cells: Cells, parts: Parts, rules: Rules, ws: Space, search: Search) -> None:
    """Merge the cells of each part in ``ws.which`` that differ in nothing but an attribute.

    They are put on the stack anew, with the part's value in that attribute; those that become equal are one.
    """
    perm, count, span, part_code = search.perm, search.count, parts.span, parts.code
    code, link, number, sums, after = cells.code, cells.link, cells.number, cells.sums, cells.after
    table, place, tally, which = ws.table, ws.place, ws.tally, ws.which
    rate, kind, price = tree.rate, int(rules.facts[KIND]), int(rules.facts[PRICE])
    m, width, linked = code.shape[1], sums.shape[1], after.shape[0] > 0
    exact, stride = rules.facts[EXACT_KEYS] > 0.0, rules.stride[a]
    slots, now = count[SLOTS], table[0, 1]
    bottom, base, top = count[CELLS], count[PLACES], count[ENTRIES]
    for k in range(listed):
        s = which[k]
        v = part_code[s, a]
        begin, end = span[s, BEGIN], span[s, END]
        now += 1
        mask = 7
        while mask < 2 * (end - begin):
            mask = 2 * mask + 1
        groups = 0
        for p in range(begin, end):
            e = perm[p]
            key = link[e, KEY] + stride * (v - code[e, a])
            h = 1 + (np.int64(np.uint64(key) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(34)) & mask)
            while table[h, 1] == now:
                other = bottom + table[h, 0]
                if link[other, KEY] == key and (exact or same_codes(code, e, other, a)):
                    break
                h = h + 1 if h <= mask else 1
            if table[h, 1] != now:
                table[h, 0], table[h, 1] = groups, now
                new = bottom + groups
                for i in range(m):
                    code[new, i] = code[e, i]
                code[new, a] = v
                for i in range(5):
                    link[new, i] = link[e, i]
                link[new, KEY] = key
                more = 0.0
                if price <= SUMS:
                    more = (rate[v] - rate[code[e, a]]) * (number[e, SIZE] if price == SEPARABLE else sums[e, a])
                kept = number[e, KEPT] / number[e, SIZE]
                number[new, SIZE], number[new, KEPT] = number[e, SIZE], number[e, KEPT]
                number[new, LOW], number[new, ALONE] = number[e, LOW] + more, number[e, ALONE] + more * kept
                number[new, HIGH] = number[e, HIGH] + (more if kind == CLASS_VALUES else 0.0)
                number[new, MARGIN] = max(0.0, number[e, MARGIN] - more / number[e, SIZE])
                for c in range(width):
                    sums[new, c] = sums[e, c]
                tally[groups] = 1
                place[p - begin] = groups
                groups += 1
            else:
                g = table[h, 0]
                new = bottom + g
                number[new, SIZE] += number[e, SIZE]
                number[new, KEPT] = -1.0
                for c in range(width):
                    sums[new, c] += sums[e, c]
                if linked:
                    after[link[new, TAIL]] = link[e, HEAD]
                    link[new, TAIL] = link[e, TAIL]
                tally[g] += 1
                place[p - begin] = g
        if groups < end - begin:
            top = merge_histograms(
                begin, end, groups, bottom, base + groups, top, perm, link, cells.value, cells.count, ws
            )
        for i in range(m):
            part_code[slots, i] = part_code[s, i]
        span[slots, BEGIN], span[slots, END] = base, base + groups
        for g in range(groups):
            perm[base + g] = bottom + g
        slots += 1
        bottom += groups
        base += groups
    price_cells(count[CELLS], bottom, tree, cells, rules, ws)
    count[SLOTS], table[0, 1] = slots, now
    count[CELLS], count[PLACES], count[ENTRIES] = bottom, base, top


@kernel
def lock(v: int, tree: Tree, cells: Cells, parts: Parts, rules: Rules, ws: Space, search: Search) -> None:
    """Merge the cells under ``v`` that differ in nothing else."""
    slot = search.count[SLOTS]
    listed = list_parts(v, tree, parts, ws, search)
    merge(listed, tree.attribute[v], tree, cells, parts, rules, ws, search)
    for k in range(listed):
        search.active[ws.place_of[k]] = slot + k


@kernel
def merge_histograms(
    begin: int,
    end: int,
    groups: int,
    bottom: int,
    base: int,
    top: int,
    perm: Codes,
    link: Ints,
    value: Codes,
    count: Ints,
    ws: Space,
) -> int:
    """Add up the histograms of cells that became one, on top of the stack of entries; returns its new height.

    ``ws.place`` tells for each cell which new one it went to, and ``ws.tally`` how many went to each.
    """
    place, tally, joint = ws.place, ws.tally, ws.joint
    low = base
    for g in range(groups):
        size = tally[g]
        tally[g] = low
        low += size
    for p in range(begin, end):
        g = place[p - begin]
        perm[tally[g]] = perm[p]
        tally[g] += 1
    low = base
    for g in range(groups):
        high = tally[g]
        if high - low > 1:
            start = top
            for p in range(low, high):
                e = perm[p]
                for q in range(link[e, START], link[e, STOP]):
                    i = value[q]
                    if joint[i] == 0:
                        value[top] = i
                        top += 1
                    joint[i] += count[q]
            for q in range(start, top):
                count[q] = joint[value[q]]
                joint[value[q]] = 0
            link[bottom + g, START], link[bottom + g, STOP] = start, top
        low = high
    return top


@kernel
def has_room(cells: Cells, parts: Parts, search: Search, tuples: int, entries: int) -> bool:
    """Whether the stacks have room for one more step down, whatever it is, and for trying another."""
    count = search.count
    return (
        count[SLOTS] + 2 * tuples <= parts.span.shape[0]
        and count[LOG] + tuples <= search.log.shape[0]
        and count[CELLS] + 2 * tuples <= cells.link.shape[0]
        and count[ENTRIES] + 2 * entries <= cells.value.shape[0]
        and count[PLACES] + 4 * tuples <= search.perm.shape[0]
    )


@kernel
def step_down(
    place: int, how: int, tree: Tree, cells: Cells, parts: Parts, rules: Rules, ws: Space, search: Search
) -> None:
    """Specialize or lock the value at a place of the list of open values; what it makes is not looked at yet."""
    count, v = search.count, search.open[place]
    frame, saved = search.frame[count[DEPTH]], search.saved[count[DEPTH]]
    for t in range(STACKED):
        frame[t] = count[t]
    frame[VALUE], frame[PLACE], frame[STEP], frame[ONLY] = v, place, how, 0
    for t in range(SUMMED):
        saved[t] = search.total[t]
    count[DEPTH] += 1
    count[OPEN] -= 1
    search.open[place] = search.open[count[OPEN]]
    if how == SPECIALIZED:
        specialize(v, tree, cells, parts, ws, search)
        search.mark[v] = 0
        for c in range(tree.first[v], tree.end[v]):
            search.mark[c] = 1
            if tree.end[c] > tree.first[c]:
                search.open[count[OPEN]] = c
                count[OPEN] += 1
    elif rules.facts[UPDATE] > 0.0:
        lock(v, tree, cells, parts, rules, ws, search)


@kernel
def settle(tree: Tree, cells: Cells, parts: Parts, rules: Rules, ws: Space, search: Search, bounds: bool) -> None:
    """Look at the parts the last step made and put them into the totals."""
    first, last = search.frame[search.count[DEPTH] - 1, SLOTS], search.count[SLOTS]
    look_at(first, last, False, search.active, tree, cells, parts, rules, ws, search.perm, bounds)
    for slot in range(first, last):
        for t in range(SUMMED):
            search.total[t] += parts.number[slot, t]


@kernel
def go_up(tree: Tree, cells: Cells, parts: Parts, search: Search) -> None:
    """Undo the last step down."""
    count = search.count
    count[DEPTH] -= 1
    frame, saved = search.frame[count[DEPTH]], search.saved[count[DEPTH]]
    v, place = frame[VALUE], frame[PLACE]
    for log in range(count[LOG] - 1, frame[LOG] - 1, -1):
        search.active[search.log[log, 0]] = search.log[log, 1]
        if cells.after.shape[0] > 0 and frame[STEP] == LOCKED:
            s = search.log[log, 1]
            for p in range(parts.span[s, BEGIN], parts.span[s, END]):
                cells.after[cells.link[search.perm[p], TAIL]] = -1
    for t in range(STACKED):
        count[t] = frame[t]
    search.open[count[OPEN] - 1] = search.open[place]
    search.open[place] = v
    if frame[STEP] == SPECIALIZED:
        search.mark[v] = 1
        for c in range(tree.first[v], tree.end[v]):
            search.mark[c] = 0
    for t in range(SUMMED):
        search.total[t] = saved[t]


@kernel
def tuples_of(
    begin: int, end: int, parts: bool, cells: Cells, spans: Ints, perm: Codes, tuples: Codes, owner: Codes
) -> int:
    """List the tuples of some new cells, or of some new parts, and which of them each belongs to."""
    found = 0
    for number in range(begin, end):
        low, high = (spans[number, BEGIN], spans[number, END]) if parts else (number, number + 1)
        for p in range(low, high):
            e = perm[p] if parts else p
            t = cells.link[e, HEAD]
            while t >= 0:
                tuples[found], owner[found] = t, number - begin
                found += 1
                t = cells.after[t]
    return found
