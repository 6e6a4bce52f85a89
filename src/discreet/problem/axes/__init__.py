"""Axes of a front: one module each. Dropping a module into this folder adds an axis."""

from discreet.problem.axes._base import AXES, Axis

__all__ = ["AXES", "Axis"]
