"""What an optimal cut is worth: Fig. 5 and 6, costs against Incognito and with thresholds of their own."""

from __future__ import annotations

from itertools import pairwise

from harness import Chart, Finding, Part, Row
from l_plus.optima import Optima
from l_plus.runs import KINDS, METRICS, CutRun, Study, kinds_of, run
from l_plus.tables import Subject

__all__ = ["incognito", "suppression_kinds", "thresholds"]

_PAPER = {"LM": "13 to 22 %", "DM": "9 to 600 %", "CM": "8 to 26 %"}
"""How much uniform thresholds cost more than those by frequency at the same average l, without suppression."""


def incognito(study: Study, optima: Optima) -> Part:
    """Compare with the best full-domain recoding."""
    part, title = Part(), "Fig. 5: Incognito (full-domain, no suppression) against optimal cuts"
    for metric in METRICS:
        best = {l: run(study.base, metric, "none", l, solver="incognito", scheme="full-domain").cost for l in study.ls}
        ours = {kind: [optima[metric, kind, l].cost for l in study.ls] for kind in kinds_of(metric)}
        for place, (l, cost) in enumerate(best.items()):
            figures = {kind: f"{_percent(cost, costs[place]):+.1f} %" for kind, costs in ours.items()}
            part.rows.append(Row(title, f"{metric} l={l}", {"Incognito": cost, **figures}))
        extra = [_percent(cost, own) for cost, own in zip(best.values(), ours["none"], strict=True)]
        part.findings.append(
            Finding(
                "Fig. 5(a)-(c)",
                f"with {metric}, Incognito costs as much as the optimum or more",
                all(cost <= known for costs in ours.values() for cost, known in zip(costs, best.values(), strict=True)),
                f"without suppression Incognito costs {min(extra):.1f} to {max(extra):.1f} % more"
                + ("; the paper says 44 to 176 % for most l" if metric == "DM" else "")
                + ("; equal in some cases" if min(extra) == 0 else ""),
            )
        )
        curves = {"Incognito": (study.ls, list(best.values())), **{k: (study.ls, y) for k, y in ours.items()}}
        part.charts.append(Chart(f"Fig. 5, {metric}: cost", "l", "cost", curves))
    part.rows.append(
        Row(title, "", note="Under each suppression kind: how much more Incognito costs than the optimum.")
    )
    return part


def suppression_kinds(study: Study, optima: Optima) -> Part:
    """Look whether finer suppression is cheaper."""
    part = Part()
    for metric in METRICS:
        pairs = [(l, *pair) for l in study.ls for pair in pairwise(kinds_of(metric))]
        worse = [
            f"at l = {l} {finer} costs {optima[metric, finer, l].cost:,.0f} and {coarser} "
            f"{optima[metric, coarser, l].cost:,.0f}"
            for l, coarser, finer in pairs
            if optima[metric, finer, l].cost > optima[metric, coarser, l].cost
        ]
        saved = [_percent(optima[metric, "none", l].cost, optima[metric, KINDS[-1], l].cost) for l in study.ls]
        seen = f"no suppression costs {min(saved):.0f} to {max(saved):.0f} % more than {KINDS[-1]}"
        part.findings.append(
            Finding(
                "Fig. 5(a)-(c)",
                f"with {metric}, finer suppression costs less, or as much ({', '.join(kinds_of(metric))})",
                not worse,
                f"{len(pairs) - len(worse)} of {len(pairs)} neighbours are in that order; "
                + "; ".join([*(f"not so: {line}" for line in worse), seen]),
            )
        )
    return part


def thresholds(study: Study, optima: Optima) -> Part:
    """Give each sensitive value a threshold by its frequency: from the same base, and with the same mean."""
    part, title = Part(), "Fig. 6: thresholds by frequency, cost in % of the uniform one"
    factor = _mean_factor(study.base)
    for metric in METRICS:
        same: dict[str, list[CutRun]] = {}
        mean: dict[str, list[CutRun]] = {}
        for kind in kinds_of(metric):
            same[kind] = [_by_frequency(study, metric, kind, l) for l in study.ls]
            mean[kind] = [_by_frequency(study, metric, kind, l * factor) for l in study.ls]
            for place, l in enumerate(study.ls):
                uniform = optima[metric, kind, l].cost
                figures = {
                    "uniform": uniform,
                    "same base %": 100 * same[kind][place].cost / uniform,
                    "same mean %": 100 * mean[kind][place].cost / uniform,
                }
                part.rows.append(Row(title, f"{metric} {kind} l={l}", figures))
        part.findings += [
            _cheaper(metric, same, optima, study, "with thresholds that start from the same base"),
            _cheaper(metric, mean, optima, study, "with thresholds of the same mean (average l)", _PAPER[metric]),
        ]
        curves = {f"{kind}, uniform": (study.ls, [optima[metric, kind, l].cost for l in study.ls]) for kind in mean}
        curves |= {f"{kind}, by frequency": (study.ls, [each.cost for each in mean[kind]]) for kind in mean}
        part.charts.append(Chart(f"Fig. 6, {metric}: cost at the same average l", "average l", "cost", curves))
    note = (
        "same base: rare values keep 1/l, frequent ones get more, so that the cost cannot rise. same mean: the base is "
        f"1/l divided by {factor:.3f}, so that the mean of all thresholds is 1/l and rare values get less than that."
    )
    part.rows.append(Row(title, "", note=note))
    return part


def _cheaper(
    metric: str, runs: dict[str, list[CutRun]], optima: Optima, study: Study, how: str, paper: str = ""
) -> Finding:
    change = {
        (kind, l): 100 * (each.cost / optima[metric, kind, l].cost - 1)
        for kind, found in runs.items()
        for l, each in zip(study.ls, found, strict=True)
    }
    dearer = [f"{kind} l={l} {more:+.1f} %" for (kind, l), more in change.items() if more > 0]
    seen = f"{min(change.values()):+.1f} to {max(change.values()):+.1f} %"
    if dearer:
        seen += f"; {len(dearer)} of {len(change)} are dearer: {', '.join(dearer)}"
    if paper:
        own = zip(study.ls, runs["none"], strict=True)
        more = [_percent(optima[metric, "none", l].cost, each.cost) for l, each in own]
        seen += f"; without suppression uniform ones cost {min(more):.0f} to {max(more):.0f} % more (paper: {paper})"
    return Finding("Fig. 6", f"{metric} costs less {how}", not dearer, seen)


def _by_frequency(study: Study, metric: str, kind: str, l: float) -> CutRun:
    return run(study.base, metric, kind, l, by="frequency", time_limit=study.patience)


def _mean_factor(subject: Subject) -> float:
    """By how much the thresholds by frequency are above their base, in the mean over the sensitive values."""
    counts = subject.frame[subject.sensitive].value_counts()["count"]
    return float((counts / counts.mean()).clip(lower_bound=1).mean())  # type: ignore[arg-type]


def _percent(cost: float, least: float) -> float:
    """How much more a cost is than another."""
    return 100 * (cost / least - 1)
