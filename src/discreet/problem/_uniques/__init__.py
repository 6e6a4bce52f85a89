"""How many people are unique in the population a table was drawn from: what class sizes tell about it."""

from discreet.problem._uniques._estimate import MODELS, PopulationUniques, estimate_by, estimate_uniques

__all__ = ["MODELS", "PopulationUniques", "estimate_by", "estimate_uniques"]
