"""Costs, one module each. Dropping a module into this folder adds a cost."""

from discreet.problem.costs._base import COSTS, Cost, Separable
from discreet.problem.costs._shared import PerRowCost, required, weight_array

__all__ = ["COSTS", "Cost", "PerRowCost", "Separable", "required", "weight_array"]
