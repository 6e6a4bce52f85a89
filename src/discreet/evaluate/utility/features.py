"""Features that mean the same for generalized and for original values, so that models apply to both."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.evaluate.utility.covered_column import CoveredColumn, LeafCover
from discreet.runtime.integer_codes import by_appearance

__all__ = ["Encoder", "Features"]

Features = NDArray[np.float32]

MOST = 100
"""Most atoms of a text with a feature of their own; the most frequent ones are used."""


class Encoder:
    """Encodes rows as features, in terms of the table to train on.

    A number or date becomes the mean of the values it covers, with a second feature for the missing share if it may be
    missing. A text becomes one feature per *atom*. An atom is a set of leaves that no value of the training table
    distinguishes, and the feature is the share of the value's leaves in it. So a released ``Government`` gets the same
    features as an original ``State-gov``.
    """

    def __init__(self, table: Mapping[str, CoveredColumn], rows: IntArray) -> None:
        """Find the atoms of some rows of a table."""
        self._columns: dict[str, FloatArray] = {}
        for name, column in table.items():
            positions = column.attribute.domain.positions
            weights = np.bincount(column.codes[rows], minlength=len(column.cover)).astype(np.float64)
            self._columns[name] = _atoms(column.cover, weights) if positions is None else _numbers(positions)

    def __call__(self, table: Mapping[str, CoveredColumn], rows: IntArray) -> Features:
        """Return the features of some rows of a table."""
        parts = []
        for name, of_leaf in self._columns.items():
            column = table[name]
            of_value = np.stack([column.cover.mean(numbers) for numbers in of_leaf], axis=1).astype(np.float32)
            parts.append(of_value[column.codes[rows]])
        return np.concatenate(parts, axis=1)


def _numbers(positions: FloatArray) -> FloatArray:
    """Return the number of each leaf, and whether it is missing if any is; a missing one gets the mean."""
    missing = np.isnan(positions)
    mean = float(positions[~missing].mean()) if not missing.all() else 0.0
    filled = np.where(missing, mean, positions)
    return np.stack([filled, missing.astype(np.float64)]) if missing.any() else filled[np.newaxis]


def _atoms(cover: LeafCover, weights: FloatArray) -> FloatArray:
    """Return for each atom whether each leaf is in it; only the most frequent atoms if there are many.

    Leaves are in the same atom if the same values cover them. To find out, each value gets a random number, and leaves
    with the same sum over their values are taken to have the same values.
    """
    marks = np.random.default_rng(0).integers(1, 2**62, size=len(cover), dtype=np.uint64)
    marks[weights == 0] = 0
    mark = np.zeros(cover.leaves, dtype=np.uint64)
    np.add.at(mark, cover.leaf, marks[cover.owner])
    atom = by_appearance(mark)  # numbered in the order of the leaves, so that the random numbers do not matter
    mass = np.bincount(atom, weights=cover.spread(weights))
    kept = np.sort(np.argsort(-mass, kind="stable")[:MOST])
    return np.asarray(atom[np.newaxis] == kept[:, np.newaxis], dtype=np.float64)
