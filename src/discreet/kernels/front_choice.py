"""Which node to evaluate next when looking for a front: one that may be on it, or one that closes many others.

How many rows are in classes worse than some value falls smoothly up the lattice, so that a regression over the levels
tells well what value a node will have: the one at which those rows reach the limit. With it every candidate is
given a count of the open nodes its evaluation would close, and the largest count wins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.fronts import (
    CHANGED,
    DUE,
    EVALUATED,
    EVALUATED_NODES,
    FRONT,
    LEAST,
    LOSS,
    LOW,
    MOST,
    OPEN,
    OPEN_NODES,
    TOTAL,
    Fronts,
    levels_of,
    renew,
)

__all__ = ["Guess", "choose", "learn"]

_REFRESH = 25
"""Evaluations after which all candidates are counted afresh."""
_HUNT = 100
"""Evaluations after which a node is tried that may be on the front."""
_FAILURES = 4
"""Nodes in a row that turned out not to be on the front before the hunt is given up for a while."""
_CERTAIN = 10
"""How much more a node counts that is closed for certain than one that may be closed later."""
_SAMPLE = 1024
"""Open nodes looked at at most; candidates four times as many."""


class Guess(NamedTuple):
    """What is learnt about nodes that were not evaluated, and the candidates at hand."""

    grid: NDArray[np.float64]
    """(G,) values, rising."""
    edge: NDArray[np.float64]
    """The logarithm of the limit on suppressed rows, what is added to rows before taking logarithms, and
    whether values are whole numbers."""
    weight: NDArray[np.float64]
    """(G + 2, P) for each value the rows in worse classes; then the logarithm of the total; then the extra."""
    spread: NDArray[np.float64]
    """(G + 1, P, P) covariances."""
    table: NDArray[np.float64]
    """(G + 2, m, levels) the weights added up level by level."""
    sample: NDArray[np.int64]
    """(_SAMPLE,) open nodes."""
    candidate: NDArray[np.int64]
    """(4 _SAMPLE,) open nodes."""
    bits: NDArray[np.uint64]
    """(2, 4 _SAMPLE, words) both as sets of steps up."""
    mean: NDArray[np.float64]
    """(5, _SAMPLE) of each sampled node its low, its due, what these may become, and whether it is still open."""
    hope: NDArray[np.float64]
    """(2, 4 _SAMPLE) of each candidate: what is due below it, and what it will raise the low of those above to."""
    claim: NDArray[np.int64]
    """(4 _SAMPLE,) how much each candidate closed when it was counted last."""
    heap: NDArray[np.int64]
    """(4 _SAMPLE,) candidates by claim."""
    count: NDArray[np.int64]
    """By position: sampled nodes, candidates on the heap, evaluations since the last refresh, failures, hunting, seed,
    whether totals are known beforehand, evaluations until the next hunt."""


SAMPLED, HEAPED, SINCE, FAILURES, HUNTING, SEED, TOTALS, NEXT = range(8)


@kernel
def _add_features(fronts: Fronts, number: int, feature: NDArray[np.float64]) -> None:  # feature OUT
    """One for each step up that a node takes, after a leading one."""
    feature[:] = 0.0
    feature[0] = 1.0
    place = 1
    for i in range(fronts.span.size):
        level = number // fronts.stride[i]
        number -= level * fronts.stride[i]
        for step in range(level):
            feature[place + step] = 1.0
        place += fronts.span[i] - 1


@kernel
def _regress(
    spread: NDArray[np.float64],
    weight: NDArray[np.float64],
    feature: NDArray[np.float64],
    importance: float,
    first: int,
    target: NDArray[np.float64],
) -> None:  # spread, weight OUT
    """One step of recursive least squares, for all targets that share a covariance."""
    p = feature.size
    gain = np.zeros(p)
    for a in range(p):
        if feature[a] > 0.0:
            for b in range(p):
                gain[b] += spread[b, a]
    scale = 1.0
    for a in range(p):
        scale += importance * feature[a] * gain[a]
    for t in range(target.size):
        error = target[t]
        for a in range(p):
            error -= weight[first + t, a] * feature[a]
        for a in range(p):
            weight[first + t, a] += importance * error * gain[a] / scale
    for a in range(p):
        for b in range(p):
            spread[a, b] -= importance * gain[a] * gain[b] / scale


@kernel
def learn(fronts: Fronts, guess: Guess, worse: NDArray[np.float64]) -> None:
    """Learn from the node evaluated last, which has so many rows in classes ``worse`` than each value of the grid."""
    e = fronts.count[EVALUATED_NODES] - 1
    values = guess.grid.size
    feature = np.zeros(guess.weight.shape[1])
    _add_features(fronts, fronts.node[e], feature)
    target = np.zeros(1)
    for g in range(values):
        target[0] = np.log(worse[g] + guess.edge[1])
        away = target[0] - guess.edge[0]
        _regress(guess.spread[g], guess.weight, feature, np.exp(-away * away) + 0.02, g, target)
    both = np.zeros(2)
    both[0] = np.log(max(fronts.known[e, TOTAL], 0.0) + 1.0)
    both[1] = fronts.known[e, LOSS] - fronts.known[e, TOTAL]
    _regress(guess.spread[values], guess.weight, feature, 1.0, values, both)
    if guess.count[HUNTING] == 1:
        guess.count[FAILURES] = 0 if fronts.count[CHANGED] == 1 else guess.count[FAILURES] + 1
    guess.count[HUNTING] = 0
    guess.count[SINCE] += 1


@kernel
def _tabulate(fronts: Fronts, guess: Guess) -> None:
    """Add the weights up, so that a prediction is a sum over attributes."""
    for t in range(guess.weight.shape[0]):
        place = 1
        for i in range(fronts.span.size):
            total = guess.weight[t, 0] if i == 0 else 0.0
            for level in range(fronts.span[i]):
                guess.table[t, i, level] = total
                if level < fronts.span[i] - 1:
                    total += guess.weight[t, place + level]
            place += fronts.span[i] - 1


@kernel
def _predicted(guess: Guess, target: int, levels: NDArray[np.int64]) -> float:
    total = 0.0
    for i in range(levels.size):
        total += guess.table[target, i, levels[i]]
    return total


@kernel
def _value(fronts: Fronts, guess: Guess, number: int, levels: NDArray[np.int64]) -> float:
    """The value a node is predicted to have."""
    grid, edge = guess.grid, guess.edge[0]
    low, high, reached = -1, grid.size, -np.inf
    beyond = 0.0
    while high - low > 1:
        middle = (low + high) // 2
        rows = _predicted(guess, middle, levels)
        if rows > edge:
            high, beyond = middle, rows
        else:
            low, reached = middle, rows
    least, most = fronts.bound[LEAST, number], fronts.bound[MOST, number]
    if high == grid.size:
        return most
    if low < 0:
        return least
    share = (edge - reached) / (beyond - reached) if beyond > reached else 0.0
    value = grid[low] + share * (grid[high] - grid[low])
    return min(max(np.floor(value) if guess.edge[2] > 0.0 else value, least), most)


@kernel
def _loss_at(fronts: Fronts, value: float) -> float:
    """The loss of the front at a value, or of its far end."""
    for f in range(fronts.count[FRONT]):
        if fronts.front[f, 0] >= value:
            return fronts.front[f, 1]
    return fronts.front[fronts.count[FRONT] - 1, 1]


@kernel
def _foresee(fronts: Fronts, guess: Guess, number: int, levels: NDArray[np.int64]) -> tuple[float, float]:
    """What will be due below a node, and what it will raise the low of those above to."""
    values = guess.grid.size
    levels_of(fronts, number, levels)
    due = _loss_at(fronts, _value(fronts, guess, number, levels)) - max(_predicted(guess, values + 1, levels), 0.0)
    low = fronts.bound[LOW, number]
    if guess.count[TOTALS] == 0:
        low = max(np.exp(_predicted(guess, values, levels)) - 1.0, low * 1.0001 + 0.01)
    return due, low


@kernel
def _encode(fronts: Fronts, number: int, bits: NDArray[np.uint64]) -> None:  # bits OUT
    bits[:] = np.uint64(0)
    place = 0
    for i in range(fronts.span.size):
        level = number // fronts.stride[i]
        number -= level * fronts.stride[i]
        for step in range(place, place + level):
            bits[step >> 6] |= np.uint64(1) << np.uint64(step & 63)
        place += fronts.span[i] - 1


@kernel
def _draw(guess: Guess, below: int) -> int:
    """A pseudo-random number; the same ones in every run."""
    guess.count[SEED] = (guess.count[SEED] * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
    return (guess.count[SEED] >> 20) % below


@kernel
def _pick_some(fronts: Fronts, guess: Guess, some: NDArray[np.int64]) -> int:  # some OUT
    """List the open nodes; a sample where there are too many."""
    found, seen = 0, 0
    for number in range(fronts.state.size):
        if fronts.state[number] == OPEN:
            seen += 1
            if found < some.size:
                some[found] = number
                found += 1
            else:
                place = _draw(guess, seen)
                if place < some.size:
                    some[place] = number
    return found


@kernel
def _count(guess: Guess, c: int, totals: bool) -> int:
    """How much a candidate is worth: the sampled nodes it will close, and may help to close."""
    bits, mean = guess.bits, guess.mean
    due, low = guess.hope[0, c], guess.hope[1, c]
    words = bits.shape[2]
    certain, possible = 0, 0
    for j in range(guess.count[SAMPLED]):
        if mean[4, j] == 0.0:
            continue
        outside, inside = np.uint64(0), np.uint64(0)
        for w in range(words):
            outside |= bits[0, j, w] & ~bits[1, c, w]
            inside |= bits[1, c, w] & ~bits[0, j, w]
        if outside == 0:
            certain += mean[0, j] >= due
            possible += mean[2, j] >= due
        if not totals and inside == 0:
            certain += low >= mean[1, j]
            possible += low >= mean[3, j]
    return certain if totals else _CERTAIN * certain + possible


@kernel
def _sift(guess: Guess, i: int) -> None:
    """Let a candidate sink to its place on the heap."""
    heap, claim, size = guess.heap, guess.claim, guess.count[HEAPED]
    while True:
        child = 2 * i + 1
        if child >= size:
            return
        if child + 1 < size and claim[heap[child + 1]] > claim[heap[child]]:
            child += 1
        if claim[heap[i]] >= claim[heap[child]]:
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child


@kernel
def _refresh(fronts: Fronts, guess: Guess) -> None:
    """Predict afresh, and count afresh what each candidate is worth."""
    renew(fronts)
    _tabulate(fronts, guess)
    count, totals = guess.count, guess.count[TOTALS] == 1
    levels = np.zeros(fronts.span.size, dtype=np.int64)
    count[SAMPLED] = _pick_some(fronts, guess, guess.sample)
    for j in range(count[SAMPLED]):
        number = guess.sample[j]
        _encode(fronts, number, guess.bits[0, j])
        due, low = _foresee(fronts, guess, number, levels)
        guess.mean[0, j], guess.mean[1, j] = fronts.bound[LOW, number], fronts.bound[DUE, number]
        guess.mean[2, j], guess.mean[3, j], guess.mean[4, j] = low, min(due, fronts.bound[DUE, number]), 1.0
    count[HEAPED] = _pick_some(fronts, guess, guess.candidate)
    for c in range(count[HEAPED]):
        _encode(fronts, guess.candidate[c], guess.bits[1, c])
        guess.hope[0, c], guess.hope[1, c] = _foresee(fronts, guess, guess.candidate[c], levels)
        guess.claim[c] = _count(guess, c, totals)
        guess.heap[c] = c
    for i in range(count[HEAPED] // 2 - 1, -1, -1):
        _sift(guess, i)
    count[SINCE] = 0


@kernel
def _freshen(fronts: Fronts, guess: Guess) -> None:
    """Look again which sampled nodes are still open, and at what is known of them."""
    for j in range(guess.count[SAMPLED]):
        number = guess.sample[j]
        guess.mean[4, j] = 1.0 if fronts.state[number] == OPEN else 0.0
        guess.mean[0, j], guess.mean[1, j] = fronts.bound[LOW, number], fronts.bound[DUE, number]


@kernel
def _hunt(fronts: Fronts, guess: Guess) -> int:
    """The sampled node that is predicted to improve the front most; -1 if none is."""
    levels = np.zeros(fronts.span.size, dtype=np.int64)
    values = guess.grid.size
    best, pick = 0.0, -1
    for j in range(guess.count[SAMPLED]):
        number = guess.sample[j]
        if fronts.state[number] != OPEN:
            continue
        levels_of(fronts, number, levels)
        wanted = _loss_at(fronts, _value(fronts, guess, number, levels))
        loss = fronts.bound[LOW, number]
        if guess.count[TOTALS] == 0:
            loss = max(loss, np.exp(_predicted(guess, values, levels)) - 1.0)
        gain = np.log((wanted + 1.0) / (loss + 1.0))
        if gain > best:
            best, pick = gain, number
    return pick


@kernel
def _corner(fronts: Fronts) -> int:
    """The first nodes: top and bottom, then each of them with one attribute all the way at the other end."""
    e, top = fronts.count[EVALUATED_NODES], fronts.state.size - 1
    while e < 2 * fronts.span.size + 2:
        number = top if e == 0 else 0
        if e >= 2:
            i = (e - 2) // 2
            away = (fronts.span[i] - 1) * fronts.stride[i]
            number = top - away if e % 2 == 0 else away
        if fronts.state[number] == OPEN:
            return number
        e += 1
    return -1


@kernel
def choose(fronts: Fronts, guess: Guess) -> int:
    """Name the node to evaluate next, or -1 where none is open any more."""
    count = guess.count
    if fronts.count[OPEN_NODES] == 0:
        renew(fronts)
        return -1
    corner = _corner(fronts)
    if corner >= 0:
        return corner
    if count[SINCE] >= _REFRESH or count[HEAPED] == 0:
        _refresh(fronts, guess)
        if fronts.count[OPEN_NODES] == 0:
            return -1
    if count[FAILURES] >= _FAILURES and fronts.count[EVALUATED_NODES] >= count[NEXT]:
        count[NEXT] = fronts.count[EVALUATED_NODES] + _HUNT
        count[FAILURES] = _FAILURES - 1
    if count[FAILURES] < _FAILURES:
        _tabulate(fronts, guess)
        pick = _hunt(fronts, guess)
        if pick >= 0:
            count[HUNTING] = 1
            return pick
        count[FAILURES] = _FAILURES
    _freshen(fronts, guess)
    while count[HEAPED] > 0:
        c = guess.heap[0]
        if fronts.state[guess.candidate[c]] == EVALUATED:
            guess.claim[c] = -1
        else:
            guess.claim[c] = _count(guess, c, count[TOTALS] == 1)
        before = guess.heap[0]
        _sift(guess, 0)
        if guess.heap[0] == before:
            count[HEAPED] -= 1
            guess.heap[0] = guess.heap[count[HEAPED]]
            _sift(guess, 0)
            if guess.claim[c] > 0:
                return guess.candidate[c]
            break
    count[SINCE] = _REFRESH
    for number in range(fronts.state.size):
        if fronts.state[number] == OPEN:
            return number
    return -1
