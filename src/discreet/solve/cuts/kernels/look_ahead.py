"""Look-ahead: what the decisions about all open values add to the bound, taken together.

However an open value is decided, the bound of every part with that value rises: by one amount if the value is locked,
by another if it is specialized. The smaller of the two, each summed over all parts, is certain. Rises of different
values add up as long as no part is counted twice. Values of one attribute have no part in common. A part with open
values in several attributes gives each attribute a share of its rises, and the shares add up to 1: any such shares give
a valid bound, so a few rounds of a multiplicative-weights update look for good ones.

What locking adds to the price of rows that are published in any case needs no sharing, as such prices add up over
attributes (``ValueTree.lift``).

A value with one decision left is decided that way.
"""

from __future__ import annotations

import numpy as np

from discreet.solve.cuts.kernels.bounds import evaluate_parts
from discreet.solve.cuts.kernels.moves import merge, split
from discreet.solve.cuts.kernels.state import LOCKED, NONE, SPECIALIZED, SUMS, VIOLATING_RECORDS, CutArrays, CutRules
from discreet.solve.kernels.jit import inner_kernel, kernel

__all__ = ["EITHER", "NEITHER", "choose_ahead", "look_ahead"]

EITHER, NEITHER = 2, 3
"""How a value may be decided: SPECIALIZED, LOCKED, or one of these."""
_ROUNDS = 4
"""How often shares are renewed."""
_STEP = 1.0
"""How fast they change."""
_LEAST_SHARE = 0.02
"""No share vanishes, so that it can grow again."""
_ROUNDING = 1e-11


@inner_kernel
def all_published(rules: CutRules) -> bool:
    """Whether all rows are published, at a price that adds up over attributes."""
    kind = rules.suppression
    return (kind == NONE or kind > VIOLATING_RECORDS) and rules.price <= SUMS


@inner_kernel
def list_mixed(state: CutArrays, first: int, last: int, a: int) -> int:
    """List the parts of a range of the stack whose cells differ in attribute ``a``; returns how many there are.

    Parts that are lost anyway are left out: no decision raises their bound.

    OUT: work.listed
    """
    cells, parts, perm, listed = state.cells, state.parts, state.stacks.perm, 0
    for s in range(first, last):
        part = parts.record[s]
        if part.full > 0.0:
            continue
        for p in range(part.begin + 1, part.end):
            if cells.code[perm[p], a] != cells.code[perm[part.begin], a]:
                state.work.listed[listed] = s
                listed += 1
                break
    return listed


@kernel
def look_ahead(state: CutArrays, first: int, last: int) -> None:
    """Set how much each decision about each attribute's value raises the bounds of new parts.

    Each decision is tried on top of the stacks, evaluated and popped. That costs about twice the attributes as much as
    a step, and pays where few cuts are left to prune one by one.

    OUT: parts.rise, parts.share, and ``mixed`` of the parts
    """
    cells, parts, work, now = state.cells, state.parts, state.work, state.stacks.now[0]
    published = all_published(state.rules)
    top, bottom, perm, entries = now.parts, now.cells, now.perm, now.entries
    parts.rise[first:last] = 0.0
    parts.share[first:last] = 0.0
    for s in range(first, last):
        parts.record[s].mixed = 0.0
    for a in range(cells.code.shape[1]):
        listed = list_mixed(state, first, last, a)
        if listed == 0:
            continue
        for decision in (LOCKED, SPECIALIZED):
            if decision == LOCKED:
                merge(state, listed, a)
            else:
                split(state, listed, a)
            evaluate_parts(state, top, now.parts, False, True)
            new = top
            for k in range(listed):
                s = work.listed[k]
                before, after = parts.record[s].bound, 0.0
                if published:
                    before -= parts.record[s].floor  # the rise of floors is counted by tree.lift
                # Locking makes one part of each, specializing those up to `born`.
                while new < (top + k + 1 if decision == LOCKED else work.born[k]):
                    part = parts.record[new]
                    after += np.inf if part.dead > 0.0 else part.bound
                    if published:
                        after -= part.floor
                    new += 1
                # A part may already be impossible; then no decision adds anything, and infinity less infinity is no
                # number.
                if np.isfinite(before) and after > before * (1.0 + _ROUNDING):
                    parts.rise[s, a, decision] = after - before
            # What was tried is popped; of what was there before, only the order within ranges of perm has changed.
            now.parts, now.cells, now.perm, now.entries = top, bottom, perm, entries
        for k in range(listed):
            s = work.listed[k]
            if parts.rise[s, a, LOCKED] + parts.rise[s, a, SPECIALIZED] > 0.0:
                parts.share[s, a] = 1.0
                parts.record[s].mixed += 1.0
    # Equal shares at first; `mixed` is the number of attributes that have one.
    for s in range(first, last):
        if parts.record[s].mixed > 0.0:
            for a in range(cells.code.shape[1]):
                parts.share[s, a] /= parts.record[s].mixed


@inner_kernel
def add_rises(state: CutArrays, lifted: bool) -> float:
    """Sum up what each decision about each open value adds to the bound; returns the sum of the smaller ones.

    OUT: work.shared_rise, work.full_rise
    """
    parts, stacks, now = state.parts, state.stacks, state.stacks.now[0]
    shared, full = state.work.shared_rise, state.work.full_rise
    for p in range(now.open):
        v = stacks.open[p]
        lift = state.tree.lift[v] if lifted else 0.0
        shared[v, LOCKED], full[v, LOCKED] = lift, lift
        shared[v, SPECIALIZED], full[v, SPECIALIZED] = 0.0, 0.0
    for j in range(now.active):
        s = stacks.active[j]
        if parts.record[s].mixed > 0.0:
            for a in range(parts.code.shape[1]):
                v, share = parts.code[s, a], parts.share[s, a]
                if share > 0.0:
                    for decision in range(2):
                        shared[v, decision] += share * parts.rise[s, a, decision]
                        full[v, decision] += parts.rise[s, a, decision]
    least = 0.0
    for p in range(now.open):
        v = stacks.open[p]
        least += min(shared[v, LOCKED], shared[v, SPECIALIZED])
    return least


@inner_kernel
def renew_shares(state: CutArrays) -> None:
    """Give a larger share of a part to the attributes where its rises count.

    The sum of minima in :func:`add_rises` grows only by the smaller decision of each value. Its slope is smoothed:
    decisions of about equal rise count half each (``lock_weight``), so that shares do not jump back and forth.
    """
    parts, stacks, now = state.parts, state.stacks, state.stacks.now[0]
    shared, lock_weight = state.work.shared_rise, state.work.lock_weight
    for p in range(now.open):
        v = stacks.open[p]
        locked, split_up = shared[v, LOCKED], shared[v, SPECIALIZED]
        weight = 0.5
        if locked < np.inf and split_up < np.inf and locked + split_up > 0.0:
            weight = split_up * split_up / (locked * locked + split_up * split_up)
        elif locked != split_up:
            weight = 1.0 if locked < split_up else 0.0
        lock_weight[v] = weight
    for j in range(now.active):
        s = stacks.active[j]
        if parts.record[s].mixed < 2.0:
            continue
        most = 0.0
        for a in range(parts.code.shape[1]):
            if parts.share[s, a] > 0.0:
                most = max(most, slope(state, s, a))
        if most == 0.0:
            continue
        total = 0.0
        for a in range(parts.code.shape[1]):
            if parts.share[s, a] > 0.0:
                more = slope(state, s, a) / most
                parts.share[s, a] = max(_LEAST_SHARE, parts.share[s, a] * (1.0 + _STEP * more))
                total += parts.share[s, a]
        for a in range(parts.code.shape[1]):
            parts.share[s, a] /= total


@inner_kernel
def slope(state: CutArrays, s: int, a: int) -> float:
    """Return how fast the bound grows with the share of an attribute in a part."""
    rise, weight = state.parts.rise, state.work.lock_weight[state.parts.code[s, a]]
    locked, split_up = rise[s, a, LOCKED], rise[s, a, SPECIALIZED]
    return weight * (locked if locked < np.inf else 0.0) + (1.0 - weight) * (split_up if split_up < np.inf else 0.0)


@kernel
def choose_ahead(state: CutArrays) -> tuple[int, int]:
    """Return the position of the open value to decide next, and how it may be decided.

    A value with one decision left comes first, then the one whose decisions raise the bound most, or that of the
    highest rank. NEITHER says that no reachable cut beats the incumbent.
    """
    stacks, now = state.stacks, state.stacks.now[0]
    shared, full, bound = state.work.shared_rise, state.work.full_rise, stacks.total[0].bound
    limit = stacks.total[0].best * (1.0 - _ROUNDING)
    lifted = all_published(state.rules)
    for turn in range(_ROUNDS):
        if turn > 0:
            renew_shares(state)
        least = bound + add_rises(state, lifted)
        if least >= limit:
            return 0, NEITHER
        for p in range(now.open):
            v = stacks.open[p]
            rest = least - min(shared[v, LOCKED], shared[v, SPECIALIZED])
            for decision in range(2):
                # Two bounds of the branch: its shared rise beside all others, or its full rise by itself.
                if max(rest + shared[v, decision], bound + full[v, decision]) >= limit:
                    return p, 1 - decision
    position, most = 0, -np.inf
    for p in range(now.open):
        v = stacks.open[p]
        worth = full[v, LOCKED] + full[v, SPECIALIZED] if state.rules.look_ahead > 1 else state.tree.rank[v]
        if worth > most:
            position, most = p, worth
    return position, EITHER
