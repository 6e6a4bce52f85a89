"""Points drawn at random: weights, dimensions, rows and seeds (Fig. 9 to 13)."""

from __future__ import annotations

from statistics import mean

import numpy as np

from harness import BEYOND, Finding, Part
from utility.runs import MULTIDIM, PAPER, K, Outcome, Study, chart, methods, ratio, run
from utility.tables import SYNTHETIC, Subject

__all__ = ["by_dimensions", "by_rows", "seeds", "weights"]

_WEIGHTS = {"A1": 8.0, "A2": 4.0, "A3": 2.0, "A4": 1.0}
"""The paper's own are lost in the text at hand."""
_SIZE_DIMENSIONS = 5
"""Attributes where the number of rows is varied."""
_ROUNDS = 6
_STARTS = 20
_LOWEST = {3: 0.97, 6: 0.9875}
"""Rounds -> the share of the greatest penalty two seeds have by then, as the paper says."""
_AT_ONCE = 250


def weights(study: Study) -> Part:
    """Fig. 9: queries on the attributes that weigh most, on releases that know the weights and on others."""
    part, columns = Part(), list(_WEIGHTS)
    for name, make in SYNTHETIC.items():
        subject, errors = make(study.points, len(_WEIGHTS)), {}
        for method in methods():
            for kind, given in (("weighted", _WEIGHTS), ("not weighted", None)):
                outcome = run(subject, method, K, given)
                errors[f"{method}, {kind}"] = {
                    float(d): 100 * outcome.ask(study.queries, dimensions=columns[:d]).mean
                    for d in range(1, len(columns) + 1)
                }
        title = f"Fig. 9, {name}, weights {', '.join(f'{weight:g}' for weight in _WEIGHTS.values())}, k = {K}"
        part.add(chart(title, "attributes of a query", "mean error rate in %", errors))
        part.findings += [_heavy(name, method, errors) for method in methods() if method != MULTIDIM]
    return part


def _heavy(name: str, method: str, errors: dict[str, dict[float, float]]) -> Finding:
    own, other = errors[f"{method}, weighted"], errors[f"{method}, not weighted"]
    return Finding(
        "Fig. 9" if method in PAPER else BEYOND,
        f"weighted {method} answers queries on A1, A1 A2 and A1 A2 A3 better ({name})",
        all(own[d] < other[d] for d in (1.0, 2.0, 3.0)),
        "error rate, weighted and not: "
        + ", ".join(f"{own[d]:.2f} and {other[d]:.2f} % on {d:g}" for d in own)
        + " attributes",
    )


def by_dimensions(study: Study) -> Part:
    """Fig. 10 and 11: certainty and discernibility penalty by the number of attributes."""
    part = Part()
    for name, make in SYNTHETIC.items():
        widest = make(study.points, max(study.dimensions))
        outcomes: dict[str, dict[float, Outcome]] = {
            method: {float(d): run(widest.first(d), method, K) for d in study.dimensions} for method in methods()
        }
        penalty = {method: {d: each.penalty for d, each in by_d.items()} for method, by_d in outcomes.items()}
        cost = {method: {d: each.discernibility for d, each in by_d.items()} for method, by_d in outcomes.items()}
        part.add(chart(f"Fig. 10, {name}, k = {K}", "dimensions", "certainty penalty (NCP)", penalty))
        part.add(chart(f"Fig. 11, {name}, k = {K}", "dimensions", "discernibility penalty (DM)", cost, log="y"))
        part.findings += [_less("Fig. 10", "certainty", name, penalty), _less("Fig. 11", "discernibility", name, cost)]
        part.findings.append(_alike(name, penalty))
        passed = [each.release.audit.passed for by_d in outcomes.values() for each in by_d.values()]
        seen = f"{sum(passed)} of {len(passed)} pass their audit"
        part.findings.append(Finding(BEYOND, f"every release is k-anonymous ({name})", all(passed), seen))
    return part


def _less(place: str, measure: str, name: str, found: dict[str, dict[float, float]]) -> Finding:
    ratios = {m: {d: ratio(found[MULTIDIM][d], found[m][d]) for d in found[m]} for m in methods() if m != MULTIDIM}
    wrong = [f"{m} at {d:g}" for m in PAPER for d, each in ratios[m].items() if each < 1]
    return Finding(
        place,
        f"bottom-up and top-down have a lower {measure} penalty than MultiDim in all dimensions ({name})",
        not wrong,
        "MultiDim's over theirs: "
        + ", ".join(f"{m} {min(by_d.values()):.2f} to {max(by_d.values()):.2f}" for m, by_d in ratios.items())
        + (f"; not so: {', '.join(wrong)}" if wrong else ""),
    )


def _alike(name: str, penalty: dict[str, dict[float, float]]) -> Finding:
    ratios = [ratio(penalty["bottom-up"][d], penalty["top-down"][d]) for d in penalty["top-down"]]
    return Finding(
        "Fig. 10",
        f"top-down is slightly better than bottom-up ({name})",
        mean(ratios) > 1,
        f"bottom-up's penalty over top-down's: {min(ratios):.3f} to {max(ratios):.3f}, {mean(ratios):.3f} in the mean",
    )


def by_rows(study: Study) -> Part:
    """Fig. 12: run times by the number of rows, and the penalty of a row."""
    part = Part()
    made = {size: SYNTHETIC["uniform"](size, _SIZE_DIMENSIONS) for size in study.sizes}
    outcomes = {method: {float(n): run(made[n], method, K) for n in study.sizes} for method in methods()}
    seconds = {method: {n: each.seconds for n, each in by_n.items()} for method, by_n in outcomes.items()}
    each_row = {method: {n: each.penalty / n for n, each in by_n.items()} for method, by_n in outcomes.items()}
    kind = f"uniform, {_SIZE_DIMENSIONS} dimensions, k = {K}"
    part.add(chart(f"Fig. 12, {kind}", "rows", "CPU seconds", seconds, log="xy"))
    part.add(chart(f"Fig. 12, quality, {kind}", "rows", "certainty penalty of a row", each_row, log="x"))
    most = float(max(study.sizes))
    slower = seconds["top-down"][most] / seconds[MULTIDIM][most]
    part.findings += [
        Finding(
            "Fig. 12",
            "at the most rows top-down is less than 6 times slower than MultiDim",
            slower < 6,
            f"{slower:.1f} times, with {most:,.0f} rows",
        ),
        Finding(
            "Fig. 12",
            "top-down is substantially faster than bottom-up",
            seconds["top-down"][most] < seconds["bottom-up"][most] / 1.5,
            f"{seconds['top-down'][most]:.2f} and {seconds['bottom-up'][most]:.2f} s with {most:,.0f} rows",
        ),
    ]
    return part


def seeds(study: Study) -> Part:
    """Fig. 13: how far apart two seeds are after some rounds, as a share of the farthest two points."""
    part, dimensions = Part(), [d for d in study.dimensions if d in (2, 5, 10)] or study.dimensions[:1]
    for name, make in SYNTHETIC.items():
        widest = make(study.points, max(dimensions))
        found = {f"{d} dimensions": _rounds(widest.first(d)) for d in dimensions}
        part.add(chart(f"Fig. 13, {name}", "rounds", "% of the greatest penalty", found))
        least = {r: min(curve[r] for curve in found.values()) for r in _LOWEST}
        part.findings += [
            Finding(
                "Fig. 13",
                f"{r} rounds reach {100 * share:g} % of the greatest penalty of two points ({name})",
                least[r] >= 100 * share,
                f"at least {least[r]:.2f} %, in the mean over {_STARTS} random starts",
            )
            for r, share in _LOWEST.items()
        ]
    return part


def _rounds(subject: Subject) -> dict[float, float]:
    """The mean share after each round; a round goes from a point to the one farthest from it."""
    points = subject.frame.unique().sort(subject.frame.columns).to_numpy().astype(np.float64)
    points /= np.maximum(np.ptp(points, axis=0), 1.0)

    def apart(some: np.ndarray) -> np.ndarray:
        return np.abs(points[None] - some[:, None]).sum(axis=2)

    greatest = max(float(apart(points[at : at + _AT_ONCE]).max()) for at in range(0, len(points), _AT_ONCE))
    here = np.random.default_rng(1).integers(len(points), size=_STARTS)
    reached, shares = np.zeros(_STARTS), {}
    for round_ in range(1, _ROUNDS + 1):
        far = apart(points[here])
        here = far.argmax(axis=1)
        reached = np.maximum(reached, far.max(axis=1))
        shares[float(round_)] = 100 * float(reached.mean()) / greatest
    return shares
