"""What a release was made from, kept beside it so that more can be asked about it later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from discreet._places import is_url
from discreet.engines import UNKNOWN, relation_of
from discreet.errors import UsageError
from discreet.problem import Problem

if TYPE_CHECKING:
    from discreet.release._prepare import Prepared
    from discreet.release._release import Release

__all__ = ["MOST_KEPT", "Behind", "roles", "unknown"]

MOST_KEPT = 300_000
"""Problems of more tuples are not kept for the sake of a look around."""


@dataclass(frozen=True, eq=False, repr=False)
class Behind:
    """The original table as it was given, the hierarchies of its columns, and the problem that was solved.

    It stays in memory and goes nowhere else: a release that is pickled leaves it behind.
    """

    data: Any
    quasi_identifiers: Mapping[str, Any]
    sensitive: Mapping[str, Any]
    problem: Problem | None
    """None where it is large, or where each class has its own way to show values."""

    @classmethod
    def of(cls, prepared: Prepared, problem: Problem, trees: Mapping[str, Any]) -> Behind:
        """Keep what a release is made from; ``trees`` are the hierarchies with the names that were released."""
        schema = prepared.schema
        small = problem.whole.tuples <= MOST_KEPT and all(scheme.is_global for scheme in problem.schemes)
        secrets = {column: prepared.trees.get(column) for column in schema.sensitive}
        return cls(prepared.data, dict(trees), secrets, problem if small else None)

    @property
    def at_hand(self) -> bool:
        """Whether the table is a frame in memory or a file, and not one that a database or a cluster would read."""
        return not (isinstance(self.data, str) and is_url(self.data)) and relation_of(self.data) is None

    def __reduce__(self) -> tuple[Any, ...]:
        return _nothing, ()

    def __copy__(self) -> Behind:
        return self

    def __deepcopy__(self, memo: Any) -> Behind:
        return self


def _nothing() -> None:
    """Stand for what was left behind."""


def roles(release: Release, original: Any) -> tuple[Any, dict[str, Any]]:
    """Return the original table and what its columns are, as evaluations want it."""
    job, behind = release.job, release.behind
    if behind is None:
        if original is None:
            _missing()
        told = {"quasi_identifiers": job["quasi_identifiers"], "sensitive": job.get("sensitive") or {}}
    else:
        told = {"quasi_identifiers": dict(behind.quasi_identifiers), "sensitive": dict(behind.sensitive)}
        original = behind.data if original is None else original
    return original, {**told, "types": job.get("types") or None}


def unknown(release: Release) -> str | None:
    """Return what stands for a suppressed sensitive value, if there may be any."""
    return UNKNOWN if release.suppressed_values else None


def _missing() -> NoReturn:
    raise UsageError("The table the release was made from is not known any more; name it, as in original='people.csv'.")
