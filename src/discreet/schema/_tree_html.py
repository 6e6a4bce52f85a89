"""A hierarchy as notebooks show it: a tree whose nodes open and close."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from discreet.runtime.notebook_html import card
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.schema._hierarchy import Hierarchy

__all__ = ["tree_html"]

_CHILDREN = 20
"""The most children that are shown of a node."""
_NODES = 2000
"""The most nodes of a tree that are shown."""


def tree_html(tree: Hierarchy) -> str:
    """Return a tree with the number of leaves under each node; the two highest levels are open."""
    title = f"Hierarchy of {amount(len(tree.leaves), 'value')}, {amount(tree.height, 'level')} above them"
    starts = [np.flatnonzero(np.diff(blocks, prepend=-1)) for blocks in tree.ancestors]
    ends = [np.append(begin[1:], len(tree.leaves)) for begin in starts]
    left = _NODES

    def draw(level: int, block: int) -> Iterator[str]:
        nonlocal left
        left -= 1
        begin, end = int(starts[level][block]), int(ends[level][block])
        name = tree.labels[level][block]
        while level and tree.only_child(level, begin, end) == name:
            level -= 1
        if level == 0:
            yield f"<p>{escape(name)}</p>"
            return
        opened = " open" if (level >= tree.height - 1 and len(tree.leaves) <= 200) or level == tree.height else ""
        count = amount(end - begin, "value")
        yield f'<details{opened}><summary>{escape(name)} <span class="quiet">{count}</span></summary>'
        children = range(tree.ancestors[level - 1, begin], tree.ancestors[level - 1, end - 1] + 1)
        for number, child in enumerate(children):
            if number == _CHILDREN or left <= 0:
                yield f'<p class="quiet">… {len(children) - number:,} more</p>'
                break
            yield from draw(level - 1, child)
        yield "</details>"

    drawn = "".join(draw(tree.height, 0)) if tree.leaves else "<p>*</p>"
    return card(title, f'<div class="tree">{drawn}</div>')
