"""Attributes and their roles, types, hierarchies and the builders that make them."""

from discreet.schema._blocks import node_names, range_name, set_text
from discreet.schema._column import Column, plain, text_of
from discreet.schema._domain import Domain, make_domain
from discreet.schema._forms import as_hierarchy, hierarchy_from_text, shown_hierarchy
from discreet.schema._hierarchy import Hierarchy
from discreet.schema._naming import Naming
from discreet.schema._parse import Interval, ValueSet, parse_block
from discreet.schema._schema import Role, Schema, parts_of
from discreet.schema._types import Type, as_type, infer_type
from discreet.schema.builders import (
    Builder,
    LevelBuilder,
    auto,
    blocks_of_runs,
    blocks_of_text,
    dates,
    flat,
    groups,
    intervals,
    mask,
    ordered,
    ranges,
)
from discreet.schema.identifying import (
    ColumnFacts,
    Finding,
    Leak,
    detect,
    find_leaks,
    known_texts,
    near_duplicates,
    numbers_people,
    sightings,
    suggest_diversity,
)

__all__ = [
    "Builder",
    "Column",
    "ColumnFacts",
    "Domain",
    "Finding",
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
    "auto",
    "blocks_of_runs",
    "blocks_of_text",
    "dates",
    "detect",
    "find_leaks",
    "flat",
    "groups",
    "hierarchy_from_text",
    "infer_type",
    "intervals",
    "known_texts",
    "make_domain",
    "mask",
    "near_duplicates",
    "node_names",
    "numbers_people",
    "ordered",
    "parse_block",
    "parts_of",
    "plain",
    "range_name",
    "ranges",
    "set_text",
    "shown_hierarchy",
    "sightings",
    "suggest_diversity",
    "text_of",
]
