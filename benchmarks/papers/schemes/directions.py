"""From below or from above: Fig. 10, the published search in both directions, and the faster one beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from harness import Chart, Finding, Part, Row, Run
from harness.rows import Figure
from schemes.runs import FASTER, K, Study, paper, run, seconds
from schemes.tables import FOUR, Subject

__all__ = ["direction", "figures"]

_WAYS = {"bottom-up": paper("bottom-up"), "top-down": paper("top-down"), "faster": FASTER}
_WIDTH = 3
"""Five-year intervals taken together where sets are searched a second time, so that the published search may end."""
_ALIKE = 1.2
"""Times that differ by a smaller factor are taken for equal."""

Runs = dict[str, Run]
"""Way of searching -> run."""


def direction(study: Study) -> Part:
    """Compare both directions for ordered and set: with varied k, and with varied quasi-identifiers at k = 5."""
    part = Part()
    for subject in study.tables:
        for scheme, table in (("ordered", subject), ("set", subject), ("set", subject.coarser(_WIDTH))):
            for kind in study.kinds:
                part.add(_by_k(study, table, scheme, kind))
                part.add(_by_size(study, table, scheme, kind))
    note = (
        f"A run of the published search has {study.patience:g} seconds by the clock, one of the faster search "
        f"{study.limit:g}. Where two times differ by less than {_ALIKE - 1:.0%}, fewer nodes decide."
    )
    part.rows.append(Row(part.rows[-1].table, "", note=note))
    return part


def figures(runs: Mapping[str, Run]) -> dict[str, Figure]:
    """The time, the nodes and the proof of some ways, side by side, and the best cost known."""
    found: dict[str, Figure] = {}
    for way, each in runs.items():
        found |= {f"{way}, s": each.seconds, f"{way}, nodes": each.examined, way: each.proof}
    return {**found, "cost": min(each.cost for each in runs.values())}


def _by_k(study: Study, subject: Subject, scheme: str, kind: str) -> Part:
    runs = {k: _ways(study, subject, scheme, kind, k, FOUR) for k in study.ks}
    title = f"Fig. 10(a): {scheme}, {kind}, {subject.name} (DM, {FOUR} quasi-identifiers)"
    claim = "bottom-up is faster for small k, top-down for large k"
    return _part(title, "Fig. 10(a)", f"{claim} ({scheme}, {kind}, {subject.name})", "k", runs)


def _by_size(study: Study, subject: Subject, scheme: str, kind: str) -> Part:
    runs = {m: _ways(study, subject, scheme, kind, K, m) for m in study.sizes(subject, 6 if scheme == "ordered" else 4)}
    title = f"Fig. 10(b): {scheme}, {kind}, {subject.name} (DM, k = {K})"
    claim = "bottom-up is faster for few quasi-identifiers, top-down for many"
    return _part(title, "Fig. 10(b)", f"{claim} ({scheme}, {kind}, {subject.name})", "quasi-identifiers", runs)


def _ways(study: Study, subject: Subject, scheme: str, kind: str, k: int, m: int) -> Runs:
    limits = {way: study.limit if way == "faster" else study.patience for way in _WAYS}
    return {way: run(subject.first(m), scheme, "DM", kind, k, solver, limits[way]) for way, solver in _WAYS.items()}


def _part(title: str, place: str, claim: str, axis: str, runs: dict[int, Runs]) -> Part:
    rows = [Row(title, f"{axis} = {x}", figures(each)) for x, each in runs.items()]
    curves = {way: (list(runs), [seconds(each[way]) for each in runs.values()]) for way in _WAYS}
    chart = Chart(title, axis, "CPU seconds", curves, log="xy" if axis == "k" else "y")
    return Part(rows, [Finding(place, claim, *_turn(axis, runs))], [chart])


def _turn(axis: str, runs: dict[int, Runs]) -> tuple[bool | None, str]:
    """Whether bottom-up is the faster one up to some point and top-down from there on, and what was seen."""
    winners = {x: _winner(each["bottom-up"], each["top-down"]) for x, each in runs.items()}
    decided = [winner for winner in winners.values() if winner is not None]
    names = {"bottom-up": "bottom-up is faster", "top-down": "top-down is faster", None: "neither ended"}
    seen = [
        f"{text} at {axis} = {', '.join(str(x) for x, own in winners.items() if own == winner)}"
        for winner, text in names.items()
        if winner in winners.values()
    ]
    ahead = [x for x, each in runs.items() if winners[x] is None and each["bottom-up"].gap < each["top-down"].gap]
    if None in winners.values():
        seen.append(f"of those, bottom-up has the smaller gap at {_list(ahead)}")
    if not decided:
        return None, "; ".join(seen)
    once = not any(before == "top-down" and after == "bottom-up" for before, after in pairwise(decided))
    return once and len(set(decided)) == 2, "; ".join(seen)


def _winner(up: Run, down: Run) -> str | None:
    """Say which of two searches ended first, or with fewer nodes if the times are alike; None if neither ended."""
    if up.optimal and down.optimal:
        alike = max(up.seconds, down.seconds) <= _ALIKE * min(up.seconds, down.seconds)
        first = up.examined <= down.examined if alike else up.seconds < down.seconds
        return "bottom-up" if first else "top-down"
    if not up.optimal and not down.optimal:
        return None
    return "bottom-up" if up.optimal else "top-down"


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"
