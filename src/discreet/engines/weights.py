"""Survey weights: how many people of the population each row represents, summed in the GROUP BY that counts rows.

Weights are summed as whole millionths, so that the sums do not depend on the order in which an engine adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines.columns import exactly, is_category
from discreet.errors import DataError
from discreet.runtime.plurals import amount

__all__ = ["HEAVIEST", "MILLION", "TOTALS", "Weighed", "add_weights", "check_type", "weighed", "weight_totals"]

MILLION = 1_000_000
HEAVIEST = 1e9
"""The greatest weight of a row."""
_MOST_PEOPLE = 9e12
"""The greatest sum of weights whose millionths fit into 64 bits."""
TOTALS = ("people", "weighed", "lightest", "heaviest")
"""The columns that follow the rows in a weighted count: the sum in millionths, the number of valid weights, the least
and the greatest weight."""


class Weighed(NamedTuple):
    """The sum of the weights of each group, the least and the greatest."""

    people: NDArray[np.float64]
    lightest: NDArray[np.float64]
    heaviest: NDArray[np.float64]


def weight_totals(column: str, dtype: pl.DataType) -> list[pl.Expr]:
    """Return the polars aggregates for :data:`TOTALS`, in that order."""
    text = dtype in (pl.String, pl.Null) or is_category(dtype)
    check_type(column, number=dtype.is_numeric(), text=text)
    values = exactly(column)
    if text:
        values = values.cast(pl.String).str.strip_chars()
    weight = values.cast(pl.Float64, strict=False)
    valid = pl.when((weight >= 0) & (weight <= HEAVIEST)).then(weight)
    millionths = (valid * float(MILLION) + 0.5).floor().cast(pl.Int64)
    return [millionths.sum(), millionths.count(), valid.min(), valid.max()]


def check_type(column: str, *, number: bool, text: bool) -> None:
    """Refuse a column that cannot hold weights; whether text holds numbers shows when it is read."""
    if not (number or text):
        raise DataError(
            f"Column '{column}' does not hold numbers, so it cannot be the survey weights; name the column that says "
            "how many people each row represents.",
            column=column,
        )


def weighed(column: str, counted: pl.DataFrame, keys: Sequence[str]) -> Weighed:
    """Return the totals of a weighted count by some keys, after checking that every row has a valid weight."""
    rows, people, valid, lightest, heaviest = (
        counted.to_series(len(keys) + number).fill_null(0).to_numpy() for number in range(1 + len(TOTALS))
    )
    wrong = int(rows.sum()) - int(valid.sum())
    if wrong:
        raise DataError(
            f"The survey weights in column '{column}' are missing, negative, above {HEAVIEST:,.0f} or not numbers in "
            f"{amount(wrong, 'row')}; correct them, or leave those rows out.",
            column=column,
        )
    if float((rows * heaviest.astype(np.float64)).sum()) > _MOST_PEOPLE:
        raise DataError(
            f"The survey weights in column '{column}' may add up to more than {_MOST_PEOPLE:,.0f} people; a weight "
            "says how many people a row represents.",
            column=column,
        )
    return Weighed(people.astype(np.float64) / MILLION, lightest.astype(np.float64), heaviest.astype(np.float64))


def add_weights(index: NDArray[np.int64], people: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the sum of the weights at each index, whatever the order of the groups.

    >>> add_weights(np.array([0, 1, 0, 0]), np.array([0.1, 5.0, 0.2, 0.3]), 2).tolist()
    [0.6, 5.0]
    """
    millionths = np.zeros(size, dtype=np.int64)
    np.add.at(millionths, index, np.rint(people * MILLION).astype(np.int64))
    return millionths.astype(np.float64) / MILLION
