"""Looking ahead: what the decisions about all open values add to the bound, taken together.

However an open value is decided, the bound of each part with it rises by something: by one amount if the value is
locked, by another if it is specialized. The lesser of the two, each added up over all parts, is lost for certain. The
rises of different values add up too if they have no part in common, as values of one attribute have not. Where a part
has open values in several attributes, each attribute has a share of the part's rises, and the shares add up to 1. What
locking adds to the price of rows that are published in any case needs no sharing: prices add up over attributes.

A value that can only be decided one way is decided that way.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import kernel
from discreet.kernels.cut_bounds import look_at
from discreet.kernels.cut_moves import merge, split
from discreet.kernels.cut_state import (
    ACTIVE,
    AHEAD,
    BEGIN,
    BEST,
    BOUND,
    CELLS,
    DEAD,
    END,
    ENTRIES,
    FLOOR,
    FULL,
    KIND,
    LOCKED,
    MIXED,
    NONE,
    OPEN,
    PLACES,
    PRICE,
    SHARE,
    SLOTS,
    SPECIALIZED,
    SUMS,
    VIOLATING_RECORDS,
    Cells,
    Floats,
    Parts,
    Rules,
    Search,
    Space,
    Tree,
)

__all__ = ["EITHER", "NEITHER", "choose_ahead", "look_ahead"]

EITHER, NEITHER = 2, 3
"""How a value may be decided: SPECIALIZED, LOCKED, or one of these."""
_COUNTS = 4
"""The column of a value that says how much locking it counts for the bound."""
_TURNS = 4
"""How often shares are tried."""
_STEP = 1.0
"""How fast they change."""
_ROUNDING = 1e-11


@kernel
def all_published(rules: Rules) -> bool:
    """Whether all rows are published, at a price that adds up over attributes."""
    kind = int(rules.facts[KIND])
    return (kind == NONE or kind > VIOLATING_RECORDS) and int(rules.facts[PRICE]) <= SUMS


@kernel
def list_mixed(first: int, last: int, a: int, cells: Cells, parts: Parts, ws: Space, search: Search) -> int:
    """List the parts of a range of the stack whose cells differ in an attribute; returns how many there are.

    Those that are lost anyway are left out.
    """
    span, number, perm, code, which, listed = parts.span, parts.number, search.perm, cells.code, ws.which, 0
    for s in range(first, last):
        begin, end = span[s, BEGIN], span[s, END]
        if number[s, FULL] > 0.0:
            continue
        for p in range(begin + 1, end):
            if code[perm[p], a] != code[perm[begin], a]:
                which[listed] = s
                listed += 1
                break
    return listed


@kernel
def look_ahead(
    first: int, last: int, tree: Tree, cells: Cells, parts: Parts, rules: Rules, ws: Space, search: Search
) -> None:
    """Set how much locking or specializing their value in each attribute raises the bounds of new parts."""
    number, rise, which, count, active = parts.number, parts.rise, ws.which, search.count, search.active
    published = all_published(rules)
    slots, bottom, places, entries = count[SLOTS], count[CELLS], count[PLACES], count[ENTRIES]
    rise[first:last] = 0.0
    number[first:last, MIXED] = 0.0
    for a in range(cells.code.shape[1]):
        listed = list_mixed(first, last, a, cells, parts, ws, search)
        if listed == 0:
            continue
        for how in (LOCKED, SPECIALIZED):
            if how == LOCKED:
                merge(listed, a, tree, cells, parts, rules, ws, search)
            else:
                split(listed, a, tree, cells, parts, ws, search)
            look_at(slots, count[SLOTS], False, active, tree, cells, parts, rules, ws, search.perm, True)
            slot = slots
            for k in range(listed):
                s = which[k]
                before, after = number[s, BOUND], 0.0
                if published:
                    before -= number[s, FLOOR]
                while slot < (slots + k + 1 if how == LOCKED else ws.born[k]):
                    after += np.inf if number[slot, DEAD] > 0.0 else number[slot, BOUND]
                    if published:
                        after -= number[slot, FLOOR]
                    slot += 1
                if np.isfinite(before) and after > before * (1.0 + _ROUNDING):
                    rise[s, a, how] = after - before
            count[SLOTS], count[CELLS], count[PLACES], count[ENTRIES] = slots, bottom, places, entries
        for k in range(listed):
            s = which[k]
            if rise[s, a, LOCKED] + rise[s, a, SPECIALIZED] > 0.0:
                rise[s, a, SHARE] = 1.0
                number[s, MIXED] += 1.0
    for s in range(first, last):
        if number[s, MIXED] > 0.0:
            for a in range(cells.code.shape[1]):
                rise[s, a, SHARE] /= number[s, MIXED]


@kernel
def add_rises(tree: Tree, parts: Parts, lifted: bool, ws: Space, search: Search) -> float:
    """Set what each way to decide each open value adds to the bound; returns the sum of the lesser ones."""
    number, rise, code, active, opened = parts.number, parts.rise, parts.code, search.active, search.open
    added = ws.rise
    for p in range(search.count[OPEN]):
        v = opened[p]
        added[v] = 0.0
        if lifted:
            added[v, LOCKED] = added[v, 2 + LOCKED] = tree.lift[v]
    for j in range(search.count[ACTIVE]):
        s = active[j]
        if number[s, MIXED] > 0.0:
            for a in range(code.shape[1]):
                v, share = code[s, a], rise[s, a, SHARE]
                if share > 0.0:
                    for how in range(2):
                        added[v, how] += share * rise[s, a, how]
                        added[v, 2 + how] += rise[s, a, how]
    least = 0.0
    for p in range(search.count[OPEN]):
        v = opened[p]
        least += min(added[v, LOCKED], added[v, SPECIALIZED])
    return least


@kernel
def share_anew(parts: Parts, ws: Space, search: Search) -> None:
    """Give a larger share of a part to the attributes where its rises count, because they are of the lesser way."""
    number, rise, code, active, opened = parts.number, parts.rise, parts.code, search.active, search.open
    added = ws.rise
    for p in range(search.count[OPEN]):
        v = opened[p]
        locked, split_up = added[v, LOCKED], added[v, SPECIALIZED]
        counts = 0.5
        if locked < np.inf and split_up < np.inf and locked + split_up > 0.0:
            counts = split_up * split_up / (locked * locked + split_up * split_up)
        elif locked != split_up:
            counts = 1.0 if locked < split_up else 0.0
        added[v, _COUNTS] = counts
    for j in range(search.count[ACTIVE]):
        s = active[j]
        if number[s, MIXED] < 2.0:
            continue
        most = 0.0
        for a in range(code.shape[1]):
            if rise[s, a, SHARE] > 0.0:
                most = max(most, slope(rise[s, a], added[code[s, a], _COUNTS]))
        if most == 0.0:
            continue
        total = 0.0
        for a in range(code.shape[1]):
            if rise[s, a, SHARE] > 0.0:
                more = slope(rise[s, a], added[code[s, a], _COUNTS]) / most
                rise[s, a, SHARE] = max(0.02, rise[s, a, SHARE] * (1.0 + _STEP * more))
                total += rise[s, a, SHARE]
        for a in range(code.shape[1]):
            rise[s, a, SHARE] /= total


@kernel
def slope(rise: Floats, counts: float) -> float:
    """Return what a share is worth, if a locked value counts that much, and a specialized one the rest."""
    locked, split_up = rise[LOCKED], rise[SPECIALIZED]
    return counts * (locked if locked < np.inf else 0.0) + (1.0 - counts) * (split_up if split_up < np.inf else 0.0)


@kernel
def choose_ahead(tree: Tree, parts: Parts, rules: Rules, ws: Space, search: Search) -> tuple[int, int]:
    """Return the place of the open value to decide next, and how it may be decided.

    Values with one way left come first, then those whose decision raises the bound most, or those of highest rank.
    """
    by_rise = rules.facts[AHEAD] > 1.0
    opened, added, bound = search.open, ws.rise, search.total[BOUND]
    limit = search.total[BEST] * (1.0 - _ROUNDING)
    lifted = all_published(rules)
    for turn in range(_TURNS):
        if turn > 0:
            share_anew(parts, ws, search)
        least = bound + add_rises(tree, parts, lifted, ws, search)
        if least >= limit:
            return 0, NEITHER
        for p in range(search.count[OPEN]):
            v = opened[p]
            rest = least - min(added[v, LOCKED], added[v, SPECIALIZED])
            for how in range(2):
                if max(rest + added[v, how], bound + added[v, 2 + how]) >= limit:
                    return p, 1 - how
    place, most = 0, -np.inf
    for p in range(search.count[OPEN]):
        v = opened[p]
        worth = added[v, 2 + LOCKED] + added[v, 2 + SPECIALIZED] if by_rise else tree.rank[v]
        if worth > most:
            place, most = p, worth
    return place, EITHER
