"""The audit, with readers and a grouping of its own: it shares no code with counting, recoding and the search."""

from discreet.release._audit._check import audit, audit_table
from discreet.release._audit._open import open_table, scan
from discreet.release._audit._verdict import Audit, Check, audit_html, number_text

__all__ = ["Audit", "Check", "audit", "audit_html", "audit_table", "number_text", "open_table", "scan"]
