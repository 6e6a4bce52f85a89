"""The sizes of equivalence classes, and the risk that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
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
    of 1 in the size of its class: the prosecutor's risk.

    >>> sizes = ClassSizes.of(np.array([1, 1, 3, 5]))
    >>> sizes.rows, sizes.smallest, sizes.highest_risk, sizes.average_risk, sizes.unique
    (10, 1, 1.0, 0.4, 2)
    """

    sizes: tuple[int, ...] = ()
    classes: tuple[int, ...] = ()

    @classmethod
    def of(cls, sizes: NDArray[np.integer[Any]]) -> ClassSizes:
        """Count the classes of each size."""
        size, classes = np.unique(np.asarray(sizes), return_counts=True)
        there = size > 0
        return cls(tuple(size[there].tolist()), tuple(classes[there].tolist()))

    @property
    def rows(self) -> int:
        """The rows in all classes."""
        return sum(size * classes for size, classes in zip(self.sizes, self.classes, strict=True))

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
        """The mean risk over all rows: the number of classes divided by the number of rows."""
        return self.count / self.rows if self.sizes else 0.0

    @property
    def unique(self) -> int:
        """The rows that are alone in their class."""
        return self.below(2)

    def below(self, size: int) -> int:
        """Return the number of rows in classes smaller than ``size``."""
        return sum(s * c for s, c in zip(self.sizes, self.classes, strict=True) if s < size)

    def ranges(self, edges: tuple[int, ...]) -> list[int]:
        """Return the number of rows in classes of each range of sizes; ``edges`` are the lower ends."""
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
