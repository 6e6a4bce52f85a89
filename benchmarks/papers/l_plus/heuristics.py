"""Simulated annealing against the exact search, cost over time: Fig. 7."""

from __future__ import annotations

from statistics import mean, median

import numpy as np

from harness import Chart, Finding, Part, Row
from harness.rows import Figure
from l_plus.runs import KINDS, CutRun, Study, run

__all__ = ["annealing"]

_L = 5
_SAME = 1 + 1e-9


def annealing(study: Study) -> Part:
    """CutRun both with LM, l = 5 and every suppression kind; annealing from several seeds."""
    part, title = Part(), f"Fig. 7: simulated annealing against the exact search (LM, l = {_L})"
    slower, worse = {}, {}
    for kind in ("none", "class-records") if study.quick else KINDS:
        exact = run(study.base, "LM", kind, _L, time_limit=study.patience)
        walks = [run(study.base, "LM", kind, _L, solver="annealing", seed=seed) for seed in study.seeds]
        reached = [walk for walk in walks if walk.cost <= exact.cost * _SAME]
        first = _time_of(exact, exact.cost * _SAME)
        slower[kind] = median(walk.to_best for walk in walks) / first
        worse[kind] = round(100 * (mean(walk.cost for walk in walks) / exact.cost - 1), 6)
        figures: dict[str, Figure] = {
            "optimum": exact.cost,
            "s to it": first,
            "s to proof": float(exact.solution.stats["seconds_to_proof"]),
            "annealing, mean": mean(walk.cost for walk in walks),
            "% above": worse[kind],
            "reach it": f"{len(reached)} of {len(walks)}",
            "s to its best": median(walk.to_best for walk in walks),
            "cuts priced": int(median(walk.examined for walk in walks)),
        }
        part.rows.append(Row(title, kind, figures))
        curves = {
            "annealing, mean": _mean_curve(walks),
            "cuts": _curve(exact),
            "cuts, bound": _curve(exact, bound=True),
        }
        part.charts.append(Chart(f"Fig. 7, {kind}: cost over time", "seconds", "cost", curves, log="x", steps=True))
    times = ", ".join(f"{kind} {ratio:.1f}" for kind, ratio in slower.items())
    above = ", ".join(f"{kind} {more:.2f} %" for kind, more in worse.items())
    quick = [kind for kind, ratio in slower.items() if ratio <= 1]
    part.findings += [
        Finding(
            "Fig. 7",
            "annealing is slower than the exact search by several orders of magnitude",
            min(slower.values()) >= 100,
            f"time to the best, annealing (median) over exact: {times}"
            + (f"; annealing is not slower for {', '.join(quick)}" if quick else ""),
        ),
        Finding(
            "Fig. 7",
            "annealing ends with a worse answer",
            min(worse.values()) > 0,
            f"mean cost above the optimum: {above}; it proves nothing in any case",
        ),
    ]
    return part


def _time_of(exact: CutRun, cost: float) -> float:
    """When a cost was first reached, by the clock."""
    return next(now.seconds for now in exact.solution.trace if now.best <= cost)


def _curve(each: CutRun, *, bound: bool = False) -> tuple[list[float], list[float]]:
    known = [now for now in each.solution.trace if np.isfinite(now.best) and (not bound or now.bound > 0)]
    return [now.seconds for now in known], [now.bound if bound else now.best for now in known]


def _mean_curve(walks: list[CutRun]) -> tuple[list[float], list[float]]:
    """The best cost at any time, in the mean over the walks, from when all have one."""
    curves = [_curve(walk) for walk in walks]
    start, end = max(x[0] for x, _ in curves), max(x[-1] for x, _ in curves)
    times = np.geomspace(start, max(end, start * 1.01), 60)
    costs = [np.asarray(y)[np.searchsorted(x, times, side="right") - 1] for x, y in curves]
    return times.tolist(), np.mean(costs, axis=0).tolist()
