"""Local recoding with promises on key sets: several recodings to start from, each specialized as far as they allow.

What a row shows of one attribute matters to the key sets that attribute is in, and to no others. So covers are chosen
for each attribute and entry by itself (:class:`CoverState`). A *step* takes all entries that show one cover of an
attribute and lets as many of them as possible show what is one step below: entries return if too few rows would show
the same of a key set there, or if too few would be left behind.

Every start is valid, every step keeps it so, and both only depend on the problem. The lower bound adds up bounds for
the attributes of disjoint key sets alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, CountTable
from discreet.errors import InterruptedRun, NothingFoundError, UsageError
from discreet.problem import Problem
from discreet.problem.costs.certainty import Certainty
from discreet.problem.costs.loss import Loss
from discreet.problem.costs.precision import Precision
from discreet.problem.key_sets import KeySet
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.schemes import Scheme
from discreet.problem.schemes.ordered import Ordered
from discreet.problem.schemes.set_partition import SetPartition
from discreet.problem.schemes.subtree import Subtree
from discreet.problem.suppression.suppress_records import SuppressRecords
from discreet.runtime.integer_codes import add_up, first_of, numbered
from discreet.solve._base import Budget, LocalRecoding, Progress, ProgressCallback, Solution
from discreet.solve._key_sets import KeySetRule
from discreet.solve.general.solver import bounds_for, compile_ahead
from discreet.solve.local.alternatives import nothing_found
from discreet.solve.local.bounds import row_bounds
from discreet.solve.local.cover_state import AttributeCovers, CoverState, exact_codes, rates_of, tightened, top_codes
from discreet.solve.local.task import make_task
from discreet.solve.partitions.search import PartitionSearch

__all__ = [
    "MOST_BOUNDED",
    "SAFE",
    "KeySetSearch",
    "cost_share",
    "is_bounded",
    "joint_bounds",
    "solve_with_key_sets",
]

Ints = NDArray[np.int64]
SolveProblem = Callable[[Problem, Budget], Solution]
"""Solves a problem of local recoding without key sets."""

_FEW = 3000
"""Tables of so many tuples have further starts ..."""
_NODES = 60
"""... one of them a global recoding, found by examining so many nodes."""
_LEAVES = 16
"""There is none if an attribute without a hierarchy has more leaves."""
_ROUNDS = 6
"""Rounds of steps over all covers."""
MOST_BOUNDED = 100
"""Key sets that are bounded by themselves, at most."""
SAFE = 1 - 1e-9
"""Bounds are lowered by so much, more than rounding amounts to."""


def solve_with_key_sets(
    problem: Problem,
    solve: SolveProblem,
    budget: Budget,
    progress: ProgressCallback | None,
    search: type[KeySetSearch],
) -> Solution:
    """Return the best local recoding found that keeps all key sets, with a lower bound."""
    searching = search(problem, budget)
    plain = _try(solve, _without_key_sets(problem, max(key_set.k for key_set in problem.key_sets)), budget)
    if not _is_free(problem):
        if plain is None or plain.status == "infeasible":
            relaxed = solve(_without_key_sets(problem, 1), budget)
            if relaxed.status == "infeasible":
                return relaxed
            raise nothing_found()
        return replace(plain, status="feasible", lower_bound=min(searching.bound(), plain.cost))
    return searching.run(plain, solve, progress)


def _is_free(problem: Problem) -> bool:
    """Return whether covers may be chosen freely: only k is promised, and every cover has a price by itself."""
    each = zip(problem.table.attributes, problem.lowest, problem.highest, strict=True)
    limited = any(low > 0 or high < attribute.height for attribute, low, high in each)
    return (
        all(type(model) is KAnonymity for model in problem.privacy)
        and type(problem.cost) in (Certainty, Loss, Precision)
        and not problem.suppression.hides_values
        and not limited
        and all(scheme.shows == "cover" for scheme in problem.schemes)
    )


def _without_key_sets(problem: Problem, k: int) -> Problem:
    """Return the problem with one k on all quasi-identifiers instead; the largest implies all key sets, 1 none."""
    others = [model for model in problem.privacy if not model.key_sets(problem.table.names)]
    return replace(problem, privacy=(*others, KAnonymity(k)))


def _try(solve: SolveProblem, problem: Problem, budget: Budget) -> Solution | None:
    try:
        return solve(problem, budget)
    except NothingFoundError:
        return None


class KeySetSearch:
    """The search for one problem."""

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self.problem, self.budget = problem, budget
        self.covers = [AttributeCovers(attribute) for attribute in problem.table.attributes]
        everything = tuple(range(len(problem.table.attributes)))
        whole = [KeySet(everything, problem.smallest_class)] if problem.smallest_class > 1 else []
        self.key_sets = (*whole, *problem.key_sets)
        self.rule = KeySetRule(problem, self.key_sets)

    def run(self, plain: Solution | None, solve: SolveProblem, progress: ProgressCallback | None) -> Solution:
        """Specialize each start, and return the best result with a lower bound."""
        best: CoverState | None = None
        cost, tried = np.inf, 0
        trace: list[Progress] = []
        for start in self._starts(plain, solve):
            valid = self._restored(self._without_small_classes(start))
            if self._lost(valid) > self.problem.limit:
                continue
            tried += 1
            found = tightened(self.problem, self.covers, self._specialized(valid))
            price = found.cost(self.problem, self.covers)
            if price < cost:
                best, cost = found, price
                trace.append(Progress(self.budget.seconds, cost, 0.0, tried))
                if progress is not None:
                    progress(trace[-1])
            if self.budget.exhausted:
                break
        if best is None:
            # Nothing keeps more rows than the top, where all rows show the same.
            return Solution("infeasible", np.inf, np.inf)
        try:
            bound = min(self.bound(), cost)
        except KeyboardInterrupt:  # a release is found, and worth more than its bound
            self.budget.stop.set()
            bound = 0.0
        trace.append(Progress(self.budget.seconds, cost, bound, tried))
        if progress is not None:
            progress(trace[-1])
        groups = self._recoding(best)
        return Solution(
            status="optimal" if cost <= bound else "feasible",
            cost=cost,
            lower_bound=bound,
            groups=groups,
            suppressed_rows=best.suppressed,
            suppressed_people=None if groups.of_people is None else np.flatnonzero(groups.of_people < 0),
            classes=int(groups.group.max(initial=-1)) + 1,
            stats={"examined": tried},
            trace=tuple(trace),
        )

    def _recoding(self, state: CoverState) -> LocalRecoding:
        """Return what was found as a local recoding."""
        return state.recoding(self.covers)

    def bound(self) -> float:
        """Return what every valid recoding costs at least."""
        return key_set_bound(self.problem, self.budget)

    # --- what is counted ---------------------------------------------------------------------------------------------

    def _lost(self, state: CoverState) -> int:
        """Return how much of the limit the suppressed rows take."""
        return state.suppressed

    def _sizes(self, entries: Ints, rows: Ints, cell: Ints, there: NDArray[np.bool_], cells: int) -> Ints:
        """Return the size of each cell, given entries with their rows and cells, of which some are there."""
        return add_up(cell, np.where(there, rows, 0), cells)

    def _may_move(self, entries: Ints, child: Ints) -> NDArray[np.bool_]:
        """Return which entries can show something else by themselves, given what each would show."""
        return np.ones(entries.size, dtype=np.bool_)

    # --- where to start ---------------------------------------------------------------------------------------------

    def _starts(self, plain: Solution | None, solve: SolveProblem) -> Iterator[CoverState]:
        """Yield recodings: groups for the largest k and for that of all attributes, groups of key sets apart.

        Small tables, and those for which there are no such groups, also start from a global recoding and from one
        class that shows nothing, which is always valid.
        """
        everything, least = tuple(range(len(self.covers))), self.problem.smallest_class
        own = None if least == 1 else _try(solve, _without_key_sets(self.problem, least), self.budget)
        found = [each for each in (plain, own) if each is not None and each.groups is not None]
        yield from (self._by_groups([(everything, each)]) for each in found)
        parts = self._components()
        if len(parts) > 1 or len(parts[0][0]) < len(self.covers):
            limit = self.problem.limit // len(parts)
            split = [(members, _part(self.problem, members, k, limit)) for members, k in parts]
            solved = [(members, _try(solve, part, self.budget)) for members, part in split]
            each_part = [(members, each) for members, each in solved if each is not None and each.groups is not None]
            if len(each_part) == len(parts):
                yield self._by_groups(each_part)
        if found and self.problem.table.tuples > _FEW:
            return
        yield self._by_tuples(top_codes(self.covers, self.problem.table.tuples))
        blocks = self._global_blocks()
        if blocks is not None:
            each_cover = zip(self.covers, blocks, self.problem.table.codes, strict=True)
            yield self._by_tuples(np.stack([covers.of_blocks(block, codes) for covers, block, codes in each_cover]))

    def _by_tuples(self, codes: Ints) -> CoverState:
        table = self.problem.table
        stays = np.ones(table.tuples, dtype=np.bool_)
        return CoverState(np.arange(table.tuples), table.weights.astype(np.int64), codes, stays)

    def _components(self) -> list[tuple[tuple[int, ...], int]]:
        """Return the attributes that key sets connect with each other, with the largest k among them."""
        parts: list[tuple[set[int], int]] = []
        for key_set in self.key_sets:
            members, k = set(key_set.attributes), key_set.k
            apart = []
            for other, least in parts:
                if other & members:
                    members, k = members | other, max(k, least)
                else:
                    apart.append((other, least))
            parts = [*apart, (members, k)]
        return [(tuple(sorted(members)), k) for members, k in parts]

    def _by_groups(self, parts: Sequence[tuple[tuple[int, ...], Solution]]) -> CoverState:
        """Return the recoding in which rows show the covers of their groups, and all other attributes exactly.

        Rows of equal tuples of a part are dealt to its groups in order.
        """
        table = self.problem.table
        row_tuple = np.repeat(np.arange(table.tuples), table.weights)
        codes = exact_codes(self.problem, self.covers, row_tuple)
        stays = np.ones(row_tuple.size, dtype=np.bool_)
        for members, solution in parts:
            groups = solution.groups
            assert groups is not None
            part = np.arange(table.tuples) if len(members) == len(self.covers) else _tuples_of(table, members)
            by_part = np.argsort(part[row_tuple], kind="stable")
            entry = np.argsort(groups.tuple, kind="stable")
            group = np.repeat(groups.group[entry], groups.count[entry])
            stays[by_part] &= group >= 0
            for i, cover in zip(members, groups.covers, strict=True):
                shown = self.covers[i].of_groups(cover)
                if shown.size:
                    codes[i, by_part] = np.where(group >= 0, shown[np.maximum(group, 0)], codes[i, by_part])
        columns = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in (row_tuple, stays, *codes)]
        number, count = numbered(row_tuple.size, [(column, int(column.max(initial=0)) + 1) for column in columns])
        first = first_of(number, count)
        return CoverState(row_tuple[first], np.bincount(number, minlength=count), codes[:, first], stays[first])

    def _global_blocks(self) -> Sequence[NDArray[np.integer]] | None:
        """Return the blocks of a good global recoding; None if there is none, or too many to look through."""
        problem = self.problem
        if any(not attribute.tree and attribute.leaves > _LEAVES for attribute in problem.table.attributes):
            return None
        cost = problem.cost if type(problem.cost) is Precision else Loss(weights=dict(problem.cost.weights))  # type: ignore[attr-defined]
        schemes = tuple(_global_scheme(attribute) for attribute in problem.table.attributes)
        with self.budget.paused():
            compile_ahead()
        own = Budget(self.budget.time_limit, self.budget.stop, self.budget.started)
        try:
            wanted = replace(problem, cost=cost, schemes=schemes)
            search = PartitionSearch(wanted, own, None, bounds=bounds_for(wanted))
            search.patience = _NODES
            search.run()
        except (UsageError, InterruptedRun):  # no global scheme takes an order or a hierarchy, or time is over
            return None
        return search.best_blocks

    # --- what is valid ----------------------------------------------------------------------------------------------

    def _without_small_classes(self, state: CoverState) -> CoverState:
        """Return the state without rows that key sets do not allow."""
        there = np.flatnonzero(state.stays)
        group, first = state.groups()
        sizes = add_up(group[there], state.count[there], first.size)
        shown = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in state.codes[:, first]]
        stays = state.stays.copy()
        if first.size:
            kept = self.rule.stays(shown, sizes, np.ones(first.size, dtype=np.bool_))
            stays[there] = kept[group[there]]
        return state.with_codes(state.codes, stays)

    def _restored(self, state: CoverState) -> CoverState:
        """Return the state with its suppressed rows as one class that shows nothing, if they are enough for that.

        That costs no more than suppressing them, and steps may make it cheaper.
        """
        gone = np.flatnonzero(~state.stays)
        one = np.zeros(gone.size, dtype=np.int64)
        size = int(self._sizes(gone, state.count[gone], one, one == 0, 1)[0])
        if not 0 < size >= max(key_set.k for key_set in self.key_sets):
            return state
        codes = state.codes.copy()
        codes[:, ~state.stays] = top_codes(self.covers, int((~state.stays).sum()))
        restored = state.with_codes(codes, np.ones(state.stays.size, dtype=np.bool_))
        if self._lost(state) > self.problem.limit:
            return restored
        return min((restored, state), key=lambda each: each.cost(self.problem, self.covers))

    # --- steps ------------------------------------------------------------------------------------------------------

    def _specialized(self, state: CoverState) -> CoverState:
        """Return the state after steps at all covers, in rounds until nothing changes."""
        codes = state.codes.copy()
        there = np.flatnonzero(state.stays)
        for _ in range(_ROUNDS):
            changed = False
            for i in self._by_loss(codes, there, state.count):
                waiting = np.unique(codes[i, there]).tolist()
                while waiting and not self.budget.exhausted:
                    moved = self._step(codes, there, state, i, int(waiting.pop()))
                    changed |= bool(moved)
                    waiting += moved
            if not changed or self.budget.exhausted:
                break
        return state.with_codes(codes)

    def _by_loss(self, codes: Ints, there: Ints, count: Ints) -> list[int]:
        """Return the attributes, those that lose most first."""
        lost = []
        for i in range(len(self.covers)):
            shown, number = np.unique(codes[i, there], return_inverse=True)
            rows = add_up(number.reshape(-1), count[there], shown.size)
            lost.append(float((rates_of(self.problem, self.covers, i, shown) * rows).sum()))
        return sorted(range(len(lost)), key=lambda i: (-lost[i], i))

    def _step(self, codes: Ints, there: Ints, state: CoverState, i: int, code: int) -> list[int]:
        """Let entries that show one cover show what is below it; return the covers they show now."""
        some = there[codes[i, there] == code]
        leaf = self.problem.table.codes[i, state.tuples[some]].astype(np.int64)
        below = self.covers[i].below(code, leaf) if some.size else None
        if below is None:
            return []
        shown = np.unique(below)
        rates = rates_of(self.problem, self.covers, i, np.append(shown, code))
        if (rates[:-1] > rates[-1]).any():
            return []
        beside = there[np.isin(codes[i, there], shown)]
        child = np.searchsorted(shown, np.concatenate([below, codes[i, beside]]))
        moves = self._moving(codes, np.concatenate([some, beside]), some.size, child, state.count, i)
        codes[i, some[moves]] = below[moves]
        return [int(each) for each in np.unique(below[moves])]

    def _moving(self, codes: Ints, entries: Ints, some: int, child: Ints, count: Ints, i: int) -> NDArray[np.bool_]:
        """Return which of the first ``some`` entries can show their child: the largest set that keeps every key set."""
        rows = count[entries]
        moves = self._may_move(entries[:some], child[:some])
        rest = []
        for key_set in self.key_sets:
            if i in key_set.attributes:
                columns = [np.unique(codes[j, entries], return_inverse=True)[1] for j in key_set.attributes if j != i]
                each = [(column.reshape(-1), int(column.max(initial=0)) + 1) for column in columns]
                rest.append((*numbered(entries.size, each), key_set.k))
        children = int(child.max(initial=0)) + 1
        changed = True
        while changed and moves.any():
            changed = False
            for other, others, k in rest:
                there = np.append(moves, np.ones(entries.size - some, dtype=np.bool_))
                cell = other * children + child
                few = moves & (self._sizes(entries, rows, cell, there, others * children)[cell[:some]] < k)
                moves &= ~few
                left = self._sizes(entries[:some], rows[:some], other[:some], ~moves, others)[other[:some]]
                lonely = moves & (left > 0) & (left < k)
                moves &= ~lonely
                changed |= bool(few.any() or lonely.any())
        return moves


def _global_scheme(attribute: CodedAttribute) -> Scheme:
    """Return the scheme of global recodings whose blocks are covers of an attribute."""
    if attribute.tree:
        return Subtree()
    return Ordered() if attribute.positions is not None else SetPartition()


def _tuples_of(table: CountTable, members: Sequence[int]) -> Ints:
    """Return for each tuple its number among the tuples of some attributes."""
    return numbered(table.tuples, [(table.codes[i], table.attributes[i].leaves) for i in members])[0]


def _part(problem: Problem, members: Sequence[int], k: int, limit: int) -> Problem:
    """Return the problem of some attributes alone, with one k for all of them, in which so many rows may go."""
    table = problem.table
    number = _tuples_of(table, members)
    count = int(number.max(initial=-1)) + 1
    part = CountTable(
        attributes=tuple(table.attributes[i] for i in members),
        codes=np.ascontiguousarray(table.codes[np.array(members)][:, first_of(number, count)]),
        weights=add_up(number, table.weights, count),
    )
    return replace(
        problem,
        table=part,
        whole=part,
        kept=None,
        privacy=(KAnonymity(k),),
        suppression=SuppressRecords(limit),
        schemes=tuple(problem.schemes[i] for i in members),
        lowest=tuple(problem.lowest[i] for i in members),
        highest=tuple(problem.highest[i] for i in members),
    )


# --- the bound ------------------------------------------------------------------------------------------------------


def is_bounded(problem: Problem) -> bool:
    """Return whether the cost is a sum over attributes, for which there is a bound."""
    return type(problem.cost) in (Certainty, Loss, Precision) and not problem.suppression.hides_values


def key_set_bound(problem: Problem, budget: Budget) -> float:
    """Return what every local recoding that keeps the key sets costs at least.

    What rows show of the attributes of one key set is a local recoding of these attributes alone, with classes of k
    rows, so that each row costs there at least what it does with its nearest rows (``nearest_bound``). Costs add up
    over attributes. So a row costs at least the sum of that over key sets that share no attribute, or the sum over all
    divided by the number of sets an attribute is in at most; a suppressed row costs more. 0 for other costs than NCP,
    LM and precision.
    """
    if not is_bounded(problem):
        return 0.0
    table = problem.table
    everything = tuple(range(len(table.attributes)))
    whole = [KeySet(everything, problem.smallest_class)] if problem.smallest_class > 1 else []
    key_sets = [*whole, *problem.key_sets][:MOST_BOUNDED]
    each = np.zeros((len(key_sets), table.tuples))
    for number, key_set in enumerate(key_sets):
        part = _part(problem, key_set.attributes, key_set.k, problem.limit)
        rates = row_bounds(make_task(part), budget) * cost_share(problem, key_set.attributes)
        each[number] = rates[_tuples_of(table, key_set.attributes)]
    return float((joint_bounds(problem, key_sets, each) * table.weights).sum()) * SAFE


def joint_bounds(problem: Problem, key_sets: Sequence[KeySet], each: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a lower bound on the cost of a row of each unit, given those of each key set alone, (key sets, units)."""
    everything = range(len(problem.table.attributes))
    members = np.array([[a in key_set.attributes for a in everything] for key_set in key_sets])
    divided = each.sum(axis=0) / max(int(members.sum(axis=0).max()), 1)
    penalty = problem.cost.suppressed_row(problem.table)  # type: ignore[attr-defined]
    return np.asarray(np.minimum(np.maximum(divided, _apart(each, members)), penalty))


def _apart(each: NDArray[np.float64], members: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return for each tuple the sum over key sets that share no attribute, those that bound it most first."""
    order = np.argsort(-each, axis=0, kind="stable")
    total, used = np.zeros(each.shape[1]), np.zeros((each.shape[1], members.shape[1]), dtype=np.bool_)
    for chosen in order:
        bound = each[chosen, np.arange(chosen.size)]
        if not bound.any():
            break
        free = ~(used & members[chosen]).any(axis=1)
        total += np.where(free, bound, 0.0)
        used |= members[chosen] & free[:, np.newaxis]
    return total


def cost_share(problem: Problem, members: Sequence[int]) -> float:
    """Return how much smaller a cost is in the whole problem than in that of some attributes alone."""
    if type(problem.cost) is not Precision:
        return 1.0
    weights = [float(problem.cost.weights.get(name, 1.0)) for name in problem.table.names]
    return sum(weights[i] for i in members) / sum(weights)
