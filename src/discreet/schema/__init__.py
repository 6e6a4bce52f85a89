"""Attributes and their roles, types, hierarchies and the builders that make them.

The functions of the builders (``intervals``, ``mask``, …) are in the modules of :mod:`discreet.schema.builders`.
"""

from discreet.schema._blocks import node_names, set_text
from discreet.schema._column import Column, numbers_of, plain, text_of, value_text
from discreet.schema._domain import Domain, make_domain
from discreet.schema._forms import as_hierarchy, builder_name, hierarchy_for_reports, hierarchy_from_text
from discreet.schema._grid import Grid, rounding_grid
from discreet.schema._hierarchy import ROOT, Hierarchy
from discreet.schema._naming import Naming
from discreet.schema._parse import Interval, ValueSet, parse_block
from discreet.schema._schema import Role, Schema, parts_of
from discreet.schema._types import Type, as_type, infer_type, parse_dates
from discreet.schema.builders import BUILDERS, Builder, LevelBuilder, blocks_of_runs, blocks_of_text
from discreet.schema.identifying import (
    ColumnFacts,
    Finding,
    Leak,
    detect,
    detect_all,
    find_leaks,
    known_texts,
    near_duplicates,
    numbers_people,
    sightings,
    suggest_diversity,
)
from discreet.schema.missing_marks import MISSING_MARKS, count_missing_marks, missing_mark_notes
from discreet.schema.odd_values import count_far_codes, odd_value_notes, odd_values, text_among_numbers

__all__ = [
    "BUILDERS",
    "MISSING_MARKS",
    "ROOT",
    "Builder",
    "Column",
    "ColumnFacts",
    "Domain",
    "Finding",
    "Grid",
    "Hierarchy",
    "Interval",
    "Leak",
    "LevelBuilder",
    "Naming",
    "Role",
    "Schema",
    "Type",
    "ValueSet",
    "as_hierarchy",
    "as_type",
    "blocks_of_runs",
    "blocks_of_text",
    "builder_name",
    "count_far_codes",
    "count_missing_marks",
    "detect",
    "detect_all",
    "find_leaks",
    "hierarchy_for_reports",
    "hierarchy_from_text",
    "infer_type",
    "known_texts",
    "make_domain",
    "missing_mark_notes",
    "near_duplicates",
    "node_names",
    "numbers_of",
    "numbers_people",
    "odd_value_notes",
    "odd_values",
    "parse_block",
    "parse_dates",
    "parts_of",
    "plain",
    "rounding_grid",
    "set_text",
    "sightings",
    "suggest_diversity",
    "text_among_numbers",
    "text_of",
    "value_text",
]
