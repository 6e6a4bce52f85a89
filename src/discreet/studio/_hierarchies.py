"""Editing a hierarchy: each edit is a function from a tree to another tree, so that undoing is going back.

Groups are named by their level and their name, which is theirs alone on that level. Level 0 are the values themselves,
which are never changed, and the highest level is the one group of everything, which stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import add_up
from discreet.errors import UsageError, did_you_mean
from discreet.schema import Domain, Hierarchy

__all__ = ["EDITS", "add_level", "edit", "merge", "move", "remove_level", "rename", "split", "table_of", "tree_of"]

_CHILDREN = 60
"""The most children of a group that are told at once."""
_NODES = 400
"""The most nodes of a tree that are told at once."""
_LONGEST = 200
_MOST_LEVELS = 20


class _Nodes:
    """A tree as lists: ``names[level][block]``, and ``parent[level][block]``, a block of the level above."""

    def __init__(self, tree: Hierarchy) -> None:
        self.names = [_distinct(labels) for labels in tree.labels]
        self.parent: list[NDArray[np.int64]] = []
        for level in range(tree.height):
            above = np.zeros(len(tree.labels[level]), dtype=np.int64)
            above[tree.ancestors[level]] = tree.ancestors[level + 1]
            self.parent.append(above)

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.names) - 1

    def find(self, level: Any, name: Any, *, lowest: int = 1, highest: int | None = None) -> int:
        """Return the block of a group, or say that there is none."""
        top = self.height if highest is None else highest
        check_level(level, lowest, top)
        try:
            return self.names[level].index(name)
        except ValueError:
            hint = "" if level == 0 else did_you_mean(str(name), self.names[level])
            raise UsageError(f"There is no such group on level {level}; {hint or 'load the page again.'}") from None

    def find_all(self, level: Any, names: Any, *, lowest: int = 0, highest: int | None = None) -> list[int]:
        """Return the blocks of several groups."""
        if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
            raise UsageError("Choose at least one group.")
        return [self.find(level, name, lowest=lowest, highest=highest) for name in dict.fromkeys(names)]

    def new(self, level: int, name: str, parent: int | None) -> int:
        """Add a group, and return its block."""
        if name in self.names[level]:
            raise UsageError(f"There is a group '{name}' on level {level} already; choose another name, or merge them.")
        self.names[level].append(name)
        if parent is not None:
            self.parent[level] = np.append(self.parent[level], parent)
        return len(self.names[level]) - 1

    def under(self, level: int, block: int) -> list[int]:
        """Return the children of a group."""
        return np.flatnonzero(self.parent[level - 1] == block).tolist()

    def tree(self) -> Hierarchy:
        """Return the tree; groups that lost all they held are gone."""
        columns, at = [self.names[0]], np.arange(len(self.names[0]))
        for names, parent in zip(self.names[1:], self.parent, strict=True):
            at = parent[at]
            columns.append([names[block] for block in at.tolist()])
        return Hierarchy.from_rows(zip(*columns, strict=True))


def rename(tree: Hierarchy, level: Any, name: Any, to: Any) -> Hierarchy:
    """Give a group another name; where it stands on several levels by itself, on all of them.

    >>> tree = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"]])
    >>> rename(tree, 1, "x", "first").rows()
    [['a', 'first', '*'], ['b', 'first', '*'], ['c', 'y', '*']]
    """
    nodes, new = _Nodes(tree), check_name(to)
    block = nodes.find(level, name, highest=nodes.height - 1)
    chain = [(level, block), *_chain(nodes, level, block)]
    for place, at in chain:
        if new in nodes.names[place] and nodes.names[place].index(new) != at:
            raise UsageError(f"There is a group '{new}' on level {place} already; choose another name, or merge them.")
    for place, at in chain:
        nodes.names[place][at] = new
    return nodes.tree()


def merge(tree: Hierarchy, level: Any, names: Any, to: Any) -> Hierarchy:
    """Make one group of several on a level, under the parent of the first; values go into a new group together.

    >>> tree = Hierarchy.from_rows([["a", "x"], ["b", "y"], ["c", "z"]])
    >>> merge(tree, 1, ["x", "z"], "xz").rows()
    [['a', 'xz', '*'], ['c', 'xz', '*'], ['b', 'y', '*']]
    """
    if level == 0:
        return move(tree, level, names, to)
    nodes, new = _Nodes(tree), check_name(to)
    blocks = nodes.find_all(level, names, lowest=1, highest=nodes.height - 1)
    if len(blocks) < 2:
        raise UsageError("Choose two groups or more to merge.")
    if new in nodes.names[level] and nodes.names[level].index(new) not in blocks:
        raise UsageError(f"There is a group '{new}' on level {level} already; choose it too, or another name.")
    below = nodes.parent[level - 1]
    below[np.isin(below, blocks)] = blocks[0]
    for block in blocks[1:]:
        nodes.names[level][block] = ""
    nodes.names[level][blocks[0]] = new
    return nodes.tree()


def split(tree: Hierarchy, level: Any, name: Any, parts: Any) -> Hierarchy:
    """Make new groups of some children of a group, beside it; children that are not named stay.

    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "x", "*"]])
    >>> split(tree, 1, "x", {"new": ["a", "c"]}).rows()
    [['a', 'new', '*'], ['c', 'new', '*'], ['b', 'x', '*']]
    """
    nodes = _Nodes(tree)
    block = nodes.find(level, name, highest=nodes.height - 1)
    if not isinstance(parts, Mapping) or not parts:
        raise UsageError("Say which new groups there are, and what goes into each.")
    children = set(nodes.under(level, block))
    parent = int(nodes.parent[level][block])
    for new, members in parts.items():
        chosen = nodes.find_all(level - 1, members)
        if not children.issuperset(chosen):
            raise UsageError(f"Only what is in '{name}' can be split from it; move the others instead.")
        children -= set(chosen)
        if not children and check_name(new) == name:
            continue
        nodes.parent[level - 1][chosen] = nodes.new(level, check_name(new), parent)
    return nodes.tree()


def move(tree: Hierarchy, level: Any, names: Any, to: Any) -> Hierarchy:
    """Put groups or values into a group of the level above; one of a new name is made beside the first one's parent.

    >>> tree = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"]])
    >>> move(tree, 0, ["b"], "y").rows()
    [['a', 'x', '*'], ['b', 'y', '*'], ['c', 'y', '*']]
    """
    nodes, new = _Nodes(tree), check_name(to)
    check_level(level, 0, nodes.height - 1)
    if level + 1 >= nodes.height:
        raise UsageError("There is no level of groups above; add a level first.")
    blocks = nodes.find_all(level, names)
    above = nodes.names[level + 1]
    if new in above:
        target = above.index(new)
    else:
        target = nodes.new(level + 1, new, int(nodes.parent[level + 1][nodes.parent[level][blocks[0]]]))
    nodes.parent[level][blocks] = target
    return nodes.tree()


def add_level(tree: Hierarchy, above: Any, groups: Any = None) -> Hierarchy:
    """Add a level above one, on which everything stands by itself at first, or in the groups that are told.

    >>> tree = Hierarchy.from_rows([["a"], ["b"], ["c"]])
    >>> add_level(tree, 0, {"ab": ["a", "b"]}).rows()
    [['a', 'ab', '*'], ['b', 'ab', '*'], ['c', 'c', '*']]
    """
    nodes = _Nodes(tree)
    check_level(above, 0, nodes.height - 1)
    if nodes.height >= _MOST_LEVELS:
        raise UsageError(f"A hierarchy of {_MOST_LEVELS} levels is high enough; remove one first.")
    below = nodes.names[above]
    nodes.names.insert(above + 1, list(below))
    nodes.parent.insert(above, np.arange(len(below)))
    if groups is not None and not isinstance(groups, Mapping):
        raise UsageError("Say which groups there are, and what goes into each.")
    result = nodes.tree()
    for name, members in (groups or {}).items():
        result = move(result, above, members, name)
    return result


def remove_level(tree: Hierarchy, level: Any) -> Hierarchy:
    """Remove a level between the values and the top.

    >>> tree = Hierarchy.from_rows([["a", "x", "z"], ["b", "y", "z"]])
    >>> remove_level(tree, 1).rows()
    [['a', 'z'], ['b', 'z']]
    """
    nodes = _Nodes(tree)
    check_level(level, 1, nodes.height - 1)
    nodes.parent[level - 1] = nodes.parent[level][nodes.parent[level - 1]]
    del nodes.names[level], nodes.parent[level]
    return nodes.tree()


EDITS: dict[str, tuple[Callable[..., Hierarchy], tuple[str, ...], tuple[str, ...]]] = {
    "rename": (rename, ("level", "name", "to"), ()),
    "merge": (merge, ("level", "names", "to"), ()),
    "split": (split, ("level", "name", "parts"), ()),
    "move": (move, ("level", "names", "to"), ()),
    "add-level": (add_level, ("above",), ("groups",)),
    "remove-level": (remove_level, ("level",), ()),
}
"""Each edit: what it does, what must be told and what may be."""


def edit(tree: Hierarchy, told: Any) -> Hierarchy:
    """Make the edit a request tells."""
    if not isinstance(told, Mapping) or not isinstance(told.get("op"), str) or told["op"] not in EDITS:
        raise UsageError(f"An edit is one of {', '.join(EDITS)}.")
    function, needed, more = EDITS[told["op"]]
    for name in needed:
        if name not in told:
            raise UsageError(f"To {told['op'].replace('-', ' ')}, '{name}' must be told.")
    return function(tree, **{name: told[name] for name in (*needed, *more) if name in told})


def check_level(level: Any, lowest: int, highest: int) -> None:
    """Refuse a level on which there is nothing to edit."""
    if isinstance(level, bool) or not isinstance(level, int) or not lowest <= level <= highest:
        if highest < lowest:
            raise UsageError("There is no level between the values and the top; add a level first.")
        raise UsageError(f"This is done on the levels {lowest} to {highest}.")


def check_name(given: Any) -> str:
    """Refuse what is no name."""
    if not isinstance(given, str) or not given.strip():
        raise UsageError("A group needs a name.")
    if len(given) > _LONGEST:
        raise UsageError(f"The name of a group has {_LONGEST} characters at most.")
    return given.strip()


def _chain(nodes: _Nodes, level: int, block: int) -> list[tuple[int, int]]:
    """Return the same group on the levels above and below, where it holds nothing but itself."""
    name, found = nodes.names[level][block], []
    place, at = level, block
    while place > 1 and len(below := nodes.under(place, at)) == 1 and nodes.names[place - 1][below[0]] == name:
        place, at = place - 1, below[0]
        found.append((place, at))
    place, at = level, block
    while place + 1 < nodes.height:
        above = int(nodes.parent[place][at])
        if nodes.names[place + 1][above] != name or len(nodes.under(place + 1, above)) != 1:
            break
        place, at = place + 1, above
        found.append((place, at))
    return found


def _distinct(labels: Sequence[str]) -> list[str]:
    """Return the names of a level, with a number behind those that are there already."""
    if len(set(labels)) == len(labels):
        return list(labels)
    seen: set[str] = set()
    found = []
    for label in labels:
        name, number = label, 2
        while name in seen:
            name, number = f"{label} ({number})", number + 1
        seen.add(name)
        found.append(name)
    return found


class _View:
    """A bound hierarchy with how many rows are under each of its nodes."""

    def __init__(self, domain: Domain, rows: NDArray[np.int64]) -> None:
        self.domain = domain
        leaves = domain.ancestors.shape[1]
        self.leaf_rows = add_up(domain.codes, rows, leaves)
        self.rows, self.leaves, self.children = [], [], []
        for level, blocks in enumerate(domain.ancestors):
            count = len(domain.labels[level])
            self.rows.append(add_up(blocks, self.leaf_rows, count))
            self.leaves.append(np.bincount(blocks, minlength=count))
            if level:
                below, first = np.unique(domain.ancestors[level - 1], return_index=True)
                above = blocks[first]
                order = np.argsort(above, kind="stable")
                ends = np.searchsorted(above[order], np.arange(1, count))
                self.children.append(np.split(below[order], ends))

    def node(self, level: int, block: int) -> dict[str, Any]:
        name = self.domain.labels[level][block]
        return {
            "level": level,
            "block": block,
            "name": "missing" if name is None else name,
            "missing": name is None,
            "count": int(self.rows[level][block]),
            "leaves": int(self.leaves[level][block]),
            "repeats": bool(self.domain.repeats[level][block]),
        }

    def under(self, level: int, block: int, offset: int, limit: int) -> tuple[list[int], int]:
        """Return some children of a node, and how many come after them."""
        found = self.children[level - 1][block]
        return found[offset : offset + limit].tolist(), max(0, len(found) - offset - limit)


def tree_of(
    domain: Domain, rows: NDArray[np.int64], level: int | None = None, block: int = 0, offset: int = 0
) -> dict[str, Any]:
    """Return a node with what is under it, level by level until it is much; ``more`` children are not told."""
    view = _View(domain, rows)
    top = domain.height if level is None else level
    if not 0 <= top <= domain.height or not 0 <= block < len(domain.labels[top]):
        raise UsageError("There is no such group; load the page again.")
    root = view.node(top, block)
    waiting, told = [root], 1
    while waiting:
        node = waiting.pop(0)
        if node["level"] == 0:
            continue
        limit = min(_CHILDREN, _NODES - told) if node is not root else _CHILDREN
        if limit <= 0:
            node["children"], node["more"] = [], len(view.children[node["level"] - 1][node["block"]])
            continue
        blocks, more = view.under(node["level"], node["block"], offset if node is root else 0, limit)
        node["children"], node["more"] = [view.node(node["level"] - 1, child) for child in blocks], more
        told += len(blocks)
        waiting += node["children"]
    return root


def table_of(domain: Domain, rows: NDArray[np.int64], offset: int, limit: int) -> dict[str, Any]:
    """Return some lines of the hierarchy as a table, the value first, and how many rows have each value."""
    leaves = domain.ancestors.shape[1]
    leaf_rows = add_up(domain.codes, rows, leaves)
    places = np.arange(min(offset, leaves), min(offset + limit, leaves))
    columns = [
        [domain.labels[level][block] for block in blocks[places].tolist()]
        for level, blocks in enumerate(domain.ancestors)
    ]
    return {
        "offset": offset,
        "total": leaves,
        "rows": [list(line) for line in zip(*columns, strict=True)],
        "counts": leaf_rows[places].tolist(),
    }
