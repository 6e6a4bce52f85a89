"""Text in an order that was written out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.schema.builders._base import BUILDERS
from discreet.schema.builders.groups import GroupTree

__all__ = ["OrderedTree", "ordered"]


def ordered(tree: Sequence[Any] | Mapping[Any, Any]) -> OrderedTree:
    """Give text an order, lowest first; nested lists or mappings group it as :func:`groups` does.

    >>> ordered(["low", "middle", "high"]).hierarchy.leaves
    ['low', 'middle', 'high']
    """
    return OrderedTree(tree)


@BUILDERS.register
@dataclass(frozen=True)
class OrderedTree(GroupTree):
    """Text in a given order, lowest first; nested lists or mappings group it."""

    name: ClassVar[str] = "ordered"
    examples: ClassVar[tuple[str, ...]] = ("ordered([low, middle, high])",)
    title: ClassVar[str] = "An order of my own"
    summary: ClassVar[str] = "Values in an order, lowest first, so that neighbours can be joined."
    types: ClassVar[tuple[str, ...]] = ("text",)
    rank: ClassVar[int] = 80
    in_studio: ClassVar[bool] = False

    def __hash__(self) -> int:
        return hash(self.text)
