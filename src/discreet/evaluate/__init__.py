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
from discreet.evaluate._utility import utility
from discreet.evaluate._utility_report import UtilityReport

__all__ = [
    "AttackReport",
    "PopulationUniques",
    "QueryReport",
    "RiskReport",
    "UtilityReport",
    "attacks",
    "estimate_uniques",
    "identifier_warnings",
    "queries",
    "risk",
    "utility",
]
