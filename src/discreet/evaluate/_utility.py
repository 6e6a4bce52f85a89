"""What a release is still good for, in one call: costs, distributions, associations, queries and classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from discreet.errors import UsageError
from discreet.evaluate._associations import associations
from discreet.evaluate._classifiers import MODELS, check_models, classifiers
from discreet.evaluate._costs import Costing
from discreet.evaluate._distances import earth_movers, jensen_shannon, total_variation
from discreet.evaluate._queries import queries as ask
from discreet.evaluate._released_as import with_mapping
from discreet.evaluate._tables import Pair, read_pair, read_rows
from discreet.evaluate._utility_report import UtilityReport
from discreet.problem import Cost
from discreet.problem._checks import whole_number

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
    """Measure what a released table is still good for, whoever made it.

    Everything is found from the two tables themselves. A generalized value counts as if spread evenly over the
    original values (or leaves of the hierarchy) it covers. Rows are taken to be in the order of the original table,
    some left out, which is how releases come; where that is not so, costs that need the original value of each row are
    left out, and classifiers need rows that were ``held_out``.

    Parameters
    ----------
    original, released
        Both tables: paths or frames; for ``released`` also a :class:`discreet.Release`.
    quasi_identifiers
        The columns that were made coarser, as a list or as a mapping to the hierarchies they were released with.
        Without those, released values are read as ranges, sets and original values, or as nodes of an automatic
        hierarchy; where that cannot be right, as with rounded numbers, ``unclear`` names the column, and costs that
        need to know what its values stand for are left out. :meth:`discreet.Release.utility` knows what they do.
    mapping
        The mapping of the release, a file or what :meth:`discreet.Release.to_mapping` returns: it says what released
        values stand for, and which columns are quasi-identifiers where none are named.
    sensitive
        Further columns whose distributions and associations matter. Classifiers learn from them too.
    class_attribute
        The column that classifiers predict, and that the cost CM is about.
    costs
        Which costs to tell, as text forms or objects; by default every one that is defined for the release.
    queries
        How many random COUNT queries on two columns are asked, see :func:`queries`; 0 for none.
    models
        Which classifiers are trained where there is a class attribute: ``tree``, ``logistic`` and ``forest``, by
        default all. They need scikit-learn: ``pip install 'discreet[learn]'``.
    folds
        Into how many parts the rows are dealt, each of which is tested once.
    held_out
        Original rows the release was not made from, to test classifiers on instead of folds.
    types
        The types of columns that are not what they look like.
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
            raise UsageError("What classifiers should predict was not said; name its column as class_attribute.")
        chosen = []
    check_models(chosen)
    quasi = with_mapping(quasi_identifiers, mapping)
    if not quasi:
        raise UsageError(
            "There is no quasi-identifier; name the columns that were made coarser.", topic="no-quasi-identifier"
        )
    roles: dict[str, Any] = {"quasi_identifiers": quasi, "class_attribute": class_attribute}
    pair = read_pair(original, released, sensitive=sensitive, types=types, **roles)
    asked: dict[str, Any] = {"quasi_identifiers": pair.hierarchies, "types": types}
    tested = None if held_out is None else read_rows(held_out, pair.before)
    costing = Costing.of(pair)
    dimensions = min(_DIMENSIONS, len(pair.quasi_identifiers))
    return UtilityReport(
        rows=pair.counts.n,
        released_rows=pair.rows,
        suppressed_values=pair.suppressed_values,
        linked=pair.link is not None,
        unclear=pair.unclear,
        costs=costing.table(costs),
        attributes=_attributes(pair, costing),
        associations=associations(list(pair.before.values()), list(pair.after.values())),
        queries=ask(original, released, count=queries, dimensions=dimensions, seed=seed, **asked) if queries else None,
        classifiers=classifiers(pair, chosen, folds=folds, seed=seed, held_out=tested) if chosen else None,
    )


def _attributes(pair: Pair, costing: Costing) -> pl.DataFrame:
    """Return a row for each column: how much of it is lost, and how far its distribution moved."""
    lost = costing.by_attribute()
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
                "total_variation": total_variation(p, q),
                "jensen_shannon": jensen_shannon(p, q),
                "earth_movers": None if positions is None else earth_movers(p, q, positions),
            }
        )
    whole = {"column": pl.String, "values": pl.Int64, "released_values": pl.Int64}
    return pl.DataFrame(found, schema={**whole, **{key: pl.Float64 for key in found[0] if key not in whole}})
