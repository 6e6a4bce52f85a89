"""The population the people of a table come from: a table of it, or its size alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.engines import open_source
from discreet.errors import UsageError
from discreet.evaluate._cells import Cells, read_cells
from discreet.evaluate._covering import find_candidates
from discreet.evaluate._risk._records import expected_risk
from discreet.problem._uniques import PopulationUniques, estimate_uniques

__all__ = ["Population", "population_risk", "weighted_risk"]


@dataclass(frozen=True, eq=False)
class Population:
    """What is known about the population the people of the data come from."""

    size: int
    fraction: float
    """The share of the population the data holds."""
    uniques: int | None
    """The unique rows of the data that are unique in the population too; None where only the size is known."""
    outside: int
    """The rows of the data in classes of which the population table has fewer; it should hold everybody."""
    estimated: PopulationUniques
    """How many there are by models that only know the data and the size of the population."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "size": self.size,
            "fraction": self.fraction,
            "uniques": self.uniques,
            "outside": self.outside,
            "estimated": self.estimated.to_dict(),
        }


def population_risk(
    cells: Cells, population: Any, hierarchies: Mapping[str, Any], types: Mapping[str, Any]
) -> tuple[Population, FloatArray]:
    """Return what is known about the population, and the risk of a record of each class in it.

    With a table the risk is 1 / F, F being the people of the table who may be in the class, and with a size alone
    what is expected of it (:func:`expected_risk`).
    """
    if isinstance(population, Real):
        size, members, uniques = _whole(population, cells.rows), None, None
    else:
        size, members, uniques = _members(cells, population, hierarchies, types)
    fraction = min(cells.rows / size, 1.0)
    kinds, classes = np.unique(cells.sizes, return_counts=True)
    estimated = estimate_uniques(kinds, classes, max(size, cells.rows))
    if members is None:
        return Population(size, fraction, None, 0, estimated), expected_risk(cells.sizes, fraction)
    outside = int(cells.sizes[members < cells.sizes].sum())
    risks = 1 / np.maximum(members, cells.sizes)
    return Population(size, fraction, uniques, outside, estimated), risks


def weighted_risk(cells: Cells, people: FloatArray) -> tuple[Population, FloatArray]:
    """Return what the survey weights tell about the population, and the risk of a record of each class in it.

    The weights of a class add up to how many people it is estimated to have there, the rows of the class at least; the
    risk is what is expected of it by that (:func:`expected_risk`, the individual risk of sdcMicro).
    """
    there = np.maximum(people, cells.sizes)
    size = max(round(float(there.sum())), cells.rows)
    kinds, classes = np.unique(cells.sizes, return_counts=True)
    estimated = estimate_uniques(kinds, classes, size)
    risks = expected_risk(cells.sizes, cells.sizes / there)
    return Population(size, min(cells.rows / size, 1.0), None, 0, estimated), risks


def _whole(population: Any, rows: int) -> int:
    if isinstance(population, bool) or population != int(population) or population < rows:
        raise UsageError(
            f"The population has at least the {rows:,} people of the data; give its size as a whole number, or a table."
        )
    return int(population)


def _members(
    cells: Cells, population: Any, hierarchies: Mapping[str, Any], types: Mapping[str, Any]
) -> tuple[int, IntArray, int]:
    """Return the size of a population table, how many of its people may be in each class, and the unique rows."""
    people = read_cells(open_source(population), cells.columns)
    candidates = find_candidates(people, cells, hierarchies, types)
    members = np.zeros(cells.sizes.size, dtype=np.int64)
    for some, place, released in candidates.found():
        np.add.at(members, released, people.sizes[some][place])
    return people.rows, members, int(((members == 1) & (cells.sizes == 1)).sum())
