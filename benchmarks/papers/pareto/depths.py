"""Fig. 5 and Table 3: what the depth of POkA's search does, for GLM."""

from __future__ import annotations

from harness import Chart, Finding, Part, Row
from pareto.runs import Study, curve, figures, missed

__all__ = ["depths"]


def depths(study: Study) -> Part:
    """Search to every depth up to the greatest height of a hierarchy."""
    case = study.case("LM")
    deepest, average = case.deepest, case.depth
    tried = range(1, max(deepest, average + 1) + 1)
    title = f"Table 3: nodes evaluated by depth (GLM, {case.exact.front.space:,} nodes, {study.name})"
    compared = {depth: case.compared(depth) for depth in tried}
    rows = [Row(title, f"POkA, depth {d}", figures(case.poka(d), compared[d])) for d in tried]
    rows.append(Row(title, "exact search", figures(case.exact)))
    lost = {depth: missed(each) + len(each.false) for depth, each in compared.items()}
    seen = "points missed or wrong (k > 1) by depth: " + ", ".join(f"{d}: {number}" for d, number in lost.items())
    shares = ", ".join(f"{depth}: {case.poka(depth).share:.1f} %" for depth in tried)
    deeper = [depth for depth in tried if depth > average]
    evaluated = [case.poka(depth).front.examined for depth in tried]
    findings = [
        Finding(
            "6, Fig. 5",
            f"all Pareto-optimal nodes are identified at the average height, {average} ({study.name})",
            lost[average] == 0,
            seen,
        ),
        Finding(
            "6, Fig. 5",
            f"a depth of 1 misses a number of the Pareto-optimal nodes ({study.name})",
            missed(compared[1]) > 0,
            seen,
        ),
        Finding(
            "6",
            f"a larger depth is of no advantage: more nodes are evaluated for nothing ({study.name})",
            all(lost[depth] >= lost[average] for depth in deeper) and evaluated == sorted(evaluated),
            f"{seen}; evaluated {shares}",
        ),
        Finding(
            "6, Table 3",
            f"a depth of the greatest height, {deepest}, evaluates more than 60 % of the nodes ({study.name})",
            case.poka(deepest).share > 60,
            f"evaluated by depth: {shares}; the exact search evaluates {case.exact.share:.1f} %",
        ),
    ]
    fronts = {f"POkA, depth {depth}": curve(case.poka(depth).front.points) for depth in range(1, average + 1)}
    charts = [
        Chart(
            f"Fig. 5: fronts by depth (GLM, {study.name})",
            "k",
            "GLM",
            {"front": curve(case.exact.front.points), **fronts},
            log="xy",
        ),
        Chart(
            f"Table 3: nodes evaluated by depth ({study.name})",
            "depth",
            "nodes",
            {
                "POkA": (list(tried), evaluated),
                "exact search": (list(tried), [case.exact.front.examined] * len(tried)),
            },
        ),
    ]
    return Part(rows, findings, charts)
