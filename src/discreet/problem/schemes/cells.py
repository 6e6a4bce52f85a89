"""Cell suppression: each value of a row is shown as it is, or hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.counts import CodedAttribute
from discreet.errors import UnsupportedCombinationError
from discreet.problem.schemes._base import SCHEMES, Partition, Scheme
from discreet.problem.schemes._tree import blocks_of
from discreet.runtime.arguments import whole_number

__all__ = ["Cells"]


@SCHEMES.register
@dataclass(frozen=True)
class Cells(Scheme):
    """Single values of single rows are hidden, all others stay as they are.

    It is local recoding with flat trees: a class shows a value, or ``*`` where its rows differ. With the cost LM each
    hidden cell costs 1, or the weight of its column, which is how much the column matters. Hierarchies are not used.

    A ``*`` is a value of its own unless the privacy model says otherwise, as ``k(3, unknown=matches)`` does. With such
    a model, ``most`` limits the cells that are hidden in a row: without a limit, a few rows that hide everything match
    all others, which keeps the promise and protects nobody.

    >>> Cells().text, Cells(most=2).text
    ('cells', 'cells(most=2)')
    """

    name = "cells"
    aliases = ("cell-suppression",)
    sought_as = ("local-suppression", "localsuppression", "kanon")
    examples = ("cells", "cells(most=2)")
    title = "Single values hidden"
    summary = "Most rows stay as they are; in the others some values are hidden. Nothing becomes a range or a group."
    term = "local suppression"
    rank = 75
    uses_hierarchy = False
    is_global = False
    flat = True

    most: int | None = None

    def __post_init__(self) -> None:
        if self.most is not None:
            object.__setattr__(self, "most", whole_number(self.most, "The argument most of cells", least=1))

    @property
    def most_hidden(self) -> int | None:
        """The most cells of a row that may be hidden."""
        return self.most

    def count(self, attribute: CodedAttribute) -> int:
        """Return 2 if there is anything to hide: the global recodings among these show all values, or none."""
        return min(attribute.leaves, 2)

    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Raise an error: what is hidden differs from row to row."""
        raise UnsupportedCombinationError(
            "The scheme cells", "a search over partitions", "choose the solver auto or cells, or the scheme full-domain"
        )

    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether all values are shown, or none."""
        return blocks_of(attribute, partition) is not None and len(partition) in (1, attribute.leaves)
