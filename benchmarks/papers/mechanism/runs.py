"""Runs of the mechanism on one table, with their CPU seconds, and what all modules of the study share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import discreet as dc
from discreet.problem import Problem
from discreet.problem.costs.score import Score
from discreet.solve import Budget, Solution, solve
from mechanism.tables import Subject

__all__ = ["PROMISES", "SCORES", "WANTED", "Case", "Study", "clocked", "times_as_fast"]

T = TypeVar("T")

WANTED = 5.0
"""How many times as fast as the paper's prototype this should be."""
PROMISES = ("k = 2, l = 2", "k = 2, t = 0.1", "k = 2, t = 0.9", "k = 10, l = 10", "k = 10, t = 0.1", "k = 10, t = 0.9")
"""The combinations of the paper's tables 2 and 3."""
SCORES = ("basic", "log", "eta")
_MECHANISM = "user-oriented(prove=0)"


@dataclass(frozen=True, eq=False)
class Case:
    """One line of the paper's tables, run: each of the three searches and the whole call."""

    promise: str
    score: str
    found: Solution
    """By the mechanism, all values of a column at one level."""
    local: Solution
    """The same with partial-domain de-generalization."""
    best: Solution
    """The optimum, or what is proven of it."""
    whole: float
    """The score of the original table."""
    seconds: float
    """CPU seconds of the mechanism with partial-domain de-generalization, from the counted table on."""
    best_seconds: float
    call_seconds: float
    """CPU seconds of the whole call from the frame to the audited frame."""
    release: dc.Release
    paper: float | None
    """The paper's milliseconds."""

    @property
    def reached(self) -> float:
        """The score the mechanism reaches."""
        return self.whole - self.found.cost

    @property
    def optimum(self) -> float:
        """The highest score there is, or what is proven of it."""
        return self.whole - self.best.lower_bound

    @property
    def partial(self) -> float:
        """The score after partial-domain de-generalization."""
        return float(self.local.stats["score"])


@dataclass(frozen=True, eq=False)
class Study:
    """What is studied, how often short runs are repeated, and the seconds the optimum may take."""

    subjects: Sequence[Subject]
    missing: Sequence[str] = ()
    promises: Sequence[str] = PROMISES
    repeat: int = 5
    patience: float = 30.0
    known: dict[tuple[str, str, str], Case] = field(default_factory=dict, repr=False)

    def case(self, subject: Subject, promise: str, score: str) -> Case:
        """Run one line of the tables; each is run once."""
        key = (subject.name, promise, score)
        if key not in self.known:
            self.known[key] = self._run(subject, promise, score)
        return self.known[key]

    def cases(self, subject: Subject) -> list[Case]:
        """Run all lines."""
        return [self.case(subject, promise, score) for promise in self.promises for score in SCORES]

    def _run(self, subject: Subject, promise: str, score: str) -> Case:
        privacy, cost = _models(promise, subject.sensitive), Score(score, weights=subject.priorities)
        built: Mapping[str, Any] = {"privacy": privacy, "cost": cost}

        def mechanism(scheme: str) -> Solution:
            return solve(Problem.build(subject.counted, **built, scheme=scheme), _MECHANISM, Budget())

        found = mechanism("full-domain")
        local, seconds = clocked(lambda: mechanism("local"), self.repeat)
        problem = Problem.build(subject.counted, **built)
        best, best_seconds = clocked(lambda: solve(problem, "optimal-score", Budget(time_limit=self.patience)), 1)
        release, call_seconds = clocked(lambda: _call(subject, **built), 1)
        return Case(
            promise,
            score,
            found,
            local,
            best,
            problem.cost.figures(problem.table, 0.0, 0.0)["score_before"],
            seconds,
            best_seconds,
            call_seconds,
            release,
            subject.times.get((promise, score)),
        )


def _models(promise: str, sensitive: str) -> list[Any]:
    """Return the privacy models of a combination."""
    values = dict(part.split(" = ") for part in promise.split(", "))
    second = (
        dc.LDiversity(int(values["l"]), sensitive) if "l" in values else dc.TCloseness(float(values["t"]), sensitive)
    )
    return [dc.KAnonymity(int(values["k"])), second]


def _call(subject: Subject, **parts: Any) -> dc.Release:
    return dc.anonymize(
        subject.frame,
        quasi_identifiers=subject.hierarchies,
        sensitive=[subject.sensitive],
        scheme="local",
        solver=_MECHANISM,
        **parts,
    )


def clocked(job: Callable[[], T], repeat: int) -> tuple[T, float]:
    """Do something several times; return its result and the least CPU seconds."""
    seconds = []
    for _ in range(repeat):
        began = time.process_time()
        result = job()
        seconds.append(time.process_time() - began)
    return result, min(seconds)


def times_as_fast(paper: float | None, seconds: float) -> float | None:
    """Return how many times as fast something is as the paper's milliseconds say."""
    return None if paper is None else paper / (1000 * seconds)
