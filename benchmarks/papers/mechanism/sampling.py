"""Table 1: the time of pre-sampling by its threshold k'."""

from __future__ import annotations

from discreet.counts import CountTable
from discreet.errors import InfeasibleError
from discreet.problem import Problem
from discreet.problem.suppression.pre_sampling import PreSampling
from harness import BEYOND, Finding, Part, Row
from mechanism.runs import WANTED, Study, clocked, times_as_fast
from mechanism.tables import Subject

__all__ = ["pre_sampling"]

_KS = (1, 2, 5, 10)
_LEVEL = 2
"""Of every attribute, counted from the root as the paper does."""
_SAME = 2.0
"""Times that differ by less than this factor are the same."""


def pre_sampling(study: Study) -> Part:
    """Leave out isolated records, with every attribute at level 2 from the root."""
    part = Part()
    for subject in study.subjects:
        part.add(_of_table(study, subject))
    return part


def _of_table(study: Study, subject: Subject) -> Part:
    table = subject.counted
    levels = {attribute.name: max(0, attribute.height - _LEVEL) for attribute in table.attributes}
    title = f"Table 1: pre-sampling, {subject.name}, {table.n:,} rows"
    _, counting = clocked(subject.count, 1)
    part, seconds, ratios = Part(), {}, {}
    for k in _KS:
        kind = PreSampling(k, levels=levels)
        kept, seconds[k] = clocked(lambda kind=kind: _rows_kept(table, kind), study.repeat)
        ratios[k] = times_as_fast(subject.pre_sampling.get(k), seconds[k])
        figures = {
            "ms": 1000 * seconds[k],
            "with counting": 1000 * (counting + seconds[k]),
            "paper, ms": subject.pre_sampling.get(k),
            "times as fast": ratios[k],
            "left out": table.n - kept,
        }
        part.rows.append(Row(title, f"k' = {k}", figures))
    part.rows.append(Row(title, "", note=f"{subject.note}. CPU milliseconds; {table.tuples:,} distinct tuples."))
    known = {k: ratio for k, ratio in ratios.items() if ratio is not None}
    part.findings += [
        Finding(
            "Table 1",
            f"the time of pre-sampling does not depend on k' ({subject.name})",
            max(seconds.values()) < _SAME * min(seconds.values()),
            ", ".join(f"k' = {k}: {1000 * spent:.0f} ms" for k, spent in seconds.items()),
        ),
        Finding(
            BEYOND,
            f"pre-sampling is at least {WANTED:.0f} times as fast as the prototype ({subject.name})",
            min(known.values()) >= WANTED if known else None,
            ", ".join(f"k' = {k}: {ratio:.0f} times" for k, ratio in known.items()) or "the paper has no such table",
        ),
    ]
    return part


def _rows_kept(table: CountTable, kind: PreSampling) -> int:
    """Pre-sample a table; return how many rows stay."""
    try:
        return Problem.build(table, privacy="k(1)", cost="score", suppression=kind).table.n
    except InfeasibleError:
        return 0
