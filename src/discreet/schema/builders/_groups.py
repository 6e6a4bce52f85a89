"""Trees written out by hand: groups of values, groups of groups, and values in a given order."""

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
from discreet.schema.builders._base import Builder

__all__ = ["Groups", "Ordered", "groups", "ordered"]


def groups(tree: Sequence[Any] | Mapping[Any, Any]) -> Groups:
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
    return Groups(tree)


def ordered(tree: Sequence[Any] | Mapping[Any, Any]) -> Ordered:
    """Give text an order, lowest first; nested lists or mappings group it as :func:`groups` does.

    >>> ordered(["low", "middle", "high"]).hierarchy.leaves
    ['low', 'middle', 'high']
    """
    return Ordered(tree)


@dataclass(frozen=True)
class Groups(Builder):
    """See :func:`groups`."""

    name: ClassVar[str] = "groups"
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

    def settings(self) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Return the tree."""
        return [self.tree], {}

    @property
    def shown(self) -> str:
        """The text form with the values counted: they, and names made of them, are values of the data.

        >>> groups({"Government": ["State-gov", "Local-gov"], "Other": ["Private"]}).shown
        'groups(3 values)'
        """
        leaves = len(self.hierarchy.leaves)
        return f"{self.name}({leaves:,} value{'s' * (leaves != 1)})"

    def build(self, values: pl.Series, type: Type | None = None, name: str = "values") -> Hierarchy:  # noqa: A002
        """Return the tree as it was written, whatever the values are."""
        return self.hierarchy


@dataclass(frozen=True)
class Ordered(Groups):
    """See :func:`ordered`."""

    name: ClassVar[str] = "ordered"

    def __hash__(self) -> int:
        return hash(self.text)


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
