"""The real table: penalty, discernibility, query errors and times by k (Fig. 6 to 8 and the run times)."""

from __future__ import annotations

from harness import BEYOND, Finding, Part
from utility.runs import MULTIDIM, PAPER, K, Outcome, Study, chart, methods, ratio

__all__ = ["discernibility", "penalty", "query_errors", "selectivities", "times"]

_KNOWN = {
    (MULTIDIM, 5): 28_364,
    (MULTIDIM, 10): 43_391,
    (MULTIDIM, 100): 122_824,
    ("top-down", 5): 13_208,
    ("top-down", 10): 20_157,
    ("top-down", 100): 51_265,
}
"""The penalty on Adult that was found by other means."""
_SAME = 1.05
_GAP = 20_000
"""The gap to MultiDim the paper speaks of."""
_SHARES = (0.01, 0.05, 0.1, 0.3)

Curves = dict[str, dict[float, float]]


def penalty(study: Study) -> Part:
    """Fig. 6: the certainty penalty."""
    found = {name: {k: study.real_run(name, k).penalty for k in study.ks} for name in methods()}
    part = chart(f"Fig. 6, {study.real.name}", "k", "certainty penalty (NCP)", found, log="xy")
    gaps = {name: [found[MULTIDIM][k] - found[name][k] for k in study.ks] for name in PAPER}
    every = [gap for gap_of in gaps.values() for gap in gap_of]
    ratios = [ratio(found[MULTIDIM][k], found[name][k]) for name in PAPER for k in study.ks]
    part.findings += [
        Finding(
            "Fig. 6",
            "bottom-up and top-down have a clearly lower certainty penalty than MultiDim",
            min(every) > 0,
            f"MultiDim's is {min(ratios):.2f} to {max(ratios):.2f} times as high",
        ),
        Finding(
            "Fig. 6",
            f"the gap is stable, about {_GAP:,}",
            min(every) > _GAP / 2 and max(every) < 2 * _GAP,
            "; ".join(
                f"{name}: " + ", ".join(f"{gap:,.0f} (k = {k})" for k, gap in zip(study.ks, gap_of, strict=True))
                for name, gap_of in gaps.items()
            ),
        ),
        _audited(study),
    ]
    if study.real.name == "Adult":
        part.findings.append(_as_known(found))
    if "local" in found:
        part.findings.append(_below(found, "local", "top-down", study.ks))
    return part


def discernibility(study: Study) -> Part:
    """Fig. 7: the discernibility penalty."""
    found = {name: {k: study.real_run(name, k).discernibility for k in study.ks} for name in methods()}
    part = chart(f"Fig. 7, {study.real.name}", "k", "discernibility penalty (DM)", found, log="xy")
    part.findings.append(_lower("Fig. 7", "discernibility penalty", found))
    return part


def query_errors(study: Study) -> Part:
    """Fig. 8: the mean error of random COUNT and SUM queries."""
    part = Part()
    for summed, aggregate in ((False, "COUNT"), (True, "SUM")):
        reports = {
            name: {k: study.real_run(name, k).ask(study.queries, summed=summed) for k in study.ks} for name in methods()
        }
        for measure in ("mean", "median"):
            found = {
                name: {k: 100 * float(getattr(each, measure)) for k, each in by_k.items()}
                for name, by_k in reports.items()
            }
            title = f"Fig. 8, {aggregate}, {measure}, {study.real.name}"
            part.add(chart(title, "k", f"{measure} error rate in %", found, log="x"))
            part.findings.append(_lower("Fig. 8", f"{measure} error rate of {aggregate} queries", found))
    return part


def selectivities(study: Study) -> Part:
    """The median error of COUNT queries by the share of everything they ask for."""
    found = {
        name: {
            100 * share: 100 * study.real_run(name, K).ask(study.queries, selectivity=share).median for share in _SHARES
        }
        for name in methods()
    }
    title = f"Errors by selectivity, k = {K}, {study.real.name}"
    part = chart(title, "selectivity in %", "median error rate in %", found, log="x")
    part.findings.append(_lower("5.1", f"median error rate at every selectivity (k = {K})", found))
    return part


def times(study: Study) -> Part:
    """The run times by k."""
    found = {name: {k: study.real_run(name, k).seconds for k in study.ks} for name in methods()}
    part = chart(f"Run times, {study.real.name}", "k", "CPU seconds", found, log="xy")
    spread = {name: max(by_k.values()) / min(by_k.values()) for name, by_k in found.items()}
    means = {name: sum(by_k.values()) / len(by_k) for name, by_k in found.items()}
    part.findings += [
        Finding(
            "5.1",
            "the runtime is not sensitive to k",
            max(spread.values()) < 2,
            "slowest over fastest: " + ", ".join(f"{name} {ratio:.1f}" for name, ratio in spread.items()),
        ),
        Finding(
            "5.1",
            "MultiDim is fastest (10 s), then top-down (60 s), then bottom-up (200 s)",
            means[MULTIDIM] < means["top-down"] < means["bottom-up"],
            "mean CPU seconds: " + ", ".join(f"{name} {mean:.2f}" for name, mean in means.items()),
        ),
    ]
    return part


def _audited(study: Study) -> Finding:
    done: list[Outcome] = [study.real_run(name, k) for name in methods() for k in study.ks]
    passed = sum(each.release.audit.passed for each in done)
    return Finding(
        BEYOND,
        f"every release is k-anonymous ({study.real.name})",
        passed == len(done),
        f"{passed} of {len(done)} pass their audit",
    )


def _as_known(found: Curves) -> Finding:
    compared = {key: (found[key[0]][key[1]], known) for key, known in _KNOWN.items() if key[1] in found[key[0]]}
    return Finding(
        BEYOND,
        f"the penalty on Adult is at most {100 * (_SAME - 1):.0f} % above what was found by other means",
        all(reached <= _SAME * known for reached, known in compared.values()) if compared else None,
        "; ".join(f"{name} k={k} {reached:,.0f} ({known:,})" for (name, k), (reached, known) in compared.items()),
    )


def _lower(place: str, measure: str, found: Curves) -> Finding:
    ratios = {name: [ratio(found[MULTIDIM][x], found[name][x]) for x in found[name]] for name in PAPER}
    return Finding(
        place,
        f"bottom-up and top-down have a lower {measure} than MultiDim",
        all(min(each) > 1 for each in ratios.values()),
        "MultiDim's over theirs: " + ", ".join(f"{n} {min(each):.2f} to {max(each):.2f}" for n, each in ratios.items()),
    )


def _below(found: Curves, better: str, other: str, ks: tuple[int, ...]) -> Finding:
    shares = [ratio(found[better][k], found[other][k]) for k in ks]
    return Finding(
        BEYOND,
        f"{better} has a lower certainty penalty than {other}",
        max(shares) < 1,
        ", ".join(f"{share:.3f} of it at k = {k}" for share, k in zip(shares, ks, strict=True)),
    )
