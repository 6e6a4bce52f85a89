"""The frontier of partitions: proven gaps where the search cannot finish, and what annealing adds to the incumbent."""

from __future__ import annotations

import sys
from typing import Any

from discreet.problem import Problem
from discreet.solve import Budget
from discreet.solve.partitions.search import PartitionSearch
from discreet.solve.partitions.solver import PartitionsSolver, compile_ahead
from harness import Row, Settings
from harness.settings import BENCHMARKS

__all__ = ["run"]

_K = 5
_CASES = (
    ("ordered", "HDM", "class-records", 7),
    ("ordered", "DM", "class-records", 7),
    ("ordered", "HDM", "none", 9),
    ("set", "DM", "class-records", 5),
    ("set", "HDM", "class-records", 5),
)
_NOTE = (
    "Adult as in Li and Li (2008): age in 15 intervals, marital status, race, sex, then workclass, education, "
    "occupation, salary class and native country. Gap: what is not proven, as a share of the cost. First: the cost of "
    "the incumbent before branch and bound, and annealed: what annealing alone makes of the most general recoding, "
    "both as multiples of the cost at the end. Seconds are wall clock, as is the limit: compare runs at equal load."
)


def run(settings: Settings) -> list[Row]:
    """Solve each case for a limited time."""
    sys.path.insert(0, str(BENCHMARKS / "papers"))
    from schemes.tables import adult

    limit = 5.0 if settings.quick else 30.0
    title, subject = f"partitions: gaps after {limit:g} s, Adult, k={_K}", adult(settings.data)
    if subject is None:
        return [Row(title, "", note="The table Adult is not at hand.")]
    compile_ahead()
    rows = []
    for scheme, cost, kind, columns in _CASES:
        problem = Problem.build(subject.first(columns), privacy=f"k({_K})", cost=cost, suppression=kind, scheme=scheme)
        rows.append(Row(title, f"{scheme} {cost} {kind}, {columns} attributes", _figures(problem, limit)))
    return [*rows, Row(title, "", note=_NOTE)]


def _figures(problem: Problem, limit: float) -> dict[str, Any]:
    budget = Budget(time_limit=limit, seed=1)
    found = PartitionsSolver().solve(problem, budget)
    return {
        "tuples": problem.table.tuples,
        "cost": found.cost,
        "gap %": 100 * found.gap,
        "first": found.stats["first_cost"] / found.cost,
        "annealed": _annealed(problem) / found.cost,
        "nodes": found.stats["examined"],
        "wall s": budget.seconds,
    }


def _annealed(problem: Problem) -> float:
    """Return the cost that annealing reaches from the most general recoding."""
    search = PartitionSearch(problem, Budget(), None)
    node = tuple(own.fixed(own.most_general()) for own in search.root)
    cost = search._try(node)
    found = search.annealing and search.annealing.run([own.fine for own in node], cost, Budget(), 100_000)
    if not found:
        return cost
    return search._try(tuple(own.fixed(each) for own, each in zip(search.root, found, strict=True)))
