"""The search over cuts: depth first, each open value first specialized and then locked.

Before, a greedy descent and a local search find a good cut to compare with. A branch is left where its bound reaches
the cost of the best cut, or of the worst of those that are kept.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import kernel
from discreet.kernels.cut_ahead import EITHER, NEITHER, choose_ahead, look_ahead
from discreet.kernels.cut_bounds import look_at
from discreet.kernels.cut_moves import go_up, has_room, settle, step_down
from discreet.kernels.cut_state import (
    ACTIVE,
    AHEAD,
    ASK,
    BEST,
    BOUND,
    BOUND_LOCKED,
    BOUND_SPECIALIZED,
    COST,
    DEAD,
    DEPTH,
    DONE,
    DOWN,
    EXAMINED,
    FORESEEN,
    GIVEN,
    GONE,
    GROW,
    INFEASIBLE,
    LIMIT,
    LOCKED,
    LOST,
    ONLY,
    OPEN,
    OVER_BUDGET,
    PAUSE,
    PHASE,
    PLACE,
    PRICE,
    SEEN_BEST,
    SETTLE,
    SKIPPED,
    SLOTS,
    SOLUTIONS,
    SPECIALIZED,
    STEP,
    SUMMED,
    UP,
    VALUE,
    WRONG,
    Cells,
    Floats,
    Ints,
    Marks,
    Parts,
    Rules,
    Search,
    Space,
    Tree,
)

__all__ = ["descend", "improve", "open_bound", "run", "start", "to_top", "try_cut"]

_ROUNDING = 1e-13


@kernel
def try_cut(search: Search, rules: Rules) -> None:
    """Keep the cut of the most general recoding if it is one of the best so far."""
    total, mark, count = search.total, search.mark, search.count
    if total[WRONG] > 0.0 or total[GONE] > rules.facts[LIMIT] or total[COST] >= total[BEST]:
        return
    kept = count[SOLUTIONS]
    for s in range(kept):
        same = True
        for v in range(mark.shape[0]):
            if search.best[s, v] != mark[v]:
                same = False
                break
        if same:
            return
    at = kept
    if kept == search.best_cost.shape[0]:
        at = np.argmax(search.best_cost)
    else:
        count[SOLUTIONS] += 1
    search.best_cost[at] = total[COST]
    search.best[at] = mark
    if count[SOLUTIONS] == search.best_cost.shape[0]:
        total[BEST] = search.best_cost.max()
    count[SEEN_BEST] = count[EXAMINED]


@kernel
def add_up(tree: Tree, cells: Cells, parts: Parts, rules: Rules, ws: Space, search: Search, bounds: bool) -> None:
    """Look at all active parts afresh, and at the cut they come from."""
    active, number, total = search.active, parts.number, search.total
    look_at(0, search.count[ACTIVE], True, active, tree, cells, parts, rules, ws, search.perm, bounds)
    for t in range(SUMMED):
        total[t] = 0.0
        for j in range(search.count[ACTIVE]):
            total[t] += number[active[j], t]
    try_cut(search, rules)


@kernel
def start(tree: Tree, cells: Cells, parts: Parts, rules: Rules, ws: Space, search: Search) -> None:
    """Look at the parts there are at first."""
    add_up(tree, cells, parts, rules, ws, search, True)
    if rules.facts[AHEAD] > 0.0:
        look_ahead(0, search.count[SLOTS], tree, cells, parts, rules, ws, search)


@kernel
def choose(tree: Tree, search: Search) -> int:
    """Return the place of the open value to decide next."""
    place = 0
    for p in range(1, search.count[OPEN]):
        if tree.rank[search.open[p]] > tree.rank[search.open[place]]:
            place = p
    return place


@kernel
def may_help(search: Search, rules: Rules) -> bool:
    """Whether something below may be better, as far as the totals tell."""
    total = search.total
    return bool(
        total[DEAD] == 0.0 and total[LOST] <= rules.facts[LIMIT] and total[BOUND] < total[BEST] * (1.0 - _ROUNDING)
    )


@kernel
def hopeless(search: Search, rules: Rules) -> bool:
    """Whether nothing below can be better; counts the reason."""
    total, count = search.total, search.count
    if may_help(search, rules):
        return False
    if total[DEAD] > 0.0:
        count[INFEASIBLE] += 1
    elif total[LOST] > rules.facts[LIMIT]:
        count[OVER_BUDGET] += 1
    elif count[DEPTH] > 0 and search.frame[count[DEPTH] - 1, STEP] == LOCKED:
        count[BOUND_LOCKED] += 1
    else:
        count[BOUND_SPECIALIZED] += 1
    return True


@kernel
def run(
    tree: Tree,
    cells: Cells,
    parts: Parts,
    rules: Rules,
    ws: Space,
    search: Search,
    tuples: int,
    entries: int,
    work: int,
) -> int:
    """Search for a while: returns DONE, PAUSE, GROW if a stack is full, or ASK if there are classes to be judged."""
    count = search.count
    given, ahead = int(rules.facts[PRICE]) == GIVEN, rules.facts[AHEAD] > 0.0
    last = count[EXAMINED] + work
    while True:
        if count[PHASE] == SETTLE:
            settle(tree, cells, parts, rules, ws, search, True)
            if search.frame[count[DEPTH] - 1, STEP] == SPECIALIZED:
                count[EXAMINED] += 1
                try_cut(search, rules)
            if ahead and count[OPEN] > 0 and may_help(search, rules):
                look_ahead(search.frame[count[DEPTH] - 1, SLOTS], count[SLOTS], tree, cells, parts, rules, ws, search)
            count[PHASE] = DOWN
        if count[PHASE] == DOWN:
            if hopeless(search, rules) or count[OPEN] == 0:
                count[PHASE] = UP
                continue
            if count[EXAMINED] >= last:
                return PAUSE
            if not has_room(cells, parts, search, tuples, entries):
                return GROW
            place, how = choose(tree, search), EITHER
            if ahead:
                place, how = choose_ahead(tree, parts, rules, ws, search)
                if how == NEITHER:
                    count[FORESEEN] += 1
                    count[PHASE] = UP
                    continue
            step_down(place, LOCKED if how == LOCKED else SPECIALIZED, tree, cells, parts, rules, ws, search)
            search.frame[count[DEPTH] - 1, ONLY] = how != EITHER
        else:
            if count[DEPTH] == 0:
                return DONE
            frame = search.frame[count[DEPTH] - 1]
            how, place, v, only = frame[STEP], frame[PLACE], frame[VALUE], frame[ONLY]
            go_up(tree, cells, parts, search)
            if how == LOCKED or only:
                continue
            if tree.forced[v]:
                count[SKIPPED] += 1
                continue
            if hopeless(search, rules):
                continue
            step_down(place, LOCKED, tree, cells, parts, rules, ws, search)
        count[PHASE] = SETTLE
        if given:
            return ASK


@kernel
def open_bound(search: Search) -> float:
    """Return a number no cut still to be looked at costs less than."""
    least = search.total[BOUND]
    for d in range(search.count[DEPTH]):
        if search.frame[d, STEP] == SPECIALIZED and search.frame[d, ONLY] == 0:
            least = min(least, search.saved[d, BOUND])
    return least


@kernel
def to_top(tree: Tree, cells: Cells, parts: Parts, search: Search) -> None:
    """Undo every step."""
    while search.count[DEPTH] > 0:
        go_up(tree, cells, parts, search)


@kernel
def walk_to(
    tree: Tree, cells: Cells, parts: Parts, rules: Rules, ws: Space, search: Search, size: Ints, target: Marks
) -> bool:
    """Go from the top to a given cut, and find its cost; returns False if a stack is full."""
    count = search.count
    to_top(tree, cells, parts, search)
    p = 0
    while p < count[OPEN]:
        if target[search.open[p]] == 1:
            p += 1
            continue
        if not has_room(cells, parts, search, size[0], size[1]):
            return False
        step_down(p, SPECIALIZED, tree, cells, parts, rules, ws, search)
        p = 0
    add_up(tree, cells, parts, rules, ws, search, False)
    return True


@kernel
def allowed(search: Search, rules: Rules) -> bool:
    """Whether the cut of the most general recoding may be released."""
    return search.total[WRONG] == 0.0 and search.total[GONE] <= rules.facts[LIMIT]


@kernel
def descend(
    tree: Tree, cells: Cells, parts: Parts, rules: Rules, ws: Space, search: Search, size: Ints, gain: Floats
) -> bool:
    """Specialize again and again the value that lowers the cost most, as long as one does; False if a stack is full.

    ``gain`` remembers what specializing each value was worth when it was last tried: values are tried in that order,
    as long as one may be worth more than the best one tried.
    """
    count, total = search.count, search.total
    while count[OPEN] > 0:
        best, place = -_ROUNDING * abs(total[COST]) - _ROUNDING, -1
        while True:
            top = -1
            for p in range(count[OPEN]):
                if gain[search.open[p]] > best and (top < 0 or gain[search.open[p]] > gain[search.open[top]]):
                    top = p
            if top < 0:
                break
            if not has_room(cells, parts, search, size[0], size[1]):
                return False
            before = total[COST] if allowed(search, rules) else np.inf
            step_down(top, SPECIALIZED, tree, cells, parts, rules, ws, search)
            settle(tree, cells, parts, rules, ws, search, False)
            found = before - total[COST] if allowed(search, rules) else -np.inf
            go_up(tree, cells, parts, search)
            gain[search.open[top]] = found
            if found > best:
                best, place = found, top
        if place < 0:
            break
        v = search.open[place]
        step_down(place, SPECIALIZED, tree, cells, parts, rules, ws, search)
        settle(tree, cells, parts, rules, ws, search, False)
        try_cut(search, rules)
        gain[tree.first[v] : tree.end[v]] = np.inf
    return True


@kernel
def improve(
    tree: Tree,
    cells: Cells,
    parts: Parts,
    rules: Rules,
    ws: Space,
    search: Search,
    size: Ints,
    gain: Floats,
    cut: Marks,
    place: Ints,
    work: int,
) -> int:
    """Take one value of a cut back to its parent and descend from there; go on from whatever is better.

    Starts from ``cut`` and leaves the best cut found in it. ``place`` has the value to try next, and how many were
    tried since the last that helped. Returns DONE, PAUSE after some work, or GROW.
    """
    values = tree.first.shape[0]
    if not walk_to(tree, cells, parts, rules, ws, search, size, cut):
        return GROW
    best = search.total[COST] if allowed(search, rules) else np.inf
    target = cut.copy()
    while place[1] < values:
        u = place[0]
        whole = tree.end[u] > tree.first[u]
        for c in range(tree.first[u], tree.end[u]):
            whole = whole and cut[c] == 1
        if whole:
            if work == 0:
                return PAUSE
            work -= 1
            target[:] = cut
            target[tree.first[u] : tree.end[u]] = 0
            target[u] = 1
            gain[:] = np.inf
            gain[u] = -np.inf
            if not walk_to(tree, cells, parts, rules, ws, search, size, target):
                return GROW
            if not descend(tree, cells, parts, rules, ws, search, size, gain):
                return GROW
            if allowed(search, rules) and search.total[COST] < best * (1.0 - _ROUNDING):
                best = search.total[COST]
                cut[:] = search.mark
                place[1] = -1
        place[1] += 1
        place[0] = u + 1 if u + 1 < values else 0
    return DONE
