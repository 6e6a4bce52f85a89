"""Engines: count and recode tables where they are, and read and write them.

This is all that other packages use. Database and Spark back ends are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.engines.columns import exactly, is_category, normalized, unused
from discreet.engines.combined_columns import count_combined
from discreet.engines.counting import Counted, Missing, SensitiveOptions, count
from discreet.engines.files.excel import sheet_names
from discreet.engines.files.formats import STATISTICS, SUFFIXES, Format, format_of
from discreet.engines.files.table_file import open_file, possible_options
from discreet.engines.files.table_files import files_of, open_table
from discreet.engines.files.write import plan_of, write_data, write_parts, write_table
from discreet.engines.format_limits import as_read_back, restore_type
from discreet.engines.guards import library_errors, reading
from discreet.engines.open import Engine, layout_of, open_source, scan_table, to_lazy
from discreet.engines.polars.pandas_index import index_of, unnamed_of
from discreet.engines.polars.people import number_people
from discreet.engines.polars.recode import recode
from discreet.engines.polars.source import FileSource, InMemorySource, LazySource, files_read
from discreet.engines.population import count_people
from discreet.engines.recoding import UNKNOWN, ClassParts, GroupShares, Recoding, ValueMap, as_text
from discreet.engines.relation.backends import relation_of
from discreet.engines.shuffle import Order, Shuffle, order_of_rows
from discreet.engines.source import Source
from discreet.engines.spreadsheet import count_formulas, without_formulas
from discreet.engines.text_types import Destination, OtherTypesError, expect_types, typed_again
from discreet.engines.weights import Weighed, weighed
from discreet.runtime.read_options import EngineName, MissingSensitive

if TYPE_CHECKING:
    from discreet.engines.files.statistics import size_of_statistics
    from discreet.engines.polars.frames import EagerSource
    from discreet.engines.relation.write import check_spark_table, has_spark_table, replacing_spark_table
    from discreet.engines.sql.connect import same_table
    from discreet.engines.sql.source import DatabaseSource
    from discreet.engines.sql.view import ViewColumn, ViewPlan, creating_view
    from discreet.engines.sql.write import check_table, has_table, replacing_table

_ON_FIRST_USE = {
    "DatabaseSource": "sql.source",
    "EagerSource": "polars.frames",
    "ViewColumn": "sql.view",
    "ViewPlan": "sql.view",
    "check_spark_table": "relation.write",
    "check_table": "sql.write",
    "creating_view": "sql.view",
    "has_spark_table": "relation.write",
    "has_table": "sql.write",
    "replacing_spark_table": "relation.write",
    "replacing_table": "sql.write",
    "same_table": "sql.connect",
    "size_of_statistics": "files.statistics",
}

__all__ = [
    "STATISTICS",
    "SUFFIXES",
    "UNKNOWN",
    "ClassParts",
    "Counted",
    "DatabaseSource",
    "Destination",
    "EagerSource",
    "Engine",
    "EngineName",
    "FileSource",
    "Format",
    "GroupShares",
    "InMemorySource",
    "LazySource",
    "Missing",
    "MissingSensitive",
    "Order",
    "OtherTypesError",
    "Recoding",
    "SensitiveOptions",
    "Shuffle",
    "Source",
    "ValueMap",
    "ViewColumn",
    "ViewPlan",
    "Weighed",
    "as_read_back",
    "as_text",
    "check_spark_table",
    "check_table",
    "count",
    "count_combined",
    "count_formulas",
    "count_people",
    "creating_view",
    "exactly",
    "expect_types",
    "files_of",
    "files_read",
    "format_of",
    "has_spark_table",
    "has_table",
    "index_of",
    "is_category",
    "layout_of",
    "library_errors",
    "normalized",
    "number_people",
    "open_file",
    "open_source",
    "open_table",
    "order_of_rows",
    "plan_of",
    "possible_options",
    "reading",
    "recode",
    "relation_of",
    "replacing_spark_table",
    "replacing_table",
    "restore_type",
    "same_table",
    "scan_table",
    "sheet_names",
    "size_of_statistics",
    "to_lazy",
    "typed_again",
    "unnamed_of",
    "unused",
    "weighed",
    "without_formulas",
    "write_data",
    "write_parts",
    "write_table",
]


def __getattr__(name: str) -> Any:
    """Import a database or Spark back end on first use."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ON_FIRST_USE[name]}"), name)
