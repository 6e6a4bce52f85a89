"""Builders: recipes that make a hierarchy from the distinct values of a column, one module each."""

from discreet.schema.builders._base import BUILDERS, Builder, LevelBuilder, blocks_of_runs, blocks_of_text

__all__ = ["BUILDERS", "Builder", "LevelBuilder", "blocks_of_runs", "blocks_of_text"]
