"""Which node to evaluate next when searching a front: one that may be on it, or one that closes many others.

How many rows are in classes worse than some value falls smoothly up the lattice, so that a regression over the levels
predicts well what value a node will have: the one at which those rows reach the limit. With it every candidate is
given a count of the open nodes its evaluation would close, and the largest count wins. Predictions order the search and
never close a node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.front.kernels.state import EVALUATED, OPEN, FrontSearch, levels_of, update_bounds
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records

__all__ = [
    "SAMPLE",
    "CandidateNode",
    "FrontPredictor",
    "PredictorCounters",
    "PredictorFacts",
    "SampledNode",
    "choose_node",
    "learn",
]

SAMPLE = 1024
"""The most open nodes that candidates are counted on; there are up to four times as many candidates."""
_REFRESH = 25
"""Evaluations after which all candidates are counted afresh."""
_HUNT = 100
"""Evaluations after which a node is tried that may be on the front."""
_FAILURES = 4
"""Nodes in a row that turned out not to be on the front before the hunt is given up for a while."""
_CERTAIN = 10
"""How much more a node counts that is closed for certain than one that may be closed later."""


class PredictorFacts:
    """Constants of the regression."""

    edge: float
    """The logarithm of the limit on suppressed rows ..."""
    shift: float
    """... and what is added to rows before taking logarithms."""
    whole: int
    """Whether values are whole numbers."""
    totals_known: int
    """Whether the total of every node is known beforehand."""


class PredictorCounters:
    """What changes from step to step."""

    sampled: int
    """Sampled nodes."""
    heaped: int
    """Candidates on the heap."""
    since: int
    """Evaluations since all candidates were counted."""
    failures: int
    """Hunts in a row that found nothing."""
    hunting: int
    """Whether the current node was chosen by a hunt."""
    next_hunt: int
    """The number of evaluations at which the next hunt begins."""
    seed: int
    """Of the pseudo-random numbers."""


class SampledNode:
    """An open node, with its bounds and what they may become."""

    number: int
    open: int
    """Whether it is still open."""
    low: float
    due: float
    low_expected: float
    due_expected: float


class CandidateNode:
    """An open node that may be evaluated next."""

    number: int
    due: float
    """What will be due below it, as predicted."""
    low: float
    """What it will raise the low of those above to, as predicted."""
    claim: int
    """How much it closed when it was counted last."""


class FrontPredictor(NamedTuple):
    """Predictions for nodes that were not evaluated, and the candidates."""

    facts: PredictorFacts
    counters: PredictorCounters
    grid: NDArray[np.float64]
    """(G,) values, rising."""
    weight: NDArray[np.float64]
    """(G + 2, P) by target: for each value of the grid the logarithm of the rows in worse classes; then the logarithm
    of the total; then the extra. P is 1 + the number of steps up the lattice."""
    covariance: NDArray[np.float64]
    """(G + 1, P, P); total and extra share the last one."""
    table: NDArray[np.float64]
    """(G + 2, m, levels) the weights added up level by level."""
    sample: Records[SampledNode]
    """(SAMPLE,)"""
    sample_steps: NDArray[np.uint64]
    """(SAMPLE, words) the sampled nodes as bit sets of the steps up to them."""
    candidate: Records[CandidateNode]
    """(4 SAMPLE,)"""
    candidate_steps: NDArray[np.uint64]
    """(4 SAMPLE, words)"""
    heap: NDArray[np.int64]
    """(4 SAMPLE,) candidates, a binary heap by claim."""
    levels: NDArray[np.int64]
    """(m,) scratch space."""


@inner_kernel
def _set_features(search: FrontSearch, number: int, feature: NDArray[np.float64]) -> None:  # feature OUT
    """A leading one, then a one for each step up that the node has taken and a zero for each it has not."""
    feature[:] = 0.0
    feature[0] = 1.0
    first = 1
    for i in range(search.attribute.size):
        attribute = search.attribute[i]
        level = number // attribute.stride
        number -= level * attribute.stride
        for step in range(level):
            feature[first + step] = 1.0
        first += attribute.levels - 1


@kernel
def _regress(
    covariance: NDArray[np.float64],
    weight: NDArray[np.float64],
    feature: NDArray[np.float64],
    importance: float,
    target: NDArray[np.float64],
) -> None:  # covariance, weight OUT
    """One step of weighted recursive least squares, O(P²), for all targets that share a covariance."""
    p = feature.size
    gain = np.zeros(p)
    for a in range(p):
        if feature[a] > 0.0:
            for b in range(p):
                gain[b] += covariance[b, a]
    scale = 1.0
    for a in range(p):
        scale += importance * feature[a] * gain[a]
    for t in range(target.size):
        error = target[t]
        for a in range(p):
            error -= weight[t, a] * feature[a]
        for a in range(p):
            weight[t, a] += importance * error * gain[a] / scale
    for a in range(p):
        for b in range(p):
            covariance[a, b] -= importance * gain[a] * gain[b] / scale


@kernel
def learn(search: FrontSearch, predictor: FrontPredictor, worse: NDArray[np.float64]) -> None:
    """Learn from the node evaluated last, which has so many rows in classes ``worse`` than each value of the grid."""
    node, facts, counters = search.evaluated[search.counters.evaluated - 1], predictor.facts, predictor.counters
    weight, values = predictor.weight, predictor.grid.size
    feature = np.zeros(weight.shape[1])
    _set_features(search, node.number, feature)
    target = np.zeros(1)
    for g in range(values):
        target[0] = np.log(worse[g] + facts.shift)
        away = target[0] - facts.edge
        # Only where the rows cross the limit must the prediction be good: nodes far from it hardly count.
        _regress(predictor.covariance[g], weight[g : g + 1], feature, np.exp(-away * away) + 0.02, target)
    both = np.zeros(2)
    both[0] = np.log(max(node.total, 0.0) + 1.0)
    both[1] = node.loss - node.total
    _regress(predictor.covariance[values], weight[values:], feature, 1.0, both)
    # A hunt that changed the front resets the count of failures.
    if counters.hunting == 1:
        counters.failures = 0 if search.counters.changed == 1 else counters.failures + 1
    counters.hunting = 0
    counters.since += 1


@inner_kernel
def _tabulate(search: FrontSearch, predictor: FrontPredictor) -> None:
    """Add the weights up, so that a prediction is a sum over attributes instead of over steps."""
    for t in range(predictor.weight.shape[0]):
        first = 1
        for i in range(search.attribute.size):
            levels = search.attribute[i].levels
            total = predictor.weight[t, 0] if i == 0 else 0.0
            for level in range(levels):
                predictor.table[t, i, level] = total
                if level < levels - 1:
                    total += predictor.weight[t, first + level]
            first += levels - 1


@inner_kernel
def _predicted(predictor: FrontPredictor, target: int, levels: NDArray[np.int64]) -> float:
    total = 0.0
    for i in range(levels.size):
        total += predictor.table[target, i, levels[i]]
    return total


@inner_kernel
def _value(search: FrontSearch, predictor: FrontPredictor, number: int, levels: NDArray[np.int64]) -> float:
    """The value a node is predicted to have: where the rows in worse classes cross the limit.

    Bisection over the grid, then linear interpolation, within the proven bounds.
    """
    grid, edge = predictor.grid, predictor.facts.edge
    low, high, reached = -1, grid.size, -np.inf
    beyond = 0.0
    while high - low > 1:
        half = (low + high) // 2
        rows = _predicted(predictor, half, levels)
        if rows > edge:
            high, beyond = half, rows
        else:
            low, reached = half, rows
    least, most = search.bound[number].least, search.bound[number].most
    if high == grid.size:
        return most
    if low < 0:
        return least
    share = (edge - reached) / (beyond - reached) if beyond > reached else 0.0
    value = grid[low] + share * (grid[high] - grid[low])
    return min(max(np.floor(value) if predictor.facts.whole else value, least), most)


@inner_kernel
def _loss_at(search: FrontSearch, value: float) -> float:
    """The loss of the front at a value, or of its far end."""
    for f in range(search.counters.points):
        if search.point[f].value >= value:
            return search.point[f].loss
    return search.point[search.counters.points - 1].loss


@inner_kernel
def _expect(search: FrontSearch, predictor: FrontPredictor, number: int) -> tuple[float, float]:
    """What will be due below a node once it is evaluated, and what it will raise the low of those above to."""
    levels, values = predictor.levels, predictor.grid.size
    levels_of(search, number, levels)
    loss = _loss_at(search, _value(search, predictor, number, levels))
    # The profile of the node is not known yet; its predicted extra is used instead.
    due = loss - max(_predicted(predictor, values + 1, levels), 0.0)
    low = search.bound[number].low
    if predictor.facts.totals_known == 0:
        # A little more than the bound at least: an evaluation always adds something for the nodes above.
        low = max(np.exp(_predicted(predictor, values, levels)) - 1.0, low * 1.0001 + 0.01)
    return due, low


@inner_kernel
def _encode(search: FrontSearch, number: int, steps: NDArray[np.uint64]) -> None:  # steps OUT
    """Write a node as the set of steps up to it, so that comparing nodes is one operation per 64 steps."""
    steps[:] = np.uint64(0)
    first = 0
    for i in range(search.attribute.size):
        attribute = search.attribute[i]
        level = number // attribute.stride
        number -= level * attribute.stride
        for step in range(first, first + level):
            steps[step >> 6] |= np.uint64(1) << np.uint64(step & 63)
        first += attribute.levels - 1


@inner_kernel
def _draw(predictor: FrontPredictor, below: int) -> int:
    """A pseudo-random number; the same ones in every run (a linear congruential generator, Knuth's MMIX)."""
    counters = predictor.counters
    counters.seed = (counters.seed * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
    return (counters.seed >> 20) % below


@inner_kernel
def _pick_open(search: FrontSearch, predictor: FrontPredictor, picked: Records[SampledNode]) -> int:  # picked OUT
    """List the open nodes, as sampled nodes or as candidates; return how many.

    Where there are too many it is a random sample (reservoir sampling).
    """
    found, seen = 0, 0
    for number in range(search.status.size):
        if search.status[number] == OPEN:
            seen += 1
            if found < picked.size:
                picked[found].number = number
                found += 1
            else:
                replaced = _draw(predictor, seen)
                if replaced < picked.size:
                    picked[replaced].number = number
    return found


@inner_kernel
def _claim(predictor: FrontPredictor, c: int) -> int:
    """How much a candidate is worth: the sampled nodes it will close, and may help to close."""
    sample_steps, candidate_steps, sample = predictor.sample_steps, predictor.candidate_steps, predictor.sample
    due, low = predictor.candidate[c].due, predictor.candidate[c].low
    totals_known = predictor.facts.totals_known == 1
    words = sample_steps.shape[1]
    certain, possible = 0, 0
    for j in range(predictor.counters.sampled):
        node = sample[j]
        if node.open == 0:
            continue
        not_below, not_above = np.uint64(0), np.uint64(0)
        for w in range(words):
            not_below |= sample_steps[j, w] & ~candidate_steps[c, w]
            not_above |= candidate_steps[c, w] & ~sample_steps[j, w]
        if not_below == 0:
            # The node is below the candidate, whose ``due`` will hold for it, now or once its low has risen.
            certain += node.low >= due
            possible += node.low_expected >= due
        if not totals_known and not_above == 0:
            # The node is above the candidate, whose total will raise its low.
            certain += low >= node.due
            possible += low >= node.due_expected
    return certain if totals_known else _CERTAIN * certain + possible


@inner_kernel
def _sift(predictor: FrontPredictor, i: int) -> None:
    """Let a candidate sink to its position on the heap."""
    heap, candidate, size = predictor.heap, predictor.candidate, predictor.counters.heaped
    while True:
        child = 2 * i + 1
        if child >= size:
            return
        if child + 1 < size and candidate[heap[child + 1]].claim > candidate[heap[child]].claim:
            child += 1
        if candidate[heap[i]].claim >= candidate[heap[child]].claim:
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child


@inner_kernel
def _refresh(search: FrontSearch, predictor: FrontPredictor) -> None:
    """Predict afresh, and count afresh what each candidate is worth."""
    update_bounds(search)
    _tabulate(search, predictor)
    counters = predictor.counters
    counters.sampled = _pick_open(search, predictor, predictor.sample)
    for j in range(counters.sampled):
        node = predictor.sample[j]
        _encode(search, node.number, predictor.sample_steps[j])
        due, low = _expect(search, predictor, node.number)
        bound = search.bound[node.number]
        node.low, node.due, node.open = bound.low, bound.due, 1
        node.low_expected, node.due_expected = low, min(due, bound.due)
    counters.heaped = _pick_open(search, predictor, predictor.candidate)
    for c in range(counters.heaped):
        candidate = predictor.candidate[c]
        _encode(search, candidate.number, predictor.candidate_steps[c])
        candidate.due, candidate.low = _expect(search, predictor, candidate.number)
        candidate.claim = _claim(predictor, c)
        predictor.heap[c] = c
    for i in range(counters.heaped // 2 - 1, -1, -1):
        _sift(predictor, i)
    counters.since = 0


@inner_kernel
def _update_sample(search: FrontSearch, predictor: FrontPredictor) -> None:
    """Bring status and bounds of the sampled nodes up to date."""
    for j in range(predictor.counters.sampled):
        node = predictor.sample[j]
        node.open = 1 if search.status[node.number] == OPEN else 0
        node.low, node.due = search.bound[node.number].low, search.bound[node.number].due


@inner_kernel
def _hunt(search: FrontSearch, predictor: FrontPredictor) -> int:
    """The sampled node that is predicted to improve the front most; -1 if none is."""
    levels, values = predictor.levels, predictor.grid.size
    best, pick = 0.0, -1
    for j in range(predictor.counters.sampled):
        number = predictor.sample[j].number
        if search.status[number] != OPEN:
            continue
        levels_of(search, number, levels)
        wanted = _loss_at(search, _value(search, predictor, number, levels))
        loss = search.bound[number].low
        if predictor.facts.totals_known == 0:
            loss = max(loss, np.exp(_predicted(predictor, values, levels)) - 1.0)
        gain = np.log((wanted + 1.0) / (loss + 1.0))
        if gain > best:
            best, pick = gain, number
    return pick


@inner_kernel
def _corner(search: FrontSearch) -> int:
    """The first nodes: top and bottom, then each of them with one attribute at its other end; else -1."""
    e, top = search.counters.evaluated, search.status.size - 1
    while e < 2 * search.attribute.size + 2:
        number = top if e == 0 else 0
        if e >= 2:
            attribute = search.attribute[(e - 2) // 2]
            away = (attribute.levels - 1) * attribute.stride
            number = top - away if e % 2 == 0 else away
        if search.status[number] == OPEN:
            return number
        e += 1
    return -1


@inner_kernel
def _best_candidate(search: FrontSearch, predictor: FrontPredictor) -> int:
    """The candidate that closes most, or -1 if none closes anything.

    Claims mostly fall while nodes are closed, so that they are counted lazily: the first on the heap is counted again,
    and if it stays first it is taken (lazy greedy, after Minoux 1978).
    """
    heap, candidate, counters = predictor.heap, predictor.candidate, predictor.counters
    while counters.heaped > 0:
        c = heap[0]
        if search.status[candidate[c].number] == EVALUATED:
            candidate[c].claim = -1
        else:
            candidate[c].claim = _claim(predictor, c)
        _sift(predictor, 0)
        if heap[0] == c:
            counters.heaped -= 1
            heap[0] = heap[counters.heaped]
            _sift(predictor, 0)
            return candidate[c].number if candidate[c].claim > 0 else -1
    return -1


@inner_kernel
def choose_node(search: FrontSearch, predictor: FrontPredictor) -> int:
    """Name the node to evaluate next, or -1 where none is open any more."""
    counters = predictor.counters
    if search.counters.open == 0:
        update_bounds(search)
        return -1
    corner = _corner(search)
    if corner >= 0:
        return corner
    if counters.since >= _REFRESH or counters.heaped == 0:
        _refresh(search, predictor)
        if search.counters.open == 0:
            return -1
    # Hunting was given up: try a single one every _HUNT evaluations.
    if counters.failures >= _FAILURES and search.counters.evaluated >= counters.next_hunt:
        counters.next_hunt = search.counters.evaluated + _HUNT
        counters.failures = _FAILURES - 1
    if counters.failures < _FAILURES:
        _tabulate(search, predictor)
        pick = _hunt(search, predictor)
        if pick >= 0:
            counters.hunting = 1
            return pick
        counters.failures = _FAILURES
    _update_sample(search, predictor)
    best = _best_candidate(search, predictor)
    if best >= 0:
        return best
    # No candidate closes anything: count afresh next time, and take any open node now.
    counters.since = _REFRESH
    for number in range(search.status.size):
        if search.status[number] == OPEN:
            return number
    return -1
