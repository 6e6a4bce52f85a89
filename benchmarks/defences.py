"""Attacks before and after each defence, and what the defence costs: ``python benchmarks/defences.py [--rows N]``.

The output are the tables of SECURITY.md; ``--only`` makes one of the smaller ones. Adult is
found as by the other benchmarks; the sample is made here. A third of the people are held back as control group.
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
RANGES = ("age", "birth_date", "children")
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
    parser.add_argument("--only", choices=["defences", "padding", "hierarchies", "against"], default="defences")
    given = parser.parse_args()
    made = {"defences": defences, "padding": padding, "hierarchies": hierarchies, "against": against}
    made[given.only](given.rows)


def defences(rows: int) -> None:
    """Print the attacks on each scheme and solver."""
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


def padding(rows: int) -> None:
    """Print local releases with classes of more rows than promised, and rounded ones, as seen by who knows k alone."""
    shown = ("downcoding", "refinement", "singling-out")
    print(f"| table | promised | searched | scheme | loss | {' | '.join(shown)} |")
    print(f"|---|---|---|---|---|{'---|' * len(shown)}")
    for table in tables(rows):
        least = None
        for promised, searched, scheme in (
            (5, 5, "local"),
            (5, 7, "local"),
            (7, 7, "local"),
            (5, 5, "local(ends=rounded)"),
        ):
            release = released(table, searched, scheme, "auto")
            least = release.cost if least is None else least
            report = release.attacks(control=table.others, privacy=f"k({promised})")
            cells = [figures(report, name) for name in shown]
            more = f"{release.normalized_cost:.2%} ({release.cost / least - 1:+.1%})"
            print(f"| {table.name} | {promised} | {searched} | `{scheme}` | {more} | {' | '.join(cells)} |", flush=True)


def hierarchies(rows: int) -> None:
    """Print local releases that show numbers by hierarchies of fixed ranges, compared with the shortest ranges."""
    shown = ("downcoding", "refinement", "singling-out")
    print(f"| table | k | scheme | loss | {' | '.join(shown)} |")
    print(f"|---|---|---|---|{'---|' * len(shown)}")
    for table in tables(rows):
        least = released(table, 5, "local", "auto")
        fixed = released(table, 5, "local", "auto", fixed=True)
        report = fixed.attacks(control=table.others, only=list(shown))
        cells = [figures(report, name) for name in shown]
        more = f"{fixed.normalized_cost:.2%} ({fixed.cost / least.cost - 1:+.1%})"
        print(f"| {table.name} | 5 | `local`, all hierarchies given | {more} | {' | '.join(cells)} |", flush=True)


def against(rows: int) -> None:
    """Print what two releases of the same people tell together, made apart and made against each other."""
    print("| table | second release | loss | joint classes, smallest | composition | values certain |")
    print("|---|---|---|---|---|---|")
    for table in tables(rows):
        first, *others = list(table.trees)
        promises = ["k(5)", f"distinct-l(3, {table.secret})"]
        options: dict[str, Any] = {
            "quasi_identifiers": table.trees,
            "sensitive": [table.secret],
            "privacy": promises,
            "suppression": "budget(0.05)",
            "seed": 1,
        }
        one = dc.anonymize(table.people, cost=f"LM(weights={{{first}: 10}})", **options)
        ranges = {n: None if n in RANGES else tree for n, tree in table.trees.items()}
        global_one = {"cost": f"LM(weights={{{others[0]}: 10}})"}
        local_one = {"cost": "LM", "scheme": "local", "quasi_identifiers": ranges, "time_limit": 60}
        for name, earlier, chosen in (
            ("by itself", (), global_one),
            ("`against` the first", one, global_one),
            ("`local`, by itself", (), local_one),
            ("`local`, `against` the first", one, local_one),
        ):
            two = dc.anonymize(table.people, against=earlier, **{**options, **chosen})
            joint = dc.evaluate.together(
                table.people,
                [two, one],
                quasi_identifiers=table.trees,
                sensitive=[table.secret],
                privacy=promises,
            )
            found = two.attacks(control=table.others, earlier=[one], only="composition")
            sure = found["composition"].sentence.partition("certain for ")[2].partition(" of")[0]
            cells = [
                f"{two.normalized_cost:.2%}",
                f"{joint.classes:,}, {joint.smallest}",
                figures(found, "composition"),
                sure,
            ]
            print(f"| {table.name} | {name} | {' | '.join(cells)} |", flush=True)


def released(table: Table, k: int, scheme: str, solver: str, *, fixed: bool = False) -> dc.Release:
    """Make a release; local recoding shows numbers and dates as ranges, unless these are ``fixed`` by their trees."""
    trees = dict(table.trees)
    if scheme.startswith("local") and not fixed:
        trees = {name: None if name in RANGES else tree for name, tree in trees.items()}
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
