"""Trees written out by hand: groups of values, and groups of groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import polars as pl

from discreet.errors import UsageError
from discreet.schema._blocks import set_name
from discreet.schema._column import value_text
from discreet.schema._hierarchy import ROOT, Hierarchy
from discreet.schema._types import Type
from discreet.schema.builders._base import BUILDERS, Builder

__all__ = ["GroupTree", "groups"]


def groups(tree: Sequence[Any] | Mapping[Any, Any]) -> GroupTree:
    """Name groups of values: ``{name: members}``, nested as deep as you like; a plain list is a flat tree.

    A list inside a list is a group without a name, and is shown by its members.

    >>> print(groups({"Government": ["State-gov", "Local-gov"], "Other": ["Private"]}).hierarchy)
    * (3)
    ├── Government (2)
    │   ├── State-gov
    │   └── Local-gov
    └── Other (1)
        └── Private
    """
    return GroupTree(tree)


@BUILDERS.register
@dataclass(frozen=True)
class GroupTree(Builder):
    """Groups of values under names, nested as deep as needed; a plain list is a flat tree."""

    name: ClassVar[str] = "groups"
    examples: ClassVar[tuple[str, ...]] = ("groups({Government: [State, Local], Other: [Private]})",)
    title: ClassVar[str] = "Groups of my own"
    summary: ClassVar[str] = "Values are put into groups that have names."
    types: ClassVar[tuple[str, ...]] = ("text",)
    rank: ClassVar[int] = 70
    in_studio: ClassVar[bool] = False
    takes_tree: ClassVar[bool] = True

    tree: Any
    hierarchy: Hierarchy = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.tree, str) or not isinstance(self.tree, Sequence | Mapping):
            raise UsageError(f"{self.name} needs a list of values or a mapping from names to values.")
        top = self.tree
        if isinstance(top, Mapping) and list(top) == [ROOT]:
            top = top[ROOT]
        try:
            object.__setattr__(self, "tree", _text_tree(self.tree, self.name))
            rows = [[*path, ROOT] for path in _paths(_text_tree(top, self.name))]
        except RecursionError:
            raise UsageError(f"The groups in {self.name} are nested too deeply; use a few levels.") from None
        object.__setattr__(self, "hierarchy", Hierarchy.from_rows(rows))

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def shown(self) -> str:
        """The text form with values, and names made of them, only counted.

        >>> groups({"Government": ["State-gov", "Local-gov"], "Other": ["Private"]}).shown
        'groups(3 values)'
        """
        leaves = len(self.hierarchy.leaves)
        return f"{self.name}({leaves:,} value{'s' * (leaves != 1)})"

    def build(self, values: pl.Series, type: Type | None = None, name: str = "values") -> Hierarchy:  # noqa: A002
        """Return the tree as it was written, whatever the values are."""
        return self.hierarchy


def _text_tree(tree: Any, name: str) -> Any:
    """Return the tree with its values as text."""
    if isinstance(tree, Mapping):
        if not tree:
            raise UsageError(f"A group in {name} is empty; leave it out or give it values.")
        return {value_text(key): _text_tree(members, name) for key, members in tree.items()}
    if isinstance(tree, Sequence | set | frozenset) and not isinstance(tree, str):
        if not tree:
            raise UsageError(f"A group in {name} is empty; leave it out or give it values.")
        if isinstance(tree, set | frozenset):
            tree = sorted(tree)
        return [_text_tree(member, name) for member in tree]
    if tree is None:
        raise UsageError(f"A value in {name} is missing; missing values have a leaf of their own and are not listed.")
    return value_text(tree)


def _paths(tree: Any) -> Iterator[list[str]]:
    """Yield the names from each leaf up to the children of the root."""
    if isinstance(tree, str):
        yield [tree]
    elif isinstance(tree, dict):
        for name, members in tree.items():
            for path in _paths(members):
                yield [*path, name]
    else:
        for member in tree:
            if isinstance(member, list):
                paths = list(_paths(member))
                leaves = [path[0] for path in paths]
                name = set_name(leaves)
                yield from ([*path, name] for path in paths)
            else:
                yield from _paths(member)
