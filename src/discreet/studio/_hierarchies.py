"""Edits of a hierarchy: pure functions from tree to tree, so that undo only has to keep the old one.

A group of values is identified by its level and its name, which is unique on that level. Level 0 holds the values
themselves and the top level the single group of all values; neither is ever changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UsageError, did_you_mean
from discreet.schema import Hierarchy

__all__ = ["EDITS", "add_level", "edit", "group", "merge", "move", "place", "remove_level", "rename", "split"]

_LONGEST = 200
_MOST_LEVELS = 20


class _EditableTree:
    """A tree as lists: ``names[level][block]`` and ``parent[level][block]``, a block of the level above."""

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
        """Block of a group; raises UsageError if there is none."""
        top = self.height if highest is None else highest
        check_level(level, lowest, top)
        try:
            return self.names[level].index(name)
        except ValueError:
            hint = "" if level == 0 else did_you_mean(str(name), self.names[level])
            raise UsageError(f"There is no such group on level {level}; {hint or 'load the page again.'}") from None

    def find_all(self, level: Any, names: Any, *, lowest: int = 0, highest: int | None = None) -> list[int]:
        """Blocks of several groups."""
        if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
            raise UsageError("Choose at least one group.")
        return [self.find(level, name, lowest=lowest, highest=highest) for name in dict.fromkeys(names)]

    def new(self, level: int, name: str, parent: int | None) -> int:
        """Add a group and return its block."""
        if name in self.names[level]:
            raise UsageError(_taken(name, level))
        self.names[level].append(name)
        if parent is not None:
            self.parent[level] = np.append(self.parent[level], parent)
        return len(self.names[level]) - 1

    def children(self, level: int, block: int) -> list[int]:
        """Blocks of the children of a group."""
        return np.flatnonzero(self.parent[level - 1] == block).tolist()

    def members(self, given: Any) -> list[tuple[int, int]]:
        """Level and block of entries given as mappings with ``level`` and ``name``."""
        if not isinstance(given, list | tuple) or not given or not all(isinstance(each, Mapping) for each in given):
            raise UsageError("Choose at least one entry.")
        found = [
            (each.get("level"), self.find(each.get("level"), each.get("name"), lowest=0, highest=self.height - 1))
            for each in given
        ]
        return list(dict.fromkeys(found))

    def insert_level(self, above: int) -> None:
        """Insert a copy of a level above it."""
        if self.height >= _MOST_LEVELS:
            raise UsageError(f"A hierarchy can have {_MOST_LEVELS} levels at most; remove one first.")
        below = self.names[above]
        self.names.insert(above + 1, list(below))
        self.parent.insert(above, np.arange(len(below)))

    def raised(self, level: int, block: int, to: int) -> int:
        """Block of an entry on a higher level, where it stands alone in groups of its own name."""
        name, at = self.names[level][block], block
        for above in range(level + 1, to + 1):
            if name not in self.names[above]:
                own = self.new(above, name, int(self.parent[above][self.parent[above - 1][at]]))
            else:
                own = self.names[above].index(name)
                if not {at}.issuperset(self.children(above, own)):
                    raise UsageError(f"Level {above} already has a group '{name}'; rename that group first.")
            self.parent[above - 1][at] = own
            at = own
        return at

    def tree(self) -> Hierarchy:
        """Hierarchy with the edits applied; groups that became empty are dropped."""
        columns, blocks = [self.names[0]], np.arange(len(self.names[0]))
        for names, parent in zip(self.names[1:], self.parent, strict=True):
            blocks = parent[blocks]
            columns.append([names[block] for block in blocks.tolist()])
        return Hierarchy.from_rows(zip(*columns, strict=True))


def rename(tree: Hierarchy, level: Any, name: Any, to: Any) -> Hierarchy:
    """Rename a group, on every level that repeats it.

    >>> tree = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"]])
    >>> rename(tree, 1, "x", "first").rows()
    [['a', 'first', '*'], ['b', 'first', '*'], ['c', 'y', '*']]
    """
    nodes, new = _EditableTree(tree), check_name(to)
    block = nodes.find(level, name, highest=nodes.height - 1)
    chain = [(level, block), *_chain(nodes, level, block)]
    for each_level, each_block in chain:
        names = nodes.names[each_level]
        if new in names and names.index(new) != each_block:
            raise UsageError(_taken(new, each_level))
    for each_level, each_block in chain:
        nodes.names[each_level][each_block] = new
    return nodes.tree()


def merge(tree: Hierarchy, level: Any, names: Any, to: Any) -> Hierarchy:
    """Merge groups of a level into one, under the parent of the first; values (level 0) are moved into a new group.

    >>> tree = Hierarchy.from_rows([["a", "x"], ["b", "y"], ["c", "z"]])
    >>> merge(tree, 1, ["x", "z"], "xz").rows()
    [['a', 'xz', '*'], ['c', 'xz', '*'], ['b', 'y', '*']]
    """
    if level == 0:
        return move(tree, level, names, to)
    nodes, new = _EditableTree(tree), check_name(to)
    blocks = nodes.find_all(level, names, lowest=1, highest=nodes.height - 1)
    if len(blocks) < 2:
        raise UsageError("Choose two groups or more to merge.")
    if new in nodes.names[level] and nodes.names[level].index(new) not in blocks:
        raise UsageError(f"Level {level} already has a group '{new}'; select it too, or choose another name.")
    below = nodes.parent[level - 1]
    below[np.isin(below, blocks)] = blocks[0]
    for block in blocks[1:]:
        nodes.names[level][block] = ""
    nodes.names[level][blocks[0]] = new
    return nodes.tree()


def split(tree: Hierarchy, level: Any, name: Any, parts: Any) -> Hierarchy:
    """Split children off a group into new groups beside it; children that are not named stay.

    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "x", "*"]])
    >>> split(tree, 1, "x", {"new": ["a", "c"]}).rows()
    [['a', 'new', '*'], ['c', 'new', '*'], ['b', 'x', '*']]
    """
    nodes = _EditableTree(tree)
    block = nodes.find(level, name, highest=nodes.height - 1)
    if not isinstance(parts, Mapping) or not parts:
        raise UsageError("Name the new groups and the members of each.")
    children = set(nodes.children(level, block))
    parent = int(nodes.parent[level][block])
    for new, members in parts.items():
        chosen = nodes.find_all(level - 1, members)
        if not children.issuperset(chosen):
            raise UsageError(f"Only members of '{name}' can be split off; move the others instead.")
        children -= set(chosen)
        if not children and check_name(new) == name:
            continue
        nodes.parent[level - 1][chosen] = nodes.new(level, check_name(new), parent)
    return nodes.tree()


def move(tree: Hierarchy, level: Any, names: Any, to: Any) -> Hierarchy:
    """Move groups or values into a group of the level above, which is created beside the parent of the first if new.

    >>> tree = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"]])
    >>> move(tree, 0, ["b"], "y").rows()
    [['a', 'x', '*'], ['b', 'y', '*'], ['c', 'y', '*']]
    """
    nodes, new = _EditableTree(tree), check_name(to)
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


def group(tree: Hierarchy, members: Any, to: Any) -> Hierarchy:
    """Put entries, of any levels, into a new group where the highest of them is.

    A level is inserted if there is none between that entry and the group it is in.

    >>> tree = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"]])
    >>> group(tree, [{"level": 0, "name": "a"}, {"level": 0, "name": "c"}], "ac").rows()
    [['a', 'ac', 'x', '*'], ['c', 'ac', 'x', '*'], ['b', 'b', 'x', '*']]
    """
    nodes, new = _EditableTree(tree), check_name(to)
    chosen = nodes.members(members)
    base, first = max(chosen, key=lambda entry: entry[0])
    alone = [(level, block) for level, block in _chain(nodes, base, first) if level > base]
    if not alone:
        nodes.insert_level(base)
        alone = [(base + 1, first)]
    blocks = [nodes.raised(level, block, base) for level, block in chosen]
    for level, block in alone:
        if new in nodes.names[level] and nodes.names[level].index(new) != block:
            raise UsageError(_taken(new, level))
        nodes.names[level][block] = new
    nodes.parent[base][blocks] = alone[0][1]
    return nodes.tree()


def place(tree: Hierarchy, members: Any, level: Any, name: Any) -> Hierarchy:
    """Move entries into a group on any level above them; at the top level that takes them out of all groups.

    >>> tree = Hierarchy.from_rows([["a", "x", "z"], ["b", "x", "z"], ["c", "y", "q"]])
    >>> place(tree, [{"level": 0, "name": "b"}], 2, "q").rows()
    [['a', 'x', 'z', '*'], ['b', 'b', 'q', '*'], ['c', 'y', 'q', '*']]
    """
    nodes = _EditableTree(tree)
    target = nodes.find(level, name)
    chosen = nodes.members(members)
    if any(own >= level for own, _ in chosen):
        raise UsageError("An entry can only be moved into a group above it.")
    blocks = [nodes.raised(own, block, level - 1) for own, block in chosen]
    nodes.parent[level - 1][blocks] = target
    return nodes.tree()


def add_level(tree: Hierarchy, above: Any, groups: Any = None) -> Hierarchy:
    """Insert a level above ``above``: a copy of the level below, with ``groups`` put together if given.

    >>> tree = Hierarchy.from_rows([["a"], ["b"], ["c"]])
    >>> add_level(tree, 0, {"ab": ["a", "b"]}).rows()
    [['a', 'ab', '*'], ['b', 'ab', '*'], ['c', 'c', '*']]
    """
    nodes = _EditableTree(tree)
    check_level(above, 0, nodes.height - 1)
    nodes.insert_level(above)
    if groups is not None and not isinstance(groups, Mapping):
        raise UsageError("Name the groups and the members of each.")
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
    nodes = _EditableTree(tree)
    check_level(level, 1, nodes.height - 1)
    nodes.parent[level - 1] = nodes.parent[level][nodes.parent[level - 1]]
    del nodes.names[level], nodes.parent[level]
    return nodes.tree()


EDITS: dict[str, tuple[Callable[..., Hierarchy], tuple[str, ...], tuple[str, ...]]] = {
    "rename": (rename, ("level", "name", "to"), ()),
    "merge": (merge, ("level", "names", "to"), ()),
    "split": (split, ("level", "name", "parts"), ()),
    "move": (move, ("level", "names", "to"), ()),
    "group": (group, ("members", "to"), ()),
    "place": (place, ("members", "level", "name"), ()),
    "add-level": (add_level, ("above",), ("groups",)),
    "remove-level": (remove_level, ("level",), ()),
}
"""Edit -> its function, required fields and optional fields."""


def edit(tree: Hierarchy, fields: Any) -> Hierarchy:
    """Apply the edit that a request describes."""
    if not isinstance(fields, Mapping) or not isinstance(fields.get("op"), str) or fields["op"] not in EDITS:
        raise UsageError(f"An edit is one of {', '.join(EDITS)}.")
    function, required, optional = EDITS[fields["op"]]
    for name in required:
        if name not in fields:
            raise UsageError(f"The edit '{fields['op']}' needs '{name}'.")
    return function(tree, **{name: fields[name] for name in (*required, *optional) if name in fields})


def _taken(name: str, level: int) -> str:
    return f"Level {level} already has a group '{name}'; choose another name, or merge the two."


def check_level(level: Any, lowest: int, highest: int) -> None:
    """Raise UsageError for a level outside the given range."""
    if isinstance(level, bool) or not isinstance(level, int) or not lowest <= level <= highest:
        if highest < lowest:
            raise UsageError("There is no level between the values and the top; add a level first.")
        raise UsageError(f"This works on levels {lowest} to {highest}.")


def check_name(given: Any) -> str:
    """Return the name of a group, stripped; raises UsageError if it is empty or too long."""
    if not isinstance(given, str) or not given.strip():
        raise UsageError("A group needs a name.")
    if len(given) > _LONGEST:
        raise UsageError(f"The name of a group can have {_LONGEST} characters at most.")
    return given.strip()


def _chain(nodes: _EditableTree, level: int, block: int) -> list[tuple[int, int]]:
    """The levels above and below that repeat a group as an only child of the same name, as (level, block)."""
    name, found = nodes.names[level][block], []
    low, at = level, block
    while low > 1 and len(below := nodes.children(low, at)) == 1 and nodes.names[low - 1][below[0]] == name:
        low, at = low - 1, below[0]
        found.append((low, at))
    high, at = level, block
    while high + 1 < nodes.height:
        above = int(nodes.parent[high][at])
        if nodes.names[high + 1][above] != name or len(nodes.children(high + 1, above)) != 1:
            break
        high, at = high + 1, above
        found.append((high, at))
    return found


def _distinct(labels: Sequence[str]) -> list[str]:
    """Names of a level made unique by appending a number to repeats."""
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
