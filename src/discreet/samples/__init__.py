"""Synthetic people: a realistic table of any size about nobody, for demos, examples and benchmarks."""

from discreet.samples.hierarchies import HIERARCHIES, write_hierarchies
from discreet.samples.people import COLUMNS, check_size, chunks, sample
from discreet.samples.visits import VISIT_COLUMNS, sample_visits, visit_chunks

__all__ = [
    "COLUMNS",
    "HIERARCHIES",
    "VISIT_COLUMNS",
    "check_size",
    "chunks",
    "sample",
    "sample_visits",
    "visit_chunks",
    "write_hierarchies",
]
