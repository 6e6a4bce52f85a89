"""A promise that a release has to keep together with earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray
from discreet.problem.classes import Classes
from discreet.problem.privacy import Groups, PrivacyModel
from discreet.runtime.integer_codes import add_up

__all__ = ["JointParts", "JointPromise"]

_CELLS = 1 << 24
"""At most so many cells of histograms are filled at once."""


@dataclass(frozen=True, eq=False)
class JointParts:
    """The meanings of the values of a joint histogram: each is the part of a class that a row is in.

    A part are the people of a class who have the same classes in the earlier releases, or are in none.
    """

    part: IntArray
    value: IntArray
    """The sensitive value of the row, as a code of the promise's own column; -1 if it is unknown or there is none."""
    changed: IntArray
    """The number of the earlier class the row is in, if people joined or left that since; else -1."""
    rows: IntArray
    """The rows of each such class. A release must not divide it: nobody can tell who is in which half."""


@dataclass(frozen=True, eq=False)
class JointPromise(PrivacyModel):
    """Every part of a class, as earlier releases divide it, keeps a promise.

    It is no choice of a user: the search adds it to the promises of a job with ``against``. ``attribute`` is a
    histogram of its own, whose values :class:`JointParts` explains.
    """

    name: ClassVar[str] = "together"
    looks_at_sensitive: ClassVar[bool] = True

    promise: PrivacyModel
    parts: JointParts
    attribute: str

    @property
    def text(self) -> str:
        """The promise; it has no text form of its own."""
        return f"{self.promise.text} together with earlier releases"

    @property
    def shown(self) -> str:
        """The promise, for messages."""
        return f"{self.promise.shown} together with earlier releases"

    @property
    def union_closed(self) -> bool:  # type: ignore[override]
        """The parts of a union are unions of parts."""
        return self.promise.union_closed

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether all of its parts keep the promise, and no changed class is divided."""
        counts = classes.sensitive[self.attribute]
        owner, code = np.nonzero(counts)
        rows = counts[owner, code]
        width = int(self.parts.part.max(initial=0)) + 1
        keys, index = np.unique(owner * width + self.parts.part[code], return_inverse=True)
        kept = self._parts_ok(classes.table, index, code, rows, keys.size)
        whole = self._undivided(owner, code, rows, len(classes))
        return np.asarray((np.bincount(keys // width, weights=~kept, minlength=len(classes)) == 0) & whole)

    def _parts_ok(
        self, table: CountTable, part: IntArray, code: IntArray, rows: IntArray, count: int
    ) -> NDArray[np.bool_]:
        """Return for each part whether it keeps the promise."""
        sizes = add_up(part, rows, count)
        column = getattr(self.promise, "attribute", None) if self.promise.looks_at_sensitive else None
        if column is None:
            return np.asarray(self.promise.ok(Classes(table, sizes)))
        width = table.sensitive[column].cardinality
        kept = np.ones(count, dtype=np.bool_)
        value = self.parts.value[code]
        step = max(1, _CELLS // width)
        for begin in range(0, count, step):
            here = (part >= begin) & (part < begin + step) & (value >= 0)
            some = sizes[begin : begin + step]
            cells = add_up((part[here] - begin) * width + value[here], rows[here], some.size * width)
            own = Classes(table, some, sensitive={column: cells.reshape(-1, width)})
            kept[begin : begin + step] = self.promise.ok(own)
        return kept

    def _undivided(self, owner: IntArray, code: IntArray, rows: IntArray, classes: int) -> NDArray[np.bool_]:
        """Return for each class whether it has all rows or none of every changed class."""
        count = self.parts.rows.size
        if not count:
            return np.ones(classes, dtype=np.bool_)
        changed = self.parts.changed[code]
        some = changed >= 0
        keys, index = np.unique(owner[some] * count + changed[some], return_inverse=True)
        whole = add_up(index, rows[some], keys.size) == self.parts.rows[keys % count]
        return np.asarray(np.bincount(keys // count, weights=~whole, minlength=classes) == 0)

    def reached(self, groups: Groups) -> float:
        """Not measured here: the audit of a release compares it with the earlier ones."""
        raise NotImplementedError

    def satisfied_by(self, reached: float) -> bool:
        """Not asked, see :meth:`reached`."""
        raise NotImplementedError

    @property
    def minimum_size(self) -> int:
        """A class is no smaller than its parts."""
        return self.promise.minimum_size

    def smallest(self, table: CountTable) -> int:
        """A class is no smaller than its parts."""
        return self.promise.smallest(table)
