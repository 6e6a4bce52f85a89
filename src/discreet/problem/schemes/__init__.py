"""Generalization schemes, one module each. Dropping a module into this folder adds a scheme."""

from discreet.problem.schemes._base import (
    SCHEMES,
    Partition,
    RunScheme,
    Scheme,
    SetScheme,
    make_schemes,
    scheme_of_each,
)
from discreet.problem.schemes._tree import Node, merged, roots, set_partitions

__all__ = [
    "SCHEMES",
    "Node",
    "Partition",
    "RunScheme",
    "Scheme",
    "SetScheme",
    "make_schemes",
    "merged",
    "roots",
    "scheme_of_each",
    "set_partitions",
]
