"""How many people of the population have the released values of each class, for the audit.

Released values are read as anybody would read them: as a value, a range, a set or a node of a hierarchy. Nothing here
knows which recoding made them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet._choices import EngineChoice
from discreet._places import is_url
from discreet.errors import DataError, did_you_mean
from discreet.release._audit._open import open_table

__all__ = ["people_of_classes"]


def people_of_classes(
    classes: pl.DataFrame,
    columns: Sequence[str],
    population: Any,
    hierarchies: Mapping[str, Any],
    types: Mapping[str, Any],
    engine: EngineChoice | None = None,
) -> NDArray[np.float64]:
    """Return how many people of a population have the released values of each class.

    ``classes`` has a row for each class and its released values in the order of ``columns``. ``population`` is a table
    of any kind, or a mapping from ``"counted"`` to one that was counted by these columns already.
    """
    from discreet.evaluate._cells import class_cells
    from discreet.evaluate._covering import find_candidates

    if classes.is_empty():
        return np.zeros(0)
    if isinstance(population, Mapping):
        given: pl.DataFrame = population["counted"]
        counted = pl.DataFrame([*(given[column] for column in columns), given.to_series(-1)])
    else:
        counted = _count(population, columns, engine)
    people = class_cells(counted, columns)
    sizes = counted.to_series(-1).to_numpy().astype(np.int64)
    found = np.zeros(classes.height)
    released = class_cells(classes, columns)
    for some, place, group in find_candidates(people, released, hierarchies, types).found():
        np.add.at(found, group, sizes[some][place])
    return found


def _count(population: Any, columns: Sequence[str], engine: EngineChoice | None) -> pl.DataFrame:
    """Return the distinct combinations of some columns, in this order, and then how many people have each."""
    is_file = isinstance(population, str | PathLike) and not is_url(population)
    table = open_table(population, engine if is_file else None, columns)
    for column in columns:
        if column not in table.columns:
            hint = did_you_mean(column, table.columns) or "it needs every quasi-identifier of the data."
            raise DataError(f"The population has no column '{column}'; {hint}", column=column)
    counted = table.groups({f"q{place}": column for place, column in enumerate(columns)})
    if counted.is_empty():
        raise DataError("The population has no people; give the table of those the data was drawn from.")
    return counted
