"""The settings of a project: how its table is read, roles, types, hierarchies and goals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.runtime.table_path import ReadOptions
from discreet.schema import Hierarchy, Role
from discreet.studio._goals import Goals

__all__ = ["Form", "Settings"]

Form = str | Hierarchy
"""A hierarchy: the text form of a builder, or a tree that was edited or imported."""


@dataclass(frozen=True)
class Settings:
    """Settings of a project. Immutable: a change makes a new object."""

    name: str
    roles: Mapping[str, Role]
    types: Mapping[str, str] = field(default_factory=dict)
    hierarchies: Mapping[str, Form] = field(default_factory=dict)
    goals: Goals = field(default_factory=Goals)
    keep: frozenset[str] = frozenset()
    """Identifying columns that the user decided to release unchanged."""
    reading: ReadOptions = field(default_factory=ReadOptions)
    """How the table is read."""
    derive: Mapping[str, str] = field(default_factory=dict)
    """Columns whose values are replaced before anything else, and how."""
    pseudonyms: bool = False
    """Whether the columns that say whose row it is are released as random pseudonyms."""

    def columns(self, role: Role) -> list[str]:
        """Columns with a role, in table order."""
        return [column for column, own in self.roles.items() if own is role]
