"""Synthetic people: a realistic table of any size about nobody, for demos, examples and benchmarks."""

from discreet.samples.hierarchies import HIERARCHIES, write_hierarchies
from discreet.samples.people import COLUMNS, check_size, chunks, sample
from discreet.samples.visits import (
    people_of,
    sample_tables,
    sample_visits,
    visit_chunks,
    visits_alone,
)

__all__ = [
    "COLUMNS",
    "HIERARCHIES",
    "check_size",
    "chunks",
    "people_of",
    "sample",
    "sample_tables",
    "sample_visits",
    "visit_chunks",
    "visits_alone",
    "write_hierarchies",
]
