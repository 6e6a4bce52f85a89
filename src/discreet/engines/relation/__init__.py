"""Counting and recoding on the engine that holds the rows: DuckDB, Spark and Ibis."""
