"""One release of a table by one method, and what all modules of the study share."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

import discreet as dc
from discreet.evaluate import QueryReport
from discreet.solve import SOLVERS
from harness import Chart, Part, Row
from harness.rows import Figure
from utility.tables import Subject

__all__ = ["MULTIDIM", "PAPER", "K", "Outcome", "Study", "chart", "methods", "ratio", "run"]

MULTIDIM = "MultiDim"
PAPER = ("bottom-up", "top-down")
"""The methods of the paper."""
K = 10
"""Where k is not varied."""


def methods() -> dict[str, str]:
    """Return the solver of each method, by the name the paper has for it."""
    own = {"local": "local"} if "local" in SOLVERS.members() else {}
    return {MULTIDIM: "mondrian", **{name: name for name in PAPER}, **own}


@dataclass(frozen=True, eq=False)
class Outcome:
    """A release that passed its audit, and the CPU seconds it took from the table in memory on."""

    subject: Subject
    release: dc.Release
    seconds: float

    @property
    def penalty(self) -> float:
        """The total certainty penalty (NCP)."""
        return self.release.cost

    @cached_property
    def discernibility(self) -> float:
        """The sum over the classes of the square of their sizes."""
        sizes = self.release.frame.group_by(pl.all()).len()["len"].cast(pl.Float64)
        return float((sizes**2).sum())

    def ask(self, count: int, *, summed: bool = False, **options: Any) -> QueryReport:
        """Ask random queries, the same ones for all releases of a table."""
        subject, key = self.subject, repr((count, summed, options))
        drawn = {"workload": subject.workloads[key]} if key in subject.workloads else {"count": count, **options}
        column = subject.summed if summed else None
        hierarchies = subject.hierarchies
        report = dc.evaluate.queries(subject.frame, self.release, quasi_identifiers=hierarchies, sum_of=column, **drawn)
        subject.workloads[key] = report.workload
        return report


@dataclass(frozen=True, eq=False)
class Study:
    """What is studied: a real table, and how much of everything (``quick``: a small part)."""

    real: Subject
    quick: bool = False
    points: int = 10_000
    """Rows of the synthetic tables."""
    queries: int = 1_000
    """Queries of each workload."""
    ks: tuple[int, ...] = (2, 5, 10, 25, 50, 100)
    dimensions: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    sizes: tuple[int, ...] = (10_000, 25_000, 50_000, 100_000)
    """Rows where that is varied."""
    known: dict[tuple[str, int], Outcome] = field(default_factory=dict, repr=False)

    def real_run(self, method: str, k: int) -> Outcome:
        """Release the real table; each release is made once."""
        if (method, k) not in self.known:
            self.known[method, k] = run(self.real, method, k)
        return self.known[method, k]


def run(subject: Subject, method: str, k: int, weights: Mapping[str, float] | None = None) -> Outcome:
    """Release a table by a method; what is random begins at the same seed each time."""
    began = time.process_time()
    release = dc.anonymize(
        subject.frame,
        quasi_identifiers=subject.hierarchies,
        privacy=dc.KAnonymity(k),
        cost=dc.Certainty(weights=weights or {}),
        scheme="local",
        solver=methods()[method],
        seed=1,
    )
    return Outcome(subject, release, time.process_time() - began)


def chart(title: str, axis: str, measure: str, found: Mapping[str, Mapping[float, float]], log: str = "") -> Part:
    """Return a table with a row for each x and a column for each curve, and its chart."""
    part = Part()
    for x in dict.fromkeys(x for curve in found.values() for x in curve):
        figures: dict[str, Figure] = {name: curve.get(x) for name, curve in found.items()}
        part.rows.append(Row(f"{title}: {measure}", f"{axis} = {x:g}", figures))
    curves = {name: (list(curve), list(curve.values())) for name, curve in found.items()}
    part.charts.append(Chart(title, axis, measure, curves, log=log))
    return part


def ratio(one: float, other: float) -> float:
    """Return how many times as high one figure is as another; 1 where both are 0.

    >>> ratio(3, 2), ratio(0, 0)
    (1.5, 1.0)
    """
    return one / other if other else (math.inf if one else 1.0)
