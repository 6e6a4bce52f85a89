"""Repeat the experiments of "Towards optimal k-anonymization" (Li and Li, DKE 65, 2008) on Adult and made-up people.

``python benchmarks/papers/towards_optimal_k_anonymization.py [--quick] [--only NAME ...] [--table NAME ...]
[--limit SECONDS] [--patience SECONDS] [--output FOLDER]``

Every statement of the paper's section 5 is printed with what was seen here, whether it holds or not: the published
search and its techniques, with the faster search beside it, on Adult, or on made-up people where it is not at hand.
With ``--output``, all figures and the points of all charts go to a JSON file there.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from schemes.directions import direction
from schemes.frontier import frontier
from schemes.pruning import pruning
from schemes.quality import quality
from schemes.runs import Study, prepare
from schemes.speed import speed
from schemes.tables import Subject, adult, made_up

from harness import Part, Settings, conduct
from harness.machine import describe

PARTS: Mapping[str, Callable[[Study], Part]] = {
    "direction": direction,
    "schemes": speed,
    "quality": quality,
    "pruning": pruning,
    "frontier": frontier,
}
PEOPLE = 20_000
"""Rows of the made-up table."""


def run_parts(study: Study, names: tuple[str, ...]) -> Iterator[Part]:
    """Run some parts, or all, after everything that is compiled was loaded."""
    prepare(study.tables[0].first())
    for name in names or PARTS:
        began = time.monotonic()
        yield PARTS[name](study)
        print(f"\n({name} took {time.monotonic() - began:.0f} s)", flush=True)


def tables(data: Path, names: list[str] | None) -> tuple[Subject, ...]:
    """Return the tables that are asked for and at hand; if none is named, Adult, or made-up people in its place."""
    known = adult(data) if names is None or "adult" in names else None
    people = made_up(PEOPLE) if "people" in (names or ()) or (names is None and known is None) else None
    return tuple(subject for subject in (known, people) if subject is not None)


def main() -> int:
    options = _options()
    known = tables(Settings(quick=options.quick, scratch=Path()).data, options.table)
    if not any(subject.name == "Adult" for subject in known) and options.table != ["people"]:
        print("Adult or its ages are not at hand; DISCREET_DATA names their folder.", file=sys.stderr)
    if not known:
        return 1
    patience, limit = (2.0, 3.0) if options.quick else (5.0, 10.0)
    study = Study(known, options.quick, options.patience or patience, options.limit or limit)
    for name, value in describe().items():
        print(f"{name:<10}{value}")
    conduct(run_parts(study, tuple(options.only or ())), options.output, quick=options.quick)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Repeat the experiments of the paper on optimal k-anonymization.")
    parser.add_argument("--quick", action="store_true", help="a small part, in some minutes")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=PARTS, help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--table", nargs="+", metavar="NAME", choices=("adult", "people"), help="adult or people")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="for a run of the faster search (10; 3)")
    parser.add_argument("--patience", type=float, metavar="SECONDS", help="for a run of the published search (5; 2)")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where the figures go")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
