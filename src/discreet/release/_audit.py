"""The audit: read what was released afresh, group it by the released values, and measure every promise.

Nothing here knows how a release was searched, counted or recoded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet._places import TableUrl, is_url
from discreet._words import amount
from discreet.engines import (
    ADDED,
    Engine,
    EngineName,
    Format,
    MissingSensitive,
    Pieces,
    TableFile,
    TableFiles,
    Total,
    add_up,
    exactly,
    in_batches,
    of_polars,
    open_source,
    open_table,
    pieces_of,
    reading,
    relation_of,
    to_lazy,
    together,
    totals_of,
    weighed,
    whole,
)
from discreet.errors import MissingColumnError, UsageError
from discreet.problem import PRIVACY, Groups, PrivacyModel
from discreet.release._missing import check_missing_sensitive
from discreet.release._notebook import audit_html
from discreet.release._people import people_of_classes
from discreet.release._reference import Reference, make_reference, missing_values, original_counts
from discreet.release._sizes import ClassSizes
from discreet.schema import parts_of

__all__ = ["Audit", "Check", "audit"]

Models = str | PrivacyModel | Sequence[str | PrivacyModel]


@runtime_checkable
class Countable(Protocol):
    """A table of a database, which is grouped where it is."""

    url: TableUrl

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations of some columns and, as last column, how many rows have each.

        What ``weights`` add up to comes after that.
        """


@dataclass(frozen=True)
class Check:
    """One promise: what was promised, what the table really attains, and whether that is enough."""

    model: str
    promised: float | None
    reached: float
    passed: bool


@dataclass(frozen=True)
class Audit:
    """The verdict on a released table, and what it rests on."""

    checks: tuple[Check, ...]
    rows: int
    classes: int
    smallest_class: int
    quasi_identifiers: tuple[str, ...]
    sizes: ClassSizes = field(default_factory=ClassSizes, repr=False)
    """How many classes have how many rows."""

    @property
    def passed(self) -> bool:
        """Whether every promise is kept."""
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The promises that are broken."""
        return tuple(check for check in self.checks if not check.passed)

    def summary(self, *, hidden: Collection[str] = ()) -> str:
        """Return the verdict as text for people, without what the ``hidden`` promises have reached."""
        width = max(len(check.model) for check in self.checks)
        lines = [
            f"Audit {'passed' if self.passed else 'FAILED'}: {amount(self.rows, 'row')} in "
            f"{amount(self.classes, 'class', 'classes')}"
            + (f", the smallest of {self.smallest_class:,}." if self.classes else "."),
        ]
        if not self.rows:
            lines.append("  Nothing was released, so that no promise can be broken.")
        for check in self.checks:
            mark = "ok    " if check.passed else "BROKEN"
            reached = "" if check.model in hidden else f"reached {number_text(check.reached)}"
            lines.append(f"  {mark}  {check.model:<{width}}  {reached}".rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return audit_html(self)

    def to_dict(self, *, hidden: Collection[str] = ()) -> dict[str, Any]:
        """Return the audit as plain data, ready for JSON, without what the ``hidden`` promises have reached."""
        return {
            "passed": self.passed,
            "rows": self.rows,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "quasi_identifiers": list(self.quasi_identifiers),
            "checks": [
                {
                    "model": check.model,
                    "promised": check.promised,
                    "reached": check.reached if math.isfinite(check.reached) and check.model not in hidden else None,
                    "passed": check.passed,
                }
                for check in self.checks
            ],
        }


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
    chosen = Engine(engine, memory_limit, spark)
    if isinstance(data, str) and is_url(data):
        source = open_source(data, chosen)
        data = getattr(source, "relation", source)  # Spark is asked as a frame of it is
    elif isinstance(data, str | PathLike):
        file = open_table(data)
        relation = chosen.open(file)
        if relation is None:
            file.check_rows()
        data = relation or file
    elif engine != "auto":
        open_source(data, chosen)
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
        engine=chosen,
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
    engine: Engine | None = None,
    categories: Sequence[str] = (),
    read_back: Callable[[str, pl.Series], pl.Series] | None = None,
    made_for: Format | None = None,
) -> Audit:
    """Do the audit of a frame, an opened file or a table of a database.

    ``categories`` are columns known to have few values. The ``engine`` is for the file of a population. ``read_back``
    takes a column and values as they were read, and returns what they were before they were written. ``made_for`` is
    the format whose values the ``reference`` holds.
    """
    check_missing_sensitive(missing_sensitive)
    columns = _names(quasi_identifiers, "quasi-identifiers")
    chosen = [privacy] if isinstance(privacy, str | PrivacyModel) else list(privacy)
    models = [PRIVACY.make(model) for model in chosen]
    if not columns:
        raise UsageError(
            "There is no quasi-identifier; name at least one column others could know.", topic="no-quasi-identifier"
        )
    if not models:
        raise UsageError("No privacy model was given; ask for one, as in k(5).", topic="no-privacy-model")
    named = _names(sensitive, "sensitive columns") or _looked_at(models)
    models = [model.resolve(named) for model in models]
    attributes = _parts(data, _looked_at(models))
    secrets = list(dict.fromkeys(part for parts in attributes.values() for part in parts))
    looking = next((model for model in models if model.looks_at_population), None)
    if looking is not None and weights is None and population is None:
        raise looking.nobody_known()
    if looking is None:
        weights = None
    elif weights is not None and population is not None:
        raise UsageError("The population is either a table or estimated by weights; leave one of the two out.")
    classes = _read(data, columns, secrets, weights, categories)
    layout = data.format if isinstance(data, TableFile | TableFiles) else made_for
    if read_back is not None:
        classes, layout = classes.translated(columns, read_back), made_for
    trees = sensitive if isinstance(sensitive, Mapping) else {}
    people = classes.people
    if looking is not None and people is None:
        hierarchies = quasi_identifiers if isinstance(quasi_identifiers, Mapping) else {}
        people = people_of_classes(classes.keys, columns, population, hierarchies, types or {}, engine)
    seen = {}
    for column, parts in attributes.items():
        values = classes.attribute(parts)
        every = pl.DataFrame({"value": values, "rows": classes.count})
        counted = original_counts(column, reference, every.filter(_told(values, unknown)), layout, parts)
        there = ~missing_values(values, counted["value"].dtype) | (missing_sensitive == "value")
        told = there & _told(values, unknown)
        released = every.filter(told)
        if missing_sensitive == "unknown":
            counted = counted.filter(counted["value"].is_not_null())
        known = make_reference(column, counted, trees.get(column), (types or {}).get(column))
        groups = _groups(classes, released["value"], told.to_numpy(), known)
        known_rows = np.zeros_like(classes.sizes)
        np.add.at(known_rows, classes.group, np.where(there.to_numpy(), classes.count, 0))
        seen[column] = replace(groups, known=known_rows, hides=unknown is not None)
    checks = [_check(model, classes, seen, people) for model in models]
    total = int(classes.sizes.sum())
    if rows is not None:
        checks.append(Check("number of rows", rows, total, total == rows))
    smallest = int(classes.sizes.min()) if classes.sizes.size else 0
    sizes = ClassSizes.of(classes.sizes)
    return Audit(tuple(checks), total, classes.sizes.size, smallest, tuple(columns), sizes)


@dataclass(frozen=True, eq=False)
class _Classes:
    """The classes as they were read: sizes, and for each class its sensitive values in long form.

    ``people`` is what the weights of each class add up to, where they were asked for.
    """

    keys: pl.DataFrame
    sizes: NDArray[np.int64]
    group: NDArray[np.int64]
    count: NDArray[np.int64]
    values: Mapping[str, pl.Series]
    people: NDArray[np.float64] | None = None

    def translated(self, columns: Sequence[str], read_back: Callable[[str, pl.Series], pl.Series]) -> _Classes:
        """Return the same classes, told by the values they were written from."""
        keys = [read_back(column, values) for column, values in zip(columns, self.keys, strict=True)]
        values = {column: read_back(column, values) for column, values in self.values.items()}
        return replace(self, keys=pl.DataFrame(dict(zip(self.keys.columns, keys, strict=True))), values=values)

    def attribute(self, parts: Sequence[str]) -> pl.Series:
        """Return the values of a column, or of several together."""
        if len(parts) == 1:
            return self.values[parts[0]]
        columns = pl.DataFrame({f"p{place}": self.values[part] for place, part in enumerate(parts)})
        return columns.select(together([pl.col(name) for name in columns.columns])).to_series()


def _read(
    data: Any, columns: list[str], secrets: list[str], weights: str | None, categories: Sequence[str]
) -> _Classes:
    """Find the classes of whatever holds the table, where it is."""
    if isinstance(data, Countable):
        wanted = list(dict.fromkeys([*columns, *secrets]))
        return _counted(data.count(wanted, weights), columns, secrets, weights)
    if isinstance(data, TableFile | TableFiles):
        with reading(data.name, data.explain):
            repeated = data.distinct_rows() if {*columns, *secrets}.issuperset(data.columns) else None
            if repeated is not None:
                return _count(repeated.lazy(), columns, secrets, repeated.columns[-1])
            return _count(data.scan(categories), columns, secrets, weights=weights, pieces=pieces_of(data))
    relation = relation_of(data)
    if relation is not None:
        keys, names = _short(columns, secrets)
        groups = relation.groups({**keys, **{name: column for column, name in names.items()}}, weights)
        return _gather(groups, list(keys), names, weights)
    with reading("The frame"):
        wanted = list(dict.fromkeys([*columns, *secrets, *([] if weights is None else [weights])]))
        pieces = in_batches if isinstance(data, pl.LazyFrame) else whole
        return _count(to_lazy(data, wanted), columns, secrets, weights=weights, pieces=pieces)


def _count(
    frame: pl.LazyFrame,
    columns: list[str],
    sensitive: list[str],
    repeated: str | None = None,
    *,
    weights: str | None = None,
    pieces: Pieces = whole,
) -> _Classes:
    """Group by the released values (null is one), piece by piece, and again without the sensitive ones.

    Each row counts once, or as often as the column ``repeated`` says.
    """
    schema = frame.collect_schema()
    for column in (*columns, *sensitive, *([] if weights is None else [weights])):
        if column not in schema:
            raise MissingColumnError(column, schema.names())
    keys, secrets = _short(columns, sensitive)
    named = {**keys, **{name: column for column, name in secrets.items()}}
    values = (_value(column, schema[column]).alias(name) for name, column in named.items())
    also = [exactly(column).alias(name) for column, name in ((repeated, "rows"), (weights, "weight")) if column]
    number = pl.len().cast(pl.Int64) if repeated is None else pl.col("rows").sum()
    totals = [Total(number.alias("rows"), pl.col("rows").sum())]
    totals += [] if weights is None else totals_of(of_polars(weights, schema[weights], "weight"), ADDED)
    plan = frame.select(*values, *also)
    return _gather(add_up(pieces(plan), list(named), totals, "streaming"), list(keys), secrets, weights)


def _short(columns: list[str], sensitive: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return short names for the quasi-identifiers, and for each sensitive column the name it goes by."""
    keys = {f"q{number}": column for number, column in enumerate(columns)}
    return keys, {column: f"s{number}" for number, column in enumerate(sensitive)}


def _counted(groups: pl.DataFrame, columns: list[str], sensitive: list[str], weights: str | None) -> _Classes:
    """Take the groups a database counted."""
    keys = [f"q{number}" for number in range(len(columns))]
    secrets = {column: f"s{number}" for number, column in enumerate(sensitive)}
    named = zip((*columns, *sensitive), (*keys, *secrets.values()), strict=True)
    first = len(set(columns) | set(sensitive))
    counts = {name: pl.nth(first + place) for place, name in enumerate(["rows", *([] if weights is None else ADDED)])}
    cells = groups.select(*(exactly(column).alias(name) for column, name in named), **counts)
    return _gather(cells, keys, secrets, weights)


def _gather(cells: pl.DataFrame, keys: list[str], sensitive: Mapping[str, str], weights: str | None = None) -> _Classes:
    """Put the groups of each class together; ``sensitive`` says under which names the values are."""
    rows, secrets = pl.col("rows").cast(pl.Int64), list(sensitive.values())
    if weights is not None:
        people = weighed(weights, cells.select("rows", *ADDED), []).people
        cells = cells.with_columns(people=pl.Series(people))
    sums = [] if weights is None else [pl.col("people").sum()]
    grouped = cells.group_by(keys, maintain_order=True).agg(rows, *secrets, *sums, size=rows.sum())
    lengths = grouped["rows"].list.len().to_numpy().astype(np.int64)
    return _Classes(
        keys=grouped.select(keys),
        sizes=grouped["size"].to_numpy().astype(np.int64),
        group=np.repeat(np.arange(lengths.size, dtype=np.int64), lengths),
        count=grouped["rows"].explode().to_numpy().astype(np.int64),
        values={column: grouped[name].explode() for column, name in sensitive.items()},
        people=None if weights is None else grouped["people"].to_numpy(),
    )


def _told(values: pl.Series, unknown: str | None) -> pl.Series:
    """Return which values are not the one that stands for a suppressed one."""
    if unknown is None:
        return pl.repeat(True, len(values), dtype=pl.Boolean, eager=True)
    return values.cast(pl.String).ne_missing(unknown)


def _check(
    model: PrivacyModel, classes: _Classes, seen: Mapping[str, Groups], people: NDArray[np.float64] | None
) -> Check:
    none = np.zeros(0, dtype=np.int64)
    groups = Groups(classes.sizes, none, none, none, none)
    for column in _looked_at([model]):
        groups = seen[column]
    reached = float(model.reached(replace(groups, population=people)))
    return Check(model.shown, model.promised, reached, bool(model.satisfied_by(reached)))


def _groups(classes: _Classes, values: pl.Series, told: NDArray[np.bool_], known: Reference) -> Groups:
    """Return the classes with the values that were told, out of all that were read."""
    width = max(known.whole.size, 1)
    cells, entry = np.unique(classes.group[told] * width + known.find(values), return_inverse=True)
    count = np.zeros(cells.size, dtype=np.int64)
    np.add.at(count, entry, classes.count[told])
    return Groups(classes.sizes, cells // width, cells % width, count, known.whole, known.ancestors, known.names)


def _value(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as its values are compared: NaN is missing, and -0.0 is 0.0."""
    if not dtype.is_float():
        return exactly(column)
    known = exactly(column).fill_nan(None)
    return pl.when(known == 0.0).then(pl.lit(0.0, dtype=dtype)).otherwise(known)


def _looked_at(models: Sequence[PrivacyModel]) -> list[str]:
    named = [getattr(model, "attribute", None) for model in models if model.looks_at_sensitive]
    return list(dict.fromkeys(name for name in named if name is not None))


def _parts(data: Any, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns each sensitive attribute is."""
    if not any("+" in name for name in names):
        return {name: (name,) for name in names}
    known = not isinstance(data, pl.LazyFrame) and hasattr(data, "columns")
    columns = data.columns if known else open_source(data).columns
    return {name: parts_of(name, list(map(str, columns))) for name in names}


def _names(columns: str | Sequence[str] | Mapping[str, Any], role: str) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"The {role} name the column '{name}' twice.", column=name)
    return names


def number_text(value: float) -> str:
    """Write a number for people.

    >>> number_text(5.0), number_text(0.123456), number_text(149604.37), number_text(float("inf"))
    ('5', '0.1235', '149,604', 'any')
    """
    if math.isinf(value):
        return "any"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 10_000 else f"{value:.4g}"
