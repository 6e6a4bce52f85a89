"""Generalization schemes: one module each."""

from discreet.problem.schemes._base import SCHEMES, Partition, Scheme, make_schemes, scheme_of_each

__all__ = ["SCHEMES", "Partition", "Scheme", "make_schemes", "scheme_of_each"]
