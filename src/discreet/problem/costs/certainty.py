"""Certainty penalty: how far the values of a class really spread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from discreet.counts import CodedAttribute, CountTable, FloatArray, IntArray
from discreet.errors import UsageError, did_you_mean
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS
from discreet.problem.costs._shared import PerRowCost, checked_node_weights, checked_weights, required, weight_array

if TYPE_CHECKING:
    from discreet.problem.privacy._base import PrivacyModel
    from discreet.problem.schemes import Scheme

__all__ = ["Certainty"]


@COSTS.register
@dataclass(frozen=True)
class Certainty(PerRowCost):
    """Each row costs the weighted sum over the attributes of how far the values of its class spread (NCP).

    A suppressed row costs the sum of the weights, as the root in every attribute does. The spread of numbers and dates
    is the range of the class over the range of the table, or 1 if missing and known values mix. The spread of text is
    the share of the hierarchy's leaves under the lowest common ancestor of the values, or 1 if there is none; without
    a hierarchy it is the share of the values that occur in the class. A single value has spread 0. Under the scheme
    ``local`` numbers and dates with a hierarchy are released as its nodes, and count like text. A suppressed sensitive
    value costs the sum of the weights.

    If only some rows of a class are suppressed, the spread is that of the class before: it does not depend on which
    rows stay, and the values that stay spread at most as far.

    With ``node_weights`` the spread of text is multiplied by the weight of the lowest common ancestor, an extension
    that the paper names and leaves open. Nodes are named as they are released; those not named weigh 1, and all nodes
    of one name have its weight. Weights by which a node costs less than one below it are refused.

    >>> Certainty(weights={"age": 0.5}).text
    'NCP(weights={age: 0.5})'
    >>> Certainty(node_weights={"work": {"Government": 2}}).text
    'NCP(node_weights={work: {Government: 2}})'
    """

    name = "NCP"
    aliases = ("certainty",)
    examples = ("NCP", "NCP(weights={age: 2})", "NCP(node_weights={work: {Government: 2}})")
    title = "Width"
    summary = "How wide the released ranges and groups are, as a share of the column."
    rank = 20
    sentence = "How wide the released ranges and groups are, as a share of the whole column."
    tells_suppressed = True
    needs = frozenset({"extent", "set_sizes"})
    local = True

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    node_weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", checked_weights(self.weights, self.name))
        object.__setattr__(self, "node_weights", checked_node_weights(self.node_weights, self.name))

    def resolve(self, table: CountTable, privacy: Sequence[PrivacyModel]) -> Self:
        """Raise a UsageError if a weight names no quasi-identifier."""
        for column in self.node_weights:
            if column not in table.names:
                raise UsageError(
                    f"The cost {self.name} has node weights for '{column}', which is not a quasi-identifier.",
                    column=column,
                    topic="not-a-quasi-identifier",
                )
        return super().resolve(table, privacy)

    def check(self, table: CountTable, schemes: Sequence[Scheme]) -> None:
        """Raise a UsageError if a node weight names no node, or makes a node cheaper than one below it."""
        for attribute, scheme in zip(table.attributes, schemes, strict=True):
            if attribute.name not in self.node_weights:
                continue
            if attribute.tree and attribute.positions is not None and scheme.is_global:
                raise UsageError(
                    f"The cost {self.name} has node weights for '{attribute.name}', whose numbers it measures by their "
                    f"range under the scheme {scheme.name}; leave the weights out or choose the scheme local.",
                    column=attribute.name,
                )
            check_nodes(attribute, self.node_weights[attribute.name], self.name)

    def row(self, classes: Classes) -> FloatArray:
        """Return the weighted sum over the attributes."""
        total = np.zeros(len(classes))
        for part in self.row_parts(classes).T:  # in this order on any machine
            total += part
        return total

    def row_parts(self, classes: Classes) -> FloatArray:
        """Return the weighted spread of each attribute."""
        low, high = required(classes.low), required(classes.high)
        parts = np.zeros((len(classes), len(classes.table.attributes)))
        each = zip(classes.table.attributes, weight_array(self.weights, classes.table), strict=True)
        for column, (attribute, weight) in enumerate(each):
            if attribute.tree and classes.local:
                shown = required(classes.block_levels)[:, column], required(classes.blocks)[:, column]
                parts[:, column] = weight * _shown_spread(self.node_spreads(attribute), *shown)
            elif attribute.positions is not None:
                parts[:, column] = weight * _number_spread(attribute, low[:, column], high[:, column])
            elif attribute.tree:
                spreads = self.node_spreads(attribute)
                parts[:, column] = weight * _text_spread(attribute, spreads, low[:, column], high[:, column])
            else:
                values = required(classes.set_sizes)[:, column]
                parts[:, column] = weight * np.where(values == 1, 0.0, values / attribute.leaves)
        return parts

    def suppressed_row(self, table: CountTable) -> float:
        """Return the sum of the weights, each times the weight of the root."""
        return float(self.suppressed_row_parts(table).sum())

    def suppressed_row_parts(self, table: CountTable) -> FloatArray:
        """Return the weight of each attribute times the weight of its root."""
        roots = [root_weight(attribute, self.node_weights.get(attribute.name, {})) for attribute in table.attributes]
        return weight_array(self.weights, table) * roots

    def value_penalty(self, table: CountTable) -> float:
        """Return the sum of the weights."""
        return float(weight_array(self.weights, table).sum())

    def node_spreads(self, attribute: CodedAttribute) -> list[FloatArray]:
        """Return, for each level, the spread of values by their lowest common ancestor."""
        return node_spreads(attribute, self.node_weights.get(attribute.name, {}))


def _number_spread(attribute: CodedAttribute, low: IntArray, high: IntArray) -> FloatArray:
    assert attribute.positions is not None
    present = attribute.positions[(attribute.rows > 0) & ~np.isnan(attribute.positions)]
    whole = float(np.ptp(present)) if present.size else 0.0
    spread = (attribute.positions[high] - attribute.positions[low]) / (whole or 1.0)
    return np.where(low == high, 0.0, np.where(np.isnan(spread), 1.0, spread))


def _text_spread(attribute: CodedAttribute, spreads: Sequence[FloatArray], low: IntArray, high: IntArray) -> FloatArray:
    # Blocks of text are runs of leaves: an ancestor of the first and the last value is one of all between.
    spread = np.ones(low.size)
    for level in range(attribute.height, -1, -1):
        block = attribute.ancestors[level, low]
        shared = block == attribute.ancestors[level, high]
        spread = np.where(shared, spreads[level][block], spread)
    return np.where(low == high, 0.0, spread)


def _shown_spread(spreads: Sequence[FloatArray], levels: IntArray, blocks: IntArray) -> FloatArray:
    spread = np.ones(levels.size)
    for level, each in enumerate(spreads):
        here = np.flatnonzero(levels == level)
        spread[here] = each[blocks[here]]
    return spread


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
