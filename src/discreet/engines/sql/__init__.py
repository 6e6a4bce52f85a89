"""Tables in SQLite, PostgreSQL and DuckDB databases: counted and recoded in place, written whole or not at all."""
