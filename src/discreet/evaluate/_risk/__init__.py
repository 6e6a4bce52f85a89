"""The risk of a table: how likely its people are found in it, and what it tells about them."""

from discreet.evaluate._risk._combinations import ColumnRisk
from discreet.evaluate._risk._disclosure import Disclosure
from discreet.evaluate._risk._identifying import IdentifierWarning, identifier_warnings
from discreet.evaluate._risk._population import Population
from discreet.evaluate._risk._records import RecordRisk
from discreet.evaluate._risk._report import RiskReport
from discreet.evaluate._risk._risk import risk
from discreet.problem._uniques import PopulationUniques, estimate_uniques

__all__ = [
    "ColumnRisk",
    "Disclosure",
    "IdentifierWarning",
    "Population",
    "PopulationUniques",
    "RecordRisk",
    "RiskReport",
    "estimate_uniques",
    "identifier_warnings",
    "risk",
]
