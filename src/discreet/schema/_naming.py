"""Names of hierarchy nodes in a release, which must not depend on suppressed rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from discreet.schema._blocks import Label, set_text

__all__ = ["Naming", "renamed_nodes"]

MOST_LISTED = 24
"""A node of more values than this is named by its first ones."""
_FIRST = 3


class Naming(Enum):
    """How the names of nodes depend on the values of the column."""

    FIXED = auto()
    """Given by the user, or derived from any one value of the node: ``[20, 30)``, ``2024-Q1``, ``Ber*``."""
    BY_VALUES = auto()
    """Derived from all values: ``{rare: 12 values}``, or ranges cut between values."""
    PADDED_END = auto()
    """Padded with stars at the end to the length of the longest value."""
    PADDED_START = auto()
    """Padded with stars at the start to the length of the longest value."""


def renamed_nodes(
    labels: Sequence[Sequence[Label]],
    ancestors: NDArray[np.integer],
    released: NDArray[np.bool_],
    naming: Naming,
    *,
    ranges: bool,
) -> list[list[Label]]:
    """Return the labels of a hierarchy with all nodes but the root named by their ``released`` leaves.

    Nodes without a released leaf keep names of their own. With ``ranges`` leaves are numbers or dates in their order.

    >>> labels = [["3", "5", "8", "900"], ["< 7", ">= 7"], ["*"]]
    >>> ancestors = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    >>> released = np.array([True, True, True, False])
    >>> renamed_nodes(labels, ancestors, released, Naming.BY_VALUES, ranges=True)[1]
    ['[3, 5]', '8']
    """
    names = [list(level) for level in labels]
    if naming in (Naming.PADDED_END, Naming.PADDED_START):
        return _shortened(names, ancestors, released, naming)
    if naming is Naming.BY_VALUES:
        taken = {label for label, shown in zip(names[0], released.tolist(), strict=True) if shown}
        for level in range(1, len(names) - 1):
            names[level] = _by_values(names, ancestors[level], level, released, ranges, taken)
    return names


def _by_values(
    labels: list[list[Label]],
    blocks: NDArray[np.integer],
    level: int,
    released: NDArray[np.bool_],
    ranges: bool,
    taken: Collection[Label],
) -> list[Label]:
    order = np.argsort(blocks, kind="stable")
    ends = np.cumsum(np.bincount(blocks)).tolist()
    names: list[Label] = []
    for begin, end in zip([0, *ends], ends, strict=False):
        leaves = order[begin:end]
        shown = leaves[released[leaves]]
        members = [labels[0][leaf] for leaf in (shown if shown.size else leaves).tolist()]
        names.append(_name_of(members, labels[level][len(names)], ranges, taken))
    return names


def _name_of(members: list[Label], pattern: Label, ranges: bool, taken: Collection[Label]) -> Label:
    """Name a node by its values, none of which is missing unless it is the only one."""
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
    """Return whether a name such as ``Berlin-*`` or ``*-Mitte`` fits all values."""
    if pattern.endswith("*"):
        return all(value.startswith(pattern[:-1]) for value in values)
    return pattern.startswith("*") and all(value.endswith(pattern[1:]) for value in values)


def _shortened(
    labels: list[list[Label]], ancestors: NDArray[np.integer], released: NDArray[np.bool_], naming: Naming
) -> list[list[Label]]:
    """Remove the padding that only unreleased values are long enough for."""
    lengths = np.array([len(label or "") for label in labels[0]])
    surplus = int(lengths.max(initial=0) - lengths[released].max(initial=0))
    for level in range(1, len(labels) - 1) if surplus else ():
        for block in np.unique(ancestors[level][released]).tolist():
            label = labels[level][block]
            if label is not None:
                labels[level][block] = label[:-surplus] if naming is Naming.PADDED_END else label[surplus:]
    return labels
