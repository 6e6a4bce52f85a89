"""Which table, and which of its columns play which role: the same question for every evaluation of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.engines import open_source
from discreet.errors import UsageError
from discreet.evaluate._released_as import split
from discreet.schema import Schema

__all__ = ["Asked", "Columns"]

_NO_HIERARCHY = ("local", "ordered", "set")
"""Schemes under which a column needs no hierarchy."""
Columns = str | Sequence[str] | Mapping[str, Any] | None


@dataclass(frozen=True, eq=False)
class Asked:
    """A table, its quasi-identifiers and sensitive columns with their hierarchies (None without), and their types."""

    table: Any
    hierarchies: Mapping[str, Any]
    sensitive: Mapping[str, Any]
    types: Mapping[str, Any]
    job: Mapping[str, Any]
    """What a release was asked for; empty for any other table."""

    @classmethod
    def make(cls, data: Any, quasi_identifiers: Columns, sensitive: Columns, types: Mapping[str, Any] | None) -> Asked:
        """Check the roles against the columns; what is not given, a release knows itself."""
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
            quasi = {column: _made(job, column) if tree is None else tree for column, tree in quasi.items()}
        given, known = split(quasi)
        schema = Schema.make(open_source(table).columns, quasi_identifiers=given, sensitive=named, types=dict(kinds))
        return cls(
            table,
            {**schema.quasi_identifiers, **known},
            {column: trees.get(column) for column in schema.sensitive},
            schema.types,
            job,
        )

    def missing_sensitive(self, chosen: str | None) -> str:
        """Return what a missing sensitive value is: as chosen, or else as the release was asked for."""
        from discreet.release._missing import check_missing_sensitive

        choice = str(self.job.get("missing_sensitive", "unknown")) if chosen is None else chosen
        check_missing_sensitive(choice)
        return choice

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers."""
        return tuple(self.hierarchies)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the sensitive columns."""
        return tuple(self.sensitive)


def _made(job: Mapping[str, Any], column: str) -> str | None:
    """Return the hierarchy that was made for a column without one: the automatic one where the scheme needs one."""
    scheme = job.get("scheme", "")
    name = str(scheme.get(column, "") if isinstance(scheme, Mapping) else scheme)
    return None if name.startswith(_NO_HIERARCHY) else "auto"
