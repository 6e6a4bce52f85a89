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
    BEGIN,
    BEST,
    BOUND,
    CELLS,
    DEAD,
    END,
    ENTRIES,
    FLOOR,
    KIND,
    LOCKED,
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
    Parts,
    Rules,
    Search,
    Space,
    Tree,
)

__all__ = ["EITHER", "NEITHER", "choose_ahead", "look_ahead"]

EITHER, NEITHER = 2, 3
"""How a value may be decided: SPECIALIZED, LOCKED, or one of these."""
_ROUNDING = 1e-11


@kernel
def all_published(rules: Rules) -> bool:
    """Whether all rows are published, at a price that adds up over attributes."""
    kind = int(rules.facts[KIND])
    return (kind == NONE or kind > VIOLATING_RECORDS) and int(rules.facts[PRICE]) <= SUMS


@kernel
def list_mixed(first: int, last: int, a: int, cells: Cells, parts: Parts, ws: Space, search: Search) -> int:
    """List the parts of a range of the stack whose cells differ in an attribute; returns how many there are."""
    span, perm, code, which, listed = parts.span, search.perm, cells.code, ws.which, 0
    for s in range(first, last):
        begin, end = span[s, BEGIN], span[s, END]
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
    number[first:last, SHARE] = 0.0
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
            if rise[which[k], a, LOCKED] + rise[which[k], a, SPECIALIZED] > 0.0:
                number[which[k], SHARE] += 1.0


@kernel
def choose_ahead(tree: Tree, parts: Parts, rules: Rules, ws: Space, search: Search) -> tuple[int, int]:
    """Return the place of the open value to decide next, and how it may be decided."""
    number, rise, code, active, opened = parts.number, parts.rise, parts.code, search.active, search.open
    added, bound, many = ws.rise, search.total[BOUND], search.count[OPEN]
    limit = search.total[BEST] * (1.0 - _ROUNDING)
    lifted = all_published(rules)
    for p in range(many):
        added[opened[p]] = 0.0
    for j in range(search.count[ACTIVE]):
        s = active[j]
        if number[s, SHARE] > 0.0:
            share = 1.0 / number[s, SHARE]
            for a in range(code.shape[1]):
                v = code[s, a]
                for how in range(2):
                    if rise[s, a, how] > 0.0:
                        added[v, how] += share * rise[s, a, how]
                        added[v, 2 + how] += rise[s, a, how]
    for p in range(many):
        v = opened[p]
        if lifted:
            added[v, LOCKED] += tree.lift[v]
            added[v, 2 + LOCKED] += tree.lift[v]
        bound += min(added[v, LOCKED], added[v, SPECIALIZED])
    if bound >= limit:
        return 0, NEITHER
    place, how = 0, EITHER
    for p in range(many):
        v = opened[p]
        rest = bound - min(added[v, LOCKED], added[v, SPECIALIZED])
        for step in range(2):
            if max(rest + added[v, step], search.total[BOUND] + added[v, 2 + step]) >= limit:
                return p, 1 - step
        if tree.rank[v] > tree.rank[opened[place]]:
            place = p
    return place, how
