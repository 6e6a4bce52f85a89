"""What releases reach, measured by discreet and by pycanon in its own virtualenv: the same to the last digits."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from discreet.samples import HIERARCHIES
from harness import Row, Settings, run_child
from harness.settings import BENCHMARKS
from harness.venvs import UnavailableError, python_with

__all__ = ["run"]

_PYCANON = ("pycanon==1.3.6",)
_TIMEOUT = 900.0
_WHOLE = ("k", "distinct l", "entropy l")
"""Whole numbers; pycanon rounds the entropy l down."""
_NOTE = (
    "Each release is written as CSV and measured twice: by dc.evaluate.risk and by pycanon {version}. The figures are "
    "how many releases there are, for how many of them both find the same whole number, and the largest relative "
    "difference of the other measures. Tables have no missing values, which pandas and pycanon would leave out of "
    "classes. Where values of a class are equally frequent, pycanon may round e^(ln l) down to l - 1."
)


@dataclass(frozen=True)
class _Case:
    name: str
    frame: pl.DataFrame
    quasi_identifiers: list[str]
    text: str
    number: str


def run(settings: Settings) -> list[Row]:
    """Measure releases of Adult, of made-up people and of random tables in both ways."""
    title = "reached: discreet and pycanon on the same releases"
    try:
        python = python_with(settings.kept, _PYCANON)
    except UnavailableError as reason:
        return [Row(title, "", note=str(reason))]
    cases = list(_cases(settings))
    jobs = []
    for place, case in enumerate(cases):
        file = settings.scratch / f"released{place}.csv"
        case.frame.write_csv(file)
        told = {"quasi_identifiers": case.quasi_identifiers, "text": case.text, "number": case.number}
        jobs.append({"file": str(file), **told})
    (settings.scratch / "jobs.json").write_text(json.dumps(jobs))
    script = BENCHMARKS / "others" / "pycanon_check.py"
    child = run_child([python, script, settings.scratch / "jobs.json"], _TIMEOUT)
    if child.timed_out or child.code != 0:
        return [Row(title, "", note=f"pycanon ended with an error: {(child.printed.splitlines() or ['?'])[-1]}")]
    theirs = json.loads(child.printed.splitlines()[-1])
    ours = [_measured(case, Path(job["file"])) for case, job in zip(cases, jobs, strict=True)]
    rows = []
    for name in dict.fromkeys(case.name for case in cases):
        pairs = [(a, b) for case, a, b in zip(cases, ours, theirs, strict=True) if case.name == name]
        rows.append(Row(title, name, {"releases": len(pairs), **_agreement(pairs)}))
    return [*rows, Row(title, "", note=_NOTE.format(version=_PYCANON[0].partition("==")[2]))]


def _agreement(pairs: list[tuple[dict[str, float], dict[str, float]]]) -> dict[str, Any]:
    """Return for whole numbers how often both agree, and for others how far they are apart at most."""
    found: dict[str, Any] = {}
    for measure in pairs[0][1]:
        if measure in _WHOLE:
            same = sum(ours[measure] == theirs[measure] for ours, theirs in pairs)
            found[measure] = f"{same} of {len(pairs)}"
        else:
            apart = [abs(a[measure] - b[measure]) / max(abs(b[measure]), 1e-9) for a, b in pairs]
            found[measure] = f"{max(apart):.0e}"
    return found


def _measured(case: _Case, file: Path) -> dict[str, float]:
    """Measure what was written."""
    types = dict.fromkeys([*case.quasi_identifiers, case.text], "text")
    secrets = [case.text, case.number]
    report = dc.evaluate.risk(file, quasi_identifiers=case.quasi_identifiers, sensitive=secrets, types=types, depth=1)
    told, numbers = report.disclosure[case.text], report.disclosure[case.number]
    return {
        "k": round(1 / report.prosecutor.highest),
        "alpha": told.confidence,
        "distinct l": told.distinct_l,
        "entropy l": math.floor(told.entropy_l + 1e-9),
        "t equal": told.t_equal,
        "t ordered": numbers.t_ordered,
        "beta": told.beta,
        "delta": told.delta,
    }


def _cases(settings: Settings) -> Iterator[_Case]:
    adult = settings.data / "arx" / "adult"
    if adult.is_dir():
        yield from _adult(adult, (5,) if settings.quick else (5, 20))
    people = dc.sample(2_000 if settings.quick else 10_000, seed=1).drop_nulls()
    quasi = ["birth_date", "sex", "education", "marital_status"]
    for k in (3,) if settings.quick else (3, 10):
        release = dc.anonymize(
            people.select(*quasi, "diagnosis", "children"),
            quasi_identifiers={name: HIERARCHIES[name] for name in quasi},
            sensitive=["diagnosis"],
            privacy=f"k({k})",
            suppression="budget(5%)",
        )
        yield _Case("made-up people", release.frame, quasi, "diagnosis", "children")
    for seed in range(10 if settings.quick else 60):
        yield _random(seed)


def _adult(folder: Path, ks: tuple[int, ...]) -> Iterator[_Case]:
    quasi = ["sex", "race", "marital-status", "education", "workclass"]
    frame = pl.read_csv(folder / "adult.csv", separator=";").select(*quasi, "occupation", "age")
    for k in ks:
        release = dc.anonymize(
            frame,
            quasi_identifiers={name: folder / f"adult_hierarchy_{name}.csv" for name in quasi},
            sensitive=["occupation"],
            privacy=f"k({k})",
            suppression="budget(2%)",
        )
        yield _Case("Adult", release.frame, quasi, "occupation", "age")


def _random(seed: int) -> _Case:
    """Return a release of a small random table: levels, cuts, ranges or groups, with or without l-diversity."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(30, 300))
    frame = pl.DataFrame(
        {
            "a": rng.integers(0, 12, rows),
            "b": rng.choice(list("uvwxyz"), rows),
            "c": rng.choice(["m", "f"], rows),
            "secret": rng.choice([f"s{i}" for i in range(6)], rows, p=rng.dirichlet(np.full(6, 2.0))),
            "pay": rng.integers(0, int(rng.integers(3, 20)), rows),
        }
    )
    scheme = ["full-domain", "subtree", "local"][seed % 3]
    release = dc.anonymize(
        frame,
        quasi_identifiers={"a": "intervals(2, 4)", "b": None, "c": "flat"},
        sensitive=["secret"],
        privacy=[f"k({int(rng.integers(1, 8))})", *(["distinct-l(2, secret)"] if seed % 2 else [])],
        cost="NCP" if scheme == "local" else "LM",
        scheme=scheme,
        suppression="none" if scheme == "local" else "budget(10%)",
        seed=seed,
    )
    return _Case("random tables", release.frame, ["a", "b", "c"], "secret", "pay")
