"""Engines: count and recode on each kind of frame, and tables in files."""

from discreet.engines._count import Counted, Missing, count
from discreet.engines._files import TableFile, open_table
from discreet.engines._formats import SUFFIXES, Format, format_of
from discreet.engines._guard import reading, writing
from discreet.engines._held import held
from discreet.engines._names import exactly
from discreet.engines._polars import files_read
from discreet.engines._recoding import UNKNOWN, Parts, Recoding, Shares, ValueMap, normalized
from discreet.engines._source import Source, open_source, to_lazy
from discreet.engines._write import write_table

__all__ = [
    "SUFFIXES",
    "UNKNOWN",
    "Counted",
    "Format",
    "Missing",
    "Parts",
    "Recoding",
    "Shares",
    "Source",
    "TableFile",
    "ValueMap",
    "count",
    "exactly",
    "files_read",
    "format_of",
    "held",
    "normalized",
    "open_source",
    "open_table",
    "reading",
    "to_lazy",
    "write_table",
    "writing",
]
