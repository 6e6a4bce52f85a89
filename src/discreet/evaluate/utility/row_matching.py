"""Which original row each released row comes from, if the release keeps the order and only leaves rows out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.evaluate.utility.covered_column import CoveredColumn

__all__ = ["match_rows"]

Pairs = Sequence[tuple[CoveredColumn, CoveredColumn]]
"""Columns before and after."""
Codes = Sequence[tuple[IntArray, IntArray]]
"""Codes of columns before and after."""
_FEW = 64


def match_rows(quasi: Pairs, others: Codes) -> NDArray[np.int64] | None:
    """Return the original row of each released row; None if the order does not determine it.

    A released quasi-identifier (``quasi``) must cover the original value. The codes of other columns must be equal,
    unless the code after is -1. Each released row takes the first original row that fits, which finds a match whenever
    there is one. If the other columns were changed too, quasi-identifiers alone decide. If no row was left out but
    values do not cover the original ones, as with means, the others alone decide.
    """
    before, after = (quasi[0][side].codes.size for side in (0, 1))
    for used in [others, []] if others else [[]]:
        found = _in_order(quasi, used, before, after)
        if found is not None:
            return found
    return _in_order([], others, before, after) if others and before == after else None


def _in_order(quasi: Pairs, others: Codes, before: int, after: int) -> NDArray[np.int64] | None:
    found = np.empty(after, dtype=np.int64)
    row, shift, width = 0, 0, _FEW
    while row < after:
        if shift > before - after:
            return None
        rows = np.arange(row, min(row + width, after))
        fits = _fits(quasi, others, rows, rows + shift)
        run = rows.size if fits.all() else int(np.argmin(fits))
        found[row : row + run] = rows[:run] + shift
        row += run
        if run == rows.size:
            width *= 2
        else:
            shift = _next(quasi, others, row, row + shift + 1, row + before - after + 1) - row
            width = max(_FEW, width // 2)
    return found


def _next(quasi: Pairs, others: Codes, row: int, begin: int, end: int) -> int:
    """Return the first original row from ``begin`` to ``end`` that fits a released row; ``end`` if there is none."""
    width = _FEW
    while begin < end:
        originals = np.arange(begin, min(begin + width, end))
        fits = _fits(quasi, others, np.full(originals.size, row), originals)
        if fits.any():
            return int(originals[np.argmax(fits)])
        begin += width
        width *= 2
    return end


def _fits(quasi: Pairs, others: Codes, rows: IntArray, originals: IntArray) -> NDArray[np.bool_]:
    """Return for pairs of a released and an original row whether they fit."""
    fits = np.ones(rows.size, dtype=np.bool_)
    for before, after in others:
        fits &= (before[originals] == after[rows]) | (after[rows] == -1)
    for original, released in quasi:
        fits &= released.cover.holds(released.codes[rows], original.codes[originals])
    return fits
