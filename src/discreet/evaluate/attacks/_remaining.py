"""What is left of coarse classes: nobody is in one who would have fitted into a class with less loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.evaluate.attacks._cells import ReleasedCells
from discreet.evaluate.attacks._target import AttackTarget

__all__ = ["LeftOfClass", "RemainingCells"]

_MOST = 20_000_000
"""Most pairs of a released value and a value that it may cover."""
_TUPLES = 1_000
"""Tuples of a class that are gone through, or drawn if it covers more."""
_AT_ONCE = 64
"""Classes with less loss that tuples are compared with at once."""


@dataclass(frozen=True, eq=False)
class LeftOfClass:
    """What may be in a class."""

    shares: Sequence[FloatArray]
    """For each column the share of each leaf among the people of the class."""
    excluded: float
    """The share of the class, as the release alone would have it, that other classes exclude."""


class RemainingCells:
    """The classes of a local recoding, and what those with less loss exclude.

    A method that minimizes loss puts a person into a class where all cells are as fine as possible. So whoever is in a
    coarse class has none of the tuples that a class with less loss covers. For recodings in rounds, as by ARX, that is
    certain: rows of later rounds were in no class of an earlier one. For others it is nearly so, as a class may have
    had to keep its k people. Loss is the share of each column's values that a cell covers.

    Tuples are weighted by the shares of their values in the release. How many may be left of a class is a linear
    program, whose other constraints (no k people of coarse classes together have a finer tuple in common) do not change
    which value is the likeliest: see docs/attacks.md.
    """

    @classmethod
    def of(cls, target: AttackTarget, columns: Sequence[ReleasedCells]) -> RemainingCells | None:
        """Return the classes of a release; None if the recoding is global, or has too many values."""
        most = max(cells.values * cells.match.domain.ancestors.shape[1] for cells in columns)
        return cls(columns, target.rng()) if target.overlapping and most <= _MOST else None

    def __init__(self, columns: Sequence[ReleasedCells], rng: np.random.Generator) -> None:
        self.columns, self.rng = columns, rng
        widths = [cells.match.domain.ancestors.shape[1] for cells in columns]
        self._known: dict[int, LeftOfClass | None] = {}
        self.value = [cells.match.value for cells in columns]
        self.covers: list[NDArray[np.bool_]] = []
        """For each column whether a released value covers a leaf."""
        self.loss: FloatArray = np.zeros(self.value[0].size)
        for cells, width in zip(columns, widths, strict=True):
            covers = np.zeros((cells.values, width), dtype=np.bool_)
            for value, leaves in enumerate(cells.covered):
                covers[value, leaves] = True
            self.covers.append(covers)
            self.loss += ((covers.sum(axis=1) - 1) / max(width - 1, 1))[cells.match.value]

    def of_class(self, c: int) -> LeftOfClass | None:
        """Return what may be in a class; None if nothing is excluded, or everything."""
        if c not in self._known:
            self._known[c] = self._remainder(c)
        return self._known[c]

    def _remainder(self, c: int) -> LeftOfClass | None:
        finer = self._finer(c)
        if not finer.size:
            return None
        tuples, weight = self._tuples(c)
        whole = float(weight.sum())
        left = np.arange(len(tuples))
        for start in range(0, finer.size, _AT_ONCE):
            some = finer[start : start + _AT_ONCE]
            fits = np.ones((left.size, some.size), dtype=np.bool_)
            for column, (value, covers) in enumerate(zip(self.value, self.covers, strict=True)):
                fits &= covers[value[some]][:, tuples[left, column]].T
            left = left[~fits.any(axis=1)]
        kept = float(weight[left].sum())
        if left.size == len(tuples) or kept <= 0:
            return None
        shares = [
            np.bincount(tuples[left, column], weights=weight[left], minlength=covers.shape[1]) / kept
            for column, covers in enumerate(self.covers)
        ]
        return LeftOfClass(shares, 1 - kept / whole)

    def _finer(self, c: int) -> IntArray:
        """Return the classes with less loss that may cover somebody of a class."""
        found = np.flatnonzero(self.loss < self.loss[c] - 1e-12)
        for cells, value in zip(self.columns, self.value, strict=True):
            own = value[c]
            meets = (cells.lowest <= cells.highest[own]) & (cells.highest >= cells.lowest[own])
            found = found[meets[value[found]]]
        return found

    def _tuples(self, c: int) -> tuple[IntArray, FloatArray]:
        """Return tuples of leaves that a class covers, and the weight of each: all of them, or as many as are drawn."""
        leaves = [cells.covered[value[c]] for cells, value in zip(self.columns, self.value, strict=True)]
        shares = []
        for cells, some in zip(self.columns, leaves, strict=True):
            weight = cells.weights[some] + 1e-12
            shares.append(weight / weight.sum())
        if np.prod([float(some.size) for some in leaves]) > _TUPLES:
            drawn = [self.rng.choice(some, _TUPLES, p=share) for some, share in zip(leaves, shares, strict=True)]
            return np.stack(drawn, axis=1), np.ones(_TUPLES)
        every = np.stack([each.ravel() for each in np.meshgrid(*leaves, indexing="ij")], axis=1)
        weights = np.meshgrid(*shares, indexing="ij")
        return every, np.asarray(np.prod([each.ravel() for each in weights], axis=0))
