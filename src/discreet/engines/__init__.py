"""Engines: count and recode on each kind of frame, and tables in files."""

from discreet.engines._count import Counted, Missing, count
from discreet.engines._engine import Engine, EngineName
from discreet.engines._files import TableFile, open_file
from discreet.engines._formats import SUFFIXES, Format, format_of
from discreet.engines._guard import reading, writing
from discreet.engines._held import held
from discreet.engines._names import exactly, unused
from discreet.engines._parts import TableFiles, files_of, open_table
from discreet.engines._polars import files_read
from discreet.engines._recoding import UNKNOWN, Parts, Recoding, Shares, ValueMap, normalized, recode
from discreet.engines._source import Source, open_source, to_lazy
from discreet.engines._spreadsheet import count_formulas, without_formulas
from discreet.engines._which import relation_of
from discreet.engines._write import plan_of, write_data, write_parts, write_table

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
    "Shares",
    "Source",
    "TableFile",
    "TableFiles",
    "ValueMap",
    "count",
    "count_formulas",
    "exactly",
    "files_of",
    "files_read",
    "format_of",
    "held",
    "normalized",
    "open_file",
    "open_source",
    "open_table",
    "plan_of",
    "reading",
    "recode",
    "relation_of",
    "to_lazy",
    "unused",
    "without_formulas",
    "write_data",
    "write_parts",
    "write_table",
    "writing",
]
