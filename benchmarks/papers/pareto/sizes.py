"""Fig. 6: the share of the nodes that is evaluated, by the size of the lattice."""

from __future__ import annotations

from itertools import pairwise

from harness import Chart, Finding, Part, Row
from pareto.runs import COSTS, Case, Study, figures

__all__ = ["sizes"]


def sizes(study: Study) -> Part:
    """Take two quasi-identifiers and more, up to all but the class."""
    part = Part()
    numbers = range(2, len(study.columns))
    for cost, name in COSTS.items():
        cases = {number: study.case(cost, number) for number in numbers}
        title = f"Fig. 6: share of the nodes evaluated ({name}, {study.name})"
        for number, case in cases.items():
            size = f"{number} quasi-identifiers, {case.exact.front.space:,} nodes"
            part.rows.append(Row(title, f"{size}: exact", figures(case.exact)))
            part.rows.append(Row(title, f"{size}: POkA", figures(case.poka(), case.compared())))
        space = [case.exact.front.space for case in cases.values()]
        curves = {
            "POkA": (space, [case.poka().share for case in cases.values()]),
            "exact search": (space, [case.exact.share for case in cases.values()]),
        }
        part.charts.append(Chart(title, "nodes of the lattice", "evaluated, %", curves, log="xy"))
        if cost == "DM":
            part.findings.append(_falls(study, name, cases))
    last = {name: study.case(cost, numbers[-1]) for cost, name in COSTS.items()}
    average = sum(case.poka().share for case in last.values()) / len(last)
    ours = sum(case.exact.share for case in last.values()) / len(last)
    part.findings.append(
        Finding(
            "6",
            f"on average around 20 % of the nodes are evaluated with all quasi-identifiers ({study.name})",
            10 <= average <= 30,
            f"POkA {average:.1f} % on average over the costs, exact search {ours:.1f} %; by cost POkA "
            + ", ".join(f"{name} {case.poka().share:.1f} %" for name, case in last.items()),
        )
    )
    return part


def _falls(study: Study, name: str, cases: dict[int, Case]) -> Finding:
    shares = {number: case.poka().share for number, case in cases.items()}
    return Finding(
        "6, Fig. 6",
        f"the larger the lattice, the smaller the share that is evaluated ({name}, {study.name})",
        all(after <= before for before, after in pairwise(shares.values())),
        "POkA by quasi-identifiers: "
        + ", ".join(f"{number}: {share:.1f} %" for number, share in shares.items())
        + "; exact search: "
        + ", ".join(f"{number}: {case.exact.share:.1f} %" for number, case in cases.items()),
    )
