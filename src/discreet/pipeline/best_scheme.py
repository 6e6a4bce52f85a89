"""``scheme="best"``: search several schemes with the same promises, and take the release that loses least.

Few people know which scheme suits their table, and the difference is large: where full-domain generalization loses
half of the detail, local recoding may lose a twentieth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import (
    DiscreetError,
    InfeasibleError,
    InterruptedRun,
    NothingFoundError,
    UnsupportedCombinationError,
)
from discreet.job.settings import JobSettings
from discreet.pipeline.make_release import make_release
from discreet.pipeline.people import kept_pairs
from discreet.pipeline.prepare import Prepared, prepare
from discreet.pipeline.search import search
from discreet.problem import SCHEMES, Problem, scheme_of_each
from discreet.report.class_sizes import ClassSizes
from discreet.report.notes import Private
from discreet.report.small_counts import LeftOut
from discreet.runtime.integer_codes import add_up, distinct, numbered

if TYPE_CHECKING:
    from discreet.counts import CountTable
    from discreet.pipeline.release import Release
    from discreet.solve import Budget, ProgressCallback, Solution

__all__ = ["CANDIDATES", "Alternative", "best_of_schemes", "class_sizes", "on_scheme"]

CANDIDATES = ("full-domain", "subtree", "local")
_SECONDS = 60.0
"""Time for all searches together, unless the user gives a limit."""
_LEAST = 0.1
"""Time that even the last search has."""


@dataclass(frozen=True)
class Alternative:
    """A scheme that was tried, with what its best release loses, or why there is none."""

    scheme: str
    normalized_cost: float | None = None
    cost: float | None = None
    status: str = ""
    gap: float | None = None
    suppressed: int | None = None
    rows: int | None = None
    """The rows of the table."""
    classes: int | None = None
    smallest_class: int | None = None
    highest_risk: float | None = None
    average_risk: float | None = None
    """The mean of 1 / class size over the released rows."""
    reason: str = ""


SchemeListener = Callable[[str, list[Alternative]], None]
_LISTENER: ContextVar[SchemeListener | None] = ContextVar("scheme listener", default=None)


@contextmanager
def on_scheme(listener: SchemeListener) -> Iterator[None]:
    """Call a function before each scheme is searched, with its name and what was tried before. For user interfaces."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@dataclass(frozen=True)
class _Attempt:
    prepared: Prepared
    problem: Problem
    solution: Solution

    @property
    def summary(self) -> Alternative:
        worst = self.problem.cost.worst(self.problem.table)
        sizes = class_sizes(self.problem.table, self.solution)
        return Alternative(
            _name(self.prepared),
            normalized_cost=float(self.solution.cost / worst) if worst else 0.0,
            cost=float(self.solution.cost),
            status=self.solution.status,
            gap=float(self.solution.gap),
            suppressed=int(self.solution.suppressed_rows),
            rows=int(self.problem.table.n),
            classes=sizes.count,
            smallest_class=sizes.smallest,
            highest_risk=sizes.highest_risk,
            average_risk=sizes.average_risk,
        )


def class_sizes(table: CountTable, solution: Solution) -> ClassSizes:
    """Return the sizes of the equivalence classes that a solution publishes, in people if promises count people.

    Groups of a local recoding that are covered alike are one class.
    """
    groups = solution.groups
    if groups is not None:
        published = groups.group >= 0
        number = int(groups.group.max(initial=-1)) + 1
        rows = add_up(groups.group[published], groups.count[published], number)
        if groups.of_people is not None:  # all rows of a person are in one group
            rows = np.bincount(groups.of_people[groups.of_people >= 0], minlength=number)
        alike: dict[tuple[Any, ...], int] = {}
        for group in np.flatnonzero(rows).tolist():
            shown = tuple(
                tuple(cover.leaves[cover.first[group] : cover.second[group]].tolist())
                if cover.form == "set"
                else (int(cover.first[group]), int(cover.second[group]))
                for cover in groups.covers
            )
            alike[shown] = alike.get(shown, 0) + int(rows[group])
        return ClassSizes.of(np.array(list(alike.values()), dtype=np.int64))
    codes = (
        (blocks[table.codes[index]], int(blocks.max(initial=0)) + 1) for index, blocks in enumerate(solution.blocks)
    )
    class_of = numbered(table.tuples, codes)[0]
    if table.people is not None:
        people, there = table.people, kept_pairs(table.people, table, solution)
        assert there is not None  # no single records are suppressed if promises count people
        pairs = distinct(np.repeat(class_of, people.of_tuples)[there] * people.count + people.members[there])
        return ClassSizes.of(np.bincount(pairs // people.count), pairs // people.count, pairs % people.count)
    kept = np.where(solution.suppressed, 0, table.weights) if solution.suppressed.size else table.weights
    sizes = add_up(class_of, kept)
    inside = solution.inside
    if inside is not None and inside.records:
        sizes = sizes - add_up(class_of[inside.example], inside.count, len(sizes))
    return ClassSizes.of(sizes)


def best_of_schemes(settings: JobSettings, progress: ProgressCallback | None, budget: Budget) -> Release:
    """Search each scheme in its share of the time, and release the cheapest result."""
    began = time.monotonic()
    attempts: list[_Attempt] = []
    tried: list[Alternative] = []
    errors: list[DiscreetError] = []
    listener = _LISTENER.get()
    clock = _SharedClock(_SECONDS if settings.time_limit is None else settings.time_limit, budget)
    for prepared in _prepared(settings, clock):
        if listener is not None:
            listener(_name(prepared), list(tried))
        # Every full-domain recoding is a cut, so subtree generalization need not do worse.
        budget.start = attempts[0].solution.blocks if attempts and _name(prepared) == "subtree" else None
        try:
            attempt = _Attempt(prepared, *search(prepared, progress, budget))
        except (UnsupportedCombinationError, InfeasibleError, NothingFoundError, InterruptedRun) as refused:
            tried.append(Alternative(_name(prepared), reason=refused.message))
            errors.append(refused)
        else:
            attempts.append(attempt)
            tried.append(attempt.summary)
        if attempts and budget.stop.is_set():  # before the table is counted for the next scheme
            tried += [Alternative(name, reason="the search was stopped") for name in CANDIDATES[len(tried) :]]
            break
    if not attempts:
        raise errors[0]
    time_is_up = clock.left <= 0
    best = min(attempts, key=lambda attempt: attempt.solution.cost)
    job = {**best.prepared.settings.describe_search(best.problem.privacy), "time_limit": settings.time_limit}
    release = make_release(best.prepared, best.problem, best.solution, job, drawn=budget.drawn)
    release.stats["schemes"] = [asdict(each) for each in tried]
    others = time.monotonic() - began - sum(release.stats["seconds"].values())
    release.stats["seconds"]["other schemes"] = max(others, 0.0)
    note = _note(_name(best.prepared), tried)
    if settings.time_limit is None and time_is_up:
        note += f" The searches ended after {_SECONDS:g} seconds, as no time limit was given; more time may save more."
    return replace(release, notes=(*release.notes, Private(note) if LeftOut.of(release).total else note))


class _SharedClock:
    """The time limit of all searches together; compiling does not count."""

    def __init__(self, limit: float, budget: Budget) -> None:
        self.budget = budget
        self.ends = time.monotonic() - budget.preparing + limit

    @property
    def left(self) -> float:
        """The seconds left."""
        return self.ends + self.budget.preparing - time.monotonic()


def _prepared(settings: JobSettings, clock: _SharedClock) -> Iterator[Prepared]:
    """Yield the table prepared for each scheme; schemes that need the same counts share them."""
    known: Prepared | None = None
    for number, name in enumerate(CANDIDATES):
        scheme = SCHEMES.make(name)
        share = clock.left / (len(CANDIDATES) - number)
        own = replace(settings, scheme=scheme, time_limit=max(share, _LEAST))
        if known is not None and scheme.is_global:
            schemes = scheme_of_each(list(known.schema.quasi_identifiers), scheme)
            yield replace(known, settings=own, schemes=schemes)
        else:
            known = prepare(own).with_key()
            yield known


def _name(prepared: Prepared) -> str:
    scheme: Any = prepared.settings.scheme
    return str(scheme.text)


def _note(chosen: str, tried: list[Alternative]) -> str:
    """Return what each scheme would have lost, and why others were not searched."""
    losses = [
        f"{each.scheme} {each.normalized_cost:.1%}{'' if each.status == 'optimal' else ' (not proven optimal)'}"
        for each in tried
        if each.normalized_cost is not None
    ]
    note = f"Of the schemes that were tried, {chosen} loses least: {', '.join(losses)} of what could be lost."
    missing = [f"{each.scheme} ({each.reason.rstrip('.')})" for each in tried if each.normalized_cost is None]
    return f"{note} No release: {'; '.join(missing)}." if missing else note
