"""The base class of generalization schemes: a set of valid partitions of one attribute's leaves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.errors import UsageError
from discreet.runtime.parts import Family, Part

__all__ = ["SCHEMES", "Partition", "RunScheme", "Scheme", "SetScheme", "make_schemes", "scheme_of_each"]

Partition = tuple[tuple[int, ...], ...]
"""Blocks of leaf codes; leaves ascending in a block, blocks by their first leaf."""


class Scheme(Part, ABC):
    """The valid partitions of an attribute's leaves into blocks.

    A scheme is searched by every solver that names it, and by ``partitions`` if it is a :class:`RunScheme` or a
    :class:`SetScheme`.
    """

    uses_hierarchy: ClassVar[bool] = True
    """The valid partitions depend on the attribute's hierarchy.

    If it is wrong, an attribute without a hierarchy gets none, or gets one that nobody needs.
    """
    uses_order: ClassVar[bool] = False
    """The valid partitions depend on the order of the attribute's values.

    If it is wrong, the report does not say that text was joined in the order of the alphabet.
    """
    flat: ClassVar[bool] = False
    """A value is shown as it is or not at all: whatever hierarchy there is, only its leaves and one root are used.

    If it is wrong, groups show nodes of hierarchies that the scheme does not have, or hide more than they need to.
    """
    is_global: ClassVar[bool] = True
    """Equal values are always recoded alike, so that one partition describes the whole recoding.

    If it is wrong, solvers and recoding take a local scheme for a global one.
    """

    @property
    def shows(self) -> str:
        """The released value of a class: a ``cover`` of its values, or one value such as their ``mean``.

        If it is wrong, limits on levels and costs of distances are taken or refused where they should not be.
        """
        return "cover"

    @property
    def rounds_ends(self) -> bool:
        """The ends of ranges are rounded outward, to a grid that no single value decides.

        If it is wrong, ranges show the exact values of people, or cost more than they show.
        """
        return False

    @property
    def parts_people(self) -> bool:
        """The rows of a person may be in several classes, by different recodings of equal values.

        If it is wrong, several tables show one row of a person in two ways, or are refused without need.
        """
        return False

    @property
    def most_hidden(self) -> int | None:
        """The most cells of a row that may be hidden; None if there is no limit.

        If it is wrong, rows hide more than they may.
        """
        return None

    @abstractmethod
    def count(self, attribute: CodedAttribute) -> int:
        """Return how many different partitions are valid."""

    def formal_count(self, attribute: CodedAttribute) -> int:
        """Return the number of partitions as papers count them: a node with a single child is a choice of its own."""
        return self.count(attribute)

    @abstractmethod
    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Yield each valid partition exactly once."""

    @abstractmethod
    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether a partition is valid, without enumerating them."""


class RunScheme(Scheme):
    """A scheme whose blocks are valid runs of the leaves in one order; any partition into such runs is valid."""

    def order(self, attribute: CodedAttribute) -> IntArray:
        """Return the leaves in the order in which every valid block is a run; by default the order of their codes."""
        return np.arange(attribute.leaves)

    @abstractmethod
    def runs(self, attribute: CodedAttribute) -> tuple[IntArray, IntArray]:
        """Return the positions of the first and the last leaf of every valid block in the order."""


class SetScheme(Scheme):
    """A scheme whose blocks are valid sets of leaves; any partition into such sets is valid."""

    @abstractmethod
    def sets(self, attribute: CodedAttribute, leaves: Sequence[int]) -> tuple[IntArray, IntArray]:
        """Return the intersections of valid blocks with ``leaves``, and the size of the smallest block of each.

        Bit ``i`` of an intersection says whether it holds ``leaves[i]``.
        """

    @abstractmethod
    def closure(self, attribute: CodedAttribute, leaves: Sequence[int]) -> tuple[int, ...]:
        """Return the smallest valid block that holds all of ``leaves``."""


Choice = str | Scheme | Mapping[str, str | Scheme]
"""One scheme for all columns, or one for each of some."""


def make_schemes(choice: Choice) -> Scheme | dict[str, Scheme]:
    """Return the schemes of text forms; an error names the column.

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
    """Return the scheme of each column; columns that a mapping leaves out are full-domain.

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
