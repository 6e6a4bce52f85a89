"""Names of the blocks of any partition of a hierarchy's leaves; :func:`discreet.parse_block` reads them back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from discreet.runtime.integer_codes import first_of

__all__ = ["OR_MISSING", "Label", "block_names", "node_levels", "node_names", "set_name", "set_text"]

Label = str | None

OR_MISSING = " or missing"
"""The end of the name of a block that also holds missing values."""
_MARKS = ',{}"'
_MARKS_ALONE = _MARKS + "[(<>*"


def block_names(
    labels: Sequence[Sequence[Label]],
    ancestors: NDArray[np.integer],
    blocks: NDArray[np.integer],
    *,
    ranges: bool = False,
    released: NDArray[np.bool_] | None = None,
    by_values: bool = False,
    low: int = 0,
) -> list[Label]:
    """Return a unique name for each block of leaves.

    ``blocks[leaf]`` numbers the blocks from 0 without gaps. A block that is a node of the hierarchy has the name of
    the lowest such node. Other blocks are named by their leaves: with ``ranges`` a run of neighbours as
    ``[first, last]``, anything else as ``{one, two, three}``. Text is never a range, since readers may not know its
    order. A leaf without a label is a missing value, and stays missing if it is alone. With ``by_values`` nodes are
    named by their leaves too, and sets are sorted, so that names say nothing about other values.

    Names are those of nodes at level ``low`` and above. Blocks consist of such nodes, which take the place of leaves.
    Only the leaves of released rows (``released``) are named or decide about names. Blocks without any are not
    released; they get names of their own, by which their rows are found and suppressed.

    >>> labels = [["18", "25", "40", "70", None], ["young", "old", None], ["*"]]
    >>> ancestors = np.array([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 0]])
    >>> block_names(labels, ancestors, np.array([0, 0, 1, 2, 3]))
    ['young', '40', '70', None]
    >>> block_names(labels, ancestors, np.array([0, 1, 1, 1, 0]), ranges=True)
    ['18 or missing', '[25, 70]']
    >>> block_names(labels, ancestors, np.array([0, 1, 0, 1, 1]))
    ['{18, 40}', '{25, 70} or missing']
    >>> block_names(labels, ancestors, np.array([0, 0, 1, 1, 1]), low=1)
    ['young', 'old or missing']
    >>> released = np.array([True, True, True, False, False])
    >>> block_names(labels, ancestors, np.array([0, 1, 1, 1, 0]), ranges=True, released=released)
    ['18', '[25, 40]']
    """
    shown = np.ones(blocks.size, dtype=np.bool_) if released is None else released
    if low:
        first = first_of(ancestors[low], len(labels[low]))
        nodes_shown = np.bincount(ancestors[low], weights=shown) > 0
        return block_names(
            labels[low:], ancestors[low:, first], blocks[first], released=nodes_shown, by_values=by_values
        )
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
    names[nodes] = _array(_unique_names(names[nodes].tolist(), level_of[nodes].tolist()))
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
    """Give blocks that are not released unique names, after their node or their first leaf."""
    used: set[Label] = set(names[released].tolist())
    for block in np.flatnonzero(~released).tolist():
        name = first[block] if names[block] is None else names[block]
        while name in used:
            name = f"{name} (left out)"
        names[block] = name
        used.add(name)


def node_levels(ancestors: NDArray[np.integer], blocks: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the lowest level at which each block is a node of the hierarchy, or -1."""
    size = np.bincount(blocks)
    first = first_of(blocks, size.size)
    level_of = np.full(size.size, -1, dtype=np.int64)
    for level, row in enumerate(ancestors):
        node = row[first]
        in_node = np.bincount(blocks, weights=row == node[blocks])
        level_of[(level_of < 0) & (in_node == size) & (np.bincount(row)[node] == size)] = level
        if (level_of >= 0).all():
            break
    return level_of


def set_name(labels: Sequence[str]) -> str:
    """Return the text of a set of values; values that could be misread are quoted.

    >>> print(set_name(["Private", "Inc, large"]))
    {Private, "Inc, large"}
    """
    return f"{{{', '.join(label if _plain(label, _MARKS) else _in_quotes(label) for label in labels)}}}"


def set_text(labels: Sequence[Label], taken: Container[Label] = ()) -> Label:
    """Return the text of a block of leaves: a single value, or a set whose text is not taken.

    >>> set_text(["Private", None])
    'Private or missing'
    """
    return labels[0] if len(labels) == 1 else _new_name(labels, False, taken)


def node_names(labels: Sequence[Sequence[Label]], levels: Sequence[int], blocks: Sequence[int]) -> list[Label]:
    """Return unique names for nodes of a hierarchy, given by level and block.

    >>> node_names([["a", "b", "c"], ["b", "c"], ["*"]], [0, 1, 2], [1, 0, 0])
    ['b', 'b (level 1)', '*']
    """
    return _unique_names([labels[level][block] for level, block in zip(levels, blocks, strict=True)], levels)


def _is_run(ranks: NDArray[np.integer]) -> bool:
    """Return whether rising ranks have no gap."""
    return int(ranks[-1] - ranks[0]) + 1 == ranks.size


def _new_name(labels: Sequence[Label], run: bool, taken: Container[Label]) -> str:
    """Return a name for a block by its leaves that is not taken."""
    return next(name for attempt in count() if (name := _name_of_leaves(labels, run, attempt)) not in taken)


def _name_of_leaves(labels: Sequence[Label], run: bool, attempt: int) -> str:
    """Return a name for a block by its leaves; each further attempt adds quotes, then blanks."""
    known = [label for label in labels if label is not None]
    written = [_in_quotes(label) for label in known] if attempt else known
    blanks = " " * max(attempt - 1, 0)
    if len(known) == 1:
        text = (written[0] if attempt or _plain(known[0], _MARKS_ALONE) else _in_quotes(known[0])) + blanks
    elif run:
        text = f"[{written[0]}, {written[-1]}{blanks}]"
    else:
        text = f"{{{', '.join(written)}{blanks}}}" if attempt else set_name(known)
    return text if len(known) == len(labels) else f"{text}{OR_MISSING}"


def _plain(label: str, marks: str) -> bool:
    """Return whether a label cannot be misread."""
    return bool(label) and label == label.strip() and not any(mark in label for mark in marks)


def _in_quotes(label: str) -> str:
    return '"' + label.replace('"', '""') + '"'


def _unique_names(names: Sequence[Label], level_of: Sequence[int]) -> list[Label]:
    """Add the level to names that several nodes share, such as a leaf and a node elsewhere in the tree."""
    unique = list(names)
    if len(set(unique)) == len(unique):
        return unique
    nodes = sorted(range(len(unique)), key=lambda node: level_of[node])
    while len(taken := Counter(unique)) < len(unique):
        kept: set[Label] = set()
        for node in nodes:
            name = unique[node]
            if taken[name] > 1 and name in kept:
                unique[node] = f"{name} (level {level_of[node]})"
            kept.add(name)
    return unique
