"""From a problem to the arrays of the search over cuts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, Histogram, IntArray
from discreet.problem import Problem, Separable
from discreet.problem.privacy import TOLERANCE, ThresholdModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.privacy.l_diversity import LDiversity
from discreet.solve._class_arrays import dense
from discreet.solve.cuts.kernels.moves import step_down
from discreet.solve.cuts.kernels.state import (
    CLASS_RECORDS,
    CLASS_VALUES,
    EXTERNAL,
    MINORITY,
    NONE,
    SEPARABLE,
    SPECIALIZED,
    SQUARES,
    SUMS,
    VIOLATING_RECORDS,
    VIOLATING_VALUES,
    CutArrays,
    CutCell,
    CutCells,
    CutChange,
    CutFrame,
    CutNow,
    CutPart,
    CutParts,
    CutRules,
    CutStacks,
    CutTotals,
    CutWorkspace,
    HashSlot,
    KnapsackItem,
    ValueTree,
)
from discreet.solve.cuts.tree import CutTree, build_tree
from discreet.solve.kernels.records import records

__all__ = ["CutState", "CutTechniques", "grow_stacks", "is_compiled", "lay_out_cuts"]

_SUPPRESSIONS = {
    "none": NONE,
    "budget": CLASS_RECORDS,
    "class-records": CLASS_RECORDS,
    "violating-records": VIOLATING_RECORDS,
    "class-values": CLASS_VALUES,
    "violating-values": VIOLATING_VALUES,
}
_UNLIMITED = 2.0
"""A threshold no share reaches."""
_MOST_LOOK_AHEAD = 50_000
"""With more cells than this, look-ahead takes longer than the cuts it prunes."""


@dataclass(frozen=True)
class CutTechniques:
    """Techniques of the search; each can be switched off to measure it; see :class:`CutsSolver`."""

    order: str = "entropy"
    tight: bool = True
    update: bool = True
    formal: bool = False
    top: int = 1


@dataclass(frozen=True, eq=False)
class CutState:
    """All arrays of one search, and the tree they refer to."""

    cut_tree: CutTree
    arrays: CutArrays
    shift: float
    """Cost of every recoding that the search leaves out of account: the offsets of a separable cost."""

    @property
    def now(self) -> Any:
        """Stack heights and counters; fields are read by name, which is faster outside of kernels."""
        return self.arrays.stacks.now[0]

    @property
    def total(self) -> Any:
        """Sums over the active parts."""
        return self.arrays.stacks.total[0]


def lay_out_cuts(problem: Problem, techniques: CutTechniques) -> CutState:
    """Return the arrays for a problem, at its most general cut."""
    table, tight = problem.table, techniques.tight
    separable = problem.cost.separable(table)
    compiled = is_compiled(problem, separable)
    forced = tight and techniques.top == 1 and problem.cost.superadditive
    cut_tree = build_tree(problem, separable, techniques.order, techniques.formal, forced)
    tree = cut_tree.tree
    codes = np.stack([low[code] for low, code in zip(cut_tree.leaf_value, table.codes, strict=True)], axis=1)
    stride, exact_keys = _strides(tree)
    pricing = _pricing(problem, separable, compiled)
    histogram = _histogram(problem, pricing.price) if compiled else None
    merged = _merged_tuples(codes, merge=any(problem.lowest))
    counted = table.units if compiled or (problem.limit_of_people and not problem.varying) else table
    cells = _cells(counted, codes, merged, stride, pricing.sums, histogram, chained=not compiled)
    count = cells.first_cells
    looks_ahead = tight and techniques.update and compiled and count <= _MOST_LOOK_AHEAD
    labels = table.labels.cardinality if pricing.price == MINORITY and table.labels is not None else 1
    suppression = _suppression(problem)
    theta, owner = _thresholds(problem, histogram, labels if suppression == VIOLATING_RECORDS else 1)
    distinct = max((m.l for m in problem.privacy if isinstance(m, LDiversity)), default=0) if compiled else 0
    rules = CutRules(
        suppression=suppression,
        price=pricing.price,
        smallest=float(_smallest(problem, suppression)),
        distinct=float(distinct),
        rows=float(table.units.n if compiled else table.n),
        limit=float(_limit(problem, compiled)),
        penalty=float(pricing.penalty),
        value_penalty=float(problem.cost.value_penalty(table) or 0.0),
        ambiguous=problem.suppression.keeps_ambiguous,
        labels=int(labels),
        tight=bool(tight),
        update=bool(techniques.update),
        exact_keys=exact_keys,
        look_ahead=(2 if techniques.order == "entropy" else 1) if looks_ahead else 0,
        theta=theta,
        owner=owner,
        stride=stride,
        summed=not problem.whole_people,
    )
    work = _workspace(count, tree, theta.size, owner.size, cells.sums.shape[1])
    stacks = _stacks(cut_tree, cells, min(techniques.top, cut_tree.cuts()))
    state = CutState(cut_tree, CutArrays(tree, cells, _parts(cut_tree, count), rules, work, stacks), pricing.shift)
    _open_roots(state)
    return state


def is_compiled(problem: Problem, separable: Separable | None) -> bool:
    """Whether the kernels know all models and the cost, and at most one sensitive attribute matters.

    Where people are counted, they take people for rows and the rows of costs for sums.
    """
    if problem.people is not None and not _counts_like_rows(problem, separable):
        return False
    whole = problem.divided is None and not problem.suppression.hides_values
    known: set[type] = {KAnonymity, LDiversity} if whole else {KAnonymity}
    attributes = {model.attribute for model in problem.privacy if isinstance(model, ThresholdModel | LDiversity)}
    if len(attributes) > 1:
        return False
    if any(isinstance(model, ThresholdModel) and model.histogram(problem.table).missing for model in problem.privacy):
        return False  # the kernels take the size of a class for the number of its known values
    if any(type(model) not in known and not getattr(model, "compiled", False) for model in problem.privacy):
        return False
    if (
        separable is not None
        and not whole
        and not problem.suppression.hides_values
        and separable.sums(problem.table)[1].size
    ):
        return False  # the kernels take all rows of a class for equally dear to suppress
    return separable is not None or problem.cost.compiled is not None


def _counts_like_rows(problem: Problem, separable: Separable | None) -> bool:
    """Whether people add up like rows, each with one value, and the limit does not count rows."""
    if problem.varying or separable is None or (problem.suppression.is_budget and not problem.limit_of_people):
        return False
    columns = (model.column for model in problem.privacy if isinstance(model, ThresholdModel))
    return not any(problem.table.units.sensitive[column].overlaps for column in columns)


def _limit(problem: Problem, compiled: bool) -> int:
    """What the limit is in terms of the rows of cells: people where these are people."""
    if compiled and problem.people is not None:
        return min(problem.limit, problem.people.count)
    return problem.row_limit if problem.whole_people else problem.limit


def _suppression(problem: Problem) -> int:
    if problem.divided is None and not problem.suppression.whole_classes:
        return NONE if problem.suppression.hides_values else CLASS_RECORDS
    return _SUPPRESSIONS.get(problem.suppression.name, CLASS_RECORDS)  # other kinds are budgets


def _smallest(problem: Problem, suppression: int) -> int:
    """Size of the smallest valid class; where values are hidden, of the smallest that can be mended."""
    if suppression in (CLASS_VALUES, VIOLATING_VALUES):
        return max((model.minimum_size for model in problem.privacy if not model.looks_at_sensitive), default=1)
    return problem.smallest_class


@dataclass(frozen=True, eq=False)
class _Pricing:
    """How classes are priced: the formula, the sums it needs of each tuple, the penalty of a row, and the shift."""

    price: int
    sums: FloatArray
    penalty: float = 0.0
    shift: float = 0.0


def _pricing(problem: Problem, separable: Separable | None, compiled: bool) -> _Pricing:
    table = problem.table
    no_sums = np.zeros((table.tuples, 0))
    if not compiled:
        return _Pricing(EXTERNAL, no_sums)
    if separable is None:
        if problem.cost.compiled == "squares":
            return _Pricing(SQUARES, no_sums, float(table.n))
        assert table.labels is not None
        return _Pricing(MINORITY, dense(table.labels, table.tuples).astype(np.float64), 1.0)
    offsets = [offset[code] * table.weights for offset, code in zip(separable.offset, table.codes, strict=True)]
    penalty, sums = separable.sums(table, always=problem.people is not None)
    return _Pricing(SUMS if sums.shape[1] else SEPARABLE, sums, penalty, float(np.sum(offsets)))


def _histogram(problem: Problem, price: int) -> Histogram | None:
    """The sensitive histogram, split by class label where the price of removed records depends on it."""
    for model in problem.privacy:
        if isinstance(model, ThresholdModel | LDiversity):
            if _suppression(problem) == VIOLATING_RECORDS and price == MINORITY:
                return problem.table.joint[model.column]
            return problem.table.units.sensitive[model.column]
    return None


def _thresholds(problem: Problem, histogram: Histogram | None, labels: int) -> tuple[FloatArray, NDArray[np.int32]]:
    """The largest share of each sensitive value, and the value of each histogram entry."""
    if histogram is None:
        return np.full(1, _UNLIMITED), np.zeros(1, dtype=np.int32)
    theta = np.full(histogram.cardinality // labels, _UNLIMITED)
    for model in problem.privacy:
        if isinstance(model, ThresholdModel):
            own = problem.table.units.sensitive[model.column]
            thetas = np.where(own.totals > 0, model.thetas(own.totals, own.labels) * (1 + TOLERANCE), _UNLIMITED)
            theta = np.minimum(theta, thetas)
    return theta, (np.arange(histogram.cardinality) // labels).astype(np.int32)


def _strides(tree: ValueTree) -> tuple[NDArray[np.int64], bool]:
    """What one step of each attribute's value adds to the key of a cell, and whether keys are then unique.

    Mixed radix where it fits in 62 bits; otherwise random factors, and equal keys are compared code by code.
    """
    widths = np.bincount(tree.attribute).tolist()
    stride, span, exact = [], 1, True
    for width in widths:
        stride.append(span % (1 << 63))
        span *= width
        exact = exact and span < 1 << 62
    if not exact:
        return np.random.default_rng(0).integers(1, 1 << 62, len(widths), dtype=np.int64), False
    return np.array(stride, dtype=np.int64), True


def _merged_tuples(codes: IntArray, *, merge: bool) -> tuple[IntArray, IntArray]:
    """The first tuple of each cell and the cell of each tuple; they differ where a level limit merges tuples."""
    if not merge:
        return np.arange(codes.shape[0]), np.arange(codes.shape[0])
    _, first, owner = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return first, owner.reshape(-1)


def _cells(
    table: CountTable,
    codes: IntArray,
    merged: tuple[IntArray, IntArray],
    stride: IntArray,
    sums: FloatArray,
    histogram: Histogram | None,
    *,
    chained: bool,
) -> CutCells:
    """The most specific classes: one cell per tuple, or per group of tuples that the lowest levels merge."""
    first, owner = merged
    count, room = first.size, 3 * first.size + 16
    code, record = np.zeros((room, codes.shape[1]), dtype=np.int32), records(CutCell, room)
    added = np.zeros((room, sums.shape[1]))
    code[:count] = codes[first]
    cell: Any = record[:count]
    with np.errstate(over="ignore"):
        cell["key"] = (code[:count] * stride).sum(axis=1)
    cell["kept"] = -1
    cell["rows"] = np.bincount(owner, weights=table.weights, minlength=count)
    for c in range(sums.shape[1]):
        added[:count, c] = np.bincount(owner, weights=sums[:, c], minlength=count)
    values, counts, entries = np.zeros(16, dtype=np.int32), np.zeros(16, dtype=np.int64), 0
    if histogram is not None:
        pair = np.repeat(owner, np.diff(histogram.offsets)) * np.int64(histogram.cardinality) + histogram.values
        keys, entry = np.unique(pair, return_inverse=True)
        entries = keys.size
        values = np.zeros(3 * entries + 16, dtype=np.int32)
        counts = np.zeros(3 * entries + 16, dtype=np.int64)
        values[:entries] = keys % histogram.cardinality
        counts[:entries] = np.rint(np.bincount(entry.reshape(-1), weights=histogram.counts))
        border = np.searchsorted(keys, np.arange(count + 1) * np.int64(histogram.cardinality))
        cell["first_entry"], cell["end_entry"] = border[:-1], border[1:]
    next_tuple = np.zeros(0, dtype=np.int32)
    if chained:
        order = np.argsort(owner, kind="stable")
        border = np.searchsorted(owner[order], np.arange(count + 1))
        next_tuple = np.full(table.tuples, -1, dtype=np.int32)
        followed = np.flatnonzero(owner[order][1:] == owner[order][:-1])
        next_tuple[order[followed]] = order[followed + 1]
        cell["first_tuple"], cell["last_tuple"] = order[border[:-1]], order[border[1:] - 1]
    return CutCells(code, record, values, counts, added, next_tuple, count, entries)


def _parts(cut_tree: CutTree, count: int) -> CutParts:
    m, room = cut_tree.roots.size, 4 * count + 64
    parts = CutParts(
        np.zeros((room, m), dtype=np.int32), records(CutPart, room), np.zeros((room, m, 2)), np.zeros((room, m))
    )
    parts.code[0] = cut_tree.roots
    parts.record[0].end = count
    return parts


def _workspace(count: int, tree: ValueTree, values: int, entries: int, sums: int) -> CutWorkspace:
    widest = int((tree.end - tree.first).max(initial=0))
    table = 16
    while table < 4 * count:
        table *= 2
    return CutWorkspace(
        hist=np.zeros(values, dtype=np.int64),
        joint=np.zeros(entries, dtype=np.int64),
        touched=np.zeros(values, dtype=np.int32),
        need=np.zeros(values, dtype=np.int64),
        item=records(KnapsackItem, count * 2 + 2),
        group=np.zeros(count + 1, dtype=np.int32),
        tally=np.zeros(max(count, widest) + 2, dtype=np.int64),
        table=records(HashSlot, table),
        sums=np.zeros(sums + 1),
        listed=np.zeros(count + 1, dtype=np.int32),
        position=np.zeros(count + 1, dtype=np.int32),
        born=np.zeros(count + 1, dtype=np.int64),
        shared_rise=np.zeros((tree.first.size, 2)),
        full_rise=np.zeros((tree.first.size, 2)),
        lock_weight=np.zeros(tree.first.size),
    )


def _stacks(cut_tree: CutTree, cells: CutCells, top: int) -> CutStacks:
    values, count = cut_tree.tree.first.size, cells.first_cells
    stacks = CutStacks(
        active=np.zeros(count + 2, dtype=np.int32),
        perm=np.zeros(5 * count + 16, dtype=np.int32),
        now=records(CutNow, 1),
        total=records(CutTotals, 1),
        open=np.zeros(values + 1, dtype=np.int32),
        mark=np.zeros(values, dtype=np.int8),
        best=np.zeros((top, values), dtype=np.int8),
        best_cost=np.full(top, np.inf),
        frame=records(CutFrame, values + 2),
        log=records(CutChange, 4 * count + 64),
    )
    stacks.perm[:count] = np.arange(count)
    now: Any = stacks.now[0]
    now["active"], now["parts"], now["cells"], now["perm"], now["entries"] = 1, 1, count, count, cells.first_entries
    stacks.mark[cut_tree.roots] = 1
    stacks.total[0].best = np.inf
    return stacks


def _open_roots(state: CutState) -> None:
    """Open the root of each attribute; auxiliary roots, which no cut holds, are specialized for good."""
    tree, parts, stacks, now = state.arrays.tree, state.arrays.parts, state.arrays.stacks, state.now
    for root in state.cut_tree.roots.tolist():
        if tree.end[root] > tree.first[root]:
            stacks.open[now["open"]] = root
            now["open"] += 1
    for position in range(int(now["open"]) - 1, -1, -1):
        if state.cut_tree.auxiliary[stacks.open[position]]:
            step_down(state.arrays, position, SPECIALIZED)
    count = int(now["active"])
    kept = stacks.active[:count].copy()
    record: Any = parts.record
    parts.code[:count], record[:count] = parts.code[kept], record[kept]
    stacks.active[:count] = np.arange(count)
    now["parts"], now["depth"], now["log"] = count, 0, 0


def grow_stacks(state: CutState) -> CutState:
    """Return the state with twice the room on every stack."""

    def longer(array: Any) -> Any:
        """Copy as bytes: numpy copies records field by field, which takes several times as long."""
        grown = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
        grown.reshape(-1).view(np.int8)[: array.nbytes] = np.asarray(array).reshape(-1).view(np.int8)
        return grown.view(type(array))

    cells, stacks = state.arrays.cells, state.arrays.stacks
    arrays = state.arrays._replace(
        cells=cells._replace(
            code=longer(cells.code),
            record=longer(cells.record),
            sums=longer(cells.sums),
            value=longer(cells.value),
            count=longer(cells.count),
        ),
        parts=CutParts(*map(longer, state.arrays.parts)),
        stacks=stacks._replace(perm=longer(stacks.perm), log=longer(stacks.log)),
    )
    return replace(state, arrays=arrays)
