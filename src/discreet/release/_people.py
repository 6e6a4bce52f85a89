"""How many people of the population have the released values of each class, for the audit.

Released values are read as anybody would read them: as a value, a range, a set or a node of a hierarchy. Nothing here
knows which recoding made them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines import Engine, count_people

__all__ = ["people_of_classes"]


def people_of_classes(
    classes: pl.DataFrame,
    columns: Sequence[str],
    population: Any,
    hierarchies: Mapping[str, Any],
    types: Mapping[str, Any],
    engine: Engine | None = None,
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
    people = counted_cells(count_people(population, columns, engine=engine) if counted is None else counted, columns)
    found = np.zeros(classes.height)
    released = class_cells(classes, columns)
    for some, place, group in find_candidates(people, released, hierarchies, types).found():
        np.add.at(found, group, people.sizes[some][place])
    return found
