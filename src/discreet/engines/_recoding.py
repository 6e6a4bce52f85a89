"""A recoding as every engine carries it out: small tables of values, and never a row as a Python object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl
from polars import selectors

from discreet.engines._names import exactly

__all__ = ["Recoding", "ValueMap", "is_category", "normalized", "recode"]


@dataclass(frozen=True, eq=False)
class ValueMap:
    """What each distinct value of a column (null is one) is released as."""

    values: pl.Series
    released: pl.Series

    @property
    def constant(self) -> bool:
        """Whether all values are released as the same one, so that the column need not even be read."""
        return self.released.n_unique() == 1


@dataclass(frozen=True, eq=False)
class Recoding:
    """What happens to the columns and rows of a table; columns that are not mentioned stay untouched."""

    maps: Mapping[str, ValueMap] = field(default_factory=dict)
    """Columns that get other values."""
    kept: tuple[str, ...] = ()
    """Quasi-identifiers that keep their values; only NaN becomes missing, and -0.0 becomes 0.0."""
    drop: tuple[str, ...] = ()
    """Columns that are left out."""
    required: tuple[str, ...] = ()
    """Columns in which a missing value means that the row is left out."""
    suppressed: pl.DataFrame | None = None
    """Classes that are left out: the released values of the columns that tell classes apart."""
    everything: bool = False
    """Whether all rows are left out."""
    categories: tuple[str, ...] = ()
    """Columns with few values, which may be read as categories to save memory."""

    @property
    def keys(self) -> list[str]:
        """The columns the recoding has to look at."""
        return list(dict.fromkeys([*self.maps, *self.kept, *self.required]))


def normalized(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as its values are compared: NaN is missing, and there is no negative zero."""
    if dtype.is_float():
        known = exactly(column).fill_nan(None)
        return pl.when(known == 0.0).then(pl.lit(0.0, dtype=dtype)).otherwise(known).alias(column)
    return exactly(column).cast(pl.String) if dtype == pl.Null else exactly(column)


def recode(frame: pl.LazyFrame, recoding: Recoding) -> pl.LazyFrame:
    """Add the recoding to a plan; rows and columns keep their order."""
    schema = frame.collect_schema()
    key = {column: normalized(column, schema[column]) for column in recoding.keys}
    if recoding.required:
        frame = frame.filter(pl.all_horizontal(key[column].is_not_null() for column in recoding.required))
    frame = frame.with_columns(
        *(_released(key[c], schema[c], mapping).alias(c) for c, mapping in recoding.maps.items()),
        *(key[column] for column in recoding.kept if schema[column].is_float()),
    )
    if recoding.everything:
        frame = frame.head(0)
    elif recoding.suppressed is not None:
        columns = recoding.suppressed.columns
        asked = {column for column in columns if column not in recoding.maps and not schema[column].is_float()}
        categories = [exactly(c).cast(schema[c]) for c in columns if c in recoding.kept and is_category(schema[c])]
        frame = frame.join(
            recoding.suppressed.lazy().with_columns(categories),
            left_on=[key[column] if column in asked else exactly(column) for column in columns],
            right_on=[exactly(column) for column in columns],
            how="anti",
            nulls_equal=True,
            maintain_order="left",
        )
    # The type of an Enum lists all its values, those of suppressed rows too.
    texts = [
        exactly(c).cast(pl.String)
        for c, dtype in schema.items()
        if isinstance(dtype, pl.Enum) and c not in recoding.maps
    ]
    return frame.with_columns(texts).drop(selectors.by_name(*recoding.drop))


def is_category(dtype: pl.DataType) -> bool:
    """Whether values are kept as numbers of categories."""
    return isinstance(dtype, pl.Categorical | pl.Enum)


def _released(key: pl.Expr, dtype: pl.DataType, mapping: ValueMap) -> pl.Expr:
    if mapping.constant:
        return pl.lit(mapping.released[0], dtype=mapping.released.dtype)
    values = mapping.values.cast(dtype) if is_category(dtype) else mapping.values
    return key.replace_strict(values, mapping.released, return_dtype=mapping.released.dtype)
