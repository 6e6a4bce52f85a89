"""``record_risks``: the frequency counts, risks and SUDA scores of every row, for the owner of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import FloatArray
from discreet.engines import UNKNOWN, open_source
from discreet.errors import MissingColumnError, UsageError
from discreet.evaluate.classes import CountedClasses, any_found, read_classes
from discreet.evaluate.inputs import EvaluationInput
from discreet.evaluate.released_as import with_mapping
from discreet.evaluate.risk.combinations import column_risk
from discreet.evaluate.risk.population import population_risk, weighted_risk, weights_of
from discreet.evaluate.risk.records import expected_risk
from discreet.evaluate.risk.suda import data_intrusion, dis_suda
from discreet.evaluate.row_classes import class_of_rows, rows_in_order
from discreet.runtime.arguments import one_of, whole_number
from discreet.runtime.integer_codes import numbered

__all__ = ["household_risk", "record_risks"]

_MOST_PATTERNS = 1000
"""The most sets of columns that are hidden together: each is compared with each other."""


def record_risks(
    data: Any,
    *,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any] | None = None,
    mapping: Any = None,
    population: Any = None,
    weights: str | None = None,
    household: str | None = None,
    hidden_cells: str = "value",
    depth: int = 3,
) -> pl.DataFrame:
    """Measure the risk of each row of a table: a frame with as many rows, in the same order.

    The result has no value of the data, but it says which rows are at risk: it is for the owner of the data alone.

    =============== ==================================================================================================
    ``f``           the sample frequency count: the rows with the same quasi-identifiers
    ``F``           the population frequency count: the people with them (missing without a population)
    ``risk``        the individual risk: 1 / F if F is counted, else the expected 1 / F; 1 / f without a population
    ``household``   with a household column, the risk that at least one of its rows is found: 1 - Π (1 - risk)
    ``smallest``    the columns of the smallest minimal sample unique (MSU) of the row; 0 if it has none
    ``msus``        the number of its MSUs
    ``suda``        its SUDA score
    ``dis_suda``    its DIS-SUDA score (missing without a population)
    ``suda: age``   the share of its SUDA score that comes from MSUs with the column ``age``, and so on
    =============== ==================================================================================================

    Parameters
    ----------
    data, quasi_identifiers, mapping, population, weights, depth
        As for :func:`risk`. The rows of the table need an order, so that it is no table of a database.
    household
        The column that says which rows belong together.
    hidden_cells
        With ``value``, a missing value and ``*`` are values like any other. With ``matches``, a ``*`` is equal to every
        value, and with ``missing`` so is a missing value, as sdcMicro and μ-ARGUS count ``f`` and ``F``. SUDA scores
        are not affected.

    >>> people = pl.DataFrame({"age": [21, 21, 35, 35, 52], "sex": ["f", "f", "f", "m", "m"]})
    >>> record_risks(people, quasi_identifiers=["age", "sex"], population=50).select("f", "F", "suda").rows()
    [(2, 20.0, 0.0), (2, 20.0, 0.0), (1, 10.0, 1.0), (1, 10.0, 1.0), (1, 10.0, 1.0)]

    """
    given = EvaluationInput.make(data, with_mapping(quasi_identifiers, mapping), None, None)
    one_of(hidden_cells, "The argument hidden_cells", ("value", "matches", "missing"))
    whole_number(depth, "The depth", least=1)
    source = open_source(given.table)
    if household is not None and household not in source.columns:
        raise MissingColumnError(household, source.columns)
    classes = read_classes(source, given.names, (), weights_of(given, population, weights))
    counts = _frequency_counts(classes, population, given)
    if hidden_cells != "value":
        counts = _with_matches(counts, classes, hidden_cells, isinstance(population, Real | None))
    rows = pl.DataFrame({"f": counts.f, "F": counts.people, "risk": counts.risks}, schema_overrides={"F": pl.Float64})
    special = _special_uniques(classes, depth, counts.fraction)
    table = pl.concat([rows, special], how="horizontal")[class_of_rows(given.table, classes)]
    if household is None:
        return table
    return table.insert_column(3, household_risk(table["risk"], rows_in_order(given.table, [household])[household]))


def household_risk(risks: pl.Series, household: pl.Series) -> pl.Series:
    """Return for each row the risk that at least one row of its household is found; a missing value is no household.

    >>> household_risk(pl.Series([0.5, 0.5, 0.1]), pl.Series(["a", "a", None])).to_list()
    [0.75, 0.75, 0.1]
    """
    found, known = risks.to_numpy().copy(), household.is_not_null().to_numpy()
    if known.any():
        number = household.drop_nulls().rank("dense").to_numpy().astype(np.int64) - 1
        found[known] = any_found(number, 1 - found[known])[number]
    return pl.Series("household", found)


@dataclass(frozen=True, eq=False)
class _FrequencyCounts:
    """The sample and population frequency counts of each class, and the risk of its rows."""

    f: NDArray[np.int64]
    people: FloatArray | None
    risks: FloatArray
    fraction: float | None
    """The share of the population that is in the data."""


def _frequency_counts(classes: CountedClasses, population: Any, given: EvaluationInput) -> _FrequencyCounts:
    if population is not None:
        facts, risks, people = population_risk(classes, population, given.hierarchies, given.types)
    elif classes.people is not None:
        facts, risks, people = weighted_risk(classes, classes.people)
    else:
        return _FrequencyCounts(classes.sizes, None, 1 / classes.sizes, None)
    return _FrequencyCounts(classes.sizes, people, risks, facts.fraction)


def _with_matches(
    counts: _FrequencyCounts, classes: CountedClasses, hidden_cells: str, estimated: bool
) -> _FrequencyCounts:
    """Count the rows and people that match each class, if hidden cells are equal to every value."""
    if not estimated:
        raise UsageError(
            "Matches of hidden cells are not looked up in a table of the population; give its size or survey weights "
            "instead, or leave hidden_cells out."
        )
    hidden = [
        _hidden(classes, name, codes, hidden_cells) for name, codes in zip(classes.columns, classes.codes, strict=True)
    ]
    f = np.rint(_matching(classes, hidden, classes.sizes)).astype(np.int64)
    if counts.fraction is None:
        return replace(counts, f=f, risks=1 / f)
    if classes.people is None:
        return replace(counts, f=f, people=f / counts.fraction, risks=expected_risk(f, counts.fraction))
    people = np.maximum(_matching(classes, hidden, classes.people), f)
    return replace(counts, f=f, people=people, risks=expected_risk(f, f / people))


def _hidden(classes: CountedClasses, name: str, codes: NDArray[np.integer], hidden_cells: str) -> NDArray[np.bool_]:
    """Return the classes whose value of a column is hidden."""
    values = classes.values[name]
    marked = values == UNKNOWN if values.dtype == pl.String else pl.repeat(False, len(values), eager=True)
    missing = values.is_null() if hidden_cells == "missing" else pl.repeat(False, len(values), eager=True)
    return np.asarray((marked.fill_null(False) | missing).to_numpy()[codes])


def _matching(classes: CountedClasses, hidden: Sequence[NDArray[np.bool_]], amounts: NDArray[Any]) -> FloatArray:
    """Add up the amounts of the classes that match each class: they agree wherever neither is hidden."""
    patterns, of_class = np.unique(np.stack(hidden, axis=1), axis=0, return_inverse=True)
    if len(patterns) > _MOST_PATTERNS:
        raise UsageError(
            f"Cells are hidden in {len(patterns):,} different sets of columns, which are too many to compare with each "
            "other; leave hidden_cells out."
        )
    members = [np.flatnonzero(of_class.reshape(-1) == number) for number in range(len(patterns))]
    total = np.zeros(amounts.size)
    for one, own in zip(patterns, members, strict=True):
        for other, others in zip(patterns, members, strict=True):
            both = np.concatenate([own, others])
            shown = np.flatnonzero(~(one | other)).tolist()
            group, groups = numbered(
                both.size, ((classes.codes[i][both], classes.width(classes.columns[i])) for i in shown)
            )
            sums = np.bincount(group[own.size :], weights=amounts[others], minlength=groups)
            total[own] += sums[group[: own.size]]
    return total


def _special_uniques(classes: CountedClasses, depth: int, fraction: float | None) -> pl.DataFrame:
    """Return the SUDA scores of each class; those of more than one row have no minimal sample unique."""
    found = column_risk(classes, depth)[1]
    scores = found.score()
    shared = None
    if fraction is not None:
        dis = data_intrusion(found.unique.size, int((classes.sizes == 2).sum()), fraction)
        shared = dis_suda(scores, dis, found.unique.size, len(found.columns))
    known: dict[str, NDArray[Any] | None] = {
        "smallest": found.smallest(),
        "msus": found.counts.sum(axis=1),
        "suda": scores,
        "dis_suda": shared,
        **{f"suda: {name}": found.scores[:, i] / np.maximum(scores, 1) for i, name in enumerate(found.columns)},
    }
    frame = {name: _of_classes(values, found.unique, classes.sizes.size) for name, values in known.items()}
    return pl.DataFrame(frame, schema_overrides={"dis_suda": pl.Float64})


def _of_classes(values: NDArray[Any] | None, unique: NDArray[np.integer], classes: int) -> NDArray[Any] | None:
    """Return the values of all classes, given those of classes of one row; others have 0."""
    if values is None:
        return None
    spread = np.zeros(classes, dtype=values.dtype)
    spread[unique] = values
    return spread
