"""What all benchmarks share: settings, data, measuring, tables of results."""

from harness.child import Usage, run_child, run_here
from harness.data import Dataset, census, coded, main_dataset, people, perturbed
from harness.measure import Timing, in_turn, measure
from harness.rows import Row, print_rows
from harness.settings import Settings

__all__ = [
    "Dataset",
    "Row",
    "Settings",
    "Timing",
    "Usage",
    "census",
    "coded",
    "in_turn",
    "main_dataset",
    "measure",
    "people",
    "perturbed",
    "print_rows",
    "run_child",
    "run_here",
]
