"""What each scheme takes: Fig. 11, the published search from below and the faster one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from harness import BEYOND, Chart, Finding, Part, Row, Run
from schemes.directions import figures
from schemes.runs import FASTER, INCLUDED, SCHEMES, K, Study, paper, run, seconds
from schemes.tables import FOUR, Subject

__all__ = ["speed"]

_WAYS = {"bottom-up": paper("bottom-up"), "faster": FASTER}
_MOST = 5
"""Quasi-identifiers."""
_ALIKE, _NOISE = 1.2, 0.01
"""Times that differ by a smaller factor, or by fewer seconds, are taken for equal."""

Series = dict[int, Run]
"""k or a number of quasi-identifiers -> run."""


def speed(study: Study) -> Part:
    """Take the time of the six schemes, with varied quasi-identifiers at k = 5 and with varied k."""
    part, kind = Part(), "class-records"
    for subject in study.tables:
        sizes = study.sizes(subject, _MOST)
        by_size = {name: {m: _each(study, subject, name, kind, K, m) for m in sizes} for name in SCHEMES}
        by_k = {name: {k: _each(study, subject, name, kind, k, FOUR) for k in study.ks} for name in SCHEMES}
        part.add(_tables(f"Fig. 11(a): {subject.name} (DM, {kind}, k = {K})", "quasi-identifiers", by_size))
        title = f"Fig. 11(b): {subject.name} (DM, {kind}, {FOUR} quasi-identifiers)"
        part.add(_tables(title, "k", by_k))
        for way in _WAYS:
            part.findings += _findings(subject, way, _of(way, by_size), _of(way, by_k))
    return part


def _each(study: Study, subject: Subject, scheme: str, kind: str, k: int, m: int) -> dict[str, Run]:
    return {
        "bottom-up": run(subject.first(m), scheme, "DM", kind, k, _WAYS["bottom-up"], study.patience),
        "faster": run(subject.first(m), scheme, "DM", kind, k, _WAYS["faster"], study.limit),
    }


def _of(way: str, found: Mapping[str, Mapping[int, Mapping[str, Run]]]) -> dict[str, Series]:
    return {scheme: {x: each[way] for x, each in series.items()} for scheme, series in found.items()}


def _tables(title: str, axis: str, found: Mapping[str, Mapping[int, Mapping[str, Run]]]) -> Part:
    part = Part()
    for scheme, series in found.items():
        part.rows += [Row(title, f"{scheme}, {axis} = {x}", figures(each)) for x, each in series.items()]
    for way in _WAYS:
        curves = {
            scheme: (list(series), [seconds(each[way]) for each in series.values()]) for scheme, series in found.items()
        }
        part.charts.append(Chart(f"{title}, {way}", axis, "CPU seconds", curves, log="xy" if axis == "k" else "y"))
    return part


def _findings(subject: Subject, way: str, by_size: dict[str, Series], by_k: dict[str, Series]) -> list[Finding]:
    where = f"({way}, {subject.name})"
    figure = {letter: BEYOND if way == "faster" else f"Fig. 11{letter}" for letter in ("(a)", "(b)", "")}
    falling_size = [scheme for scheme, series in by_size.items() if not _rises(series)]
    falling_k = [scheme for scheme, series in by_k.items() if not _rises(series)]
    runs = {scheme: [*by_size[scheme].values(), *by_k[scheme].values()] for scheme in SCHEMES}
    total = {scheme: sum(each.seconds for each in own) for scheme, own in runs.items()}
    cut_off = [scheme for scheme, own in runs.items() if not all(each.optimal for each in own)]
    quicker = [
        f"{many} is quicker than {few}"
        for few, many in INCLUDED
        if many not in cut_off and total[few] > _ALIKE * total[many] + _NOISE
    ]
    return [
        Finding(
            figure["(a)"],
            f"more quasi-identifiers take longer, with each scheme {where}",
            not falling_size,
            _ends("quasi-identifiers", by_size) + (f"; not so: {', '.join(falling_size)}" if falling_size else ""),
        ),
        Finding(
            figure["(b)"],
            f"a larger k takes longer, with each scheme {where}",
            not falling_k,
            _ends("k", by_k) + (f"; not so: {', '.join(falling_k)}" if falling_k else ""),
        ),
        Finding(
            figure[""],
            f"a scheme with more partitions takes longer {where}",
            not quicker,
            "CPU seconds together: "
            + ", ".join(f"{scheme} {time:.2f}" for scheme, time in total.items())
            + "".join(f"; {case}" for case in quicker)
            + (f"; runs of {', '.join(cut_off)} were cut off, which would take longer still" if cut_off else ""),
        ),
    ]


def _rises(series: Series) -> bool:
    """Whether each time is at least the one before it, up to noise; runs that were cut off are taken for equal."""
    return all(
        before.seconds <= _ALIKE * after.seconds + _NOISE or not after.optimal
        for before, after in pairwise(series.values())
    )


def _ends(axis: str, found: dict[str, Series]) -> str:
    parts = []
    for scheme, series in found.items():
        (low, first), *_, (high, last) = series.items()
        parts.append(f"{scheme} {_time(first)} at {axis} = {low}, {_time(last)} at {high}")
    return "; ".join(parts)


def _time(each: Run) -> str:
    return f"{each.seconds:.2f} s" if each.optimal else f"over {each.seconds:.1f} s"
