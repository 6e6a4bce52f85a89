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
    from discreet.evaluate._cells import class_cells, counted_cells
    from discreet.evaluate._covering import find_candidates

    if classes.is_empty():
        return np.zeros(0)
    counted = population["counted"] if isinstance(population, Mapping) else None
    people = counted_cells(_count(population, columns, engine) if counted is None else counted, columns)
    found = np.zeros(classes.height)
    released = class_cells(classes, columns)
    for some, place, group in find_candidates(people, released, hierarchies, types).found():
        np.add.at(found, group, people.sizes[some][place])
    return found


def _count(population: Any, columns: Sequence[str], engine: EngineChoice | None) -> pl.DataFrame:
    """Return the distinct combinations of some columns and, as last column, how many people have each."""
    is_file = isinstance(population, str | PathLike) and not is_url(population)
    table = open_table(population, engine if is_file else None, columns)
    for column in columns:
        if column not in table.columns:
            hint = did_you_mean(column, table.columns) or "it needs every quasi-identifier of the data."
            raise DataError(f"The population has no column '{column}'; {hint}", column=column)
    names = {f"q{place}": column for place, column in enumerate(columns)}
    counted = table.groups(names)
    if counted.is_empty():
        raise DataError("The population has no people; give the table of those the data was drawn from.")
    return pl.DataFrame([*(counted[name].alias(column) for name, column in names.items()), _unnamed(counted, columns)])


def _unnamed(counted: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    name = "rows"
    while name in columns:
        name += "_"
    return counted["rows"].alias(name)
