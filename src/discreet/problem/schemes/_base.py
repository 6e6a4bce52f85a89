"""What a generalization scheme is: a set of valid partitions of one attribute's leaves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.errors import UsageError
from discreet.problem._family import Family, Part

__all__ = ["SCHEMES", "Partition", "RunScheme", "Scheme", "SetScheme", "make_schemes", "scheme_of_each"]

Partition = tuple[tuple[int, ...], ...]
"""Blocks of leaf codes; leaves ascending in a block, blocks by their first leaf."""


class Scheme(Part, ABC):
    """Which partitions of an attribute's leaves are valid."""

    uses_hierarchy: ClassVar[bool] = True
    """Whether the valid partitions depend on the attribute's hierarchy."""
    uses_order: ClassVar[bool] = False
    """Whether the valid partitions depend on the order of the attribute's values."""
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


class RunScheme(Scheme):
    """A scheme whose valid partitions are those into valid runs of one order of the leaves."""

    def order(self, attribute: CodedAttribute) -> IntArray:
        """Return the leaves in the order in which every valid block is a run; by default that of their codes."""
        return np.arange(attribute.leaves)

    @abstractmethod
    def runs(self, attribute: CodedAttribute) -> tuple[IntArray, IntArray]:
        """Return the first and the last place in the order of every valid block."""


class SetScheme(Scheme):
    """A scheme whose valid partitions are those into valid blocks, which may be any sets."""

    @abstractmethod
    def sets(self, attribute: CodedAttribute, leaves: Sequence[int]) -> tuple[IntArray, IntArray]:
        """Return the sets of some leaves that valid blocks hold, and how many leaves the smallest such block has.

        A set is a number whose bit ``i`` says whether it holds ``leaves[i]``. Other leaves a block may hold or not.
        """

    @abstractmethod
    def closure(self, attribute: CodedAttribute, leaves: Sequence[int]) -> tuple[int, ...]:
        """Return the smallest valid block that holds some leaves."""


Choice = str | Scheme | Mapping[str, str | Scheme]
"""One scheme for all columns, or one for each of some."""


def make_schemes(choice: Choice) -> Scheme | dict[str, Scheme]:
    """Return the schemes text forms stand for; an error names the column.

    >>> make_schemes({"age": "OPS", "sex": "set"})
    {'age': Ordered(), 'sex': SetPartition()}
    """
    if not isinstance(choice, Mapping):
        return SCHEMES.make(choice)
    made: dict[str, Scheme] = {}
    for column, scheme in choice.items():
        try:
            made[column] = SCHEMES.make(scheme)
        except UsageError as error:
            raise UsageError(f"The scheme of '{column}': {error.message}", column=column, topic=error.topic) from None
    return made


def scheme_of_each(columns: Sequence[str], choice: Choice) -> dict[str, Scheme]:
    """Return the scheme of each column; those a mapping leaves out are full-domain.

    >>> scheme_of_each(["age", "sex"], {"age": "ordered"})
    {'age': Ordered(), 'sex': FullDomain()}
    """
    made = make_schemes(choice)
    if isinstance(made, Scheme):
        return dict.fromkeys(columns, made)
    for column in made:
        if column not in columns:
            raise UsageError(
                f"A scheme is given for '{column}', which is not a quasi-identifier.",
                column=column,
                topic="not-a-quasi-identifier",
            )
    return {column: made.get(column) or SCHEMES.make("full-domain") for column in columns}


SCHEMES: Family[Scheme] = Family("scheme", Scheme, "discreet.problem.schemes", "discreet.schemes")  # type: ignore[type-abstract]
