"""What a released table is still good for."""

from discreet.evaluate._queries import QueryReport, queries

__all__ = ["QueryReport", "queries"]
