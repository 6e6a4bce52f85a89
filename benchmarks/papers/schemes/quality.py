"""What each scheme is worth: Fig. 12, the optima of all schemes and k, and how they are ordered."""

from __future__ import annotations

from discreet.counts import CountTable
from harness import BEYOND, Chart, Finding, Part, Row, Run
from schemes.runs import COSTS, FASTER, INCLUDED, KINDS, SCHEMES, Study, run
from schemes.tables import Subject

__all__ = ["Optima", "optima", "quality"]

Optima = dict[tuple[str, str, int, str], Run]
"""Cost, suppression kind, k, scheme -> the run."""

_KNOWN = {
    ("DM", "class-records", 5, "ordered"): 24_819_665,
    ("DM", "class-records", 5, "set"): 24_594_315,
    ("HDM", "none", 5, "ordered"): 302.12547,
}
"""Optima of Adult that were found by other means."""
_SAME = 1e-9


def quality(study: Study) -> Part:
    """Find the optima of all schemes, and compare them."""
    part = Part()
    for subject in study.tables:
        found = optima(study, subject.first())
        part.add(_table(subject, found))
        part.findings += [_proven(subject, found, study.limit), _ordered(subject, found), _worth(subject, found)]
        if subject.name == "Adult":
            part.findings.append(_known(found))
    return part


def optima(study: Study, table: CountTable) -> Optima:
    """Solve every combination of cost, suppression kind, k and scheme."""
    return {
        (cost, kind, k, scheme): run(table, scheme, cost, kind, k, FASTER, study.limit)
        for cost in COSTS
        for kind in KINDS
        for k in study.ks
        for scheme in SCHEMES
    }


def _table(subject: Subject, found: Optima) -> Part:
    part, title = Part(), f"Fig. 12: optima, {subject.name}"
    ks = list(dict.fromkeys(k for _, _, k, _ in found))
    for cost in COSTS:
        for kind in KINDS:
            for k in ks:
                own = {scheme: found[cost, kind, k, scheme] for scheme in SCHEMES}
                costs = {scheme: _amount(each) for scheme, each in own.items()}
                part.rows.append(Row(title, f"{cost} {kind} k={k}", costs))
            curves = {scheme: (ks, [found[cost, kind, k, scheme].cost for k in ks]) for scheme in SCHEMES}
            part.charts.append(Chart(f"Fig. 12: {cost}, {kind}, {subject.name}", "k", cost, curves, log="xy"))
    times = f"Fig. 12: CPU seconds to the proof, {subject.name}"
    for cost, kind, k in dict.fromkeys(key[:3] for key in found):
        each = {scheme: found[cost, kind, k, scheme].seconds for scheme in SCHEMES}
        part.rows.append(Row(times, f"{cost} {kind} k={k}", each))
    return part


def _amount(each: Run) -> str:
    """The cost, with the gap behind it where it is not proven."""
    cost = f"{each.cost:,.4f}".rstrip("0").rstrip(".")
    return cost if each.optimal else f"{cost} ({each.proof})"


def _proven(subject: Subject, found: Optima, limit: float) -> Finding:
    unproven = [f"{' '.join(map(str, key))} ({each.proof})" for key, each in found.items() if not each.optimal]
    slowest = {scheme: max(each.seconds for key, each in found.items() if key[3] == scheme) for scheme in SCHEMES}
    seen = f"{len(found) - len(unproven)} of {len(found)} proven within {limit:g} s; the slowest in CPU seconds: "
    seen += ", ".join(f"{scheme} {time:.2f}" for scheme, time in slowest.items())
    if unproven:
        seen += f"; not proven: {', '.join(unproven)}"
    return Finding("5.2", f"the optimum can be found for all schemes ({subject.name})", not unproven, seen)


def _ordered(subject: Subject, found: Optima) -> Finding:
    """Compare the optima; a cost that is not proven says nothing."""
    cases = [(key, found[(*key, few)], found[(*key, many)]) for key in _problems(found) for few, many in INCLUDED]
    proven = [(key, few, many) for key, few, many in cases if few.optimal and many.optimal]
    wrong = [
        f"{' '.join(map(str, key))}: {many.cost:,.9g} above {few.cost:,.9g}"
        for key, few, many in proven
        if many.cost > few.cost * (1 + _SAME)
    ]
    return Finding(
        "2.4",
        f"a scheme that allows more never costs more ({subject.name})",
        not wrong if proven else None,
        f"{len(proven) - len(wrong)} of {len(proven)} pairs are in that order"
        + "".join(f"; not so: {case}" for case in wrong)
        + (f"; {len(cases) - len(proven)} more are not proven" if len(proven) < len(cases) else ""),
    )


def _worth(subject: Subject, found: Optima) -> Finding:
    """Say by how much the more flexible schemes cost less."""
    parts, saved = [], []
    for cost in COSTS:
        for scheme in SCHEMES[1:]:
            less = [
                100 * (1 - found[(*key, scheme)].cost / found[(*key, SCHEMES[0])].cost)
                for key in _problems(found)
                if key[0] == cost
            ]
            parts.append(f"{scheme} {min(less):.0f} to {max(less):.0f} % ({cost})")
            saved.append(max(less))
    return Finding(
        "Fig. 12",
        f"more flexible schemes lose less ({subject.name})",
        min(saved) > 0,
        f"below full-domain by: {', '.join(parts)}",
    )


def _known(found: Optima) -> Finding:
    compared = {key: (found[key].cost, known) for key, known in _KNOWN.items() if key in found}
    return Finding(
        BEYOND,
        "the optima of Adult at k = 5 are those found by other means",
        all(abs(cost - known) <= 1e-6 * known for cost, known in compared.values()) if compared else None,
        "; ".join(
            f"{' '.join(map(str, key))} {cost:,.9g} (known: {known:,.9g})" for key, (cost, known) in compared.items()
        ),
    )


def _problems(found: Optima) -> list[tuple[str, str, int]]:
    return list(dict.fromkeys(key[:3] for key in found))
