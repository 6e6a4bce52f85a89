"""The sections of a report: blocks of words, figures, tables and charts, whatever format they end up in."""
