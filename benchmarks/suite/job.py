"""A whole job in this process, warm: a frame goes in, an audited frame comes out."""

from __future__ import annotations

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
    jobs = {
        f"{cost} budget {budget}": _Job(dataset.frame, dataset.trees, cost, suppression)
        for cost in ("LM", "DM")
        for budget, suppression in BUDGETS.items()
    }
    jobs["LM budget 5 %, pandas"] = _Job(dataset.frame.to_pandas(), dataset.trees, "LM", BUDGETS["5 %"])
    floor = "bare polars group_by"
    group_by = partial(_group_by, dataset.frame)
    timings = in_turn({floor: group_by, **jobs}, settings.repeat)
    rows = [Row(title, name, _figures(timing, timings[floor])) for name, timing in timings.items()]
    note = [Row(title, "", note=dataset.note)] if dataset.note else []
    return [*rows, *note, *(Row(f"{title}: stages, least wall time", name, job.best) for name, job in jobs.items())]


class _Job:
    """A job that can be done again and again, and remembers the least time each stage took."""

    def __init__(self, frame: Any, hierarchies: dict[str, dc.Hierarchy], cost: str, suppression: str) -> None:
        self.work = partial(
            dc.anonymize,
            frame,
            quasi_identifiers=hierarchies,
            privacy="k(5)",
            cost=cost,
            suppression=suppression,
            solver="lattice",
        )
        self.best: dict[str, float] = {}

    def __call__(self) -> int:
        """Do the job; return the number of nodes that were evaluated."""
        release = self.work()
        assert release.audit.passed
        assert len(release.frame) == release.n - release.suppressed
        for stage, seconds in release.stats["seconds"].items():
            name = f"{stage} ms"
            self.best[name] = min(1000 * seconds, self.best.get(name, float("inf")))
        return int(release.stats["examined"])


def _group_by(frame: Any) -> None:
    frame.group_by(frame.columns).len()


def _figures(timing: Timing, floor: Timing) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "best ms": 1000 * timing.best,
        "median ms": 1000 * timing.median,
        "best wall ms": 1000 * min(timing.wall),
    }
    if timing is not floor:
        figures["MB"] = timing.megabytes
        figures["nodes"] = timing.result
        figures["this/group_by"] = timing.best / floor.best
    return figures
