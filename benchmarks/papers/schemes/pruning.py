"""What each pruning technique is worth: section 5.2.4, the published search with one or more of them left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from harness import Chart, Finding, Part, Row, Run
from schemes.runs import KINDS, K, Study, paper, run, seconds
from schemes.tables import Subject

__all__ = ["WITHOUT", "pruning"]

_EARLY = ("seeding", "modified_bfs")
_ORDERS = ("node_order", "applicator_order")
WITHOUT: Mapping[str, tuple[str, ...]] = {
    "all": (),
    "no node pruning": ("node_pruning",),
    "no useless": ("useless",),
    "no useful": ("useful",),
    "no seeding": ("seeding",),
    "no modified BFS": ("modified_bfs",),
    "no node order": ("node_order",),
    "no applicator order": ("applicator_order",),
    "no early best": _EARLY,
    "no orders": _ORDERS,
    "no early best nor orders": (*_EARLY, *_ORDERS),
}
"""Name -> the techniques that are left out."""
_WIDTH = 3
"""Intervals of age taken together where sets are searched, so that the published search may end."""
_HELPS = 1.05
"""How many times the nodes it takes at least without a technique that is said to help."""
_TOGETHER = 0.5
"""The share of the time that is taken for near to the paper's."""

Runs = dict[str, Run]


def pruning(study: Study) -> Part:
    """Leave out one technique at a time, and those of 4.4 that find a good recoding early, or choose an order."""
    part, found = Part(), {}
    for case in _cases(study):
        found[case.title] = runs = {
            name: run(
                case.subject.first(), case.scheme, case.cost, case.kind, K, paper(case.direction, *off), study.patience
            )
            for name, off in WITHOUT.items()
        }
        title = f"5.2.4: {case.title} (k = {K})"
        part.rows += [Row(title, name, _figures(each, runs["all"])) for name, each in runs.items()]
    for what, value in (("CPU seconds", seconds), ("nodes", lambda each: max(each.examined, 1))):
        curves = {
            title: (list(range(len(runs))), [value(each) for each in runs.values()]) for title, runs in found.items()
        }
        title = f"5.2.4: techniques left out, {what}"
        part.charts.append(Chart(title, "left out", what, curves, log="y", ticks=tuple(WITHOUT)))
    part.findings += _findings({title: runs for title, runs in found.items() if runs["all"].optimal})
    return part


@dataclass(frozen=True)
class _Case:
    subject: Subject
    scheme: str
    cost: str
    kind: str
    direction: str = "bottom-up"

    @property
    def title(self) -> str:
        return f"{self.scheme}, {self.cost}, {self.kind}, {self.direction}, {self.subject.name}"


def _cases(study: Study) -> list[_Case]:
    cases = []
    for subject in study.tables:
        cases += [_Case(subject, "ordered", "DM", kind) for kind in KINDS]
        if not study.quick:
            cases += [_Case(subject, "ordered", "HDM", kind) for kind in KINDS]
            cases += [_Case(subject.coarser(_WIDTH), "set", "DM", kind) for kind in KINDS]
            cases.append(_Case(subject, "ordered", "DM", "class-records", "top-down"))
    return cases


def _figures(each: Run, full: Run) -> dict[str, float | int | str | None]:
    pruned = each.solution.stats.get("pruned", {})
    return {
        "CPU s": each.seconds,
        "nodes": each.examined,
        "times the nodes": each.examined / max(full.examined, 1),
        "proof": each.proof,
        "pruned by bound": pruned.get("bound"),
        "reconsidered": pruned.get("reconsidered"),
        "useless": pruned.get("useless"),
        "useful": pruned.get("useful"),
    }


def _findings(found: Mapping[str, Runs]) -> list[Finding]:
    """Say what each technique saves, where the search with all of them ended.

    Nodes decide whether something helps, as short times are noisy.
    """
    findings = []
    for name, off in WITHOUT.items():
        if len(off) == 1:
            own = _concerned(found, name)
            helps = median(_times_the_nodes(own, name)) >= _HELPS if own else None
            findings.append(
                Finding(
                    "5.2.4",
                    f"{off[0]} makes the search shorter, by {_HELPS - 1:.0%} of the nodes or more",
                    helps,
                    _seen(own, name),
                )
            )
    together = max(_saved(found, "no early best nor orders")) >= _TOGETHER if found else None
    early, orders = (median(_times_the_nodes(found, name)) if found else 1.0 for name in ("no early best", "no orders"))
    findings += [
        Finding(
            "5.2.4",
            "an early good recoding (seeding, modified BFS) and the orders together save up to 60 % of the time",
            together,
            f"{_seen(found, 'no early best nor orders')}; which two the paper means is a guess, as its sentence is "
            "damaged",
        ),
        Finding(
            "5.2.4",
            "of the two, an early good recoding is the more effective one, with up to 40 %",
            early > orders if found else None,
            f"early: {_seen(found, 'no early best')}; orders: {_seen(found, 'no orders')}",
        ),
    ]
    return findings


def _concerned(found: Mapping[str, Runs], name: str) -> Mapping[str, Runs]:
    """The cases a technique is for: applicators are useful from below and without suppression only."""
    if name != "no useful":
        return found
    return {title: runs for title, runs in found.items() if ", none, bottom-up" in title}


def _saved(found: Mapping[str, Runs], name: str) -> list[float]:
    """The share of the time that is saved by what is left out; at least that much if the search was cut off."""
    return [1 - runs["all"].seconds / max(runs[name].seconds, 1e-9) for runs in found.values()]


def _times_the_nodes(found: Mapping[str, Runs], name: str) -> list[float]:
    return [runs[name].examined / max(runs["all"].examined, 1) for runs in found.values()]


def _seen(found: Mapping[str, Runs], name: str) -> str:
    if not found:
        return "no search with all techniques ended"
    saved, nodes = [100 * share for share in _saved(found, name)], _times_the_nodes(found, name)
    cut_off = sum(not runs[name].optimal for runs in found.values())
    seen = (
        f"without it {min(nodes):.2f} to {max(nodes):.2f} times the nodes, median {median(nodes):.2f}; of the time it "
    )
    seen += f"saves {min(saved):.0f} to {max(saved):.0f} %, median {median(saved):.0f} %"
    if cut_off:
        seen += f"; {cut_off} of {len(found)} runs without it were cut off, so that it is more"
    return seen
