"""The vocabulary: schemes, privacy models, costs and suppression kinds, and Problem, one choice of each."""

from discreet.problem._problem import Problem
from discreet.problem.axes import AXES, Axis
from discreet.problem.classes import Classes
from discreet.problem.costs import COSTS, Cost, Separable
from discreet.problem.privacy import PRIVACY, Groups, PrivacyModel
from discreet.problem.schemes import SCHEMES, Partition, Scheme, make_schemes, scheme_of_each
from discreet.problem.suppression import SUPPRESSION, Suppressed, Suppression

__all__ = [
    "AXES",
    "COSTS",
    "PRIVACY",
    "SCHEMES",
    "SUPPRESSION",
    "Axis",
    "Classes",
    "Cost",
    "Groups",
    "Partition",
    "PrivacyModel",
    "Problem",
    "Scheme",
    "Separable",
    "Suppressed",
    "Suppression",
    "make_schemes",
    "scheme_of_each",
]
