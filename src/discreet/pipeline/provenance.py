"""The sources of a release: kept in memory to measure it or write it again later, and never pickled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engines import UNKNOWN, exactly, number_people, recode, relation_of, to_lazy, unused
from discreet.errors import Argument, UsageError
from discreet.job.settings import is_best
from discreet.pipeline.pickling import unpickled, with_originals_wanted
from discreet.pipeline.released_values import meanings
from discreet.pipeline.sampling import DrawnRows
from discreet.problem import SCHEMES, Problem
from discreet.report.columns import MOST_KEPT
from discreet.report.job_text import is_counted, pseudonym_columns
from discreet.runtime.locations import is_url

if TYPE_CHECKING:
    from discreet.engines import Recoding
    from discreet.evaluate.released_as import ReleasedAs
    from discreet.job.files import FileStamp
    from discreet.job.linked_tables import LinkedTables
    from discreet.job.owner_key import KeyFile
    from discreet.pipeline.mapping import Recipe
    from discreet.pipeline.prepare import Prepared
    from discreet.pipeline.publish import Promises
    from discreet.pipeline.release import Release
    from discreet.report.class_sizes import ClassSizes
    from discreet.schema import Domain
    from discreet.solve import Solution

__all__ = [
    "OriginalTable",
    "Provenance",
    "ReleasedPeople",
    "hiding",
    "job_hierarchies",
    "known_recoding",
    "recoded",
    "released_people",
    "released_row_numbers",
    "roles",
    "with_owners",
]


@dataclass(frozen=True, eq=False, repr=False)
class OriginalTable:
    """The original table as it was given, the hierarchies of its columns, and the problem that was solved."""

    data: Any
    quasi_identifiers: Mapping[str, Any]
    sensitive: Mapping[str, Any]
    problem: Problem | None
    """None if it is large, or if the recoding is local."""
    find_meanings: Callable[[], Mapping[str, ReleasedAs]]

    @classmethod
    def of(
        cls,
        prepared: Prepared,
        problem: Problem,
        domains: Mapping[str, Domain],
        solution: Solution,
        recoding: Recoding,
    ) -> OriginalTable:
        """Keep what a release is made from; ``domains`` have the labels that were released."""
        schema = prepared.schema
        quasi = schema.quasi_identifiers
        small = problem.whole.tuples <= MOST_KEPT and all(scheme.is_global for scheme in problem.schemes)
        sensitive = {column: prepared.trees.get(column) for column in schema.sensitive}
        groups = solution.groups
        covers = () if groups is None or groups.show != "cover" else groups.covers
        find = partial(meanings, domains, quasi, solution.blocks, covers, recoding)
        return cls(prepared.settings.data, quasi, sensitive, problem if small else None, find)

    @cached_property
    def released_as(self) -> Mapping[str, ReleasedAs]:
        """The hierarchies the quasi-identifiers were released with, and what their released values mean."""
        return self.find_meanings()

    def without(self, columns: Collection[str]) -> OriginalTable:
        """Return the same table without some quasi-identifiers."""

        def meanings_of_others() -> dict[str, ReleasedAs]:
            return {name: meaning for name, meaning in self.released_as.items() if name not in columns}

        others = {name: tree for name, tree in self.quasi_identifiers.items() if name not in columns}
        return replace(self, quasi_identifiers=others, find_meanings=meanings_of_others)

    @property
    def at_hand(self) -> bool:
        """Whether the table is a frame in memory or a file, rather than in a database or cluster."""
        return is_at_hand(self.data)


@dataclass(frozen=True, eq=False, repr=False)
class Provenance:
    """Everything about a release that holds values of the original table, or its secrets."""

    original: OriginalTable | None
    values: Mapping[str, pl.Series]
    """The original values of each quasi-identifier of a global recoding; ``Release.block_ids`` has their blocks."""
    sizes: ClassSizes
    """The sizes of the equivalence classes of the original table."""
    recoding: Recoding
    """What was done to columns and rows."""
    rows_known: bool
    """Whether it is known which rows were released. Of equal rows, a database or an engine that keeps no order may have
    suppressed others than the last ones."""
    recipe: Recipe | None
    """How to apply the recoding to other rows; None if equal values may have become different ones."""
    promises: Promises | None
    """What everything written of the release has to keep."""
    read: FileStamp | None
    """The input files."""
    drawn_from: FileStamp | None
    """The files of the population."""
    key: KeyFile | None = field(repr=False)
    """The owner's key, beside which releases that were written are recorded."""
    choices: str = ""
    """The job and its result as text, by which the ledger distinguishes releases."""
    linked: LinkedTables | None = None
    """The tables it was joined from, if several were released together."""
    drawn: DrawnRows | None = None
    """Which rows of the table were drawn, for promises that rest on sampling."""

    def number_rows(self, data: Any, column: str) -> pl.LazyFrame:
        """Return the original table with the number of each row in a column, as the recoding expects it.

        Of a table that rows were drawn from, these are kept.
        """
        frame = to_lazy(data).with_row_index(column)
        return number_people(frame if self.drawn is None else self.drawn.of_table(frame), self.recoding.numbered)

    def __reduce_ex__(self, protocol: Any) -> Any:
        if not with_originals_wanted():
            return _nothing, ()
        return Provenance, tuple(vars(replace(self, original=None, promises=None, linked=None)).values())

    def __copy__(self) -> Provenance:
        return self

    def __deepcopy__(self, memo: Any) -> Provenance:
        return self


def _nothing() -> None:
    """Replace a provenance in a pickle."""


def roles(release: Release, original: Any) -> tuple[Any, dict[str, Any]]:
    """Return the original table and the roles of its columns, as arguments of the evaluations."""
    job, known = release.job, release.original
    if known is None:
        if original is None:
            raise UsageError(
                "The table the release was made from is not known any more; name it, as in ",
                Argument("original", "people.csv"),
                ".",
            )
        sensitive = {name: _unless_counted(form) for name, form in (job.get("sensitive") or {}).items()}
        columns = {"quasi_identifiers": job_hierarchies(job), "sensitive": sensitive}
    else:
        columns = {"quasi_identifiers": dict(known.released_as), "sensitive": dict(known.sensitive)}
        original = known.data if original is None else original
    return original, {**columns, "types": job.get("types") or None}


def job_hierarchies(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the quasi-identifiers of a job with their hierarchies, ``auto`` where the scheme needs one."""
    scheme = job["scheme"]
    if is_best(scheme):  # which one was taken is not known
        return {name: _unless_counted(tree) for name, tree in job["quasi_identifiers"].items()}
    schemes = scheme if isinstance(scheme, Mapping) else dict.fromkeys(job["quasi_identifiers"], scheme)
    return {
        name: "auto" if tree is None and SCHEMES.make(schemes[name]).uses_hierarchy else _unless_counted(tree)
        for name, tree in job["quasi_identifiers"].items()
    }


def _unless_counted(form: Any) -> Any:
    """Return a hierarchy of a job; None if a pickle replaced its values by their number."""
    return None if is_counted(form) else form


def released_people(release: Release, columns: dict[str, Any], original: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Return the original rows of the released people, their released rows in the same order, and the roles.

    What is measured between the two reveals nothing about suppressed people: automatic hierarchies, too, are reduced to
    the values of the released people.
    """
    from discreet.evaluate.released_as import ReleasedAs

    if not is_at_hand(original):
        raise UsageError("Tables of databases and clusters are not read once more; name a file or a frame as original.")
    plan = to_lazy(original)
    number = unused("row", plan.collect_schema())
    kept = released_row_numbers(release, original)
    rows = plan.with_row_index(number).collect()[kept.to_numpy()].drop(number)
    quasi = {
        name: tree.among(rows[name]) if isinstance(tree, ReleasedAs) else tree
        for name, tree in columns["quasi_identifiers"].items()
    }
    return rows, recoded(release, original), {**columns, "quasi_identifiers": quasi}


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedPeople:
    """The rows of the released people in the order of the original table, to be attacked like the release itself."""

    frame: pl.DataFrame
    job: Mapping[str, Any]

    def rows_of(self, data: pl.DataFrame) -> pl.Series:
        """Return the number of the original row of each released row: both tables are in the same order."""
        return pl.Series(range(data.height), dtype=pl.Int64)


def known_recoding(release: Release) -> Recoding:
    """Return the recoding of a release, if it says which rows of the original table were released."""
    if release.provenance is None:
        raise unpickled("the way it was made", "make the release again")
    if not release.provenance.rows_known:
        raise UsageError(
            "Which of several equal rows were left out is not known, for the engine that made this release keeps no "
            "order of rows; make it with engine='polars', or with a suppression that leaves out whole classes."
        )
    return release.provenance.recoding


def released_row_numbers(release: Release, original: Any) -> pl.Series:
    """Return the numbers of the original rows that are released, in their order, from 0."""
    recoding = known_recoding(release)
    assert release.provenance is not None
    number = unused("row", to_lazy(original).collect_schema())
    released = recode(release.provenance.number_rows(original, number), recoding)
    return released.select(number).collect().to_series()


def recoded(release: Release, original: Any) -> pl.DataFrame:
    """Recode the original table again, which keeps its order."""
    assert release.provenance is not None
    number = unused("row", to_lazy(original).collect_schema())
    rows = release.provenance.number_rows(original, number).drop(number)
    return recode(rows, release.provenance.recoding).collect()


def with_owners(
    release: Release, original: Any, released: Any, *, only_released: bool = False
) -> tuple[Any, dict[str, str]]:
    """Return the released rows with the columns that say whose they are, and these columns as arguments of ``risk``.

    Both are as they were if rows are counted, or if the original table does not say which of its rows were released.
    With ``only_released`` the original table has just the released rows, in their order. The rows stay with the owner:
    only figures are made of them.
    """
    job = release.job
    owners = {role: str(job[role]) for role in ("person", "household") if job.get(role)}
    provenance, named = release.provenance, pseudonym_columns(job)
    missing = [column for column in owners.values() if column not in named]
    if not missing:
        return released, owners
    if provenance is None or not provenance.rows_known or not is_at_hand(original):
        return released, {role: column for role, column in owners.items() if column in named}
    whose = to_lazy(original, missing).select(map(exactly, missing)).collect()
    if only_released:
        return released.with_columns(whose.get_columns()), owners
    rows = recoded(release, original) if provenance.linked is None else released
    return rows.with_columns(whose[released_row_numbers(release, original).to_numpy()].get_columns()), owners


def hiding(release: Release) -> dict[str, Any]:
    """Return what is known about suppressed values, as arguments of the evaluations."""
    job = release.job
    return {
        "unknown": UNKNOWN if release.suppressed_values else "",
        "suppression": job["suppression"],
        "privacy": [model for model in job["privacy"] if not is_counted(model)],
    }


def is_at_hand(data: Any) -> bool:
    """Whether a table is a frame in memory or a file, rather than in a database or cluster."""
    return not (isinstance(data, str) and is_url(data)) and relation_of(data) is None
