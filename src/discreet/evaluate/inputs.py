"""The inputs that all evaluations share: a table, the roles of its columns, and what is known about its release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.engines import open_source
from discreet.errors import UsageError
from discreet.evaluate.released_as import split
from discreet.evaluate.sensitive import SensitiveColumn
from discreet.runtime.read_options import check_missing_sensitive
from discreet.schema import Schema

__all__ = ["Columns", "EvaluationInput"]

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

    def sensitive_columns(self, unknown: str | None, missing: str | None) -> dict[str, SensitiveColumn]:
        """Return how the sensitive columns are read; ``missing`` defaults to the setting of the release."""
        choice = str(self.job.get("missing_sensitive", "unknown")) if missing is None else missing
        check_missing_sensitive(choice)
        return {
            name: SensitiveColumn(name, hierarchy, self.types.get(name), unknown, choice == "value")
            for name, hierarchy in self.sensitive.items()
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers."""
        return tuple(self.hierarchies)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the sensitive columns."""
        return tuple(self.sensitive)


def _automatic(job: Mapping[str, Any], column: str) -> str | None:
    """Return the hierarchy of a column without one: the automatic one if its scheme needs one."""
    scheme = job.get("scheme", "")
    name = str(scheme.get(column, "") if isinstance(scheme, Mapping) else scheme)
    return None if name.startswith(_NO_HIERARCHY) else "auto"
