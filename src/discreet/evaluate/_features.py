"""Generalized and original values as numbers of one meaning, so that what is learnt from some applies to others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import by_appearance
from discreet.counts import FloatArray, IntArray
from discreet.evaluate._cover import Cells, Cover

__all__ = ["Encoder", "Features"]

Features = NDArray[np.float32]

MOST = 100
"""Of a text with more values than this only so many, the most frequent, have a number of their own."""


class Encoder:
    """Turns rows into numbers, in the words of the table that is learnt from.

    A number or date is the mean of the values it covers (of a range, its middle). A text is one share for each *atom*:
    leaves that no value of the table learnt from tells apart are one atom, and a value has of each atom the share of
    its own leaves that lie in it. So a released ``Government`` is exactly what an original ``State-gov`` is. A number
    that may be missing has one number more, the share that is.
    """

    def __init__(self, cells: Mapping[str, Cells], rows: IntArray) -> None:
        """Learn the words of some rows of a table."""
        self._columns: dict[str, FloatArray] = {}
        for name, each in cells.items():
            positions = each.attribute.domain.positions
            weights = np.bincount(each.places[rows], minlength=len(each.cover)).astype(np.float64)
            self._columns[name] = _atoms(each.cover, weights) if positions is None else _numbers(positions)

    def __call__(self, cells: Mapping[str, Cells], rows: IntArray) -> Features:
        """Return the numbers of some rows of a table."""
        parts = []
        for name, of_leaf in self._columns.items():
            each = cells[name]
            of_value = np.stack([each.cover.mean(numbers) for numbers in of_leaf], axis=1).astype(np.float32)
            parts.append(of_value[each.places[rows]])
        return np.concatenate(parts, axis=1)


def _numbers(positions: FloatArray) -> FloatArray:
    """Return the number of each leaf, and where some are missing whether it is; a missing one is in the middle."""
    missing = np.isnan(positions)
    middle = float(positions[~missing].mean()) if not missing.all() else 0.0
    filled = np.where(missing, middle, positions)
    return np.stack([filled, missing.astype(np.float64)]) if missing.any() else filled[np.newaxis]


def _atoms(cover: Cover, weights: FloatArray) -> FloatArray:
    """Return for each atom whether each leaf is in it; the most frequent atoms, where there are many.

    Leaves are in the same atom where they are covered by the same values, which random marks added up tell.
    """
    marks = np.random.default_rng(0).integers(1, 2**62, size=len(cover), dtype=np.uint64)
    marks[weights == 0] = 0
    mark = np.zeros(cover.leaves, dtype=np.uint64)
    np.add.at(mark, cover.leaf, marks[cover.owner])
    atom = by_appearance(mark)  # in the order of the leaves, whatever the marks
    mass = np.bincount(atom, weights=cover.spread(weights))
    kept = np.sort(np.argsort(-mass, kind="stable")[:MOST])
    return np.asarray(atom[np.newaxis] == kept[:, np.newaxis], dtype=np.float64)
