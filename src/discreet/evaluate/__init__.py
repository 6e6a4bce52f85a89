"""What a released table is still good for, and what it tells about people."""

from discreet.evaluate._attacks import AttackReport, attacks
from discreet.evaluate._queries import QueryReport, queries
from discreet.evaluate._risk import (
    PopulationUniques,
    RiskReport,
    estimate_uniques,
    identifier_warnings,
    risk,
)

__all__ = [
    "AttackReport",
    "PopulationUniques",
    "QueryReport",
    "RiskReport",
    "attacks",
    "estimate_uniques",
    "identifier_warnings",
    "queries",
    "risk",
]
