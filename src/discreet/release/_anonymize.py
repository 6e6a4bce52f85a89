"""The whole flow, each room once: source, schema, count, problem, solve, recode, audit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from discreet.engines import UNKNOWN, Counted, Missing, count, open_source
from discreet.errors import InfeasibleError, InterruptedRun, UsageError
from discreet.problem import COSTS, PRIVACY, SUPPRESSION, PrivacyModel, Problem, Scheme, make_schemes, scheme_of_each
from discreet.release._describe import notes, text_form, versions
from discreet.release._output import check_output
from discreet.release._publish import Clock, Promises, publish
from discreet.release._recode import make_recoding
from discreet.release._release import Release
from discreet.schema import Builder, Hierarchy, Schema, as_hierarchy

if TYPE_CHECKING:
    from discreet.problem import Cost, Suppression
    from discreet.solve import Budget, ProgressCallback, Solution, Solver

__all__ = ["anonymize"]


def anonymize(
    data: Any,
    *,
    identifiers: str | Sequence[str] = (),
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any],
    sensitive: str | Sequence[str] | Mapping[str, Any] = (),
    class_attribute: str | None = None,
    types: Mapping[str, Any] | None = None,
    privacy: str | PrivacyModel | Sequence[str | PrivacyModel],
    cost: str | Cost = "LM",
    suppression: str | Suppression = "none",
    scheme: str | Scheme | Mapping[str, str | Scheme] = "full-domain",
    solver: str | Solver = "auto",
    time_limit: float | None = None,
    seed: int | None = None,
    missing: Missing = "value",
    min_levels: Mapping[str, int] | None = None,
    max_levels: Mapping[str, int] | None = None,
    output: str | PathLike[str] | None = None,
    progress: ProgressCallback | None = None,
    budget: Budget | None = None,
) -> Release:
    """Make the best release of a table that keeps every promise, prove that it is the best, and audit it.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet, JSON lines, Excel) or a frame (pandas, polars eager or lazy, pyarrow).
    identifiers
        Columns that name people; they are left out of the release.
    quasi_identifiers
        Columns others could know about a person, as a list or as a mapping to hierarchies (builders, text
        forms, files; None for an automatic one, or none at all where the scheme needs none).
    sensitive
        Columns nobody should learn, as a list or as a mapping to hierarchies.
    class_attribute
        The column a classifier should still be able to predict, for the cost ``CM``.
    types
        The types of columns that are not what they look like: text, ordered, integer, decimal or date.
    privacy
        The promises, such as ``["k(5)", "distinct-l(3, disease)"]``.
    cost, suppression, scheme, solver
        What is minimized, what may be left out, how values may be generalized, and by which algorithm. ``scheme``
        is one for all quasi-identifiers, or a mapping such as ``{"race": "set", "age": "ordered"}``, in which those
        left out are ``full-domain``.
    time_limit
        Seconds the search may take; the best release found by then is returned with its proven gap.
    seed
        For solvers that draw random numbers; without one they ask the operating system's secure source.
    missing
        ``value``: a missing quasi-identifier is a value of its own. ``suppress``: such rows are left out.
        ``error``: they are refused.
    min_levels, max_levels
        Limits on the level of a quasi-identifier in its hierarchy.
    output
        A file for the released table. It appears under this name once what was written passed its audit.
    progress, budget
        A function that is told how the search goes, and a switch to stop it; for user interfaces.

    >>> import polars as pl
    >>> table = pl.DataFrame({"name": ["Ann", "Bob", "Cy", "Di"], "age": [31, 34, 47, 48]})
    >>> release = anonymize(
    ...     table, identifiers="name", quasi_identifiers={"age": "intervals(5, 10, 20)"}, privacy="k(2)"
    ... )
    >>> release.frame["age"].to_list(), release.status
    (['[30, 35)', '[30, 35)', '[45, 50)', '[45, 50)'], 'optimal')

    """
    clock = Clock()
    with _interruptible():
        _check_options(missing, time_limit, seed)
        models = [PRIVACY.make(model) for model in _several(privacy)]
        loss, kind, schemes = COSTS.make(cost), SUPPRESSION.make(suppression), make_schemes(scheme)
        target = None if output is None else check_output(output, data)
        with clock("read"):
            source = open_source(data)
            schema = Schema.make(source.columns, identifiers, quasi_identifiers, sensitive, class_attribute, types)
            each = scheme_of_each(list(schema.quasi_identifiers), schemes)
            trees = _hierarchies(sensitive)
        with clock("count"):
            counted = count(
                source,
                schema,
                missing=missing,
                hierarchies=trees,
                written_as=target.format if target else None,
                without_hierarchy=[column for column, choice in each.items() if not choice.uses_hierarchy],
            )
        with clock("solve"):
            problem = Problem.build(
                counted.table,
                privacy=models,
                cost=loss,
                suppression=kind,
                scheme=each,
                min_levels=min_levels,
                max_levels=max_levels,
            )
            if kind.hides_values:
                _check_unknown(problem, counted)
            solution = _solve(problem, solver, time_limit, seed, progress, budget)
        recoding = make_recoding(
            solution,
            counted,
            drop=schema.identifiers,
            required=tuple(schema.quasi_identifiers) if counted.dropped else (),
        )
        promises = Promises(
            quasi_identifiers=tuple(schema.quasi_identifiers),
            privacy=problem.privacy,
            sensitive={column: trees.get(column) for column in schema.sensitive},
            types=schema.types,
            reference=counted.reference,
            unknown=UNKNOWN if kind.hides_values else None,
            rows=problem.table.n - solution.suppressed_rows,
        )
        table, verdict = publish(source, recoding, promises, target, clock)
    worst = problem.cost.worst(problem.table)
    job = {
        "input": data if isinstance(data, str | PathLike) else None,
        "output": output,
        "identifiers": list(schema.identifiers),
        "quasi_identifiers": {name: domain.given for name, domain in counted.domains.items()},
        "sensitive": {name: trees.get(name) for name in schema.sensitive},
        "class_attribute": class_attribute,
        "types": schema.types,
        "privacy": [model.text for model in problem.privacy],
        "cost": loss,
        "suppression": kind,
        "scheme": schemes,
        "solver": solver,
        "min_levels": min_levels or {},
        "max_levels": max_levels or {},
        "missing": missing,
        "time_limit": time_limit,
    }
    if seed is not None:
        job["seed"] = seed
    return Release(
        status=solution.status,
        cost=float(solution.cost),
        lower_bound=float(solution.lower_bound),
        gap=float(solution.gap),
        normalized_cost=float(solution.cost / worst) if worst else 0.0,
        n=problem.table.n,
        suppressed=int(solution.suppressed_rows),
        suppressed_values=int(solution.suppressed_values),
        dropped_missing=counted.dropped,
        classes=verdict.classes,
        levels=dict(zip(counted.domains, map(int, solution.levels or ()), strict=False)),
        audit=verdict,
        job=text_form(job),
        notes=tuple(notes(source, schema, each, counted, solution, target)),
        stats={**solution.stats, "seconds": clock.seconds},
        trace=solution.trace,
        versions=versions(),
        table=table,
        partition={
            name: (domain.values, blocks[domain.codes])
            for (name, domain), blocks in zip(counted.domains.items(), solution.blocks, strict=True)
        },
    )


@contextmanager
def _interruptible() -> Iterator[None]:
    """Turn Ctrl-C outside the search (which keeps its best result) into one clear ending."""
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedRun("Stopped before there was anything to release; nothing was written.") from None


def _check_options(missing: Any, time_limit: Any, seed: Any) -> None:
    if missing not in get_args(Missing):
        raise UsageError(f"missing is one of {', '.join(get_args(Missing))}, not '{missing}'.")
    if time_limit is not None and (
        isinstance(time_limit, bool) or not isinstance(time_limit, int | float) or not time_limit > 0
    ):
        raise UsageError(f"The time limit is a number of seconds above 0, not {time_limit!r}.")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise UsageError(f"The seed is a whole number of at least 0, not {seed!r}.")


def _several(privacy: str | PrivacyModel | Sequence[str | PrivacyModel]) -> list[str | PrivacyModel]:
    return [privacy] if isinstance(privacy, str | PrivacyModel) else list(privacy)


def _hierarchies(columns: Any) -> dict[str, Hierarchy | Builder]:
    """Return the hierarchies that were given for sensitive columns."""
    given = columns if isinstance(columns, Mapping) else {}
    return {column: as_hierarchy(choice) for column, choice in given.items() if choice is not None}


def _check_unknown(problem: Problem, counted: Counted) -> None:
    """Refuse a column that already holds what would stand for its suppressed values."""
    column = problem.suppression.divided(problem.privacy)
    if column is not None and (counted.codes[column]["value"].cast(pl.String) == UNKNOWN).any():
        raise UsageError(
            f"Column '{column}' has the value '{UNKNOWN}', which {problem.suppression.name} writes for a value it "
            "suppresses; give it another name in the data first.",
            column=column,
        )


def _solve(
    problem: Problem,
    solver: str | Solver,
    time_limit: float | None,
    seed: int | None,
    progress: ProgressCallback | None,
    budget: Budget | None,
) -> Solution:
    from discreet.solve import Budget, choose_solver  # compiled code is loaded here, and only here

    chosen = choose_solver(problem, solver)
    if budget is None:
        budget = Budget(time_limit)
    elif time_limit is not None:  # the limit is one on the search, so its clock starts here
        budget.time_limit, budget.started = time_limit, time.monotonic()
    if seed is not None:
        budget.seed = seed
    solution = chosen.solve(problem, budget, progress)
    if solution.status != "infeasible":
        return solution
    promised = " and ".join(model.shown for model in problem.privacy)
    kind = problem.suppression
    if kind.hides_values:
        raise InfeasibleError(
            f"No recoding keeps {promised} with the suppression {kind.name}, under which every row stays; "
            "promise less, or choose violating-records, class-records or a budget."
        )
    at_most = f"at most {problem.limit:,} of {problem.table.n:,} rows"
    smallest = solution.smallest_budget
    if smallest is None:
        way_out = "allow more suppression or coarser values, or promise less"
    else:
        way_out = f"the smallest budget that can be met is {smallest:,} rows, as in budget({smallest})"
    raise InfeasibleError(
        f"No recoding keeps {promised} by suppressing {at_most}; {way_out}.", smallest_budget=smallest
    )
