"""Generalization schemes: one module each."""

from discreet.problem.schemes._base import SCHEMES, Partition, Scheme

__all__ = ["SCHEMES", "Partition", "Scheme"]
