"""Names for the blocks of any partition of the leaves of a hierarchy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["block_names"]

Label = str | None


def block_names(
    labels: Sequence[Sequence[Label]],
    ancestors: NDArray[np.integer],
    blocks: NDArray[np.integer],
    *,
    ranges: bool = False,
) -> list[Label]:
    """Return a name for each block of leaves; no two blocks get the same.

    ``blocks[leaf]`` numbers the blocks from 0 without gaps. A block that is a node of the hierarchy has the name of
    the lowest such node. Others are named by their leaves: with ``ranges`` a run of neighbours as ``[first, last]``,
    anything else as ``{one, two, three}``. A leaf without a label is a missing value, and stays one if it is alone.

    >>> labels = [["18", "25", "40", "70", None], ["young", "old", None], ["*"]]
    >>> ancestors = np.array([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 0]])
    >>> block_names(labels, ancestors, np.array([0, 0, 1, 2, 3]))
    ['young', '40', '70', None]
    >>> block_names(labels, ancestors, np.array([0, 1, 1, 1, 0]), ranges=True)
    ['18 or missing', '[25, 70]']
    >>> block_names(labels, ancestors, np.array([0, 1, 0, 1, 1]))
    ['{18, 40}', '{25, 70} or missing']
    """
    size = np.bincount(blocks)
    _, first = np.unique(blocks, return_index=True)
    names = np.empty(size.size, dtype=object)
    level_of = np.full(size.size, -1)
    for level, row in enumerate(ancestors):
        node = row[first]
        inside = np.bincount(blocks, weights=row == node[blocks])
        found = (level_of < 0) & (inside == size) & (np.bincount(row)[node] == size)
        names[found] = np.array([*labels[level], None], dtype=object)[:-1][node[found]]
        level_of[found] = level
    others = np.flatnonzero(level_of < 0)
    if others.size:
        order = np.argsort(blocks, kind="stable")
        ends = np.cumsum(size)
        for block in others.tolist():
            leaves = order[ends[block] - size[block] : ends[block]]
            names[block] = _made_up(
                [labels[0][leaf] for leaf in leaves.tolist()], ranges and _is_run(leaves, labels[0])
            )
    return _told_apart(names.tolist(), level_of.tolist())


def _is_run(leaves: NDArray[np.integer], labels: Sequence[Label]) -> bool:
    """Whether leaves, apart from the missing one at the end, are neighbours."""
    known = leaves if labels[-1] is not None else leaves[:-1]
    return int(known[-1] - known[0]) + 1 == known.size


def _made_up(labels: Sequence[Label], run: bool) -> str:
    known = [label for label in labels if label is not None]
    if len(known) == 1:
        text = known[0]
    elif run:
        text = f"[{known[0]}, {known[-1]}]"
    else:
        text = f"{{{', '.join(map(_quoted, known))}}}"
    return text if len(known) == len(labels) else f"{text} or missing"


def _quoted(label: str) -> str:
    """Put a label that could be taken for several, or for something else, in quotes."""
    if label and label == label.strip() and not any(mark in label for mark in ',{}"'):
        return label
    return '"' + label.replace('"', '""') + '"'


def _told_apart(names: list[Label], level_of: list[int]) -> list[Label]:
    """Add to names that several blocks have: a leaf may be called as a node elsewhere in the tree is."""
    while len(taken := Counter(names)) < len(names):
        kept: set[Label] = set()
        for block in sorted(range(len(names)), key=lambda block: (level_of[block] < 0, level_of[block])):
            name = names[block]
            if taken[name] > 1 and name in kept:
                names[block] = f"{name} (level {level_of[block]})" if level_of[block] > 0 else f"{name} (group)"
            kept.add(name)
    return names
