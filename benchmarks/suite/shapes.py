"""Other shapes than Adult: very wide domains, many columns, and a lattice too large to finish."""

from __future__ import annotations

from typing import Any

from discreet.problem import Problem
from discreet.solve import Budget, Solution, solve
from harness import Row, Settings, Timing, coded, measure, run_here
from harness.memory import megabytes_for
from harness.synthetic import table

__all__ = ["measure_shape", "run"]

_TITLE = "shapes: k=5, LM, budget 5 %, each in a fresh process"


def run(settings: Settings) -> list[Row]:
    """Measure each shape once, with a time limit."""
    many = 100_000 if settings.quick else 300_000
    shapes: dict[str, dict[str, Any]] = {
        "3 columns of 100,000 values, 6 levels": {
            "rows": many,
            "attributes": 3,
            "distinct": 100_000,
            "hierarchy": "intervals(10, 100, 1000, 10000)",
        },
        "24 columns of 5 values, 2 levels": {"rows": 30_000, "attributes": 24, "distinct": 5, "hierarchy": "flat"},
        "15 columns of 27 values, 4 levels": {
            "rows": 30_000,
            "attributes": 15,
            "distinct": 27,
            "hierarchy": "intervals(3, 9)",
        },
    }
    limit = settings.time_limit
    rows = [
        Row(_TITLE, name, run_here("suite.shapes:measure_shape", **shape, time_limit=limit)[0])
        for name, shape in shapes.items()
    ]
    note = (
        f"Searches end after {limit:.0f} s with the best release so far. normalized: the cost as a share of "
        "suppressing everything. MB: on top of what the process held before, for a bare polars group_by of the same "
        "table and for the search."
    )
    return [*rows, Row(_TITLE, "", note=note)]


def measure_shape(rows: int, attributes: int, distinct: int, hierarchy: str, time_limit: float) -> dict[str, Any]:
    """Make a table, group it with bare polars, code it and search it."""
    frame = table(rows, attributes, distinct)
    hierarchies = dict.fromkeys(frame.columns, hierarchy)
    _warm_up()
    _, floor_memory = megabytes_for(lambda: frame.group_by(frame.columns).len())
    floor = measure(lambda: frame.group_by(frame.columns).len(), 3)
    counts = coded(frame, hierarchies)
    problem = Problem.build(counts, privacy="k(5)", suppression="budget(5%)")
    search = Timing()
    _, memory = megabytes_for(lambda: search.add(lambda: solve(problem, "lattice", Budget(time_limit))))
    found: Solution = search.result
    return {
        "rows": rows,
        "lattice": found.stats["space"],
        "nodes": found.stats["examined"],
        "status": found.status,
        "gap %": 100 * found.gap,
        "normalized": found.cost / problem.cost.worst(counts),
        "group_by ms": 1000 * floor.best,
        "search CPU s": search.best,
        "wall s": search.wall[0],
        "search/group_by": search.best / floor.best,
        "group_by MB": floor_memory,
        "search MB": memory,
    }


def _warm_up() -> None:
    """Load what is loaded once: compiled code and polars' threads."""
    small = table(100, 3, 4)
    small.group_by(small.columns).len()
    solve(Problem.build(coded(small, dict.fromkeys(small.columns, "flat")), privacy="k(2)"), "lattice")
