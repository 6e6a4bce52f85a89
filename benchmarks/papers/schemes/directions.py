"""From below or from above: Fig. 10, the published search in both directions, and the faster one beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness import Chart, Finding, Part, Row, Run
from harness.rows import Figure
from schemes.runs import FASTER, K, Study, paper, run, seconds
from schemes.tables import FOUR, Subject

__all__ = ["direction", "figures"]

_WAYS = {"bottom-up": paper("bottom-up"), "top-down": paper("top-down"), "faster": FASTER}
_WIDTH = 3
"""Five-year intervals taken together where sets are searched a second time, so that the published search may end."""
_ALIKE, _NOISE = 1.2, 0.01
"""Times that differ by a smaller factor, or by fewer seconds, are taken for equal."""

Runs = dict[str, Run]
"""Way of searching -> run."""


def direction(study: Study) -> Part:
    """Compare both directions for ordered and set: with varied k, and with varied quasi-identifiers at k = 5."""
    part = Part()
    for subject in study.tables:
        for scheme, table in (("ordered", subject), ("set", subject), ("set", subject.coarser(_WIDTH))):
            part.add(_by_k(study, table, scheme))
            part.add(_by_size(study, table, scheme))
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


def _by_k(study: Study, subject: Subject, scheme: str) -> Part:
    runs = {kind: {k: _ways(study, subject, scheme, kind, k, FOUR) for k in study.ks} for kind in study.kinds}
    title = f"Fig. 10(a): {scheme}, {subject.name} (DM, {FOUR} quasi-identifiers)"
    return _part(title, ("k", "small k", "large k"), runs)


def _by_size(study: Study, subject: Subject, scheme: str) -> Part:
    sizes = study.sizes(subject, 6 if scheme == "ordered" else 4)
    runs = {kind: {m: _ways(study, subject, scheme, kind, K, m) for m in sizes} for kind in study.kinds}
    title = f"Fig. 10(b): {scheme}, {subject.name} (DM, k = {K})"
    return _part(title, ("quasi-identifiers", "few quasi-identifiers", "many quasi-identifiers"), runs)


def _ways(study: Study, subject: Subject, scheme: str, kind: str, k: int, m: int) -> Runs:
    limits = {way: study.limit if way == "faster" else study.patience for way in _WAYS}
    return {way: run(subject.first(m), scheme, "DM", kind, k, solver, limits[way]) for way, solver in _WAYS.items()}


def _part(title: str, words: tuple[str, str, str], runs: Mapping[str, Mapping[int, Runs]]) -> Part:
    part, (axis, lower, upper) = Part(), words
    for kind, series in runs.items():
        part.rows += [Row(title, f"{kind}, {axis} = {x}", figures(each)) for x, each in series.items()]
        curves = {way: (list(series), [seconds(each[way]) for each in series.values()]) for way in _WAYS}
        log = "xy" if axis == "k" else "y"
        part.charts.append(Chart(f"{title}, {kind}", axis, "CPU seconds", curves, log=log))
        place, where = title.split(" (DM")[0].split(": ")
        xs = list(series)
        for way, name, half in (
            ("bottom-up", lower, xs[: len(xs) // 2]),
            ("top-down", upper, xs[len(xs) // 2 :]),
        ):
            claim = f"{way} is the faster one for {name}: {where}, {kind}"
            part.findings.append(Finding(place, claim, *_verdict(way, axis, {x: series[x] for x in half})))
    return part


def _verdict(way: str, axis: str, series: Mapping[int, Runs]) -> tuple[bool | None, str]:
    """Whether a direction wins wherever one of both ended, and what was seen."""
    winners = {x: _winner(each["bottom-up"], each["top-down"]) for x, each in series.items()}
    seen = [
        f"{winner} at {axis} = {_list([x for x, own in winners.items() if own == winner])}"
        for winner in ("bottom-up", "top-down")
        if winner in winners.values()
    ]
    tied = [x for x, own in winners.items() if own is None]
    if tied:
        smaller = [x for x in tied if series[x]["bottom-up"].gap < series[x]["top-down"].gap]
        seen.append(f"neither ended at {axis} = {_list(tied)} (bottom-up has the smaller gap at {_list(smaller)})")
    decided = [own for own in winners.values() if own is not None]
    return all(own == way for own in decided) if decided else None, "; ".join(seen)


def _winner(up: Run, down: Run) -> str | None:
    """Say which of two searches ended first, or with fewer nodes if the times are alike; None if neither ended."""
    if up.optimal and down.optimal:
        least, most = sorted((up.seconds, down.seconds))
        alike = most <= _ALIKE * least + _NOISE
        first = up.examined <= down.examined if alike else up.seconds < down.seconds
        return "bottom-up" if first else "top-down"
    if not up.optimal and not down.optimal:
        return None
    return "bottom-up" if up.optimal else "top-down"


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"
