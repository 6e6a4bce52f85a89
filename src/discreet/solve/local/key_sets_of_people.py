"""Local recoding with promises on key sets that count people.

Entries of the search are pairs of tuple and person. Where all rows of a person stay together, they show the same of
every attribute: entries of a person move together or not at all. With ``local(people=apart)`` they move by themselves,
and a person counts once in each class of a key set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.problem import Problem
from discreet.problem.key_sets import KeySet
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.schemes.local import Local
from discreet.problem.suppression.suppress_records import SuppressRecords
from discreet.runtime.integer_codes import add_up, distinct, first_of, numbered
from discreet.solve._base import Budget, LocalRecoding, Solution
from discreet.solve.local.cover_state import CoverState, top_codes
from discreet.solve.local.key_sets import (
    MOST_BOUNDED,
    SAFE,
    KeySetSearch,
    cost_share,
    is_bounded,
    joint_bounds,
)
from discreet.solve.local.people import Crowd
from discreet.solve.local.task import make_task

__all__ = ["PeopleKeySetSearch"]

Ints = NDArray[np.int64]


class PeopleKeySetSearch(KeySetSearch):
    """The search for one problem with people."""

    def __init__(self, problem: Problem, budget: Budget) -> None:
        super().__init__(problem, budget)
        assert problem.people is not None
        self.people = problem.people
        self.tuples = np.repeat(np.arange(problem.table.tuples), self.people.of_tuples)
        self.person = self.people.members.astype(np.int64)
        self.together = all(isinstance(scheme, Local) and scheme.people == "together" for scheme in problem.schemes)
        self.leads = np.zeros(self.person.size, dtype=np.bool_)
        self.leads[first_of(self.person, self.people.count)] = True
        """One entry of each person."""

    def _recoding(self, state: CoverState) -> LocalRecoding:
        """Return it with the group of each person, or of each entry."""
        group, _ = state.groups()
        found = super()._recoding(state)
        if not self.together:
            return replace(found, of_pairs=group)
        of_people = np.full(self.people.count, -1, dtype=np.int64)
        of_people[self.person] = group
        return replace(found, of_people=of_people)

    # --- what is counted ----------------------------------------------------------------------------------------------

    def _lost(self, state: CoverState) -> int:
        if not self.problem.limit_of_people:
            return state.suppressed
        return int(distinct(self.person[~state.stays]).size)

    def _sizes(self, entries: Ints, rows: Ints, cell: Ints, there: NDArray[np.bool_], cells: int) -> Ints:
        if self.together:
            return add_up(cell, (there & self.leads[entries]).astype(np.int64), cells)
        pairs = distinct(cell[there] * self.people.count + self.person[entries[there]])
        return np.bincount(pairs // self.people.count, minlength=cells).astype(np.int64)

    def _may_move(self, entries: Ints, child: Ints) -> NDArray[np.bool_]:
        if not self.together:
            return super()._may_move(entries, child)
        person = self.person[entries]
        low = np.full(self.people.count, np.iinfo(np.int64).max, dtype=np.int64)
        high = np.full(self.people.count, -1, dtype=np.int64)
        np.minimum.at(low, person, child)
        np.maximum.at(high, person, child)
        return np.asarray((low == high)[person])

    # --- where to start -----------------------------------------------------------------------------------------------

    def _by_tuples(self, codes: Ints) -> CoverState:
        stays = np.ones(self.tuples.size, dtype=np.bool_)
        return CoverState(self.tuples, self.people.rows.astype(np.int64), codes[:, self.tuples], stays)

    def _by_groups(self, parts: Sequence[tuple[tuple[int, ...], Solution]]) -> CoverState:
        ((_, found),) = parts
        groups = found.groups
        assert groups is not None
        group = groups.of_pairs if groups.of_people is None else groups.of_people[self.person]
        assert group is not None
        start = self._by_tuples(top_codes(self.covers, self.problem.table.tuples))
        codes = start.codes.copy()
        for i, cover in enumerate(groups.covers):
            shown = self.covers[i].of_groups(cover)
            if shown.size:
                codes[i] = np.where(group >= 0, shown[np.maximum(group, 0)], codes[i])
        return start.with_codes(codes, group >= 0)

    def _components(self) -> list[tuple[tuple[int, ...], int]]:
        """Return all attributes as one part: groups of a part say nothing about the people of the others."""
        return [(tuple(range(len(self.covers))), 0)]

    def _global_blocks(self) -> Sequence[NDArray[np.integer]] | None:
        """Return the blocks of a good global recoding, unless rows of a person could show different ones."""
        return None if self.together and not self.people.constant else super()._global_blocks()

    def _without_small_classes(self, state: CoverState) -> CoverState:
        """Return the state without entries in a class of a key set with too few people."""
        stays, before = state.stays.copy(), -1
        entries = np.arange(stays.size)
        keys = [(*self._cells(state.codes, key_set), key_set.k) for key_set in self.key_sets]
        while before != np.count_nonzero(stays):
            before = int(np.count_nonzero(stays))
            for cell, cells, k in keys:
                stays &= self._sizes(entries, state.count, cell, stays, cells)[cell] >= k
        return state.with_codes(state.codes, stays)

    def _cells(self, codes: Ints, key_set: KeySet) -> tuple[Ints, int]:
        """Return the class of a key set that each entry is in, and how many there are."""
        columns = [np.unique(codes[i], return_inverse=True)[1].reshape(-1) for i in key_set.attributes]
        return numbered(codes.shape[1], [(column, int(column.max(initial=0)) + 1) for column in columns])

    # --- the bound ----------------------------------------------------------------------------------------------------

    def bound(self) -> float:
        """Return what every valid recoding costs at least.

        Where the rows of a person stay together, they cost as much as the cover of all of them, attribute by attribute,
        and for each key set as much as with the nearest people. Else k people have k rows or more, and the bound is
        that of rows.
        """
        if not self.together or not is_bounded(self.problem):
            return super().bound()
        alone = [KeySet((i,), 1) for i in range(len(self.covers))]
        key_sets = self.key_sets[:MOST_BOUNDED]
        near = np.array([self._row_bounds(key_set) for key_set in key_sets])
        own = np.array([self._row_bounds(key_set) for key_set in alone])
        row = np.maximum(
            joint_bounds(self.problem, key_sets, near),
            joint_bounds(self.problem, [*alone, *key_sets], np.concatenate([own, near])),
        )
        return float((row * self.people.row_counts).sum()) * SAFE

    def _row_bounds(self, key_set: KeySet) -> NDArray[np.float64]:
        """Return what each row of each person costs at least in the attributes of a key set."""
        problem, members = self.problem, key_set.attributes
        part = CountTable(
            attributes=tuple(problem.table.attributes[i] for i in members),
            codes=np.ascontiguousarray(problem.table.codes[np.array(members)]),
            weights=problem.table.weights,
            people=self.people,
        )
        relaxed = replace(
            problem,
            table=part,
            whole=part,
            privacy=(KAnonymity(key_set.k),),
            suppression=SuppressRecords(problem.limit),
            schemes=tuple(problem.schemes[i] for i in members),
            lowest=tuple(problem.lowest[i] for i in members),
            highest=tuple(problem.highest[i] for i in members),
        )
        found = Crowd(relaxed, self.people).row_bounds(make_task(relaxed), self.budget)
        return found * cost_share(problem, members)
