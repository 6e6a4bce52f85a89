"""The audit, with its own readers and its own grouping: it shares no code with counting, recoding and the search."""

from discreet.pipeline.audit.check import AuditRequest, audit
from discreet.pipeline.audit.people import RowOwners, read_people
from discreet.pipeline.audit.population import recount_population
from discreet.pipeline.audit.readers import open_table, scan
from discreet.pipeline.audit.reference import recount
from discreet.pipeline.audit.tables import read_tables, uniqueness_of_tables
from discreet.pipeline.audit.verdict import Audit, Check

__all__ = [
    "Audit",
    "AuditRequest",
    "Check",
    "RowOwners",
    "audit",
    "open_table",
    "read_people",
    "read_tables",
    "recount",
    "recount_population",
    "scan",
    "uniqueness_of_tables",
]
