"""What a release was made from, kept beside it so that more can be asked about it later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn

import polars as pl

from discreet._places import is_url
from discreet.engines import UNKNOWN, recode, relation_of, to_lazy, unused
from discreet.errors import UsageError
from discreet.problem import SCHEMES, Problem
from discreet.release._columns import MOST_KEPT
from discreet.release._describe import is_counted
from discreet.release._meanings import meanings
from discreet.release._pickling import unpickled

if TYPE_CHECKING:
    from discreet.engines import Recoding
    from discreet.evaluate._released_as import ReleasedAs
    from discreet.release._prepare import Prepared
    from discreet.release._release import Release
    from discreet.schema import Domain
    from discreet.solve import Solution

__all__ = [
    "Behind",
    "is_at_hand",
    "job_hierarchies",
    "kept_rows_of",
    "known_recoding",
    "recoded",
    "released_people",
    "roles",
    "unknown",
]


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
    find: Callable[[], Mapping[str, ReleasedAs]]
    """Finds what the released values of each quasi-identifier stand for."""

    @classmethod
    def of(
        cls,
        prepared: Prepared,
        problem: Problem,
        domains: Mapping[str, Domain],
        solution: Solution,
        recoding: Recoding,
    ) -> Behind:
        """Keep what a release is made from; ``domains`` have the names that were released."""
        schema = prepared.schema
        quasi = schema.quasi_identifiers
        small = problem.whole.tuples <= MOST_KEPT and all(scheme.is_global for scheme in problem.schemes)
        secrets = {column: prepared.trees.get(column) for column in schema.sensitive}
        groups = solution.groups
        covers = () if groups is None or groups.show != "cover" else groups.covers
        find = partial(meanings, domains, quasi, solution.blocks, covers, recoding)
        return cls(prepared.data, quasi, secrets, problem if small else None, find)

    @cached_property
    def released_as(self) -> Mapping[str, ReleasedAs]:
        """The hierarchies the quasi-identifiers were released with, and what their released values stand for."""
        return self.find()

    @property
    def at_hand(self) -> bool:
        """Whether the table is a frame in memory or a file, and not one that a database or a cluster would read."""
        return is_at_hand(self.data)

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
        secrets = {name: _known(form) for name, form in (job.get("sensitive") or {}).items()}
        told = {"quasi_identifiers": job_hierarchies(job), "sensitive": secrets}
    else:
        told = {"quasi_identifiers": dict(behind.released_as), "sensitive": dict(behind.sensitive)}
        original = behind.data if original is None else original
    return original, {**told, "types": job.get("types") or None}


def job_hierarchies(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the quasi-identifiers of a job with their hierarchies: the automatic one where the scheme needs one."""
    scheme = job["scheme"]
    of = scheme if isinstance(scheme, Mapping) else dict.fromkeys(job["quasi_identifiers"], scheme)
    return {
        name: "auto" if tree is None and SCHEMES.make(of[name]).uses_hierarchy else _known(tree)
        for name, tree in job["quasi_identifiers"].items()
    }


def _known(form: Any) -> Any:
    """Return a hierarchy as a job has it; None where a pickle left the values behind that it lists."""
    return None if is_counted(form) else form


def released_people(release: Release, told: dict[str, Any], original: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Return the original rows of the released people, their released rows in the same order, and the roles.

    Whatever is measured between the two tells nothing about people who were left out: of automatic hierarchies too
    only what the released people have is left.
    """
    from discreet.evaluate._released_as import ReleasedAs

    if not is_at_hand(original):
        raise UsageError("Tables of databases and clusters are not read once more; name a file or a frame as original.")
    plan = to_lazy(original)
    number = unused("row", plan.collect_schema())
    kept = kept_rows_of(release, original)
    rows = plan.with_row_index(number).collect()[kept.to_numpy()].drop(number)
    quasi = {
        name: tree.among(rows[name]) if isinstance(tree, ReleasedAs) else tree
        for name, tree in told["quasi_identifiers"].items()
    }
    return rows, recoded(release, original), {**told, "quasi_identifiers": quasi}


def known_recoding(release: Release) -> Recoding:
    """Return how the release was made, where that says which rows of the original table are in it."""
    if release.recoding is None:
        raise unpickled("the way it was made", "make the release again")
    if not release.rows_known:
        raise UsageError(
            "Which of several equal rows were left out is not known, for the engine that made this release keeps no "
            "order of rows; make it with engine='polars', or with a suppression that leaves out whole classes."
        )
    return release.recoding


def kept_rows_of(release: Release, original: Any) -> pl.Series:
    """Return which rows of the original table are released, in their order there, from 0 on."""
    frame = to_lazy(original)
    number = unused("row", frame.collect_schema())
    released = recode(frame.with_row_index(number), known_recoding(release))
    return released.select(number).collect().to_series()


def recoded(release: Release, original: Any) -> pl.DataFrame:
    """Return the released rows in the order of the original table, which what is written need not have."""
    assert release.recoding is not None
    return recode(to_lazy(original), release.recoding).collect()


def unknown(release: Release) -> str | None:
    """Return what stands for a suppressed sensitive value, if there may be any."""
    return UNKNOWN if release.suppressed_values else None


def is_at_hand(data: Any) -> bool:
    """Whether a table is a frame in memory or a file, and not one that a database or a cluster would read."""
    return not (isinstance(data, str) and is_url(data)) and relation_of(data) is None


def _missing() -> NoReturn:
    raise UsageError("The table the release was made from is not known any more; name it, as in original='people.csv'.")
