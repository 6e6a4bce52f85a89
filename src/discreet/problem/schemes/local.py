"""Local recoding: each class shows its values in its own way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.counts import CodedAttribute
from discreet.errors import UnsupportedCombinationError
from discreet.problem._checks import one_of
from discreet.problem.schemes._base import SCHEMES, Partition, Scheme
from discreet.problem.schemes._numbers import bell
from discreet.problem.schemes._tree import blocks_of

__all__ = ["Local"]


@SCHEMES.register
@dataclass(frozen=True)
class Local(Scheme):
    """Equal values may be recoded differently in different classes.

    No one partition of the values describes such a recoding, so there is nothing to enumerate. Any partition
    is allowed, as one that happens to be the same everywhere, and ``count`` is the number of those.

    Each class shows a ``cover`` of its values: the lowest node of the hierarchy above them, or without a hierarchy the
    range of numbers and dates and the set of texts. Or it shows one value in their place, which is known as
    microaggregation: the ``mean``, the ``median`` or the most frequent one (``mode``) of numbers and dates, and of text
    always the most frequent one. Of several as frequent as each other it is the first in their order.

    >>> Local().text, Local(show="mean").text
    ('local', 'local(show=mean)')
    """

    name = "local"
    uses_hierarchy = False
    is_global = False

    show: str = "cover"

    def __post_init__(self) -> None:
        one_of(self.show, "What a class shows under the scheme local", ("cover", "mean", "median", "mode"))

    def count(self, attribute: CodedAttribute) -> int:
        """Return the Bell number of the values: the global recodings among the local ones."""
        return bell(attribute.leaves)

    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Refuse: a local recoding is not a partition."""
        raise UnsupportedCombinationError(
            "The scheme local", "a search over partitions", "choose a local solver or the scheme set"
        )

    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether each value is in exactly one block."""
        return blocks_of(attribute, partition) is not None
