"""What the search takes: the paper's techniques alone or without one, larger spaces and more rows (Fig. 8, 9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness import Chart, Finding, Part, Row
from harness.rows import Figure
from l_plus.runs import PAPER, CutRun, Study, cuts, run

__all__ = ["ablations", "columns", "paper_alone", "rows", "taxonomies"]

_L = 4
_KINDS = ("none", "class-records", "violating-records")


def paper_alone(study: Study) -> Part:
    """Switch on nothing but the paper's techniques."""
    part, title = Part(), f"the paper's techniques alone (class-records, l = {_L})"
    near = []
    for metric, printed in {"LM": 46_500, "DM": 114_000}.items():
        each = run(study.base, metric, "class-records", _L, solver=cuts(**PAPER), time_limit=study.patience)
        part.rows.append(Row(title, metric, {**_figures(each), "in the paper, about": printed}))
        near.append(each.optimal and abs(each.examined / printed - 1) <= 0.02)
    shares = ", ".join(str(row.figures["share %"]) for row in part.rows)
    part.findings.append(
        Finding(
            "Fig. 8",
            "the paper's techniques examine 0.01 to 0.03 % of the cuts",
            all(near),
            f"{shares} % (LM, DM); within 2 % is taken for near",
        )
    )
    return part


def ablations(study: Study) -> Part:
    """Leave out one technique at a time, on reduced trees; DM with class-records."""
    part, title = Part(), "Fig. 9(a)-(b): techniques left out (DM, class-records, reduced trees)"
    names = [column for column in ("age", "native-country") if column in study.base.hierarchies]
    subject = study.base.top_two(tuple(names))
    ways = {
        "full (paper)": cuts(**PAPER),
        "ascending order": cuts(**{**PAPER, "order": "ascending"}),
        "no update": cuts(**PAPER, update="false"),
        "all of ours": "cuts",
    }
    runs = {
        (way, l): run(subject, "DM", "class-records", l, solver=solver, time_limit=study.patience / 2)
        for way, solver in ways.items()
        for l in study.ls
    }
    for (way, l), each in runs.items():
        part.rows.append(Row(title, f"{way}, l={l}", _figures(each)))

    def times(way: str) -> list[float]:
        return [runs[way, l].examined / runs["full (paper)", l].examined for l in study.ls]

    def longer(way: str) -> list[float]:
        return [runs[way, l].seconds / runs["full (paper)", l].seconds for l in study.ls]

    def seen(way: str) -> str:
        unproven = sum(not runs[way, l].optimal for l in study.ls)
        cut_off = f"; {unproven} of {len(study.ls)} runs were cut off, so that it would be more" if unproven else ""
        return (
            f"{min(times(way)):.1f} to {max(times(way)):.1f} times the cuts, {min(longer(way)):.1f} to "
            f"{max(longer(way)):.1f} times the time{cut_off}"
        )

    part.findings += [
        Finding(
            "Fig. 9(a)-(b)",
            "without updated bounds two to three times the effort",
            1.5 <= float(np.median(times("no update"))) <= 4,
            f"{seen('no update')} (section VI-B: 99 % pruned without and 99.97 to 99.99 % with them, which is 30 to "
            "100 times)",
        ),
        Finding(
            "Fig. 9(a)-(b)",
            "in ascending order several orders of magnitude more effort",
            float(np.median(times("ascending order"))) >= 100,
            seen("ascending order"),
        ),
    ]
    curves = {way: (study.ls, [max(runs[way, l].share, 1e-9) for l in study.ls]) for way in ways}
    part.charts.append(Chart("Fig. 9(b): techniques left out", "l", "% of all cuts", curves, log="y"))
    return part


def taxonomies(study: Study) -> Part:
    """Take trees of other granularity."""
    part, title = Part(), f"Fig. 9(c)-(d): taxonomies (DM, l = {_L})"
    order = sorted(study.variants.values(), key=lambda subject: _space(run(subject, "DM", "none", _L)))
    found = {
        kind: {subject.name: run(subject, "DM", kind, _L, time_limit=study.patience) for subject in order}
        for kind in _KINDS
    }
    for kind, each in found.items():
        part.rows += [Row(title, f"{name}, {kind}", _figures(one)) for name, one in each.items()]
    spaces = [_space(one) for one in found["none"].values()]
    falling = [kind for kind, each in found.items() if list(each.values())[-1].share <= next(iter(each.values())).share]
    growth = max(list(each.values())[-1].seconds / next(iter(each.values())).seconds for each in found.values())
    part.findings.append(
        Finding(
            "Fig. 9(c)-(d)",
            "a finer taxonomy takes longer, but far less so than its space is larger: pruning gets stronger",
            len(falling) == len(found) and growth < spaces[-1] / spaces[0],
            f"{spaces[-1] / spaces[0]:,.0f} times the cuts take {growth:.1f} times the time at most; the share "
            f"examined falls for {', '.join(falling) or 'none'}",
        )
    )
    curves = {kind: (spaces, [max(one.share, 1e-9) for one in each.values()]) for kind, each in found.items()}
    part.charts.append(Chart("Fig. 9(d): taxonomies", "cuts in the space", "% of all cuts", curves, log="xy"))
    return part


def columns(study: Study) -> Part:
    """Take the first m quasi-identifiers."""
    part, title = Part(), f"Fig. 9(e)-(f): quasi-identifiers (DM, l = {_L})"
    numbers = range(1, len(study.base.hierarchies) + 1)
    found = {
        kind: [run(study.base.first(m), "DM", kind, _L, time_limit=study.patience) for m in numbers] for kind in _KINDS
    }
    for kind, runs in found.items():
        part.rows += [Row(title, f"m={m}, {kind}", _figures(each)) for m, each in zip(numbers, runs, strict=True)]
    falling = [kind for kind, runs in found.items() if runs[-1].share < runs[0].share]
    rising = [kind for kind, runs in found.items() if runs[-1].seconds > runs[0].seconds]
    part.findings.append(
        Finding(
            "Fig. 9(e)-(f)",
            "more quasi-identifiers take longer, and a smaller share of the cuts is examined",
            len(falling) == len(rising) == len(found),
            "; ".join(
                f"{kind}: {runs[0].share:.3g} to {runs[-1].share:.3g} %, {runs[0].seconds:.3f} to "
                f"{runs[-1].seconds:.3f} CPU seconds"
                for kind, runs in found.items()
            ),
        )
    )
    curves = {kind: (list(numbers), [max(each.share, 1e-9) for each in runs]) for kind, runs in found.items()}
    part.charts.append(Chart("Fig. 9(f): quasi-identifiers", "quasi-identifiers", "% of all cuts", curves, log="y"))
    return part


def rows(study: Study) -> Part:
    """Add variants of the records, and fit how time grows with rows."""
    part, title = Part(), f"Fig. 9(g)-(h): rows (DM, l = {_L})"
    targets = (50_000, 100_000) if study.quick else (50_000, 100_000, 200_000, 400_000, 700_000, 1_000_000)
    sizes = [size for size in targets if size > study.base.frame.height]
    found: dict[str, list[CutRun]] = {kind: [] for kind in _KINDS}
    for size in sizes:
        subject = study.base.amplified(size)
        for kind in _KINDS:
            each = run(subject, "DM", kind, _L, time_limit=study.patience)
            found[kind].append(each)
            figures = {"tuples": subject.counts.tuples, **_figures(each)}
            part.rows.append(Row(title, f"{size:,} rows, {kind}", figures))
    power = {kind: _power(sizes, [each.seconds for each in runs]) for kind, runs in found.items()}
    per_cut = {kind: _power(sizes, [each.seconds / each.examined for each in runs]) for kind, runs in found.items()}
    part.findings += [
        Finding(
            "Fig. 9(g)",
            "time is linear in the rows",
            max(power.values()) <= 1.15,
            f"CPU seconds grow with rows to the power of {_named(power)} (at most 1.15 is taken for linear); per cut "
            f"examined, to the power of {_named(per_cut)}",
        ),
        Finding(
            "Fig. 9(h)",
            "the number of cuts to be examined changes little with the rows",
            max(runs[-1].examined / runs[0].examined for runs in found.values()) <= 2,
            "; ".join(f"{kind} {runs[0].examined:,} to {runs[-1].examined:,}" for kind, runs in found.items()),
        ),
    ]
    curves = {kind: (sizes, [each.seconds for each in runs]) for kind, runs in found.items()}
    part.charts.append(Chart("Fig. 9(g): rows", "rows", "CPU seconds", curves, log="xy"))
    return part


def _figures(each: CutRun) -> dict[str, Figure]:
    return {
        "cuts": _space(each),
        "examined": each.examined,
        "share %": f"{each.share:.3g}",
        "CPU s": each.seconds,
        "cost": each.cost,
        "proof": each.proof,
    }


def _power(x: Sequence[int], y: Sequence[float]) -> float:
    """The power of x that y grows with."""
    return float(np.polyfit(np.log(x), np.log(np.maximum(y, 1e-6)), 1)[0])


def _named(powers: dict[str, float]) -> str:
    return ", ".join(f"{power:.2f} ({kind})" for kind, power in powers.items())


def _space(each: CutRun) -> int:
    return int(each.solution.stats["formal_space"])
