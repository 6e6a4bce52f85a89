"""The contract of solvers: a problem and a time budget in, a solution with a proven lower bound out."""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from random import Random
from secrets import SystemRandom
from typing import Any, ClassVar, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.errors import InterruptedRun
from discreet.problem import Cost, Problem
from discreet.problem.schemes import Scheme
from discreet.problem.suppression import Suppression
from discreet.runtime.machine_limits import usable_cores
from discreet.runtime.parts import Family, Part
from discreet.runtime.plurals import amount
from discreet.solve.kernels.compiler.programs import CompilingStopped, stopped_by

__all__ = [
    "SOLVERS",
    "Budget",
    "GroupCovers",
    "LocalRecoding",
    "PartialSuppression",
    "Progress",
    "ProgressCallback",
    "SearchStats",
    "Solution",
    "Solver",
    "Status",
    "gap",
    "nothing_found",
]

Status = Literal["optimal", "feasible", "infeasible"]
_TINY = 1e-12


def gap(cost: float, lower_bound: float) -> float:
    """Return the relative gap: how far a cost can be from the optimum at most, as a share of the cost.

    >>> gap(10.0, 9.0)
    0.1
    """
    return max(0.0, (cost - lower_bound) / max(cost, _TINY))


@dataclass
class Budget:
    """How long a solver may run: until a time limit, or until ``stop`` is set."""

    time_limit: float | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    started: float = field(default_factory=time.monotonic)
    seed: int | None = None
    """For solvers that draw random numbers; None uses the operating system's secure source."""
    threads: int | None = None
    """The most threads that search at a time; None uses every core that this process may use."""
    while_paused: Callable[[], AbstractContextManager[Any]] = nullcontext
    """Context in which paused work is done."""
    start: Sequence[IntArray] | None = None
    """A recoding to begin with: for each attribute the block of each leaf. Solvers that cannot use it ignore it."""
    drawn: bool = field(default=False, init=False)
    """Whether random numbers were drawn, so that the solution depends on the seed."""
    preparing: float = field(default=0.0, init=False)
    """Seconds that were not counted: kernels were loaded, or compiled the first time ever."""

    @property
    def seconds(self) -> float:
        """Seconds since the start, pauses excluded."""
        return time.monotonic() - self.started

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock, for example while kernels are compiled; ``stop`` ends compiling too."""
        begun = time.monotonic()
        try:
            with self.while_paused(), stopped_by(self.stop):
                yield
        except CompilingStopped:
            raise InterruptedRun("The search was stopped while it was compiled; nothing was released.") from None
        finally:
            spent = time.monotonic() - begun
            self.started += spent
            self.preparing += spent

    def random(self) -> Random:
        """Return the source of random numbers."""
        self.drawn = True
        return SystemRandom() if self.seed is None else Random(self.seed)

    @property
    def cores(self) -> int:
        """How many threads may search at a time: as many as asked for, or as there are usable cores."""
        return self.threads or usable_cores()

    @property
    def exhausted(self) -> bool:
        """Whether the solver should return what it has."""
        return self.stop.is_set() or (self.time_limit is not None and self.seconds >= self.time_limit)


def nothing_found(budget: Budget) -> InterruptedRun:
    """Return the error for a search that was stopped before it found a valid release."""
    return InterruptedRun(
        f"No release that keeps the promises was found in {amount(round(budget.seconds), 'second')}; "
        "allow more time or a larger suppression budget.",
        topic="nothing-found",
    )


@dataclass(frozen=True)
class Progress:
    """The state of a search at one moment; ``best`` is infinite until a valid recoding was found."""

    seconds: float
    best: float
    bound: float
    examined: int

    @property
    def gap(self) -> float:
        """The proven gap at this moment; 1 while nothing was found."""
        return gap(self.best, self.bound) if np.isfinite(self.best) else 1.0


ProgressCallback = Callable[[Progress], None]

_ROUNDED = 1e-9
"""Costs this close below 0 are rounding errors."""


@dataclass(frozen=True, eq=False)
class PartialSuppression:
    """Records suppressed in classes that are otherwise published.

    Entry ``e`` is about the class of tuple ``example[e]`` of the count table: ``count[e]`` of its rows whose value of
    the sensitive ``attribute`` is ``value[e]`` are suppressed, or with ``records=False`` stay and lose that value. If
    it matters which rows go, ``label[e]`` is their class label, or with ``by_tuple`` entry ``e`` is about the rows of
    tuple ``example[e]`` alone. Entries are distinct.
    """

    attribute: str
    records: bool
    example: IntArray
    value: IntArray
    count: IntArray
    label: IntArray | None = None
    by_tuple: bool = False


@dataclass(frozen=True, eq=False)
class GroupCovers:
    """The released values of one attribute in the groups of a local recoding.

    A group shows, by ``form``: ``node`` the node ``second`` at the level ``first``; ``range`` the leaves from ``first``
    to ``second``; ``set`` the leaves ``leaves[first:second]``.
    """

    form: Literal["node", "range", "set"]
    first: IntArray
    second: IntArray
    leaves: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    rounded: bool = False
    """Whether ranges show the ends of the attribute's grid rather than their leaves."""


@dataclass(frozen=True, eq=False)
class LocalRecoding:
    """A local recoding: ``count[e]`` rows of tuple ``tuple[e]`` go to the group ``group[e]``; -1 is suppressed.

    ``covers`` has for each attribute what covers the values of each group, and ``show`` is what is published: the
    ``cover`` itself, or a single value, the ``mean``, ``median`` or ``mode`` of the group. If sensitive values are
    suppressed, rows of the ``hidden`` entries stay and lose their value of the sensitive ``attribute``. If promises
    count people, ``of_people`` is the group of each person, with all rows; or, if rows of a person may be in several,
    ``of_pairs`` that of each pair of tuple and person.
    """

    tuple: IntArray
    group: IntArray
    count: IntArray
    covers: Sequence[GroupCovers]
    show: str = "cover"
    hidden: NDArray[np.bool_] | None = None
    attribute: str | None = None
    of_people: IntArray | None = None
    of_pairs: IntArray | None = None


class SearchStats(TypedDict, total=False):
    """What solvers report about a search, in ``release.stats``; a solver fills in what applies to it."""

    space: int
    """The number of recodings that differ on this table ..."""
    formal_space: int
    """... and of those the scheme allows, where that is more."""
    examined: int
    """The recodings that were evaluated."""
    pruned: dict[str, int]
    """How often each rule ruled something out."""
    seconds_to_best: float | None
    """When the incumbent was found."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A recoding and how good it is proven to be.

    ``blocks[i][leaf]`` is the block that a leaf of attribute ``i`` is recoded to; ``levels`` the same as hierarchy
    levels if the scheme is full-domain. ``suppressed[j]`` says whether tuple ``j`` of the count table is suppressed as
    a whole, ``inside`` what is suppressed in classes that are otherwise published. If the budget is one of people,
    ``suppressed_people`` are the numbers of those who are suppressed with all their rows. A local recoding has
    ``groups`` instead of all these. ``suppressed_rows`` counts all rows that are not published, ``suppressed_values``
    the sensitive values that become unknown. With status ``infeasible`` there is no recoding, and ``smallest_budget``
    is the number of records (or people) that would have to be suppressed, if the solver knows it. ``stats`` has the
    keys of :class:`SearchStats`, and more that are particular to a solver.
    """

    status: Status
    cost: float
    lower_bound: float
    blocks: tuple[IntArray, ...] = ()
    levels: tuple[int, ...] | None = None
    suppressed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    inside: PartialSuppression | None = None
    suppressed_people: IntArray | None = None
    groups: LocalRecoding | None = None
    suppressed_rows: int = 0
    suppressed_values: int = 0
    classes: int = 0
    smallest_budget: int | None = None
    stats: Mapping[str, Any] = field(default_factory=dict)
    trace: tuple[Progress, ...] = ()

    def __post_init__(self) -> None:
        """Round costs just below 0 up to 0."""
        for name in ("cost", "lower_bound"):
            if -_ROUNDED < getattr(self, name) < 0:
                object.__setattr__(self, name, 0.0)

    @property
    def gap(self) -> float:
        """The relative gap: how far the cost can be from the optimum at most."""
        return gap(self.cost, self.lower_bound)


class Solver(Part, ABC):
    """An algorithm. Its fields are its options; all have defaults."""

    reason: ClassVar[str] = ""
    """Why ``auto`` takes it, for lay readers; ``{recodings}`` is replaced by their number."""
    schemes: ClassVar[frozenset[str]] = frozenset()
    """Names of the schemes it can search; see also :meth:`searches`.

    If it is wrong, the solver is refused for a scheme it could search, or fails on one it cannot.
    """
    suppressions: ClassVar[frozenset[str]] = frozenset()
    """Names of the suppression kinds it can apply.

    If it is wrong, the solver is refused for a kind it could apply, or fails on one it cannot.
    """
    exact: ClassVar[bool] = False
    """Given time, it proves optimality.

    If it is wrong, ``auto`` prefers it to solvers that prove their results.
    """
    baseline: ClassVar[bool] = False
    """It is there to be compared with, and only used if it is named.

    If it is wrong, ``auto`` may choose it.
    """
    special: ClassVar[bool] = False
    """It is made for some costs, and preferred to other solvers if it takes the cost.

    If it is wrong, ``auto`` prefers it to the usual solver.
    """
    sees_population: ClassVar[bool] = False
    """It fills in ``classes.population``, so that models may count people of the population.

    If it is wrong, such models are refused, or raise an error in the search.
    """
    sees_people: ClassVar[bool] = False
    """Models may count people, of whom one may have several rows: it reads ``classes.judged``.

    If it is wrong, such problems are refused, or the audit refuses the release.
    """
    sees_table: ClassVar[bool] = False
    """It asks :meth:`Problem.holds`, so that models of the whole released table are kept.

    If it is wrong, such models are refused, or the audit refuses the release.
    """

    sees_key_sets: ClassVar[bool] = False
    """It keeps :attr:`Problem.key_sets`, the promises about some of the quasi-identifiers.

    If it is wrong, such promises are refused, or the audit refuses the release.
    """
    sees_key_sets_of_people: ClassVar[bool] = False
    """It does so where promises count people.

    If it is wrong, such promises are refused, or the audit refuses the release.
    """

    def searches(self, scheme: Scheme) -> bool:
        """Return whether it can search a scheme: one of those it names, unless it knows better."""
        return scheme.name in self.schemes

    def applies(self, kind: Suppression) -> bool:
        """Return whether it can apply a suppression kind: one it names, or any budget if it names ``budget``."""
        return kind.name in self.suppressions or (kind.is_budget and "budget" in self.suppressions)

    def takes(self, cost: Cost) -> bool:
        """Return whether it can minimize a cost; where more matters than the cost, see :meth:`check`."""
        return True

    def compiled(self, problem: Problem) -> bool:
        """Return whether it searches a problem in kernels throughout; otherwise it evaluates arrays, more slowly."""
        return True

    @classmethod
    def compile_ahead(cls) -> None:
        """Load the kernels of the search, or compile them the first time ever: by default those of its module."""
        function = getattr(sys.modules[cls.__module__], "compile_ahead", None)
        if function is not None:
            function()

    def check(self, problem: Problem) -> None:
        """Raise an error if it cannot solve a problem for a reason that its flags do not cover."""
        return

    @abstractmethod
    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best recoding found within the budget and what is proven about it."""


SOLVERS: Family[Solver] = Family("solver", Solver, "discreet.solve", "discreet.solvers")  # type: ignore[type-abstract]
