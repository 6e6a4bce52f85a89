"""Suppression kinds: one module each."""

from discreet.problem.suppression._base import SUPPRESSION, Suppressed, Suppression

__all__ = ["SUPPRESSION", "Suppressed", "Suppression"]
