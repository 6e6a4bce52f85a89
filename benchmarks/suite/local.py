"""Local recoding of large tables: a million perturbed rows stage by stage, and how the search grows to five million."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from discreet.counts import CountTable
from discreet.problem import Problem
from discreet.solve import Budget, solve
from harness import Row, Settings, Timing, coded, main_dataset, people, perturbed, run_here
from harness.memory import megabytes_for

__all__ = ["growth", "run", "stages"]

_COLUMNS = 8
_K = 5


def run(settings: Settings) -> list[Row]:
    """Measure each table in a fresh process, warm: what is loaded or compiled once was loaded before."""
    sizes = (10_000, 100_000) if settings.quick else (10_000, 100_000, 1_000_000, 2_000_000, 5_000_000)
    return [*_perturbed(settings), *_grow("uniform", sizes), *_million(settings)]


def _perturbed(settings: Settings) -> list[Row]:
    copies, dataset = (3 if settings.quick else 33), main_dataset(settings)
    title = f"local: {copies} copies of {dataset.name} with changes, k={_K}, LM, by stage"
    rows = [
        Row(
            title,
            f"{100 * share:g} % of cells changed",
            run_here("suite.local:stages", copies=copies, share=share, scratch=str(settings.scratch))[0],
        )
        for share in (0.01, 0.1, 0.3)
    ]
    note = (
        "CPU seconds, and MB on top of what the process held before. Count: from the frame to the coded table. Solve: "
        "from there to groups, with the nearest bound. Call: everything from frame to audited frame. Loss: the mean "
        f"over columns of LM. {dataset.note}"
    )
    return [*rows, Row(title, "", note=note.strip())]


def stages(copies: int, share: float, scratch: str) -> dict[str, Any]:
    """Count, solve and release copies of a table in which a share of the cells was replaced by others."""
    dataset = main_dataset(Settings(quick=False, scratch=Path(scratch)))
    frame = perturbed(dataset, copies, Path(scratch) / "perturbed.csv", share=share)
    trees = dataset.trees
    _warm_up(dataset.frame.head(500), trees, "LM")
    count, search, call = Timing(), Timing(), Timing()
    count.megabytes = megabytes_for(lambda: count.add(lambda: coded(frame, trees)))[1]
    counts = count.result
    search.megabytes = _solved(counts, "LM", search)
    values, cost = counts.n * len(trees), search.result.cost
    _solved(counts, "LM", search)
    tuples = counts.tuples
    del counts
    count.result = search.result = None
    call.megabytes = megabytes_for(lambda: call.add(lambda: _release(frame, trees, "LM")))[1]
    call.result = None
    call.add(lambda: _release(frame, trees, "LM"))
    assert call.result.audit.passed
    return {
        "rows": frame.height,
        "tuples": tuples,
        "loss": cost / values,
        "count s": count.best,
        "count MB": count.megabytes,
        "solve s": search.best,
        "solve wall": min(search.wall),
        "solve MB": search.megabytes,
        "call s": call.best,
        "call wall": min(call.wall),
        "call MB": call.megabytes,
        "frames MB": (frame.estimated_size() + call.result.frame.estimated_size()) / 2**20,
    }


def _grow(kind: str, sizes: tuple[int, ...]) -> list[Row]:
    title = f"local: growth ({kind} numbers, {_COLUMNS} columns, k={_K}, NCP)"
    rows, first = [], None
    for size in sizes:
        found = run_here("suite.local:growth", kind=kind, rows=size)[0]
        effort = found["solve s"] / (found["tuples"] * math.log2(found["tuples"]))
        first = first or effort
        rows.append(Row(title, f"{size:,} rows", {**found, "x / n log n": effort / first}))
    note = (
        "CPU seconds, and MB on top of the coded table. Solve: from the coded table to groups, with the nearest bound. "
        "Call: from frame to audited frame. x / n log n: the seconds of solving by n log n, as a multiple of the first "
        "line."
    )
    return [*rows, Row(title, "", note=note)]


def _million(settings: Settings) -> list[Row]:
    rows = 30_000 if settings.quick else 1_000_000
    title = f"local: other tables of {rows:,} rows, k={_K}, NCP"
    kinds = [kind for kind in TABLES if kind != "uniform"]
    return [Row(title, kind, run_here("suite.local:growth", kind=kind, rows=rows)[0]) for kind in kinds]


def growth(kind: str, rows: int) -> dict[str, Any]:
    """Solve and release a table of so many rows."""
    frame, hierarchies = TABLES[kind](rows)
    _warm_up(frame.head(500), hierarchies, "NCP")
    search, call = Timing(), Timing()
    counts = coded(frame, hierarchies, local=True)
    search.megabytes = _solved(counts, "NCP", search)
    found = search.result
    cost, bound, tuples = found.cost / rows, found.lower_bound / rows, counts.tuples
    del counts, found
    search.result = None
    call.megabytes = megabytes_for(lambda: call.add(lambda: _release(frame, hierarchies, "NCP")))[1]
    assert call.result.audit.passed
    return {
        "tuples": tuples,
        "cost of a row": cost,
        "bound": bound,
        "solve s": search.best,
        "wall": search.wall[0],
        "MB": search.megabytes,
        "call s": call.best,
        "call wall": call.wall[0],
        "call MB": call.megabytes,
    }


def _solved(counts: CountTable, cost: str, timing: Timing) -> float | None:
    """Solve once more; return the megabytes that took."""
    problem = Problem.build(counts, privacy=f"k({_K})", cost=cost, scheme="local")
    return megabytes_for(lambda: timing.add(lambda: solve(problem, "local", Budget(seed=1))))[1]


def _release(frame: pl.DataFrame, hierarchies: dict[str, Any], cost: str) -> dc.Release:
    return dc.anonymize(frame, quasi_identifiers=hierarchies, privacy=f"k({_K})", cost=cost, scheme="local", seed=1)


def _warm_up(frame: pl.DataFrame, hierarchies: dict[str, Any], cost: str) -> None:
    _release(frame, hierarchies, cost)


def _numbers(drawn: np.ndarray) -> tuple[pl.DataFrame, dict[str, Any]]:
    columns = {f"a{number}": values for number, values in enumerate(drawn, start=1)}
    return pl.DataFrame(columns), dict.fromkeys(columns)


def _uniform(rows: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Whole numbers from 0 to 999, all as likely."""
    return _numbers(np.random.default_rng(1).integers(0, 1000, (_COLUMNS, rows)))


def _gaussian(rows: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Whole numbers around 0, with a standard deviation of 100."""
    return _numbers(np.rint(np.random.default_rng(1).normal(0, 100, (_COLUMNS, rows))).astype(np.int64))


def _adult(rows: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Copies of Adult whose ages and years of education have decimals, so that hardly two rows are alike."""
    dataset = main_dataset(Settings(quick=False, scratch=Path()))
    frame, rng = dataset.frame, np.random.default_rng(1)
    place = rng.integers(frame.height, size=rows)
    large = frame[place].rechunk()
    numbers = [name for name, kind in large.schema.items() if kind.is_numeric()]
    noise = [(pl.col(name) + pl.Series(rng.integers(-500, 500, rows) / 1000)) for name in numbers]
    forms = {name: None if name in numbers else tree for name, tree in dataset.trees.items()}
    return large.with_columns(noise), forms


TABLES: dict[str, Callable[[int], tuple[pl.DataFrame, dict[str, Any]]]] = {
    "uniform": _uniform,
    "Gaussian": _gaussian,
    "made-up people": people,
    "Adult, ages with decimals": _adult,
}
