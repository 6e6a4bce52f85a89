"""Incumbents by simulated annealing, for lattices that are too large to be searched through."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.problem import Problem, Separable
from discreet.solve._kernel_loading import two_rows, warm_up
from discreet.solve._requirements import make_counted_requirement
from discreet.solve.kernels.classes import Lattice
from discreet.solve.kernels.pricing import MINORITY, SEPARABLE, SEPARABLE_SUMS, SQUARES
from discreet.solve.kernels.records import record, records
from discreet.solve.lattice.kernels.annealing import (
    AnnealedTable,
    ClassTally,
    KnownNode,
    Walk,
    WalkState,
    anneal,
    start_walk,
)
from discreet.solve.lattice.layout import lay_out
from discreet.solve.lattice.pricing import base_costs, leaf_rates

__all__ = ["Annealer", "can_anneal", "compile_ahead"]

_KNOWN = 1 << 15
"""Nodes remembered, twice over."""
_SEED = 0x5EED
"""The walk is the same every time: it finds an incumbent, and nothing else depends on it."""
_GOLDEN = 0x9E3779B97F4A7C15
_FIRM = 0.01
"""What a row beyond the limit costs, as a share of the worst cost; less where the limit is large."""
_NONE = np.zeros(0, dtype=np.int64)


def can_anneal(problem: Problem, separable: Separable | None) -> bool:
    """Return whether the walk can price the nodes of a problem: compiled models and cost, and only whole classes go."""
    if problem.suppression.hides_values or problem.divided is not None or problem.looks_at_population:
        return False
    if problem.people is not None:
        return False
    if any(model.of_table for model in problem.privacy) or (not problem.cost.additive and problem.limit > 0):
        return False
    if separable is None and problem.cost.compiled is None:
        return False
    return make_counted_requirement(problem)[0].complete


@cache
def compile_ahead() -> None:
    """Load the kernels, or compile them the first time ever, on a table of two rows."""

    def walk_over_two_rows() -> None:
        problem = Problem.build(two_rows(), privacy="k(2)", cost="LM")
        separable = problem.cost.separable(problem.table)
        annealer = Annealer(problem, lay_out(problem), separable, leaf_rates(problem.table, separable))
        annealer.start(np.array(problem.highest), 2)
        annealer.run(2)

    warm_up("annealing over levels", walk_over_two_rows)


class Annealer:
    """A walk over the nodes of a problem that ends in good ones, run after run."""

    def __init__(
        self, problem: Problem, lattice: Lattice, separable: Separable | None, rates: list[FloatArray]
    ) -> None:
        worst, limit = problem.cost.worst(problem.table), problem.limit
        self.table = _make_table(problem, lattice, separable, rates)
        self.tally = _make_tally(problem, self.table)
        self.walk = Walk(
            state=record(WalkState, best=np.inf, cost=np.inf, limit=limit, firm=_FIRM * worst / (1.0 + _FIRM * limit)),
            random=np.array([_SEED], dtype=np.uint64),
            limits=lattice.limits,
            published=_published(problem, lattice, separable, rates),
            digest=_scrambled(np.arange(lattice.level.size) + (1 << 40)).astype(np.int64).reshape(lattice.level.shape),
            known=records(KnownNode, _KNOWN),
            node=np.zeros(len(problem.table.attributes), dtype=np.int64),
            best=np.zeros(len(problem.table.attributes), dtype=np.int64),
        )

    @property
    def best(self) -> float:
        """The cost of the best node, up to errors of rounding and hashing."""
        return float(self.walk.state.best)

    @property
    def node(self) -> NDArray[np.int64]:
        """The best node."""
        return self.walk.best.copy()

    @property
    def evaluated(self) -> int:
        """How many nodes were evaluated."""
        return int(self.walk.state.evaluated)

    def start(self, node: IntArray, evaluations: int, temperature: float = -1.0) -> None:
        """Begin a run of so many evaluations at a node; the temperature falls to 0, from one learned by default."""
        self.walk.node[:] = node
        start_walk(self.walk, evaluations, temperature)

    def run(self, evaluations: int) -> bool:
        """Go on with the run for some evaluations; return whether it is over."""
        return bool(anneal(self.table, self.tally, self.walk, evaluations))


def _scrambled(numbers: IntArray) -> NDArray[np.uint64]:
    """Return a random number for each number: always the same (splitmix64)."""
    x = (numbers.astype(np.uint64) + np.uint64(_SEED)) * np.uint64(_GOLDEN)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)), dtype=np.uint64)


def _published(
    problem: Problem, lattice: Lattice, separable: Separable | None, rates: list[FloatArray]
) -> NDArray[np.float64]:
    published = np.zeros(lattice.level.shape)
    if separable is not None:
        for i, base in enumerate(base_costs(problem.table, separable, rates)):
            published[i, : base.size] = base
    return published


def _make_table(
    problem: Problem, lattice: Lattice, separable: Separable | None, rates: list[FloatArray]
) -> AnnealedTable:
    table = problem.table
    price, penalty = np.zeros(lattice.ancestors.size), np.full(table.tuples, float(table.n))
    if separable is not None:
        each = zip(rates, separable.moment, separable.offset, strict=True)
        price = np.concatenate([(rate * moment + offset).ravel() for rate, moment, offset in each])
        penalty = sum(
            (p[codes] for p, codes in zip(separable.penalty, table.codes, strict=True)), np.zeros(table.tuples)
        )
        form = SEPARABLE_SUMS if separable.sums(table)[1].shape[1] else SEPARABLE
    elif problem.cost.compiled == "squares":
        form = SQUARES
    else:
        form, penalty = MINORITY, np.ones(table.tuples)
    return AnnealedTable(
        codes=lattice.codes,
        weight=np.ascontiguousarray(table.weights, dtype=np.int64),
        level=lattice.level,
        key=_scrambled(_block_numbers(table)),
        price=price,
        penalty=penalty,
        form=form,
        requirement=make_counted_requirement(problem)[0],
    )


def _block_numbers(table: CountTable) -> IntArray:
    """Return a number for the block of each leaf, level by level, that no block of another level or attribute has."""
    numbers, begin = [], 0
    for attribute in table.attributes:
        rows = begin + attribute.leaves * np.arange(attribute.height + 1)
        numbers.append((rows[:, None] + attribute.ancestors).ravel())
        begin += attribute.ancestors.size
    return np.concatenate(numbers)


def _make_tally(problem: Problem, annealed: AnnealedTable) -> ClassTally:
    table, requirement = problem.table, annealed.requirement
    tuples, labels = table.tuples, table.labels if annealed.form == MINORITY else None
    cells = 64
    while 2 * cells < 3 * tuples:
        cells *= 2
    offset, value, rows = np.zeros(tuples + 1, dtype=np.int64), _NONE, _NONE
    by_class = requirement.model.size > 0 or labels is not None
    if by_class:
        values = make_counted_requirement(problem)[1]
        offset, value, rows = values.offset, values.cell, values.rows
        if labels is not None:
            owner = np.concatenate(
                [np.repeat(np.arange(tuples), np.diff(offset)), np.repeat(np.arange(tuples), np.diff(labels.offsets))]
            )
            order = np.argsort(owner, kind="stable")
            value = np.concatenate([value, requirement.cells + labels.values]).astype(np.int64)[order]
            rows = np.concatenate([rows, labels.counts]).astype(np.int64)[order]
            offset = offset + labels.offsets
    room = tuples if by_class else 0
    return ClassTally(
        hash=np.empty((2, tuples), dtype=np.uint64),
        extra=np.empty((2, tuples)),
        cell=np.empty(cells, dtype=np.uint64),
        held=np.empty(1 + (cells if annealed.form == SEPARABLE_SUMS else 0)),
        number=np.empty(room, dtype=np.int64),
        rows=np.empty(room, dtype=np.int64),
        end=np.empty(room + 1, dtype=np.int64),
        order=np.empty(room, dtype=np.int64),
        histogram=np.zeros(requirement.cells + (labels.cardinality if labels is not None else 0), dtype=np.int64),
        value_offset=offset.astype(np.int64),
        value=value,
        value_rows=rows,
    )
