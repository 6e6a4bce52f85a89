"""How the search grows: with rows, with columns, with the size of their domains and with k."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from discreet.counts import CountTable
from discreet.problem import Problem
from discreet.solve import Budget, Solution, solve
from harness import Row, Settings, Timing, coded, main_dataset, measure, people
from harness.synthetic import nested_widths, table

__all__ = ["run"]

Case = tuple[str, pl.DataFrame, dict[str, Any], int]
"""What it is called, the table, its hierarchies and k."""

_NOTE = (
    "LM with a budget of 5 %. Coding: from the frame to distinct tuples. Search: from there to the proven optimum, or "
    "to the time limit. x: as a multiple of the first line."
)


def run(settings: Settings) -> list[Row]:
    """Measure the four kinds of growth; every figure also as a multiple of the first in its table."""
    quick = settings.quick
    sizes = (10_000, 100_000) if quick else (10_000, 30_000, 100_000, 300_000, 1_000_000)
    columns = (3, 6, 9) if quick else (3, 6, 9, 12)
    domains = (10, 1000) if quick else (10, 100, 1000, 10_000, 100_000)
    ks = (2, 100) if quick else (2, 5, 10, 50, 100, 500, 1000)
    dataset = main_dataset(settings)
    return [
        *_grow(settings, "growth: rows (made-up people)", _by_rows(sizes)),
        *_grow(settings, "growth: columns (30,000 rows, 9 values, 3 levels each)", _by_columns(columns)),
        *_grow(settings, "growth: distinct values (200,000 rows, 3 columns of 4 levels)", _by_domain(domains)),
        *_grow(
            settings,
            f"growth: k ({dataset.name})",
            ((f"k={k}", dataset.frame, dataset.trees, k) for k in ks),
        ),
    ]


def _by_rows(sizes: Iterable[int]) -> Iterator[Case]:
    for rows in sizes:
        yield (f"{rows:,} rows", *people(rows), 5)


def _by_columns(numbers: Iterable[int]) -> Iterator[Case]:
    for number in numbers:
        frame = table(30_000, number, 9)
        yield f"{number} columns", frame, dict.fromkeys(frame.columns, "intervals(3)"), 5


def _by_domain(sizes: Iterable[int]) -> Iterator[Case]:
    for distinct in sizes:
        frame = table(200_000, 3, distinct)
        widths = ", ".join(map(str, nested_widths(distinct, 2)))
        yield f"{distinct:,} values", frame, dict.fromkeys(frame.columns, f"intervals({widths})"), 5


def _grow(settings: Settings, title: str, cases: Iterable[Case]) -> list[Row]:
    rows: list[Row] = []
    first: tuple[Timing, Timing] | None = None
    for name, frame, hierarchies, k in cases:
        counting = measure(lambda: coded(frame, hierarchies), min(3, settings.repeat))  # noqa: B023
        counts: CountTable = counting.result
        searching = measure(lambda: _search(counts, k, settings.time_limit), settings.repeat)  # noqa: B023
        first = first or (counting, searching)
        found: Solution = searching.result
        figures = {
            "tuples": counts.tuples,
            "lattice": found.stats["space"],
            "nodes": found.stats["examined"],
            "coding ms": 1000 * counting.best,
            "coding x": counting.best / first[0].best,
            "search ms": 1000 * searching.best,
            "median ms": 1000 * searching.median,
            "search x": searching.best / first[1].best,
            "MB": searching.megabytes,
            "status": found.status,
        }
        rows.append(Row(title, name, figures))
    return [*rows, Row(title, "", note=_NOTE)]


def _search(counts: CountTable, k: int, time_limit: float) -> Solution:
    problem = Problem.build(counts, privacy=f"k({k})", suppression="budget(5%)")
    return solve(problem, "lattice", Budget(time_limit))
