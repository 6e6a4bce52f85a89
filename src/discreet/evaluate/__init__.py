"""Utility of a release, and what it discloses about people."""

from discreet.evaluate.attacks import AttackReport, attacks
from discreet.evaluate.crowds import FoundPerson, find
from discreet.evaluate.risk import (
    PopulationUniques,
    RiskReport,
    estimate_uniques,
    identifier_warnings,
    risk,
)
from discreet.evaluate.utility.queries import QueryReport, queries
from discreet.evaluate.utility.report import UtilityReport
from discreet.evaluate.utility.utility import utility

__all__ = [
    "AttackReport",
    "FoundPerson",
    "PopulationUniques",
    "QueryReport",
    "RiskReport",
    "UtilityReport",
    "attacks",
    "estimate_uniques",
    "find",
    "identifier_warnings",
    "queries",
    "risk",
    "utility",
]
