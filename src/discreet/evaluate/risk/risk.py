"""``risk``: how likely people are found in a table, and what it reveals about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from discreet.counts import FloatArray
from discreet.engines import MissingSensitive, Source, open_source
from discreet.errors import MissingColumnError, UsageError
from discreet.evaluate.classes import CountedClasses, any_found, read_classes
from discreet.evaluate.inputs import EvaluationInput, join_given, marks_assumed
from discreet.evaluate.released_as import with_mapping
from discreet.evaluate.risk.combinations import column_risk
from discreet.evaluate.risk.disclosure import disclosure
from discreet.evaluate.risk.identifying import identifier_warnings
from discreet.evaluate.risk.individual import individual_risk
from discreet.evaluate.risk.log_linear import log_linear_risk
from discreet.evaluate.risk.population import population_risk, weighted_risk, weights_of
from discreet.evaluate.risk.records import RecordRisk, record_risk
from discreet.evaluate.risk.report import RiskReport
from discreet.evaluate.risk.suda import suda_scores
from discreet.problem import PrivacyModel, Suppression
from discreet.problem.key_sets import about_key_sets
from discreet.runtime.arguments import number, whole_number
from discreet.runtime.plurals import units
from discreet.schema import missing_mark_notes

__all__ = ["risk"]


def risk(
    data: Any,
    *,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any] | None = None,
    mapping: Any = None,
    sensitive: str | Sequence[str] | Mapping[str, Any] | None = None,
    population: Any = None,
    weights: str | None = None,
    person: str | None = None,
    household: str | None = None,
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
        The table: a path, a frame of any kind, or a :class:`discreet.Release`. Or several tables that are linked by
        ``person``, that of people first, as in ``{"people": people, "visits": visits}``.
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
    person, household
        The column that says whose row it is, where people may have several rows: classes are counted in people, and a
        person is as likely to be found as by the row that is found most easily. With ``household``, the report says how
        likely at least one member of a household is found, and so the whole of it; without ``person``, every row is a
        member. A release that has pseudonyms knows its own.
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
    (data, original), roles = join_given((data, original), with_mapping(quasi_identifiers, mapping), person)
    given = EvaluationInput.make(data, roles, sensitive, types)
    limit = float(number(threshold, "The threshold", above=0, most=1))
    whole_number(depth, "The depth", least=1)
    weights = weights_of(given, population, weights)
    source = open_source(given.table)
    owners = _owners(given.job, source.columns, person, household)
    if "person" in owners and weights is not None:
        raise UsageError(
            "Survey weights are of rows, and the risk is one of people; leave one of the two out.", topic="people"
        )
    rows_alone = read_classes(source, given.names, given.secrets, weights)
    classes = read_classes(source, given.names, given.secrets, **owners) if "person" in owners else rows_alone
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
        first = read_classes(open_source(original), given.names, **(owners if "person" in owners else {}))
        before = _risk_of(first, 1 / first.sizes, limit)
    by_columns, uniques = column_risk(rows_alone, depth)
    return RiskReport(
        quasi_identifiers=given.names,
        rows=rows_alone.rows,
        classes=classes.sizes.size,
        threshold=limit,
        prosecutor=_risk_of(classes, own, limit),
        journalist=None if people is None else _risk_of(classes, risks, limit),
        marketer=_risk_of(classes, risks, limit).average,
        before=before,
        uniques=_uniques(classes),
        sizes=_sizes(classes),
        population=people,
        individual=None if members is None or classes.owners else individual_risk(classes.sizes, members, risks),
        log_linear=None
        if people is None or classes.owners
        else log_linear_risk(classes.codes, classes.sizes, people.fraction),
        columns=by_columns,
        suda=suda_scores(uniques, rows_alone.sizes, None if people is None else people.fraction),
        disclosure={name: disclosure(classes, column, original, hiding) for name, column in columns.items()},
        warnings=identifier_warnings(given.table),
        original_rows=None if first is None else int(first.count.sum()),
        people=None if classes.owners is None else classes.owners.people,
        household=_household_risk(source, classes, owners.get("household"), limit),
        notes=(
            *_about_promises(hiding.models, classes),
            *(() if unknown is not None else marks_assumed(classes, columns, hiding)),
            *(() if given.job else _missing_marks(rows_alone)),
        ),
    )


def _missing_marks(classes: CountedClasses) -> Iterator[str]:
    """Yield a note for each column with texts that often mean a missing value."""
    for column, codes in zip(classes.columns, classes.codes, strict=True):
        values = classes.values[column]
        rows = np.bincount(codes, classes.sizes, len(values)).astype(np.int64)
        yield from missing_mark_notes(column, values, rows)
    for column, codes in classes.secret.items():
        values = classes.values[column]
        yield from missing_mark_notes(column, values, np.bincount(codes, classes.count, len(values)).astype(np.int64))


def _about_promises(models: Sequence[PrivacyModel], classes: CountedClasses) -> Iterator[str]:
    """Yield what promises about key sets leave open."""
    total, unit = (classes.rows, "row") if classes.owners is None else (classes.owners.people, "person")
    alone = f"{_uniques(classes) / max(total, 1):.1%} of the {units(unit)}"
    sentence = about_key_sets(models, classes.columns, int(classes.sizes.min(initial=0)), alone, unit)
    if sentence is not None:
        yield sentence


def _owners(
    job: Mapping[str, Any], columns: Sequence[str], person: str | None, household: str | None
) -> dict[str, str]:
    """Return the columns that say whose rows they are; those of a release if its table has them."""
    given = {"person": person, "household": household}
    if person is None and household is None:
        given = {role: job.get(role) if job.get(role) in columns else None for role in given}
    for column in given.values():
        if column is not None and column not in columns:
            raise MissingColumnError(column, columns)
    return {role: column for role, column in given.items() if column is not None}


def _risk_of(classes: CountedClasses, risks: FloatArray, limit: float) -> RecordRisk:
    """Return the risk of records, given that of each class; where people are counted, that of people."""
    if classes.owners is None:
        return record_risk(classes.sizes, risks, limit)
    found = classes.owners.highest(risks[classes.group])
    return record_risk(np.ones(found.size, dtype=np.int64), found, limit)


def _uniques(classes: CountedClasses) -> int:
    """Return how many rows, or people, are alone in a class."""
    alone = classes.sizes == 1
    if classes.owners is None:
        return int(alone.sum())
    return int(np.unique(classes.owners.person[alone[classes.group]]).size)


def _household_risk(source: Source, classes: CountedClasses, column: str | None, limit: float) -> RecordRisk | None:
    """Return the risk of households: one member found is all found. Without people, every row is a member."""
    if column is None:
        return None
    risks = 1 / classes.sizes
    if classes.owners is not None:
        found = classes.owners.together(classes.owners.highest(risks[classes.group]))
    else:
        rows = read_classes(source, classes.columns, person=column)  # which numbers classes alike
        assert rows.owners is not None
        found = any_found(rows.owners.person, (1 - risks[rows.group]) ** rows.count)
    return record_risk(np.ones(found.size, dtype=np.int64), found, limit)


def _sizes(counted: CountedClasses) -> pl.DataFrame:
    """Return the number of classes and rows of each size; a person counts once, in the smallest class."""
    size, classes = np.unique(counted.sizes, return_counts=True)
    rows = size * classes
    if counted.owners is not None:
        risks = counted.owners.highest(1 / counted.sizes[counted.group])
        rows = np.bincount(np.searchsorted(size, np.rint(1 / risks)), minlength=size.size)
    return pl.DataFrame({"size": size, "classes": classes, "rows": rows, "share": rows / rows.sum()})
