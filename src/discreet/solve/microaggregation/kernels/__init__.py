"""The compiled part of microaggregation."""
