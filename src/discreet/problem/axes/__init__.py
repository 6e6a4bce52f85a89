"""Axes of a front, one module each. Dropping a module into this folder adds an axis."""

from discreet.problem.axes._base import AXES, Axis
from discreet.problem.axes._promises import axes_and_promises

__all__ = ["AXES", "Axis", "axes_and_promises"]
