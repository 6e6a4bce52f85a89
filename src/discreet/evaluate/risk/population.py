"""The risk in the population that the data was drawn from, given as a table, by its size or by survey weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.engines import open_source
from discreet.errors import UsageError
from discreet.evaluate.candidates import find_candidates
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.evaluate.inputs import EvaluationInput
from discreet.evaluate.risk.records import expected_risk
from discreet.problem.uniqueness import PopulationUniques, estimate_uniques

__all__ = ["PopulationFacts", "population_risk", "weighted_risk", "weights_of"]


@dataclass(frozen=True, eq=False)
class PopulationFacts:
    """The population that the data was drawn from."""

    size: int
    fraction: float
    """The share of the population that is in the data."""
    uniques: int | None
    """The unique rows of the data that are unique in the population too; None if only its size is known."""
    outside: int
    """The rows in classes that are smaller in the population table, although it should hold everybody."""
    estimated: PopulationUniques
    """Estimates from the data and the size of the population alone."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "size": self.size,
            "fraction": self.fraction,
            "uniques": self.uniques,
            "outside": self.outside,
            "estimated": self.estimated.to_dict(),
        }


def weights_of(given: EvaluationInput, population: Any, weights: str | None) -> str | None:
    """Return the column of survey weights, which a release knows; refuse weights beside another population."""
    if isinstance(population, str) and population.isdecimal():
        raise UsageError("The size of the population is a number, not text; leave the quotation marks out.")
    if population is None:
        return given.job.get("weights") if weights is None else weights
    if weights is not None:
        raise UsageError("The population is either a table or estimated by weights; leave one of the two out.")
    return None


def population_risk(
    classes: CountedClasses, population: Any, hierarchies: Mapping[str, Any], types: Mapping[str, Any]
) -> tuple[PopulationFacts, FloatArray, FloatArray]:
    """Return facts about the population, the risk of a record of each class, and the people of each class.

    With a table the risk is 1 / F for the F people of the table who may be in the class; with a size alone it is the
    expected value (:func:`expected_risk`), and the people of a class are its rows divided by the sampling fraction.
    """
    if isinstance(population, Real):
        size, members, uniques = _whole(population, classes.rows), None, None
    else:
        size, members, uniques = _members(classes, population, hierarchies, types)
    fraction = min(classes.rows / size, 1.0)
    sizes, counts = np.unique(classes.sizes, return_counts=True)
    estimated = estimate_uniques(sizes, counts, max(size, classes.rows))
    if members is None:
        risks = expected_risk(classes.sizes, fraction)
        return PopulationFacts(size, fraction, None, 0, estimated), risks, classes.sizes / fraction
    outside = int(classes.sizes[members < classes.sizes].sum())
    people = np.maximum(members, classes.sizes).astype(np.float64)
    return PopulationFacts(size, fraction, uniques, outside, estimated), 1 / people, people


def weighted_risk(classes: CountedClasses, people: FloatArray) -> tuple[PopulationFacts, FloatArray, FloatArray]:
    """Return facts about the population as estimated by survey weights, and the risk and people of each class.

    The weights of a class add up to its estimated size in the population, which is at least its size in the data; the
    risk is the expected value (:func:`expected_risk`, the individual risk of sdcMicro).
    """
    estimated_sizes = np.maximum(people, classes.sizes)
    size = max(round(float(estimated_sizes.sum())), classes.rows)
    sizes, counts = np.unique(classes.sizes, return_counts=True)
    estimated = estimate_uniques(sizes, counts, size)
    risks = expected_risk(classes.sizes, classes.sizes / estimated_sizes)
    return PopulationFacts(size, min(classes.rows / size, 1.0), None, 0, estimated), risks, estimated_sizes


def _whole(population: Any, rows: int) -> int:
    if isinstance(population, bool) or population != int(population) or population < rows:
        raise UsageError(
            f"The population has at least the {rows:,} people of the data; give its size as a whole number, or a table."
        )
    return int(population)


def _members(
    classes: CountedClasses, population: Any, hierarchies: Mapping[str, Any], types: Mapping[str, Any]
) -> tuple[int, IntArray, int]:
    """Return the size of a population table, its people who may be in each class, and the unique rows."""
    people = read_classes(open_source(population), classes.columns)
    candidates = find_candidates(people, classes, hierarchies, types)
    members = np.zeros(classes.sizes.size, dtype=np.int64)
    for some, index, released in candidates.found():
        np.add.at(members, released, people.sizes[some][index])
    return people.rows, members, int(((members == 1) & (classes.sizes == 1)).sum())
