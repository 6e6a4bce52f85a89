"""Attacks before and after each defence, and what the defence costs: ``python benchmarks/defences.py [--rows N]``.

The output is the table of SECURITY.md. Adult is found as by the other benchmarks; the sample is made here. A third of
the people are held back as control group.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import discreet as dc
from discreet.evaluate import AttackReport

sys.path.insert(0, str(Path(__file__).parent))

ADULT = ["age", "workclass", "education", "marital-status", "race", "sex"]
SAMPLE = ["birth_date", "sex", "education", "marital_status", "children"]
DEFENCES = {
    "full-domain": [
        ("full-domain", "auto"),
        ("full-domain", "robust(epsilon=0.02)"),
        ("full-domain", "robust(epsilon=0.1)"),
    ],
    "subtree": [("subtree", "auto"), ("subtree", "robust(epsilon=0.02)"), ("subtree", "robust(epsilon=0.1)")],
    "local": [
        ("local", "auto"),
        ("local", "robust(epsilon=0.02)"),
        ("local(ends=rounded)", "auto"),
        ("local(ends=rounded)", "robust(epsilon=0.02)"),
    ],
}
SHOWN = ("downcoding", "refinement", "singling-out", "homogeneity", "inference")


class Table(NamedTuple):
    """A table of people, those who are held back, and how to read it."""

    name: str
    people: pl.DataFrame
    others: pl.DataFrame
    trees: dict[str, Any]
    secret: str


def tables(rows: int) -> Iterator[Table]:
    """Yield Adult, if it is at hand, and the sample."""
    from harness import Settings
    from harness.data import main_dataset

    with tempfile.TemporaryDirectory() as scratch:
        adult = main_dataset(Settings(quick=True, scratch=Path(scratch)))
    if adult.name == "Adult":
        every = adult.frame.select(*ADULT, "occupation").sample(fraction=1, shuffle=True, seed=1)
        trees = {name: adult.trees[name] for name in ADULT}
        yield Table("Adult", every.head(rows), every.slice(rows, rows // 2), trees, "occupation")
    made = dc.sample(rows + rows // 2, seed=1).select(*SAMPLE, "diagnosis")
    trees = {"birth_date": dc.dates("year", "decade"), "sex": dc.flat(), "education": "auto", "marital_status": "auto"}
    yield Table("sample", made.head(rows), made.tail(rows // 2), {**trees, "children": dc.intervals(2)}, "diagnosis")


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    rows = parser.parse_args().rows
    print(f"| table | k | scheme | solver | loss | {' | '.join(SHOWN)} | seconds |")
    print(f"|---|---|---|---|---|{'---|' * len(SHOWN)}---|")
    for table in tables(rows):
        for k in (5, 10):
            for choices in DEFENCES.values():
                least = None
                for scheme, solver in choices:
                    began = time.monotonic()
                    release = released(table, k, scheme, solver)
                    least = release.cost if least is None else least
                    report = release.attacks(control=table.others)
                    cells = [figures(report, name) for name in SHOWN]
                    more = f"{release.normalized_cost:.2%} ({release.cost / least - 1:+.1%})"
                    row = [table.name, str(k), f"`{scheme}`", f"`{solver}`", more, *cells]
                    print(f"| {' | '.join(row)} | {time.monotonic() - began:.0f} |", flush=True)


def released(table: Table, k: int, scheme: str, solver: str) -> dc.Release:
    """Make a release; local recoding shows ranges of numbers and dates, and other columns by their trees."""
    trees = dict(table.trees)
    if scheme.startswith("local"):
        trees = {name: None if name in ("age", "birth_date", "children") else tree for name, tree in trees.items()}
    return dc.anonymize(
        table.people,
        quasi_identifiers=trees,
        sensitive=[table.secret],
        privacy=f"k({k})",
        suppression="budget(0.05)",
        scheme=scheme,
        solver=solver,
        time_limit=60,
        seed=1,
    )


def figures(report: AttackReport, name: str) -> str:
    """Return success and what it is compared with; bold if the attack does better, beyond chance."""
    found = report[name]
    if found.success is None or found.baseline is None:
        return "–"
    text = f"{found.success:.1%} / {found.baseline:.1%}"
    return f"**{text}**" if found.better else text


if __name__ == "__main__":
    main()
