"""Small cells: counts of so few people that they are not shown, and none that gives them away by subtraction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.counts import IntArray
from discreet.problem import PrivacyModel

__all__ = ["LEAST", "few", "hidden", "least_cell", "merged"]

LEAST = 5
"""No count of fewer people is shown, whatever was promised."""


def least_cell(models: Sequence[PrivacyModel]) -> int:
    """Return the fewest people a count that is shown may stand for: the promised class size, or 5 if that is less."""
    return max([LEAST, *(model.minimum_size for model in models)])


def few(rows: int, least: int = LEAST) -> str:
    """Write a number of people unless they are few.

    >>> few(3), few(0), few(1200)
    ('fewer than 5', '0', '1,200')
    """
    return f"fewer than {least:,}" if 0 < rows < least else f"{rows:,}"


def merged(rows: IntArray, least: int) -> IntArray:
    """Return for each of some neighbouring cells the number of the cell it is shown in, so that all are large enough.

    Cells are put together with the ones that follow until they are large enough; what is left at the end joins the
    last. Cells of no rows at all stay by themselves, for nobody is in them.

    >>> merged(np.array([9, 0, 2, 1, 4, 7, 1]), 5).tolist()
    [0, 1, 2, 2, 2, 3, 3]
    """
    cell = np.zeros(len(rows), dtype=np.int64)
    number, held, last = -1, 0, -1
    for place, count in enumerate(np.asarray(rows).tolist()):
        if not 0 < held < least:
            number += 1
            held = 0
        cell[place] = number
        held += count
        if held >= least:
            last = number
    if 0 < held < least:
        cell[cell > last] = max(last, 0)
    return cell


def hidden(counts: Sequence[int], least: int) -> list[bool]:
    """Return which of some counts, whose total is known, are not shown: small ones, and another if it would tell them.

    >>> hidden([100, 3, 0, 40], 5), hidden([100, 3, 4, 40], 5), hidden([100, 0, 40], 5)
    ([False, True, False, True], [False, True, True, False], [False, False, False])
    """
    gone = [0 < count < least for count in counts]
    large = [place for place, count in enumerate(counts) if count >= least]
    few_people = sum(count for count in counts if 0 < count < least) < least
    if any(gone) and large and (sum(gone) == 1 or few_people):
        gone[min(large, key=lambda place: counts[place])] = True
    return gone
