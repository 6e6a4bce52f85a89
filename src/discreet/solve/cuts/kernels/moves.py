"""Steps of the search over cuts: specialize an open value, lock it, and backtrack.

A step costs time linear in the cells of the parts that have the value; all other parts stay as they are (section VI-C
of the paper: data are scanned only where the cut changes). Backtracking restores stack heights and totals.
"""

from __future__ import annotations

import numpy as np

from discreet.solve.cuts.kernels.bounds import evaluate_parts, price_cells
from discreet.solve.cuts.kernels.state import (
    CLASS_VALUES,
    LOCKED,
    SEPARABLE,
    SPECIALIZED,
    SUMS,
    Codes,
    CutArrays,
    CutCell,
    CutFrame,
    CutNow,
    CutPart,
    CutTotals,
)
from discreet.solve.kernels.jit import inner_kernel, kernel

__all__ = ["backtrack", "has_room", "list_tuples", "merge", "settle", "split", "step_down"]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: multiplying by it spreads keys over the high bits."""


@inner_kernel
def add_totals(total: CutTotals, part: CutPart, sign: float) -> None:
    """Add the numbers of a part to totals, or take them off."""
    total.bound += sign * part.bound
    total.cost += sign * part.cost
    total.lost += sign * part.lost
    total.gone += sign * part.gone
    total.wrong += sign * part.wrong
    total.dead += sign * part.dead


@inner_kernel
def copy_totals(source: CutTotals | CutFrame, target: CutTotals | CutFrame) -> None:
    """Copy totals to a frame, or back."""
    target.bound, target.cost, target.lost = source.bound, source.cost, source.lost
    target.gone, target.wrong, target.dead, target.surplus = source.gone, source.wrong, source.dead, source.surplus


@inner_kernel
def copy_heights(source: CutNow | CutFrame, target: CutNow | CutFrame) -> None:
    """Copy the heights of all stacks to a frame, or back."""
    target.active, target.parts, target.cells, target.entries = (
        source.active,
        source.parts,
        source.cells,
        source.entries,
    )
    target.perm, target.log, target.open = source.perm, source.log, source.open


@inner_kernel
def list_parts(state: CutArrays, v: int) -> int:
    """List the active parts whose value is ``v`` and take them out of the totals; returns how many there are.

    OUT: work.listed, work.position; the log, from which backtracking puts them back
    """
    parts, work, stacks, listed = state.parts, state.work, state.stacks, 0
    a, now, total = state.tree.attribute[v], stacks.now[0], stacks.total[0]
    for j in range(now.active):
        s = stacks.active[j]
        if parts.code[s, a] != v:
            continue
        work.listed[listed], work.position[listed] = s, j
        listed += 1
        change = stacks.log[now.log]
        change.position, change.part = j, s
        now.log += 1
        # The parts that take its place are added by `settle`, once they are evaluated.
        add_totals(total, parts.record[s], -1.0)
    return listed


@inner_kernel
def split(state: CutArrays, listed: int, a: int) -> None:
    """Split each listed part by the children of its value in attribute ``a``.

    A stable counting sort of its range of ``perm``: the new parts are subranges, so the old part is still a range.

    IN: work.listed
    OUT: new parts on the stack, work.born
    """
    tree, cells, parts, work, stacks = state.tree, state.cells, state.parts, state.work, state.stacks
    perm, tally, group = stacks.perm, work.tally, work.group
    new = stacks.now[0].parts
    for k in range(listed):
        s = work.listed[k]
        v = parts.code[s, a]
        first = tree.first[v]
        children, child_of = tree.end[v] - first, tree.path[tree.depth[v] + 1]
        begin, end = parts.record[s].begin, parts.record[s].end
        for c in range(children + 1):
            tally[c] = 0
        for p in range(begin, end):
            e = perm[p]
            group[p - begin] = e
            tally[child_of[cells.code[e, a]] - first + 1] += 1
        # Counts were written one position up: now tally[c] is where the cells of child c begin.
        for c in range(children):
            tally[c + 1] += tally[c]
        low = 0
        for c in range(children):
            high = tally[c + 1]
            # A child without cells makes no part.
            if high > low:
                for i in range(parts.code.shape[1]):
                    parts.code[new, i] = parts.code[s, i]
                parts.code[new, a] = first + c
                parts.record[new].begin, parts.record[new].end = begin + low, begin + high
                new += 1
            low = high
        # Stable: cells of a child keep their order.
        for p in range(end - begin):
            c = child_of[cells.code[group[p], a]] - first
            perm[begin + tally[c]] = group[p]
            tally[c] += 1
        work.born[k] = new
    stacks.now[0].parts = new


@inner_kernel
def specialize(state: CutArrays, v: int) -> None:
    """Split every active part whose value is ``v`` by the children of ``v``."""
    now, active, work = state.stacks.now[0], state.stacks.active, state.work
    new = now.parts
    listed = list_parts(state, v)
    split(state, listed, state.tree.attribute[v])
    for k in range(listed):
        # The first new part takes the position of the old one, where backtracking puts that back; the others go to
        # the end, which backtracking cuts off.
        active[work.position[k]] = new
        for s in range(new + 1, work.born[k]):
            active[now.active] = s
            now.active += 1
        new = work.born[k]


@inner_kernel
def same_codes(code: Codes, e: int, f: int, but: int) -> bool:
    """Whether two cells have the same codes in all attributes but one."""
    same = True
    for i in range(code.shape[1]):
        same = same and (i == but or code[e, i] == code[f, i])
    return same


@kernel
def merge(state: CutArrays, listed: int, a: int) -> None:
    """Merge the cells of each listed part that differ in attribute ``a`` only.

    All cells of the part go on the stack anew with the part's value in ``a``; cells that become equal become one. They
    are found by hashing their keys, which change by a multiple of the attribute's stride. A cell that merges with no
    other keeps its histogram, and its prices shift by the difference of rates; only real merges are priced afresh.

    IN: work.listed
    OUT: new parts, cells, entries and ranges of perm on their stacks
    """
    cells, parts, rules, work, stacks = state.cells, state.parts, state.rules, state.work, state.stacks
    perm, code, rate, table, now = stacks.perm, cells.code, state.tree.rate, work.table, stacks.now[0]
    m, width, chained = code.shape[1], cells.sums.shape[1], cells.next_tuple.shape[0] > 0
    stride, price = rules.stride[a], rules.price
    first_new = now.cells
    for k in range(listed):
        s = work.listed[k]
        v = parts.code[s, a]
        begin, end = parts.record[s].begin, parts.record[s].end
        now.stamp += 1  # empties the table: slots with an older stamp are free
        # A power of two, less one, of at least twice as many slots as cells: probes stay short.
        mask = 7
        while mask < 2 * (end - begin):
            mask = 2 * mask + 1
        groups = 0
        for p in range(begin, end):
            e = perm[p]
            cell = cells.record[e]
            # A key is a sum of code times stride over the attributes; only the term of one attribute changes.
            key = cell.key + stride * (v - code[e, a])
            # All bits of the key reach the high bits of the product, and none but the lowest its low bits.
            h = np.int64(np.uint64(key) * _SPREAD >> np.uint64(34)) & mask
            while table[h].stamp == now.stamp:
                other = now.cells + table[h].group
                if cells.record[other].key == key and (rules.exact_keys or same_codes(code, e, other, a)):
                    break
                h = h + 1 if h < mask else 0
            if table[h].stamp != now.stamp:
                table[h].group, table[h].stamp = groups, now.stamp
                new = now.cells + groups
                for i in range(m):
                    code[new, i] = code[e, i]
                code[new, a] = v
                more = 0.0
                if price <= SUMS:
                    more = (rate[v] - rate[code[e, a]]) * (cell.rows if price == SEPARABLE else cells.sums[e, a])
                copy_cell(cell, cells.record[new], more, rules.suppression == CLASS_VALUES)
                cells.record[new].key = key
                for c in range(width):
                    cells.sums[new, c] = cells.sums[e, c]
                work.tally[groups] = 1
                work.group[p - begin] = groups
                groups += 1
            else:
                g = table[h].group
                merged = cells.record[now.cells + g]
                merged.rows += cell.rows
                # Not priced yet: its price is no sum of those of its cells once rows are suppressed.
                merged.kept = -1.0
                for c in range(width):
                    cells.sums[now.cells + g, c] += cells.sums[e, c]
                # Two chains of tuples are joined in O(1); the last tuple of each cell is where to cut again.
                if chained:
                    cells.next_tuple[merged.last_tuple] = cell.first_tuple
                    merged.last_tuple = cell.last_tuple
                work.tally[g] += 1
                work.group[p - begin] = g
        if groups < end - begin:
            merge_histograms(state, begin, end, groups)
        for i in range(m):
            parts.code[now.parts, i] = parts.code[s, i]
        part = parts.record[now.parts]
        part.begin, part.end = now.perm, now.perm + groups
        for g in range(groups):
            perm[now.perm + g] = now.cells + g
        now.parts += 1
        now.cells += groups
        now.perm += groups
    price_cells(state, first_new, now.cells)


@inner_kernel
def copy_cell(source: CutCell, target: CutCell, more: float, hides: bool) -> None:
    """Copy a cell whose rows cost ``more`` now if published; with ``hides`` suppressed rows are published too."""
    target.first_entry, target.end_entry = source.first_entry, source.end_entry
    target.first_tuple, target.last_tuple = source.first_tuple, source.last_tuple
    target.rows, target.kept = source.rows, source.kept
    target.floor, target.alone = source.floor + more, source.alone + more * (source.kept / source.rows)
    target.suppressed = source.suppressed + (more if hides else 0.0)
    target.margin = max(0.0, source.margin - more / source.rows)


@inner_kernel
def merge_histograms(state: CutArrays, begin: int, end: int, groups: int) -> None:
    """Add up the histograms of the cells ``perm[begin:end]`` that merged, on top of the stack of entries.

    The old cells are sorted by new cell into free space of ``perm``, beyond where the new cells will be listed.

    IN: work.group, the new cell of each; work.tally, how many went to each
    """
    cells, work, perm, now = state.cells, state.work, state.stacks.perm, state.stacks.now[0]
    tally, joint = work.tally, work.joint
    base = now.perm + groups
    low = base
    for g in range(groups):
        # From the size of each new cell to where its old cells begin.
        size = tally[g]
        tally[g] = low
        low += size
    for p in range(begin, end):
        g = work.group[p - begin]
        perm[tally[g]] = perm[p]
        tally[g] += 1
    low, top = base, now.entries
    for g in range(groups):
        high = tally[g]
        if high - low > 1:
            start = top
            for p in range(low, high):
                cell = cells.record[perm[p]]
                for q in range(cell.first_entry, cell.end_entry):
                    i = cells.value[q]
                    # First occurrence of this entry: `joint` is all zeros between two cells, and counts are positive.
                    if joint[i] == 0:
                        cells.value[top] = i
                        top += 1
                    joint[i] += cells.count[q]
            for q in range(start, top):
                cells.count[q] = joint[cells.value[q]]
                joint[cells.value[q]] = 0
            merged = cells.record[now.cells + g]
            merged.first_entry, merged.end_entry = start, top
        low = high
    now.entries = top


@kernel
def lock(state: CutArrays, v: int) -> None:
    """Merge the cells under ``v`` that differ in nothing else."""
    new = state.stacks.now[0].parts
    listed = list_parts(state, v)
    merge(state, listed, state.tree.attribute[v])
    for k in range(listed):
        state.stacks.active[state.work.position[k]] = new + k


@inner_kernel
def room_for_step(state: CutArrays) -> bool:
    """Whether the stacks have room for one more step of any kind, and for trying another (look-ahead).

    A step makes at most as many parts, cells and entries as there were before the first one.
    """
    cells, now = state.cells, state.stacks.now[0]
    return (
        now.parts + 2 * cells.first_cells <= state.parts.record.shape[0]
        and now.log + cells.first_cells <= state.stacks.log.shape[0]
        and now.cells + 2 * cells.first_cells <= cells.record.shape[0]
        and now.entries + 2 * cells.first_entries <= cells.value.shape[0]
        and now.perm + 4 * cells.first_cells <= state.stacks.perm.shape[0]
    )


@kernel
def has_room(state: CutArrays) -> bool:
    """Whether the stacks have room for one more step; see :func:`room_for_step`."""
    return room_for_step(state)


@kernel
def step_down(state: CutArrays, position: int, decision: int) -> None:
    """Specialize or lock the open value at a position; the parts it makes are evaluated by :func:`settle`."""
    tree, stacks = state.tree, state.stacks
    now, frame, v = stacks.now[0], stacks.frame[stacks.now[0].depth], stacks.open[position]
    copy_heights(now, frame)
    copy_totals(stacks.total[0], frame)
    frame.value, frame.position, frame.decision, frame.forced = v, position, decision, 0
    now.depth += 1
    now.open -= 1
    # The last open value takes the position; backtracking swaps them back.
    stacks.open[position] = stacks.open[now.open]
    if decision == SPECIALIZED:
        specialize(state, v)
        stacks.mark[v] = 0
        for c in range(tree.first[v], tree.end[v]):
            stacks.mark[c] = 1
            if tree.end[c] > tree.first[c]:
                stacks.open[now.open] = c
                now.open += 1
    else:
        lock(state, v)


@inner_kernel
def carry_over(state: CutArrays, log: int) -> None:
    """Leave the numbers of the parts of a locked value as they were, until a part is split (no update, Fig. 9)."""
    stacks, record = state.stacks, state.parts.record
    for entry in range(log, stacks.now[0].log):
        old, new = record[stacks.log[entry].part], record[stacks.active[stacks.log[entry].position]]
        new.bound, new.cost, new.lost, new.gone = old.bound, old.cost, old.lost, old.gone
        new.wrong, new.dead, new.need = old.wrong, old.dead, old.need
        new.floor, new.mixed, new.full = old.floor, old.mixed, old.full


@kernel
def settle(state: CutArrays, bounds: bool) -> None:
    """Evaluate the parts the last step made, and add them to the totals."""
    stacks, now = state.stacks, state.stacks.now[0]
    frame = stacks.frame[now.depth - 1]
    first = frame.parts
    if frame.decision == LOCKED and not state.rules.update:
        carry_over(state, frame.log)
    else:
        evaluate_parts(state, first, now.parts, False, bounds)
    for s in range(first, now.parts):
        add_totals(stacks.total[0], state.parts.record[s], 1.0)


@kernel
def backtrack(state: CutArrays) -> None:
    """Undo the last step.

    Split ranges of ``perm`` need no repair: they hold the same cells in another order. Chains of tuples are cut where
    locking had joined them.
    """
    tree, cells, stacks = state.tree, state.cells, state.stacks
    now = stacks.now[0]
    now.depth -= 1
    frame = stacks.frame[now.depth]
    v, position = frame.value, frame.position
    for entry in range(now.log - 1, frame.log - 1, -1):
        s = stacks.log[entry].part
        stacks.active[stacks.log[entry].position] = s
        if cells.next_tuple.shape[0] > 0 and frame.decision == LOCKED:
            # `last_tuple` of the old cells is unchanged, as merging wrote to copies.
            for p in range(state.parts.record[s].begin, state.parts.record[s].end):
                cells.next_tuple[cells.record[stacks.perm[p]].last_tuple] = -1
    copy_heights(frame, now)
    stacks.open[now.open - 1] = stacks.open[position]
    stacks.open[position] = v
    if frame.decision == SPECIALIZED:
        stacks.mark[v] = 1
        for c in range(tree.first[v], tree.end[v]):
            stacks.mark[c] = 0
    copy_totals(frame, stacks.total[0])


@kernel
def list_tuples(state: CutArrays, begin: int, end: int, of_parts: bool, tuples: Codes, owner: Codes) -> int:
    """List the tuples of a range of cells, or of parts, and the index within the range each belongs to.

    OUT: tuples, owner; returns how many there are
    """
    cells, perm, found = state.cells, state.stacks.perm, 0
    for s in range(begin, end):
        low, high = s, s + 1
        if of_parts:
            low, high = state.parts.record[s].begin, state.parts.record[s].end
        for p in range(low, high):
            e = perm[p] if of_parts else p
            t = cells.record[e].first_tuple
            while t >= 0:
                tuples[found], owner[found] = t, s - begin
                found += 1
                t = cells.next_tuple[t]
    return found
