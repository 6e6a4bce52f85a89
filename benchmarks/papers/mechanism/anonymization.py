"""Tables 2 and 3: the time of the mechanism by promise and score, and how far its scores are from the best."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from harness import BEYOND, Finding, Part, Row
from mechanism.runs import SCORES, WANTED, Case, Study, times_as_fast
from mechanism.tables import Subject

__all__ = ["scores", "times"]

_SAME = 2.0
"""Times that differ by less than this factor are the same."""


def times(study: Study) -> Part:
    """The times, with partial-domain de-generalization as in the paper."""
    part = Part()
    for subject in study.subjects:
        cases = study.cases(subject)
        title = f"{_table(subject)}: CPU milliseconds, {subject.name}, {subject.frame.height:,} rows"
        for case in cases:
            figures = {
                "ms": 1000 * case.seconds,
                "whole call": 1000 * case.call_seconds,
                "paper, ms": case.paper,
                "times as fast": times_as_fast(case.paper, case.seconds),
                "call, times": times_as_fast(case.paper, case.call_seconds),
                "optimum": 1000 * case.best_seconds,
                "nodes": case.found.stats["examined"],
                "classes": case.local.classes,
            }
            part.rows.append(Row(title, f"{case.promise}, {case.score}", figures))
        part.rows.append(Row(title, "", note=f"{subject.note}. Priorities {dict(subject.priorities)}, others 1."))
        part.findings += _of_times(subject, cases)
    part.findings += [
        Finding("Tables 1 to 3", f"the times of {name}", None, "this table is not at hand") for name in study.missing
    ]
    return part


def scores(study: Study) -> Part:
    """The scores of the mechanism, of the optimum, and after partial-domain de-generalization."""
    part = Part()
    for subject in study.subjects:
        cases = study.cases(subject)
        title = f"Scores, {subject.name}"
        for case in cases:
            figures = {
                "mechanism": case.reached,
                "optimum": case.optimum if case.best.status == "optimal" else f"<= {case.optimum:,.4g}",
                "found by the exact search": case.whole - case.best.cost,
                "partial-domain": case.partial,
                "original": case.whole,
            }
            part.rows.append(Row(title, f"{case.promise}, {case.score}", figures))
        part.findings += _of_scores(study, subject, cases)
    return part


def _table(subject: Subject) -> str:
    return "Table 3" if subject.name == "Census-Income" else "Table 2"


def _of_times(subject: Subject, cases: Sequence[Case]) -> list[Finding]:
    name, place = subject.name, _table(subject)
    by_score = {score: _mean(cases, lambda case, score=score: case.score == score) for score in SCORES}
    diverse, close = (_mean(cases, lambda case, letter=letter: letter in case.promise) for letter in ("l =", "t ="))
    ratios = [ratio for case in cases if (ratio := times_as_fast(case.paper, case.seconds)) is not None]
    found = [
        Finding(
            "7",
            f"there are no significant differences between the three scoring functions ({name})",
            max(by_score.values()) < _SAME * min(by_score.values()),
            "mean ms: " + ", ".join(f"{score} {1000 * mean:.0f}" for score, mean in by_score.items()),
        ),
        Finding(
            BEYOND,
            f"the mechanism with partial-domain steps is at least {WANTED:.0f} times as fast as the prototype ({name})",
            min(ratios) >= WANTED if ratios else None,
            f"{min(ratios):.1f} to {max(ratios):.1f} times" if ratios else f"{place} of the paper is lost",
        ),
    ]
    if diverse and close:
        found.insert(
            1,
            Finding(
                "7",
                f"t-closeness takes almost the same time as l-diversity ({name})",
                max(diverse, close) < _SAME * min(diverse, close),
                f"mean ms: l-diversity {1000 * diverse:.0f}, t-closeness {1000 * close:.0f}",
            ),
        )
    return found


def _mean(cases: Sequence[Case], wanted: Callable[[Case], bool]) -> float:
    """Return the mean seconds of some cases; 0 if there are none."""
    seconds = [case.seconds for case in cases if wanted(case)]
    return statistics.mean(seconds) if seconds else 0.0


def _of_scores(study: Study, subject: Subject, cases: Sequence[Case]) -> list[Finding]:
    name = subject.name
    higher = [case for case in cases if case.partial > case.reached + 1e-9]
    lower = [case for case in cases if case.partial < case.reached - 1e-9]
    proven = [case for case in cases if case.best.status == "optimal"]
    below = [case for case in proven if case.reached < case.optimum - 1e-9]
    worst = min(below, key=lambda case: case.reached / case.optimum, default=None)
    top = max(subject.priorities, key=lambda column: subject.priorities[column])
    shown = {score: [_values_of(case, subject, top) for case in cases if case.score == score] for score in SCORES}
    kept = [
        log >= max(basic, eta) for log, basic, eta in zip(*(shown[s] for s in ("log", "basic", "eta")), strict=True)
    ]
    passed = sum(case.release.audit.passed for case in cases)
    return [
        Finding(
            "5.4",
            f"after partial-domain de-generalization the score is larger than before ({name})",
            len(higher) == len(cases),
            f"larger in {len(higher)} of {len(cases)} cases, lower in {len(lower)}",
        ),
        Finding(
            "6.3",
            f"under the logarithm-based score '{top}', of top priority, shows most values ({name})",
            all(kept),
            f"in {sum(kept)} of {len(kept)} combinations; values under basic, log, eta: "
            + ", ".join("/".join(str(shown[s][n]) for s in SCORES) for n in range(len(kept))),
        ),
        Finding(
            "6.1",
            f"the table found is not always the one of the best score ({name})",
            bool(below),
            f"below the proven optimum in {len(below)} of {len(proven)} cases"
            + ("" if worst is None else f", worst {worst.reached:.4g} against {worst.optimum:.4g}"),
        ),
        Finding(
            BEYOND,
            f"the optimum is proven in {study.patience:.0f} s ({name})",
            len(proven) == len(cases),
            f"in {len(proven)} of {len(cases)} cases, in at most "
            f"{max((case.best_seconds for case in proven), default=0):.1f} s of CPU",
        ),
        Finding(
            BEYOND, f"every release keeps its promises ({name})", passed == len(cases), f"{passed} pass their audit"
        ),
    ]


def _values_of(case: Case, subject: Subject, column: str) -> int:
    """How many values of a column the full-domain table of the mechanism shows."""
    attribute = next(each for each in subject.counted.attributes if each.name == column)
    level = (case.found.levels or ())[subject.counted.names.index(column)]
    return int((attribute.block_rows[level] > 0).sum())
