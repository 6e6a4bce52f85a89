"""Tables in databases: counted, recoded and audited where they are, and written whole or not at all."""

from discreet.engines.database._same import same_table
from discreet.engines.database._source import DatabaseSource
from discreet.engines.database._target import StagedTable, check_table, replacing_table

__all__ = ["DatabaseSource", "StagedTable", "check_table", "replacing_table", "same_table"]
