"""The search for the fewest hidden cells where a hidden cell is equal to every value.

Demands are met a few at a time: a program with some of them is solved, whoever still lacks matches in its answer
becomes a demand too, and so on. Each program is a relaxation, so its lower bound holds for the whole problem; an answer
in which nobody lacks matches is an optimum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from discreet.solve._base import Budget
from discreet.solve.cells.cover import BEYOND, CoverAnswer, CoverProgram, solve_cover
from discreet.solve.cells.greedy import cover_greedily
from discreet.solve.cells.matching import CellSets, CellTable, Demand, Hidden, cell_sets, shortfalls
from discreet.solve.cells.start import hide_everything, mend_each, spread_out

__all__ = ["CellSearch"]

_AT_ONCE = 32
"""Demands that are added at a time."""
_MOST_DEMANDS = 1_000
"""More make programs that are too large."""
_MOST_COLUMNS = 120_000
"""The whole problem is written down if it has at most so many tuples times sets of cells, ..."""
_FEW_COLUMNS = 15_000
"""... and if it has at most so many, at once, without a look at relaxations."""
_TOLERANCE = 1e-6
"""HiGHS lets constraints be broken by so much."""


@dataclass
class CellSearch:
    """The best release so far, and the lower bound on all of them."""

    table: CellTable
    budget: Budget
    report: Callable[[float, float, int], None] = lambda cost, bound, programs: None
    best: Hidden | None = field(default=None, init=False)
    """None if no valid release was found."""
    cost: float = field(default=np.inf, init=False)
    infeasible: bool = field(default=False, init=False)
    """Whether it is proven that there is no valid release: only if rows may hide few cells."""
    bound: float = field(default=0.0, init=False)
    programs: int = field(default=0, init=False)
    demands: int = field(default=0, init=False)
    sets: CellSets = field(init=False)

    def run(self) -> None:
        """Search until the best release is proven to be optimal, or until the budget is exhausted."""
        self.sets = cell_sets(self.table)
        self._take(hide_everything(self.table))
        self._take(mend_each(self.table, self.sets, self.cost, self.budget))
        if self.solved:
            return
        size = self.table.tuples * self.sets.masks.size if self.sets.beyond is None else _MOST_COLUMNS + 1
        if size <= _MOST_COLUMNS:
            self._take(cover_greedily(self.table, self.sets, self.budget))
        if size > _FEW_COLUMNS:
            self._relaxed()
        if not self.solved:
            self._relaxed(self_sufficient=True, at_once=_MOST_DEMANDS if size <= _FEW_COLUMNS else _AT_ONCE)
        if not self.solved and size <= _MOST_COLUMNS:
            self._whole()

    @property
    def solved(self) -> bool:
        """Whether nothing is left to search for: the best release is optimal, or there is none."""
        return self.infeasible or self.cost <= self.bound

    def _take(self, hidden: Hidden | None) -> None:
        """Keep a valid release if it is better."""
        if hidden is not None and self.table.cost(hidden) < self.cost:
            self.best, self.cost = hidden, self.table.cost(hidden)
        self.report(self.cost, self.bound, self.programs)

    def _raise(self, bound: float) -> None:
        """Raise the lower bound to that of a relaxation; costs are multiples of a unit."""
        unit, slack = self.table.unit, _TOLERANCE * max(1.0, abs(bound))
        reached = np.ceil((bound - slack) / unit) * unit if unit else bound - slack
        if not unit and reached >= self.cost - 2 * slack:
            reached = self.cost
        self.bound = min(max(self.bound, float(reached)), self.cost)
        self.report(self.cost, self.bound, self.programs)

    def _solve(self, program: CoverProgram) -> CoverAnswer:
        # A program whose answers are valid, but prove nothing, leaves half of the time to one that does.
        answer = solve_cover(program, self.budget, share=0.5 if program.self_sufficient else 1.0)
        self.programs += 1
        self.demands = max(self.demands, len(program.demands))
        if not program.self_sufficient:
            self.infeasible = self.best is None and not answer.feasible
            self._raise(answer.bound)
        return answer

    def _relaxed(self, *, self_sufficient: bool = False, at_once: int = _AT_ONCE) -> None:
        """Solve programs with more and more demands of rows that show everything, some more ``at_once``.

        Demands of rows with hidden cells are left out, which is a relaxation; or nobody may hide cells who would then
        have such a demand, which is none, but makes every answer valid.
        """
        table = self.table
        demands = spread_out(table, table.violating, at_once)
        owners = list(demands)
        while len(demands) <= _MOST_DEMANDS and not self.budget.exhausted:
            program = CoverProgram(table, self.sets, [(t, 0) for t in demands], owners, True, self_sufficient)
            answer = self._solve(program)
            if self.solved or answer.hidden is None:
                return
            if any(cells == BEYOND for _, cells, _ in [*answer.hidden, *answer.patterns]):
                return
            hidden, scarce = _realize(program, answer)
            if scarce:  # rows of these tuples were promised twice, so they are accounted for one by one
                owners += scarce
                continue
            open_tuples, lacking = shortfalls(table, hidden)
            if not open_tuples.size and not lacking:
                self._take(hidden)
                return
            added = spread_out(table, np.setdiff1d(open_tuples, demands), at_once)
            if not added:
                return
            demands += added
            owners += [t for t in added if t not in owners]

    def _whole(self) -> None:
        """Solve the whole problem; demands of rows with hidden cells are added when they are not met."""
        table = self.table
        demands: list[Demand] = [(int(t), 0) for t in table.violating]
        owners = list(range(table.tuples))
        while len(demands) <= _MOST_DEMANDS and not self.budget.exhausted:
            answer = self._solve(CoverProgram(table, self.sets, demands, owners, False))
            if self.solved or answer.hidden is None:
                return
            hidden = Counter({(t, cells): rows for t, cells, rows in answer.hidden})
            open_tuples, lacking = shortfalls(table, hidden)
            if not open_tuples.size and not lacking:
                self._take(hidden)
                if answer.proven:
                    self._raise(self.cost)
                return
            demands += [demand for demand in lacking if demand not in demands]


def _realize(program: CoverProgram, answer: CoverAnswer) -> tuple[Hidden, list[int]]:
    """Choose rows for the patterns of an answer; if they do not suffice, return tuples whose rows are scarce."""
    table = program.table
    hidden: Counter[tuple[int, int]] = Counter()
    for t, cells, rows in answer.hidden or ():
        hidden[t, cells] += rows
    left = table.rows.copy()
    left[np.asarray(program.owners, dtype=np.int64)] = 0
    if program.self_sufficient:
        left[table.violating] = 0
    wanted = []
    for t, cells, rows in answer.patterns:
        under = np.flatnonzero((left > 0) & (table.differences(t) & ~cells == 0))
        wanted.append((int(left[under].sum()), t, cells, rows, under))
    for _, _, cells, rows, under in sorted(wanted, key=lambda each: each[:4]):
        number = rows
        for u in under[np.argsort(-left[under], kind="stable")].tolist():
            taken = int(min(left[u], number))
            if taken:
                hidden[u, cells] += taken
            left[u] -= taken
            number -= taken
        if number:
            return hidden, spread_out(table, under, _AT_ONCE)
    return hidden, []
