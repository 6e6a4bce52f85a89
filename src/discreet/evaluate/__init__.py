"""Utility of a release, and what it discloses about people."""

from discreet.evaluate.attacks import AttackReport, AttackResult, attacks
from discreet.evaluate.crowds import FoundPerson, find
from discreet.evaluate.evidence import PROFILES, Evidence, Profile
from discreet.evaluate.risk import (
    PopulationUniques,
    RiskReport,
    estimate_uniques,
    identifier_warnings,
    record_risks,
    risk,
)
from discreet.evaluate.together import Together, together
from discreet.evaluate.utility.queries import QueryReport, queries
from discreet.evaluate.utility.report import UtilityReport
from discreet.evaluate.utility.utility import utility

__all__ = [
    "PROFILES",
    "AttackReport",
    "AttackResult",
    "Evidence",
    "FoundPerson",
    "PopulationUniques",
    "Profile",
    "QueryReport",
    "RiskReport",
    "Together",
    "UtilityReport",
    "attacks",
    "estimate_uniques",
    "find",
    "identifier_warnings",
    "queries",
    "record_risks",
    "risk",
    "together",
    "utility",
]
