"""The last stages of the pipeline: recode, audit, and the release itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from discreet.engines import UNKNOWN, Counted, FileSource, InMemorySource, LazySource, Recoding, layout_of
from discreet.job.files import FileStamp
from discreet.pipeline.audit import recount, recount_population
from discreet.pipeline.derive import about_derived
from discreet.pipeline.ledger import make_entry, record, two_releases
from discreet.pipeline.mapping import Recipe
from discreet.pipeline.output import TablesOutput
from discreet.pipeline.people import about_people, kept_pairs, people_kept, people_left_out, with_people
from discreet.pipeline.prepare import Prepared
from discreet.pipeline.provenance import OriginalTable, Provenance
from discreet.pipeline.publish import Promises, publish
from discreet.pipeline.publish_tables import publish_tables
from discreet.pipeline.recode import make_recoding
from discreet.pipeline.release import Release
from discreet.pipeline.release_notes import (
    about_hidden,
    about_promises,
    about_values,
    missing_marks,
    notes,
    population_text,
)
from discreet.pipeline.released_values import hierarchy_of, named_by_released
from discreet.pipeline.sampling import DrawnRows, about_drawn_rows
from discreet.pipeline.tables import about_tables
from discreet.problem import Problem
from discreet.report.class_sizes import ClassSizes
from discreet.report.columns import kept_rows, summarize_columns
from discreet.report.job_text import job_text, text_form
from discreet.report.notes import Private, PrivateCaution, cautions_first
from discreet.report.small_counts import least_cell
from discreet.runtime.integer_codes import add_up, distinct
from discreet.runtime.versions import versions

if TYPE_CHECKING:
    from discreet.pipeline.release_stats import ReleaseStats
    from discreet.solve import Solution

__all__ = ["make_release"]

_READ_HERE = ("auto", "polars")
"""Engines that read files in this process, where the audit can read them again."""
_MOST_ROWS, _MOST_VALUES = 1_000_000, 10_000
"""Larger tables and columns are not grouped for the verdict alone."""
_MOST_GROUPED = 250_000
"""Larger tables are not grouped by all columns for the verdict."""


def make_release(
    prepared: Prepared, problem: Problem, solution: Solution, search: Mapping[str, Any], *, drawn: bool = False
) -> Release:
    """Carry out a solution, audit the result, and gather what is known about it.

    ``search`` is the part of the job that is about the search. ``drawn`` says whether the solution depends on the seed.
    A release that is written is recorded in the ledger beside the owner's key.
    """
    prepared.undecided.check()
    schema, target = prepared.schema, prepared.target
    figures = problem.cost.figures(problem.table, float(solution.cost), float(solution.lower_bound))
    if problem.kept is not None:
        from discreet.solve import in_whole_table

        solution = in_whole_table(problem, solution)
    with prepared.clock("recode"):
        counted = named_by_released(prepared.source, problem, prepared.counted, solution)
    required = tuple(schema.quasi_identifiers) if counted.dropped else ()
    recoding = make_recoding(solution, counted, drop=schema.dropped, required=required)
    job = text_form({**prepared.describe_table(), **search})
    if schema.unit is not None:
        recoding = with_people(recoding, prepared, counted, solution, job_text(job))
    original = OriginalTable.of(prepared, problem, counted.domains, solution, recoding)
    promises = _promises(prepared, problem, solution, counted, recoding)
    if prepared.earlier is not None:
        promises = replace(promises, together=prepared.earlier.checker(problem, lambda: original.released_as))
    linked = prepared.settings.linked
    tables: dict[str, Any] = {}
    unseen: tuple[str, ...] = ()
    if linked is not None:
        assert target is None or isinstance(target, TablesOutput)
        table, verdict, tables, promises, unseen = publish_tables(
            prepared.source, recoding, promises, linked, target, prepared.clock
        )
        recoding = replace(recoding, drop=(*recoding.drop, *unseen))
        original = original.without(unseen)
    else:
        assert not isinstance(target, TablesOutput)
        table, verdict, promises = publish(prepared.source, recoding, promises, target, prepared.clock)
    result = f" {solution.cost!r} {verdict.rows} {verdict.classes}"  # a search that was stopped may end elsewhere
    drawn = drawn or prepared.settings.sampled_from is not None
    choices = job_text(job, without=[] if drawn else ["seed"]) + result
    worst, least = problem.cost.worst(problem.table), least_cell(problem.privacy)
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
        levels={
            name: int(level)
            for name, level in zip(counted.domains, solution.levels or (), strict=False)
            if name not in unseen
        },
        audit=verdict,
        job=job,
        notes=_notes(
            prepared, problem, solution, counted, unseen, [*_recorded(prepared, choices), *about_hidden(verdict)]
        ),
        kept=tuple(
            replace(column, unique=verdict.unique.get(column.name, column.unique)) for column in prepared.undecided.kept
        ),
        stats=cast(
            "ReleaseStats",
            {**_population(prepared), **figures, **solution.stats, "seconds": prepared.clock.seconds},
        ),
        trace=solution.trace,
        versions=versions(),
        table=table,
        tables=tables,
        block_ids={
            name: blocks[domain.codes]
            for (name, domain), blocks in zip(counted.domains.items(), solution.blocks, strict=bool(solution.blocks))
            if name not in unseen
        },
        **people_left_out(counted, solution, verdict.people),
        released_before=_sizes_before(counted, solution),
        columns=summarize_columns(counted, prepared.schemes, solution, recoding, least, unseen),
        least=least,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        wrote=None if target is None else FileStamp.of(target.location),
        provenance=Provenance(
            original=original,
            values={name: domain.values for name, domain in counted.domains.items()} if solution.blocks else {},
            sizes=_sizes_before(counted) or ClassSizes(),
            recoding=recoding,
            rows_known=not recoding.picks_rows or isinstance(prepared.source, FileSource | InMemorySource | LazySource),
            recipe=_recipe(prepared, problem, solution, counted, recoding),
            promises=replace(promises, read=None),
            read=prepared.stamp,
            drawn_from=FileStamp.of(prepared.settings.population),
            key=prepared.key,
            choices=choices,
            linked=linked,
            drawn=DrawnRows.of(prepared.settings),
        ),
    )


def _promises(
    prepared: Prepared, problem: Problem, solution: Solution, counted: Counted, recoding: Recoding
) -> Promises:
    """Return what the audit of the release checks."""
    schema = prepared.schema
    return Promises(
        quasi_identifiers=tuple(schema.quasi_identifiers),
        privacy=problem.privacy,
        sensitive={column: prepared.trees.get(column) for column in schema.sensitive},
        types=schema.types,
        reference=_reference(prepared, problem, counted),
        unknown=UNKNOWN if problem.suppression.hides_values else None,
        missing_sensitive=prepared.settings.missing_sensitive,
        rows=problem.whole.n - solution.suppressed_rows,
        read=prepared.stamp,
        person=schema.unit,
        unit="row" if schema.unit is None else str(schema.role(schema.unit)),
        pseudonyms=schema.unit in schema.pseudonyms,
        expected_people=people_kept(counted, solution),
        weights=schema.weights,
        population=_recounted_population(prepared, problem, counted),
        hierarchies={
            name: hierarchy_of(domain, schema.quasi_identifiers[name]) for name, domain in counted.domains.items()
        },
        made_for=prepared.written_as,
        read_as=layout_of(prepared.source) or prepared.settings.read_as,
        certainty_of=_unpromised(problem, counted),
        unchanged=_unchanged(prepared, problem),
        values=_released_values(counted, recoding),
        suppression=problem.suppression,
    )


def _unchanged(prepared: Prepared, problem: Problem) -> tuple[str, ...]:
    """Return the columns released unchanged, if grouping by them is cheap."""
    names = tuple(column.name for column in prepared.undecided.kept if not column.role and column.unique is not None)
    return names if problem.whole.n <= _MOST_GROUPED else ()


def _unpromised(problem: Problem, counted: Counted) -> tuple[str, ...]:
    """Return the sensitive columns that no model is about, if grouping by them is cheap."""
    promised = {getattr(model, "attribute", None) for model in problem.privacy}
    if problem.whole.n > _MOST_ROWS:
        return ()
    return tuple(
        column for column, values in counted.reference.items() if column not in promised and len(values) <= _MOST_VALUES
    )


def _reference(prepared: Prepared, problem: Problem, counted: Counted) -> dict[str, pl.DataFrame]:
    """Return the sensitive values of the original table that the audit compares with.

    The audit counts those that a promise compares with itself, if it can read the table again.
    """
    compared = {getattr(model, "attribute", None) for model in problem.privacy if model.compares}
    fresh: dict[str, pl.DataFrame] = {}
    if prepared.settings.engine.name in _READ_HERE:
        with prepared.clock("audit"):
            fresh = recount(
                prepared.settings.data,
                [column for column in prepared.schema.sensitive if column in compared],
                required=tuple(prepared.schema.quasi_identifiers) if counted.dropped else (),
                layout=None if prepared.written_as is None else prepared.written_as.kind,
                person=prepared.schema.unit,
            )
    return {**counted.reference, **fresh}


def _recounted_population(prepared: Prepared, problem: Problem, counted: Counted) -> dict[str, pl.DataFrame] | None:
    """Return the population that promises are about, counted by the audit itself if it can read it again."""
    if counted.people is None:
        return None
    fresh, settings = None, prepared.settings
    needed = any(model.looks_at_population for model in problem.privacy)
    if needed and settings.missing != "suppress" and settings.engine.name in _READ_HERE:
        with prepared.clock("audit"):
            fresh = recount_population(settings.population, list(prepared.schema.quasi_identifiers))
    return {"counted": counted.people if fresh is None else fresh}


def _recorded(prepared: Prepared, choices: str) -> list[str]:
    """Record a release that was written in the ledger; return a warning if the table was released before."""
    if prepared.secret is None or prepared.target is None:
        return []
    settings, read = prepared.settings, prepared.stamp
    tables = [settings.table if read is None else read] if settings.linked is None else settings.linked.given
    entry = make_entry(prepared.secret, tables, choices, prepared.target.location)
    others = [] if entry is None else record(prepared.secret, entry)
    if prepared.earlier is not None and len(others) <= len(prepared.earlier.members):
        return []  # the note about earlier releases says what holds
    second = two_releases(others)
    return [] if second is None else [PrivateCaution(second)]


def _notes(
    prepared: Prepared,
    problem: Problem,
    solution: Solution,
    counted: Counted,
    unseen: Sequence[str],
    measured: Sequence[str],
) -> tuple[str, ...]:
    schema = prepared.schema
    suppressed = solution.suppressed_rows + counted.dropped
    return cautions_first(
        [
            *about_derived(prepared.settings),
            *measured,
            *prepared.undecided.notes(),
            *about_people(schema, counted, problem),
            *about_tables(prepared.settings.linked, unseen),
            *map(Private if suppressed else str, about_values(schema, problem, counted)),
            *([] if prepared.earlier is None else prepared.earlier.notes(problem, prepared.settings.suppression)),
            *about_drawn_rows(prepared.settings, problem.whole.n + counted.dropped),
            *about_promises(schema, problem, counted),
            *map(Private, missing_marks(counted)),
            *notes(prepared.source, schema, problem, prepared.schemes, counted, solution, prepared.target),
        ]
    )


def _recipe(
    prepared: Prepared, problem: Problem, solution: Solution, counted: Counted, recoding: Recoding
) -> Recipe | None:
    """Return how to apply the recoding to other rows; None if equal values may become different ones."""
    if solution.groups is not None or prepared.settings.derive:
        return None
    return Recipe(
        schema=prepared.schema,
        domains=counted.domains,
        solution=solution,
        recoding=recoding,
        trees=prepared.trees,
        privacy=problem.privacy,
        missing=prepared.settings.missing,
        missing_sensitive=prepared.settings.missing_sensitive,
    )


def _released_values(counted: Counted, recoding: Recoding) -> dict[str, pl.Series]:
    """Return all values that quasi-identifiers, and sensitive attributes of one column, may be released with."""
    shown = {} if recoding.shares is None else recoding.shares.shown
    changed = {**shown, **{name: column.released for name, column in recoding.maps.items()}}
    values = {name: counts["value"] for name, counts in counted.reference.items() if name not in recoding.hidden}
    return {**values, **{name: changed.get(name, domain.values) for name, domain in counted.domains.items()}}


def _population(prepared: Prepared) -> dict[str, str]:
    """Return the size of the population, where it is known."""
    text = population_text(prepared.counted.table, prepared.schema.weights)
    return {} if text is None else {"population": text}


def _sizes_before(counted: Counted, solution: Solution | None = None) -> ClassSizes | None:
    """Return the sizes of the original equivalence classes; in people if those count.

    With a solution only the rows and people that it releases are counted; None if it is unknown which these are.
    """
    table = counted.table
    people, rows = table.people, table.weights if solution is None else kept_rows(table, solution)
    if rows is None:
        return None
    ids = np.arange(table.tuples)
    if counted.sensitive_keys:
        ids = table.group([np.arange(attribute.leaves) for attribute in table.attributes]).ids.astype(np.int64)
    if people is None:
        return ClassSizes.of(add_up(ids, rows, int(ids.max(initial=-1)) + 1))
    there = np.ones(people.members.size, dtype=np.bool_) if solution is None else kept_pairs(people, table, solution)
    assert there is not None
    pairs = distinct(np.repeat(ids, people.of_tuples)[there] * people.count + people.members[there])
    group, person = pairs // people.count, pairs % people.count
    return ClassSizes.of(np.bincount(group), group, person)
