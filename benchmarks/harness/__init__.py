"""What all benchmarks share: settings, data, measuring, tables of results."""

from harness.charts import Chart, drawn
from harness.child import Usage, run_child, run_here
from harness.data import Dataset, census, coded, main_dataset, people, perturbed, tree_of
from harness.findings import BEYOND, Finding, print_findings
from harness.measure import Timing, in_turn, measure
from harness.rows import Row, print_rows
from harness.settings import Settings
from harness.study import Part, Run, conduct, timed

__all__ = [
    "BEYOND",
    "Chart",
    "Dataset",
    "Finding",
    "Part",
    "Row",
    "Run",
    "Settings",
    "Timing",
    "Usage",
    "census",
    "coded",
    "conduct",
    "drawn",
    "in_turn",
    "main_dataset",
    "measure",
    "people",
    "perturbed",
    "print_findings",
    "print_rows",
    "run_child",
    "run_here",
    "timed",
    "tree_of",
]
