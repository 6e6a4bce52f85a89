"""From a problem to the arrays of the search over cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, Histogram, IntArray
from discreet.kernels.cut_moves import step_down
from discreet.kernels.cut_state import (
    ACTIVE,
    BEST,
    CELLS,
    CLASS_RECORDS,
    CLASS_VALUES,
    COUNTERS,
    DEPTH,
    ENTRIES,
    FACTS,
    GIVEN,
    HEAD,
    KEPT,
    KEY,
    LOG,
    MINORITY,
    NONE,
    OPEN,
    PLACES,
    SEPARABLE,
    SIZE,
    SLOTS,
    SPECIALIZED,
    SQUARES,
    STACKED,
    START,
    STOP,
    SUMMED,
    SUMS,
    TAIL,
    TOTALS,
    VIOLATING_RECORDS,
    VIOLATING_VALUES,
    Cells,
    Parts,
    Rules,
    Search,
    Space,
    Tree,
)
from discreet.problem import Problem, Separable
from discreet.problem.privacy._sensitive import TOLERANCE
from discreet.problem.privacy._thresholds import ThresholdModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.privacy.l_diversity import LDiversity
from discreet.solve._cut_tree import CutTree, grow_tree
from discreet.solve._gather import dense

__all__ = ["CutState", "Switches", "grown", "set_up"]

_KINDS = {
    "none": NONE,
    "budget": CLASS_RECORDS,
    "class-records": CLASS_RECORDS,
    "violating-records": VIOLATING_RECORDS,
    "class-values": CLASS_VALUES,
    "violating-values": VIOLATING_VALUES,
}
_MOST_LOOKED_AT = 50_000
"""With more cells than this, looking ahead takes longer than the cuts it saves."""


@dataclass(frozen=True)
class Switches:
    """Which techniques are used; all of them unless somebody wants to see what one is worth."""

    order: str = "entropy"
    tight: bool = True
    update: bool = True
    formal: bool = False
    top: int = 1


@dataclass(frozen=True, eq=False)
class CutState:
    """All arrays of one search."""

    cut_tree: CutTree
    cells: Cells
    parts: Parts
    rules: Rules
    space: Space
    search: Search
    tuples: int
    """The number of cells, and ..."""
    entries: int
    """... of histogram entries there are at first."""
    shift: float
    """What every recoding costs anyway, and the search leaves out."""

    @property
    def tree(self) -> Tree:
        """The values and how they lie."""
        return self.cut_tree.tree

    @property
    def arrays(self) -> tuple[Tree, Cells, Parts, Rules, Space, Search]:
        """What kernels take."""
        return self.tree, self.cells, self.parts, self.rules, self.space, self.search


def set_up(problem: Problem, switches: Switches) -> CutState:
    """Lay a problem out for the search, with the cut everything starts from."""
    table = problem.table
    separable = problem.cost.separable(table)
    compiled = is_compiled(problem, separable)
    kind = _kind(problem)
    tight = switches.tight
    cut_tree = grow_tree(
        problem, separable, switches.order, switches.formal, tight and switches.top == 1 and problem.cost.superadditive
    )
    tree = cut_tree.tree
    codes = np.stack([low[code] for low, code in zip(cut_tree.leaf_value, table.codes, strict=True)], axis=1)
    stride, exact = _strides(tree)
    price, sums, penalty, shift = _price(problem, separable, compiled)
    histogram = _histogram(problem, kind, price) if compiled else None
    cells, count, entries = _cells(
        table, codes, stride, histogram, sums, lifted=any(problem.lowest), listed=not compiled
    )
    looks = tight and switches.update and compiled and count <= _MOST_LOOKED_AT
    facts = dict.fromkeys(FACTS, 0.0)
    facts |= {
        "kind": kind,
        "price": price,
        "smallest": _smallest(problem, kind),
        "distinct": max((m.l for m in problem.privacy if isinstance(m, LDiversity)), default=0) if compiled else 0,
        "rows": table.n,
        "limit": problem.limit,
        "penalty": penalty,
        "value_penalty": problem.cost.value_penalty(table) or 0.0,
        "labels": table.labels.cardinality if price == MINORITY and table.labels is not None else 1,
        "knapsack": tight,
        "update": switches.update,
        "exact_keys": exact,
        "ahead": (2 if switches.order == "entropy" else 1) if looks else 0,
    }
    theta, owner = _thresholds(problem, histogram, int(facts["labels"]) if kind == VIOLATING_RECORDS else 1)
    rules = Rules(np.array([float(facts[name]) for name in FACTS]), theta, owner, stride)
    state = CutState(
        cut_tree,
        cells,
        _parts(cut_tree, count),
        rules,
        _space(count, tree, theta.size, owner.size, cells.sums.shape[1]),
        _search(cut_tree, count, entries, min(switches.top, cut_tree.cuts())),
        count,
        entries,
        shift,
    )
    _open(state)
    return state


def is_compiled(problem: Problem, separable: Separable | None) -> bool:
    """Whether kernels know all models and the cost, and at most one sensitive attribute is looked at."""
    whole = problem.divided is None and not problem.suppression.hides_values
    known = {KAnonymity, LDiversity} if whole else {KAnonymity}
    attributes = {model.attribute for model in problem.privacy if isinstance(model, ThresholdModel | LDiversity)}
    if len(attributes) > 1:
        return False
    if any(isinstance(model, ThresholdModel) and model.histogram(problem.table).missing for model in problem.privacy):
        return False  # kernels take the size of a class for the number of its known values
    if any(type(model) not in known and not getattr(model, "compiled", False) for model in problem.privacy):
        return False
    return separable is not None or problem.cost.compiled is not None


def _kind(problem: Problem) -> int:
    if problem.divided is None and not problem.suppression.whole_classes:
        return NONE if problem.suppression.hides_values else CLASS_RECORDS
    return _KINDS[problem.suppression.name]


def _smallest(problem: Problem, kind: int) -> int:
    """The least size of a class that is ok; where values are hidden, of one that is allowed at all."""
    if kind in (CLASS_VALUES, VIOLATING_VALUES):
        return max((model.minimum_size for model in problem.privacy if not model.looks_at_sensitive), default=1)
    return problem.smallest_class


def _price(problem: Problem, separable: Separable | None, compiled: bool) -> tuple[int, FloatArray, float, float]:
    """How a class is priced, the sums that takes with each tuple, the penalty per row, and what is paid anyway."""
    table = problem.table
    nothing = np.zeros((table.tuples, 0))
    if not compiled:
        return GIVEN, nothing, 0.0, 0.0
    if separable is None:
        if problem.cost.compiled == "squares":
            return SQUARES, nothing, float(table.n), 0.0
        assert table.labels is not None
        return MINORITY, dense(table.labels, table.tuples).astype(np.float64), 1.0, 0.0
    offsets = [offset[code] * table.weights for offset, code in zip(separable.offset, table.codes, strict=True)]
    shift = float(np.sum(offsets))
    penalty, sums = separable.sums(table)
    return SUMS if sums.shape[1] else SEPARABLE, sums, penalty, shift


def _histogram(problem: Problem, kind: int, price: int) -> Histogram | None:
    """The histogram the models look at, with labels told apart where the price of removing records needs it."""
    for model in problem.privacy:
        if isinstance(model, ThresholdModel | LDiversity):
            if kind == VIOLATING_RECORDS and price == MINORITY:
                return problem.table.joint[model.column]
            return problem.table.sensitive[model.column]
    return None


def _thresholds(problem: Problem, histogram: Histogram | None, labels: int) -> tuple[FloatArray, NDArray[np.int32]]:
    """The largest share of each value, and the value each entry of the histogram stands for."""
    if histogram is None:
        return np.full(1, 2.0), np.zeros(1, dtype=np.int32)
    theta = np.full(histogram.cardinality // labels, 2.0)
    for model in problem.privacy:
        if isinstance(model, ThresholdModel):
            own = problem.table.sensitive[model.column]
            theta = np.minimum(theta, model.thetas(own.totals, own.labels) * (1 + TOLERANCE))
    return theta, (np.arange(histogram.cardinality) // labels).astype(np.int32)


def _strides(tree: Tree) -> tuple[NDArray[np.int64], bool]:
    """What a step of each attribute's value adds to the key of a cell, and whether keys are then all different."""
    widths = np.bincount(tree.attribute).tolist()
    stride, span, exact = [], 1, True
    for width in widths:
        stride.append(span % (1 << 63))
        span *= width
        exact = exact and span < 1 << 62
    if not exact:
        return np.random.default_rng(0).integers(1, 1 << 62, len(widths), dtype=np.int64), False
    return np.array(stride, dtype=np.int64), True


def _cells(
    table: CountTable,
    codes: IntArray,
    stride: IntArray,
    histogram: Histogram | None,
    sums: FloatArray,
    *,
    lifted: bool,
    listed: bool,
) -> tuple[Cells, int, int]:
    """The most specific classes: the tuples, or what becomes of them at the lowest level allowed."""
    first = owner = np.arange(codes.shape[0])
    if lifted:
        _, first, owner = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        owner = owner.reshape(-1)
    count, m = first.size, codes.shape[1]
    room = 3 * count + 16
    code, link = np.zeros((room, m), dtype=np.int32), np.zeros((room, 5), dtype=np.int64)
    number, added = np.zeros((room, 6)), np.zeros((room, sums.shape[1]))
    code[:count] = codes[first]
    with np.errstate(over="ignore"):
        link[:count, KEY] = (code[:count] * stride).sum(axis=1)
    number[:count, KEPT] = -1
    number[:count, SIZE] = np.bincount(owner, weights=table.weights, minlength=count)
    for c in range(sums.shape[1]):
        added[:count, c] = np.bincount(owner, weights=sums[:, c], minlength=count)
    values, counts, entries = np.zeros(16, dtype=np.int32), np.zeros(16, dtype=np.int64), 0
    if histogram is not None:
        cell = np.repeat(owner, np.diff(histogram.offsets)) * np.int64(histogram.cardinality) + histogram.values
        keys, place = np.unique(cell, return_inverse=True)
        entries = keys.size
        values = np.zeros(3 * entries + 16, dtype=np.int32)
        counts = np.zeros(3 * entries + 16, dtype=np.int64)
        values[:entries] = keys % histogram.cardinality
        counts[:entries] = np.rint(np.bincount(place.reshape(-1), weights=histogram.counts))
        border = np.searchsorted(keys, np.arange(count + 1) * np.int64(histogram.cardinality))
        link[:count, START], link[:count, STOP] = border[:-1], border[1:]
    after = np.zeros(0, dtype=np.int32)
    if listed:
        order = np.argsort(owner, kind="stable")
        border = np.searchsorted(owner[order], np.arange(count + 1))
        after = np.full(table.tuples, -1, dtype=np.int32)
        inside = np.flatnonzero(owner[order][1:] == owner[order][:-1])
        after[order[inside]] = order[inside + 1]
        link[:count, HEAD], link[:count, TAIL] = order[border[:-1]], order[border[1:] - 1]
    return Cells(code, link, number, values, counts, added, after), count, entries


def _parts(cut_tree: CutTree, count: int) -> Parts:
    m = cut_tree.roots.size
    room = 4 * count + 64
    parts = Parts(
        np.zeros((room, m), dtype=np.int32),
        np.zeros((room, 2), dtype=np.int64),
        np.zeros((room, 10)),
        np.zeros((room, m, 3)),
    )
    parts.code[0] = cut_tree.roots
    parts.span[0] = 0, count
    return parts


def _space(count: int, tree: Tree, values: int, entries: int, sums: int) -> Space:
    widest = int((tree.end - tree.first).max(initial=0))
    table = 16
    while table < 4 * count:
        table *= 2
    return Space(
        hist=np.zeros(values, dtype=np.int64),
        joint=np.zeros(entries, dtype=np.int64),
        touched=np.zeros(values, dtype=np.int32),
        need=np.zeros(values, dtype=np.int64),
        item=np.zeros((count * 2 + 2, 2)),
        place=np.zeros(count + 1, dtype=np.int32),
        tally=np.zeros(max(count, widest) + 2, dtype=np.int64),
        table=np.zeros((table + 2, 2), dtype=np.int64),
        sums=np.zeros(max(count, sums) + 1),
        which=np.zeros(count + 1, dtype=np.int32),
        place_of=np.zeros(count + 1, dtype=np.int32),
        born=np.zeros(count + 1, dtype=np.int64),
        rise=np.zeros((tree.first.size, 5)),
    )


def _search(cut_tree: CutTree, count: int, entries: int, top: int) -> Search:
    values = cut_tree.tree.first.size
    search = Search(
        active=np.zeros(count + 2, dtype=np.int32),
        perm=np.zeros(5 * count + 16, dtype=np.int32),
        count=np.zeros(len(COUNTERS), dtype=np.int64),
        total=np.zeros(len(TOTALS)),
        open=np.zeros(values + 1, dtype=np.int32),
        mark=np.zeros(values, dtype=np.int8),
        best=np.zeros((top, values), dtype=np.int8),
        best_cost=np.full(top, np.inf),
        frame=np.zeros((values + 2, STACKED + 4), dtype=np.int64),
        saved=np.zeros((values + 2, SUMMED)),
        log=np.zeros((4 * count + 64, 2), dtype=np.int32),
    )
    search.perm[:count] = np.arange(count)
    search.count[[ACTIVE, SLOTS]] = 1
    search.count[[CELLS, PLACES]] = count
    search.count[ENTRIES] = entries
    search.mark[cut_tree.roots] = 1
    search.total[BEST] = np.inf
    return search


def _open(state: CutState) -> None:
    """Open the top values; those that are above any cut are specialized for good."""
    tree, search, count = state.tree, state.search, state.search.count
    for root in state.cut_tree.roots.tolist():
        if tree.end[root] > tree.first[root]:
            search.open[count[OPEN]] = root
            count[OPEN] += 1
    for place in range(int(count[OPEN]) - 1, -1, -1):
        if state.cut_tree.bare[search.open[place]]:
            step_down(place, SPECIALIZED, *state.arrays)
    now = int(count[ACTIVE])
    kept = search.active[:now].copy()
    state.parts.code[:now], state.parts.span[:now] = state.parts.code[kept], state.parts.span[kept]
    search.active[:now] = np.arange(now)
    count[SLOTS], count[DEPTH], count[LOG] = now, 0, 0


def grown(state: CutState) -> CutState:
    """Return the state with twice the room on every stack."""

    def longer(array: Any) -> Any:
        return np.concatenate([array, np.zeros_like(array)])

    cells, parts, search = state.cells, state.parts, state.search
    return CutState(
        state.cut_tree,
        cells._replace(
            code=longer(cells.code),
            link=longer(cells.link),
            number=longer(cells.number),
            sums=longer(cells.sums),
            value=longer(cells.value),
            count=longer(cells.count),
        ),
        Parts(longer(parts.code), longer(parts.span), longer(parts.number), longer(parts.rise)),
        state.rules,
        state.space,
        search._replace(perm=longer(search.perm), log=longer(search.log)),
        state.tuples,
        state.entries,
        state.shift,
    )
