"""Other Python packages on the same table, each in its own virtualenv, and what their releases are worth."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
from harness import Dataset, Row, Settings, Usage, main_dataset, measure, run_child
from harness.processes import anonymize_command, usages
from harness.quality import Quality, from_levels, from_sets, judge
from harness.settings import BENCHMARKS
from harness.venvs import UnavailableError, python_with

__all__ = ["run"]

_TIMEOUT = 300.0
_PATIENCE = 30.0
"""Seconds after which a slow package is not run once more."""
_ANJANA = ("anjana==1.2.3",)
_ANONYPY = ("anonypy==0.2.1", "pandas==2.3.3")  # it imports pandas, but does not say so
_K = 5
_NOTES = (
    "process: CPU seconds of a fresh process, imports, files and all. call: CPU seconds of the call alone, from pandas "
    "frame to released table; discreet's is warm. /ours: divided by the same figure of discreet with the same budget.",
    "anjana was asked for k_anonymity(data, [], columns, 5, budget, hierarchies): the same full-domain generalization "
    "with the same hierarchies, chosen greedily.",
    "anonypy was asked for Preserver(data, columns, constant).anonymize_k_anonymity(5): Mondrian, which recodes every "
    "class by itself into sets and ranges, uses no hierarchies and suppresses nothing. That is a finer kind of release "
    "than full-domain generalization, hence its lower loss; discreet has no local recoding yet.",
    "LM is counted here from the released values, in the same way for all; suppressed rows count in full.",
)


@dataclass(frozen=True)
class _Result:
    process: Usage
    call: float
    quality: Quality


def run(settings: Settings) -> list[Row]:
    """Measure anjana, anonypy and discreet with k = 5."""
    dataset = main_dataset(settings)
    if settings.quick:
        dataset = _first_rows(dataset, 3000, settings.scratch / "first.csv")
    title = f"packages: {dataset.name}, {dataset.frame.height:,} rows, k={_K}"
    rows = []
    for percent, suppression in ((0, "none"), (5, "budget(5%)")):
        ours = _discreet(settings, dataset, suppression)
        rows.append(_row(title, f"discreet, budget {percent} %", ours, None))
        rows.append(_other(settings, title, f"anjana, budget {percent} %", _ANJANA, dataset, percent, ours))
        if percent == 0:
            rows.append(_other(settings, title, "anonypy (Mondrian)", _ANONYPY, dataset, percent, ours))
    return [*rows, *(Row(title, "", note=note) for note in (*_NOTES, dataset.note) if note)]


def _discreet(settings: Settings, dataset: Dataset, suppression: str) -> _Result:
    target = settings.scratch / "discreet.csv"
    command = anonymize_command(dataset, dataset.file, target, suppression=suppression)
    used = usages({"": command}, settings.processes)[""]
    frame = dataset.frame.to_pandas()
    call = measure(
        lambda: dc.anonymize(
            frame, quasi_identifiers=dataset.trees, privacy=f"k({_K})", suppression=suppression, solver="lattice"
        ),
        settings.repeat,
    )
    quality = _judge(dataset, target, dataset.separator, from_levels)
    assert math.isclose(quality.loss, call.result.cost, rel_tol=1e-9), "the loss counted here is not the one reported"
    return _Result(min(used, key=lambda usage: usage.cpu), call.best, quality)


def _other(
    settings: Settings,
    title: str,
    case: str,
    requirements: Sequence[str],
    dataset: Dataset,
    percent: int,
    ours: _Result,
) -> Row:
    """Measure another package, several times where it does not take too long."""
    name = requirements[0].partition("==")[0]
    target = settings.scratch / f"{name}.csv"
    job = {
        "file": str(dataset.file),
        "separator": dataset.separator,
        "hierarchies": {column: str(path) for column, path in dataset.hierarchies.items()},
        "k": _K,
        "percent": percent,
        "output": str(target),
    }
    try:
        python = python_with(settings.kept, requirements)
    except UnavailableError as reason:
        return Row(title, case, note=str(reason))
    script = BENCHMARKS / "others" / f"{name}_job.py"
    runs: list[Usage] = []
    while len(runs) < settings.processes and sum(run.wall for run in runs) < _PATIENCE:
        runs.append(run_child([python, script, json.dumps(job)], _TIMEOUT))
        if runs[-1].timed_out:
            return Row(title, case, note=f"Ended after {_TIMEOUT:.0f} s without a result.")
        if runs[-1].code != 0:
            return Row(title, case, note=f"Ended with an error: {(runs[-1].printed.splitlines() or ['?'])[-1]}")
    process = min(runs, key=lambda run: run.cpu)
    call = min(json.loads(run.printed.splitlines()[-1])["call"] for run in runs)
    quality = _judge(dataset, target, ",", from_sets if requirements is _ANONYPY else from_levels)
    return _row(title, case, _Result(process, call, quality), ours)


def _judge(dataset: Dataset, released: Path, separator: str, leaves: Any) -> Quality:
    frame = pl.read_csv(released, separator=separator, infer_schema=False)
    return judge(frame, dataset.hierarchies, dataset.frame.height, leaves)


def _row(title: str, case: str, result: _Result, ours: _Result | None) -> Row:
    figures = {
        "process CPU s": result.process.cpu,
        "call CPU s": result.call,
        "peak MB": result.process.megabytes,
        "smallest class": result.quality.smallest_class,
        "suppressed": result.quality.suppressed,
        "LM": result.quality.loss,
    }
    if ours is not None:
        figures |= {
            "process/ours": result.process.cpu / ours.process.cpu,
            "call/ours": result.call / ours.call,
            "MB/ours": result.process.megabytes / ours.process.megabytes,
            "LM/ours": result.quality.loss / ours.quality.loss,
        }
    return Row(title, case, figures, "" if result.quality.smallest_class >= _K else "NOT k-anonymous.")


def _first_rows(dataset: Dataset, rows: int, file: Path) -> Dataset:
    dataset.frame.head(rows).write_csv(file, separator=dataset.separator)
    return Dataset(dataset.name, file, dataset.separator, dataset.hierarchies, dataset.label, dataset.note)
