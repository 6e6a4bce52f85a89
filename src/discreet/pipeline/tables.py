"""Several tables about the same people: joined for the search, and divided again into the tables that are released.

Whoever gets all tables links them by pseudonym, so promises have to hold on the joined table: a row of each table for
every person, in all combinations, and missing values where a person has no row. Whether a person has a row in a table
can be seen in the release and is never generalized: it is a quasi-identifier where some people have none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines import Engine, FileSource, exactly, layout_of, open_source, relation_of, to_lazy
from discreet.errors import Argument, AuditError, DataError, DiscreetError, UnsupportedCombinationError, UsageError
from discreet.job.linked_tables import LinkedTable, LinkedTables
from discreet.job.settings import JobSettings
from discreet.pipeline.output import check_tables_output
from discreet.pipeline.undecided_columns import KeptColumn, UndecidedColumns, inspect_columns
from discreet.problem import Groups, PrivacyModel, Scheme
from discreet.report.notes import Private
from discreet.runtime.joined_tables import check_tables, comparable_keys, no_table_error
from discreet.runtime.locations import is_url
from discreet.runtime.machine_limits import check_room
from discreet.runtime.plurals import amount, either, listed
from discreet.schema import Schema, count_missing_marks
from discreet.schema.builders.flat import flat

if TYPE_CHECKING:
    from discreet.engines import Source

__all__ = [
    "about_tables",
    "blanked",
    "check_schemes",
    "divided",
    "inspect_tables",
    "refuse_tables",
    "with_joined_tables",
]

_CELL = 16
"""About how many bytes a value takes."""


def refuse_tables(data: Any, what: str) -> None:
    """Refuse several tables where only one is taken."""
    if isinstance(data, Mapping):
        raise UsageError(f"{what} one table, and several were given; join them first.", topic="several-tables")


def with_joined_tables(settings: JobSettings) -> JobSettings:
    """Return the settings with the joined table as data, if several tables are given."""
    if not isinstance(settings.data, Mapping):
        return settings
    person = _checked(settings)
    if settings.output is not None:
        check_tables_output(settings.output, settings.data, overwrite=settings.overwrite)
    read = {name: _read(name, table, person) for name, table in settings.data.items()}
    frames = {name: frame for name, (frame, _) in read.items()}
    rows = _joined_rows(frames, person)
    columns = _joined_names(frames, person, settings)
    tables = tuple(
        LinkedTable(name, settings.data[name], columns[name], rows[name], layout) for name, (_, layout) in read.items()
    )
    first = tables[0].name
    joined = pl.concat(
        [
            _gathered(frame, table, [name for name in frame.columns if table.name == first or name != person])
            for table, frame in zip(tables, frames.values(), strict=True)
        ],
        how="horizontal",
    )
    presence = {f"any {table.name}": table.name for table in tables if not table.there.all()}
    _check_absent(settings, tables, presence)
    marks = [
        pl.Series(f"any {table.name}", np.where(table.there, "yes", "no"), dtype=pl.String)
        for table in tables
        if not table.there.all()
    ]
    changed = _with_presence(settings, presence) if presence else {}
    return replace(
        settings,
        data=joined.with_columns(marks),
        linked=LinkedTables(person, tables, presence, settings.scheme if "scheme" in changed else None),
        engine=Engine(),
        **changed,
    )


def _with_presence(settings: JobSettings, presence: Iterable[str]) -> dict[str, Any]:
    """Return the quasi-identifiers with those that say whether a person has rows, which are never generalized."""
    given = settings.quasi_identifiers
    quasi = dict(given) if isinstance(given, Mapping) else dict.fromkeys(_names(given))
    scheme = settings.scheme
    by_column = isinstance(scheme, Scheme) and scheme.is_global and not scheme.uses_hierarchy
    return {
        **({"scheme": dict.fromkeys(quasi, scheme)} if by_column else {}),
        "quasi_identifiers": {**quasi, **dict.fromkeys(presence, flat())},
        "max_levels": {**settings.max_levels, **dict.fromkeys(presence, 0)},
    }


def _checked(settings: JobSettings) -> str:
    """Return the column that links the tables; refuse what does not go with several."""
    tables = settings.data
    check_tables(tables, settings.person)
    assert settings.person is not None
    refused = {"weights": settings.weights, "population": settings.population}
    for option in (name for name, given in refused.items() if given is not None):
        raise UsageError(
            "Survey weights and populations are of one table, and several were given; leave out ",
            Argument(option),
            ".",
            topic="several-tables",
        )
    if settings.engine.name not in ("auto", "polars"):
        raise UsageError(
            f"Several tables are joined in memory, not by {settings.engine.name}; leave out ",
            Argument("engine"),
            ", or join them there and give one table.",
            topic="several-tables",
        )
    for model in settings.privacy:  # whatever becomes a quasi-identifier besides
        model.check_key_sets(_names(settings.quasi_identifiers))
    drawn = next((model for model in settings.privacy if model.sampling < 1), None)
    if drawn is not None:
        raise UnsupportedCombinationError(
            f"The privacy model {drawn.shown}, which draws rows,", "several tables", "choose k"
        )
    kind = settings.suppression
    if len(tables) > 2 and kind.name != "none" and not kind.of_people:
        raise UnsupportedCombinationError(
            f"The suppression {kind.text}",
            "more than two tables",
            "a row that is left out with one row of another table would stay with the next; choose none or a budget of "
            "people as in budget(5%)",
        )
    return settings.person


def _read(name: str, data: Any, person: str) -> tuple[pl.DataFrame, Any]:
    """Return the rows of a table, and the format of its file."""
    spark = isinstance(data, str) and is_url(data) and data.lower().startswith("spark:")
    if spark or relation_of(data) is not None:
        raise UsageError(
            f"The table '{name}' is in a database or cluster, and several tables are joined in memory; give each as a "
            "file or a frame in memory, or join them there and give one table.",
            topic="several-tables",
        )
    try:
        source = open_source(data)
    except DiscreetError:
        if isinstance(data, str | PathLike):
            raise
        raise no_table_error(name, data) from None
    with source.guard():
        frame = to_lazy(data).collect(engine="streaming")
        if isinstance(source, FileSource) and source.file.dialect is not None:
            source.file.check_rows()
    if person not in frame.columns:
        raise DataError(
            f"The table '{name}' has no column '{person}', which links the tables; name the column that all of them "
            "have, with ",
            Argument("person"),
            ".",
            column=person,
            topic="several-tables",
        )
    keys = frame[person].fill_nan(None) if frame[person].dtype.is_float() else frame[person]
    missing = keys.null_count()
    if missing:
        raise DataError(
            f"Column '{person}' has no value in {amount(missing, 'row')} of the table '{name}', so that nobody knows "
            "whose they are; fill it in, or leave them out.",
            column=person,
            topic="several-tables",
        )
    for mark, rows in count_missing_marks(keys, np.ones(len(keys), dtype=np.int64)).items():
        if rows > 1:
            raise DataError(
                f"Column '{person}' has the text {mark} in {amount(rows, 'row')} of the table '{name}', which would "
                "be of one person; give each of those rows a value of its own, or leave them out.",
                column=person,
                topic="several-tables",
            )
    return frame, layout_of(source)


def _joined_rows(frames: Mapping[str, pl.DataFrame], person: str) -> dict[str, NDArray[np.int64]]:
    """Return the row of each table in each row of the joined table, -1 where a person has none."""
    people, *others = frames
    keys = frames[people][person]
    several = int((keys.value_counts(name="rows")["rows"] > 1).sum())
    if several:
        raise DataError(
            f"The table '{people}' has several rows for {amount(several, 'person', 'people')} in '{person}', and the "
            "first table has one row for each person; name the table of people first, or keep one row of each.",
            column=person,
            topic="several-tables",
        )
    book = pl.DataFrame({"key": keys, "person": np.arange(len(keys))})
    owner = {name: _owners(book, people, name, frames[name], person) for name in others}
    combinations = np.ones(len(keys), dtype=np.int64)
    for each in owner.values():
        combinations *= np.maximum(np.bincount(each, minlength=len(keys)), 1)
    check_room(int(combinations.sum()) * _CELL * sum(frame.width for frame in frames.values()))
    joined = pl.DataFrame({"person": np.arange(len(keys))})
    for name, each in owner.items():
        own = pl.DataFrame({"person": each, name: np.arange(each.size)}, schema_overrides={"person": pl.Int64})
        joined = joined.join(own, on="person", how="left", maintain_order="left_right")
    rows = {people: joined["person"].to_numpy()}
    return {**rows, **{name: joined[name].fill_null(-1).to_numpy() for name in others}}


def _owners(book: pl.DataFrame, people: str, name: str, frame: pl.DataFrame, person: str) -> NDArray[np.int64]:
    """Return the person of each row of a table; refuse rows of people who are not in the table of people."""
    own, other = frame[person], book["key"]
    types = f"'{name}.{person}' holds {own.dtype} and '{people}.{person}' holds {other.dtype}"
    pair = comparable_keys(own, other)
    if pair is None:
        raise DataError(
            f"{types}, which cannot be compared; make them the same type.", column=person, topic="several-tables"
        )
    keys, known = (each.alias("key") for each in pair)
    found = keys.to_frame().join(book.with_columns(known), on="key", how="left", maintain_order="left")["person"]
    lost = found.null_count()
    if lost and (own.dtype == pl.String) != (other.dtype == pl.String):
        raise DataError(
            f"{types}, and compared as text {amount(lost, 'row')} of '{name}' {either(lost, 'is', 'are')} of nobody in "
            f"'{people}'; make them the same type, written in the same way.",
            column=person,
            topic="several-tables",
        )
    if lost:
        raise DataError(
            f"The table '{name}' has {amount(lost, 'row')} of people who are not in '{people}'; add these people, or "
            f"leave the {either(lost, 'row', 'rows')} out.",
            column=person,
            topic="several-tables",
        )
    return np.asarray(found.to_numpy(), dtype=np.int64)


def _joined_names(frames: Mapping[str, pl.DataFrame], person: str, settings: JobSettings) -> dict[str, dict[str, str]]:
    """Return the names of the columns of each table in the joined table: ``visits.age`` where several have one."""
    counts = Counter(column for frame in frames.values() for column in frame.columns if column != person)
    for column in _named_columns(settings):
        if counts[column] > 1:
            having = [name for name, frame in frames.items() if column in frame.columns]
            raise UsageError(
                f"Column '{column}' is in the tables {listed(map(repr, having))}; say which is meant, as in "
                f"'{having[-1]}.{column}'.",
                column=column,
                topic="several-tables",
            )
    names = {
        name: {column: f"{name}.{column}" if counts[column] > 1 else column for column in frame.columns}
        for name, frame in frames.items()
    }
    every = Counter(joined for own in names.values() for column, joined in own.items() if column != person)
    every.update(f"any {name}" for name in frames)
    for joined, times in every.items():
        if times > 1 or joined == person:
            raise DataError(
                f"Two columns of the joined tables would be called '{joined}'; rename one of them.",
                column=joined,
                topic="several-tables",
            )
    return names


def _named_columns(settings: JobSettings) -> Iterator[str]:
    """Yield the columns that settings give a role."""
    for given in (settings.identifiers, settings.quasi_identifiers, settings.sensitive, settings.keep):
        yield from _names(given)
    yield from (*(settings.types or ()), *settings.derive)
    yield from (column for column in (settings.class_attribute, settings.household) if column is not None)


def _gathered(frame: pl.DataFrame, table: LinkedTable, columns: Iterable[str]) -> pl.DataFrame:
    """Return columns of a table in the joined table, without values where a person has no row."""
    rows = pl.Series(table.rows)
    rows = rows.set(rows < 0, None)
    return frame.select(exactly(column).gather(rows).alias(table.columns[column]) for column in columns)


def _check_absent(settings: JobSettings, tables: Sequence[LinkedTable], presence: Mapping[str, str]) -> None:
    """Refuse what would treat people without a row in a table like people with missing values."""
    for table in tables:
        if table.name not in presence.values():
            continue
        own = [name for name in table.columns.values() if name != settings.person]
        quasi = next((name for name in _names(settings.quasi_identifiers) if name in own), None)
        if quasi is not None and settings.missing != "value":
            raise _absent_error(table.name, quasi, Argument("missing", settings.missing), Argument("missing", "value"))
        for secret in _names(settings.sensitive):
            if not {secret, *secret.split("+")} & {*own}:
                continue
            if settings.missing_sensitive != "unknown":
                given, instead = (
                    Argument("missing_sensitive", each) for each in (settings.missing_sensitive, "unknown")
                )
                raise _absent_error(table.name, secret, given, instead)
            broken = next((model for model in settings.privacy if _needs_value(model, secret)), None)
            if broken is not None:
                raise UsageError(
                    f"Some people have no row in '{table.name}', and so no value in '{secret}', so that {broken.shown} "
                    f"cannot hold for them; leave these people out, or promise a threshold, as in l+(0.5, {secret}).",
                    column=secret,
                    topic="several-tables",
                )


def _absent_error(table: str, column: str, given: Argument, instead: Argument) -> UsageError:
    return UsageError(
        f"Some people have no row in '{table}', and so no value in '{column}', which ",
        given,
        " would take for a missing one; choose ",
        instead,
        ", or leave these people out.",
        column=column,
        topic="several-tables",
    )


def _needs_value(model: PrivacyModel, column: str) -> bool:
    """Whether a class of which no value of a sensitive column is known breaks a promise, however large it is."""
    if not model.looks_at_sensitive or getattr(model, "attribute", None) not in (None, column):
        return False
    none = np.zeros(0, dtype=np.int64)
    nobody = Groups(np.array([1_000_000]), none, none, none, np.array([1_000_000, 1_000_000]), of_people=True)
    return not model.satisfied_by(model.reached(nobody))


def _names(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def check_schemes(tables: LinkedTables, schemes: Iterable[Scheme]) -> None:
    """Refuse schemes by which the rows of one person may show different values of the table of people."""
    scheme = next((scheme for scheme in schemes if not scheme.is_global), None)
    if scheme is None:
        return
    if scheme.flat or scheme.parts_people:
        raise UnsupportedCombinationError(
            f"The scheme {scheme.text}",
            "several tables",
            "it recodes the rows of a person differently, and the tables have a person once; choose full-domain or "
            "subtree",
        )
    if tables.presence:
        without = next(iter(tables.presence.values()))
        raise UnsupportedCombinationError(
            f"The scheme {scheme.name}",
            f"people who have no row in '{without}'",
            "its groups would join them with people who have one, which the tables still show; choose full-domain or "
            "subtree, or leave these people out",
        )


def inspect_tables(
    tables: LinkedTables, source: Source, joined: pl.DataFrame, schema: Schema, confirmed: Sequence[str]
) -> UndecidedColumns:
    """Inspect columns without a role in the joined table, and in their own: there a person counts once."""
    names = list(dict.fromkeys([*schema.identifiers, *schema.owners]))
    whole = inspect_columns(source, names, schema.insensitive, confirmed, schema.sensitive_columns, with_index=False)
    own: dict[str, KeptColumn] = {}
    for table in tables.tables:
        columns = [*table.columns.values()]
        frame = joined.select(map(exactly, columns))[table.examples]
        found = inspect_columns(
            open_source(frame),
            [name for name in names if name in columns],
            [name for name in schema.insensitive if name in columns],
            confirmed,
            [name for name in schema.sensitive_columns if name in columns],
            with_index=False,
        )
        own |= {column.name: column for column in (*found.kept, *found.sensitive)}
    return replace(
        whole,
        repeated={},
        kept=tuple(_stricter(column, own[column.name]) for column in whole.kept),
        sensitive=tuple(_stricter(column, own[column.name]) for column in whole.sensitive),
    )


def _stricter(joined: KeptColumn, own: KeptColumn) -> KeptColumn:
    """Return what was found about a column in its own table, unless only the joined table shows that it identifies."""
    return replace(joined, unique=own.unique) if joined.stops and not own.stops else own


def divided(tables: LinkedTables, released: pl.DataFrame, kept: NDArray[np.int64]) -> dict[str, pl.DataFrame]:
    """Return the tables that the released rows of the joined table come from; ``kept`` are their numbers."""
    found = {}
    for table in tables.tables:
        row = table.rows[kept]
        position = np.flatnonzero(row >= 0)
        _, first, again = np.unique(row[position], return_index=True, return_inverse=True)
        own = {joined: column for column, joined in table.columns.items() if joined in released.columns}
        rows = released.select(map(exactly, own))[position]
        one = rows[first]
        if len(first) < len(position) and not one[again.reshape(-1)].equals(rows):
            raise AuditError(
                f"A row of the table '{table.name}' would be released in two ways. Nothing was released; please "
                "report this."
            )
        found[table.name] = one.rename(own)
    return found


def blanked(tables: LinkedTables, released: pl.DataFrame, kept: NDArray[np.int64]) -> pl.DataFrame:
    """Return the released rows without values of tables in which their person has no row."""
    for table in tables.tables:
        absent = table.rows[kept] < 0
        if absent.any():
            columns = [name for name in table.columns.values() if name in released.columns and name != tables.person]
            there = pl.Series(~absent)
            released = released.with_columns(pl.when(there).then(exactly(name)).alias(name) for name in columns)
    return released


def about_tables(tables: LinkedTables | None, unseen: Collection[str]) -> Iterator[str]:
    """Yield what a user should know about figures of several tables.

    Of people without a row in a table nobody but the owner hears if all of them were left out, as the marks in
    ``unseen`` say.
    """
    if tables is None:
        return
    people, *others = (repr(table.name) for table in tables.tables)
    yield (
        f"The tables {listed([people, *others])} are linked by the pseudonyms in '{tables.person}'. All figures are of "
        f"the joined table, which has a row for each row of {listed(others)} with the columns of {people}."
    )
    for mark, table in tables.presence.items():
        if mark in unseen:
            yield Private(
                f"All people who have no row in '{table}' were left out: '{mark}' was a quasi-identifier that is never "
                "generalized. Reports do not mention it."
            )
        else:
            yield (
                f"Some people have no row in '{table}', which the release shows: '{mark}' is a quasi-identifier that "
                "is never generalized."
            )
