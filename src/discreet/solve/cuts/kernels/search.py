"""Branch and bound over cuts: depth first, each open value first specialized and then locked.

This enumerates every cut once (Theorem 1 of the paper). A greedy descent and a local search find an incumbent first. A
branch is pruned once its bound reaches the cost of the incumbent, or of the worst of the cuts kept.
"""

from __future__ import annotations

import numpy as np

from discreet.solve.cuts.kernels.bounds import evaluate_parts
from discreet.solve.cuts.kernels.look_ahead import EITHER, NEITHER, choose_ahead, look_ahead
from discreet.solve.cuts.kernels.moves import add_totals, backtrack, room_for_step, settle, step_down
from discreet.solve.cuts.kernels.state import (
    BACKTRACK,
    DESCEND,
    DONE,
    EVALUATE,
    EXTERNAL,
    GROW,
    LOCKED,
    PAUSE,
    SETTLE,
    SPECIALIZED,
    Cursor,
    CutArrays,
    CutStacks,
    CutTotals,
    Floats,
    Marks,
)
from discreet.solve.kernels.jit import inner_kernel, kernel

__all__ = ["back_to_top", "descend", "improve", "keep_if_better", "open_bound", "run", "start"]

_ROUNDING = 1e-13


@kernel
def keep_if_better(state: CutArrays) -> None:
    """Keep the most general cut if it is allowed and one of the best so far.

    OUT: stacks.best, stacks.best_cost, and the cost to beat
    """
    stacks, mark = state.stacks, state.stacks.mark
    now, total = stacks.now[0], stacks.total[0]
    cost = total.cost if state.rules.summed else total.exact
    if not allowed(state) or cost >= total.best:
        return
    kept = now.solutions
    for s in range(kept):
        same = True
        for v in range(mark.shape[0]):
            if stacks.best[s, v] != mark[v]:
                same = False
                break
        if same:
            return
    at = kept
    if kept == stacks.best_cost.shape[0]:
        # The list is full: the dearest of it is replaced.
        at = np.argmax(stacks.best_cost)
    else:
        now.solutions += 1
    stacks.best_cost[at] = cost
    stacks.best[at] = mark
    # Until the list is full any cut is good enough, and nothing is pruned by cost.
    if now.solutions == stacks.best_cost.shape[0]:
        total.best = stacks.best_cost.max()


@inner_kernel
def allowed(state: CutArrays) -> bool:
    """Whether the most general cut may be released."""
    total = state.stacks.total[0]
    return bool(total.wrong == 0.0 and total.gone <= state.rules.limit)


@kernel
def evaluate_all(state: CutArrays, bounds: bool) -> None:
    """Evaluate all active parts afresh, and the cut they come from."""
    stacks = state.stacks
    now, total = stacks.now[0], stacks.total[0]
    evaluate_parts(state, 0, now.active, True, bounds)
    total.bound, total.cost, total.lost, total.gone, total.wrong, total.dead = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(now.active):
        add_totals(total, state.parts.record[stacks.active[j]], 1.0)
    keep_if_better(state)


@kernel
def start(state: CutArrays) -> None:
    """Evaluate the parts of the most general cut."""
    evaluate_all(state, True)
    if state.rules.look_ahead > 0:
        look_ahead(state, 0, state.stacks.now[0].parts)


@inner_kernel
def choose(rank: Floats, stacks: CutStacks) -> int:
    """Return the position of the open value with the highest rank (section VI-A)."""
    position = 0
    for p in range(1, stacks.now[0].open):
        if rank[stacks.open[p]] > rank[stacks.open[position]]:
            position = p
    return position


@inner_kernel
def may_improve(total: CutTotals, limit: float) -> bool:
    """Whether a reachable cut may beat the incumbent, as far as the totals tell."""
    return bool(
        total.dead == 0.0 and total.lost <= limit and total.bound + total.surplus < total.best * (1.0 - _ROUNDING)
    )


@inner_kernel
def pruned(state: CutArrays) -> bool:
    """Whether no reachable cut can beat the incumbent; counts the reason."""
    now, total, limit = state.stacks.now[0], state.stacks.total[0], state.rules.limit
    if may_improve(total, limit):
        return False
    if total.dead > 0.0:
        now.infeasible += 1
    elif total.lost > limit:
        now.over_budget += 1
    elif now.depth > 0 and state.stacks.frame[now.depth - 1].decision == LOCKED:
        now.bound_locked += 1
    else:
        now.bound_specialized += 1
    return True


@kernel
def run(state: CutArrays, work: int) -> int:
    """Search until ``work`` more cuts are examined; returns DONE, PAUSE, GROW or EVALUATE.

    All state is in the arrays, so that it can be called again after each of them.
    """
    tree, rules, stacks = state.tree, state.rules, state.stacks
    now, total = stacks.now[0], stacks.total[0]
    last = now.examined + work
    while True:
        if now.phase == SETTLE:
            settle(state, True)
            if stacks.frame[now.depth - 1].decision == SPECIALIZED:
                # Locking keeps the most general cut, which was examined already; only specializing makes a new one.
                now.examined += 1
                keep_if_better(state)
            if rules.look_ahead > 0 and now.open > 0 and may_improve(total, rules.limit):
                look_ahead(state, stacks.frame[now.depth - 1].parts, now.parts)
            now.phase = DESCEND
        if now.phase == DESCEND:
            if pruned(state) or now.open == 0:
                now.phase = BACKTRACK
                continue
            if now.examined >= last:
                return PAUSE
            if not room_for_step(state):
                return GROW
            position, decision = choose(tree.rank, stacks), EITHER
            if rules.look_ahead > 0:
                position, decision = choose_ahead(state)
                if decision == NEITHER:
                    now.foreseen += 1
                    now.phase = BACKTRACK
                    continue
            step_down(state, position, LOCKED if decision == LOCKED else SPECIALIZED)
            stacks.frame[now.depth - 1].forced = decision != EITHER
        else:
            if now.depth == 0:
                return DONE
            frame = stacks.frame[now.depth - 1]
            decision, position, v, forced = frame.decision, frame.position, frame.value, frame.forced
            backtrack(state)
            # Both branches are done, or look-ahead ruled the other one out.
            if decision == LOCKED or forced:
                continue
            # Locked, the value would have the classes of its only child with rows, which were examined.
            if tree.forced[v]:
                now.skipped += 1
                continue
            # The incumbent may have become better since the value was specialized.
            if pruned(state):
                continue
            step_down(state, position, LOCKED)
        now.phase = SETTLE
        if rules.price == EXTERNAL:
            # Classes that kernels do not know are evaluated in numpy; the next call goes on with SETTLE.
            return EVALUATE


@kernel
def open_bound(stacks: CutStacks) -> float:
    """Return a lower bound for all cuts not examined yet.

    They are below the current node, or below a value on the path to it that is still to be locked.
    """
    least = stacks.total[0].bound + stacks.total[0].surplus
    for d in range(stacks.now[0].depth):
        # The totals before the step bound both of its branches, so also the one that is left.
        if stacks.frame[d].decision == SPECIALIZED and stacks.frame[d].forced == 0:
            least = min(least, stacks.frame[d].bound + stacks.frame[d].surplus)
    return least


@kernel
def back_to_top(state: CutArrays) -> None:
    """Undo every step."""
    while state.stacks.now[0].depth > 0:
        backtrack(state)


@kernel
def walk_to(state: CutArrays, target: Marks) -> bool:
    """Go from the top to a given cut and evaluate it; returns False if a stack is full."""
    stacks, now = state.stacks, state.stacks.now[0]
    back_to_top(state)
    p = 0
    while p < now.open:
        if target[stacks.open[p]] == 1:
            p += 1
            continue
        if not room_for_step(state):
            return False
        # Positions of open values have changed, so the scan starts again.
        step_down(state, p, SPECIALIZED)
        p = 0
    evaluate_all(state, False)
    return True


@kernel
def descend(state: CutArrays, gain: Floats) -> bool:
    """Specialize the value that lowers the cost most, as long as one does; returns False if a stack is full.

    ``gain`` holds what specializing each value saved when last tried. Values are tried in that order until none may
    save more than the best one tried: gains change little from step to step, so few are tried again.

    IN/OUT: gain, infinite for values never tried
    """
    tree, stacks, now, total = state.tree, state.stacks, state.stacks.now[0], state.stacks.total[0]
    while now.open > 0:
        best, position = -_ROUNDING * abs(total.cost) - _ROUNDING, -1
        # Lazy evaluation, as for submodular functions (Minoux 1978), where old gains are upper bounds. Here a gain may
        # also rise, so the value found need not be the best: the descent only makes an incumbent, and nothing is proven
        # by it.
        while True:
            top = -1
            for p in range(now.open):
                if gain[stacks.open[p]] > best and (top < 0 or gain[stacks.open[p]] > gain[stacks.open[top]]):
                    top = p
            if top < 0:
                break
            if not room_for_step(state):
                return False
            # From a cut that is not allowed, every allowed one is a gain.
            before = total.cost if allowed(state) else np.inf
            step_down(state, top, SPECIALIZED)
            settle(state, False)
            found = before - total.cost if allowed(state) else -np.inf
            backtrack(state)
            gain[stacks.open[top]] = found
            if found > best:
                best, position = found, top
        if position < 0:
            break
        v = stacks.open[position]
        step_down(state, position, SPECIALIZED)
        settle(state, False)
        keep_if_better(state)
        # Its children were never tried; infinite gains put them first.
        gain[tree.first[v] : tree.end[v]] = np.inf
    return True


@kernel
def improve(state: CutArrays, gain: Floats, cut: Marks, cursor: Cursor, work: int) -> int:
    """Local search: take one value of a cut back to its parent, descend from there, and keep what is better.

    IN/OUT: cut, replaced by the best cut found; cursor; gain, scratch
    Returns DONE once every value was tried since the last improvement, PAUSE after ``work`` trials, or GROW.
    """
    tree, total, values = state.tree, state.stacks.total[0], state.tree.first.shape[0]
    if not walk_to(state, cut):
        return GROW
    best = total.cost if allowed(state) else np.inf
    target = cut.copy()
    while cursor.idle < values:
        u = cursor.value
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
            # Specializing the parent at once would only undo the step.
            gain[u] = -np.inf
            if not walk_to(state, target):
                return GROW
            if not descend(state, gain):
                return GROW
            if allowed(state) and total.cost < best * (1.0 - _ROUNDING):
                best = total.cost
                cut[:] = state.stacks.mark
                # A better cut: every value is tried again from here.
                cursor.idle = -1
        cursor.idle += 1
        cursor.value = u + 1 if u + 1 < values else 0
    return DONE
