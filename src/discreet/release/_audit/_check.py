"""The audit: read what was released afresh, group it by the released values, and measure every promise.

Nothing here knows how a release was searched, counted or recoded: the readers and the grouping in this package are its
own, and a test keeps it from importing those of the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet._choices import EngineChoice, EngineName, MissingSensitive
from discreet.errors import UsageError
from discreet.problem import PRIVACY, Groups, PrivacyModel
from discreet.release._audit._classes import Classes, read_classes
from discreet.release._audit._open import open_table
from discreet.release._audit._people import people_of_classes
from discreet.release._audit._reference import Reference, make_reference, missing_values, original_counts
from discreet.release._audit._verdict import Audit, Check
from discreet.release._missing import check_missing_sensitive
from discreet.release._sizes import ClassSizes
from discreet.schema import parts_of

__all__ = ["audit", "audit_table"]

Models = str | PrivacyModel | Sequence[str | PrivacyModel]


def audit(
    data: Any,
    *,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any],
    privacy: Models,
    sensitive: str | Sequence[str] | Mapping[str, Any] = (),
    types: Mapping[str, Any] | None = None,
    reference: Any = None,
    unknown: str | None = None,
    missing_sensitive: MissingSensitive = "unknown",
    rows: int | None = None,
    weights: str | None = None,
    population: Any = None,
    engine: EngineName = "auto",
    memory_limit: str | None = None,
    spark: Any = None,
) -> Audit:
    """Check whether a released table keeps its promises, whoever made it.

    ``data`` is a path, the URL of a table or a frame of any kind. A missing quasi-identifier is a value like any other.
    A missing sensitive value is unknown: it counts in the size of its class, and shares and the number of different
    values are those of the known ones; with ``missing_sensitive="value"`` it is one more value instead.
    ``sensitive`` may be left out where the models name their columns, and may map columns to hierarchies (for
    hierarchical t-closeness). ``reference`` is the table the release was made from, where models compare with it
    (t-closeness, l+-diversity by frequency); without it they compare with the released table itself. ``unknown``
    is what stands for a sensitive value that was suppressed, as in ``"*"``: it is no value, but shares are of what was
    known before, and a class of which no value is known keeps every promise about them. With ``rows`` the number of
    released rows is checked too. Models about the population take what the survey ``weights`` of a class add up to, or
    count who of a table of the ``population`` has its released values; what those stand for is told by hierarchies, if
    ``quasi_identifiers`` maps columns to them. ``engine``, ``memory_limit`` and ``spark`` are as for
    :func:`discreet.anonymize`.

    >>> table = pl.DataFrame({"age": ["[20, 30)"] * 3, "disease": ["flu", "flu", "hiv"]})
    >>> audit(table, quasi_identifiers=["age"], privacy=["k(3)", "distinct-l(2, disease)"]).passed
    True
    """
    return audit_table(
        data,
        quasi_identifiers=quasi_identifiers,
        privacy=privacy,
        sensitive=sensitive,
        types=types,
        reference=reference,
        unknown=unknown,
        missing_sensitive=missing_sensitive,
        rows=rows,
        weights=weights,
        population=population,
        engine=EngineChoice(engine, memory_limit, spark),
    )


def audit_table(
    data: Any,
    *,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any],
    privacy: Models,
    sensitive: str | Sequence[str] | Mapping[str, Any] = (),
    types: Mapping[str, Any] | None = None,
    reference: Any = None,
    unknown: str | None = None,
    missing_sensitive: MissingSensitive = "unknown",
    rows: int | None = None,
    weights: str | None = None,
    population: Any = None,
    engine: EngineChoice | None = None,
    categories: Sequence[str] = (),
    read_back: Callable[[str, pl.Series], pl.Series] | None = None,
    made_for: str | None = None,
) -> Audit:
    """Audit a table of any kind, also one that was written and has no name yet.

    ``data`` may be a :class:`ReleasedFile` or a :class:`ReleasedTable` too. ``categories`` are columns known to have
    few values. ``read_back`` takes a column and values as they were read, and returns what they were before they were
    written. ``made_for`` is the format whose values the ``reference`` holds.
    """
    check_missing_sensitive(missing_sensitive)
    columns = _names(quasi_identifiers, "quasi-identifiers")
    models = _models(columns, privacy)
    named = _names(sensitive, "sensitive columns") or _looked_at(models)
    models = [model.resolve(named) for model in models]
    looking = next((model for model in models if model.looks_at_population), None)
    if looking is not None and weights is None and population is None:
        raise looking.nobody_known()
    if looking is None:
        weights = None
    elif weights is not None and population is not None:
        raise UsageError("The population is either a table or estimated by weights; leave one of the two out.")
    table = open_table(data, engine, columns, categories=categories)
    attributes = {name: _parts(name, table.columns) for name in _looked_at(models)}
    classes = read_classes(table, columns, attributes, weights)
    layout = table.layout or made_for
    if read_back is not None:
        classes, layout = classes.translated(columns, read_back), made_for
    people = classes.people
    if looking is not None and people is None:
        hierarchies = quasi_identifiers if isinstance(quasi_identifiers, Mapping) else {}
        people = people_of_classes(classes.keys, columns, population, hierarchies, types or {}, engine)
    trees = sensitive if isinstance(sensitive, Mapping) else {}
    seen = {}
    for column, parts in attributes.items():
        values = classes.attribute(parts)
        known = _told(values, unknown)
        every = pl.DataFrame({"value": values, "rows": classes.count})
        counted = original_counts(column, reference, every.filter(known), layout, parts)
        there = ~missing_values(values, counted["value"].dtype) | (missing_sensitive == "value")
        if missing_sensitive == "unknown":
            counted = counted.filter(counted["value"].is_not_null())
        compared = make_reference(column, counted, trees.get(column), (types or {}).get(column))
        groups = _groups(classes, values.filter(there & known), (there & known).to_numpy(), compared)
        seen[column] = replace(groups, known=classes.sizes_of(there.to_numpy()), hides=unknown is not None)
    checks = [_check(model, classes, seen, people) for model in models]
    total = int(classes.sizes.sum())
    if rows is not None:
        checks.append(Check("number of rows", rows, total, total == rows))
    smallest = int(classes.sizes.min()) if classes.sizes.size else 0
    return Audit(tuple(checks), total, classes.sizes.size, smallest, tuple(columns), ClassSizes.of(classes.sizes))


def _models(columns: Sequence[str], privacy: Models) -> list[PrivacyModel]:
    models = [PRIVACY.make(model) for model in ([privacy] if isinstance(privacy, str | PrivacyModel) else privacy)]
    if not columns:
        raise UsageError(
            "There is no quasi-identifier; name at least one column others could know.", topic="no-quasi-identifier"
        )
    if not models:
        raise UsageError("No privacy model was given; ask for one, as in k(5).", topic="no-privacy-model")
    return models


def _told(values: pl.Series, unknown: str | None) -> pl.Series:
    """Return which values are not the mark of a suppressed one."""
    if unknown is None:
        return pl.repeat(True, len(values), dtype=pl.Boolean, eager=True)
    return values.cast(pl.String).ne_missing(unknown)


def _check(
    model: PrivacyModel, classes: Classes, seen: Mapping[str, Groups], people: NDArray[np.float64] | None
) -> Check:
    none = np.zeros(0, dtype=np.int64)
    groups = Groups(classes.sizes, none, none, none, none)
    for column in _looked_at([model]):
        groups = seen[column]
    reached = float(model.reached(replace(groups, population=people)))
    return Check(model.shown, model.promised, reached, bool(model.satisfied_by(reached)))


def _groups(classes: Classes, values: pl.Series, told: NDArray[np.bool_], known: Reference) -> Groups:
    """Return the classes with the values that were told, out of all that were read."""
    width = max(known.whole.size, 1)
    cells, entry = np.unique(classes.group[told] * width + known.find(values), return_inverse=True)
    count = np.zeros(cells.size, dtype=np.int64)
    np.add.at(count, entry, classes.count[told])
    return Groups(classes.sizes, cells // width, cells % width, count, known.whole, known.ancestors, known.names)


def _looked_at(models: Sequence[PrivacyModel]) -> list[str]:
    named = [getattr(model, "attribute", None) for model in models if model.looks_at_sensitive]
    return list(dict.fromkeys(name for name in named if name is not None))


def _parts(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns a sensitive attribute is."""
    return parts_of(name, list(columns)) if "+" in name else (name,)


def _names(columns: str | Sequence[str] | Mapping[str, Any], role: str) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"The {role} name the column '{name}' twice.", column=name)
    return names
