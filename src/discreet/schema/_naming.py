"""What the nodes of a hierarchy are called in a release: nothing in it may come from rows that are left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from discreet.schema._blocks import Label, set_text

__all__ = ["Naming", "renamed_nodes"]

MOST_LISTED = 24
"""A node that covers more values than this is named by its first ones."""
_FIRST = 3


class Naming(Enum):
    """How the names of nodes depend on the values of the column."""

    FIXED = auto()
    """The user wrote them, or each follows from any one value of the node: ``[20, 30)``, ``2024-Q1``, ``Ber*``."""
    BY_VALUES = auto()
    """They depend on which values there are: ``{rare: 12 values}``, or ranges cut where the values are."""
    PADDED_END = auto()
    """Stars follow until all names are as long as the longest value."""
    PADDED_START = auto()
    """Stars precede until all names are as long as the longest value."""


def renamed_nodes(
    labels: Sequence[Sequence[Label]],
    ancestors: NDArray[np.integer],
    there: NDArray[np.bool_],
    naming: Naming,
    *,
    ranges: bool,
) -> list[list[Label]]:
    """Return the labels of a hierarchy with nodes named by the leaves that are ``there``, the root apart.

    Nodes with no such leaf are not released; they keep names of their own. With ``ranges`` leaves are numbers or
    dates in their order.

    >>> labels = [["3", "5", "8", "900"], ["< 7", ">= 7"], ["*"]]
    >>> ancestors = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    >>> there = np.array([True, True, True, False])
    >>> renamed_nodes(labels, ancestors, there, Naming.BY_VALUES, ranges=True)[1]
    ['[3, 5]', '8']
    """
    names = [list(level) for level in labels]
    if naming in (Naming.PADDED_END, Naming.PADDED_START):
        return _shortened(names, ancestors, there, naming)
    if naming is Naming.BY_VALUES:
        taken = {label for label, shown in zip(names[0], there.tolist(), strict=True) if shown}
        for level in range(1, len(names) - 1):
            names[level] = _by_values(names, ancestors[level], level, there, ranges, taken)
    return names


def _by_values(
    labels: list[list[Label]],
    blocks: NDArray[np.integer],
    level: int,
    there: NDArray[np.bool_],
    ranges: bool,
    taken: Collection[Label],
) -> list[Label]:
    order = np.argsort(blocks, kind="stable")
    ends = np.cumsum(np.bincount(blocks)).tolist()
    names: list[Label] = []
    for begin, end in zip([0, *ends], ends, strict=False):
        leaves = order[begin:end]
        shown = leaves[there[leaves]]
        members = [labels[0][leaf] for leaf in (shown if shown.size else leaves).tolist()]
        names.append(_name_of(members, labels[level][len(names)], ranges, taken))
    return names


def _name_of(members: list[Label], pattern: Label, ranges: bool, taken: Collection[Label]) -> Label:
    """Name a node by the values it covers, which have no missing value among them unless it is the only one."""
    if len(members) == 1:
        return members[0]
    if ranges:
        return f"[{members[0]}, {members[-1]}]"
    known = sorted(label for label in members if label is not None)
    if pattern is not None and _fits(pattern, known):
        return pattern
    if len(known) <= MOST_LISTED:
        return set_text(known, taken)
    name = f"{', '.join(known[:_FIRST])} and {len(known) - _FIRST:,} more"
    while name in taken:
        name += " "
    return name


def _fits(pattern: str, values: Sequence[str]) -> bool:
    """Whether a name such as ``Berlin-*`` or ``*-Mitte`` follows from any two of the values."""
    if pattern.endswith("*"):
        return all(value.startswith(pattern[:-1]) for value in values)
    return pattern.startswith("*") and all(value.endswith(pattern[1:]) for value in values)


def _shortened(
    labels: list[list[Label]], ancestors: NDArray[np.integer], there: NDArray[np.bool_], naming: Naming
) -> list[list[Label]]:
    """Take away the stars that only values which are not ``there`` are long enough for."""
    lengths = np.array([len(label or "") for label in labels[0]])
    surplus = int(lengths.max(initial=0) - lengths[there].max(initial=0))
    for level in range(1, len(labels) - 1) if surplus else ():
        for block in np.unique(ancestors[level][there]).tolist():
            label = labels[level][block]
            if label is not None:
                labels[level][block] = label[:-surplus] if naming is Naming.PADDED_END else label[surplus:]
    return labels
