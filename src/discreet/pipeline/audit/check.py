"""The audit: read what was released afresh, group it by the released values, and measure every promise.

Nothing here knows how a release was searched, counted or recoded: this package has its own readers and its own
grouping, and a test keeps it from importing those of the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import Argument, UsageError
from discreet.pipeline.audit.classes import ReleasedClasses, measure_key_sets, read_classes
from discreet.pipeline.audit.matches import count_matches
from discreet.pipeline.audit.people import AsRead, RowOwners
from discreet.pipeline.audit.population import AuditedPopulation
from discreet.pipeline.audit.readers import open_table
from discreet.pipeline.audit.reference import ReferenceValues, make_reference, missing_values, original_counts
from discreet.pipeline.audit.table import uniqueness
from discreet.pipeline.audit.tables import read_tables
from discreet.pipeline.audit.verdict import AttributeDisclosure, Audit, Check
from discreet.problem import PRIVACY, SUPPRESSION, Groups, PrivacyModel, Suppression
from discreet.problem.hidden_values import HiddenValues, hiding_classes, thresholds
from discreet.problem.privacy import WEAKER
from discreet.report.class_sizes import ClassSizes
from discreet.report.numbers import LEAST_ROWS, rounded_percent
from discreet.runtime.joined_tables import JoinedTables
from discreet.runtime.plurals import units
from discreet.runtime.read_options import EngineChoice, EngineName, MissingSensitive, check_missing_sensitive
from discreet.schema import missing_mark_notes, parts_of

__all__ = ["AuditRequest", "audit"]

_MARK = "*"
"""How suppressed sensitive values are usually written."""
_TELLING = 0.1
"""By how much the share of a value in a class exceeds that in the whole release where the class tells something."""
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
    suppression: str | Suppression | None = None,
    missing_sensitive: MissingSensitive = "unknown",
    rows: int | None = None,
    person: str | None = None,
    weights: str | None = None,
    population: Any = None,
    engine: EngineName = "auto",
    memory_limit: str | None = None,
    spark: Any = None,
) -> Audit:
    """Check whether a released table, made by any tool, keeps its promises.

    ``data`` is a path, the URL of a table or a frame of any kind. Several tables linked by ``person``, as for
    :func:`discreet.anonymize`, are joined; whether a person has a row in one of them is a quasi-identifier. A missing
    quasi-identifier is a value like any other, and so is a hidden one (``*``), unless the model says otherwise, as
    ``k(3, unknown=matches)`` does.
    A missing sensitive value is unknown: it counts in the size of its class, while shares and the number of distinct
    values are those of the known ones. With ``missing_sensitive="value"`` it is a value of its own instead.

    ``sensitive`` may be left out if the models name their columns, and may map columns to hierarchies (for
    hierarchical t-closeness). ``reference`` is the original table, for models that compare with it (t-closeness,
    l+-diversity by frequency); without it they compare with the released table itself. ``unknown`` marks suppressed
    sensitive values, as in ``"*"``: such a mark is no value, shares are of the values known before suppression, and a
    class without any known value keeps every promise about them. ``suppression`` says how they were suppressed;
    ``violating-values(hide=ambiguous)`` is a promise too. With ``rows`` the number of released rows is checked as well.

    ``person`` is the column that says whose row it is, where people may have several rows, or the column of households.
    Promises then count its distinct values instead of rows, also in the ``reference``.

    For models about the population, either the survey ``weights`` of a class are summed up, or the people of a
    ``population`` table who have its released values are counted; if ``quasi_identifiers`` maps columns to hierarchies,
    these say what released values stand for. ``engine``, ``memory_limit`` and ``spark`` are as for
    :func:`discreet.anonymize`.

    >>> table = pl.DataFrame({"age": ["[20, 30)"] * 3, "disease": ["flu", "flu", "hiv"]})
    >>> audit(table, quasi_identifiers=["age"], privacy=["k(3)", "distinct-l(2, disease)"]).passed
    True
    """
    _check_visible(privacy)
    chosen = EngineChoice(engine, memory_limit, spark)
    if isinstance(data, Mapping):
        tables = read_tables(data, person, chosen)
        data, quasi_identifiers, chosen = tables.joined, _with_presence(quasi_identifiers, tables), EngineChoice()
    return AuditRequest(
        quasi_identifiers=quasi_identifiers,
        privacy=privacy,
        sensitive=sensitive,
        types=types or {},
        reference=reference,
        unknown=unknown,
        suppression=None if suppression is None else SUPPRESSION.make(suppression),
        missing_sensitive=missing_sensitive,
        rows=rows,
        person=person,
        weights=weights,
        population=population,
        engine=chosen,
        notices_marks=True,
    ).check(data)


@dataclass(frozen=True, eq=False)
class AuditRequest:
    """An audit to run: the arguments of :func:`audit`, and what only a job knows."""

    quasi_identifiers: str | Sequence[str] | Mapping[str, Any]
    privacy: Models
    sensitive: str | Sequence[str] | Mapping[str, Any] = ()
    types: Mapping[str, Any] = field(default_factory=dict)
    reference: Any = None
    """The original table, or a mapping from sensitive columns to frames of ``value`` and ``rows``."""
    unknown: str | None = None
    missing_sensitive: MissingSensitive = "unknown"
    rows: int | None = None
    person: str | None = None
    """The column of the table that says whose row it is."""
    people: RowOwners | None = None
    """Whose rows they are, if the table does not say."""
    unit: str = "person"
    """What is counted if it is not rows: ``person`` or ``household``."""
    as_read: AsRead | None = None
    """Returns values as readers of the output find them; None if nothing changes."""
    weights: str | None = None
    population: Any = None
    """The population table, or a mapping from ``"counted"`` to one counted by the quasi-identifiers."""
    engine: EngineChoice | None = None
    categories: Sequence[str] = ()
    """Columns known to have few values."""
    read_back: Callable[[str, pl.Series], pl.Series] | None = None
    """Takes a column and values as they were read, and returns what they were before they were written."""
    certainty_of: Sequence[str] = ()
    """Sensitive columns besides those of the models whose :class:`AttributeDisclosure` is measured."""
    unchanged: Sequence[str] = ()
    """Columns released unchanged; the audit measures how many rows they single out, each and together."""
    made_for: str | None = None
    """The file format whose limits are already applied to the ``reference``."""
    suppression: Suppression | None = None
    """How values were hidden, if that is known; see :mod:`discreet.problem.hidden_values`."""
    notices_marks: bool = False
    """Whether to note what looks like the mark of suppressed values, if none is given, or of missing ones."""

    def check(self, data: Any) -> Audit:
        """Audit a table of any kind, including one that was written and has no name yet."""
        check_missing_sensitive(self.missing_sensitive)
        columns = _names(self.quasi_identifiers, "quasi-identifiers")
        models = _models(columns, self.privacy)
        named = _names(self.sensitive, "sensitive columns") or _attributes(models)
        models = [model.resolve(named) for model in models]
        weights = self._weights(models)
        table = open_table(data, self.engine, columns, categories=self.categories)
        attributes = {name: _parts(name, table.columns) for name in _attributes(models)}
        measured = {**attributes, **{name: _parts(name, table.columns) for name in self.certainty_of}}
        classes = read_classes(table, columns, measured, weights, self.person)
        if self.people is not None:
            classes = self.people.joined(classes, columns, measured, self.as_read)
        matches = {
            model: count_matches(classes.keys, classes.sizes, missing=model.missing_matches)
            for model in models
            if model.counts_matches
        }
        certainties = tuple(
            self._certainty(column, classes.attribute(parts), classes) for column, parts in measured.items()
        )
        layout = table.layout or self.made_for
        if self.read_back is not None:
            promised = {part for parts in attributes.values() for part in parts}
            classes, layout = classes.translated(columns, self.read_back, promised), self.made_for
        people = classes.people
        if people is None and any(model.looks_at_population for model in models):
            people = self._population().people_of(classes.keys, columns)
        groups = {column: self._groups(column, parts, classes, layout) for column, parts in attributes.items()}
        checks = [
            _key_set_check(model, columns, classes) or _check(model, _sizes(model, classes, matches), groups, people)
            for model in models
        ]
        hidden = self._hidden(groups, models)
        if self.suppression is not None and self.suppression.keeps_ambiguous:
            clear = sum(found.clear_classes for found in hidden.values())
            checks.append(Check(self.suppression.text, None, clear, clear == 0))
        if self.rows is not None:
            checks.append(Check("number of rows", self.rows, classes.rows, classes.rows == self.rows))
        smallest = int(classes.sizes.min()) if classes.sizes.size else 0
        sizes = ClassSizes.of(classes.sizes, *classes.memberships)
        unit = "row" if classes.person is None else self.unit
        unique, together = uniqueness(table, columns, self.unchanged)
        return Audit(
            tuple(checks),
            classes.rows,
            classes.sizes.size,
            smallest,
            tuple(columns),
            sizes,
            unique=unique,
            singled_out=together,
            certainties=certainties,
            hidden=hidden,
            notes=(
                *self._marks(attributes, classes),
                *(_missing_marks(columns, classes) if self.notices_marks else ()),
                *_weaker(matches, sizes, units(unit)),
            ),
            people=classes.owners,
            unit=unit,
        )

    def _marks(self, attributes: Mapping[str, Sequence[str]], classes: ReleasedClasses) -> tuple[str, ...]:
        """Return a note for each sensitive attribute with values that look like the mark of suppressed ones."""
        if not self.notices_marks or self.unknown is not None:
            return ()
        found = [
            column for column, parts in attributes.items() if not _not_suppressed(classes.attribute(parts), _MARK).all()
        ]
        return tuple(
            f"'{_MARK}' in the sensitive column '{column}' was counted as a value; if it marks suppressed values, say "
            f"so with unknown=\"{_MARK}\", on the command line --unknown '{_MARK}'."
            for column in found
        )

    def _certainty(self, column: str, values: pl.Series, classes: ReleasedClasses) -> AttributeDisclosure:
        """Measure how surely classes give a sensitive column away; shares are of values known before suppression."""
        known = values.is_not_null() | (self.missing_sensitive == "value")
        shown = (known & _not_suppressed(values, self.unknown)).to_numpy()
        distinct, code = _numbered(values)
        width = max(len(distinct), 1)
        cells, count = classes.counted(code, width, shown)
        total = max(classes.rows if classes.owners is None else classes.owners, 1)
        group = cells // width
        share = count / np.maximum(classes.sizes_of(known.to_numpy()), 1)[group]
        usual = classes.totals(code, width, shown)[cells % width] / total
        telling = np.where(share >= usual + _TELLING, share, 0.0)
        if not telling.any():
            return AttributeDisclosure(column, 0.0, 0.0, float(usual.max(initial=0.0)))
        highest = float(telling.max())
        rarest = float(usual[telling == highest].min())  # of several values that are inferred as surely
        certain = np.unique(group[telling > 1 - 1e-9])
        one = np.zeros(classes.group.size, dtype=np.int64)
        known_for = int(classes.totals(one, 1, np.isin(classes.group, certain))[0])
        return AttributeDisclosure(column, highest, float(known_for / total), rarest)

    def _hidden(self, groups: Mapping[str, Groups], models: Sequence[PrivacyModel]) -> dict[str, HiddenValues]:
        """Measure what the hidden values of each sensitive attribute can be."""
        by_share = self.suppression is not None and self.suppression.hides_too_frequent
        found = {
            column: hiding_classes(own, thresholds(models, column, own) if by_share else None).summed_up()
            for column, own in groups.items()
            if own.hides
        }
        return {column: figures for column, figures in found.items() if figures is not None}

    def _weights(self, models: Sequence[PrivacyModel]) -> str | None:
        """Return the column of survey weights, if a model needs it; raise UsageError if nothing is known of people."""
        model = next((model for model in models if model.looks_at_population), None)
        if model is None:
            return None
        if self.weights is None and self.population is None:
            raise model.unknown_population_error()
        if self.weights is not None and (self.person is not None or self.people is not None):
            raise UsageError(
                "Survey weights are of rows, and the promises count people; leave one of the two out.", topic="people"
            )
        if self.weights is not None and self.population is not None:
            raise UsageError("The population is either a table or estimated by weights; leave one of the two out.")
        return self.weights

    def _population(self) -> AuditedPopulation:
        hierarchies = self.quasi_identifiers if isinstance(self.quasi_identifiers, Mapping) else {}
        is_counted = isinstance(self.population, Mapping)
        table = self.population["counted"] if is_counted else self.population
        return AuditedPopulation(table, hierarchies, self.types, self.engine, is_counted)

    def _groups(self, column: str, parts: Sequence[str], classes: ReleasedClasses, layout: str | None) -> Groups:
        """Return the classes with the values of a sensitive attribute, compared with the reference."""
        values = classes.attribute(parts)
        shown = _not_suppressed(values, self.unknown)
        distinct, code = _numbered(values)
        released = pl.DataFrame({"value": distinct, "rows": classes.totals(code, len(distinct), shown.to_numpy())})
        released = released.filter(pl.col("rows") > 0)
        counted = original_counts(column, self.reference, released, layout, parts, self.person)
        known = ~missing_values(values, counted["value"].dtype) | (self.missing_sensitive == "value")
        if self.missing_sensitive == "unknown":
            counted = counted.filter(counted["value"].is_not_null())
        trees = self.sensitive if isinstance(self.sensitive, Mapping) else {}
        compared = make_reference(column, counted, trees.get(column), self.types.get(column))
        groups = _group_values(classes, values, (known & shown).to_numpy(), compared)
        return replace(
            groups,
            known=classes.sizes_of(known.to_numpy()),
            hides=self.unknown is not None,
            suppressed=None if classes.person is None else classes.sizes_of((known & ~shown).to_numpy()),
        )


def _weaker(matches: Iterable[PrivacyModel], sizes: ClassSizes, who: str) -> Iterator[str]:
    """Say of promises that count matches that they are weaker, and how many rows would break the stronger one."""
    for model in matches:
        alone, total = sizes.below(int(model.promised or 0)), max(sizes.rows, 1)
        share = f"{rounded_percent(alone / total, total)} of the {who}" if total >= LEAST_ROWS else f"part of the {who}"
        yield f"{model.shown}: {WEAKER}" + (
            f" Counted in classes, where a hidden cell is a value of its own, {share} would break it." if alone else ""
        )


def _missing_marks(columns: Sequence[str], classes: ReleasedClasses) -> Iterator[str]:
    """Yield a note for each column with texts that often mean a missing value."""
    rows = np.bincount(classes.group, classes.count, classes.sizes.size).astype(np.int64)
    for column, values in zip(columns, classes.keys, strict=True):
        yield from missing_mark_notes(column, values, rows)
    for column, values in classes.values.items():
        yield from missing_mark_notes(column, values, classes.count)


def _numbered(values: pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    """Return the distinct values, and the position of each value among them."""
    distinct = values.unique(maintain_order=True)
    if distinct.is_empty():
        return distinct, np.zeros(0, dtype=np.int64)
    code = values.replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int64)
    return distinct, code.to_numpy()


def _check_visible(privacy: Models) -> None:
    """Refuse promises about how rows were drawn, which no table shows."""
    for text in [privacy] if isinstance(privacy, str | PrivacyModel) else privacy:
        model = PRIVACY.make(text)
        if model.of_sampling:
            raise UsageError(
                f"'{model.text}' is a promise about how rows were drawn, which a table does not show; check the class "
                f"sizes it needs, k({model.minimum_size})."
            )


def _models(columns: Sequence[str], privacy: Models) -> list[PrivacyModel]:
    models = [PRIVACY.make(model) for model in ([privacy] if isinstance(privacy, str | PrivacyModel) else privacy)]
    if not columns:
        raise UsageError(
            "There is no quasi-identifier; name at least one column others could know.", topic="no-quasi-identifier"
        )
    if not models:
        raise UsageError("No privacy model was given; ask for one, as in k(5).", topic="no-privacy-model")
    for model in models:
        model.check_key_sets(columns)
    return models


def _not_suppressed(values: pl.Series, unknown: str | None) -> pl.Series:
    """Return which values are not the mark of a suppressed one."""
    if unknown is None:
        return pl.repeat(True, len(values), dtype=pl.Boolean, eager=True)
    return values.cast(pl.String).ne_missing(unknown)


def _with_presence(quasi_identifiers: Any, tables: JoinedTables) -> dict[str, Any]:
    """Return the quasi-identifiers of joined tables: whether a person has a row in a table is one of them."""
    given = quasi_identifiers if isinstance(quasi_identifiers, Mapping) else None
    named = dict(given) if given is not None else dict.fromkeys(_names(quasi_identifiers, "quasi-identifiers"))
    return {**named, **dict.fromkeys(tables.presence)}


def _key_set_check(model: PrivacyModel, columns: Sequence[str], classes: ReleasedClasses) -> Check | None:
    """Measure a promise about key sets, each by itself; None if it is about all quasi-identifiers."""
    key_sets = measure_key_sets(model, columns, classes)
    if not key_sets:
        return None
    lowest = min(each.reached for each in key_sets)
    kept = all(model.satisfied_by(each.reached) for each in key_sets)
    return Check(model.shown, model.promised, lowest, kept, tuple(key_sets))


def _check(
    model: PrivacyModel,
    sizes: NDArray[np.int64],
    groups: Mapping[str, Groups],
    people: NDArray[np.float64] | None,
) -> Check:
    """Measure a promise; ``sizes`` are those of the classes, of profiles, or how many rows match those of a class."""
    none = np.zeros(0, dtype=np.int64)
    measured = Groups(sizes, none, none, none, none)
    for column in _attributes([model]):
        measured = groups[column]
    reached = float(model.reached(replace(measured, population=people)))
    return Check(model.shown, model.promised, reached, bool(model.satisfied_by(reached)))


def _sizes(
    model: PrivacyModel, classes: ReleasedClasses, matches: Mapping[PrivacyModel, NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Return what a promise about sizes looks at."""
    return _profiles(model, classes) if model.counts_profiles else matches.get(model, classes.sizes)


def _profiles(model: PrivacyModel, classes: ReleasedClasses) -> NDArray[np.int64]:
    """Return how many people have each profile."""
    if classes.person is None:
        raise UsageError(
            f"'{model.shown}' is about all rows of a person; name the column that says whose they are, with ",
            Argument("person"),
            ".",
            topic="people",
        )
    return classes.profiles()


def _group_values(
    classes: ReleasedClasses, values: pl.Series, shown: NDArray[np.bool_], reference: ReferenceValues
) -> Groups:
    """Count the values of each class in the entries that are ``shown``."""
    width = max(reference.whole.size, 1)
    value = np.zeros(classes.group.size, dtype=np.int64)
    value[shown] = reference.find(values.filter(pl.Series(shown)))
    cells, count = classes.counted(value, width, shown)
    return Groups(
        classes.sizes,
        cells // width,
        cells % width,
        count,
        reference.whole,
        reference.ancestors,
        reference.names,
        positions=reference.positions,
        of_people=classes.person is not None,
    )


def _attributes(models: Sequence[PrivacyModel]) -> list[str]:
    """Return the sensitive attributes that models are about."""
    named = [getattr(model, "attribute", None) for model in models if model.looks_at_sensitive]
    return list(dict.fromkeys(name for name in named if name is not None))


def _parts(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a sensitive attribute, which may be several as in ``disease+stage``."""
    return parts_of(name, list(columns)) if "+" in name else (name,)


def _names(columns: str | Sequence[str] | Mapping[str, Any], role: str) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"The {role} name the column '{name}' twice.", column=name)
    return names
