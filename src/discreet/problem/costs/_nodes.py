"""Weights on the nodes of a hierarchy: what each node costs, and which weights make sense."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from discreet.counts import CodedAttribute, FloatArray
from discreet.errors import UsageError, did_you_mean

__all__ = ["check_nodes", "node_spreads", "root_weight"]

_ROUNDING = 1e-12
"""Relative difference up to which a node counts as no cheaper than one below it."""


def node_spreads(attribute: CodedAttribute, weights: Mapping[str, float]) -> list[FloatArray]:
    """Return the weight of each node of each level times its share of the leaves; 0 for a single leaf."""
    spreads = list(attribute.block_spreads)
    named = [(weight, node) for label, weight in weights.items() for node in attribute.nodes.get(label, ())]
    for level in {level for _, (level, _) in named}:
        spreads[level] = spreads[level].copy()
    for weight, (level, block) in named:
        spreads[level][block] *= weight
    return spreads


def root_weight(attribute: CodedAttribute, weights: Mapping[str, float]) -> float:
    """Return the weight of the root; 1 if it has none or there is no root."""
    rooted = weights and attribute.block_leaves[-1].size == 1
    return weights.get(str(attribute.labels[-1][0]), 1.0) if rooted else 1.0


def check_nodes(attribute: CodedAttribute, weights: Mapping[str, float], cost: str) -> None:
    """Raise a UsageError if a weight names no node, or makes a node cheaper than one below it."""
    if not attribute.tree:
        raise UsageError(
            f"The cost {cost} has node weights for '{attribute.name}', which has no hierarchy; give it one or leave "
            "the weights out.",
            column=attribute.name,
        )
    for label in weights:
        if label not in attribute.nodes:
            hint = did_you_mean(label, attribute.nodes) or "name one as it is released."
            raise UsageError(
                f"The cost {cost} has a weight for '{label}', but the hierarchy of '{attribute.name}' has no such node "
                f"above two values or more; {hint}",
                column=attribute.name,
            )
    _check_order(attribute, weights, cost)


def _check_order(attribute: CodedAttribute, weights: Mapping[str, float], cost: str) -> None:
    """Refuse weights that make a node cheaper than one below it."""
    spreads = node_spreads(attribute, weights)
    for level in range(attribute.height):
        child, leaf = np.unique(attribute.ancestors[level], return_index=True)
        parent = attribute.ancestors[level + 1, leaf]
        below, above = spreads[level][child], spreads[level + 1][parent]
        wrong = np.flatnonzero(above < below * (1 - _ROUNDING))
        if wrong.size:
            first = int(wrong[0])
            node, under = (attribute.labels[level + 1][parent[first]], attribute.labels[level][child[first]])
            now = weights.get(str(node), 1.0)
            least = math.ceil(1000 * now * float(below[first] / above[first])) / 1000
            raise UsageError(
                f"By its node weights '{node}' of '{attribute.name}' costs less in {cost} than '{under}' below it, "
                f"but is more general; give '{node}' a weight of at least {least:.15g} or '{under}' a smaller one.",
                column=attribute.name,
            )
    if spreads[-1].size > 1 and (spreads[-1] > 1 + _ROUNDING).any():
        raise UsageError(
            f"By its node weights a node of '{attribute.name}' costs more in {cost} than values that have no node in "
            "common; give smaller weights or a hierarchy with a root.",
            column=attribute.name,
        )
