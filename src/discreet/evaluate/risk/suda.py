"""SUDA: minimal sample uniques, the score of each row, and how much each column contributes to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray

__all__ = ["MinimalUniques", "SudaScores", "data_intrusion", "dis_suda", "msu_score", "suda_scores"]

_STEPS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)
"""The limits of the intervals in which DIS-SUDA scores are counted, as sdcMicro prints them."""
_MOST_COLUMNS = 27
"""With more columns the exponent of DIS-SUDA would not be positive, and higher scores would mean less risk."""


def msu_score(size: int, largest: int, columns: int) -> float:
    """Return the score of a minimal sample unique of some size, if sizes up to ``largest`` are looked for.

    It is the product of ``columns - i`` for i from the size to ``largest`` (Elliot and others 2005), the product of
    nothing being 1.

    >>> [msu_score(size, 3, 4) for size in (1, 2, 3)], msu_score(4, 4, 4)
    ([6.0, 2.0, 1.0], 1.0)
    """
    return float(prod(columns - i for i in range(size, min(largest, columns - 1) + 1)))


class MinimalUniques:
    """The minimal sample uniques (MSUs) of a table, counted for each unique row while they are found.

    An MSU of a row is a set of columns on which the row is unique, while it is unique on no part of it. ``counts`` has
    a line for each unique row and a column for each size of an MSU; ``scores`` a column for each quasi-identifier, with
    the sum of the scores of the MSUs that contain it.
    """

    def __init__(self, alone: NDArray[np.bool_], columns: Sequence[str], largest: int) -> None:
        self.columns = tuple(columns)
        self.largest = largest
        self.unique = np.flatnonzero(alone)
        """The classes of one row."""
        self.counts: IntArray = np.zeros((self.unique.size, largest), dtype=np.int64)
        self.scores: FloatArray = np.zeros((self.unique.size, len(self.columns)))
        self.containing: IntArray = np.zeros(len(self.columns), dtype=np.int64)
        """The number of MSUs that contain each column."""

    def add(self, chosen: Sequence[int], minimal: NDArray[np.bool_]) -> None:
        """Add a set of columns that is an MSU of the rows of some classes."""
        found = minimal[self.unique]
        score = msu_score(len(chosen), self.largest, len(self.columns))
        self.counts[found, len(chosen) - 1] += 1
        for column in chosen:
            self.scores[found, column] += score
            self.containing[column] += int(found.sum())

    def score(self) -> FloatArray:
        """Return the SUDA score of each unique row: the sum of the scores of its MSUs."""
        sizes = range(1, self.largest + 1)
        return np.asarray(self.counts @ np.array([msu_score(k, self.largest, len(self.columns)) for k in sizes]))

    def smallest(self) -> IntArray:
        """Return the size of the smallest MSU of each unique row; 0 if it has none of those looked for."""
        return np.asarray(np.where(self.counts.any(axis=1), (self.counts > 0).argmax(axis=1) + 1, 0))


def data_intrusion(uniques: int, pairs: int, fraction: float) -> float:
    """Return DIS: how likely a match is right if it matches one row alone (Skinner and Elliot 2002).

    ``pairs`` are the classes of two rows, and the rows of the table are a ``fraction`` of the population.

    >>> round(data_intrusion(4, 3, 0.01), 5)
    0.00669
    """
    right = uniques * fraction
    return right / (right + 2 * pairs * (1 - fraction)) if right else 0.0


def dis_suda(scores: FloatArray, dis: float, uniques: int, columns: int) -> FloatArray | None:
    """Return the DIS-SUDA score of each row: DIS distributed among the unique rows by their SUDA scores.

    As in the SUDA software and sdcMicro, the odds of a row are those of DIS times s^Q times the mean of s^-Q over all
    unique rows with a score, where s is its SUDA score and Q = 1 + (8 - columns) / 20. None if that is not positive.

    >>> dis_suda(np.array([6.0, 12.0, 0.0]), 0.01, 3, 4).round(4)
    array([0.0048, 0.011 , 0.    ])
    """
    power = 1 + (8 - columns) / 20
    if columns > _MOST_COLUMNS:
        return None
    risky = scores > 0
    weight = np.zeros(scores.size)
    weight[risky] = scores[risky] ** power
    odds = weight * (1 / weight[risky]).sum() * dis
    return np.asarray(np.divide(odds, odds + uniques * (1 - dis), out=np.zeros(scores.size), where=risky))


@dataclass(frozen=True, eq=False)
class SudaScores:
    """The SUDA scores of a table, summarized: rows that are unique on few columns, in many ways, have high ones."""

    largest: int
    """The largest minimal sample uniques (MSUs) that were looked for: the ``depth``."""
    rows: int
    """The rows that have an MSU."""
    highest: float
    """The highest SUDA score; 0 if no row has an MSU."""
    average: float
    """The mean score of the rows that have an MSU."""
    sizes: pl.DataFrame
    """For each ``size``, the ``msus`` of that size and the ``rows`` whose smallest MSU has it."""
    columns: pl.DataFrame
    """For each ``column``, the ``msus`` that contain it and its ``contribution``: the share of the sum of all scores
    that comes from those MSUs. As an MSU contains several columns, contributions add up to more than 1."""
    dis: float | None
    """How likely a match with one row alone is right (DIS, Skinner and Elliot 2002); None without a population."""
    dis_highest: float | None
    """The highest DIS-SUDA score: how likely a match with that row is right."""
    dis_scores: pl.DataFrame | None
    """The ``rows`` with a DIS-SUDA score that is greater than ``above`` and at most ``up_to``."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "largest": self.largest,
            "rows": self.rows,
            "highest": self.highest,
            "average": self.average,
            "sizes": self.sizes.to_dicts(),
            "columns": self.columns.to_dicts(),
            "dis": self.dis,
            "dis_highest": self.dis_highest,
            "dis_scores": None if self.dis_scores is None else self.dis_scores.to_dicts(),
        }


def suda_scores(found: MinimalUniques, sizes: IntArray, fraction: float | None) -> SudaScores:
    """Summarize the scores of all rows, given the class sizes and the share of the population that is in the data."""
    scores, smallest = found.score(), found.smallest()
    risky = scores[scores > 0]
    total = max(float(scores.sum()), 1.0)
    each = np.arange(1, found.largest + 1)
    dis = each_dis = None
    if fraction is not None:
        dis = data_intrusion(found.unique.size, int((sizes == 2).sum()), fraction)
        each_dis = dis_suda(scores, dis, found.unique.size, len(found.columns))
    columns = pl.DataFrame(
        {"column": found.columns, "msus": found.containing, "contribution": found.scores.sum(axis=0) / total},
        schema={"column": pl.String, "msus": pl.Int64, "contribution": pl.Float64},
    )
    return SudaScores(
        largest=found.largest,
        rows=risky.size,
        highest=float(risky.max(initial=0.0)),
        average=float(risky.mean()) if risky.size else 0.0,
        sizes=pl.DataFrame(
            {"size": each, "msus": found.counts.sum(axis=0), "rows": [int((smallest == size).sum()) for size in each]}
        ),
        columns=columns.sort("contribution", "column", descending=[True, False]),
        dis=dis,
        dis_highest=None if each_dis is None else float(each_dis.max(initial=0.0)),
        dis_scores=None if each_dis is None else _intervals(each_dis[each_dis > 0]),
    )


def _intervals(scores: FloatArray) -> pl.DataFrame:
    """Count scores in intervals that are closed above."""
    steps = np.array(_STEPS)
    rows = np.bincount(np.searchsorted(steps, scores, side="left") - 1, minlength=steps.size - 1)
    return pl.DataFrame({"above": steps[:-1], "up_to": steps[1:], "rows": rows})
