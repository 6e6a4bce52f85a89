"""Repeat the experiments of "On Optimal Anonymization for l+-Diversity" (Liu and Wang, ICDE 2010) on Adult.

``python benchmarks/papers/optimal_l_plus_diversity.py [--quick] [--only NAME ...] [--output FOLDER]``

Every statement of the paper's section VIII is printed with what was seen here, whether it holds or not. With
``--output``, all figures and the points of all charts go to a JSON file there.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from l_plus.classifiers import classification
from l_plus.effort import ablations, columns, paper_alone, rows, taxonomies
from l_plus.heuristics import annealing
from l_plus.optima import Optima, all_optima, sizes
from l_plus.runs import Study, run
from l_plus.tables import Subject, adult
from l_plus.utility import incognito, suppression_kinds, thresholds

from harness import Part, Settings, conduct
from harness.machine import describe

QUICK = ("sizes", "optima", "incognito", "kinds", "annealing", "columns")


class Parts:
    """The parts of the study by name; the optima are found once, for all that compare with them."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.named: dict[str, Callable[[], Part]] = {
            "sizes": lambda: sizes(study),
            "optima": lambda: self._found[1],
            "incognito": lambda: incognito(study, self.optima),
            "kinds": lambda: suppression_kinds(study, self.optima),
            "thresholds": lambda: thresholds(study, self.optima),
            "classification": lambda: classification(study),
            "annealing": lambda: annealing(study),
            "paper": lambda: paper_alone(study),
            "ablations": lambda: ablations(study),
            "taxonomies": lambda: taxonomies(study),
            "columns": lambda: columns(study),
            "rows": lambda: rows(study),
        }

    @cached_property
    def _found(self) -> tuple[Optima, Part]:
        return all_optima(self.study)

    @property
    def optima(self) -> Optima:
        """Every optimum of the table."""
        return self._found[0]

    def run(self, names: tuple[str, ...]) -> Iterator[Part]:
        """Run some parts, or all, after everything that is compiled was loaded."""
        run(self.study.base, "LM", "none", 4)
        for name in names or tuple(self.named):
            began = time.monotonic()
            yield self.named[name]()
            print(f"\n({name} took {time.monotonic() - began:.0f} s)", flush=True)


def study_of(data: Path, *, quick: bool) -> Study | None:
    """Return the study on Adult, with all taxonomies; None if the files are not at hand."""
    found = [adult(data, name) for name in ("base", "coarse", "medium", "fine")]
    found.append(adult(data, "base", exact_ages=True))
    subjects: list[Subject] = [subject for subject in found if subject is not None]
    if len(subjects) < len(found):
        return None
    return Study(subjects[0], {subject.name: subject for subject in subjects}, quick)


def main() -> int:
    options = _options()
    study = study_of(Settings(quick=options.quick, scratch=Path()).data, quick=options.quick)
    if study is None:
        print("Adult and its taxonomies are not at hand; DISCREET_DATA names their folder.", file=sys.stderr)
        return 1
    for name, value in describe().items():
        print(f"{name:<10}{value}")
    names = tuple(options.only or (QUICK if options.quick else ()))
    conduct(Parts(study).run(names), options.output, quick=options.quick)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Repeat the experiments of the paper on optimal l+-diversity.")
    parser.add_argument("--quick", action="store_true", help="a small part, in less than a minute")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some parts, such as optima, annealing or rows")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where the figures go")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
