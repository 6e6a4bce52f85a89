"""Costs, one module each. Dropping a module into this folder adds a cost."""

from discreet.problem.costs._base import COSTS, AttributeCosts, Cost, Separable
from discreet.problem.costs._shared import PerRowCost, required, weight_array

__all__ = ["COSTS", "AttributeCosts", "Cost", "PerRowCost", "Separable", "required", "weight_array"]
