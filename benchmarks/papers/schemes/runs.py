"""One run of a search on a table, and what all modules of the study share."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.counts import CountTable
from discreet.problem import Problem
from discreet.solve import Budget, solve
from harness import Run, timed
from schemes.tables import Subject

__all__ = ["COSTS", "FASTER", "INCLUDED", "KINDS", "SCHEMES", "K", "Study", "paper", "prepare", "run", "seconds"]

SCHEMES = ("full-domain", "subtree", "guided-ordered", "ordered", "guided-set", "set")
"""From few partitions to many."""
INCLUDED = (
    ("full-domain", "subtree"),
    ("subtree", "guided-ordered"),
    ("guided-ordered", "ordered"),
    ("ordered", "set"),
    ("guided-ordered", "guided-set"),
    ("guided-set", "set"),
)
"""Of two schemes, the second allows all that the first one does."""
COSTS = ("DM", "HDM")
KINDS = ("class-records", "none")
"""With and without suppression."""
FASTER = "partitions"
"""The search with bounds of our own."""
K = 5
"""Where k is not varied."""


@dataclass(frozen=True, eq=False)
class Study:
    """What is studied, how much of it (``quick``: a small part), and for how many seconds.

    ``patience`` is the limit of the published search, ``limit`` that of the faster one.
    """

    tables: tuple[Subject, ...]
    quick: bool = False
    patience: float = 20.0
    limit: float = 60.0

    @property
    def ks(self) -> tuple[int, ...]:
        """The values of k."""
        return (K, 100) if self.quick else (2, 5, 10, 25, 50, 100)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of suppression where searches are compared."""
        return KINDS[:1] if self.quick else KINDS

    def sizes(self, subject: Subject, most: int) -> range:
        """The numbers of quasi-identifiers where that is varied."""
        return range(1, min(most, 4 if self.quick else most, len(subject.columns)) + 1)


def run(table: CountTable, scheme: str, cost: str, kind: str, k: int, solver: str, time_limit: float) -> Run:
    """Solve one problem; what is random begins at the same seed each time."""
    problem = Problem.build(table, privacy=f"k({k})", cost=cost, suppression=kind, scheme=scheme)
    return timed(problem, solver, time_limit=time_limit, seed=1)


def paper(direction: str, *off: str) -> str:
    """Return the published search in one direction, without some of its techniques.

    >>> paper("bottom-up", "seeding")
    'partitions(bounds=paper, direction=bottom-up, seeding=false)'
    """
    switches = ["bounds=paper", f"direction={direction}", *(f"{technique}=false" for technique in off)]
    return f"partitions({', '.join(switches)})"


def prepare(table: CountTable) -> None:
    """Load all that is compiled, so that no run pays for it."""
    for scheme in SCHEMES:
        problem = Problem.build(table, privacy="k(2)", cost="DM", suppression="class-records", scheme=scheme)
        for solver in (FASTER, paper("bottom-up"), paper("top-down")):
            solve(problem, solver, Budget(time_limit=0.2, seed=1))


def seconds(each: Run) -> float:
    """CPU seconds, for an axis that has no 0."""
    return max(each.seconds, 1e-3)
