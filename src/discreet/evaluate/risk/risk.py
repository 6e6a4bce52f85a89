"""``risk``: how likely people are found in a table, and what it reveals about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from discreet.engines import MissingSensitive, open_source
from discreet.evaluate.classes import read_classes
from discreet.evaluate.inputs import EvaluationInput, marks_assumed
from discreet.evaluate.released_as import with_mapping
from discreet.evaluate.risk.combinations import column_risk
from discreet.evaluate.risk.disclosure import disclosure
from discreet.evaluate.risk.identifying import identifier_warnings
from discreet.evaluate.risk.individual import individual_risk
from discreet.evaluate.risk.population import population_risk, weighted_risk, weights_of
from discreet.evaluate.risk.records import record_risk
from discreet.evaluate.risk.report import RiskReport
from discreet.evaluate.risk.suda import suda_scores
from discreet.problem import PrivacyModel, Suppression
from discreet.runtime.arguments import number, whole_number

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
    suppression: str | Suppression | None = None,
    privacy: str | PrivacyModel | Sequence[str | PrivacyModel] | None = None,
    missing_sensitive: MissingSensitive | None = None,
    depth: int = 3,
) -> RiskReport:
    """Measure the risks of a table, original or released.

    Three attackers look for people. The *prosecutor* knows that somebody is in the table: the risk of a record is 1
    over the size of its class. The *journalist* only knows that somebody is in the population, and has to find them
    among all people there with the same values. The *marketer* wants to find as many people as possible, and expects
    the mean of these risks.

    Parameters
    ----------
    data
        The table: a path, a frame of any kind, or a :class:`discreet.Release`.
    quasi_identifiers
        The columns others may know, as a list or as a mapping to the hierarchies the table was released with; those
        only matter if the population is less coarse than the table. A release knows its own.
    mapping
        The mapping of the release, which defines the released values; an alternative to hierarchies.
    sensitive
        The columns nobody should learn, or a mapping to their hierarchies. A release knows its own.
    population
        A table of all the people the data was drawn from (the data among them, its values as they are or less
        coarse), or the number of these people.
    weights
        The column of survey weights, if there is no such table: how many people of the population each row
        represents. A release knows its own.
    threshold
        Records with a higher risk count as at risk; 0.2 is the risk in a class of five.
    original
        The table the release was made from. Its own risk is measured too, and the distribution of sensitive values is
        compared with it instead of with the data.
    types
        The types of columns that would be inferred wrongly.
    unknown
        What marks a suppressed sensitive value, by default ``"*"`` where a sensitive column has it. With ``""`` nothing
        does.
    suppression, privacy
        How values were suppressed and what was promised, as in ``"violating-values"`` and ``"l+(0.25, disease)"``:
        whoever knows both can rule out more values that a suppressed one may be. A release knows its own.
    missing_sensitive
        Whether a missing sensitive value is ``unknown`` or a ``value`` of its own; by default as in the release, else
        ``unknown``.
    depth
        The largest combinations of columns to examine, and so the largest minimal sample uniques of SUDA.

    >>> people = pl.DataFrame({"age": [21, 21, 35, 35, 52], "sex": ["f", "f", "f", "m", "m"], "ill": ["flu"] * 5})
    >>> report = risk(people, quasi_identifiers=["age", "sex"], sensitive=["ill"], population=50)
    >>> report.prosecutor.highest, report.prosecutor.at_risk, report.uniques, round(report.marketer, 3)
    (1.0, 5, 3, 0.187)
    >>> report.columns.keys, report.disclosure["ill"].confidence
    ((), 1.0)

    """
    given = EvaluationInput.make(data, with_mapping(quasi_identifiers, mapping), sensitive, types)
    limit = float(number(threshold, "The threshold", above=0, most=1))
    whole_number(depth, "The depth", least=1)
    weights = weights_of(given, population, weights)
    classes = read_classes(open_source(given.table), given.names, given.secrets, weights)
    own = 1 / classes.sizes
    people, risks, members = None, own, None
    if population is not None:
        people, risks, members = population_risk(classes, population, given.hierarchies, given.types)
    elif classes.people is not None:
        people, risks, members = weighted_risk(classes, classes.people)
    hiding = given.hiding(privacy, suppression)
    columns = given.sensitive_columns(classes, unknown, missing_sensitive, hiding)
    before = first = None
    if original is not None:
        first = read_classes(open_source(original), given.names)
        before = record_risk(first.sizes, 1 / first.sizes, limit)
    by_columns, uniques = column_risk(classes, depth)
    return RiskReport(
        quasi_identifiers=given.names,
        rows=classes.rows,
        classes=classes.sizes.size,
        threshold=limit,
        prosecutor=record_risk(classes.sizes, own, limit),
        journalist=None if people is None else record_risk(classes.sizes, risks, limit),
        marketer=float((classes.sizes * risks).sum() / classes.rows),
        before=before,
        uniques=int((classes.sizes == 1).sum()),
        sizes=_sizes(classes.sizes),
        population=people,
        individual=None if members is None else individual_risk(classes.sizes, members, risks),
        columns=by_columns,
        suda=suda_scores(uniques, classes.sizes, None if people is None else people.fraction),
        disclosure={name: disclosure(classes, column, original, hiding) for name, column in columns.items()},
        warnings=identifier_warnings(given.table),
        original_rows=None if first is None else first.rows,
        notes=() if unknown is not None else marks_assumed(classes, columns, hiding),
    )


def _sizes(sizes: Any) -> pl.DataFrame:
    """Return the number of classes and rows of each size."""
    size, classes = np.unique(sizes, return_counts=True)
    rows = size * classes
    return pl.DataFrame({"size": size, "classes": classes, "rows": rows, "share": rows / rows.sum()})
