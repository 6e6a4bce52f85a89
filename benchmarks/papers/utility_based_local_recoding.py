"""Repeat the experiments of "Utility-based anonymization using local recoding" (Xu and others, KDD 2006).

``python benchmarks/papers/utility_based_local_recoding.py [--quick] [--only NAME ...] [--output FOLDER]``

Figures 6 to 13 are printed as tables, and every statement of the paper's section 5 with what was seen here, whether
it holds or not. Made-up people stand in for Adult where it is not at hand. With ``--output``, all figures and
the points of all charts go to a JSON file there.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from utility.real import discernibility, penalty, query_errors, selectivities, times
from utility.runs import Study, methods, run
from utility.synthetic import by_dimensions, by_rows, seeds, weights
from utility.tables import adult, made_up, uniform

from harness import Part, Settings, conduct
from harness.machine import describe

PARTS: Mapping[str, Callable[[Study], Part]] = {
    "penalty": penalty,
    "discernibility": discernibility,
    "queries": query_errors,
    "selectivity": selectivities,
    "times": times,
    "weights": weights,
    "dimensions": by_dimensions,
    "rows": by_rows,
    "seeds": seeds,
}
PEOPLE = 30_000
"""Rows of the table that stands in for Adult."""


def run_parts(study: Study, names: tuple[str, ...]) -> Iterator[Part]:
    """Run some parts, or all, after everything that is compiled was loaded."""
    for method in methods():
        run(uniform(50, 2), method, 2)
    for name in names or PARTS:
        began = time.monotonic()
        yield PARTS[name](study)
        print(f"\n({name} took {time.monotonic() - began:.0f} s)", flush=True)


def study_of(data: Path, *, quick: bool) -> Study:
    """Return the study on Adult, or on made-up people where it is not at hand."""
    real = adult(data) or made_up(PEOPLE)
    if quick:
        return Study(real, quick, 2_000, 200, (5, 100), (2, 5, 10), (2_000, 10_000))
    return Study(real)


def main() -> int:
    options = _options()
    study = study_of(Settings(quick=options.quick, scratch=Path()).data, quick=options.quick)
    if study.real.name != "Adult":
        print("Adult is not at hand (DISCREET_DATA names its folder): made-up people stand in for it.", file=sys.stderr)
    for name, value in describe().items():
        print(f"{name:<10}{value}")
    conduct(run_parts(study, tuple(options.only or ())), options.output, quick=options.quick)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Repeat the experiments of the paper on utility-based local recoding.")
    parser.add_argument("--quick", action="store_true", help="a small part, in about a minute")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=PARTS, help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where the figures go")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
