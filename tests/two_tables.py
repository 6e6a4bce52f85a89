"""People and their visits as two tables, and how they are released together."""

from __future__ import annotations

from typing import Any

import polars as pl

import discreet as dc

__all__ = ["OPTIONS", "people_and_visits", "with_people_without_visits"]

OPTIONS: dict[str, Any] = {
    "person": "patient_id",
    "identifiers": ["household_id", "visit_date"],
    "quasi_identifiers": {"age": "intervals(5, 10, 20, 40)", "sex": "flat", "zip": "mask(digits=5)"},
    "sensitive": ["diagnosis"],
    "keep": ["department"],
    "privacy": ["k(4)", "l+(0.9, diagnosis)"],
    "suppression": "budget(20%)",
    "seed": 3,
}


def people_and_visits() -> dict[str, pl.DataFrame]:
    found = dc.sample_tables(600, seed=1)
    return {name: table.with_columns(patient_id=pl.format("QZcanary{}", "patient_id")) for name, table in found.items()}


def with_people_without_visits(tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The same, with people who made no visit."""
    return {**tables, "visits": tables["visits"].filter(~pl.col("patient_id").str.ends_with("7"))}
