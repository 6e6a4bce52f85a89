"""Costs: one module each. Dropping a module into this folder adds a cost."""

from discreet.problem.costs._base import COSTS, Cost, Separable

__all__ = ["COSTS", "Cost", "Separable"]
