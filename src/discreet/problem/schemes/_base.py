"""What a generalization scheme is: a set of valid partitions of one attribute's leaves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from discreet.counts import CodedAttribute
from discreet.problem._family import Family, Part

__all__ = ["SCHEMES", "Partition", "Scheme"]

Partition = tuple[tuple[int, ...], ...]
"""Blocks of leaf codes; leaves ascending in a block, blocks by their first leaf."""


class Scheme(Part, ABC):
    """Which partitions of an attribute's leaves are valid."""

    uses_hierarchy: ClassVar[bool] = True
    """Whether the valid partitions depend on the attribute's hierarchy."""
    is_global: ClassVar[bool] = True
    """Equal values are always recoded alike, so that one partition describes the whole recoding."""

    @abstractmethod
    def count(self, attribute: CodedAttribute) -> int:
        """Return how many different partitions are valid."""

    def formal_count(self, attribute: CodedAttribute) -> int:
        """Return the size of the space as the papers print it (cuts count single-child nodes)."""
        return self.count(attribute)

    @abstractmethod
    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Yield each valid partition exactly once."""

    @abstractmethod
    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether one partition is valid, without enumerating."""


SCHEMES: Family[Scheme] = Family("scheme", Scheme, "discreet.problem.schemes")  # type: ignore[type-abstract]
