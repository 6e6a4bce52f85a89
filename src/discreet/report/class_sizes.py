"""The sizes of equivalence classes, and the risk that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ClassSizes", "edges_for"]

_SMALL = (1, 2, 3)
_STEPS = (5, 10, 20)
"""Lower ends of the ranges of class sizes; beyond these they continue ten times as large."""


@dataclass(frozen=True)
class ClassSizes:
    """The distribution of class sizes: ``classes[i]`` classes have ``sizes[i]`` rows, in ascending order.

    Somebody who knows that a person is in the table, and knows their quasi-identifiers, finds their row with a chance
    of 1 in the size of its class: the prosecutor's risk. Where people are counted, sizes are numbers of people, and a
    person in several classes counts once, in the smallest of them.

    >>> sizes = ClassSizes.of(np.array([1, 1, 3, 5]))
    >>> sizes.rows, sizes.smallest, sizes.highest_risk, sizes.average_risk, sizes.unique
    (10, 1, 1.0, 0.4, 2)
    >>> sizes = ClassSizes.of(np.array([1, 1, 2]), group=np.array([0, 1, 2, 2]), person=np.array([7, 7, 7, 9]))
    >>> sizes.rows, sizes.count, sizes.average_risk, sizes.unique
    (2, 3, 0.75, 1)
    """

    sizes: tuple[int, ...] = ()
    classes: tuple[int, ...] = ()
    people: tuple[int, ...] | None = None
    """How many people have no smaller class than one of each size; None where nobody is in several classes."""

    @classmethod
    def of(
        cls,
        sizes: NDArray[np.integer[Any]],
        group: NDArray[np.integer[Any]] | None = None,
        person: NDArray[np.integer[Any]] | None = None,
    ) -> ClassSizes:
        """Count the classes of each size.

        Where somebody may be in several classes, ``person[i]`` is in class ``group[i]``, and may be there repeatedly.
        """
        every = np.asarray(sizes)
        size, classes = np.unique(every, return_counts=True)
        there = size > 0
        found = cls(tuple(size[there].tolist()), tuple(classes[there].tolist()))
        if group is None or person is None or not person.size:
            return found
        smallest = np.full(int(person.max()) + 1, every.max(initial=0) + 1, dtype=np.int64)
        np.minimum.at(smallest, person, every[group])
        people = np.bincount(smallest, minlength=int(size[-1]) + 1)[size[there]].tolist()
        return found if people == found._people else replace(found, people=tuple(people))

    @property
    def _people(self) -> list[int]:
        """The rows, or people, whose smallest class has each size."""
        if self.people is not None:
            return list(self.people)
        return [size * classes for size, classes in zip(self.sizes, self.classes, strict=True)]

    @property
    def rows(self) -> int:
        """The rows in all classes, or the people."""
        return sum(self._people)

    @property
    def count(self) -> int:
        """The number of classes."""
        return sum(self.classes)

    @property
    def smallest(self) -> int:
        """The size of the smallest class; 0 without classes."""
        return self.sizes[0] if self.sizes else 0

    @property
    def highest_risk(self) -> float:
        """The risk in the smallest class."""
        return 1 / self.smallest if self.sizes else 0.0

    @property
    def average_risk(self) -> float:
        """The mean risk over all rows, or people, each by the row that is found most easily."""
        if self.people is None:
            return self.count / self.rows if self.sizes else 0.0
        return sum(people / size for size, people in zip(self.sizes, self.people, strict=True)) / self.rows

    @property
    def unique(self) -> int:
        """The rows that are alone in their class, or the people who are alone in any."""
        return self.below(2)

    def below(self, size: int) -> int:
        """Return the number of rows, or people, in classes smaller than ``size``."""
        return sum(people for each, people in zip(self.sizes, self._people, strict=True) if each < size)

    def ranges(self, edges: tuple[int, ...]) -> list[int]:
        """Return the number of rows, or people, in classes of each range of sizes; ``edges`` are the lower ends."""
        ends = [self.below(edge) for edge in edges]
        return [after - before for before, after in zip(ends, [*ends[1:], self.rows], strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Return the risk as plain data."""
        return {
            "rows": self.rows,
            "classes": self.count,
            "smallest_class": self.smallest,
            "highest_risk": self.highest_risk,
            "average_risk": self.average_risk,
        }


def edges_for(*tables: ClassSizes) -> tuple[int, ...]:
    """Return the lower ends of ranges of class sizes that suit all tables.

    >>> edges_for(ClassSizes((1, 30), (5, 1)))
    (1, 2, 3, 5, 10, 20)
    """
    largest = max((table.sizes[-1] for table in tables if table.sizes), default=1)
    edges = [*_SMALL]
    while edges[-1] < largest:
        edges += [step * 10 ** ((len(edges) - len(_SMALL)) // len(_STEPS)) for step in _STEPS]
    return tuple(edge for edge in edges if edge <= largest)
