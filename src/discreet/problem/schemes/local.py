"""Local recoding: each class recodes its values by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.counts import CodedAttribute
from discreet.errors import UnsupportedCombinationError
from discreet.problem.schemes._base import SCHEMES, Partition, Scheme
from discreet.problem.schemes._numbers import bell
from discreet.problem.schemes._tree import blocks_of
from discreet.runtime.arguments import one_of

__all__ = ["Local"]


@SCHEMES.register
@dataclass(frozen=True)
class Local(Scheme):
    """Equal values may be recoded differently in different classes.

    No single partition describes such a recoding, so partitions are not enumerated. Any partition is allowed, as a
    recoding that is the same in all classes, and ``count`` is the number of those.

    Each class shows a ``cover`` of its values: the lowest node of the hierarchy above them; without a hierarchy, the
    range of numbers and dates and the set of texts. Or it shows one value instead, known as microaggregation: the
    ``mean``, the ``median`` or the ``mode`` of numbers and dates, and always the mode of text. Of equally frequent
    values the first is the mode.

    With ``ends=rounded`` the ends of ranges are rounded outward to a grid of round numbers or calendar units, so that
    they are not values of people in the class; the cost is that of the rounded ranges. A class whose rows all have the
    same value shows it.

    If promises count people, all rows of a person are in one class. With ``people=apart`` they may be in several, each
    of which has enough people.

    >>> Local().text, Local(show="mean").text
    ('local', 'local(show=mean)')
    """

    name = "local"
    examples = (
        "local",
        "local(show=mean)",
        "local(show=median)",
        "local(show=mode)",
        "local(ends=rounded)",
        "local(people=apart)",
    )
    title = "Each group by itself"
    summary = "The same age may be a range in one group and exact in another. Keeps most; harder to analyse."
    rank = 70
    uses_hierarchy = False
    is_global = False

    show: str = "cover"
    ends: str = "exact"
    people: str = "together"

    def __post_init__(self) -> None:
        one_of(self.show, "What a class shows under the scheme local", ("cover", "mean", "median", "mode"))
        one_of(self.ends, "The ends of ranges under the scheme local", ("exact", "rounded"))
        one_of(self.people, "Where the rows of a person are under the scheme local", ("together", "apart"))
        if self.rounds_ends and self.show != "cover":
            raise UnsupportedCombinationError(
                "Rounded ends of ranges", f"the scheme local(show={self.show}), which shows none", "choose one of both"
            )

    @property
    def shows(self) -> str:
        """The released value of a class."""
        return self.show

    @property
    def rounds_ends(self) -> bool:
        """Whether the ends of ranges are rounded."""
        return self.ends == "rounded"

    @property
    def parts_people(self) -> bool:
        """Whether the rows of a person may be in several classes."""
        return self.people == "apart"

    def count(self, attribute: CodedAttribute) -> int:
        """Return the Bell number of the values: the global recodings among the local ones."""
        return bell(attribute.leaves)

    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Raise an error: a local recoding is not a partition."""
        raise UnsupportedCombinationError(
            "The scheme local", "a search over partitions", "choose a local solver or the scheme set"
        )

    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether each value is in exactly one block."""
        return blocks_of(attribute, partition) is not None
