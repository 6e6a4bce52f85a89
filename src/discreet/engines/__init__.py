"""Engines: count and recode on each kind of frame, and tables in files."""

from discreet.engines._count import Counted, Missing, count
from discreet.engines._engine import Engine, EngineName
from discreet.engines._files import TableFile, open_table
from discreet.engines._formats import SUFFIXES, Format, format_of
from discreet.engines._guard import reading, writing
from discreet.engines._held import held
from discreet.engines._names import exactly
from discreet.engines._polars import files_read
from discreet.engines._recoding import UNKNOWN, Parts, Recoding, Shares, ValueMap
from discreet.engines._relation import Relation, relation_of
from discreet.engines._source import Source, open_source, to_lazy
from discreet.engines._write import write_data, write_table

__all__ = [
    "SUFFIXES",
    "UNKNOWN",
    "Counted",
    "Engine",
    "EngineName",
    "Format",
    "Missing",
    "Parts",
    "Recoding",
    "Relation",
    "Shares",
    "Source",
    "TableFile",
    "ValueMap",
    "count",
    "exactly",
    "files_read",
    "format_of",
    "held",
    "open_source",
    "open_table",
    "reading",
    "relation_of",
    "to_lazy",
    "write_data",
    "write_table",
    "writing",
]
