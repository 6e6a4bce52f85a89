"""One run of a solver on a table, and what all modules of the study share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.problem import Problem
from harness import Run, timed
from l_plus.tables import Subject

__all__ = ["KINDS", "METRICS", "PAPER", "CutRun", "Study", "cuts", "kinds_of", "run"]

METRICS = {"LM": "LM(penalty=l+)", "DM": "DM", "CM": "CM"}
KINDS = ("none", "class-records", "class-values", "violating-values", "violating-records")
"""From coarse to fine, as the paper has it."""
PAPER = {"order": "descending", "bounds": "paper", "incumbent": "false", "formal": "true"}
"""The techniques of the paper alone."""


@dataclass(frozen=True, eq=False)
class Study:
    """What is studied: a table, the same with other taxonomies, and how much of it (``quick``: a small part)."""

    base: Subject
    variants: Mapping[str, Subject]
    quick: bool = False

    @property
    def ls(self) -> tuple[int, ...]:
        """The values of l; each threshold is 1/l."""
        return (3, 4) if self.quick else (2, 3, 4, 5, 6)

    @property
    def seeds(self) -> range:
        """The seeds of what is random."""
        return range(2 if self.quick else 6)

    @property
    def patience(self) -> float:
        """Seconds for a search that may not end."""
        return 15.0 if self.quick else 120.0


@dataclass(frozen=True, eq=False)
class CutRun(Run):
    """A run of a search over cuts."""

    @property
    def share(self) -> float:
        """The cuts that were looked at, in percent of all as the paper counts them."""
        return 100 * self.examined / int(self.solution.stats["formal_space"])

    @property
    def to_best(self) -> float:
        """Seconds until the best cost was known, by the clock."""
        return float(self.solution.stats["seconds_to_best"])


def kinds_of(metric: str) -> tuple[str, ...]:
    """Return the suppression kinds a metric is defined for: only LM says what an unknown value costs."""
    return KINDS if metric == "LM" else tuple(kind for kind in KINDS if not kind.endswith("values"))


def run(
    subject: Subject,
    metric: str,
    kind: str,
    l: float,
    *,
    solver: str = "cuts",
    scheme: str = "subtree",
    by: str = "",
    seed: int | None = None,
    time_limit: float | None = None,
) -> CutRun:
    """Solve one problem: no value of the sensitive column has more than the share 1/l of a class."""
    threshold = f"{1 / l!r}, {subject.sensitive}" + (f", by={by}" if by else "")
    problem = Problem.build(
        subject.counts, privacy=f"l+({threshold})", cost=METRICS[metric], suppression=kind, scheme=scheme
    )
    found = timed(problem, solver, time_limit=time_limit, seed=seed)
    return CutRun(found.solution, found.seconds)


def cuts(**switches: str) -> str:
    """Return the solver with some of its techniques chosen.

    >>> cuts(order="ascending")
    'cuts(order=ascending)'
    """
    return f"cuts({', '.join(f'{name}={value}' for name, value in switches.items())})"
