"""The size of the search spaces, and every optimum: Fig. 8 and the runs the other figures rest on."""

from __future__ import annotations

from math import prod

from discreet.problem.schemes.subtree import Subtree
from harness import Chart, Finding, Part, Row
from harness.rows import Figure
from l_plus.runs import METRICS, CutRun, Study, kinds_of, run

__all__ = ["Optima", "all_optima", "sizes"]

Optima = dict[tuple[str, str, int], CutRun]
"""Metric, suppression kind, l -> the run."""

_PRINTED = {"base": 356_440_500, "coarse": 152_685_000, "medium": 6_943_460_940, "fine": 431_934_597_900}


def sizes(study: Study) -> Part:
    """Count the cuts, as the paper does and without nodes that have a single child."""
    part, title = Part(), "cuts: formal, with a node of one child as a further choice, and distinct"
    formal = {}
    for name, subject in study.variants.items():
        attributes = subject.counts.attributes
        formal[name] = prod(Subtree().formal_count(attribute) for attribute in attributes)
        distinct = prod(Subtree().count(attribute) for attribute in attributes)
        figures = {"rows": subject.frame.height, "tuples": subject.counts.tuples}
        part.rows.append(Row(title, name, {**figures, "formal": formal[name], "distinct": distinct}))
    printed = {name: size for name, size in _PRINTED.items() if name in formal}
    part.findings.append(
        Finding(
            "VIII, VIII-C-2",
            f"the search spaces have {', '.join(f'{size:,}' for size in printed.values())} cuts",
            all(formal[name] == size for name, size in printed.items()) if printed else None,
            ", ".join(f"{name} {size:,}" for name, size in formal.items())
            + " (the trees were rebuilt so that the totals agree; the paper's own were not published)",
        )
    )
    return part


def all_optima(study: Study) -> tuple[Optima, Part]:
    """Solve every combination of metric, suppression kind and l."""
    found: Optima = {
        (metric, kind, l): run(study.base, metric, kind, l, time_limit=study.patience)
        for metric in METRICS
        for kind in kinds_of(metric)
        for l in study.ls
    }
    part = Part()
    for (metric, kind, l), each in found.items():
        figures: dict[str, Figure] = {
            "cost": f"{each.cost:,.4f}".rstrip("0").rstrip("."),
            "suppressed": each.solution.suppressed_rows or each.solution.suppressed_values,
            "cuts examined": each.examined,
            "share %": f"{each.share:.7f}",
            "CPU s": each.seconds,
            "s to best": each.to_best,
            "proof": each.proof,
        }
        part.rows.append(Row("optima", f"{metric} {kind} l={l}", figures))
    part.rows.append(Row("optima", "", note="share: of the cuts as the paper counts them. s to best: by the clock."))
    part.findings += _efficiency(found)
    part.charts += [_effort(found, metric, study) for metric in METRICS]
    return found, part


def _efficiency(found: Optima) -> list[Finding]:
    runs = found.values()
    proven, slowest = sum(each.optimal for each in runs), max(each.seconds for each in runs)
    shares = sorted(each.share for each in runs)
    return [
        Finding(
            "VIII-C",
            "it is practical to find the optimum",
            proven == len(runs),
            f"{proven} of {len(runs)} runs proven optimal; the slowest took {slowest:.2f} CPU seconds, all together "
            f"{sum(each.seconds for each in runs):.1f}. The paper: hundreds to over a thousand seconds each, in 2010.",
        ),
        Finding(
            "Fig. 8",
            "only 0.01 to 0.03 % of the cuts are examined",
            shares[-1] <= 0.03,
            f"{shares[0]:.7f} to {shares[-1]:.7f} %, median {shares[len(shares) // 2]:.7f} %, with everything that was "
            "added to the paper's techniques.",
        ),
    ]


def _effort(found: Optima, metric: str, study: Study) -> Chart:
    curves = {kind: (study.ls, [found[metric, kind, l].share for l in study.ls]) for kind in kinds_of(metric)}
    return Chart(f"Fig. 8, {metric}: cuts examined", "l", "% of all cuts", curves, log="y")
