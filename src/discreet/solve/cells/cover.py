"""The integer program: which rows hide which cells, so that some demands are met; solved by HiGHS.

Meeting only some demands, by rows that are shared where that does not matter, is a relaxation of the whole problem: its
lower bound is one of the whole problem. See README.md for the program and the proofs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.errors import UsageError
from discreet.solve._base import Budget
from discreet.solve.cells.matching import CellSets, CellTable, Demand

__all__ = ["BEYOND", "CoverAnswer", "CoverColumns", "CoverProgram", "owned_columns", "require_scipy", "solve_cover"]

BEYOND = -1
"""A set of cells that is not listed: it helps everybody, and nobody knows which it is."""
_MOST_NODES = 1_000
"""Nodes of the branch and bound tree, so that a program that is too hard ends, at the same node in each run."""
_POLL = 0.05


@dataclass(frozen=True, eq=False)
class CoverProgram:
    """A relaxation: the demands to be met, and who may hide cells."""

    table: CellTable
    sets: CellSets
    demands: Sequence[Demand]
    owners: Sequence[int]
    """Tuples whose rows are accounted for one by one; those of the demands are among them."""
    shared: bool
    """Whether rows of all other tuples may hide cells too. They are counted together, pattern by pattern."""
    self_sufficient: bool = False
    """Whether rows may hide cells only if they get enough matches by that alone: no relaxation, but always valid."""


@dataclass(frozen=True, eq=False)
class CoverAnswer:
    """What HiGHS found; ``hidden`` is None if it found nothing in time."""

    hidden: list[tuple[int, int, int]] | None
    """Tuple, cells and rows, for owners."""
    patterns: list[tuple[int, int, int]]
    """Tuple, cells and rows, where any row that shows the same as the tuple with these cells hidden may be taken."""
    bound: float
    proven: bool
    """Whether the answer is an optimum of the program."""
    feasible: bool = True
    """Whether the program may have a solution."""


@dataclass
class CoverColumns:
    """Variables of the program: who hides what, which demands that helps, and how many rows there are."""

    tuple: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    price: list[float] = field(default_factory=list)
    helps: list[IntArray] = field(default_factory=list)
    most: list[int] = field(default_factory=list)

    def add(self, t: int, cells: int, price: float, helps: IntArray, most: int) -> None:
        """Add a variable."""
        self.tuple.append(t)
        self.cells.append(cells)
        self.price.append(price)
        self.helps.append(helps)
        self.most.append(most)


def solve_cover(program: CoverProgram, budget: Budget, share: float = 1.0) -> CoverAnswer:
    """Solve the program, as far as a share of the budget's time allows."""
    owned, patterns = owned_columns(program), _patterns(program) if program.shared else CoverColumns()
    prices, constraints, bounds = _model(program, owned, patterns)
    found = _solve(prices, constraints, bounds, budget, share)
    if found is None:
        return CoverAnswer(None, [], 0.0, False)
    bound = 0.0 if found.mip_dual_bound is None else float(found.mip_dual_bound)
    if found.x is None:
        return CoverAnswer(None, [], bound, False, feasible=found.status != 2)
    taken = np.rint(found.x).astype(np.int64)
    return CoverAnswer(
        list(_taken_columns(owned, taken)),
        list(_taken_columns(patterns, taken[len(owned.tuple) :])),
        bound,
        proven=found.status == 0,
    )


def _taken_columns(columns: CoverColumns, rows: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    for t, cells, number in zip(columns.tuple, columns.cells, rows.tolist(), strict=False):
        if number > 0:
            yield t, cells, number


def owned_columns(program: CoverProgram) -> CoverColumns:
    """Return what rows of owners may hide.

    Of sets that help the same demands only the cheapest is needed, unless one of them is a demand itself, which makes
    it worse: it stands for itself then.
    """
    table, sets = program.table, program.sets
    targets = np.array([t for t, _ in program.demands], dtype=np.int64)
    hidden = np.array([cells for _, cells in program.demands], dtype=np.int64)
    columns = CoverColumns()
    for u in program.owners:
        lacks = bool(table.rows[u] < table.k)
        apart = table.differences(u)[targets]
        order = np.arange(sets.masks.size)
        if lacks:
            alone = table.near_each(u, sets.masks) >= table.k
            order = np.flatnonzero(alone) if program.self_sufficient else np.lexsort((~alone, sets.prices))
        masks = sets.masks[order]
        helps = (apart & ~hidden != 0)[:, None] & (apart[:, None] & ~(hidden[:, None] | masks[None, :]) == 0)
        burdened = np.isin(masks, hidden[targets == u]) if lacks else np.zeros(masks.size, dtype=np.bool_)
        free = np.flatnonzero(~burdened & (lacks | helps.any(axis=0)))
        kept = np.concatenate([free[_first_of_each(helps[:, free])], np.flatnonzero(burdened)])
        for j in kept.tolist():
            price = float(sets.prices[order[j]])
            columns.add(u, int(masks[j]), price, np.flatnonzero(helps[:, j]), int(min(table.rows[u], table.k)))
        if sets.beyond is not None and not program.self_sufficient:
            columns.add(u, BEYOND, sets.beyond, np.flatnonzero(targets != u), int(min(table.rows[u], table.k)))
    return columns


def _patterns(program: CoverProgram) -> CoverColumns:
    """Return what rows of other tuples may hide: for each demand and set of cells, rows that show the same then.

    A row that helps demand t by hiding R shows what t shows without R, so that no other pattern is needed. Of patterns
    that help the same demands only the cheapest ones are needed that have rows enough.
    """
    table, sets = program.table, program.sets
    targets = np.array([t for t, _ in program.demands], dtype=np.int64)
    other = np.ones(table.tuples, dtype=np.bool_)
    other[np.asarray(program.owners, dtype=np.int64)] = False
    if program.self_sufficient:
        other &= table.rows >= table.k
    columns = CoverColumns()
    supply: dict[bytes, int] = {}
    for d, t in enumerate(targets.tolist()):
        rows = table.near_each(t, sets.masks, among=other)
        helps = table.differences(t)[targets][:, None] & ~sets.masks[None, :] == 0
        first = ~helps[:d].any(axis=0)  # the same pattern is listed once
        for j in np.flatnonzero(first & (rows > 0)).tolist():
            key = np.packbits(helps[:, j]).tobytes()
            if supply.get(key, 0) < table.k - 1:
                supply[key] = int(rows[j])
                columns.add(t, int(sets.masks[j]), float(sets.prices[j]), np.flatnonzero(helps[:, j]), int(rows[j]))
    if sets.beyond is not None and not program.self_sufficient:
        columns.add(-1, BEYOND, sets.beyond, np.arange(targets.size), table.k)
    return columns


def _first_of_each(helps: NDArray[np.bool_]) -> IntArray:
    """Return the first of all columns that are equal."""
    if not helps.shape[1]:
        return np.zeros(0, dtype=np.int64)
    packed = np.packbits(helps, axis=0).T if helps.shape[0] else np.zeros((helps.shape[1], 1), dtype=np.uint8)
    return np.unique(packed, axis=0, return_index=True)[1]


def _model(program: CoverProgram, owned: CoverColumns, patterns: CoverColumns) -> tuple[FloatArray, Any, Any]:
    """Return the arguments of ``scipy.optimize.milp``.

    Variables: rows of owners that hide cells, rows of patterns, and a switch for each demand. For a demand (t, ∅) of
    need d it says that all rows of t hide something, so that nobody needs help:

        Σ helpers + d · switch >= d,        Σ rows of t that hide cells - rows(t) · switch >= 0.

    For a demand (t, S) it says that some rows of t hide S:

        Σ helpers - d · switch >= 0,        rows(t) · switch - rows of t that hide S >= 0.

    An owner hides cells in no more rows than it has.
    """
    from scipy.optimize import Bounds, LinearConstraint
    from scipy.sparse import csr_array

    table, n, p, d = program.table, len(owned.tuple), len(patterns.tuple), len(program.demands)
    need = np.array([table.k - table.near(demand) for demand in program.demands], dtype=np.int64)
    row_of = {u: 2 * d + i for i, u in enumerate(program.owners)}
    entries: list[tuple[int, int, int]] = []
    for j, helps in enumerate([*owned.helps, *patterns.helps]):
        entries += [(int(demand), j, 1) for demand in helps]
    at = {(t, cells): j for j, (t, cells) in enumerate(zip(owned.tuple, owned.cells, strict=True))}
    of_tuple: dict[int, list[int]] = {}
    for j, u in enumerate(owned.tuple):
        entries.append((row_of[u], j, 1))
        of_tuple.setdefault(u, []).append(j)
    low = np.zeros(2 * d + len(row_of))
    high = np.full(low.size, np.inf)
    for i, (t, cells) in enumerate(program.demands):
        switch, rows = n + p + i, int(table.rows[t])
        if cells:
            entries += [(i, switch, -int(need[i])), (d + i, switch, rows), (d + i, at[t, cells], -1)]
        else:
            low[i] = need[i]
            entries += [(i, switch, int(need[i])), (d + i, switch, -rows)]
            entries += [(d + i, j, 1) for j in of_tuple.get(t, [])]
    for u, capacity in row_of.items():
        low[capacity], high[capacity] = -np.inf, table.rows[u]
    row, column, value = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    matrix = csr_array((value.astype(np.float64), (row, column)), shape=(low.size, n + p + d))
    prices = np.concatenate([owned.price, patterns.price, np.zeros(d)])
    most = np.concatenate([owned.most, patterns.most, np.ones(d)])
    return prices, LinearConstraint(matrix, low, high), Bounds(0, most)


def _solve(prices: FloatArray, constraints: Any, bounds: Any, budget: Budget, share: float) -> Any:
    """Run HiGHS in a thread, so that stopping the search does not wait for it; None if it was stopped."""
    from scipy.optimize import milp

    left = None if budget.time_limit is None else max(share * (budget.time_limit - budget.seconds), 0.1)
    options = {"mip_rel_gap": 0.0, "node_limit": _MOST_NODES, **({} if left is None else {"time_limit": left})}
    found: list[Any] = []

    def run() -> None:
        found.append(
            milp(prices, integrality=np.ones(prices.size), bounds=bounds, constraints=constraints, options=options)
        )

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive() and not budget.stop.is_set():
        thread.join(_POLL)
    return found[0] if found else None


def require_scipy() -> None:
    """Raise an error that says what to install if scipy is not there."""
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        raise UsageError(
            "Counting matches needs an integer program; install its solver with pip install 'discreet[cells]', or "
            "leave unknown=matches out.",
            topic="missing-extra",
        ) from None
