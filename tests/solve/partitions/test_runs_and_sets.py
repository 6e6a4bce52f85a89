"""Runs, sets and the prices of blocks against plain Python."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import naive
from discreet.solve.kernels.jit import PLAIN
from discreet.solve.partitions.kernels.blocks import (
    MINORITY,
    RECORD,
    SEPARABLE,
    SQUARES,
    BlockCells,
    BlockWalk,
    GroupLinks,
    block_sums,
    price_blocks,
)
from discreet.solve.partitions.kernels.runs import (
    CLOSED,
    CUT,
    OPEN,
    cheapest_runs,
    decide_gaps,
    find_pieces,
    gap_costs,
    read_runs,
    write_run_walk,
)
from discreet.solve.partitions.kernels.sets import (
    SetPrices,
    cheapest_sets,
    list_partitions,
    read_sets,
    write_set_walk,
)

TIMES = 150


def followed(steps):
    """Each block a walk asks for, and what is left at its end."""
    block, asked = set(), []
    for step in steps.tolist():
        if step == RECORD:
            asked.append(frozenset(block))
        elif step > 0:
            assert step - 1 not in block
            block.add(step - 1)
        else:
            block.remove(-step - 1)
    return asked, block


def laid_out(rng):
    """Some items with gaps as they may fall, and the runs that are allowed."""
    size = int(rng.integers(1, 8))
    gaps = rng.choice([OPEN, OPEN, CUT, CLOSED], size).astype(np.int8)
    gaps[0] = OPEN
    piece, stretch, first, last, ends = (np.empty(size, dtype=np.int64) for _ in range(5))
    pieces = find_pieces(gaps, piece, stretch, first, last, ends)
    allowed = np.triu(rng.random((size, size)) < rng.choice([0.3, 0.7, 1.0]))
    return gaps, piece, stretch, first, last, ends, pieces, allowed


def runs_left(gaps, first, last, ends, pieces, allowed):
    """A walk through each allowed run, and the first and last piece of the runs."""
    size = pieces * (pieces + 1) // 2
    steps, begin, end = (np.empty(n, dtype=np.int64) for n in (4 * size + 4 * pieces, size, size))
    length, runs = write_run_walk(pieces, first, last, ends, allowed, steps, begin, end)
    return steps[:length], begin[:runs], end[:runs]


def covers(pieces, begin, end, cost):
    """Every way to cover all pieces with runs: the numbers of the runs and what they cost."""
    found = []

    def go(at, chosen, total):
        if at == pieces:
            found.append((tuple(chosen), total))
        for r in range(begin.size):
            if begin[r] == at:
                go(end[r] + 1, [*chosen, r], total + cost[r])

    go(0, [], 0.0)
    return found


def test_pieces_and_stretches():
    rng = np.random.default_rng(1)
    for _ in range(TIMES):
        gaps, piece, stretch, first, last, ends, pieces, _ = laid_out(rng)
        for i in range(1, gaps.size):
            assert (piece[i] == piece[i - 1]) == (gaps[i] == CLOSED)
            assert (stretch[i] == stretch[i - 1]) == (gaps[i] != CUT)
        assert pieces == len(set(piece.tolist()))
        for p in range(pieces):
            items = np.flatnonzero(piece == p)
            assert (first[p], last[p]) == (items[0], items[-1])
            assert ends[p] == piece[np.flatnonzero(stretch == stretch[first[p]])[-1]]


def test_each_allowed_run_is_asked_for_once():
    rng = np.random.default_rng(2)
    for _ in range(TIMES):
        gaps, _, stretch, first, last, ends, pieces, allowed = laid_out(rng)
        steps, begin, end = runs_left(gaps, first, last, ends, pieces, allowed)
        asked, left = followed(steps)
        assert not left
        assert asked == [frozenset(range(b, e + 1)) for b, e in zip(begin, end, strict=True)]
        assert sorted(zip(begin.tolist(), end.tolist(), strict=True)) == [
            (p, q)
            for p in range(pieces)
            for q in range(p, pieces)
            if stretch[first[p]] == stretch[last[q]] and allowed[first[p], last[q]]
        ]
        assert (np.diff(begin) >= 0).all()


def test_the_cheapest_runs():
    rng = np.random.default_rng(3)
    found_some = 0
    for _ in range(TIMES):
        gaps, _, _, first, last, ends, pieces, allowed = laid_out(rng)
        _, begin, end = runs_left(gaps, first, last, ends, pieces, allowed)
        cost = rng.choice([0.0, 1.0, 2.5, 4.0, np.inf], begin.size)
        forward, backward, closed, cut = np.empty(pieces + 1), np.empty(pieces + 1), np.empty(pieces), np.empty(pieces)
        least = cheapest_runs(pieces, begin, end, cost, forward, backward)
        every = covers(pieces, begin, end, cost)
        assert least == min((total for _, total in every), default=math.inf)
        gap_costs(pieces, begin, end, cost, forward, backward, closed, cut)
        for p in range(1, pieces):
            across = [total for runs, total in every if any(begin[r] < p <= end[r] for r in runs)]
            beside = [total for runs, total in every if any(begin[r] == p for r in runs)]
            assert (closed[p], cut[p]) == (min(across, default=math.inf), min(beside, default=math.inf))
        for r in range(begin.size):
            with_it = [total for runs, total in every if r in runs]
            assert forward[begin[r]] + cost[r] + backward[end[r] + 1] == min(with_it, default=math.inf)
        if math.isinf(least):
            continue
        found_some += 1
        chosen = gaps.copy()
        read_runs(pieces, begin, end, cost, backward, first, chosen)
        cuts = [0, *(p for p in range(1, pieces) if chosen[first[p]] == CUT), pieces]
        price = dict(zip(zip(begin.tolist(), end.tolist(), strict=True), cost.tolist(), strict=True))
        assert sum(price[p, q - 1] for p, q in itertools.pairwise(cuts)) == least
        assert OPEN not in chosen[first[1:pieces]]
    assert found_some > 40


def test_gaps_without_a_choice_are_decided():
    """What is decided is the same in every cover with the runs that are left, and no run that is left is lost."""
    rng = np.random.default_rng(4)
    for _ in range(TIMES):
        gaps, _, _, first, last, ends, pieces, allowed = laid_out(rng)
        _, begin, end = runs_left(gaps, first, last, ends, pieces, allowed)
        out = rng.random(begin.size) < 0.3
        after, still = gaps.copy(), allowed.copy()
        decided = decide_gaps(pieces, begin, end, out, first, last, after, still)
        every = [runs for runs, _ in covers(pieces, begin[~out], end[~out], np.zeros(int((~out).sum())))]
        if decided < 0:
            assert not every
            continue
        assert decided == (after != gaps).sum()
        kept = {(int(b), int(e)) for b, e in zip(begin[~out], end[~out], strict=True)}
        assert all(still[first[b], last[e]] for b, e in kept)
        for p in range(1, pieces):
            borders = {any(begin[~out][r] == p for r in runs) for runs in every}
            if gaps[first[p]] == OPEN and after[first[p]] != OPEN and every:
                assert borders == {after[first[p]] == CUT}


def some_sets(rng):
    """Sets of a few items, single ones among them most of the time, with what each costs and suppresses."""
    items = int(rng.integers(1, 6))
    kept = rng.random((1 << items) - 1) < rng.choice([0.4, 0.8, 1.0])
    for item in range(items):
        kept[(1 << item) - 1] |= rng.random() < 0.9
    sets = 1 + np.flatnonzero(kept)
    starts = np.searchsorted(sets, 1 << np.arange(items + 1))
    cost, gone = np.full(1 << items, np.inf), np.zeros(1 << items)
    cost[sets] = rng.choice([0.0, 1.0, 2.5, 4.0, np.inf], sets.size, p=[0.2, 0.3, 0.2, 0.2, 0.1])
    gone[sets] = rng.integers(0, 3, sets.size)
    return items, sets, starts, cost, gone


def all_partitions(items, sets):
    """Every partition into the sets, as numbers whose bits are the items."""
    known = set(sets.tolist())
    for partition in naive.set_partitions(range(items)):
        numbers = [sum(1 << item for item in block) for block in partition]
        if known.issuperset(numbers):
            yield numbers


def test_the_cheapest_sets():
    rng = np.random.default_rng(5)
    found_some = 0
    for _ in range(TIMES):
        items, sets, starts, cost, gone = some_sets(rng)
        every = [(numbers, sum(cost[n] for n in numbers)) for numbers in all_partitions(items, sets)]
        want = min((total for _, total in every), default=math.inf)
        room = float(rng.choice([math.inf, 6.0, 3.0]))
        best, whole = np.empty(1 << items), np.empty(sets.size)
        weights = rng.random(items) + 0.1
        least = cheapest_sets(items, weights, sets, starts, cost, room, best, whole)
        assert least == want if want < room else least >= min(room, want)
        for x, number in enumerate(sets.tolist()):
            with_it = min((total for numbers, total in every if number in numbers), default=math.inf)
            assert whole[x] == with_it if with_it < room else whole[x] >= min(room, with_it)
        if want >= room:
            continue
        found_some += 1
        block = np.full(items, -1, dtype=np.int64)
        read_sets(items, sets, starts, cost, best, block)
        chosen = [sum(1 << int(i) for i in np.flatnonzero(block == b)) for b in set(block.tolist())]
        assert sum(cost[n] for n in chosen) == want
        fewest = np.empty(1 << items)
        cheapest_sets(items, weights, sets, starts, gone, math.inf, fewest, np.empty(sets.size))
        limit = float(rng.integers(0, 6))
        wanted = sorted(
            sorted(numbers)
            for numbers, total in every
            if total < min(room, 9.0) and sum(gone[n] for n in numbers) <= limit
        )
        blocks, costs = np.empty((len(wanted), items), dtype=np.int64), np.empty(len(wanted))
        below = min(room, 9.0)
        prices = SetPrices(sets, starts, cost, gone, best, fewest)
        listed = list_partitions(items, prices, below, limit, blocks, costs)
        assert listed == len(wanted)
        found = [sorted({sum(1 << i for i in range(items) if own[i] == b) for b in own}) for own in blocks.tolist()]
        assert sorted(found) == wanted
        assert all(costs[f] == sum(cost[n] for n in found[f]) for f in range(listed))
        if listed:
            short = np.empty((listed - 1, items), dtype=np.int64), np.empty(listed - 1)
            assert list_partitions(items, prices, below, limit, *short) == -1
    assert found_some > 40


def test_each_set_is_asked_for_in_turn():
    rng = np.random.default_rng(6)
    for _ in range(TIMES):
        items, sets, *_ = some_sets(rng)
        sets = rng.permutation(sets)
        steps = np.empty(sets.size * (items + 1) + items, dtype=np.int64)
        asked, left = followed(steps[: write_set_walk(sets, items, steps)])
        assert not left
        assert [sum(1 << i for i in block) for block in asked] == sets.tolist()


@pytest.mark.parametrize("kind", [SEPARABLE, SQUARES, MINORITY], ids=["separable", "squares", "minority"])
def test_prices_of_blocks(kind):
    rng = np.random.default_rng([7, kind])
    for _ in range(TIMES):
        items, cells = int(rng.integers(1, 5)), int(rng.integers(1, 12))
        groups = int(rng.integers(1, 4))
        item = np.sort(rng.integers(0, items, cells))
        core = rng.integers(0, 3 * groups, cells)
        if kind == SQUARES:  # rows of one core and item are one cell
            _, only = np.unique(core * items + item, return_index=True)
            item, core = item[np.sort(only)], core[np.sort(only)]
            cells = item.size
        group = core % groups  # cores are parts of groups
        near = np.eye(groups, dtype=bool) | (rng.random((groups, groups)) < 0.3)
        near |= near.T
        links = GroupLinks(np.concatenate([[0], np.cumsum(near.sum(axis=1))]), np.nonzero(near)[1])
        weight = rng.integers(1, 5, cells).astype(np.float64)
        share, moment, offset = rng.random((3, cells))
        labels = rng.integers(0, 3, (cells, 3)).astype(np.float64)
        sets = 1 + rng.permutation((1 << items) - 1)
        steps = np.empty(sets.size * (items + 1) + items, dtype=np.int64)
        steps = steps[: write_set_walk(sets, items, steps)]
        rates, least = rng.random(sets.size), float(rng.integers(1, 12))
        starts = np.searchsorted(item, np.arange(items + 1))
        entries, histogram = np.arange(cells), np.zeros((cells, 0), dtype=np.int64)
        seen = BlockCells(starts, entries, group, core, weight, share, moment, offset, labels, histogram)
        sums = block_sums(np.zeros((3 * groups, labels.shape[1])), groups)
        cost, gone = np.empty(sets.size), np.empty(sets.size)
        price_blocks(kind, least, BlockWalk(steps, rates), seen, links, sums, cost, gone)
        assert not np.abs(sums.within).max() > 1e-9
        assert not np.abs(sums.reach).max() > 1e-9
        assert all(not np.abs(sums.group[name]).max() > 1e-9 for name in sums.group.dtype.names)
        for x, block in enumerate(sets.tolist()):
            inside = [j for j in range(cells) if block >> int(item[j]) & 1]
            rows = [sum(weight[j] for j in inside if group[j] == g) for g in range(groups)]
            total, lost = 0.0, 0.0
            for g in range(groups):
                own = [j for j in inside if group[j] == g]
                if sum(rows[other] for other in range(groups) if near[g, other]) < least:
                    total += sum(share[j] for j in own)
                    lost += rows[g]
                elif kind == SEPARABLE:
                    total += sum(offset[j] + rates[x] * moment[j] for j in own)
                elif kind == SQUARES:
                    total += sum(weight[i] * weight[j] for i in own for j in own if i != j and core[i] == core[j])
                else:
                    for c in {int(core[j]) for j in own}:
                        counts = labels[[j for j in own if core[j] == c]].sum(axis=0)
                        total += counts.sum() - counts.max()
            assert cost[x] == pytest.approx(total, abs=1e-9)
            assert gone[x] == lost


@pytest.mark.skipif(PLAIN, reason="kernels are not compiled now")
def test_the_same_as_plain_python():
    """All of this file once more, with kernels that are not compiled."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
        env={**os.environ, "DISCREET_PLAIN_KERNELS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:]
