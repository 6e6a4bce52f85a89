"""Local recoding that keeps all rows of a person in one group.

Each person is one of their rows, the one closest to the middle of all: people are put into groups as rows are
otherwise. Then each group covers all rows of its people. That group is valid, since people are counted and each is in
one group alone.

Every row of a person costs at least what the cover of all of them costs, and what the cover of one of them and of its
k-th nearest person does. The lower bound adds that up over all rows. It may be far from the best where people have rows
far from each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, Histogram, IntArray, People
from discreet.problem import Classes, Problem
from discreet.problem.privacy import PrivacyModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.runtime.integer_codes import add_up, first_of, numbered
from discreet.solve._base import Budget, Progress, Solution, nothing_found
from discreet.solve.local.bounds import row_bounds
from discreet.solve.local.pricing import make_solution, price
from discreet.solve.local.task import LocalGrouping, LocalTask, make_task

__all__ = ["solve_people"]

_Ints = NDArray[np.int64]
_ROUNDING = 1e-12


def solve_people(problem: Problem, solve: Callable[[Problem], Solution], budget: Budget, *, nearest: bool) -> Solution:
    """Put people into groups by a search for rows, and return the release with all rows of each together.

    With ``nearest`` the bound is that by the nearest people, beside what the search proves.
    """
    assert problem.people is not None
    crowd = _Crowd(problem, problem.people)
    found = solve(crowd.problem)
    if found.groups is None:
        return found
    group = crowd.mended(crowd.groups_of(found))
    if group is None:
        raise nothing_found(budget)
    task = make_task(problem)
    grouping = crowd.grouping(group)
    bound = max(found.lower_bound, crowd.bound(task, budget) if nearest else 0.0)
    trace = [Progress(point.seconds, point.best, min(point.bound, bound), point.examined) for point in found.trace]
    made = make_solution(task, grouping, bound, trace)
    assert made.groups is not None
    return replace(
        made,
        groups=replace(made.groups, of_people=group),
        suppressed_people=np.flatnonzero(group < 0),
        stats={**found.stats, **made.stats},
    )


class _Crowd:
    """The people of a problem, each as one row of a smaller one."""

    def __init__(self, problem: Problem, people: People) -> None:
        self.whole, self.people = problem, people
        self.tuples = np.repeat(np.arange(problem.table.tuples), people.of_tuples)
        self.later = [model for model in problem.privacy if self._overlaps(model)]
        """Models of columns of which a person may have several values: the search does not know them."""
        models = tuple(model for model in problem.privacy if model not in self.later) or (KAnonymity(1),)
        table, self.owner = self._table(models)
        self.problem = replace(problem, table=table, whole=table, privacy=models)

    def _overlaps(self, model: PrivacyModel) -> bool:
        column = str(getattr(model, "attribute", ""))
        units = self.whole.table.units.sensitive
        return column in units and units[column].overlaps

    def _closest(self) -> _Ints:
        """Return the tuple of each person that is closest to the mean of all rows, in leaves of each attribute."""
        people, members = self.people, self.people.members
        distance = np.zeros(members.size)
        for attribute, codes in zip(self.whole.table.attributes, self.whole.table.codes, strict=True):
            leaf = codes[self.tuples].astype(np.float64)
            mean = np.bincount(members, weights=leaf * people.rows, minlength=people.count) / people.row_counts
            distance += np.abs(leaf - mean[members]) / attribute.leaves
        order = np.lexsort((distance, members))
        return self.tuples[order[np.searchsorted(members[order], np.arange(people.count))]]

    def _table(self, models: Sequence[PrivacyModel]) -> tuple[CountTable, _Ints]:
        """Return the table of people, and the tuple of each; tuples have one value of every column that matters."""
        table, count = self.whole.table, self.people.count
        codes = table.codes[:, self._closest()]
        names = sorted({str(getattr(model, "attribute", "")) for model in models} & set(table.sensitive))
        values = {name: self._value_of_each(name) for name in names}
        widths = [(leaf, attribute.leaves) for leaf, attribute in zip(codes, table.attributes, strict=True)]
        owner, tuples = numbered(
            count, [*widths, *((values[name] + 1, table.sensitive[name].cardinality + 1) for name in names)]
        )
        first, weights = first_of(owner, tuples), np.bincount(owner, minlength=tuples).astype(np.int64)
        codes = codes[:, first]
        rows = [add_up(leaf, weights, a.leaves) for a, leaf in zip(table.attributes, codes, strict=True)]
        made = CountTable(
            attributes=tuple(replace(a, rows=counted) for a, counted in zip(table.attributes, rows, strict=True)),
            codes=np.ascontiguousarray(codes),
            weights=weights,
            sensitive={name: self._histogram(name, values[name][first], weights) for name in names},
        )
        return made, owner

    def _value_of_each(self, name: str) -> _Ints:
        """Return the one value of each person; -1 if it is unknown."""
        known = self.people.sensitive[name]
        value = np.full(self.people.count, -1, dtype=np.int64)
        value[known.people] = known.values
        return value

    def _histogram(self, name: str, value: _Ints, weights: _Ints) -> Histogram:
        known, units = value >= 0, self.whole.table.units.sensitive[name]
        offsets = np.concatenate([[0], np.cumsum(known)])
        missing = int(weights[~known].sum())
        return replace(units, offsets=offsets, values=value[known], counts=weights[known], missing=missing)

    def groups_of(self, found: Solution) -> _Ints:
        """Return the group of each person; of those alike, whoever has most rows gets the cheapest group."""
        assert found.groups is not None
        groups, task = found.groups, make_task(self.problem)
        priced = price(task, LocalGrouping(groups.tuple, groups.group, groups.count))
        each = self.problem.cost.published(priced.classes) / np.maximum(priced.classes.sizes, 1)
        dear = np.where(groups.group < 0, np.inf, np.append(each, np.inf)[groups.group])
        entries = np.lexsort((groups.group, dear, groups.tuple))
        who = np.lexsort((-self.people.row_counts, self.owner))
        group = np.empty(self.people.count, dtype=np.int64)
        group[who] = np.repeat(groups.group[entries], groups.count[entries])
        return group

    def grouping(self, group: IntArray) -> LocalGrouping:
        """Return the rows of each tuple in each group, given the group of each person."""
        own = group[self.people.members]
        span = int(group.max(initial=-1)) + 2
        cells, entry = np.unique(self.tuples * np.int64(span) + own + 1, return_inverse=True)
        rows = add_up(entry.reshape(-1), self.people.rows, cells.size)
        return LocalGrouping(cells // span, cells % span - 1, rows)

    def bound(self, task: LocalTask, budget: Budget) -> float:
        """Return what all rows cost at least, person by person."""
        apart = price(task, self.grouping(np.arange(self.people.count))).classes
        own = task.problem.cost.published(apart) / apart.sizes
        near = row_bounds(make_task(self.problem), budget)[self.owner]
        return float((np.maximum(own, near) * self.people.row_counts).sum()) * (1 - _ROUNDING)

    def mended(self, group: _Ints) -> _Ints | None:
        """Return the groups with those joined that break a model the search did not know; None if that is no help."""
        while self.later and (group >= 0).any():
            count = int(group.max()) + 1
            classes = self._classes(group, count)
            bad = np.flatnonzero(~np.logical_and.reduce([model.ok(classes) for model in self.whole.privacy]))
            if not bad.size:
                return group
            if count == 1:
                return np.full_like(group, -1) if self.whole.limit >= self.people.count else None
            # Groups are joined with the next one in the order of tuples, the last with the one before.
            shown = group >= 0
            place = np.bincount(group[shown], weights=self.owner[shown], minlength=count) / classes.sizes
            rank = np.argsort(np.argsort(place, kind="stable"), kind="stable")
            alone = np.ones(count, dtype=np.bool_)
            alone[np.minimum(rank[bad] + 1, count - 1)] = False
            new = (np.cumsum(alone) - 1)[rank]
            group = np.where(shown, new[np.maximum(group, 0)], -1)
        return group

    def _classes(self, group: _Ints, count: int) -> Classes:
        """Return groups as models see them: everybody is in one group with all values."""
        units, sensitive, known = self.whole.table.units, {}, {}
        for name in {str(getattr(model, "attribute", "")) for model in self.whole.privacy} & set(units.sensitive):
            values, width = self.people.sensitive[name], units.sensitive[name].cardinality
            pairs = np.unique(values.people.astype(np.int64) * width + values.values)
            owner = group[pairs // width]
            there = owner >= 0
            cells = owner[there] * width + pairs[there] % width
            sensitive[name] = np.bincount(cells, minlength=count * width).reshape(count, width)
            own = group[np.unique(values.people)]
            known[name] = np.bincount(own[own >= 0], minlength=count)
        sizes = np.bincount(group[group >= 0], minlength=count).astype(np.int64)
        return Classes(units, sizes, sensitive=sensitive, known=known)
