"""The last rooms of the flow: recode, audit, and the release itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet._numbers import add_up
from discreet.engines import UNKNOWN, Counted, FileSource, InMemorySource, LazySource, Recoding
from discreet.problem import Problem
from discreet.release._behind import Behind
from discreet.release._caution import Private, PrivateCaution, cautions_first
from discreet.release._checksums import FileStamp, job_text
from discreet.release._columns import kept_rows, tell_columns
from discreet.release._describe import about_promises, about_values, notes, population_text, text_form, versions
from discreet.release._key import Key, KeyPlace
from discreet.release._ledger import make_entry, record, two_releases
from discreet.release._mapping import Recipe
from discreet.release._meanings import own_hierarchy
from discreet.release._occurring import named_by_released
from discreet.release._prepare import Prepared
from discreet.release._publish import Promises, publish
from discreet.release._recode import make_recoding
from discreet.release._release import Release
from discreet.release._sizes import ClassSizes
from discreet.release._small import least_cell

if TYPE_CHECKING:
    from discreet.counts import IntArray
    from discreet.solve import Solution

__all__ = ["make_release"]


def make_release(
    prepared: Prepared,
    problem: Problem,
    solution: Solution,
    job: Mapping[str, Any],
    key: KeyPlace | None,
    secret: Key | None = None,
    *,
    drawn: bool = False,
) -> Release:
    """Carry a solution out, audit what came of it, and put together what is known about it.

    What is written to a place is entered in the ledger beside the ``key``, whose content is the ``secret``. ``drawn``
    says whether the solution depends on the seed.
    """
    prepared.undecided.check()
    schema = prepared.schema
    figures = problem.cost.told(problem.table, float(solution.cost), float(solution.lower_bound))
    if problem.kept is not None:
        from discreet.solve import in_whole_table

        solution = in_whole_table(problem, solution)
    with prepared.clock("recode"):
        counted = named_by_released(prepared.source, problem, prepared.counted, solution)
    trees = {name: own_hierarchy(domain, schema.quasi_identifiers[name]) for name, domain in counted.domains.items()}
    recoding = make_recoding(
        solution,
        counted,
        drop=schema.identifiers,
        required=tuple(schema.quasi_identifiers) if counted.dropped else (),
    )
    promises = Promises(
        quasi_identifiers=tuple(schema.quasi_identifiers),
        privacy=problem.privacy,
        sensitive={column: prepared.trees.get(column) for column in schema.sensitive},
        types=schema.types,
        reference=counted.reference,
        unknown=UNKNOWN if problem.suppression.hides_values else None,
        missing_sensitive=prepared.missing_sensitive,
        rows=problem.whole.n - solution.suppressed_rows,
        read=prepared.stamp,
        weights=schema.weights,
        population=None if counted.people is None else {"counted": counted.people},
        hierarchies=trees,
        made_for=prepared.written_as,
        values=_values(counted, recoding),
    )
    table, verdict = publish(prepared.source, recoding, promises, prepared.target, prepared.clock)
    told = text_form({**prepared.told(), **job})
    found = f" {solution.cost!r} {verdict.rows} {verdict.classes}"  # a search that was stopped may end elsewhere
    choices, second = job_text(told, without=[] if drawn else ["seed"]) + found, None
    if secret is not None and prepared.target is not None:
        entry = make_entry(secret, prepared.data, prepared.stamp, choices, prepared.target.place)
        second = None if entry is None else two_releases(record(secret, entry))
    worst, least = problem.cost.worst(problem.table), least_cell(problem.privacy)
    kept = kept_rows(counted.table, solution)
    gone = solution.suppressed_rows + counted.dropped
    return Release(
        status=solution.status,
        cost=float(solution.cost),
        lower_bound=float(solution.lower_bound),
        gap=float(solution.gap),
        normalized_cost=float(solution.cost / worst) if worst else 0.0,
        n=problem.whole.n,
        suppressed=int(solution.suppressed_rows),
        suppressed_values=int(solution.suppressed_values),
        dropped_missing=counted.dropped,
        classes=verdict.classes,
        levels=dict(zip(counted.domains, map(int, solution.levels or ()), strict=False)),
        audit=verdict,
        job=told,
        notes=cautions_first(
            [
                *([] if second is None else [PrivateCaution(second)]),
                *prepared.undecided.notes(),
                *map(Private if gone else str, about_values(schema, problem, counted)),
                *about_promises(schema, problem, counted),
                *notes(prepared.source, schema, problem, prepared.schemes, counted, solution, prepared.target),
            ]
        ),
        kept=prepared.undecided.kept,
        stats={
            **_people(prepared),
            **figures,
            **solution.stats,
            "seconds": prepared.clock.seconds,
        },
        trace=solution.trace,
        versions=versions(),
        table=table,
        partition={
            name: (domain.values, blocks[domain.codes])
            for (name, domain), blocks in zip(counted.domains.items(), solution.blocks, strict=bool(solution.blocks))
        },
        before=ClassSizes.of(_sizes_before(counted, counted.table.weights)),
        released_before=None if kept is None else ClassSizes.of(_sizes_before(counted, kept)),
        columns=tell_columns(counted, prepared.schemes, solution, recoding, least),
        recipe=Recipe.of(
            prepared.source,
            schema=schema,
            domains=counted.domains,
            solution=solution,
            recoding=recoding,
            trees=prepared.trees,
            privacy=problem.privacy,
            missing=prepared.missing,
            missing_sensitive=prepared.missing_sensitive,
        ),
        recoding=recoding,
        rows_known=not recoding.picks_rows or isinstance(prepared.source, FileSource | InMemorySource | LazySource),
        promises=replace(promises, read=None),
        least=least,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        read=prepared.stamp,
        drawn_from=FileStamp.of(prepared.population),
        wrote=None if prepared.target is None else FileStamp.of(prepared.target.place),
        behind=Behind.of(prepared, problem, counted.domains, solution, recoding),
        key=key,
        choices=choices,
    )


def _values(counted: Counted, recoding: Recoding) -> dict[str, pl.Series]:
    """Return all values that quasi-identifiers, and sensitive attributes of one column, may be released with."""
    shown = {} if recoding.shares is None else recoding.shares.shown
    changed = {**shown, **{name: column.released for name, column in recoding.maps.items()}}
    values = {name: counts["value"] for name, counts in counted.reference.items() if name not in recoding.hidden}
    return {**values, **{name: changed.get(name, domain.values) for name, domain in counted.domains.items()}}


def _people(prepared: Prepared) -> dict[str, str]:
    """Return how many people the rows were drawn from, where that is known."""
    text = population_text(prepared.counted.table, prepared.schema.weights)
    return {} if text is None else {"population": text}


def _sizes_before(counted: Counted, rows: IntArray) -> IntArray:
    """Return how many rows have each combination of original quasi-identifiers, given the rows of each tuple."""
    table = counted.table
    if not counted.apart:
        return rows
    ids = table.group([np.arange(attribute.leaves) for attribute in table.attributes]).ids
    return add_up(ids, rows, int(ids.max(initial=-1)) + 1)
