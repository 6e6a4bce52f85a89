"""What a solver is: it takes a problem and a budget of time, and returns a solution with its proof."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from random import Random
from secrets import SystemRandom
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet._words import amount
from discreet.counts import IntArray
from discreet.errors import InterruptedRun
from discreet.problem import Cost, Problem
from discreet.problem._family import Family, Part
from discreet.problem.schemes import Scheme

__all__ = [
    "SOLVERS",
    "Budget",
    "Cover",
    "Groups",
    "Inside",
    "Progress",
    "ProgressCallback",
    "Solution",
    "Solver",
    "Status",
    "gap",
    "nothing_found",
]

Status = Literal["optimal", "feasible", "infeasible"]
_TINY = 1e-12


def gap(cost: float, lower_bound: float) -> float:
    """Return how far a cost can be from the optimum at most, as a share of the cost.

    >>> gap(10.0, 9.0)
    0.1
    """
    return max(0.0, (cost - lower_bound) / max(cost, _TINY))


@dataclass
class Budget:
    """How long a solver may go on: a time limit, and a switch anybody may throw."""

    time_limit: float | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    started: float = field(default_factory=time.monotonic)
    seed: int | None = None
    """For solvers that draw random numbers; None asks the operating system's secure source."""
    while_paused: Callable[[], AbstractContextManager[Any]] = nullcontext
    """What surrounds anything that does not count."""
    drawn: bool = field(default=False, init=False)
    """Whether random numbers were asked for, so that the solution depends on the seed."""
    preparing: float = field(default=0.0, init=False)
    """Seconds that did not count: kernels were loaded, or compiled the first time ever."""

    @property
    def seconds(self) -> float:
        """Seconds since the budget was opened."""
        return time.monotonic() - self.started

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do something that does not count, such as compiling kernels."""
        begun = time.monotonic()
        try:
            with self.while_paused():
                yield
        finally:
            spent = time.monotonic() - begun
            self.started += spent
            self.preparing += spent

    def random(self) -> Random:
        """Return where to draw random numbers from."""
        self.drawn = True
        return SystemRandom() if self.seed is None else Random(self.seed)

    @property
    def exhausted(self) -> bool:
        """Whether the solver should return what it has."""
        return self.stop.is_set() or (self.time_limit is not None and self.seconds >= self.time_limit)


def nothing_found(budget: Budget) -> InterruptedRun:
    """Return the error of a search that was stopped before it found anything valid."""
    return InterruptedRun(
        f"No release that keeps the promises was found in {amount(round(budget.seconds), 'second')}; "
        "allow more time or a larger suppression budget.",
        topic="nothing-found",
    )


@dataclass(frozen=True)
class Progress:
    """What is known at one moment of a search; ``best`` is infinite until something valid was found."""

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
"""A cost that is no further below 0 than this was 0 before rounding."""


@dataclass(frozen=True, eq=False)
class Inside:
    """What is suppressed inside classes that are published otherwise.

    Entry ``e`` speaks of the class that tuple ``example[e]`` of the count table belongs to: ``count[e]`` of its rows
    whose value of the sensitive ``attribute`` is ``value[e]`` are not published, or with ``records=False`` stay and
    their value becomes unknown. Where it matters which rows go, ``label[e]`` is their class label. Entries are
    distinct.
    """

    attribute: str
    records: bool
    example: IntArray
    value: IntArray
    count: IntArray
    label: IntArray | None = None


@dataclass(frozen=True, eq=False)
class Cover:
    """What the groups of a local recoding show of one attribute.

    Of the form ``node`` a group shows the node ``second`` at the level ``first``; of the form ``range`` the leaves from
    ``first`` to ``second``; of the form ``set`` the leaves ``leaves[first:second]``.
    """

    form: Literal["node", "range", "set"]
    first: IntArray
    second: IntArray
    leaves: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Groups:
    """A local recoding: ``count[e]`` rows of tuple ``tuple[e]`` go to the group ``group[e]``; -1 is suppressed.

    ``covers`` says for each attribute what covers the values of each group, and ``show`` what stands in their place:
    the ``cover`` itself, or one value, their ``mean``, ``median`` or ``mode``.
    """

    tuple: IntArray
    group: IntArray
    count: IntArray
    covers: Sequence[Cover]
    show: str = "cover"


@dataclass(frozen=True, eq=False)
class Solution:
    """A recoding and how good it is proven to be.

    ``blocks[i][leaf]`` is the block the leaf of attribute ``i`` is recoded to; ``levels`` the same as hierarchy
    levels where the scheme is full-domain. ``suppressed[j]`` says whether tuple ``j`` of the count table is suppressed
    as a whole; ``inside`` what goes from classes of which something stays. A local recoding has ``groups`` instead of
    all these. ``suppressed_rows`` counts all rows that are
    not published, ``suppressed_values`` the sensitive values that become unknown. With status ``infeasible`` there is
    no recoding, and ``smallest_budget`` is the number of records that would have to be suppressed, where the solver
    knows it.
    """

    status: Status
    cost: float
    lower_bound: float
    blocks: tuple[IntArray, ...] = ()
    levels: tuple[int, ...] | None = None
    suppressed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    inside: Inside | None = None
    groups: Groups | None = None
    suppressed_rows: int = 0
    suppressed_values: int = 0
    classes: int = 0
    smallest_budget: int | None = None
    stats: dict[str, Any] = field(default_factory=dict)
    trace: tuple[Progress, ...] = ()

    def __post_init__(self) -> None:
        """No cost is below 0: what rounding took from it is given back."""
        for name in ("cost", "lower_bound"):
            if -_ROUNDED < getattr(self, name) < 0:
                object.__setattr__(self, name, 0.0)

    @property
    def gap(self) -> float:
        """How far the cost can be from the optimum at most, as a share of the cost."""
        return gap(self.cost, self.lower_bound)


class Solver(Part, ABC):
    """An algorithm. Its fields are its options; all have defaults."""

    schemes: ClassVar[frozenset[str]] = frozenset()
    """Names of the schemes it can search."""
    suppressions: ClassVar[frozenset[str]] = frozenset()
    """Names of the suppression kinds it can apply."""
    exact: ClassVar[bool] = False
    """Given time, it proves optimality."""
    baseline: ClassVar[bool] = False
    """It is there to be compared with, and only used where it is named."""
    special: ClassVar[bool] = False
    """It is made for some costs, and preferred to others where it takes the cost."""

    sees_population: ClassVar[bool] = False
    """It can look at how many people of the population have the released values of a class."""

    sees_table: ClassVar[bool] = False
    """It keeps models that ask something of the released table as a whole, not of each class."""

    def searches(self, scheme: Scheme) -> bool:
        """Return whether it can search a scheme: one of those it names, unless it knows better."""
        return scheme.name in self.schemes

    def takes(self, cost: Cost) -> bool:
        """Return whether it can minimize a cost; where more matters than the cost, see :meth:`check`."""
        return True

    def check(self, problem: Problem) -> None:
        """Raise an error if it cannot solve a problem for a reason that its flags do not tell."""
        return

    @abstractmethod
    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best recoding found within the budget and what is proven about it."""


SOLVERS: Family[Solver] = Family("solver", Solver, "discreet.solve", "discreet.solvers")  # type: ignore[type-abstract]
