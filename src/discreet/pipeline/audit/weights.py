"""Survey weights: how many people of the population each row represents, summed up for each group.

Every reader adds whole millionths as floating-point numbers: such sums are exact in any order, up to nine billion
people.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.runtime.plurals import amount

__all__ = ["HEAVIEST", "MILLION", "check_weights", "millionths_of", "polars_sums", "sql_sums"]

MILLION = 1_000_000
HEAVIEST = 1e9
"""No row represents more people than this."""
_MOST_PEOPLE = 9e12


def check_weights(column: str, *, usable: bool) -> None:
    """Raise DataError for a column that holds neither numbers nor text."""
    if not usable:
        raise DataError(
            f"Column '{column}' does not hold numbers, so it cannot be the survey weights; name the column that says "
            "how many people each row represents.",
            column=column,
        )


def polars_sums(column: str, dtype: pl.DataType) -> list[pl.Expr]:
    """Return the sum of the weights in ``weight`` and the number of rows with a valid one, for polars."""
    text = dtype in (pl.String, pl.Null) or isinstance(dtype, pl.Categorical | pl.Enum)
    check_weights(column, usable=text or dtype.is_numeric())
    weight = pl.col("weight")
    if text:
        weight = weight.cast(pl.String).str.strip_chars()
    weight = weight.cast(pl.Float64, strict=False)
    valid = pl.when((weight >= 0) & (weight <= HEAVIEST)).then(weight)
    return [(valid * MILLION + 0.5).floor().sum().alias("millionths"), valid.count().alias("weighed")]


def sql_sums(number: str, floor: str = "FLOOR({})") -> dict[str, str]:
    """Return the same in SQL, given SQL for a weight as a number, or null."""
    valid = f"CASE WHEN {number} >= 0 AND {number} <= {HEAVIEST} THEN {number} END"
    whole = floor.format(f"({valid}) * {float(MILLION)} + 0.5")
    return {"millionths": f"SUM({whole})", "weighed": f"COUNT({valid})"}


def millionths_of(column: str, groups: pl.DataFrame) -> NDArray[np.float64]:
    """Return the millionths of people of each group; raise DataError unless every row has a valid weight."""
    wrong = int(groups["rows"].sum()) - int(groups["weighed"].sum())
    if wrong:
        raise DataError(
            f"The survey weights in column '{column}' are missing, negative, above {HEAVIEST:,.0f} or not numbers in "
            f"{amount(wrong, 'row')}; correct them, or leave those rows out.",
            column=column,
        )
    millionths = groups["millionths"].cast(pl.Float64).fill_null(0.0).to_numpy()
    if millionths.sum() / MILLION > _MOST_PEOPLE:
        raise DataError(
            f"The survey weights in column '{column}' add up to more than {_MOST_PEOPLE:,.0f} people; a weight says "
            "how many people a row represents.",
            column=column,
        )
    return millionths
