"""How large the classes of a table are, and what that means for the people in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ClassSizes", "edges_for"]

_SMALL = (1, 2, 3)
_STEPS = (5, 10, 20)
"""Where the ranges of class sizes begin that people look at; further on they are ten times as large."""


@dataclass(frozen=True)
class ClassSizes:
    """How many classes have how many rows: ``classes[i]`` of them have ``sizes[i]`` rows, the smallest first.

    Whoever knows a person to be in the table, and knows its quasi-identifiers, finds the person with a chance of 1 in
    the size of its class: that is the prosecutor's risk.

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
        """The rows of the smallest class; 0 where there is none."""
        return self.sizes[0] if self.sizes else 0

    @property
    def highest_risk(self) -> float:
        """The risk of those in the smallest class."""
        return 1 / self.smallest if self.sizes else 0.0

    @property
    def average_risk(self) -> float:
        """The mean risk of all people, which is the number of classes over that of rows."""
        return self.count / self.rows if self.sizes else 0.0

    @property
    def unique(self) -> int:
        """The people nobody looks like."""
        return self.below(2)

    def below(self, size: int) -> int:
        """Return how many people are in classes of fewer rows than ``size``."""
        return sum(s * c for s, c in zip(self.sizes, self.classes, strict=True) if s < size)

    def ranges(self, edges: tuple[int, ...]) -> list[int]:
        """Return how many people are in classes of each range of sizes, which begin at ``edges``."""
        ends = [self.below(edge) for edge in edges]
        return [after - before for before, after in zip(ends, [*ends[1:], self.rows], strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Return what is said about the risk as plain data."""
        return {
            "rows": self.rows,
            "classes": self.count,
            "smallest_class": self.smallest,
            "highest_risk": self.highest_risk,
            "average_risk": self.average_risk,
        }


def edges_for(*tables: ClassSizes) -> tuple[int, ...]:
    """Return where the ranges begin that show the class sizes of some tables side by side.

    >>> edges_for(ClassSizes((1, 30), (5, 1)))
    (1, 2, 3, 5, 10, 20)
    """
    largest = max((table.sizes[-1] for table in tables if table.sizes), default=1)
    edges = [*_SMALL]
    while edges[-1] < largest:
        edges += [step * 10 ** ((len(edges) - len(_SMALL)) // len(_STEPS)) for step in _STEPS]
    return tuple(edge for edge in edges if edge <= largest)
