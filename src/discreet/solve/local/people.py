"""Local recoding that keeps all rows of a person in one group.

People are put into groups as rows are otherwise, each as one point: the smallest and the largest leaf of all rows of
the person, attribute by attribute. So people are put together who cover about the same. Then each group covers all rows
of its people. That group is valid, since people are counted and each is in one group alone.

Every row of a person costs at least what the cover of all of them costs. It also costs at least what the cover of the
smallest leaves of its group costs, and that of the largest ones, hence the mean of both. The lower bound adds up the
larger of the two over all rows. It may be far from the best.

With ``local(people=apart)`` the rows of a person may be in different groups. There are two starts: people in one group
each, and groups of pairs of tuple and person, of which those with too few people are joined with a near one. From both,
rows move to groups that cover them already at less cost, as long as every group keeps the promises, and groups whose
rows can all go elsewhere are dissolved. The cheaper result is taken. A group of k people has at least k rows, so that
the bound is that of groups of so many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, Histogram, IntArray, People
from discreet.errors import DiscreetError, NothingFoundError
from discreet.problem import Classes, Problem
from discreet.problem.privacy import PrivacyModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.suppression.suppress_records import SuppressRecords
from discreet.runtime.integer_codes import add_up, distinct, first_of, numbered
from discreet.solve._base import Budget, Progress, Solution, nothing_found
from discreet.solve.local.bounds import nearest_bound, row_bounds
from discreet.solve.local.pricing import make_solution, price
from discreet.solve.local.task import LocalGrouping, LocalTask, make_task, tree_order

__all__ = ["Crowd", "solve_people"]

_Ints = NDArray[np.int64]
_ROUNDING = 1e-12
_ROUNDS = 20
"""How often rows move, and moves are taken back, at most."""
_COMPARED, _AT_ONCE = 1 << 27, 1 << 22
"""Pairs and groups that are compared in a round, and at once."""


def solve_people(problem: Problem, solve: Callable[[Problem], Solution], budget: Budget, *, nearest: bool) -> Solution:
    """Put people into groups by a search for rows, and return the release with all rows of each together.

    With ``nearest`` the bound is that by the nearest people, beside what the search proves.
    """
    assert problem.people is not None
    if any(scheme.parts_people for scheme in problem.schemes):
        return _solve_rows(problem, problem.people, solve, budget, nearest=nearest)
    crowd = Crowd(problem, problem.people)
    found = solve(crowd.problem)
    if found.groups is None:
        return found
    group = crowd.mended(crowd.groups_of(found))
    if group is None:
        raise _no_groups(budget)
    task = make_task(problem)
    grouping = crowd.grouping(group)
    bound = max(found.lower_bound / crowd.copies, crowd.bound(task, budget) if nearest else 0.0)
    priced = price(task, grouping)
    now = Progress(budget.seconds, priced.cost, min(bound, priced.cost), 1)
    made = make_solution(task, grouping, bound, [now], priced)
    assert made.groups is not None
    return replace(
        made,
        groups=replace(made.groups, of_people=group),
        suppressed_people=np.flatnonzero(group < 0),
        stats={**found.stats, **made.stats},
    )


def _solve_rows(
    problem: Problem, people: People, solve: Callable[[Problem], Solution], budget: Budget, *, nearest: bool
) -> Solution:
    """Put rows into groups of enough people, where those of a person may be in several."""
    rows, starts = _Apart(problem, people), []
    stats: dict[str, Any] = {}
    for points in (people, _pairs_as_people(problem.table, people)):
        table = replace(problem.table, people=points)
        started = replace(problem, table=table, whole=table)
        if problem.suppression.is_budget:  # as many points as have no more rows than may go
            most = np.searchsorted(np.cumsum(np.sort(points.row_counts)[::-1]), problem.limit, side="right")
            started = replace(started, suppression=SuppressRecords(int(most)))
        crowd = Crowd(started, points)
        found = solve(crowd.problem)
        stats |= found.stats
        if found.groups is None:
            if points is people and problem.suppression.name == "none" and problem.superset_closed:
                return found
            continue
        group = crowd.groups_of(found)
        of_pairs = crowd.mended(group) if points is people else rows.mended(group, budget)
        if of_pairs is not None:
            starts.append(rows.moved(of_pairs[points.members], budget))
    if not starts:
        raise _no_groups(budget)
    group = min(starts, key=rows.cost)
    task, grouping = rows.task, rows.grouping(group)
    bound = 0.0
    if nearest:
        classes_of_rows = replace(problem.table, people=None)
        least = (KAnonymity(problem.smallest_class),)
        relaxed = replace(problem, table=classes_of_rows, whole=classes_of_rows, privacy=least)
        bound = nearest_bound(make_task(relaxed), budget)
    priced = price(task, grouping)
    now = Progress(budget.seconds, priced.cost, min(bound, priced.cost), 1)
    made = make_solution(task, grouping, bound, [now], priced)
    assert made.groups is not None
    return replace(made, groups=replace(made.groups, of_pairs=group), stats={**stats, **made.stats})


def _pairs_as_people(table: CountTable, people: People) -> People:
    """Return every pair of tuple and person as a person of its own."""
    tuples = np.repeat(np.arange(table.tuples), people.of_tuples)
    pairs = tuples.astype(np.int64) * people.count + people.members
    sensitive = {}
    for name, values in people.sensitive.items():
        owner = np.repeat(np.arange(table.tuples), np.diff(values.offsets)).astype(np.int64)
        sensitive[name] = replace(
            values,
            people=np.searchsorted(pairs, owner * people.count + values.people).astype(np.int32),
            totals=np.bincount(values.values, minlength=values.totals.size),
        )
    return People(tuples.size, people.offsets, np.arange(tuples.size, dtype=np.int32), people.rows, sensitive)


def _no_groups(budget: Budget) -> DiscreetError:
    """Return the error for a search that ended without groups, although there may be some."""
    if budget.exhausted:
        return nothing_found(budget)
    return NothingFoundError(
        "Local recoding found no groups of people that keep all promises, which does not mean that there are none; "
        "choose full-domain or subtree, or allow a larger suppression budget."
    )


class Crowd:
    """The people of a problem, each as one row of a smaller one."""

    def __init__(self, problem: Problem, people: People) -> None:
        self.whole, self.people = problem, people
        self.tuples = np.repeat(np.arange(problem.table.tuples), people.of_tuples)
        self.later = [model for model in problem.privacy if self._overlaps(model)]
        """Models of columns in which a person may have several values: the search does not know them."""
        models = tuple(self._for_corners(model) for model in problem.privacy if model not in self.later)
        models = models or (KAnonymity(1),)
        table, self.owner = self._table(models)
        self.copies = len(table.attributes) // len(problem.table.attributes)
        """How often each attribute is one of the smaller problem: twice if some person has several values of one."""
        self.problem = replace(
            problem,
            table=table,
            whole=table,
            privacy=models,
            schemes=problem.schemes * self.copies,
            lowest=problem.lowest * self.copies,
            highest=problem.highest * self.copies,
        )

    def _for_corners(self, model: PrivacyModel) -> PrivacyModel:
        """Return a model that does not depend on the number of attributes, as ``any=j`` of all j of them does."""
        of_key_sets = isinstance(model, KAnonymity) and model.of_key_sets
        return KAnonymity(model.smallest(self.whole.table)) if of_key_sets else model

    def _overlaps(self, model: PrivacyModel) -> bool:
        column = str(getattr(model, "attribute", ""))
        units = self.whole.table.units.sensitive
        return column in units and units[column].overlaps

    def _corners(self) -> NDArray[np.int32]:
        """Return the leaf of each person in each attribute; if there are several, all smallest and then all largest.

        Leaves are ordered so that every node of a hierarchy is a run of them.
        """
        low, high = [], []
        for attribute, codes in zip(self.whole.table.attributes, self.whole.table.codes, strict=True):
            order, _ = tree_order(attribute)
            rank = np.empty(order.size, dtype=np.int64)
            rank[order] = np.arange(order.size)
            first, last = np.full(self.people.count, order.size), np.full(self.people.count, -1)
            np.minimum.at(first, self.people.members, rank[codes[self.tuples]])
            np.maximum.at(last, self.people.members, rank[codes[self.tuples]])
            low.append(order[first])
            high.append(order[last])
        same = all((a == b).all() for a, b in zip(low, high, strict=True))
        return np.array(low if same else low + high, dtype=np.int32)

    def _table(self, models: Sequence[PrivacyModel]) -> tuple[CountTable, _Ints]:
        """Return the table of people, and the tuple of each; tuples have one value of every column that matters."""
        table, count = self.whole.table, self.people.count
        codes = self._corners()
        attributes = table.attributes * (len(codes) // len(table.attributes))
        names = sorted({str(getattr(model, "attribute", "")) for model in models} & set(table.sensitive))
        values = {name: self._value_of_each(name) for name in names}
        widths = [(leaf, attribute.leaves) for leaf, attribute in zip(codes, attributes, strict=True)]
        owner, tuples = numbered(
            count, [*widths, *((values[name] + 1, table.sensitive[name].cardinality + 1) for name in names)]
        )
        first, weights = first_of(owner, tuples), np.bincount(owner, minlength=tuples).astype(np.int64)
        codes = codes[:, first]
        rows = [add_up(leaf, weights, a.leaves) for a, leaf in zip(attributes, codes, strict=True)]
        made = CountTable(
            attributes=tuple(replace(a, rows=counted) for a, counted in zip(attributes, rows, strict=True)),
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
        return float((self.row_bounds(task, budget) * self.people.row_counts).sum()) * (1 - _ROUNDING)

    def row_bounds(self, task: LocalTask, budget: Budget) -> NDArray[np.float64]:
        """Return what each row of each person costs at least."""
        apart = price(task, self.grouping(np.arange(self.people.count))).classes
        own = task.problem.cost.published(apart) / apart.sizes
        near = row_bounds(make_task(self.problem), budget)[self.owner] / self.copies
        return np.maximum(own, near)

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


class _Apart:
    """Groups of pairs of tuple and person; all rows of a pair are in one group."""

    def __init__(self, problem: Problem, people: People) -> None:
        self.problem, self.people, self.task = problem, people, make_task(problem)
        self.tuples = np.repeat(np.arange(problem.table.tuples), people.of_tuples)
        self.rank = [
            np.argsort(tree_order(attribute)[0])[codes[self.tuples]]
            for attribute, codes in zip(problem.table.attributes, problem.table.codes, strict=True)
        ]
        """For each attribute, the leaf of each pair in an order in which every node of the hierarchy is a run."""
        pairs = _pairs_as_people(problem.table, people)
        self.pair = {name: values.people for name, values in pairs.sensitive.items()}
        """The pair of each entry of a sensitive column."""

    def grouping(self, group: _Ints) -> LocalGrouping:
        """Return the rows of each tuple in each group."""
        span = int(group.max(initial=-1)) + 2
        cells, entry = np.unique(self.tuples * np.int64(span) + group + 1, return_inverse=True)
        return LocalGrouping(cells // span, cells % span - 1, add_up(entry.reshape(-1), self.people.rows, cells.size))

    def cost(self, group: _Ints) -> float:
        """Return the cost of groups."""
        return float(price(self.task, self.grouping(group)).cost)

    def mended(self, group: _Ints, budget: Budget) -> _Ints | None:
        """Return the groups with those that break a promise joined with a near one; None if that is no help in time.

        Groups are near whose joint ranges of leaves are narrow.
        """
        leaves = np.array([attribute.leaves for attribute in self.problem.table.attributes], dtype=np.float64)
        while (group >= 0).any():
            count = int(group.max()) + 1
            classes = self._classes(group, count)
            bad = np.flatnonzero(~np.logical_and.reduce([model.ok(classes) for model in self.problem.privacy]))
            if not bad.size:
                return group
            if count == 1 or budget.exhausted:
                return None
            shown = np.flatnonzero(group >= 0)
            low, high = self._ranges(group, shown, count)
            rows = np.bincount(group[shown], weights=self.people.rows[shown], minlength=count)
            own = ((high - low) / leaves).sum(axis=1) * rows
            joined, free = np.arange(count), np.ones(count, dtype=np.bool_)
            for one in bad[: max(_COMPARED // (16 * count), 1)].tolist():
                if not free[one]:
                    continue
                wide = ((np.maximum(high, high[one]) - np.minimum(low, low[one])) / leaves).sum(axis=1)
                dear = wide * (rows + rows[one]) - own
                dear[one] = np.inf
                other = int(dear.argmin())
                if free[other]:
                    joined[one] = other
                    free[[one, other]] = False
            group = self._without_empty(np.where(group >= 0, joined[np.maximum(group, 0)], -1))
        return group

    def _ranges(self, group: _Ints, shown: _Ints, count: int) -> tuple[_Ints, _Ints]:
        """Return the lowest and the highest leaf of each group in each attribute, in the order of :attr:`rank`."""
        low = np.full((count, len(self.rank)), np.iinfo(np.int64).max, dtype=np.int64)
        high = np.full((count, len(self.rank)), -1, dtype=np.int64)
        for column, ranks in enumerate(self.rank):
            np.minimum.at(low[:, column], group[shown], ranks[shown])
            np.maximum.at(high[:, column], group[shown], ranks[shown])
        return low, high

    def moved(self, group: _Ints, budget: Budget) -> _Ints:
        """Return groups that cost no more: rows move while that lowers the cost."""
        best, cost = group, self.cost(group)
        for _ in range(_ROUNDS):
            if budget.exhausted:
                break
            new = self._without_empty(self._kept_ok(best, self._better(best)))
            now = self.cost(new)
            if now >= cost * (1 - _ROUNDING):
                break
            best, cost = new, now
        return best

    def _better(self, group: _Ints) -> _Ints:
        """Return the group of each pair once those moved that another group covers at less cost."""
        shown, count = np.flatnonzero(group >= 0), int(group.max(initial=-1)) + 1
        priced = price(self.task, self.grouping(group)).classes
        rate = self.problem.cost.published(priced) / np.maximum(priced.sizes, 1)
        leaving, target = self._cheaper(group, shown, rate)
        pairs, moving = (np.bincount(group[some], minlength=count) for some in (shown, leaving))
        people = _people_of_each(group[shown], self.people.members[shown], count, self.people.count)
        # A group may lose as many as it has more than enough, or all.
        spare = np.where(moving == pairs, pairs, np.maximum(people - self.problem.smallest_class, 0))
        order = np.lexsort((leaving, rate[target] - rate[group[leaving]], group[leaving]))
        leaving, target = leaving[order], target[order]
        nth = np.arange(leaving.size) - np.searchsorted(group[leaving], group[leaving], side="left")
        go = nth < spare[group[leaving]]
        new = group.copy()
        new[leaving[go]] = target[go]
        return new

    def _cheaper(self, group: _Ints, shown: _Ints, rate: NDArray[np.float64]) -> tuple[_Ints, _Ints]:
        """Return the pairs that another group covers already, at less cost for a row, and the cheapest such group.

        Of many pairs only those that cost most are compared with all groups.
        """
        low, high = self._ranges(group, shown, rate.size)
        by_cost = np.argsort(-rate[group[shown]] * self.people.rows[shown], kind="stable")
        some = shown[by_cost[: max(_COMPARED // max(rate.size, 1), 1)]]
        step, found = max(_AT_ONCE // max(rate.size, 1), 1), [np.zeros(0, dtype=np.int64)]
        for begin in range(0, some.size, step):
            part = some[begin : begin + step]
            fits = np.ones((part.size, rate.size), dtype=np.bool_)
            for column, ranks in enumerate(self.rank):
                fits &= (low[:, column] <= ranks[part, np.newaxis]) & (ranks[part, np.newaxis] <= high[:, column])
            found.append(np.where(fits, rate, np.inf).argmin(axis=1))
        target = np.concatenate(found)
        saves = rate[target] < rate[group[some]] * (1 - _ROUNDING)
        return some[saves], target[saves]

    def _kept_ok(self, old: _Ints, new: _Ints) -> _Ints:
        """Return the moves without those from or to a group that would break a promise."""
        for _ in range(_ROUNDS):
            count = int(old.max(initial=-1)) + 1
            classes = self._classes(new, count)
            there = np.bincount(new[new >= 0], minlength=count) > 0
            bad = ~np.logical_and.reduce([model.ok(classes) for model in self.problem.privacy]) & there
            if not bad.any():
                return new
            back = (new != old) & (bad[np.maximum(old, 0)] | bad[np.maximum(new, 0)])
            new = np.where(back, old, new)
        return old

    @staticmethod
    def _without_empty(group: _Ints) -> _Ints:
        """Return the groups numbered without gaps."""
        occurs = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.bool_)
        occurs[group[group >= 0]] = True
        return np.where(group >= 0, (np.cumsum(occurs) - 1)[np.maximum(group, 0)], -1) if occurs.size else group

    def _classes(self, group: _Ints, count: int) -> Classes:
        """Return groups as models see them: the people of each, and those who have each value in a row of it."""
        people, units = self.people, self.problem.table.units
        shown = group >= 0
        sizes = _people_of_each(group[shown], people.members[shown], count, people.count)
        sensitive, known = {}, {}
        for name in {str(getattr(model, "attribute", "")) for model in self.problem.privacy} & set(units.sensitive):
            values, width = people.sensitive[name], units.sensitive[name].cardinality
            owner = group[self.pair[name]]
            there = owner >= 0
            who, owner = values.people[there], owner[there]
            cells = owner * width + values.values[there]
            sensitive[name] = _people_of_each(cells, who, count * width, people.count).reshape(count, width)
            known[name] = _people_of_each(owner, who, count, people.count)
        return Classes(units, sizes, sensitive=sensitive, known=known)


def _people_of_each(cell: IntArray, person: IntArray, cells: int, people: int) -> _Ints:
    """Return how many people each cell has, given pairs of both."""
    pairs = distinct(cell.astype(np.int64) * people + person)
    return np.bincount(pairs // people, minlength=cells).astype(np.int64)
