"""Every local release passes its audit: k from 2 to 100, by every solver, on public and on generated tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from harness import Row, Settings, census, main_dataset

__all__ = ["run"]

_SOLVERS = ("local", "mondrian", "mondrian(cut=relaxed)", "mondrian(categories=tree)", "top-down", "bottom-up", "mdav")
_SLOW = ("bottom-up", "mdav")
"""Their time grows with the square of the rows: on tables of more than some rows they are left out."""
_MANY = 50_000
_TITLE = "audits: releases that pass, of all"
_NOTE = (
    "Each release is recounted by polars from its released values: its smallest class must have k rows, and it must "
    "have all rows of the table. discreet's own audit, which refuses to release what fails, is asked too. The smallest "
    "class is the least over k of its rows divided by k."
)


def run(settings: Settings) -> list[Row]:
    """Release every table by every solver for every k, and recount."""
    ks = (2, 10, 100) if settings.quick else (2, 3, 5, 10, 25, 50, 100)
    rows = []
    for name, frame, hierarchies in _tables(settings):
        figures: dict[str, Any] = {"rows": frame.height}
        for solver in _SOLVERS:
            if solver in _SLOW and frame.height > _MANY:
                figures[solver] = None
                continue
            told = [_passes(frame, hierarchies, solver, k) for k in ks]
            figures[solver] = f"{sum(passed for passed, _ in told)} of {len(told)}"
            figures["least"] = min(figures.get("least", np.inf), *(least for _, least in told))
        print(f"{name}: {figures}", flush=True)
        rows.append(Row(_TITLE, name, {**figures, "least": figures.pop("least")}))
    return [*rows, Row(_TITLE, "", note=f"{_NOTE} k is {', '.join(map(str, ks))}.")]


def _passes(frame: pl.DataFrame, hierarchies: dict[str, Any], solver: str, k: int) -> tuple[bool, float]:
    """Return whether a release keeps its promise, and the rows of its smallest class by k."""
    release = dc.anonymize(
        frame, quasi_identifiers=hierarchies, privacy=f"k({k})", cost="NCP", scheme="local", solver=solver, seed=1
    )
    smallest = int(release.frame.group_by(list(hierarchies)).len()["len"].min())  # type: ignore[arg-type]
    return release.audit.passed and smallest >= k and release.frame.height == frame.height, smallest / k


def _tables(settings: Settings) -> Iterator[tuple[str, pl.DataFrame, dict[str, Any]]]:
    dataset = main_dataset(settings)
    yield f"{dataset.name}, hierarchies", dataset.frame, dict(dataset.trees)
    yield f"{dataset.name}, ranges and sets", dataset.frame, dict.fromkeys(dataset.frame.columns)
    real = census(settings)
    if real is not None and not settings.quick:
        yield "Census-Income", *real
    for dimensions in (2, 10) if settings.quick else range(2, 11):
        rng = np.random.default_rng(dimensions)
        uniform = rng.integers(1, 17, (dimensions, 10_000))
        gaussian = np.clip(np.rint(rng.normal(8.5, 1.0, (dimensions, 10_000))), 1, 16).astype(np.int64)
        for name, drawn in (("uniform", uniform), ("Gaussian", gaussian)):
            columns = {f"a{number}": values for number, values in enumerate(drawn)}
            yield f"{name}, {dimensions} columns", pl.DataFrame(columns), dict.fromkeys(columns)
