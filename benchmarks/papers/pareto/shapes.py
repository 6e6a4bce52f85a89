"""Fig. 4: the search space, the front, and what POkA finds of it, for three costs."""

from __future__ import annotations

import numpy as np

from discreet.solve.published.poka import compare_fronts
from harness import BEYOND, Chart, Finding, Part, Row
from pareto.runs import COSTS, Case, Study, curve, figures, missed

__all__ = ["shapes"]

_FEW = 2
"""Points the paper sees missed or wrong at most."""


def shapes(study: Study) -> Part:
    """Search the fronts of three costs in three ways."""
    part = Part()
    cases = {cost: study.case(cost) for cost in COSTS}
    for cost, case in cases.items():
        part.add(_of_cost(study, cost, case))
    part.findings += _findings(study, cases)
    return part


def _of_cost(study: Study, cost: str, case: Case) -> Part:
    name, number = COSTS[cost], len(case.problem.table.attributes)
    title = f"Fig. 4: {name} ({cost}), {number} quasi-identifiers, {study.name}"
    exact, poka, every = case.exact, case.poka(), case.exhaustive
    rows = [
        Row(title, "every node", figures(every)),
        Row(title, "exact search", figures(exact, compare_fronts(exact.front, every.front))),
        Row(title, f"POkA, depth {case.depth}", figures(poka, case.compared())),
    ]
    cloud = every.front.cloud
    space = {"all nodes": (cloud[:, 0].tolist(), cloud[:, 1].tolist())}
    charts = [
        Chart(
            f"{title}, search space",
            "k",
            name,
            {**space, "front": curve(exact.front.points)},
            log="xy",
            clouds=("all nodes",),
        ),
        Chart(
            f"{title}, POkA",
            "k",
            name,
            {"front": curve(exact.front.points), f"POkA, depth {case.depth}": curve(poka.front.points)},
            log="xy",
        ),
    ]
    return Part(rows, [], charts)


def _findings(study: Study, cases: dict[str, Case]) -> list[Finding]:
    compared = {cost: case.compared() for cost, case in cases.items()}
    shares = {cost: case.poka().share for cost, case in cases.items()}
    n = study.frame.height
    low = {cost: _below(case, np.sqrt(n)) for cost, case in cases.items()}
    wrong = {cost: compare_fronts(case.exact.front, case.exhaustive.front) for cost, case in cases.items()}
    fewer = {cost: cases[cost].exact.share for cost in cases}
    nothing_missed = [cost for cost in cases if not missed(compared[cost])]
    return [
        Finding(
            "6, Fig. 4",
            f"the search space is more dense towards lower values of k ({study.name})",
            all(share > 50 for share in low.values()),
            "nodes in the lower half of a logarithmic axis of k: " + _listed(low, ".0f", " %"),
        ),
        Finding(
            "6, Fig. 4",
            f"all solutions identified with GLM and CE are on the true front ({study.name})",
            not compared["LM"].false and not compared["CM"].false,
            "points reported that are not on it: "
            + ", ".join(
                f"{COSTS[cost]} {len(each.false)} of {len(cases[cost].poka().front.points)}"
                for cost, each in compared.items()
            ),
        ),
        Finding(
            "6, Fig. 4",
            f"POkA finds the true front for each cost, with one or two exceptions for DCN ({study.name})",
            all(missed(each) <= (_FEW if cost == "DM" else 0) for cost, each in compared.items()),
            "points with k > 1 missed: "
            + ", ".join(
                f"{COSTS[cost]} {missed(each)} of {len(cases[cost].exact.front.points)}"
                for cost, each in compared.items()
            ),
        ),
        Finding(
            "abstract",
            f"all Pareto-optimal nodes are identified by evaluating only 20 % of the nodes ({study.name})",
            len(nothing_missed) == len(cases) and all(share <= 20 for share in shares.values()),
            f"evaluated: {_listed(shares, '.1f', ' %')}; nothing with k > 1 is missed for "
            + (", ".join(COSTS[cost] for cost in nothing_missed) or "no cost"),
        ),
        Finding(
            BEYOND,
            f"the exact search finds what evaluating every node does, and proves it ({study.name})",
            all(not each.missed and not each.false for each in wrong.values())
            and all(case.exact.front.complete for case in cases.values()),
            f"it evaluates {_listed(fewer, '.1f', ' %')}, in CPU seconds "
            + _listed({cost: case.exact.seconds for cost, case in cases.items()}, ".2f")
            + "; every node takes "
            + _listed({cost: case.exhaustive.seconds for cost, case in cases.items()}, ".2f"),
        ),
    ]


def _below(case: Case, k: float) -> float:
    """Percent of the nodes with a lower k."""
    return float(100 * (case.exhaustive.front.cloud[:, 0] < k).mean())


def _listed(numbers: dict[str, float] | dict[str, int], form: str = "", unit: str = "") -> str:
    return ", ".join(f"{COSTS[cost]} {number:{form}}{unit}" for cost, number in numbers.items())
