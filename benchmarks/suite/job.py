"""A whole job in this process, warm: a frame goes in, an audited frame comes out."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import discreet as dc
from harness import Row, Settings, Timing, in_turn, main_dataset
from suite.search import BUDGETS

__all__ = ["run"]


def run(settings: Settings) -> list[Row]:
    """Measure jobs with k = 5 on Adult, given as polars and as pandas frames."""
    dataset = main_dataset(settings)
    title = f"job: {dataset.name} from frame to audited frame, k=5"
    works = {
        f"{cost} budget {budget}": partial(_job, dataset.frame, dataset.trees, cost, suppression)
        for cost in ("LM", "DM")
        for budget, suppression in BUDGETS.items()
    }
    works["LM budget 5 %, pandas"] = partial(_job, dataset.frame.to_pandas(), dataset.trees, "LM", BUDGETS["5 %"])
    floor = "bare polars group_by"
    group_by = partial(_group_by, dataset)
    timings = in_turn({floor: group_by, **works}, settings.repeat)
    rows = [Row(title, name, _figures(timing, timings[floor])) for name, timing in timings.items()]
    stages = [Row(f"{title}: stages, wall", name, _stages(timings[name])) for name in works]
    note = [Row(title, "", note=dataset.note)] if dataset.note else []
    return [*rows, *note, *stages]


def _job(frame: Any, hierarchies: dict[str, dc.Hierarchy], cost: str, suppression: str) -> dict[str, Any]:
    release = dc.anonymize(
        frame, quasi_identifiers=hierarchies, privacy="k(5)", cost=cost, suppression=suppression, solver="lattice"
    )
    assert release.audit.passed
    assert len(release.frame) == release.n - release.suppressed
    return release.stats


def _group_by(dataset: Any) -> None:
    dataset.frame.group_by(dataset.frame.columns).len()


def _figures(timing: Timing, floor: Timing) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "best ms": 1000 * timing.best,
        "median ms": 1000 * timing.median,
        "wall ms": 1000 * statistics.median(timing.wall),
    }
    if timing is not floor:
        figures["MB"] = timing.megabytes
        figures["nodes"] = timing.result["examined"]
        figures["this/group_by"] = timing.best / floor.best
    return figures


def _stages(timing: Timing) -> dict[str, Any]:
    """The stages of the last repetition, as the release itself reports them (wall seconds)."""
    return {f"{stage} ms": 1000 * seconds for stage, seconds in timing.result["seconds"].items()}
