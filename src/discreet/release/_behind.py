"""What a release was made from, kept beside it so that more can be asked about it later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from discreet._places import is_url
from discreet.engines import UNKNOWN, relation_of
from discreet.errors import UsageError
from discreet.problem import Problem
from discreet.release._describe import is_counted

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
    def of(cls, prepared: Prepared, problem: Problem) -> Behind:
        """Keep what a release is made from."""
        schema, schemes = prepared.schema, prepared.schemes
        quasi = {
            name: "auto" if tree is None and schemes[name].uses_hierarchy else tree
            for name, tree in schema.quasi_identifiers.items()
        }
        small = problem.whole.tuples <= MOST_KEPT and all(scheme.is_global for scheme in problem.schemes)
        secrets = {column: prepared.trees.get(column) for column in schema.sensitive}
        return cls(prepared.data, quasi, secrets, problem if small else None)

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
        forms = {role: job.get(role) or {} for role in ("quasi_identifiers", "sensitive")}
        told = {role: {name: _known(form) for name, form in given.items()} for role, given in forms.items()}
    else:
        told = {"quasi_identifiers": dict(behind.quasi_identifiers), "sensitive": dict(behind.sensitive)}
        original = behind.data if original is None else original
    return original, {**told, "types": job.get("types") or None}


def _known(form: Any) -> Any:
    """Return a hierarchy as a job has it; None where a pickle left the values behind that it lists."""
    return None if is_counted(form) else form


def unknown(release: Release) -> str | None:
    """Return what stands for a suppressed sensitive value, if there may be any."""
    return UNKNOWN if release.suppressed_values else None


def _missing() -> NoReturn:
    raise UsageError("The table the release was made from is not known any more; name it, as in original='people.csv'.")
