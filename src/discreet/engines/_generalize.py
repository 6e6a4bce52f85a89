"""Values to released values, piece by piece of a table: every value is looked up once.

Its place among the distinct values of the column says what it is released as, and to which class its row belongs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from discreet.engines._forget import own_text
from discreet.engines._names import exactly
from discreet.engines._tuples import Numbering, places_among

if TYPE_CHECKING:
    from discreet.engines._recoding import Recoding, ValueMap

__all__ = ["generalized", "is_category", "looked_up"]

LookUp = Callable[[pl.Series], pl.Series]
Places = Mapping[str, pl.Series]
_NOWHERE = 2**32 - 1


def generalized(
    frame: pl.LazyFrame, recoding: Recoding, key: Mapping[str, pl.Expr], *, own: bool = False
) -> pl.LazyFrame:
    """Add to a plan that columns get their released values, and that classes are left out.

    With ``own`` the text of columns that get other values is in buffers with nothing but the text of these rows.
    """
    schema = frame.collect_schema()
    columns = [*recoding.maps, *recoding.kept]
    frame = frame.with_columns(key[column] for column in columns if schema[column].is_float())
    constant = {column: mapping for column, mapping in recoding.maps.items() if mapping.constant}
    varied = {column: mapping for column, mapping in recoding.maps.items() if column not in constant}
    gone = None if recoding.everything else recoding.suppressed
    if varied or gone is not None:
        frame = frame.drop(selectors.by_name(*constant))
        new = {column: varied[column].released.dtype if column in varied else dtype for column, dtype in schema.items()}
        frame = frame.map_batches(
            _generalizing(varied, gone, schema, _alone if own else pl.Series.gather),
            schema={column: dtype for column, dtype in new.items() if column not in constant},
            predicate_pushdown=False,
            projection_pushdown=False,
            streamable=True,
        )
    frame = frame.with_columns(
        pl.lit(mapping.released[0], dtype=mapping.released.dtype).alias(column) for column, mapping in constant.items()
    )
    return frame.select(map(exactly, schema))


def looked_up(key: pl.Expr, dtype: pl.DataType, mapping: ValueMap) -> pl.Expr:
    """Return what the values of a column are released as."""
    if mapping.constant:
        return pl.lit(mapping.released[0], dtype=mapping.released.dtype)
    place, kind = _look_up(mapping.values, dtype), mapping.released.dtype
    # Told piece by piece: polars would take the expression itself for one on the whole column, and hold the table.
    return key.map_batches(lambda some: mapping.released[place(some)], return_dtype=kind, is_elementwise=True)


def is_category(dtype: pl.DataType) -> bool:
    """Whether values are kept as numbers of categories."""
    return isinstance(dtype, pl.Categorical | pl.Enum)


def _generalizing(
    maps: Mapping[str, ValueMap],
    gone: pl.DataFrame | None,
    schema: pl.Schema,
    gather: Callable[[pl.Series, pl.Series], pl.Series],
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return how a piece of the table is generalized."""
    place_of = {column: _look_up(mapping.values, schema[column]) for column, mapping in maps.items()}
    is_gone = None if gone is None else _membership(gone, maps, schema)

    def generalize(piece: pl.DataFrame) -> pl.DataFrame:
        places: Places = {column: look_up(piece[column]) for column, look_up in place_of.items()}
        if is_gone is not None:
            stays = ~is_gone(piece, places)
            piece = piece.filter(stays)
            places = {column: place.filter(stays) for column, place in places.items()}
        return piece.with_columns(
            gather(mapping.released, places[column]).alias(column) for column, mapping in maps.items()
        )

    return generalize


def _alone(values: pl.Series, places: pl.Series) -> pl.Series:
    """Return the values at some places; the text of others is in no buffer of the result."""
    if values.dtype != pl.String:
        return values.gather(places)
    numbers = places.to_numpy()
    there = np.zeros(len(values), dtype=np.bool_)
    there[numbers] = True
    rank = (np.cumsum(there, dtype=np.int64) - 1).astype(np.uint32)
    return own_text(values.gather(np.flatnonzero(there))).gather(rank[numbers])


def _look_up(values: pl.Series, dtype: pl.DataType, elsewhere: int | None = None) -> LookUp:
    """Return how the places of values among the distinct ones are found.

    One that is not there is an error, unless a number is given for it.
    """
    known = values.cast(dtype) if is_category(dtype) else values
    places = pl.Series(np.arange(len(values), dtype=np.uint32))

    def by_value(some: pl.Series) -> pl.Series:
        if elsewhere is None:
            return some.replace_strict(known, places, return_dtype=pl.UInt32)
        return some.replace_strict(known, places, default=elsewhere, return_dtype=pl.UInt32)

    if not is_category(dtype):
        return by_value
    nowhere = _NOWHERE if elsewhere is None else elsewhere
    numbers = known.to_physical()
    unknown = int(numbers.max() or 0) + 1  # type: ignore[arg-type]
    place = np.full(unknown + 2, nowhere, dtype=np.uint32)  # the last is that of a missing value
    place[_with_missing(numbers, unknown + 1)] = np.arange(len(known))

    def by_number(some: pl.Series) -> pl.Series:
        numbers = some.to_physical()
        if some.null_count() or int(numbers.max() or 0) > unknown:  # type: ignore[arg-type]
            found = place[_with_missing(numbers.cast(pl.UInt32).clip(upper_bound=unknown), unknown + 1)]
        else:
            found = place[numbers.to_numpy()]
        return by_value(some) if elsewhere is None and found.max(initial=0) == nowhere else pl.Series(found)

    return by_number


def _with_missing(numbers: pl.Series, missing: int) -> NDArray[np.integer]:
    return (numbers.cast(pl.Int64).fill_null(missing) if numbers.null_count() else numbers).to_numpy()


def _membership(
    classes: pl.DataFrame, maps: Mapping[str, ValueMap], schema: pl.Schema
) -> Callable[[pl.DataFrame, Places], pl.Series]:
    """Return how to tell which rows are of one of some classes.

    What a column is released as has a number among what the classes have there, and these make up one number for a
    class, so that rows need no join and stay in order.
    """
    digits = [
        _released_digit(values, maps[values.name].released)
        if values.name in maps
        else _kept_digit(values, schema[values.name])
        for values in classes
    ]
    numbering = Numbering(classes.height, ((digit.own, digit.size + 1) for digit in digits))
    wanted = pl.Series(numbering.known).implode()

    def is_member(piece: pl.DataFrame, places: Places) -> pl.Series:
        rows = numbering.of(piece.height, (digit.of(piece, places) for digit in digits))
        return pl.Series(rows).is_in(wanted)

    return is_member


class _Digit(NamedTuple):
    """One column of the number of a class."""

    own: NDArray[np.int64]
    """What each class has here: a number below ``size``."""
    size: int
    of: Callable[[pl.DataFrame, Places], NDArray[np.int64]]
    """What each row of a piece has here; ``size`` if no class has that."""


def _released_digit(values: pl.Series, released: pl.Series) -> _Digit:
    """Number what the classes have in a column that is released as other values, which are text."""
    both = pl.concat([values, released.cast(pl.String)]).cast(pl.Categorical).to_physical()
    numbers = _with_missing(both, 2**32)
    distinct, own = np.unique(numbers[: len(values)], return_inverse=True)
    by_place = places_among(distinct, numbers[len(values) :])
    return _Digit(own, distinct.size, lambda _, places: by_place[places[values.name].to_numpy()])


def _kept_digit(values: pl.Series, dtype: pl.DataType) -> _Digit:
    """Number what the classes have in a column that keeps its values."""
    distinct = values.unique()
    place = _look_up(distinct, dtype, elsewhere=len(distinct))
    own = _look_up(distinct, values.dtype)(values).to_numpy().astype(np.int64)
    return _Digit(own, len(distinct), lambda piece, _: place(piece[values.name]).to_numpy())
