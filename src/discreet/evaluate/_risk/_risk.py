"""``risk``: how likely the people of a table are found in it, and what it tells about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from discreet.engines import MissingSensitive, open_source
from discreet.errors import UsageError
from discreet.evaluate._asked import Asked
from discreet.evaluate._cells import read_cells
from discreet.evaluate._released_as import with_mapping
from discreet.evaluate._risk._combinations import column_risk
from discreet.evaluate._risk._disclosure import disclosure
from discreet.evaluate._risk._identifying import identifier_warnings
from discreet.evaluate._risk._population import population_risk, weighted_risk
from discreet.evaluate._risk._records import record_risk
from discreet.evaluate._risk._report import RiskReport
from discreet.problem._checks import number, whole_number

__all__ = ["risk"]


def risk(
    data: Any,
    *,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any] | None = None,
    mapping: Any = None,
    sensitive: str | Sequence[str] | Mapping[str, Any] | None = None,
    population: Any = None,
    weights: str | None = None,
    threshold: float = 0.2,
    original: Any = None,
    types: Mapping[str, Any] | None = None,
    unknown: str | None = None,
    missing_sensitive: MissingSensitive | None = None,
    depth: int = 3,
) -> RiskReport:
    """Measure the risks of a table, original or released.

    Three attackers look for people. The *prosecutor* knows that somebody is in the table: the risk of a record is 1
    over the size of its class. The *journalist* only knows that they are in the population, and so has to find them
    among the people of the class there. The *marketer* wants to find as many as possible, and expects the mean of
    these risks.

    Parameters
    ----------
    data
        The table: a path, a frame of any kind, or a :class:`discreet.Release`.
    quasi_identifiers
        The columns others may know, as a list or as a mapping to the hierarchies the table was released with, which
        only matter if the population is less coarse than the table. Of a release they are known.
    mapping
        The mapping of the release, which says what released values stand for instead.
    sensitive
        The columns nobody should learn, or a mapping to their hierarchies. Of a release they are known.
    population
        A table of all the people the data was drawn from (the data among them, its values as they are or less
        coarse), or the number of these people.
    weights
        The column with the survey weights, where there is no such table: they say how many people each row stands for,
        and those of a class how many it has in the population. Of a release they are known.
    threshold
        Records whose risk is above this are at risk; 0.2 is a class of five.
    original
        The table the release was made from: sensitive values are compared with how often it has each, and the risk it
        had itself is told. Without it they are compared with the data.
    types
        The types of columns that are not what they look like.
    unknown
        What stands for a suppressed sensitive value, as in ``"*"``.
    missing_sensitive
        Whether a missing sensitive value is ``unknown`` or one more ``value``; as the release was asked for if it knows
        that, else ``unknown``.
    depth
        Combinations of up to so many columns are looked at.

    >>> people = pl.DataFrame({"age": [21, 21, 35, 35, 52], "sex": ["f", "f", "f", "m", "m"], "ill": ["flu"] * 5})
    >>> report = risk(people, quasi_identifiers=["age", "sex"], sensitive=["ill"], population=50)
    >>> report.prosecutor.highest, report.prosecutor.at_risk, report.uniques, round(report.marketer, 3)
    (1.0, 5, 3, 0.187)
    >>> report.columns.keys, report.disclosure["ill"].confidence
    ((), 1.0)

    """
    asked = Asked.make(data, with_mapping(quasi_identifiers, mapping), sensitive, types)
    limit = float(number(threshold, "The threshold", above=0, most=1))
    whole_number(depth, "The depth", least=1)
    if isinstance(population, str) and population.isdecimal():
        raise UsageError("The size of the population is a number, not text; leave the quotation marks out.")
    if weights is None and population is None:
        weights = asked.job.get("weights")
    elif weights is not None and population is not None:
        raise UsageError("The population is either a table or estimated by weights; leave one of the two out.")
    cells = read_cells(open_source(asked.table), asked.names, asked.secrets, weights)
    own = 1 / cells.sizes
    people, risks = None, own
    if population is not None:
        people, risks = population_risk(cells, population, asked.hierarchies, asked.types)
    elif cells.people is not None:
        people, risks = weighted_risk(cells, cells.people)
    before = first = None
    if original is not None:
        first = read_cells(open_source(original), asked.names)
        before = record_risk(first.sizes, 1 / first.sizes, limit)
    return RiskReport(
        quasi_identifiers=asked.names,
        rows=cells.rows,
        classes=cells.sizes.size,
        threshold=limit,
        prosecutor=record_risk(cells.sizes, own, limit),
        journalist=None if people is None else record_risk(cells.sizes, risks, limit),
        marketer=float((cells.sizes * risks).sum() / cells.rows),
        before=before,
        uniques=int((cells.sizes == 1).sum()),
        sizes=_sizes(cells.sizes),
        population=people,
        columns=column_risk(cells, depth),
        disclosure={
            column: disclosure(
                cells, column, original, tree, asked.types, unknown, asked.missing_sensitive(missing_sensitive)
            )
            for column, tree in asked.sensitive.items()
        },
        warnings=identifier_warnings(asked.table),
        original_rows=None if first is None else first.rows,
    )


def _sizes(sizes: Any) -> pl.DataFrame:
    """Return how many classes and rows there are of each size."""
    size, classes = np.unique(sizes, return_counts=True)
    rows = size * classes
    return pl.DataFrame({"size": size, "classes": classes, "rows": rows, "share": rows / rows.sum()})
