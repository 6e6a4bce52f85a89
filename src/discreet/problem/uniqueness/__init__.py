"""Estimates of how many people are unique in the population a table was drawn from, by the sizes of its classes."""

from discreet.problem.uniqueness.estimate import MODELS, PopulationUniques, estimate_by, estimate_uniques

__all__ = ["MODELS", "PopulationUniques", "estimate_by", "estimate_uniques"]
