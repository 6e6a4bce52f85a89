"""The published algorithms under their own names, to compare with."""
