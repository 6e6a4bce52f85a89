"""Repeat the experiments of the paper on Pareto-optimal k-anonymization, POkA (Dewri et al., CIKM 2009), on Adult.

``python benchmarks/papers/pareto_optimal_k_anonymization.py [--quick] [--only NAME ...] [--output FOLDER]``

Fronts of k against three costs over the lattices of ARX's Adult hierarchies, with 1 % of the rows to suppress: by the
paper's algorithm, by the exact search, and by evaluating every node. Every statement of the paper's section 6 is
printed with what was seen here, whether it holds or not. Without Adult, made-up people stand in for it. With
``--output``, all figures and the points of all charts go to a JSON file there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from pareto.depths import depths
from pareto.runs import Study, prepare, study_of
from pareto.shapes import shapes
from pareto.sizes import sizes

from harness import Part, Settings, conduct, main_dataset
from harness.machine import describe

PARTS: Mapping[str, Callable[[Study], Part]] = {"shapes": shapes, "depths": depths, "sizes": sizes}


def run_parts(study: Study, names: tuple[str, ...]) -> Iterator[Part]:
    """Run some parts, or all, after everything that is compiled was loaded."""
    prepare(study)
    for name in names or PARTS:
        began = time.monotonic()
        yield PARTS[name](study)
        print(f"\n({name} took {time.monotonic() - began:.0f} s)", flush=True)


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        dataset = main_dataset(Settings(quick=options.quick, scratch=Path(scratch)))
        if dataset.note:
            print(dataset.note, file=sys.stderr)
        study = study_of(dataset, quick=options.quick)
    for name, value in describe().items():
        print(f"{name:<10}{value}")
    conduct(run_parts(study, tuple(options.only or ())), options.output, quick=options.quick)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Repeat the experiments of the paper on Pareto-optimal k-anonymity.")
    parser.add_argument("--quick", action="store_true", help="fewer quasi-identifiers, in some seconds")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=PARTS, help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where the figures go")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
