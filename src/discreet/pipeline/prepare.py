"""The first stages of the pipeline: open the source, find its schema and count it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engines import (
    UNKNOWN,
    Counted,
    Format,
    SensitiveOptions,
    Source,
    count,
    count_people,
    index_of,
    layout_of,
    library_errors,
    open_source,
    unnamed_of,
)
from discreet.errors import Argument, DataError, InterruptedRun, UnsupportedCombinationError, UsageError
from discreet.job.files import FileStamp
from discreet.job.owner_key import Key, KeyFile, key_file
from discreet.job.settings import JobSettings
from discreet.pipeline.clock import Clock
from discreet.pipeline.load_ahead import load_ahead
from discreet.pipeline.output import TablesOutput, Target, check_output, check_tables_output
from discreet.pipeline.tables import check_schemes, inspect_tables
from discreet.pipeline.undecided_columns import UndecidedColumns, inspect_columns
from discreet.problem import Problem, Scheme, scheme_of_each
from discreet.runtime.locations import without_password
from discreet.runtime.table_path import options_of
from discreet.schema import Builder, Hierarchy, Schema, as_hierarchy, parts_of, rounding_grid
from discreet.schema.builders.flat import flat

if TYPE_CHECKING:
    from discreet.counts import CountTable
    from discreet.pipeline.against import EarlierReleases
    from discreet.problem import Cost, PrivacyModel
    from discreet.solve import Budget

__all__ = [
    "Prepared",
    "build_problem",
    "check_suppression",
    "check_switches",
    "interruptible",
    "prepare",
    "search_budget",
]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that was opened and counted, and where its release goes."""

    settings: JobSettings
    source: Source
    schema: Schema
    counted: Counted
    trees: Mapping[str, Hierarchy | Builder]
    """The hierarchies of sensitive columns."""
    schemes: Mapping[str, Scheme]
    """The scheme of each quasi-identifier."""
    stamp: FileStamp | None
    """The input files as they were before they were read."""
    clock: Clock
    target: Target | TablesOutput | None
    key: KeyFile | None = None
    secret: Key | None = field(default=None, repr=False)
    """The content of the key, where something is written."""
    written_as: Format | None = None
    """The format the table was counted for."""
    undecided: UndecidedColumns = field(default_factory=UndecidedColumns)
    earlier: EarlierReleases | None = None
    """The earlier releases that the new one keeps its promises together with."""

    def with_key(self) -> Prepared:
        """Return the table with the owner's key, which is made if something is written or the user named its file."""
        key = key_file(self.settings.key)
        needed = key is not None and (key.explicit or self.target is not None)
        return replace(self, key=key, secret=key.make() if key is not None and needed else None)

    def with_target(self, settings: JobSettings) -> Prepared:
        """Return the same table with another output, key and order of rows."""
        return replace(self, settings=settings, target=_target(settings)).with_key()

    def describe_table(self) -> dict[str, Any]:
        """Return the table and the roles of its columns, with the keys of a job file."""
        settings, schema = self.settings, self.schema
        return {
            **_inputs(settings),
            "output": None if settings.output is None else without_password(settings.output),
            "identifiers": list(schema.identifiers),
            "quasi_identifiers": {
                name: domain.given
                for name, domain in self.counted.domains.items()
                if settings.linked is None or name not in settings.linked.presence
            },
            "sensitive": {name: self.trees.get(name) for name in schema.sensitive},
            "class_attribute": schema.class_attribute,
            **({} if schema.person is None else {"person": schema.person}),
            **({} if schema.household is None else {"household": schema.household}),
            **({"pseudonyms": True} if settings.pseudonyms else {}),
            **({"keep": list(schema.keep)} if schema.keep else {}),
            **({} if schema.weights is None else {"weights": schema.weights}),
            **({} if settings.population is None else {"population": _location_text(settings.population)}),
            **({"against": [_location_text(each) for each in settings.against]} if settings.against else {}),
            "types": schema.types,
            **({"derive": dict(settings.derive)} if settings.derive else {}),
            "missing": settings.missing,
            "missing_sensitive": settings.missing_sensitive,
            **options_of(settings.data).to_dict(),
            **settings.engine.to_dict(),
        }


def prepare(settings: JobSettings, *, for_front: bool = False) -> Prepared:
    """Open a table, find its columns and hierarchies, count it, and inspect columns without a role.

    A column without a role that could identify people ends the run here. A front, which releases nothing by itself, is
    ended by it only when a point is released.
    """
    clock = Clock()
    data, population, target = settings.data, settings.population, _target(settings)
    written_as = target.format if target else None
    with clock("read"):
        source = open_source(data, settings.engine)
        stamp = _stamp(settings)
        kept_columns, kept_index = _split_kept(settings.keep, source)
        schema = Schema.make(
            source.columns,
            settings.identifiers,
            settings.quasi_identifiers,
            settings.sensitive,
            settings.class_attribute,
            settings.types,
            weights=settings.weights,
            keep=kept_columns,
        ).with_owners(settings.person, settings.household, pseudonyms=_pseudonyms(settings))
        if settings.missing_sensitive == "unknown":
            _check_missing_codes(source, schema)
        schemes = scheme_of_each(list(schema.quasi_identifiers), settings.scheme)
        schema = _flattened(schema, schemes)
        trees = _hierarchies(settings.sensitive)
    if not for_front and not settings.any_scheme:
        load_ahead(settings, schema, schemes, source)
    all_levels = settings.cost.counts_values and not for_front
    with clock("count"):
        confirmed = [*schema.keep, *kept_index]
        undecided = None
        if schema.owners:  # their values are searched for in other columns, and only then become numbers
            if settings.linked is None:
                undecided = _inspect(source, schema, confirmed, with_index=target is None)
            else:
                undecided = inspect_tables(settings.linked, source, data, schema, confirmed)
            source.number_people(list(dict.fromkeys([*schema.pseudonyms, str(schema.unit)])))
        people = None
        if population is not None:
            people = count_people(population, list(schema.quasi_identifiers), settings.missing, settings.engine)
        counted = count(
            source,
            schema,
            missing=settings.missing,
            without_hierarchy=[] if all_levels else [name for name in schemes if not schemes[name].uses_hierarchy],
            people=people,
            sensitive=SensitiveOptions(
                missing=settings.missing_sensitive,
                hierarchies=trees,
                written_as=written_as,
                keys=_split_by(schema, schemes, settings.privacy, settings.cost),
                always_people=any(model.counts_profiles or model.sampling < 1 for model in settings.privacy),
            ),
        )
        if undecided is None:
            undecided = _inspect(source, schema, confirmed, with_index=target is None)
        if not for_front:
            undecided.check()
    prepared = Prepared(
        settings=settings,
        source=source,
        schema=schema,
        counted=counted,
        trees=trees,
        schemes=schemes,
        stamp=stamp,
        clock=clock,
        target=target,
        written_as=written_as,
        undecided=undecided,
    )
    if not settings.against:
        return prepared
    from discreet.pipeline.against import read_earlier_releases  # with all evaluations: 50 ms of every start

    with clock("count"):
        return replace(prepared, earlier=read_earlier_releases(prepared))


def _inspect(source: Source, schema: Schema, confirmed: Sequence[str], *, with_index: bool) -> UndecidedColumns:
    """Inspect columns without a role. That identifiers repeat is no news where promises count people."""
    names = list(dict.fromkeys([*schema.identifiers, *schema.owners]))
    found = inspect_columns(
        source, names, schema.insensitive, confirmed, schema.sensitive_columns, with_index=with_index
    )
    return found if schema.unit is None else replace(found, repeated={})


def build_problem(prepared: Prepared, privacy: Sequence[PrivacyModel | str]) -> Problem:
    """Return the problem of making a table keep some promises with the choices of the settings."""
    settings = prepared.settings
    if settings.linked is not None:
        check_schemes(settings.linked, prepared.schemes.values())
    _check_marks(prepared)
    return Problem.build(
        _with_grids(prepared),
        privacy=privacy,
        cost=settings.cost if settings.linked is None else settings.cost.without(settings.linked.presence),
        suppression=settings.suppression,
        scheme=prepared.schemes,
        min_levels=settings.min_levels,
        max_levels=settings.highest_levels,
        known_with=None if settings.linked is None else settings.linked.known_with,
    )


def _flattened(schema: Schema, schemes: Mapping[str, Scheme]) -> Schema:
    """Return the schema with flat hierarchies where values are shown as they are or hidden; refuse any others there."""
    quasi = dict(schema.quasi_identifiers)
    for column, given in quasi.items():
        if not schemes[column].flat:
            continue
        if given is not None and given != flat():
            raise UnsupportedCombinationError(
                f"The hierarchy of '{column}'",
                f"the scheme {schemes[column].name}, which shows a value or hides it",
                "leave the hierarchy out, or choose the scheme local",
            )
        quasi[column] = flat()
    return replace(schema, quasi_identifiers=quasi)


def _check_marks(prepared: Prepared) -> None:
    """Refuse columns with the mark of hidden cells among their values, which readers could not tell apart."""
    for column, domain in prepared.counted.domains.items():
        if prepared.schemes[column].flat and UNKNOWN in domain.labels[0]:
            raise UsageError(
                f"Column '{column}' has the value '{UNKNOWN}', which the scheme {prepared.schemes[column].name} writes "
                "for a cell it hides; give it another name in the data first.",
                column=column,
            )


def _with_grids(prepared: Prepared) -> CountTable:
    """Return the counted table, with a grid for each column whose ranges have rounded ends."""
    table, domains = prepared.counted.table, prepared.counted.domains
    if not any(scheme.rounds_ends for scheme in prepared.schemes.values()):
        return table
    attributes = []
    for attribute in table.attributes:
        rounds = prepared.schemes[attribute.name].rounds_ends and not attribute.tree
        grid = rounding_grid(domains[attribute.name], attribute.rows) if rounds else None
        attributes.append(attribute if grid is None else replace(attribute, grid=grid.cell))
    return replace(table, attributes=tuple(attributes))


def check_suppression(problem: Problem, prepared: Prepared) -> None:
    """Refuse to suppress records or values of a combined attribute, or where the data has the text for unknown."""
    if problem.divided in prepared.schema.combined:
        raise UnsupportedCombinationError(
            f"The sensitive attribute {problem.divided}, which is several columns,",
            f"the suppression {problem.suppression.name}",
            "choose none, a budget or class-records",
        )
    if not problem.suppression.hides_values:
        return
    column = problem.suppression.divided(problem.privacy)
    if column is not None and (prepared.counted.codes[column]["value"].cast(pl.String) == UNKNOWN).any():
        raise UsageError(
            f"Column '{column}' has the value '{UNKNOWN}', which {problem.suppression.name} writes for a value it "
            "suppresses; give it another name in the data first.",
            column=column,
        )


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn Ctrl-C outside the search, which keeps its best result, into an InterruptedRun."""
    try:
        with library_errors():
            yield
    except KeyboardInterrupt:
        raise InterruptedRun("Stopped before there was anything to release; nothing was written.") from None


def check_switches(progress: Any, budget: Any) -> None:
    """Raise an error unless ``progress`` can be called and ``budget`` is one."""
    if progress is not None and not callable(progress):
        raise UsageError("progress is a function that is called with the state of the search.")
    if budget is not None:
        from discreet.solve import Budget

        if not isinstance(budget, Budget):
            raise UsageError("budget is a discreet.solve.Budget; a limit in seconds is ", Argument("time_limit"), ".")


def search_budget(budget: Budget | None, time_limit: float | None) -> Budget:
    """Return the budget of a search; its time limit starts now."""
    from discreet.solve import Budget

    if budget is None:
        return Budget(time_limit)
    if time_limit is not None:
        budget.time_limit = time_limit
    if time_limit is not None or budget.time_limit is None:  # a limit the budget came with keeps running
        budget.started = time.monotonic()
    return budget


def _target(settings: JobSettings) -> Target | TablesOutput | None:
    """Return where the release goes, checked."""
    if settings.output is None:
        return None
    if settings.linked is not None:
        tables = {table.name: table.data for table in settings.linked.tables}
        folder = check_tables_output(settings.output, tables, overwrite=settings.overwrite)
        return replace(folder, shuffle=settings.shuffle)
    for table in settings.against:
        if isinstance(table, str | PathLike):
            check_output(settings.output, table)
    target = check_output(settings.output, settings.data, settings.population, overwrite=settings.overwrite)
    return replace(target, shuffle=settings.shuffle)


def _split_by(schema: Schema, schemes: Mapping[str, Scheme], models: Sequence[PrivacyModel], cost: Cost) -> list[str]:
    """Return the columns beside the quasi-identifiers by which tuples are counted separately.

    Local recoding may send rows with equal quasi-identifiers to different classes, so it has to distinguish them by the
    sensitive values that privacy models look at, and by the class label if the cost does.
    """
    if all(scheme.is_global for scheme in schemes.values()):
        return []
    attributes = {getattr(model, "attribute", None) for model in models if model.looks_at_sensitive}
    columns = [column for column in schema.sensitive if column in attributes or None in attributes]
    combined = next((column for column in columns if column in schema.combined), None)
    if combined is not None:
        raise UnsupportedCombinationError(
            f"The sensitive attribute {combined}, which is several columns,", "the scheme local", "choose full-domain"
        )
    label = schema.class_attribute
    return columns if label is None or label in columns or "labels" not in cost.needs else [*columns, label]


def _split_kept(keep: str | Sequence[str], source: Source) -> tuple[str | Sequence[str], list[str]]:
    """Split confirmed names into columns, and index levels or unnamed columns of a pandas frame."""
    levels = {*index_of(source, ())[0], *unnamed_of(source)}
    if not levels or not isinstance(keep, str | Sequence):
        return keep, []
    names = [keep] if isinstance(keep, str) else list(keep)
    return [name for name in names if name in source.columns or name not in levels], [n for n in names if n in levels]


def _check_missing_codes(source: Source, schema: Schema) -> None:
    """Refuse codes that mean a missing sensitive value: no promise may count them as values."""
    layout = layout_of(source)
    dictionary = None if layout is None else layout.dictionary
    for column in [part for name in schema.sensitive for part in parts_of(name, source.columns)]:
        if dictionary is not None and column in dictionary.missing_codes:
            raise DataError(
                f"The sensitive column '{column}' has codes that the file declares as missing, which promises would "
                "count as values; read them as missing with ",
                Argument("missing_codes", "missing"),
                ", or count them with ",
                Argument("missing_sensitive", "value"),
                ".",
                column=column,
                topic="read-options",
            )


def _pseudonyms(settings: JobSettings) -> bool | Sequence[str]:
    """Return which columns leave as pseudonyms: several tables are linked by that of people."""
    if settings.pseudonyms or settings.linked is None:
        return settings.pseudonyms
    return [settings.linked.person]


def _stamp(settings: JobSettings) -> FileStamp | None:
    """Stamp the files of the input; None if it is a frame or a table of a database."""
    if settings.linked is None:
        return FileStamp.of(settings.table)
    return FileStamp.of_all(settings.linked.given)


def _inputs(settings: JobSettings) -> dict[str, Any]:
    """Return the table, or the tables, with the keys of a job file."""
    if settings.linked is None:
        return {"input": _location_text(settings.table)}
    tables = {table.name: _location_text(table.data) for table in settings.linked.tables}
    return {"input": next(iter(tables.values())), "tables": tables}


def _location_text(data: Any) -> str | None:
    """Return the location of a table without a password; None for a frame."""
    return without_password(data) if isinstance(data, str | PathLike) else None


def _hierarchies(sensitive: Any) -> dict[str, Hierarchy | Builder]:
    """Return the hierarchies that were given for sensitive columns."""
    given = sensitive if isinstance(sensitive, Mapping) else {}
    return {column: as_hierarchy(choice) for column, choice in given.items() if choice is not None}
