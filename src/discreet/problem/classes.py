"""Equivalence classes as arrays: what privacy models and costs see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, IntArray

__all__ = ["Classes", "Members", "leaf_columns"]


@dataclass(frozen=True, eq=False)
class Members:
    """The rows of some classes by tuple and sensitive value: entry ``e`` stands for ``rows[e]`` rows of ``owner[e]``.

    Rows without a known sensitive value are in no entry.
    """

    owner: IntArray
    """The class of each entry."""
    tuples: IntArray
    """The tuple of the count table."""
    values: IntArray
    """The sensitive value."""
    rows: IntArray


@dataclass(frozen=True, eq=False)
class Classes:
    """Some equivalence classes of one recoding; row ``c`` of every array is about class ``c``.

    Arrays that neither a model nor the ``needs`` of a cost ask for may be missing. Shapes: ``c`` classes, ``m``
    quasi-identifiers, ``v`` values of a sensitive attribute, ``L`` class labels.

    Privacy models see people and costs see rows: if promises count people, ``people`` are the same classes counted so,
    and models are given ``judged``.
    """

    table: CountTable
    sizes: NDArray[np.int64]
    """(c,) rows in the class."""
    sensitive: Mapping[str, IntArray] = field(default_factory=dict)
    """name -> (c, v) how often each sensitive value occurs."""
    labels: IntArray | None = None
    """(c, L) how often each class label occurs."""
    joint: Mapping[str, IntArray] = field(default_factory=dict)
    """name -> (c, v, L) how often each sensitive value occurs with each class label."""
    blocks: IntArray | None = None
    """(c, m) code of the released block among those of the attribute, or of its level if classes are ``local``."""
    block_leaves: IntArray | None = None
    """(c, m) leaves of the hierarchy under the released value."""
    block_rows: IntArray | None = None
    """(c, m) rows of the whole table whose value lies in the released block."""
    block_levels: IntArray | None = None
    """(c, m) hierarchy level of the released value."""
    low: IntArray | None = None
    """(c, m) smallest leaf code that occurs in the class."""
    high: IntArray | None = None
    """(c, m) largest leaf code that occurs in the class."""
    set_sizes: IntArray | None = None
    """(c, m) distinct leaves that occur in the class, for text without a hierarchy; 0 for other attributes."""
    moments: FloatArray | None = None
    """(c, m) sum over the rows of the cost's ``leaf_moment`` of their original leaf; it may have more columns."""
    offsets: FloatArray | None = None
    """(c, m) sum over the rows of the cost's ``leaf_offset`` of their original leaf."""
    members: Members | None = None
    """The rows of the class by tuple and by value of the sensitive column that decides which rows may be suppressed."""
    population: FloatArray | None = None
    """(c,) people of the population who have the released values, including the rows of the class."""
    local: bool = False
    """Whether each class recodes its values by itself, so that blocks of different classes may overlap."""
    known: Mapping[str, IntArray] = field(default_factory=dict)
    """name -> (c,) how many have a known value, where that is not the sum over the values: people may have several."""
    people: Classes | None = None
    """The same classes counted in people, if promises count people: sizes, sensitive and known, of ``table.units``."""

    @property
    def judged(self) -> Classes:
        """The classes as privacy models see them."""
        return self if self.people is None else self.people

    def __len__(self) -> int:
        return int(self.sizes.size)


def leaf_columns(numbers: FloatArray, leaves: IntArray) -> FloatArray:
    """Return the numbers of each leaf as a matrix: one column, or as many as each leaf has numbers.

    >>> leaf_columns(np.array([0.5, 2.0]), np.array([1, 1, 0])).tolist()
    [[2.0], [2.0], [0.5]]
    """
    return numbers[leaves].reshape(leaves.size, -1)
