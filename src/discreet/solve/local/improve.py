"""Local search by any cost and any model: groups are regrouped with their neighbours, many at a time, through arrays.

Each round puts all groups into an order in which near groups are mostly neighbours, takes some neighbours together,
and sorts their rows anew: into as many parts as fit, into one, or by exchanging a row. All groups of the table are
treated in one round, and the new ones are priced together by the cost's and the models' own arrays; every few groups
take what is cheaper. So a round takes as long as pricing the table a few times, whatever the cost is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.problem import Classes, Problem
from discreet.solve._base import Budget
from discreet.solve.local.general_bounds import smallest_group
from discreet.solve.local.general_price import COVERS, class_prices, number_by_shown, price_grouping
from discreet.solve.local.group_arrays import GroupArrays
from discreet.solve.local.task import LocalGrouping

__all__ = ["highest_cells", "improve"]

_MOST = 300_000
"""Tables of more rows are left as they are."""
_TINY = 1e-3
"""All rows at the root add so much to the cost, so that of equally good groups those that show more are taken."""
_PATIENCE = 60
"""The search ends after so many rounds without a better group."""
_CHECKS = 25
"""The true cost is measured after so many rounds."""
_STEP = 10
"""Rounds between two changes of that."""
_LAST = 1e-4
"""For costs that do not look at covers it falls to so much of what it was, before it is next to nothing."""
_ROUNDING = 1e-12
"""Differences up to this are none, relative to the cost."""
_RESTORED = (16, 128)
"""At a time so many suppressed rows are tried in so many groups."""


class _Trial(NamedTuple):
    """A new grouping of the rows of some bundles: ``part`` is the new group of each row, by number within its bundle.

    A part of -1 is suppressed.
    """

    rows: IntArray
    bundle: IntArray
    part: IntArray


@dataclass
class _SearchedGroups:
    """The groups of a search: the group of each row, and what each group costs."""

    arrays: GroupArrays
    row: IntArray
    """The tuple of each row."""
    group: IntArray
    """The group of each row, numbered without gaps; -1 is suppressed."""
    cells: IntArray
    """The combination of highest nodes each row is in."""
    price: FloatArray
    suppressed: FloatArray
    """What each row costs if it is suppressed."""
    weight: float = _TINY
    """What it costs to show nothing of any row."""
    level: float = 0.0
    """For costs that are a mean over classes: the mean so far, which each class is compared with."""


def improve(arrays: GroupArrays, grouping: LocalGrouping, rounds: int, budget: Budget, show: str) -> LocalGrouping:
    """Return a grouping that costs no more than the given one, and the same valid one if nothing better is found."""
    problem = arrays.problem
    if problem.table.n > _MOST or rounds == 0:
        return grouping
    random = np.random.default_rng(budget.random().getrandbits(63))
    best, best_cost = grouping, price_grouping(arrays, grouping, show).cost
    state = _start(arrays, grouping)
    idle = since = 0
    weights = _weights(state, rounds)
    for number in range(rounds):
        if number % _STEP == 0 and number // _STEP < weights.size:
            state.weight, idle = float(weights[number // _STEP]), 0
            _renumber(state)
        if budget.exhausted or idle >= _PATIENCE:
            break
        try:
            idle = 0 if _round(state, random, number) else idle + 1
        except KeyboardInterrupt:
            if budget.stop.is_set():  # it was pressed twice
                raise
            budget.stop.set()
            break
        since += idle == 0
        if since and (number % _CHECKS == _CHECKS - 1 or idle == _PATIENCE):
            best, best_cost, since = *_better(state, best, best_cost, show), 0
    return _better(state, best, best_cost, show)[0]


def _weights(state: _SearchedGroups, rounds: int) -> FloatArray:
    """Return penalties for general covers, step by step, for costs that ignore covers; the last is next to nothing.

    The best groups by such a cost alone would be of rows that have nothing in common. So at first only what loses
    little for what it saves is worth it.
    """
    steps = 2 * rounds // (3 * _STEP)
    if COVERS & state.arrays.problem.cost.needs or not steps or not state.price.size:
        return np.array([_TINY])
    order, first = _sorted_rows(state.group)
    classes = state.arrays.cover(state.row[order], first).classes
    saved = float(np.abs(state.arrays.problem.cost.published(classes)).sum())
    lost = max(float(_lost(classes).sum()), 1e-6)
    return np.append(saved / lost * _LAST ** (np.arange(steps) / steps), _TINY)


def _start(arrays: GroupArrays, grouping: LocalGrouping) -> _SearchedGroups:
    row = np.repeat(grouping.tuple, grouping.count)
    group = np.repeat(grouping.group, grouping.count).astype(np.int64)
    cells = highest_cells(arrays.problem)[row]
    every = arrays.cover(row, np.arange(row.size)).classes
    state = _SearchedGroups(arrays, row, group, cells, np.zeros(0), arrays.problem.cost.suppressed(every))
    _renumber(state)
    return state


def _better(state: _SearchedGroups, best: LocalGrouping, cost: float, show: str) -> tuple[LocalGrouping, float]:
    """Return the groups at hand if they are valid and cheaper than the best so far, by the definition of the cost."""
    found = LocalGrouping(state.row, state.group, np.ones(state.row.size, dtype=np.int64))
    priced = price_grouping(state.arrays, found, show)
    if not priced.valid or priced.cost > cost:
        return best, cost
    r = priced.recoding
    return LocalGrouping(r.tuple, r.group, r.count), priced.cost


def _renumber(state: _SearchedGroups) -> None:
    """Number the groups without gaps and price them, those that show the same as one."""
    for _ in range(2):
        _, number = np.unique(state.group, return_inverse=True)
        state.group = number.reshape(-1) - int((state.group < 0).any())
        order, first = _sorted_rows(state.group)
        if not first.size:
            return
        found = state.arrays.cover(state.row[order], first)
        same = number_by_shown(found.covers)
        if int(same.max()) + 1 == first.size:
            break
        state.group = np.where(state.group < 0, -1, same[state.group])
    if not state.arrays.problem.cost.additive:
        state.level = state.arrays.problem.cost.total(found.classes, np.ones(first.size, dtype=np.bool_))
    state.price = _prices(state, found.classes)[0]


def _sorted_rows(group: IntArray) -> tuple[IntArray, IntArray]:
    """Return the published rows sorted by group, and where each group begins."""
    order = np.argsort(group, kind="stable")
    order = order[np.searchsorted(group[order], 0) :]
    return order, np.flatnonzero(np.diff(group[order], prepend=-1))


def _prices(state: _SearchedGroups, classes: Classes) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return what each class costs in the search, and whether it is ok.

    Of equally good classes those that show more are a little cheaper. A cost that is a mean over the classes is lowered
    by classes below the mean: what counts is by how much a class is above it.
    """
    problem = state.arrays.problem
    price, ok = class_prices(problem, classes)
    return price - state.level + state.weight * _lost(classes), ok


def _lost(classes: Classes) -> FloatArray:
    """Return how much of all values the rows of each class may stand for, as a share; all rows at the root lose 1."""
    assert classes.block_leaves is not None
    leaves = np.array([attribute.leaves for attribute in classes.table.attributes], dtype=np.float64)
    each = ((classes.block_leaves - 1) / np.maximum(leaves - 1, 1)).mean(axis=1)
    return np.asarray(each * classes.sizes / max(classes.table.n, 1))


def _round(state: _SearchedGroups, random: np.random.Generator, number: int) -> bool:
    """Try one way to regroup everywhere; return whether some group got better."""
    limit = state.arrays.problem.limit
    if limit and number % 8 == 6:
        return _restore(state, random)
    rows, bundle, place = _bundles(state, random, (1, 2, 2, 3, 2, 4, 2, 6)[number % 8])
    if not rows.size:
        return False
    way = random.integers(6)
    if way < 3:
        part = _recut(state, random, rows, bundle, deal=way == 2)
    elif way < 5:
        part = _exchange(random, bundle, place, swap=way == 4)
    elif limit:
        part = _leave_out(random, bundle, place)
    else:
        part = np.zeros(rows.size, dtype=np.int64)  # all of a bundle together
    return _accept(state, _Trial(rows, bundle, part))


def _bundles(state: _SearchedGroups, random: np.random.Generator, size: int) -> tuple[IntArray, IntArray, IntArray]:
    """Put neighbouring groups together; return the rows, sorted by bundle, and the bundle and group of each.

    Groups are numbered within their bundle. Bundles do not cross the limits on levels.
    """
    order, first = _sorted_rows(state.group)
    if not first.size:
        return order, order, order
    codes = state.arrays.codes[state.row[order[first]]]
    coarse = codes >> random.integers(0, 4, size=codes.shape[1])
    by = np.lexsort((random.random(first.size), *coarse[:, random.permutation(codes.shape[1])].T))
    cells = state.cells[order[first]]
    by = by[np.argsort(cells[by], kind="stable")]
    begins = np.flatnonzero(np.diff(cells[by], prepend=-1))
    place = np.arange(by.size) - np.repeat(begins, np.diff(np.append(begins, by.size)))
    place = place + np.repeat(random.integers(0, size, begins.size), np.diff(np.append(begins, by.size)))
    bundle_at = np.cumsum((place % size == 0) | np.isin(np.arange(by.size), begins)) - 1
    bundle_of, within = np.empty_like(by), np.empty_like(by)
    bundle_of[by] = bundle_at
    starts = np.flatnonzero(np.diff(bundle_at, prepend=-1))
    within[by] = np.arange(by.size) - starts[bundle_at]
    group = state.group[order]
    sort = np.argsort(bundle_of[group] * size + within[group], kind="stable")
    return order[sort], bundle_of[group][sort], within[group][sort]


def highest_cells(problem: Problem) -> IntArray:
    """Return for each tuple the number of its combination of highest nodes, beyond which no group may go."""
    cell = np.zeros(problem.table.tuples, dtype=np.int64)
    for attribute, codes, top in zip(problem.table.attributes, problem.table.codes, problem.highest, strict=True):
        if attribute.tree and top < attribute.height:
            cell = cell * attribute.block_leaves[top].size + attribute.ancestors[top, codes]
            cell = np.unique(cell, return_inverse=True)[1].reshape(-1)
    return cell


def _recut(
    state: _SearchedGroups, random: np.random.Generator, rows: IntArray, bundle: IntArray, *, deal: bool
) -> IntArray:
    """Sort the rows of each bundle by a few columns and cut them into parts of about equal size, or deal them out.

    The number of parts is the most that the smallest class size allows, or a random lower one.
    """
    problem, arrays = state.arrays.problem, state.arrays
    columns = [*arrays.codes.T, *arrays.values.values(), *([] if arrays.labels is None else [arrays.labels])]
    chosen = random.permutation(len(columns))[: int(random.integers(1, len(columns) + 1))]
    keys = [columns[int(i)][state.row[rows]] for i in chosen]
    order = np.lexsort((random.random(rows.size), *keys, bundle))
    begins = np.flatnonzero(np.diff(bundle, prepend=-1))
    length = np.diff(np.append(begins, rows.size))
    least = smallest_group(problem)
    most = np.maximum(length // least, 1)
    fewer = random.integers(0, 2, size=most.size) * random.integers(0, 3, size=most.size)
    parts = np.maximum(most - fewer, 1)
    place = np.arange(rows.size) - np.repeat(begins, length)
    if deal:
        cut = place % np.repeat(parts, length)
    else:
        cut = place * np.repeat(parts, length) // np.repeat(length, length)
        if random.random() < 0.3 and problem.table.n:  # all parts as small as possible but the last
            cut = np.minimum(place // least, np.repeat(parts, length) - 1)
    part = np.empty(rows.size, dtype=np.int64)
    part[order] = cut
    return part


def _picked(random: np.random.Generator, bundle: IntArray, place: IntArray) -> IntArray:
    """Return one random row of each group of each bundle."""
    order: IntArray = np.lexsort((random.random(bundle.size), place, bundle))
    new = (np.diff(bundle[order], prepend=-1) != 0) | (np.diff(place[order], prepend=-1) != 0)
    picked: IntArray = order[new]
    return picked


def _exchange(random: np.random.Generator, bundle: IntArray, place: IntArray, *, swap: bool) -> IntArray:
    """Send a random row of each group to the next of its bundle, or only one of the first group."""
    part = place.copy()
    groups = np.zeros(int(bundle.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(groups, bundle, place + 1)
    picked = _picked(random, bundle, place)
    if not swap:
        giver = random.integers(0, 1 << 30, groups.size) % groups
        picked = picked[place[picked] == giver[bundle[picked]]]
    part[picked] = (place[picked] + 1) % groups[bundle[picked]]
    return part


def _leave_out(random: np.random.Generator, bundle: IntArray, place: IntArray) -> IntArray:
    """Suppress a random row of the first group of each bundle."""
    part = place.copy()
    picked = _picked(random, bundle, place)
    part[picked[place[picked] == 0]] = -1
    return part


def _accept(state: _SearchedGroups, trial: _Trial) -> bool:
    """Price the new groups of each bundle, and keep those of bundles that cost less and are ok."""
    bundles = int(trial.bundle.max()) + 1
    width = int(trial.part.max(initial=0)) + 1
    stays = trial.part >= 0
    rows, bundle, part = trial.rows[stays], trial.bundle[stays], trial.part[stays]
    if not rows.size:
        return False
    order = np.argsort(bundle * width + part, kind="stable")
    cell = (bundle * width + part)[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    owner = cell[first] // width
    found = state.arrays.cover(state.row[rows[order]], first)
    price, ok = _prices(state, found.classes)
    new = np.bincount(owner, weights=price, minlength=bundles)
    lost = np.bincount(trial.bundle[~stays], weights=state.suppressed[trial.rows[~stays]], minlength=bundles)
    bad = np.bincount(owner, weights=~ok, minlength=bundles) > 0
    same = number_by_shown(found.covers).astype(np.int64)
    pairs, times = np.unique(owner * (int(same.max()) + 1) + same, return_counts=True)
    bad[pairs[times > 1] // (int(same.max()) + 1)] = True  # two new groups that would be one class
    old_of, at = np.unique(state.group[trial.rows], return_index=True)
    old = np.bincount(trial.bundle[at], weights=state.price[old_of], minlength=bundles)
    better = ~bad & (new + lost < old - _ROUNDING * (np.abs(old) + 1))
    gone = np.bincount(trial.bundle[~stays], minlength=bundles)
    if gone.any():
        allowed = state.arrays.problem.limit - int((state.group < 0).sum())
        better &= np.cumsum(np.where(better, gone, 0)) <= allowed
    if not better.any():
        return False
    move = better[trial.bundle]
    fresh = int(state.group.max()) + 1
    state.group[trial.rows[move]] = np.where(
        trial.part[move] < 0, -1, fresh + trial.bundle[move] * width + trial.part[move]
    )
    _renumber(state)
    return True


def _restore(state: _SearchedGroups, random: np.random.Generator) -> bool:
    """Put suppressed rows into groups where they cost less; return whether some were."""
    out = np.flatnonzero(state.group < 0)
    order, first = _sorted_rows(state.group)
    if not out.size or not first.size:
        return False
    ends = np.append(first[1:], order.size)
    rows = random.permutation(out)[: _RESTORED[0]]
    groups = random.permutation(first.size)[: _RESTORED[1]]
    cells = state.cells
    changed = False
    taken: set[int] = set()
    for row in rows.tolist():
        near = [g for g in groups.tolist() if g not in taken and cells[order[first[g]]] == cells[row]]
        if not near:
            continue
        members = [np.append(order[first[g] : ends[g]], row) for g in near]
        begins = np.cumsum([0, *(each.size for each in members[:-1])])
        price, ok = _prices(state, state.arrays.cover(state.row[np.concatenate(members)], begins).classes)
        gain = np.where(ok, state.price[near] + state.suppressed[row] - price, -np.inf)
        best = int(gain.argmax())
        if gain[best] > 1e-9:
            state.group[row] = near[best]
            taken.add(near[best])
            changed = True
    if changed:
        _renumber(state)
    return changed
