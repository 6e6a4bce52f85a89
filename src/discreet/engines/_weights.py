"""Survey weights: how many people of the population each row stands for, added up in the GROUP BY that counts rows.

Weights are added up as whole numbers of millionths, so that the sums are the same in whatever order an engine adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet._words import amount
from discreet.engines._names import exactly
from discreet.errors import DataError

__all__ = ["ADDED", "HEAVIEST", "MILLION", "Weighed", "add_weights", "check_type", "of_polars", "weighed"]

MILLION = 1_000_000
HEAVIEST = 1e9
"""No row stands for more people than this."""
_MOST_PEOPLE = 9e12
"""More people than this, in millionths, could not be added up as whole numbers of 64 bits."""
ADDED = ("people", "weighed", "lightest", "heaviest")
"""What is added to a count where there are weights, after the rows: the sum in millionths, of how many rows, and the
least and the greatest weight."""


class Weighed(NamedTuple):
    """What the weights of each group add up to, and the least and the greatest of them."""

    people: NDArray[np.float64]
    lightest: NDArray[np.float64]
    heaviest: NDArray[np.float64]


def of_polars(column: str, dtype: pl.DataType, name: str | None = None) -> list[pl.Expr]:
    """Return what is added to a count in polars, in the order of :data:`ADDED`; the column may go by another name."""
    check_type(column, number=dtype.is_numeric(), text=_is_text(dtype))
    values = exactly(name or column)
    if _is_text(dtype):
        values = values.cast(pl.String).str.strip_chars()
    weight = values.cast(pl.Float64, strict=False)
    valid = pl.when((weight >= 0) & (weight <= HEAVIEST)).then(weight)
    millionths = (valid * float(MILLION) + 0.5).floor().cast(pl.Int64)
    return [millionths.sum(), millionths.count(), valid.min(), valid.max()]


def check_type(column: str, *, number: bool, text: bool) -> None:
    """Refuse a column that can hold no weights; text may be numbers, which is seen when it is read."""
    if not (number or text):
        raise DataError(
            f"Column '{column}' is no number, and so cannot be the survey weights; name the column that says how many "
            "people each row stands for.",
            column=column,
        )


def weighed(column: str, counted: pl.DataFrame, keys: Sequence[str]) -> Weighed:
    """Return what was added up in a count by some keys, once it is sure that every row has a weight."""
    rows, people, valid, lightest, heaviest = (
        counted.to_series(len(keys) + place).fill_null(0).to_numpy() for place in range(1 + len(ADDED))
    )
    wrong = int(rows.sum()) - int(valid.sum())
    if wrong:
        raise DataError(
            f"The survey weights in column '{column}' are missing, negative, above {HEAVIEST:,.0f} or no numbers in "
            f"{amount(wrong, 'row')}; mend them, or leave those rows out.",
            column=column,
        )
    if float((rows * heaviest.astype(np.float64)).sum()) > _MOST_PEOPLE:
        raise DataError(
            f"The survey weights in column '{column}' may add up to more than {_MOST_PEOPLE:,.0f} people; a weight "
            "says how many people a row stands for.",
            column=column,
        )
    return Weighed(people.astype(np.float64) / MILLION, lightest.astype(np.float64), heaviest.astype(np.float64))


def add_weights(index: NDArray[np.int64], people: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return what the weights of groups that have the same index add up to, whatever the order of the groups.

    >>> add_weights(np.array([0, 1, 0, 0]), np.array([0.1, 5.0, 0.2, 0.3]), 2).tolist()
    [0.6, 5.0]
    """
    millionths = np.zeros(size, dtype=np.int64)
    np.add.at(millionths, index, np.rint(people * MILLION).astype(np.int64))
    return millionths.astype(np.float64) / MILLION


def _is_text(dtype: pl.DataType) -> bool:
    return dtype == pl.String or isinstance(dtype, pl.Categorical | pl.Enum) or dtype == pl.Null
