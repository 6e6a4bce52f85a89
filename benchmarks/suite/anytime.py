"""What a search of many attributes has found and proven after each second, beside simulated annealing alone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from discreet.problem import Problem
from discreet.solve import Budget, Progress, solve
from discreet.solve.lattice.annealing import Annealer
from discreet.solve.lattice.layout import lay_out
from discreet.solve.lattice.pricing import leaf_rates
from harness import Row, Settings, coded
from harness.charts import Chart, drawn
from harness.synthetic import table

__all__ = ["run"]

_TITLE = "anytime: k=5, LM, any number of rows may be suppressed"
_MOMENTS = (0.5, 1.0, 3.0, 10.0, 30.0, 60.0)
_RUN = 6
"""Evaluations of a run of annealing for each level of the lattice; every run starts at the best node so far."""

Curve = list[tuple[float, float]]


def run(settings: Settings) -> list[Row]:
    """Search each table until the time limit, then anneal it as long; print both at some moments, and draw them."""
    rows, curves = [], {}
    limit = settings.time_limit
    for name, frame, hierarchies in _tables(settings):
        problem = Problem.build(coded(frame, hierarchies), privacy="k(5)", suppression="class-records")
        solve(problem, "lattice", Budget(0.05))
        worst = problem.cost.worst(problem.table)
        seen: list[Progress] = []
        solution = solve(problem, "lattice", Budget(limit), seen.append)
        found = [(each.seconds, 1 - each.best / worst) for each in seen if np.isfinite(each.best)]
        bound = [(each.seconds, 1 - each.bound / worst) for each in seen]
        alone = [(seconds, 1 - best / worst) for seconds, best in _annealed(problem, limit)]
        curves |= {f"{name}, search": _xy(found), f"{name}, annealing": _xy(alone)}
        moments = [moment for moment in _MOMENTS if moment <= limit]
        figures: dict[str, Any] = {"lattice": solution.stats["space"]}
        figures |= {f"{moment:g} s": _at(found, moment) for moment in moments}
        figures |= {f"annealing {moment:g} s": _at(alone, moment) for moment in moments}
        figures |= {
            "bound at 3 s": _at(bound, 3.0),
            "bound": 1 - solution.lower_bound / worst,
            "status": solution.status,
        }
        rows.append(Row(_TITLE, name, figures))
    picture = settings.kept / "anytime.svg"
    chart = Chart("Quality over time", "seconds", "utility", curves, log="x", steps=True)
    picture.write_text(drawn(chart), encoding="utf-8")
    note = f"Utility: 1 less the loss per cell. bound: no release has more. Drawn in {picture.name}."
    return [*rows, Row(_TITLE, "", note=note)]


def _tables(settings: Settings) -> Iterator[tuple[str, pl.DataFrame, Mapping[str, Any]]]:
    """Yield Census-Income with more and more attributes where it is at hand, and made-up tables."""
    folder = settings.data / "taxonomies" / "census-income"
    file = settings.data / "census-income-kdd" / "census-income-kdd-train.csv.gz"
    if folder.is_dir() and file.is_file():
        frame = pl.read_csv(file).rechunk()
        columns = [column for column in frame.columns if (folder / f"{column}.csv").is_file()]
        for number in (12, 27) if settings.quick else (12, 16, 20, 24, 27):
            chosen = columns[:number]
            yield f"census {number}", frame.select(chosen), {name: folder / f"{name}.csv" for name in chosen}
    for number, distinct in ((16, 9), (24, 9)):
        frame = table(30_000, number, distinct, seed=number)
        yield f"made up {number}", frame, dict.fromkeys(frame.columns, "intervals(3)")


def _annealed(problem: Problem, limit: float) -> Iterator[tuple[float, float]]:
    """Yield when annealing alone has found something better, and its cost."""
    separable = problem.cost.separable(problem.table)
    annealer = Annealer(problem, lay_out(problem), separable, leaf_rates(problem.table, separable))
    steps = sum(problem.highest) - sum(problem.lowest)
    began, best = time.monotonic(), np.inf
    annealer.start(np.array(problem.highest), _RUN * steps, 0.0)
    while time.monotonic() - began < limit:
        over = annealer.run(10)
        if annealer.best < best:
            best = annealer.best
            yield time.monotonic() - began, best
        if over:
            annealer.start(annealer.node, _RUN * steps)


def _xy(curve: Curve) -> tuple[list[float], list[float]]:
    return [max(x, 1e-3) for x, _ in curve], [y for _, y in curve]


def _at(curve: Curve, moment: float) -> float | None:
    """Return what was known at a moment."""
    known = [y for x, y in curve if x <= moment]
    return known[-1] if known else None
