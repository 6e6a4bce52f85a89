"""Finding a person in a release: what somebody who knows a few columns would see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from discreet.errors import UsageError
from discreet.evaluate import find
from discreet.evaluate.crowds import LearntColumn
from discreet.job import Job
from discreet.pipeline.provenance import job_hierarchies
from discreet.report.charts.evaluations import before_after_chart
from discreet.studio._jobs import Run
from discreet.studio._original import original_table
from discreet.studio._script import JOB
from discreet.studio._workspace import RELEASED

__all__ = ["find_person"]

_VALUES = 6
"""Most values of a column that are drawn."""


def find_person(run: Run, known: Any, width: int) -> dict[str, Any]:
    """Return who matches in the original table and in the release, and what that tells, with charts."""
    if not isinstance(known, Mapping) or not all(value is None or isinstance(value, str) for value in known.values()):
        raise UsageError('What is known is a mapping from columns to text, such as {"sex": "female"}.')
    job = Job.load(run.folder / JOB)
    arguments = job.arguments()
    mapping = None if job.mapping is None else job.target(job.mapping)
    quasi = dict.fromkeys(arguments["quasi_identifiers"])
    if mapping is None:
        quasi = job_hierarchies({**job.to_dict(), **arguments})
    person = find(
        pl.scan_parquet(run.folder / RELEASED, glob=False),
        {str(column): value for column, value in known.items()},
        original=original_table(job),
        quasi_identifiers=quasi,
        mapping=mapping,
        sensitive=arguments["sensitive"],
        types=arguments["types"],
        person=job.person or job.household,
    )
    return {**person.to_dict(), "charts": {each.column: _chart(each, width) for each in person.learnt}}


def _chart(learnt: LearntColumn, width: int) -> str:
    shown = [
        (each.value if each.value is not None else "unknown", each.before or 0.0, each.after or 0.0)
        for each in learnt.values[:_VALUES]
    ]
    label = f"{learnt.column}: the share of those who match with each value, before and after"
    return before_after_chart(shown, label, float(min(max(width, 300), 900)), unit=" %")
