"""Engines: count and recode on each kind of frame, and tables in files."""

from discreet.engines._count import Counted, Missing, MissingSensitive, count
from discreet.engines._engine import Engine, EngineName
from discreet.engines._files import open_file
from discreet.engines._formats import SUFFIXES, Format, format_of
from discreet.engines._guard import library_errors, reading, writing
from discreet.engines._held import as_written, held
from discreet.engines._index import index_of, unnamed_of
from discreet.engines._look import Look, look_at
from discreet.engines._names import exactly, unused
from discreet.engines._parts import files_of, open_table
from discreet.engines._people import count_people
from discreet.engines._polars import FileSource, InMemorySource, LazySource, files_read
from discreet.engines._recoding import UNKNOWN, Parts, Recoding, Shares, ValueMap, normalized, recode
from discreet.engines._shuffle import Order, Shuffle, order_of_rows
from discreet.engines._source import Source, open_source, to_lazy
from discreet.engines._spreadsheet import count_formulas, without_formulas
from discreet.engines._together import count_together
from discreet.engines._typing import Kind, OtherTypesError, expect_types, typed_again
from discreet.engines._weights import Weighed, weighed
from discreet.engines._which import relation_of
from discreet.engines._write import plan_of, write_data, write_parts, write_table

__all__ = [
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
    "Order",
    "OtherTypesError",
    "Parts",
    "Recoding",
    "Shares",
    "Shuffle",
    "Source",
    "ValueMap",
    "Weighed",
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
    "index_of",
    "library_errors",
    "look_at",
    "normalized",
    "open_file",
    "open_source",
    "open_table",
    "order_of_rows",
    "plan_of",
    "reading",
    "recode",
    "relation_of",
    "to_lazy",
    "typed_again",
    "unnamed_of",
    "unused",
    "weighed",
    "without_formulas",
    "write_data",
    "write_parts",
    "write_table",
    "writing",
]
