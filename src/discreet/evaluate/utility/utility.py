"""``utility``: costs, distributions, associations, queries and classifiers of a release, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from discreet.counts import FloatArray
from discreet.errors import Argument, UsageError
from discreet.evaluate.released_as import with_mapping
from discreet.evaluate.utility.associations import associations
from discreet.evaluate.utility.classifiers import MODELS, check_models, classifiers
from discreet.evaluate.utility.costs import ReleasedCosts
from discreet.evaluate.utility.queries import queries as ask
from discreet.evaluate.utility.report import UtilityReport
from discreet.evaluate.utility.table_pair import TablePair, read_pair, read_rows
from discreet.problem import Cost
from discreet.runtime.arguments import whole_number

__all__ = ["utility"]

_DIMENSIONS = 2


def utility(
    original: Any,
    released: Any,
    *,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any] | None = None,
    mapping: Any = None,
    sensitive: str | Sequence[str] = (),
    class_attribute: str | None = None,
    costs: Sequence[str | Cost] | None = None,
    queries: int = 200,
    models: str | Sequence[str] | None = None,
    folds: int = 5,
    held_out: Any = None,
    types: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> UtilityReport:
    """Measure the utility of a released table, made by any tool.

    Everything is computed from the two tables. A generalized value counts as if it were spread evenly over the original
    values (or leaves of the hierarchy) that it covers. Released rows are expected in the order of the original table,
    with some left out, as releases in memory are; otherwise costs that need the original value of each row are left
    out, and classifiers need ``held_out`` rows.

    Parameters
    ----------
    original, released
        Both tables: paths or frames; ``released`` may be a :class:`discreet.Release`.
    quasi_identifiers
        The columns that were generalized, as a list or as a mapping to the hierarchies they were released with.
        Without hierarchies, released values are read as ranges, sets and original values, or as nodes of an automatic
        hierarchy. If that cannot be right, as with rounded numbers, ``unclear`` names the column, and costs that
        depend on the meaning of its values are left out. :meth:`discreet.Release.utility` knows the meaning.
    mapping
        The mapping of the release, as a file or from :meth:`discreet.Release.to_mapping`: it says what released values
        stand for, and which columns are quasi-identifiers if none are named.
    sensitive
        Further columns whose distributions and associations are compared. Classifiers use them too.
    class_attribute
        The column that classifiers predict and that the cost CM uses.
    costs
        The costs to compute, as text forms or objects; by default all that are defined for the release.
    queries
        The number of random COUNT queries on two columns, see :func:`queries`; 0 for none.
    models
        The classifiers to train if there is a class attribute: ``tree``, ``logistic`` and ``forest``, by
        default all. They need scikit-learn: ``pip install 'discreet[learn]'``.
    folds
        The number of folds of the cross-validation.
    held_out
        Original rows that are not in the release, to test classifiers on instead of a cross-validation.
    types
        The types of columns that would be inferred wrongly.
    seed
        The same seed draws the same queries and folds.

    >>> people = pl.DataFrame({"age": [21, 24, 27, 52], "sex": ["f", "f", "m", "m"]})
    >>> released = pl.DataFrame({"age": ["[21, 24]", "[21, 24]", "[27, 52]", "[27, 52]"], "sex": ["f", "f", "m", "m"]})
    >>> report = utility(people, released, quasi_identifiers=["age", "sex"])
    >>> round(report.cost("LM"), 3), report.attributes["loss"].round(3).to_list()
    (1.333, [0.333, 0.0])

    """
    whole_number(queries, "The number of queries", least=0)
    whole_number(folds, "The number of folds", least=2)
    chosen = list(MODELS) if models is None else [models] if isinstance(models, str) else list(models)
    if class_attribute is None:
        if models or held_out is not None:
            raise UsageError("Classifiers need a column to predict; name it as ", Argument("class_attribute"), ".")
        chosen = []
    check_models(chosen)
    quasi = with_mapping(quasi_identifiers, mapping)
    if not quasi:
        raise UsageError(
            "There is no quasi-identifier; name the columns that were generalized.", topic="no-quasi-identifier"
        )
    roles: dict[str, Any] = {"quasi_identifiers": quasi, "class_attribute": class_attribute}
    pair = read_pair(original, released, sensitive=sensitive, types=types, **roles)
    options: dict[str, Any] = {"quasi_identifiers": pair.hierarchies, "types": types}
    tested = None if held_out is None else read_rows(held_out, pair.before)
    costs_of = ReleasedCosts.of(pair)
    dimensions = min(_DIMENSIONS, len(pair.quasi_identifiers))
    return UtilityReport(
        rows=pair.counts.n,
        released_rows=pair.rows,
        suppressed_values=pair.suppressed_values,
        linked=pair.link is not None,
        unclear=pair.unclear,
        costs=costs_of.table(costs),
        attributes=_attributes(pair, costs_of),
        associations=associations(list(pair.before.values()), list(pair.after.values())),
        queries=ask(original, released, count=queries, dimensions=dimensions, seed=seed, **options)
        if queries
        else None,
        classifiers=classifiers(pair, chosen, folds=folds, seed=seed, held_out=tested) if chosen else None,
    )


def _attributes(pair: TablePair, costs_of: ReleasedCosts) -> pl.DataFrame:
    """Return a row for each column: its loss, and how far its distribution moved."""
    lost = costs_of.by_attribute()
    found = []
    for name, before in pair.before.items():
        after, positions = pair.after[name], before.attribute.domain.positions
        p, q = before.marginal, after.marginal
        found.append(
            {
                "column": name,
                "values": int((before.rows > 0).sum()),
                "released_values": int((after.rows > 0).sum()),
                "loss": lost.get(name, (None, None))[0],
                "certainty": lost.get(name, (None, None))[1],
                "total_variation": _total_variation(p, q),
                "jensen_shannon": _jensen_shannon(p, q),
                "earth_movers": None if positions is None else _earth_movers(p, q, positions),
            }
        )
    whole = {"column": pl.String, "values": pl.Int64, "released_values": pl.Int64}
    return pl.DataFrame(found, schema={**whole, **{key: pl.Float64 for key in found[0] if key not in whole}})


def _total_variation(p: FloatArray, q: FloatArray) -> float:
    """Return half the sum of |p - q|: the share of rows that would have to change their value.

    >>> _total_variation(np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    0.5
    """
    return float(np.abs(p - q).sum() / 2)


def _jensen_shannon(p: FloatArray, q: FloatArray) -> float:
    """Return the Jensen-Shannon divergence in bits, from 0 (the same) to 1 (nothing in common).

    >>> _jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    1.0
    """
    mixture = (p + q) / 2
    return max(0.0, float((_bits(p, mixture) + _bits(q, mixture)) / 2))


def _earth_movers(p: FloatArray, q: FloatArray, positions: FloatArray) -> float | None:
    """Return how far values moved on average, relative to their range; missing values do not count.

    None if one side has no value, or if there is only one.

    >>> _earth_movers(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), np.array([0.0, 5.0, 10.0]))
    0.5
    """
    known = ~np.isnan(positions)
    p, q, positions = p[known], q[known], positions[known]
    length = float(np.ptp(positions)) if positions.size else 0.0
    if not (p.sum() > 0 and q.sum() > 0 and length):
        return None
    difference = np.abs(np.cumsum(p / p.sum() - q / q.sum()))[:-1]
    return float((difference * np.diff(positions)).sum() / length)


def _bits(p: FloatArray, mixture: FloatArray) -> float:
    there = p > 0
    return float((p[there] * np.log2(p[there] / mixture[there])).sum())
