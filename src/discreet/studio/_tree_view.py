"""A hierarchy as the page draws it: nodes with their rows and lasting ids, a part at a time, and a search in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UsageError
from discreet.report.plain_labels import plain_label
from discreet.runtime.integer_codes import add_up
from discreet.schema import Domain, Type

__all__ = ["TreeView", "table_page"]

_CHILDREN = 60
"""Most children of a group in one answer, unless the page showed more before."""
_NODES = 400
"""Most nodes of a tree in one answer."""
_MATCHES = 200
"""Most matches of a search that are shown."""
_ALL = "*"
"""The usual name of the group of all values."""
_ROOT, _MISSING = "\0root", "\0missing"
"""Ids of nodes that have no name of their own."""


class TreeView:
    """A domain with the number of rows under each node of its hierarchy.

    A node that repeats its only child under the same name is the same node. Ids are names: an edit that inserts a
    level, or moves a node, does not change them.
    """

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
                if domain.type is Type.TEXT:  # text has no order to keep, and groups are easier to find at the top
                    order = np.lexsort((np.arange(len(above)), self.leaves[level - 1][below] == 1, above))
                ends = np.searchsorted(above[order], np.arange(1, count))
                self.children.append(np.split(below[order], ends))
        self.ids = self._ids()

    def _ids(self) -> list[list[str]]:
        """The id of each block: its name, numbered where nodes on several levels share it."""
        seen: dict[str, int] = {}
        found: list[list[str]] = []
        for level, names in enumerate(self.domain.labels):
            repeats = self.domain.repeats[level]
            own: list[str] = []
            for block, name in enumerate(names):
                if level == self.domain.height:
                    own.append(_ROOT)
                elif repeats[block]:
                    own.append(found[level - 1][int(self.children[level - 1][block][0])])
                else:
                    key = _MISSING if name is None else name
                    seen[key] = number = seen.get(key, -1) + 1
                    own.append(f"{key}\0{number}" if number else key)
            found.append(own)
        return found

    def find(self, name: str) -> str | None:
        """The id of the group with a name; None if there is none."""
        for level in range(self.domain.height - 1, 0, -1):
            if name in self.domain.labels[level]:
                return self.ids[level][self.domain.labels[level].index(name)]
        return None

    def node(self, level: int, block: int) -> dict[str, Any]:
        """A node without its children."""
        name = self.domain.labels[level][block]
        top = level == self.domain.height and name == _ALL
        return {
            "id": self.ids[level][block],
            "level": level,
            "block": block,
            "name": "missing" if name is None else name,
            "label": "missing" if name is None else "everything (*)" if top else plain_label(name, self.domain.type),
            "missing": name is None,
            "count": int(self.rows[level][block]),
            "leaves": int(self.leaves[level][block]),
            "repeats": bool(self.domain.repeats[level][block]),
        }

    def subtree(
        self,
        level: int | None = None,
        block: int = 0,
        offset: int = 0,
        loaded: Mapping[str, int] | None = None,
        reveal: str | None = None,
    ) -> dict[str, Any]:
        """A node with its descendants, breadth first up to a limit; ``more`` counts the children left out.

        ``loaded`` has the number of children the page showed of nodes, which are shown again, and ``reveal`` is the id
        of a node that must be among them.
        """
        top = self.domain.height if level is None else level
        if not 0 <= top <= self.domain.height or not 0 <= block < len(self.domain.labels[top]):
            raise UsageError("There is no such group; load the page again.")
        path = self._path(reveal)
        root = self.node(top, block)
        waiting, nodes = [root], 1
        while waiting:
            node = waiting.pop(0)
            if node["level"] == 0:
                continue
            all_children = self.children[node["level"] - 1][node["block"]]
            start = offset if node is root else 0
            wanted = self._wanted(node, all_children, loaded or {}, path)
            limit = max(wanted, min(_CHILDREN, _NODES - nodes) if node is not root else _CHILDREN)
            blocks = all_children[start : start + max(0, limit)].tolist()
            node["children"] = [self.node(node["level"] - 1, child) for child in blocks]
            node["more"] = max(0, len(all_children) - start - len(blocks))
            nodes += len(blocks)
            waiting += node["children"]
        return root

    def _wanted(
        self, node: Mapping[str, Any], children: NDArray[np.int64], loaded: Mapping[str, int], path: Mapping[int, int]
    ) -> int:
        """How many children must be shown: as many as before, and the one on the way to the node to reveal."""
        before = loaded.get(node["id"], 0)
        below = node["level"] - 1
        if path.get(node["level"]) == node["block"] and below in path:
            return max(before, int(np.flatnonzero(children == path[below])[0]) + 1)
        return before

    def _path(self, reveal: str | None) -> dict[int, int]:
        """The block of a node and of each of its ancestors, by level."""
        for level, ids in enumerate(self.ids[:-1]):
            if reveal in ids:
                leaf = int(np.flatnonzero(self.domain.ancestors[level] == ids.index(reveal))[0])
                return {
                    above: int(blocks[leaf]) for above, blocks in enumerate(self.domain.ancestors) if above >= level
                }
        return {}

    def search(self, text: str, reveal: str | None = None) -> dict[str, Any]:
        """The nodes whose name contains a text, under their ancestors, as a tree with the number of matches."""
        wanted = text.casefold()
        matches: list[tuple[int, int]] = []
        for level in range(self.domain.height - 1, -1, -1):
            for block, name in enumerate(self.domain.labels[level]):
                shown = "missing" if name is None else f"{name}\0{plain_label(name, self.domain.type)}"
                matching = wanted in shown.casefold() or self.ids[level][block] == reveal
                if matching and not self.domain.repeats[level][block]:
                    matches.append((level, block))
        keep: list[set[int]] = [set() for _ in self.domain.labels]
        for level, block in matches[:_MATCHES]:
            leaf = int(np.flatnonzero(self.domain.ancestors[level] == block)[0])
            for above in range(level, self.domain.height + 1):
                keep[above].add(int(self.domain.ancestors[above][leaf]))
        return {**self._kept(self.domain.height, 0, keep), "matches": len(matches), "most": _MATCHES}

    def _kept(self, level: int, block: int, keep: list[set[int]]) -> dict[str, Any]:
        node = self.node(level, block)
        if not level:
            return node
        children = self.children[level - 1][block].tolist()
        kept = [child for child in children if child in keep[level - 1]]
        node["children"] = [self._kept(level - 1, child, keep) for child in kept]
        node["more"], node["hidden"] = 0, len(children) - len(kept)
        return node


def table_page(domain: Domain, rows: NDArray[np.int64], offset: int, limit: int) -> dict[str, Any]:
    """Page of the hierarchy as a table, one line per value, with the number of rows of each."""
    leaves = domain.ancestors.shape[1]
    leaf_rows = add_up(domain.codes, rows, leaves)
    page = np.arange(min(offset, leaves), min(offset + limit, leaves))
    columns = [
        [domain.labels[level][block] for block in blocks[page].tolist()]
        for level, blocks in enumerate(domain.ancestors)
    ]
    return {
        "offset": offset,
        "total": leaves,
        "rows": [list(line) for line in zip(*columns, strict=True)],
        "counts": leaf_rows[page].tolist(),
    }
