"""The last rooms of the flow: recode, audit, and the release itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engines import UNKNOWN, Counted, Recoding
from discreet.problem import Problem
from discreet.release._behind import Behind
from discreet.release._caution import cautions_first
from discreet.release._checksums import FileStamp
from discreet.release._columns import tell_columns
from discreet.release._describe import about_sensitive, notes, population_text, text_form, versions
from discreet.release._mapping import Recipe
from discreet.release._prepare import Prepared
from discreet.release._publish import Promises, publish
from discreet.release._recode import make_recoding
from discreet.release._release import Release
from discreet.release._sizes import ClassSizes
from discreet.release._small import least_cell
from discreet.schema import Hierarchy

if TYPE_CHECKING:
    from discreet.counts import IntArray
    from discreet.solve import Solution

__all__ = ["make_release"]


def make_release(prepared: Prepared, problem: Problem, solution: Solution, job: Mapping[str, Any]) -> Release:
    """Carry a solution out, audit what came of it, and put together what is known about it."""
    prepared.undecided.check()
    counted, schema = prepared.counted, prepared.schema
    figures = problem.cost.told(problem.table, float(solution.cost), float(solution.lower_bound))
    if problem.kept is not None:
        from discreet.solve import in_whole_table

        solution = in_whole_table(problem, solution)
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
        rows=problem.whole.n - solution.suppressed_rows,
        read=prepared.stamp,
        weights=schema.weights,
        population=None if counted.people is None else {"counted": counted.people},
        hierarchies={name: _tree(prepared, name) for name in schema.quasi_identifiers},
    )
    table, verdict = publish(prepared.source, recoding, promises, prepared.target, prepared.clock)
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
        levels=dict(zip(counted.domains, map(int, solution.levels or ()), strict=False)),
        audit=verdict,
        job=text_form({**prepared.told(), **job}),
        notes=cautions_first(
            [
                *prepared.undecided.notes(),
                *about_sensitive(schema, problem, counted),
                *notes(prepared.source, schema, problem, prepared.schemes, counted, solution, prepared.target),
            ]
        ),
        kept=prepared.undecided.kept,
        stats={
            **_people(prepared),
            **figures,
            **solution.stats,
            **_shown_counts(recoding),
            "seconds": prepared.clock.seconds,
        },
        trace=solution.trace,
        versions=versions(),
        table=table,
        partition={
            name: (domain.values, blocks[domain.codes])
            for (name, domain), blocks in zip(counted.domains.items(), solution.blocks, strict=bool(solution.blocks))
        },
        before=ClassSizes.of(_sizes_before(counted)),
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
        ),
        recoding=recoding,
        least=least,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        read=prepared.stamp,
        drawn_from=FileStamp.of(prepared.population),
        wrote=None if prepared.target is None else FileStamp.of(prepared.target.place),
        behind=Behind.of(prepared, problem),
    )


def _tree(prepared: Prepared, column: str) -> Any:
    """Return the hierarchy a column was released by, also an automatic one; None where there was none."""
    domain = prepared.counted.domains[column]
    if not domain.automatic:
        return prepared.schema.quasi_identifiers[column]
    if domain.labels[0][-1] is not None:
        return Hierarchy(domain.labels, domain.ancestors.copy())  # type: ignore[arg-type]
    labels = [[name for name in level if name is not None] for level in domain.labels]
    return Hierarchy(labels, domain.ancestors[:, :-1].copy())


def _people(prepared: Prepared) -> dict[str, str]:
    """Return how many people the rows were drawn from, where that is known."""
    text = population_text(prepared.counted.table, prepared.schema.weights)
    return {} if text is None else {"population": text}


def _sizes_before(counted: Counted) -> IntArray:
    """Return how many rows of the original table have each combination of quasi-identifiers."""
    table = counted.table
    if not counted.apart:
        return table.weights
    return table.group([np.arange(attribute.leaves) for attribute in table.attributes]).sizes


def _shown_counts(recoding: Recoding) -> dict[str, Any]:
    """Return how many different values the groups of a local recoding show, by column."""
    if recoding.shares is None:
        return {}
    return {"shown": {column: values.n_unique() for column, values in recoding.shares.shown.items()}}
