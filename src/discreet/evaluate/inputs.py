"""The inputs that all evaluations share: a table, the roles of its columns, and what is known about its release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import polars as pl

from discreet.engines import UNKNOWN, open_source, relation_of, to_lazy
from discreet.errors import UsageError
from discreet.evaluate.classes import CountedClasses
from discreet.evaluate.released_as import split
from discreet.evaluate.sensitive import SensitiveColumn
from discreet.problem import PRIVACY, SUPPRESSION, Groups, PrivacyModel, Suppression
from discreet.problem.hidden_values import HidingClasses, hiding_classes, thresholds
from discreet.runtime.joined_tables import JoinedTables, check_tables, join_tables, no_table_error
from discreet.runtime.locations import is_url
from discreet.runtime.read_options import check_missing_sensitive
from discreet.schema import Schema

__all__ = ["Columns", "EvaluationInput", "Hiding", "join_given", "marks_assumed"]

_NO_HIERARCHY = ("local", "ordered", "set")
"""Schemes under which a column needs no hierarchy."""
Columns = str | Sequence[str] | Mapping[str, Any] | None


@dataclass(frozen=True, eq=False)
class EvaluationInput:
    """A table, its quasi-identifiers and sensitive columns with their hierarchies, and their types."""

    table: Any
    hierarchies: Mapping[str, Any]
    sensitive: Mapping[str, Any]
    types: Mapping[str, Any]
    job: Mapping[str, Any]
    """The job of a release; empty for any other table."""

    @classmethod
    def make(
        cls, data: Any, quasi_identifiers: Columns, sensitive: Columns, types: Mapping[str, Any] | None
    ) -> EvaluationInput:
        """Check the roles against the columns; a release knows those that are not given."""
        job = getattr(data, "job", None) or {}
        table = getattr(data, "frame", data) if job else data
        quasi = job.get("quasi_identifiers") if quasi_identifiers is None else quasi_identifiers
        secrets = job.get("sensitive") if sensitive is None else sensitive
        kinds = (job.get("types") if types is None else types) or {}
        if not quasi:
            raise UsageError(
                "There is no quasi-identifier; name at least one column others could know about a person.",
                topic="no-quasi-identifier",
            )
        trees = dict(secrets) if isinstance(secrets, Mapping) else {}
        named = list(trees) if trees else secrets or ()
        if job and isinstance(quasi, Mapping):
            quasi = {column: _automatic(job, column) if tree is None else tree for column, tree in quasi.items()}
        given, known = split(quasi)
        schema = Schema.make(open_source(table).columns, quasi_identifiers=given, sensitive=named, types=dict(kinds))
        return cls(
            table,
            {**schema.quasi_identifiers, **known},
            {column: trees.get(column) for column in schema.sensitive},
            schema.types,
            job,
        )

    def sensitive_columns(
        self, classes: CountedClasses, unknown: str | None, missing: str | None, hiding: Hiding
    ) -> dict[str, SensitiveColumn]:
        """Return how the sensitive columns are read; ``missing`` defaults to the setting of the release.

        What stands for a hidden value is ``unknown``. If that is not given, it is ``*`` where the suppression hides
        values or, if nothing is known about that, where a column has it.
        """
        choice = str(self.job.get("missing_sensitive", "unknown")) if missing is None else missing
        check_missing_sensitive(choice)
        return {
            name: SensitiveColumn(
                name, hierarchy, self.types.get(name), hiding.mark(classes, name, unknown), choice == "value"
            )
            for name, hierarchy in self.sensitive.items()
        }

    def hiding(self, privacy: Any, suppression: Any) -> Hiding:
        """Return how values were hidden; a release supplies whatever is not given."""
        promises = self._promises() if privacy is None else privacy
        chosen = [promises] if isinstance(promises, str | PrivacyModel) else list(promises)
        kind = self.job.get("suppression") if suppression is None else suppression
        models = tuple(PRIVACY.make(model).resolve(self.secrets) for model in chosen)
        return Hiding(models, None if kind is None else SUPPRESSION.make(kind))

    def _promises(self) -> list[PrivacyModel]:
        """Return the promises of a release, without those whose values a pickled one only counts."""
        known = []
        for model in self.job.get("privacy", ()):
            with suppress(UsageError):
                known.append(PRIVACY.make(model))
        return known

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers."""
        return tuple(self.hierarchies)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the sensitive columns."""
        return tuple(self.sensitive)


@dataclass(frozen=True)
class Hiding:
    """How the sensitive values of a table were hidden, as far as it is known."""

    models: tuple[PrivacyModel, ...] = ()
    suppression: Suppression | None = None
    """None if nothing is known."""

    def mark(self, classes: CountedClasses, column: str, unknown: str | None) -> str | None:
        """Return what stands for a hidden value in a column; None if nothing does."""
        if unknown is not None:
            return unknown or None
        if self.suppression is not None:
            return UNKNOWN if self.suppression.hides_values else None
        return UNKNOWN if self.assumed(classes, column) else None

    def assumed(self, classes: CountedClasses, column: str) -> bool:
        """Whether a mark is taken for hidden values only because a column has it."""
        return self.suppression is None and UNKNOWN in classes.texts(column)

    def classes(self, groups: Groups, column: str) -> HidingClasses:
        """Return the classes that hide values of a column, and what these can be."""
        by_share = self.suppression is not None and self.suppression.hides_too_frequent
        return hiding_classes(groups, thresholds(self.models, column, groups) if by_share else None)


def marks_assumed(classes: CountedClasses, columns: Iterable[str], hiding: Hiding) -> tuple[str, ...]:
    """Return a note for each column in which a mark is taken for hidden values without being asked."""
    return tuple(
        f"'{UNKNOWN}' in the sensitive column '{name}' was taken for suppressed values; if it is a value of its own, "
        "say that nothing marks them (unknown='')."
        for name in columns
        if hiding.assumed(classes, name)
    )


def _automatic(job: Mapping[str, Any], column: str) -> str | None:
    """Return the hierarchy of a column without one: the automatic one if its scheme needs one."""
    scheme = job.get("scheme", "")
    name = str(scheme.get(column, "") if isinstance(scheme, Mapping) else scheme)
    return None if name.startswith(_NO_HIERARCHY) else "auto"


class Joined(NamedTuple):
    """The tables of an evaluation, each joined from several if several were given."""

    tables: tuple[Any, ...]
    quasi_identifiers: Any
    """With those that say whether a person has rows in a table, where some people have none."""


def join_given(tables: Sequence[Any], quasi_identifiers: Any, person: str | None) -> Joined:
    """Return the tables of an evaluation, which are joined by ``person`` where they are mappings of several."""
    joined = [_join(table, person) if isinstance(table, Mapping) else None for table in tables]
    presence = dict.fromkeys(mark for each in joined if each is not None for mark in each.presence)
    quasi = quasi_identifiers
    if presence and quasi:
        named = quasi if isinstance(quasi, Mapping) else dict.fromkeys([quasi] if isinstance(quasi, str) else quasi)
        quasi = {**named, **presence}
    found = (table if each is None else each.without(presence) for table, each in zip(tables, joined, strict=True))
    return Joined(tuple(found), quasi)


def _join(tables: Mapping[str, Any], person: str | None) -> JoinedTables:
    check_tables(tables, person)
    return join_tables({name: _rows(name, table) for name, table in tables.items()}, person)


def _rows(name: str, table: Any) -> pl.DataFrame:
    """Read a table whole."""
    if (isinstance(table, str) and is_url(table)) or relation_of(table) is not None:
        raise UsageError(
            f"The table '{name}' is in a database or cluster, and several tables are joined in memory; give each as a "
            "file or a frame in memory, or join them there and give one table.",
            topic="several-tables",
        )
    try:
        return to_lazy(table).collect(engine="streaming")
    except UsageError:
        if isinstance(table, str | PathLike):
            raise
        raise no_table_error(name, table) from None
