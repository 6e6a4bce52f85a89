"""Names for the blocks of any partition of the leaves of a hierarchy.

What is written here, :func:`discreet.parse_block` reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

__all__ = ["OR_MISSING", "block_names", "node_names", "range_name", "set_name", "set_text"]

Label = str | None

OR_MISSING = " or missing"
"""What ends the name of a block that holds missing values too."""
_MARKS = ',{}"'
_MARKS_ALONE = _MARKS + "[(<>*"


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
    anything else as ``{one, two, three}``. Text is never shown as a range, since whoever reads it may not know its
    order. A leaf without a label is a missing value, and stays one if it is alone.

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
    found = np.empty(size.size, dtype=object)
    level_of = np.full(size.size, -1)
    for level, row in enumerate(ancestors):
        node = row[first]
        inside = np.bincount(blocks, weights=row == node[blocks])
        whole = (level_of < 0) & (inside == size) & (np.bincount(row)[node] == size)
        found[whole] = np.array([*labels[level], None], dtype=object)[:-1][node[whole]]
        level_of[whole] = level
    names: list[Label] = found.tolist()
    _tell_apart(names, level_of.tolist())
    others = np.flatnonzero(level_of < 0)
    if others.size:
        taken = set(names).union(*labels)
        order = np.argsort(blocks, kind="stable")
        ends = np.cumsum(size)
        for block in others.tolist():
            leaves = order[ends[block] - size[block] : ends[block]]
            members = [labels[0][leaf] for leaf in leaves.tolist()]
            run = ranges and _is_run(leaves[: len(members) - members.count(None)])
            names[block] = _new_name(members, run, taken)
    return names


def set_name(labels: Sequence[str]) -> str:
    """Write a set of values, those in quotes that would read as several or as something else.

    >>> print(set_name(["Private", "Inc, large"]))
    {Private, "Inc, large"}
    """
    return f"{{{', '.join(label if _plain(label, _MARKS) else _in_quotes(label) for label in labels)}}}"


def set_text(labels: Sequence[Label], taken: Container[Label] = ()) -> Label:
    """Write what a group shows that holds these leaves: the value itself if it is one, else a set that is not taken.

    >>> set_text(["Private", None])
    'Private or missing'
    """
    return labels[0] if len(labels) == 1 else _new_name(labels, False, taken)


def range_name(low: Label, high: Label) -> Label:
    """Write the range from one number or date to another.

    >>> range_name("17", "23")
    '[17, 23]'
    """
    return low if low == high else f"[{low}, {high}]"


def node_names(labels: Sequence[Sequence[Label]], levels: Sequence[int], blocks: Sequence[int]) -> list[Label]:
    """Write nodes of a hierarchy, given by level and block; no two different nodes get the same name.

    >>> node_names([["a", "b", "c"], ["b", "c"], ["*"]], [0, 1, 2], [1, 0, 0])
    ['b', 'b (level 1)', '*']
    """
    names = [labels[level][block] for level, block in zip(levels, blocks, strict=True)]
    _tell_apart(names, list(levels))
    return names


def _is_run(leaves: NDArray[np.integer]) -> bool:
    """Whether leaves, which rise, are neighbours."""
    return int(leaves[-1] - leaves[0]) + 1 == leaves.size


def _new_name(labels: Sequence[Label], run: bool, taken: Container[Label]) -> str:
    """Write a block by its leaves, in a way that is not taken."""
    return next(name for effort in count() if (name := _made_up(labels, run, effort)) not in taken)


def _made_up(labels: Sequence[Label], run: bool, effort: int) -> str:
    """Write a block by its leaves; more effort makes another name that means the same: quotes, then blanks."""
    known = [label for label in labels if label is not None]
    written = [_in_quotes(label) for label in known] if effort else known
    blanks = " " * max(effort - 1, 0)
    if len(known) == 1:
        text = (written[0] if effort or _plain(known[0], _MARKS_ALONE) else _in_quotes(known[0])) + blanks
    elif run:
        text = f"[{written[0]}, {written[-1]}{blanks}]"
    else:
        text = f"{{{', '.join(written)}{blanks}}}" if effort else set_name(known)
    return text if len(known) == len(labels) else f"{text}{OR_MISSING}"


def _plain(label: str, marks: str) -> bool:
    """Whether a label cannot be taken for several, or for something else."""
    return bool(label) and label == label.strip() and not any(mark in label for mark in marks)


def _in_quotes(label: str) -> str:
    return '"' + label.replace('"', '""') + '"'


def _tell_apart(names: list[Label], level_of: list[int]) -> None:
    """Add the level to names that several nodes have: a leaf may be called as a node elsewhere in the tree is."""
    nodes = sorted((block for block in range(len(names)) if level_of[block] >= 0), key=lambda block: level_of[block])
    while len(taken := Counter(names[block] for block in nodes)) < len(nodes):
        kept: set[Label] = set()
        for block in nodes:
            name = names[block]
            if taken[name] > 1 and name in kept:
                names[block] = f"{name} (level {level_of[block]})"
            kept.add(name)
