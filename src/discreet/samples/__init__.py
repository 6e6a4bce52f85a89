"""Made-up people: a realistic table of any size that is about nobody, for demos, examples and benchmarks."""

from discreet.samples._hierarchies import HIERARCHIES, write_hierarchies
from discreet.samples._people import COLUMNS, sample
from discreet.samples._write import write_sample

__all__ = ["COLUMNS", "HIERARCHIES", "sample", "write_hierarchies", "write_sample"]
