"""The whole flow, each room once: source, schema, count, problem, solve, recode, audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from discreet.engines import Engine, EngineName, Missing, MissingSensitive, Order, Shuffle
from discreet.errors import UsageError
from discreet.problem import PRIVACY, SUPPRESSION, PrivacyModel, Problem, Scheme, make_schemes
from discreet.release._infeasible import infeasible
from discreet.release._key import draw_seed, key_place
from discreet.release._make import make_release
from discreet.release._prepare import (
    check_divided,
    check_time_limit,
    check_unknown,
    interruptible,
    prepare,
    search_budget,
    several,
)
from discreet.release._release import Release
from discreet.release._wishes import cost_by_priorities, highest_levels

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
    weights: str | None = None,
    population: Any = None,
    keep: str | Sequence[str] = (),
    types: Mapping[str, Any] | None = None,
    privacy: str | PrivacyModel | Sequence[str | PrivacyModel],
    cost: str | Cost | None = None,
    suppression: str | Suppression = "none",
    scheme: str | Scheme | Mapping[str, str | Scheme] = "full-domain",
    solver: str | Solver = "auto",
    time_limit: float | None = None,
    seed: int | None = None,
    missing: Missing = "value",
    missing_sensitive: MissingSensitive = "unknown",
    order: Order = "random",
    priorities: Mapping[str, int] | None = None,
    keep_at_least: Mapping[str, int] | None = None,
    min_levels: Mapping[str, int] | None = None,
    max_levels: Mapping[str, int] | None = None,
    output: str | PathLike[str] | None = None,
    key: str | PathLike[str] | None = None,
    engine: EngineName = "auto",
    memory_limit: str | None = None,
    spark: Any = None,
    progress: ProgressCallback | None = None,
    budget: Budget | None = None,
) -> Release:
    """Make the best release of a table that keeps every promise, prove that it is the best, and audit it.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet, JSON lines, Excel; a file, a folder or a pattern of names), the URL of a table of a
        database, or a frame (pandas, polars eager or lazy, pyarrow, a DuckDB relation, a Spark DataFrame, an Ibis
        table). The last three stay where they are, and the release is a plan.
    identifiers
        Columns that name people; they are left out of the release.
    quasi_identifiers
        Columns others could know about a person, as a list or as a mapping to hierarchies (builders, text
        forms, files; None for an automatic one, or none at all where the scheme needs none).
    sensitive
        Columns nobody should learn, as a list or as a mapping to hierarchies. They are released as they are. Several
        columns together are one attribute if they are written ``disease+stage``; models name it so.
    class_attribute
        The column a classifier should still be able to predict, for the cost ``CM``.
    weights
        The column with the survey weights: how many people of the population each row stands for. Rows are counted as
        ever; models about the population (``k-map(5)``, ``delta-presence(0.1, 0.6)``) take what the weights of a class
        add up to. The column is released as it is.
    population
        A table of the people the data was drawn from, of any kind, for the same models: they count how many of them
        have the released values of a class. It has the quasi-identifiers under the same names, and its values belong to
        their domains: a hierarchy has to cover them.
    keep
        Columns without a role that are released as they are though they could tell who somebody is, sensitive columns
        that name people, and an index of pandas that does: without this the job stops at them with an
        :class:`~discreet.errors.UndecidedColumnError`.
    types
        The types of columns that are not what they look like: text, ordered, integer, decimal or date.
    privacy
        The promises, such as ``["k(5)", "distinct-l(3, disease)"]``.
    cost, suppression, scheme, solver
        What is minimized (``LM`` unless there are priorities), what may be left out, how values may be generalized, and
        by which algorithm. ``scheme``
        is one for all quasi-identifiers, or a mapping such as ``{"race": "set", "age": "ordered"}``, in which those
        left out are ``full-domain``.
    time_limit
        Seconds the search may take; the best release found by then is returned with its proven gap.
    seed
        For anything random, the order of rows too. Without one a seed is drawn from the system's secure source and kept
        in the ``job`` of the release, with which the same release can be made again. Keep it as safe as the data.
    missing
        ``value``: a missing quasi-identifier is a value of its own. ``suppress``: such rows are left out.
        ``error``: they are refused.
    missing_sensitive
        ``unknown``: a missing sensitive value is not a value. It counts in the size of its class, and models of
        diversity and closeness look at the known values of the class only, and at those known in the whole table.
        ``value``: it is one more value. An attribute of several columns is missing where all of them are.
    order
        ``random``: what is written to ``output`` is in random order, because the order of the table may identify
        people. ``keep``: it stays as it is. A frame that is returned always keeps its order.
    priorities
        How much each quasi-identifier matters, as in ``{"zip": 10, "age": 5}``; 1 where nothing is said. They are the
        weights of the cost, which is ``score`` if none was chosen.
    keep_at_least
        The highest level a quasi-identifier may be generalized to, 0 being the original value; the same as
        ``max_levels``.
    min_levels, max_levels
        Limits on the level of a quasi-identifier in its hierarchy.
    output
        A file for the released table, a folder (ends in ``/``) or the URL of a table. It appears under this name once
        what was written passed its audit.
    key
        The file with the owner's key, made if it is not there; by default one in ``~/.local/state/discreet``. Reports
        and certificates hold an HMAC of the input with it, and releases that are written are recorded beside it, so
        that a second release of the same table is noticed. Never hand it over.
    engine, memory_limit, spark
        Who works on a file: ``polars`` (``auto``), ``duckdb`` or ``spark``; frames are worked on by their own engine.
        ``memory_limit`` is one on DuckDB, such as ``4GB``; ``spark`` a session, or the address of a cluster.
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
    with interruptible():
        check_time_limit(time_limit)
        _check_seed(seed)
        seed = draw_seed() if seed is None else seed
        place = key_place(key)
        secret = place.make() if place is not None and (place.explicit or output is not None) else None
        models = [PRIVACY.make(model) for model in several(privacy)]
        loss = cost_by_priorities(cost, priorities, quasi_identifiers)
        highest = highest_levels(max_levels, keep_at_least)
        shuffle = Shuffle.of(order, seed)
        kind, schemes = SUPPRESSION.make(suppression), make_schemes(scheme)
        prepared = prepare(
            data,
            identifiers=identifiers,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            class_attribute=class_attribute,
            weights=weights,
            population=population,
            keep=keep,
            types=types,
            models=models,
            schemes=schemes,
            cost=loss,
            missing=missing,
            missing_sensitive=missing_sensitive,
            output=output,
            engine=Engine(engine, memory_limit, spark),
        )
        if prepared.target is not None:
            prepared = replace(prepared, target=replace(prepared.target, shuffle=shuffle))
        with prepared.clock("solve"):
            problem = Problem.build(
                prepared.counted.table,
                privacy=models,
                cost=loss,
                suppression=kind,
                scheme=prepared.schemes,
                min_levels=min_levels,
                max_levels=highest,
            )
            check_divided(problem, prepared.schema)
            if kind.hides_values:
                check_unknown(problem, prepared.counted)
            budget = search_budget(budget, None)
            before = budget.preparing
            solution = _solve(problem, solver, time_limit, seed, progress, budget)
            prepared.clock.part("compile", "solve", budget.preparing - before)
        job = {
            "privacy": [model.text for model in problem.privacy],
            "cost": cost if priorities else loss,
            "suppression": kind,
            "scheme": schemes,
            "solver": solver,
            **({"priorities": dict(priorities)} if priorities else {}),
            **({"keep_at_least": dict(keep_at_least)} if keep_at_least else {}),
            "min_levels": min_levels or {},
            "max_levels": max_levels or {},
            "time_limit": time_limit,
            **({} if order == "random" else {"order": order}),
            "seed": seed,
        }
        return make_release(prepared, problem, solution, job, place, secret, drawn=budget.drawn)


def _check_seed(seed: Any) -> None:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise UsageError("The seed is a whole number of at least 0.", topic="parameter")


def _solve(
    problem: Problem,
    solver: str | Solver,
    time_limit: float | None,
    seed: int,
    progress: ProgressCallback | None,
    budget: Budget | None,
) -> Solution:
    from discreet.solve import choose_solver  # compiled code is loaded from here on, and not before

    budget = search_budget(budget, time_limit)
    with budget.paused():
        chosen = choose_solver(problem, solver)
    budget.seed = seed
    solution = chosen.solve(problem, budget, progress)
    if solution.status == "infeasible":
        raise infeasible(problem, solution)
    return solution
