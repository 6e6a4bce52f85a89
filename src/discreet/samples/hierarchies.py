"""Hierarchies for the synthetic people, in the forms of a job file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.errors import OutputError
from discreet.samples import distributions

__all__ = ["HIERARCHIES", "write_hierarchies"]

HIERARCHIES: dict[str, Any] = {
    "birth_date": "dates(month, year, decade)",
    "sex": "flat",
    "zip": "mask(digits=5)",
    "city": {region: list(towns) for region, towns in distributions.TOWNS.items()},
    "education": {
        "Basic": ["No schooling", "Primary school", "Middle school"],
        "Secondary": ["High school", "Vocational"],
        "Higher": ["Bachelor", "Master", "Doctorate"],
    },
    "occupation": {
        "In education": ["Child", "Pupil", "Student"],
        "At work": {
            "Manual": ["Farming", "Construction", "Manufacturing", "Transport", "Cleaning", "Crafts"],
            "Service": ["Retail", "Hospitality", "Office work", "Nursing"],
            "Professional": [
                "Teaching",
                "Engineering",
                "Information technology",
                "Finance",
                "Medicine",
                "Law",
                "Research",
                "Management",
            ],
        },
        "Not at work": ["Homemaker", "Unemployed", "Retired"],
    },
    "marital_status": {
        "Alone": ["Single", "Separated", "Divorced", "Widowed"],
        "Together": ["Partnered", "Married"],
    },
    "children": "ranges([1, 3])",
    "income": "intervals(10000, 20000, 40000)",
}
"""Column to hierarchy, as text or nested groups."""


def write_hierarchies(folder: str | Path) -> list[Path]:
    """Write the hierarchies that are groups as CSV files, one ``NAME.csv`` per column."""
    from discreet.schema.builders.groups import groups

    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"The folder '{folder}' cannot be made; choose another.") from None
    paths = []
    for name, form in HIERARCHIES.items():
        if isinstance(form, dict):
            paths.append(folder / f"{name}.csv")
            groups(form).hierarchy.to_csv(paths[-1])
    return paths
