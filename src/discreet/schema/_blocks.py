"""Names for the blocks of any partition of the leaves of a hierarchy.

What is written here, :func:`discreet.parse_block` reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import first_of

__all__ = ["OR_MISSING", "Label", "block_names", "node_levels", "node_names", "range_name", "set_name", "set_text"]

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
    there: NDArray[np.bool_] | None = None,
    by_values: bool = False,
) -> list[Label]:
    """Return a name for each block of leaves; no two blocks get the same.

    ``blocks[leaf]`` numbers the blocks from 0 without gaps. A block that is a node of the hierarchy has the name of
    the lowest such node. Others are named by their leaves: with ``ranges`` a run of neighbours as ``[first, last]``,
    anything else as ``{one, two, three}``. Text is never shown as a range, since whoever reads it may not know its
    order. A leaf without a label is a missing value, and stays one if it is alone. With ``by_values`` the names of
    nodes are made in the same way, and neither they nor the order of leaves say anything else: sets are sorted.

    Only leaves that are ``there``, which are those of released rows, are named or decide about names. Blocks without
    any are not released; they have names of their own, by which their rows are found and left out.

    >>> labels = [["18", "25", "40", "70", None], ["young", "old", None], ["*"]]
    >>> ancestors = np.array([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 0]])
    >>> block_names(labels, ancestors, np.array([0, 0, 1, 2, 3]))
    ['young', '40', '70', None]
    >>> block_names(labels, ancestors, np.array([0, 1, 1, 1, 0]), ranges=True)
    ['18 or missing', '[25, 70]']
    >>> block_names(labels, ancestors, np.array([0, 1, 0, 1, 1]))
    ['{18, 40}', '{25, 70} or missing']
    >>> there = np.array([True, True, True, False, False])
    >>> block_names(labels, ancestors, np.array([0, 1, 1, 1, 0]), ranges=True, there=there)
    ['18', '[25, 40]']
    """
    shown = np.ones(blocks.size, dtype=np.bool_) if there is None else there
    level_of = node_levels(ancestors, blocks)
    first = first_of(blocks, level_of.size)
    names = np.full(level_of.size, None, dtype=object)
    for level in np.unique(level_of[level_of >= 0]).tolist():
        at = level_of == level
        names[at] = _array(labels[level])[ancestors[level, first[at]]]
    leaves = np.flatnonzero(shown)
    leaves = leaves[np.argsort(blocks[leaves], kind="stable")]
    size = np.bincount(blocks[leaves], minlength=level_of.size)
    end = np.cumsum(size)
    alone = (level_of < 0) & (size == 1)
    names[alone], level_of[alone] = _array(labels[0])[leaves[end[alone] - 1]], 0
    nodes = np.flatnonzero((size > 0) & (level_of >= 0))
    names[nodes] = _array(_apart(names[nodes].tolist(), level_of[nodes].tolist()))
    others = np.flatnonzero((size > 0) & (level_of < 0))
    if others.size:
        taken = {labels[0][leaf] for leaf in np.flatnonzero(shown).tolist()}.union(names[nodes].tolist())
        if not by_values:
            taken = taken.union(*labels[1:])
        rank = np.cumsum(shown, dtype=np.int64)
        for block in others.tolist():
            own = leaves[end[block] - size[block] : end[block]]
            members = [labels[0][leaf] for leaf in own.tolist()]
            run = ranges and _is_run(rank[own[: len(members) - members.count(None)]])
            if by_values and not ranges:
                members.sort(key=lambda label: (label is None, label or ""))
            names[block] = _new_name(members, run, taken)
    if (size == 0).any():
        _name_unreleased(names, size > 0, _array(labels[0])[first])
    found: list[Label] = names.tolist()
    return found


def _array(labels: Sequence[Label]) -> NDArray[np.object_]:
    return np.array([*labels, None], dtype=object)[:-1]


def _name_unreleased(names: NDArray[np.object_], released: NDArray[np.bool_], first: NDArray[np.object_]) -> None:
    """Give blocks that are not released names nothing else has: that of a node, or of their first leaf."""
    used: set[Label] = set(names[released].tolist())
    for block in np.flatnonzero(~released).tolist():
        name = first[block] if names[block] is None else names[block]
        while name in used:
            name = f"{name} (left out)"
        names[block] = name
        used.add(name)


def node_levels(ancestors: NDArray[np.integer], blocks: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return for each block the lowest level at which it is a node of the hierarchy, -1 where it is none."""
    size = np.bincount(blocks)
    first = first_of(blocks, size.size)
    level_of = np.full(size.size, -1, dtype=np.int64)
    for level, row in enumerate(ancestors):
        node = row[first]
        inside = np.bincount(blocks, weights=row == node[blocks])
        level_of[(level_of < 0) & (inside == size) & (np.bincount(row)[node] == size)] = level
        if (level_of >= 0).all():
            break
    return level_of


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
    return _apart([labels[level][block] for level, block in zip(levels, blocks, strict=True)], levels)


def _is_run(ranks: NDArray[np.integer]) -> bool:
    """Whether ranks, which rise, follow each other without a gap."""
    return int(ranks[-1] - ranks[0]) + 1 == ranks.size


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


def _apart(names: Sequence[Label], level_of: Sequence[int]) -> list[Label]:
    """Add the level to names that several nodes have: a leaf may be called as a node elsewhere in the tree is."""
    told = list(names)
    if len(set(told)) == len(told):
        return told
    nodes = sorted(range(len(told)), key=lambda node: level_of[node])
    while len(taken := Counter(told)) < len(told):
        kept: set[Label] = set()
        for node in nodes:
            name = told[node]
            if taken[name] > 1 and name in kept:
                told[node] = f"{name} (level {level_of[node]})"
            kept.add(name)
    return told
