"""What a released table is still good for."""

from discreet.evaluate._queries import QueryReport, queries
from discreet.evaluate._utility import utility
from discreet.evaluate._utility_report import UtilityReport

__all__ = ["QueryReport", "UtilityReport", "queries", "utility"]
