"""Engines: count and recode on each kind of frame, and tables in files."""

from discreet.engines._count import Counted, Missing, MissingSensitive, count
from discreet.engines._engine import Engine, EngineName
from discreet.engines._files import TableFile, open_file
from discreet.engines._formats import SUFFIXES, Format, format_of
from discreet.engines._guard import library_errors, reading, writing
from discreet.engines._held import as_written, held
from discreet.engines._look import Look, look_at
from discreet.engines._names import exactly, unused
from discreet.engines._parts import TableFiles, files_of, open_table
from discreet.engines._people import count_people
from discreet.engines._pieces import Pieces, Total, add_up, in_batches, totals_of, whole
from discreet.engines._polars import FileSource, InMemorySource, LazySource, files_read, pieces_of
from discreet.engines._recoding import UNKNOWN, Parts, Recoding, Shares, ValueMap, normalized, recode
from discreet.engines._source import Source, open_source, to_lazy
from discreet.engines._spreadsheet import count_formulas, without_formulas
from discreet.engines._together import count_together, together
from discreet.engines._typing import Kind, OtherTypesError, expect_types, typed_again
from discreet.engines._weights import ADDED, Weighed, of_polars, weighed
from discreet.engines._which import relation_of
from discreet.engines._write import plan_of, write_data, write_parts, write_table

__all__ = [
    "ADDED",
    "SUFFIXES",
    "UNKNOWN",
    "Counted",
    "Engine",
    "EngineName",
    "FileSource",
    "Format",
    "InMemorySource",
    "Kind",
    "LazySource",
    "Look",
    "Missing",
    "MissingSensitive",
    "OtherTypesError",
    "Parts",
    "Pieces",
    "Recoding",
    "Shares",
    "Source",
    "TableFile",
    "TableFiles",
    "Total",
    "ValueMap",
    "Weighed",
    "add_up",
    "as_written",
    "count",
    "count_formulas",
    "count_people",
    "count_together",
    "exactly",
    "expect_types",
    "files_of",
    "files_read",
    "format_of",
    "held",
    "in_batches",
    "library_errors",
    "look_at",
    "normalized",
    "of_polars",
    "open_file",
    "open_source",
    "open_table",
    "pieces_of",
    "plan_of",
    "reading",
    "recode",
    "relation_of",
    "to_lazy",
    "together",
    "totals_of",
    "typed_again",
    "unused",
    "weighed",
    "whole",
    "without_formulas",
    "write_data",
    "write_parts",
    "write_table",
    "writing",
]
