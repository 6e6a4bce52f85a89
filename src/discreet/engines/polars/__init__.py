"""Counting and recoding by polars: frames in memory, lazy frames and files."""
