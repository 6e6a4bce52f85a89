"""Suppression kinds, one module each. Dropping a module into this folder adds a kind."""

from discreet.problem.suppression._base import SUPPRESSION, Suppressed, Suppression

__all__ = ["SUPPRESSION", "Suppressed", "Suppression"]
