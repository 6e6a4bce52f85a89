"""Synthetic people: a realistic table of any size about nobody, for demos, examples and benchmarks."""

from discreet.samples.hierarchies import HIERARCHIES, write_hierarchies
from discreet.samples.people import COLUMNS, check_size, chunks, sample

__all__ = ["COLUMNS", "HIERARCHIES", "check_size", "chunks", "sample", "write_hierarchies"]
