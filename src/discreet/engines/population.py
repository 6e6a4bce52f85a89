"""The population a table was sampled from: another table, counted by the same quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from discreet.counts import IntArray, Population
from discreet.engines.format_limits import restore_type
from discreet.engines.open import Engine, open_source
from discreet.errors import Argument, DataError, did_you_mean
from discreet.runtime.integer_codes import first_of, numbered
from discreet.runtime.locations import is_url

__all__ = ["collapse", "count_people", "everybody", "joined_values"]


def count_people(
    data: Any,
    columns: Sequence[str],
    missing: Literal["value", "suppress", "error"] = "value",
    engine: Engine | None = None,
) -> pl.DataFrame:
    """Return the distinct combinations of some columns of a population, followed by the number of people of each.

    ``data`` is a path, a table URL or a frame of any kind; an ``engine`` may be chosen for files. People with a missing
    value are left out if such rows of the table are.
    """
    is_file = isinstance(data, str | PathLike) and not is_url(data)
    source = open_source(data, engine if is_file else None)
    for column in columns:
        if column not in source.columns:
            hint = did_you_mean(column, source.columns) or "it needs every quasi-identifier of the data."
            raise DataError(f"The population has no column '{column}'; {hint}", column=column)
    counted = source.count(columns)
    absent = [column for column in columns if counted[column].null_count()]
    if absent and missing == "error":
        raise DataError(
            f"Column '{absent[0]}' of the population has missing values; fill them in, or choose ",
            Argument("missing", "value"),
            " (a value of its own) or ",
            Argument("missing", "suppress"),
            " (no such rows, and no such people).",
            column=absent[0],
        )
    if missing == "suppress":
        counted = counted.drop_nulls(selectors.by_name(*columns))
    if counted.is_empty():
        raise DataError("The population has no people; give the table of those the data was drawn from.")
    return counted


def joined_values(column: str, values: pl.Series, people: pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    """Append the values that only the population has; also return the position of each person's value.

    Values of the population are compared as the type of the table: a number in a database equals its text in a CSV
    file.
    """
    distinct = people.unique()
    same = restore_type(distinct, values.dtype)
    if same.dtype.is_float():
        same = same.fill_nan(None)
    lost = same.is_null() & distinct.is_not_null()
    if same.dtype.is_numeric() and distinct.dtype.is_numeric():
        lost |= same.cast(distinct.dtype, strict=False).ne_missing(distinct) & distinct.is_not_null()
    if lost.any():
        raise DataError(
            f"Column '{column}' of the population holds values of another type than that of the data; make both the "
            "same, such as whole numbers or dates.",
            column=column,
        )
    found = same.unique()
    new = found.filter(~found.is_in(values.implode(), nulls_equal=True))
    union = pl.concat([values, new.alias(values.name)])
    position = same.replace_strict(union, np.arange(len(union)), return_dtype=pl.Int64)
    return union, people.replace_strict(distinct, position, return_dtype=pl.Int64).to_numpy()


def everybody(
    tuples: NDArray[np.int32], people: Mapping[str, IntArray], rows: NDArray[np.int64], sizes: Sequence[int]
) -> Population:
    """Return a population, given the codes of its people in each column; it includes the tuples of the table."""
    both = [np.concatenate([own, code]) for own, code in zip(tuples, people.values(), strict=True)]
    index, codes = collapse(both, sizes)
    own = tuples.shape[1]
    counted = np.bincount(index[own:], weights=rows, minlength=codes.shape[1]).astype(np.float64)
    return Population(codes, counted, index[:own])


def collapse(codes: Sequence[NDArray[Any]], sizes: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the index of each row's tuple, and the distinct tuples in lexicographic order."""
    index, count = numbered(codes[0].size, zip(codes, sizes, strict=True))
    examples = first_of(index, count)
    return index, np.array([column[examples] for column in codes], dtype=np.int32)
