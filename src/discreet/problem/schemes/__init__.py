"""Generalization schemes: one module each."""

from discreet.problem.schemes._base import (
    SCHEMES,
    Partition,
    RunScheme,
    Scheme,
    SetScheme,
    make_schemes,
    scheme_of_each,
)

__all__ = ["SCHEMES", "Partition", "RunScheme", "Scheme", "SetScheme", "make_schemes", "scheme_of_each"]
