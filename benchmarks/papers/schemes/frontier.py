"""How far the faster search gets: the proven gap at a limit as quasi-identifiers are added, and single years of age."""

from __future__ import annotations

from harness import BEYOND, Chart, Finding, Part, Row, Run
from schemes.runs import COSTS, FASTER, KINDS, SCHEMES, K, Study, run
from schemes.tables import FOUR, Subject

__all__ = ["frontier"]


def frontier(study: Study) -> Part:
    """Add quasi-identifiers one by one, for each scheme, both costs, with and without suppression."""
    part = Part()
    for subject in study.tables:
        for cost in COSTS:
            for kind in study.kinds:
                part.add(_added(study, subject, cost, kind))
        part.add(_single_years(study, subject.single_years()))
    return part


def _added(study: Study, subject: Subject, cost: str, kind: str) -> Part:
    """Take four quasi-identifiers and more."""
    part, title = Part(), f"frontier: {cost}, {kind}, {subject.name} (k = {K}, {study.limit:g} s)"
    sizes = range(FOUR, (FOUR + 1 if study.quick else len(subject.columns)) + 1)
    reach, curves = {}, {}
    for scheme in SCHEMES:
        runs = {m: run(subject.first(m), scheme, cost, kind, K, FASTER, study.limit) for m in sizes}
        for m, each in runs.items():
            name = f"{scheme}, {m} with {subject.columns[m - 1]}"
            part.rows.append(Row(title, name, {"tuples": subject.first(m).tuples, **_figures(each)}))
        reach[scheme] = _reach(runs)
        curves[scheme] = (list(sizes), [100 * each.gap for each in runs.values()])
    seen = ", ".join(f"{scheme} {reached or 'none'}" for scheme, reached in reach.items())
    part.findings.append(
        Finding(
            BEYOND,
            f"all {sizes[-1]} quasi-identifiers are solved within {study.limit:g} s ({cost}, {kind}, {subject.name})",
            all(reached == sizes[-1] for reached in reach.values()),
            f"the most quasi-identifiers up to which all are proven optimal: {seen}",
        )
    )
    part.charts.append(Chart(title, "quasi-identifiers", "proven gap, %", curves))
    return part


def _single_years(study: Study, subject: Subject) -> Part:
    """Take single years of age, by runs of neighbouring years."""
    part, table = Part(), subject.first()
    years = table.attributes[0].leaves
    title = f"frontier: ordered, {years} ages, {subject.name} ({FOUR} quasi-identifiers, {study.limit:g} s)"
    found = {
        (cost, kind, k): run(table, "ordered", cost, kind, k, FASTER, study.limit)
        for cost in COSTS
        for kind in KINDS
        for k in study.ks
    }
    part.rows += [Row(title, f"{cost} {kind} k={k}", _figures(each)) for (cost, kind, k), each in found.items()]
    proven = sum(each.optimal for each in found.values())
    part.findings.append(
        Finding(
            BEYOND,
            f"single years need not be taken together beforehand ({years} ages, ordered, {subject.name})",
            proven == len(found),
            f"{proven} of {len(found)} proven optimal, in {max(each.seconds for each in found.values()):.2f} CPU "
            "seconds at most",
        )
    )
    curves = {
        f"{cost}, {kind}": (study.ks, [found[cost, kind, k].seconds for k in study.ks])
        for cost in COSTS
        for kind in KINDS
    }
    part.charts.append(Chart(title, "k", "CPU seconds", curves, log="xy"))
    return part


def _figures(each: Run) -> dict[str, float | int | str | None]:
    return {"cost": each.cost, "CPU s": each.seconds, "nodes": each.examined, "proof": each.proof}


def _reach(runs: dict[int, Run]) -> int:
    """The most quasi-identifiers such that these and all fewer are proven; 0 for none."""
    reached = 0
    for m, each in runs.items():
        if not each.optimal:
            break
        reached = m
    return reached
