"""The risk of a table: how likely people are found in it, and what it reveals about them."""

from discreet.evaluate.risk.combinations import ColumnRisk
from discreet.evaluate.risk.disclosure import Disclosure
from discreet.evaluate.risk.each_row import record_risks
from discreet.evaluate.risk.identifying import IdentifierWarning, identifier_warnings
from discreet.evaluate.risk.individual import IndividualRisk
from discreet.evaluate.risk.log_linear import LogLinearRisk
from discreet.evaluate.risk.population import PopulationFacts
from discreet.evaluate.risk.records import RecordRisk
from discreet.evaluate.risk.report import RiskReport
from discreet.evaluate.risk.risk import risk
from discreet.evaluate.risk.suda import SudaScores
from discreet.problem.uniqueness import PopulationUniques, estimate_uniques

__all__ = [
    "ColumnRisk",
    "Disclosure",
    "IdentifierWarning",
    "IndividualRisk",
    "LogLinearRisk",
    "PopulationFacts",
    "PopulationUniques",
    "RecordRisk",
    "RiskReport",
    "SudaScores",
    "estimate_uniques",
    "identifier_warnings",
    "record_risks",
    "risk",
]
