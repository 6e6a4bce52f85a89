"""Which original row each released row comes from: a release in memory keeps the order, and only leaves rows out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.evaluate._cover import Cells

__all__ = ["link"]

Numbers = tuple[IntArray, IntArray]
_FEW = 64


def link(cells: Sequence[tuple[Cells, Cells]], others: Sequence[Numbers]) -> NDArray[np.int64] | None:
    """Return for each released row the number of its original row; None where the order does not tell.

    ``cells`` are the quasi-identifiers before and after: a released value must cover the original one. ``others``
    are columns that stay, as numbers before and after: these must be equal, unless the one after is -1. The first row
    that fits is taken, row by row; that finds a way wherever there is one. Where the other columns changed too,
    quasi-identifiers alone decide; where no row was left out but values do not cover the original ones, as means do
    not, the others alone do.
    """
    before, after = (cells[0][side].places.size for side in (0, 1))
    for told in [others, []] if others else [[]]:
        found = _in_order(cells, told, before, after)
        if found is not None:
            return found
    return _in_order([], others, before, after) if others and before == after else None


def _in_order(
    cells: Sequence[tuple[Cells, Cells]], others: Sequence[Numbers], before: int, after: int
) -> NDArray[np.int64] | None:
    found = np.empty(after, dtype=np.int64)
    row, shift, width = 0, 0, _FEW
    while row < after:
        if shift > before - after:
            return None
        rows = np.arange(row, min(row + width, after))
        fits = _fits(cells, others, rows, rows + shift)
        run = rows.size if fits.all() else int(np.argmin(fits))
        found[row : row + run] = rows[:run] + shift
        row += run
        if run == rows.size:
            width *= 2
        else:
            shift = _next(cells, others, row, row + shift + 1, row + before - after + 1) - row
            width = max(_FEW, width // 2)
    return found


def _next(cells: Sequence[tuple[Cells, Cells]], others: Sequence[Numbers], row: int, begin: int, end: int) -> int:
    """Return the first original row from ``begin`` on that fits a released row; ``end`` if none before it does."""
    width = _FEW
    while begin < end:
        originals = np.arange(begin, min(begin + width, end))
        fits = _fits(cells, others, np.full(originals.size, row), originals)
        if fits.any():
            return int(originals[np.argmax(fits)])
        begin += width
        width *= 2
    return end


def _fits(
    cells: Sequence[tuple[Cells, Cells]], others: Sequence[Numbers], rows: IntArray, originals: IntArray
) -> NDArray[np.bool_]:
    """Return for pairs of a released and an original row whether one may be the other."""
    fits = np.ones(rows.size, dtype=np.bool_)
    for before, after in others:
        fits &= (before[originals] == after[rows]) | (after[rows] == -1)
    for original, released in cells:
        fits &= released.cover.holds(released.places[rows], original.places[originals])
    return fits
