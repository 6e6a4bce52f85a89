"""Microaggregation: groups of rows around their means, by squared error."""
