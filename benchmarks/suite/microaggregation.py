"""Microaggregation: the squared error that is reached and proven, on the field's test tables and on large ones."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import polars as pl

from discreet.counts import CodedAttribute, CountTable
from discreet.problem import Problem
from discreet.solve import Budget, Solution, solve
from harness import Row, Settings

__all__ = ["run"]

_TABLES = {"Tarragona": "Tarragona", "Census": "CASCrefmicrodata"}
_KS = (3, 5, 10)
_SEARCHES = {"default": "microaggregation", "high": "microaggregation(effort=high)"}
_TITLE = "microaggregation: SSE / SST in percent"
_NOTE = (
    "CPU seconds of one thread, the bound included; the gap is how far the squared error can be from the least "
    "possible at most. Ratio: the squared error of high effort to that of MDAV."
)
_LARGE_TITLE = "microaggregation: rows of 4 numbers in 50 clusters, k=5, all threads"
_LARGE_NOTE = (
    "MDAV, whose time grows with the square of the rows, is left out for many. Seconds are those of the search."
)


def run(settings: Settings) -> list[Row]:
    """Group the tables of the literature, then large ones."""
    rows = []
    for name, file in _TABLES.items():
        path = settings.data / "sdcmicro" / f"{file}.csv"
        if path.exists():
            numbers = pl.read_csv(path).to_numpy().astype(np.float64)
            rows += [Row(_TITLE, f"{name}, k={k}", _compared(numbers, k)) for k in _KS]
    if not rows:
        rows.append(Row(_TITLE, "", note="The tables are not at hand (DISCREET_DATA names their folder)."))
    sizes = (10_000, 100_000) if settings.quick else (10_000, 100_000, 1_000_000)
    large = [Row(_LARGE_TITLE, f"{n:,} rows", _large(n)) for n in sizes]
    return [*rows, Row(_TITLE, "", note=_NOTE), *large, Row(_LARGE_TITLE, "", note=_LARGE_NOTE)]


def _compared(numbers: np.ndarray[Any, Any], k: int) -> dict[str, Any]:
    """Return the squared error of MDAV and of each effort, and what is proven."""
    problem = _problem(numbers, k)
    whole = problem.cost.worst(problem.table)
    mdav = solve(problem, "mdav(bound=none)", Budget(seed=1))
    figures: dict[str, Any] = {"MDAV": _percent(mdav.cost / whole)}
    found: Solution | None = None
    for name, solver in _SEARCHES.items():
        solve(problem, solver, Budget(0.01, seed=1))  # what is loaded once
        begun = time.process_time()
        found = solve(problem, solver, Budget(seed=1, threads=1))
        figures[name] = _percent(found.cost / whole)
        figures[f"{name}, s"] = time.process_time() - begun
    assert found is not None
    return {
        **figures,
        "at least": _percent(found.lower_bound / whole),
        "gap": found.gap,
        "ratio": found.cost / mdav.cost,
    }


def _large(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    centres = 3 * rng.normal(size=(50, 4))
    numbers = centres[rng.integers(50, size=n)] + rng.normal(size=(n, 4)) * rng.gamma(1, 1, size=(n, 1))
    problem = _problem(numbers, 5)
    mdav = solve(problem, "mdav(bound=none)", Budget(seed=1)).cost if n <= 10_000 else None
    begun = time.monotonic()
    found = solve(problem, "auto", Budget(seed=1))
    whole = problem.cost.worst(problem.table)
    return {
        "percent": _percent(found.cost / whole),
        "at least": _percent(found.lower_bound / whole),
        "s": time.monotonic() - begun,
        "ratio to MDAV": None if mdav is None else found.cost / mdav,
    }


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _problem(numbers: np.ndarray[Any, Any], k: int) -> Problem:
    """Return the problem of grouping rows by all their numbers."""
    codes, attributes = [], []
    for i, column in enumerate(numbers.T):
        values, code = np.unique(column, return_inverse=True)
        codes.append(code.reshape(-1))
        leaves = np.arange(values.size, dtype=np.int32)
        attributes.append(CodedAttribute(f"x{i}", leaves[np.newaxis], np.bincount(codes[-1]), values, tree=False))
    tuples, weights = np.unique(np.stack(codes), axis=1, return_counts=True)
    table = CountTable(tuple(attributes), tuples.astype(np.int32), weights.astype(np.int64))
    return Problem.build(table, privacy=f"k({k})", cost="SSE", scheme="local(show=mean)")
